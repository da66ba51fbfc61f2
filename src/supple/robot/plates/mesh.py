"""Triangles of a polygon, and meshes of plates read from files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.plates.delaunay import inside

_LARGEST = 50_000  # triangles of an imported mesh
TOUCH = 1e-6  # of the plate's size: closer lines touch


def skfem() -> Any:
    """The scikit-fem package, or an error that says how to get it."""
    try:
        import skfem as package
    except ImportError as error:
        raise SuppleError("plates and solids need scikit-fem; install supple[fe]") from error
    logging.getLogger("skfem").setLevel(logging.ERROR)  # it warns of copies it makes of large meshes
    return package


def polygon_area(corners: Array) -> float:
    x, y = corners.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def polygon_mesh(corners: Array) -> tuple[Array, Array]:
    """Points (P x 2) and counter-clockwise triangles (T x 3) of a simple polygon, as coarse as its shape allows."""
    corners = checked_corners(corners)
    middle = polygon_centroid(corners)
    fan = np.array([[len(corners), i, (i + 1) % len(corners)] for i in range(len(corners))])
    points = np.vstack([corners, middle])
    if triangle_areas(points, fan).min() > 0 and _smallest_angle(points, fan) > np.deg2rad(28):
        return points, fan
    size = np.sqrt(abs(polygon_area(corners)) / 6)
    for _ in range(12):
        made = _delaunay(corners, size)
        if made is not None:
            return made
        size /= 1.6
    raise SuppleError("the corners make no plate that can be meshed; give them in order around the edge")


def checked_corners(corners: Array) -> Array:
    """The corners counter-clockwise, if they make a polygon."""
    size = np.ptp(corners, axis=0).max()
    if size == 0 or np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1).min() < 1e-9 * size:
        raise SuppleError("two neighbouring corners are the same; the edge closes by itself, do not repeat the first")
    n = len(corners)
    for i in range(n):
        for j in range(i + 2, n - (i == 0)):
            if _cross(corners[i], corners[(i + 1) % n], corners[j], corners[(j + 1) % n]):
                raise SuppleError(f"edge {i + 1} crosses edge {j + 1}; give the corners in order around the edge")
    area = polygon_area(corners)
    if abs(area) < 1e-6 * size**2:
        raise SuppleError("the corners lie on a line")
    _check_touching(corners, TOUCH * size)
    return corners if area > 0 else corners[::-1]


def _check_touching(corners: Array, near: float) -> None:
    """Refuses a polygon that touches itself or runs twice along the same way; its area would count twice, or be torn."""
    n = len(corners)
    for j in range(n):
        ends = (j, (j + 1) % n)
        on = np.setdiff1d(np.flatnonzero(distances(corners, corners[list(ends)]) < near), ends)
        if len(on):
            raise SuppleError(f"corner {on[0] + 1} lies on edge {j + 1}; the edge of a plate may not touch itself")


def _side(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _cross(a: Array, b: Array, c: Array, d: Array) -> bool:
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def crossing_edges(first: Array, second: Array) -> bool:
    """Whether an edge of one polygon crosses an edge of another; touching is no crossing."""
    return any(
        _cross(a, b, c, d)
        for a, b in zip(first, np.roll(first, -1, axis=0), strict=True)
        for c, d in zip(second, np.roll(second, -1, axis=0), strict=True)
    )


def polygon_centroid(corners: Array) -> Array:
    x, y = corners.T
    w = x * np.roll(y, -1) - np.roll(x, -1) * y
    made: Array = np.array([np.sum((x + np.roll(x, -1)) * w), np.sum((y + np.roll(y, -1)) * w)]) / (3 * w.sum())
    return made


def triangle_areas(points: Array, triangles: Array) -> Array:
    """Areas of triangles (T x 3) of points (P x 2), negative if clockwise."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    made: Array = 0.5 * ((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0]))
    return made


def _smallest_angle(points: Array, triangles: Array) -> float:
    found = np.pi
    for k in range(3):
        a, b, c = (points[triangles[:, (k + i) % 3]] for i in range(3))
        u, v = b - a, c - a
        cosine = np.sum(u * v, axis=1) / (np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1))
        found = min(found, float(np.arccos(np.clip(cosine, -1, 1)).min()))
    return found


def _delaunay(corners: Array, size: float) -> tuple[Array, Array] | None:
    """Delaunay triangles of points `size` apart, or None if they do not fill the polygon exactly."""
    from scipy.spatial import Delaunay

    edge = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        count = max(1, round(float(np.linalg.norm(b - a)) / size))
        edge += [a + (b - a) * k / count for k in range(count)]
    boundary = np.array(edge)
    low, high = corners.min(axis=0), corners.max(axis=0)
    rows = max(1, int((high[1] - low[1]) / (size * 0.87)))
    grid = []
    for i in range(rows + 1):
        y = low[1] + (high[1] - low[1]) * (i + 0.5) / (rows + 1)
        count = max(1, int((high[0] - low[0]) / size))
        grid += [[low[0] + (high[0] - low[0]) * (j + (0.5 if i % 2 else 0.9)) / (count + 1), y] for j in range(count + 1)]
    inner = np.array(grid)
    inner = inner[inside(inner, corners) & (distances(inner, corners) > 0.55 * size)]
    points = np.vstack([boundary, inner])
    triangles = Delaunay(points).simplices
    areas = triangle_areas(points, triangles)
    triangles = np.where((areas < 0)[:, None], triangles[:, [0, 2, 1]], triangles)
    chosen = triangles[(np.abs(areas) > 1e-9 * size**2) & inside(points[triangles].mean(axis=1), corners)]
    whole = abs(polygon_area(corners))
    if (
        not len(chosen)
        or abs(triangle_areas(points, chosen).sum() - whole) > 1e-9 * whole
        or _smallest_angle(points, chosen) < 0.15
    ):
        return None
    sides = np.sort(np.vstack([chosen[:, [0, 1]], chosen[:, [1, 2]], chosen[:, [2, 0]]]), axis=1)
    _, counts = np.unique(sides, axis=0, return_counts=True)
    return (points, chosen) if (counts == 1).sum() == len(boundary) else None


def distances(points: Array, corners: Array) -> Array:
    """Distances of points (P x 2) from the edge of a polygon."""
    a, d = corners, np.roll(corners, -1, axis=0) - corners
    p = points[:, None]
    t = np.clip(np.sum((p - a) * d, axis=2) / np.sum(d * d, axis=1), 0, 1)
    return np.asarray(np.linalg.norm(a + t[:, :, None] * d - p, axis=2).min(axis=1))


def mesh_from_file(path: Path, scale: float = 1.0) -> tuple[Array, Array]:
    """Points (P x 2) and triangles of a flat mesh file, in any format meshio reads."""
    from supple.robot.finite_elements.mesh_files import read_mesh

    mesh = read_mesh(path)
    triangles = [np.asarray(block.data)[:, :3] for block in mesh.cells if block.type in ("triangle", "triangle6")]
    for block in mesh.cells:
        if block.type in ("quad", "quad8", "quad9"):
            quads = np.asarray(block.data)[:, :4]
            triangles += [quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
    if not triangles:
        raise SuppleError(f"{path.name}: holds no triangles or quadrilaterals; export the surface mesh of the plate")
    cells, points = np.vstack(triangles), np.asarray(mesh.points, dtype=float) * scale
    if len(cells) > _LARGEST:
        raise SuppleError(f"{path.name}: has {len(cells)} triangles; use at most {_LARGEST}")
    if points.shape[1] == 3:
        used = points[np.unique(cells), 2]
        if np.ptp(used) > 1e-9 * np.ptp(points[:, :2], axis=0).max():
            raise SuppleError(f"{path.name}: is not flat: z runs from {used.min():g} to {used.max():g}")
    used, number = np.unique(cells, return_inverse=True)
    cells, points = number.reshape(cells.shape), points[used, :2]
    areas = triangle_areas(points, cells)
    if (np.abs(areas) < 1e-14 * np.abs(areas).max()).any():
        raise SuppleError(f"{path.name}: triangle {int(np.abs(areas).argmin()) + 1} has no area")
    cells = np.where((areas < 0)[:, None], cells[:, [0, 2, 1]], cells)
    _check_joined(points, cells, path.name)
    return points, cells


def _check_joined(points: Array, cells: Array, file: str) -> None:
    """Refuses triangles that overlap, hang together at corners only, or do not hang together."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = len(points)
    sides = np.vstack([cells[:, [0, 1]], cells[:, [1, 2]], cells[:, [2, 0]]]).astype(np.int64)
    there, back = sides[:, 0] * n + sides[:, 1], sides[:, 1] * n + sides[:, 0]
    if len(np.unique(there)) != len(there):
        raise SuppleError(f"{file}: some triangles lie on others, or are given twice; their mass would count twice")
    parts, _ = connected_components(coo_matrix((np.ones(len(sides)), (sides[:, 0], sides[:, 1])), (n, n)), directed=False)
    if parts > 1:
        raise SuppleError(f"{file}: its triangles make {parts} loose parts; merge the nodes they should share")
    edge = sides[~np.isin(there, back)]
    _, times = np.unique(edge[:, 0], return_counts=True)
    if (times > 1).any():
        raise SuppleError(f"{file}: parts meet at single nodes, not along sides; share all nodes of a side, or leave a gap")
