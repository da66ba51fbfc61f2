"""What bodies look like, where the robot file says so: surfaces from files, in the axes of their links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.robot import description as spec
from supple.robot.entries import entries, resolved
from supple.robot.geometry import point, turns
from supple.robot.named_files import files_below
from supple.robot.reader import Description
from supple.robot.skin_files import Array, surface_of

_UNITS = {"m": 1.0, "mm": 1e-3}


@dataclass(frozen=True)
class Skin:
    """A surface in the axes of its link: points (V x 3, m) and triangles (T x 3)."""

    file: str
    points: Array
    triangles: Array


def skins_of(description: Description) -> dict[str, Skin]:
    """The skins of links, by their full names."""
    read: dict[str, tuple[Array, Array]] = {}
    made = {}
    with files_below(description.folder or Path(), description.outside):
        for link, given in _given(description):
            if description.folder is None:
                raise SuppleError(f"{link}: skin: files need a robot file that they lie beside")
            if given.file not in read:
                read[given.file] = surface_of(description.folder / given.file)
            points, triangles = read[given.file]
            R, p = turns(given.rotate).astype(float), point(given.at).astype(float)
            made[link] = Skin(given.file, _UNITS[given.units] * points @ R.T + p, triangles)
    return made


def _given(description: Description) -> Iterator[tuple[str, spec.Skin]]:
    """Links whose bodies have a skin, the platform among them."""
    bodies = resolved(description, "bodies")
    linked = [(e.name, e.part.body) for e in entries(description, "links")]
    if description.robot.platform is not None:
        linked.append(("platform", resolved(description, "platform").body))
    for link, body in linked:
        found = bodies.get(body) if isinstance(body, str) else body
        if found is not None and found.skin is not None:
            yield link, found.skin


def extent(skin: Skin) -> float:
    return float(np.ptp(skin.points, axis=0).max())
