"""Flexible bodies of a robot: what their reduction keeps and what it lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from supple.errors import SuppleError
from supple.machine import Machine
from supple.robot.bodies.body_files import write_body_file as write_body
from supple.robot.link_bodies import flexible_bodies


def bodies(robot: Machine, *, write: Mapping[str, str | Path] | None = None) -> list[dict[str, Any]]:
    """One entry for every plate, finite-element body and reduced beam: name, mass (kg), coordinates, reduced (what was kept
    and lost), written (its file).

    write: body -> file: .npz (its record) or .uff (its modes)."""
    files = {name: Path(file) for name, file in (write or {}).items()}
    found = flexible_bodies(robot.description)
    for name, file in files.items():
        if name not in found:
            raise SuppleError(f"{name}: there is no such flexible body to write; there are: {', '.join(found) or 'none'}")
        write_body(*found[name], file)
    return [
        {"name": name, "mass": float(body.mass), "coordinates": len(body.coordinates)}
        | ({} if body.reduced is None else {"reduced": asdict(body.reduced)})
        | ({"written": str(files[name])} if name in files else {})
        for name, (body, _) in found.items()
    ]
