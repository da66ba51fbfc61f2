"""Two tables (.csv) as in Rognant, Courteille & Maurine (2010): joints in Khalil and Kleinfinger's notation, and beams.

joints: joint, a, mu, sigma, gamma, b, alpha, d, theta, r. beams: body, beam, l, S, Iy, Iz, E, G, rho, phi, theta, psi (and
perhaps J): several beams per body, one after the other from the body's frame, each turned by phi about z, theta about y and
psi about x. Cells are numbers or expressions; names in them are parameters."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from supple.beginnings.record import Brought, text_of
from supple.errors import SuppleError
from supple.robot.quantity import TAKEN, QuantityError, evaluate, names_in, parse
from supple.robot.yaml_tree import printable

_JOINTS = ("joint", "a", "mu", "sigma", "gamma", "b", "alpha", "d", "theta", "r")
_BEAMS = ("body", "beam", "l", "S", "Iy", "Iz", "E", "G", "rho", "phi", "theta", "psi")
_MOST = 500  # rows


def read_tables(joints: Path, beams: Path | None, values: Mapping[str, str], count: int | None) -> Brought:
    """The robot of a table of joints and one of beams; with a count, one leg of so many."""
    rows = _rows(joints, _JOINTS)
    parameters = dict(values)
    missing: list[str] = []
    links = {row["joint"]: _link(row) for row in rows}
    if len(links) < len(rows):
        twice = next(row["joint"] for k, row in enumerate(rows) if row["joint"] in {r["joint"] for r in rows[:k]})
        raise SuppleError(f"{printable(str(joints))}: joint {printable(twice)!r} has two rows; remove one")
    bodies, sections, materials = _beams(beams, parameters) if beams is not None else ({}, {}, {})
    for name in bodies:
        if name.removeprefix("body") not in links:
            raise SuppleError(f"{printable(str(beams))}: body {name.removeprefix('body')!r} is none of the joints' links")
        links[name.removeprefix("body")]["body"] = name
    used = {n for part in (links, sections, materials, bodies) for n in _symbols(part)}
    for name in sorted(used - set(parameters) - {"i", "n", "pi"} - set(TAKEN)):
        parameters[name] = "1"
        missing.append(f"value of {name}: 1 is written; --set {name}=...")
    missing.append("closures of loops, motors' data and points: --loops FILE.yaml")
    missing.append("masses beside those of the beams")
    actuators: dict[str, Any] = {f"q{row['joint']}": {} for row in rows if row["mu"] == "1"}
    robot: dict[str, Any] = {"name": joints.stem, "space": "spatial", "gravity": [0, 0, -9.81], "parameters": parameters,
                             "materials": materials, "sections": sections, "bodies": bodies}  # fmt: skip
    if count is None:
        robot |= {"links": links, "actuators": actuators}
    else:
        robot["legs"] = {"leg": {"count": count, "links": links, "actuators": actuators}}
    return Brought(robot, missing)


def _rows(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    file = printable(str(path))
    try:
        found = list(csv.DictReader(io.StringIO(text_of(path), newline=""), skipinitialspace=True))
    except csv.Error as error:
        raise SuppleError(f"{file}: is no table: {printable(str(error))}") from error
    if not found or len(found) > _MOST:
        raise SuppleError(f"{file}: has no rows, or more than {_MOST}")
    absent = [c for c in columns if c not in found[0]]
    if absent:
        raise SuppleError(f"{file}: has no column {absent[0]!r}; it needs {', '.join(columns)}")
    made = []
    for number, row in enumerate(found, 2):
        cells = {k: (v or "0").strip() for k, v in row.items() if isinstance(k, str) and isinstance(v, str | None)}
        bad = [k for k in cells if not re.fullmatch(r"[\w .+\-*/^(),]{1,200}", cells[k], re.A)]
        if bad:
            raise SuppleError(f"{file}:{number}: {bad[0]}: {printable(cells[bad[0]])!r} is no number or expression")
        made.append(cells)
    return made


def _link(row: Mapping[str, str]) -> dict[str, Any]:
    if row["sigma"] not in ("0", "1", "2"):
        raise SuppleError(f"sigma of joint {row['joint']}: {printable(row['sigma'])!r} is none of 0, 1, 2")
    made: dict[str, Any] = {"a": "base" if row["a"] == "0" else row["a"], "sigma": int(row["sigma"])}
    moves = {"0": "theta", "1": "r"}.get(row["sigma"])
    if moves:
        made["q"] = f"q{row['joint']}"
    return made | {k: row[k] for k in _JOINTS[4:] if k != moves and row[k] != "0"}


def _symbols(part: Any) -> set[str]:
    if isinstance(part, str):
        try:
            return set(names_in(parse(part)))
        except Exception:  # a name of a link or section is no expression
            return set()
    inner = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ()
    skipped = ("a", "q", "body", "section", "material")
    return {n for k, x in inner if k not in skipped for n in _symbols(x)}


def _beams(path: Path, parameters: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    bodies, sections, materials = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    rows = _rows(path, _BEAMS)
    for body in dict.fromkeys(row["body"] for row in rows):
        own = [row for row in rows if row["body"] == body]
        first = own[0]
        alike = all(
            {k: v for k, v in row.items() if k != "beam"} == {k: v for k, v in first.items() if k != "beam"} for row in own
        )
        if not alike:
            raise SuppleError(f"{printable(str(path))}: beams of body {body} differ; split the body by joints with sigma 2")
        sections[f"section{body}"] = {"properties": {"area": first["S"], "Iy": first["Iy"], "Iz": first["Iz"],
                                                     "J": first.get("J") or f"({first['Iy']})+({first['Iz']})"}}  # fmt: skip
        materials[f"material{body}"] = {"E": first["E"], "G": first["G"], "rho": first["rho"]}
        bodies[f"body{body}"] = {"beam": {
            "length": first["l"] if len(own) == 1 else f"{len(own)}*({first['l']})", "section": f"section{body}",
            "material": f"material{body}", "elements": len(own), "axis": _direction(first, parameters),
        }}  # fmt: skip
    return bodies, sections, materials


def _angle(row: Mapping[str, str], key: str, parameters: Mapping[str, str]) -> float:
    """An angle of a table of beams (rad), its parameters being those that were set."""
    known = {}
    for name, x in parameters.items():
        with contextlib.suppress(QuantityError, OverflowError):  # one that depends on others is unknown here
            known[name] = evaluate(parse(x), {})
    try:
        return float(evaluate(parse(row[key]), known).number)
    except (QuantityError, OverflowError) as error:
        where = f"{key} of a beam of body {printable(row['body'])}: {printable(row[key])!r}"
        raise SuppleError(f"{where}: {printable(str(error), 200)}") from error


def _direction(row: Mapping[str, str], parameters: Mapping[str, str]) -> list[float]:
    """x of the beam in its body's axes: Rz(phi) Ry(theta) Rx(psi) x."""
    phi, theta = (_angle(row, k, parameters) for k in ("phi", "theta"))
    x = [np.cos(phi) * np.cos(theta), np.sin(phi) * np.cos(theta), -np.sin(theta)]
    return [round(float(v), 12) + 0.0 for v in x]
