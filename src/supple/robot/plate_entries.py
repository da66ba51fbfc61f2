"""The figure and mesh of a plate's entry in a robot file, and what does not fit together in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.body_entries import Plate, Round
from supple.robot.finite_elements.model import exact
from supple.robot.plates.figure import (
    Circle,
    Figure,
    FigureMesh,
    Loop,
    Polygon,
    crossed,
    faults,
    figure_mesh,
    leaves_plate,
    off,
)
from supple.robot.plates.mesh import TOUCH, checked_corners, mesh_from_file, polygon_mesh, triangle_areas
from supple.robot.quantity import is_number

ReadNumber = Callable[[Any, str], float]
Faults = list[tuple[tuple[Any, ...], str]]
_STRETCH = "needs a plate that can stretch; set in_plane: true"


def plate_mesh(
    given: Plate, number: ReadNumber, path: Callable[[str], Path]
) -> tuple[FigureMesh, tuple[float, float], bool]:
    """The first mesh of a plate, its centroid, and whether its triangles are of very different sizes."""
    if _has_figure(given):
        figure = _figure(given, number)
        x, y = exact(figure.centroid)
        return figure_mesh(figure), (float(x), float(y)), True
    if given.mesh is not None:
        points, triangles = mesh_from_file(path(given.mesh))
    else:
        assert given.corners is not None
        points, triangles = polygon_mesh(_corners(given.corners, number))
    made = FigureMesh(points, triangles, np.zeros(len(triangles), dtype=int), ())
    return made, _centroid(points, triangles), False


def _has_figure(given: Plate) -> bool:
    """Whether its mesh has to follow more than straight edges."""
    if given.mesh is not None:
        return False
    return bool(given.circle or given.holes or given.patches or (given.in_plane and given.stiffeners))


def _figure(given: Plate, number: ReadNumber) -> Figure:
    outline = given.circle if given.circle is not None else given.corners
    lines = [tuple(_place(p, number) for p in (rib.start, rib.end)) for rib in given.stiffeners]
    return Figure(
        _loop(outline, number),
        tuple(_loop(hole, number) for hole in given.holes),
        tuple(_loop(patch.circle or patch.corners, number) for patch in given.patches),
        tuple((a, b) for a, b in lines),
    )


def _loop(given: Any, number: ReadNumber) -> Loop:
    if isinstance(given, Round):
        return Circle(_place(given.centre, number), number(given.radius, "a radius"))
    return Polygon(checked_corners(_corners(given, number)))


def _corners(given: Any, number: ReadNumber) -> Array:
    return np.array([[number(x, "a corner") for x in corner] for corner in given])


def _place(given: Any, number: ReadNumber) -> Array:
    return np.array([number(x, "a place") for x in given])


def _centroid(points: Array, triangles: Array) -> tuple[float, float]:
    areas = triangle_areas(points, triangles)
    middle = (points[triangles].mean(axis=1) * areas[:, None]).sum(axis=0) / areas.sum()
    x, y = exact(middle)
    return float(x), float(y)


# What does not fit ----------------------------------------------------------------------------------------------------


def plate_faults(given: Plate) -> Faults:
    """What is wrong with a plate's figure and what sits on it, with its place within the entry."""
    found: Faults = []
    if not given.in_plane:
        raised: list[tuple[str, list[Any]]] = [("stiffeners", [*given.stiffeners]), ("patches", [*given.patches])]
        for key, parts in raised:
            found += [((key, i, "offset"), _STRETCH) for i, part in enumerate(parts) if not _none(part.offset)]
    if given.mesh is not None:
        for key in ("holes", "patches"):
            if getattr(given, key):
                found.append(((key,), "cannot be given with a mesh; draw them in the mesh, or give corners or a circle"))
        return found
    found += _bad_loops(given)
    if found:
        return found
    try:
        figure = _figure(given, _known)
    except _KeptError:
        return found  # said where the body is made
    found += [((key, i), text) for key, i, text in faults(figure)]
    return found or _misplaced(given, figure)


def _none(x: Any) -> bool:
    return is_number(x) and x == 0


class _KeptError(Exception):
    """A number that is a symbol."""


def _known(x: Any, what: str) -> float:
    if not is_number(x):
        raise _KeptError
    return float(x)


def _bad_loops(given: Plate) -> Faults:
    """Polygons that are none."""
    loops: list[tuple[tuple[Any, ...], Any]] = [(("corners",), given.corners)]
    loops += [(("holes", i), hole) for i, hole in enumerate(given.holes)]
    loops += [(("patches", i, "corners"), patch.corners) for i, patch in enumerate(given.patches)]
    found: Faults = []
    for where, loop in loops:
        try:
            if loop is not None:
                _loop(loop, _known)
        except SuppleError as error:
            found.append((where, str(error)))
        except _KeptError:
            pass
    return found


def _misplaced(given: Plate, figure: Figure) -> Faults:
    """Attachments, masses and stiffeners that are not on the plate."""
    found = _off_plate(given, figure)
    for i, (start, end) in enumerate(figure.lines):
        if np.linalg.norm(end - start) < TOUCH * figure.size:
            found.append((("stiffeners", i), "begins where it ends; give two different points"))
    return found or _cut_stiffeners(figure) + _in_no_hole(given, figure)


def _off_plate(given: Plate, figure: Figure) -> Faults:
    """Points that are named in the entry and lie in a hole or outside."""
    places: list[tuple[tuple[Any, ...], Any]] = []
    for name, a in given.attachments.items():
        places += [(("attachments", name, "at"), a.at)] if a.at is not None else []
        places += [(("attachments", name, "edge", k), p) for k, p in enumerate(a.edge or ())]
    places += [(("masses", i, "at"), m.at[:2]) for i, m in enumerate(given.masses)]
    for i, rib in enumerate(given.stiffeners):
        places += [(("stiffeners", i, "from"), rib.start), (("stiffeners", i, "to"), rib.end)]
    places = [(where, p) for where, p in places if all(is_number(x) for x in p)]
    texts = off([[float(x) for x in p] for _, p in places], figure)
    return [(where, text) for (where, _), text in zip(places, texts, strict=True) if text]


def _cut_stiffeners(figure: Figure) -> Faults:
    """Stiffeners that the edge of the plate or of a hole cuts."""
    found: Faults = []
    for i, line in enumerate(figure.lines):
        hole = crossed(*line, figure)
        if leaves_plate(*line, figure):
            found.append((("stiffeners", i), "leaves the plate between its ends; give the parts one by one"))
        if hole is not None:
            found.append((("stiffeners", i), f"crosses hole {hole} of the list; end it before and begin another behind"))
    return found


def _in_no_hole(given: Plate, figure: Figure) -> Faults:
    """Attachments to holes that are not there."""
    found: Faults = []
    for name, attachment in given.attachments.items():
        if attachment.hole is not None and all(is_number(x) for x in attachment.hole):
            p = np.array([[float(x) for x in attachment.hole]])
            if not any(h.contains(p)[0] for h in figure.holes):
                found.append((("attachments", name, "hole"), f"({p[0, 0]:g}, {p[0, 1]:g}) lies in no hole"))
    return found
