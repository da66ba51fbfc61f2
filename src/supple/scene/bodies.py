"""Surfaces of bodies: beams with their sections, plates, solids; they bend by the shape functions of the body itself."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy import sparse
from scipy.spatial import ConvexHull, QhullError

from supple.results.scene import Array, Mesh
from supple.robot.bodies.record import Body, Marker, Outline
from supple.robot.flexible_bodies import Shape
from supple.robot.link_bodies import Piece
from supple.robot.plates.sites import Locator
from supple.scene.sections import Loop, outlines, reach
from supple.scene.surfaces import ROUND, Surface, ring, strip

_STATIONS = 16  # at least so many lengths of a beam are drawn
_MOST = 1500  # points of a surface


def placed_surface(name: str, kind: str, frame: int, marker: Marker, surface: Surface) -> Mesh:
    """A surface that moves with a marker of a frame's body; its points are in the marker's axes."""
    moved = surface.moved(marker.rotation.astype(float), np.zeros(3))
    stations, shapes, second = stations_of([marker])
    none = np.zeros(len(moved.points), dtype=int)
    return Mesh(name, kind, frame, stations, shapes, second, none, moved.points, moved.normals, moved.triangles, moved.edges)


def body_mesh(name: str, frame: int, body: Body, piece: Piece) -> Mesh | None:
    """The Mesh of a beam, a plate or a finite-element body."""
    if piece.beam is not None:
        return beam_mesh(name, frame, piece)
    assert piece.shape is not None
    n, shape = len(body.coordinates), piece.shape
    if shape.model is not None and isinstance(shape.model.locate, Locator):
        return plate_mesh(name, frame, shape, n)
    if shape.model is not None and shape.model.skin is not None:
        skin = shape.model.skin
        moves = np.asarray(skin.rows @ shape.V).reshape(len(skin.points), 3, n)
        return _skin(name, frame, skin.points, moves, skin.triangles)
    return None if body.outline is None else _hull(name, frame, body.outline)


def stations_of(markers: Sequence[Marker]) -> tuple[Array, Array, Array | None]:
    """Places, shapes and second-order displacements of markers."""
    places = np.array([m.position for m in markers], dtype=float)
    shapes = np.array([np.concatenate([m.Phi_d, m.Phi_r]) for m in markers]).astype(float)
    if not any(m.shortening for m in markers):
        return places, shapes, None
    n = shapes.shape[2]
    second = np.zeros((len(markers), 3, n, n))
    for k, marker in enumerate(markers):
        for s in marker.shortening:
            second[k] += np.einsum("c,ij->cij", s.axis.astype(float), s.G.astype(float))
    return places, shapes, second


# Beams --------------------------------------------------------------------------------------------------------------


def beam_mesh(name: str, frame: int, piece: Piece) -> Mesh:
    """A beam extruded with its section along its bent axis."""
    assert piece.beam is not None
    elements = max(piece.beam.elements, 1)
    bends = bool(piece.beam.elements)
    count = elements * max(4, -(-_STATIONS // elements)) if bends else 1
    markers = [piece.section(Fraction(k, count)) for k in range(count + 1)]
    stations, shapes, second = stations_of(markers)
    slender = 25 * reach(piece.beam.section) < float(piece.beam.length)
    outer, inner = outlines(piece.beam.section, 12 if slender else ROUND)
    walls = [_wall(outer, count + 1)] + ([_wall(inner, count + 1)] if inner is not None else [])
    parts = [*walls, _cap(outer, inner, 0, count), _cap(outer, inner, 1, count)]
    first = np.cumsum([0, *(len(p[0]) for p in parts)])
    R = piece.R.astype(float)
    return Mesh(
        name, "beam" if bends else "rod", frame, stations, shapes, second,
        np.concatenate([p[0] for p in parts]),
        np.vstack([p[1] for p in parts]) @ R.T,
        np.vstack([p[2] for p in parts]) @ R.T,
        np.vstack([p[3] + k for p, k in zip(parts, first, strict=False)]),
        np.vstack([p[4] + k for p, k in zip(parts, first, strict=False)]),
    )  # fmt: skip


_Part = tuple[Array, Array, Array, Array, Array]  # stations, offsets, normals, triangles and edges


def _wall(loop: Loop, rows: int) -> _Part:
    n = len(loop.points)
    station = np.repeat(np.arange(rows), n)
    offsets, normals = (np.tile(np.column_stack([np.zeros(n), x]), (rows, 1)) for x in (loop.points, loop.normals))
    triangles = strip(rows, n, True)
    if (loop.normals * loop.points).sum() < 0:
        triangles = triangles[:, ::-1]
    lines = [np.column_stack([k + n * np.arange(rows - 1), k + n * np.arange(1, rows)]) for k in loop.corners]
    return station, offsets, normals, triangles, np.vstack([*lines, np.zeros((0, 2), int)])


def _cap(outer: Loop, inner: Loop | None, end: int, last: int) -> _Part:
    """The end of a beam: a ring, or a disc around the middle."""
    n = len(outer.points)
    within = np.zeros((1, 2)) if inner is None else inner.points
    points = np.vstack([outer.points, within])
    k = np.arange(n)
    on = (k + 1) % n
    if inner is None:
        triangles = np.column_stack([k, on, np.full(n, n)])
    else:
        triangles = np.vstack([np.column_stack([k, on, n + on]), np.column_stack([k, n + on, n + k])])
    edges = ring(0, n) if inner is None else np.vstack([ring(0, n), ring(n, n)])
    flat = np.column_stack([np.zeros(len(points)), points])
    normals = np.tile([1.0 if end else -1.0, 0.0, 0.0], (len(points), 1))
    return np.full(len(points), last * end), flat, normals, triangles if end else triangles[:, ::-1], edges


# Plates and solids --------------------------------------------------------------------------------------------------


def plate_mesh(name: str, frame: int, shape: Shape, n: int) -> Mesh:
    """A plate of its thickness on a mesh of its figure; its normals turn as they do in its theory."""
    assert shape.model is not None and isinstance(shape.model.locate, Locator)
    locate = shape.model.locate
    mesh, size = locate.space.mesh, locate.space.size
    flat, triangles = mesh.p.T * size, mesh.t.T
    if len(flat) > _MOST:
        flat, triangles = clustered(flat, triangles, _MOST)
    at = locate.fields.at(flat)
    rows = sparse.vstack([at.u.value, at.v.value, at.w.value, at.s.value, -at.p.value, at.drill], format="csr")
    moves = np.asarray(rows @ locate.full(shape.V)).reshape(6, len(flat), n).transpose(1, 0, 2)
    a, b, c = (flat[triangles[:, k]] for k in range(3))
    turned = (b - a)[:, 0] * (c - a)[:, 1] < (b - a)[:, 1] * (c - a)[:, 0]
    triangles = np.where(turned[:, None], triangles[:, ::-1], triangles)
    return _slab(name, frame, flat, moves, triangles, shape.thickness / 2)


def _slab(name: str, frame: int, flat: Array, moves: Array, triangles: Array, half: float) -> Mesh:
    count, up = len(flat), np.array([0.0, 0.0, 1.0])
    rim = _rim(triangles)
    out = flat[rim[:, 1]] - flat[rim[:, 0]]
    out = np.column_stack([out[:, 1], -out[:, 0], np.zeros(len(out))])
    out /= np.maximum(np.linalg.norm(out, axis=1), 1e-300)[:, None]
    ends = rim.ravel()
    every = np.arange(count)
    station = np.concatenate([every, every, ends, ends])
    heights = np.repeat([half, -half, half, -half], [count, count, len(ends), len(ends)])
    sides = np.repeat(out, 2, axis=0)
    normals = np.vstack([np.tile(up, (count, 1)), np.tile(-up, (count, 1)), sides, sides])
    k = 2 * count + 2 * np.arange(len(rim))
    low = k + len(ends)
    walls = np.vstack([np.column_stack([k, low, low + 1]), np.column_stack([k, low + 1, k + 1])])
    edges = np.vstack([np.column_stack([k, k + 1]), np.column_stack([low, low + 1])])
    return Mesh(
        name, "plate", frame, np.column_stack([flat, np.zeros(count)]), moves, None, station, heights[:, None] * up, normals,
        np.vstack([triangles, triangles[:, ::-1] + count, walls]), edges,
    )  # fmt: skip


def _rim(triangles: Array) -> Array:
    """Directed edges that only one triangle has."""
    edges = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, where, times = np.unique(np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True)
    made: Array = edges[where[times == 1]]
    return made


def _skin(name: str, frame: int, points: Array, moves: Array, triangles: Array) -> Mesh:
    """The surface of a solid: every point is a station of its own, corners with a point for every face."""
    if len(points) > _MOST:
        kept, triangles = clusters(points, triangles, _MOST)
        points, moves = points[kept], moves[kept]
    corner, normals, corners, edges = faceted(points, triangles)
    shapes = np.concatenate([moves, np.zeros_like(moves)], axis=1)
    return Mesh(
        name, "solid", frame, points, shapes, None, corner, np.zeros((len(corner), 3)), normals, corners, edges,
    )  # fmt: skip


def faceted(points: Array, triangles: Array) -> tuple[Array, Array, Array, Array]:
    """A surface with sharp and smooth places: of every drawn point the point it is, its normal; triangles and edges."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    faces = np.cross(b - a, c - a)
    flat = faces / np.maximum(np.linalg.norm(faces, axis=1), 1e-300)[:, None]
    station = triangles.ravel()
    normals = np.repeat(flat, 3, axis=0)
    near = np.zeros((len(points), 3))
    np.add.at(near, station, np.repeat(faces, 3, axis=0))
    mean = near[station]
    mean /= np.maximum(np.linalg.norm(mean, axis=1), 1e-300)[:, None]
    smooth = (mean * normals).sum(axis=1) > 0.8
    normals = np.where(smooth[:, None], mean, normals)
    alike = np.column_stack([station, np.round(100 * normals).astype(int)])
    _, first, drawn = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    drawn = drawn.reshape(-1)
    return station[first], normals[first], drawn.reshape(-1, 3), drawn[_creases(triangles, flat)]


def _creases(triangles: Array, normals: Array) -> Array:
    """Edges between faces that meet at an angle, as corners (3 of every triangle)."""
    corners = np.arange(3 * len(triangles)).reshape(-1, 3)
    edges = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    own = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    face = np.tile(np.arange(len(triangles)), 3)
    order = np.lexsort(np.sort(edges, axis=1).T)
    keys = np.sort(edges, axis=1)[order]
    pairs = np.flatnonzero((keys[1:] == keys[:-1]).all(axis=1))
    sharp = (normals[face[order[pairs]]] * normals[face[order[pairs + 1]]]).sum(axis=1) < 0.8
    made: Array = own[order[pairs[sharp]]]
    return made


def _hull(name: str, frame: int, outline: Outline) -> Mesh | None:
    """The convex hull of the points that are known of a body without a mesh."""
    points, moves = outline.position.astype(float), outline.Phi_d.astype(float)
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return None  # points in a plane or on a line
    a, b, c = (points[hull.simplices[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0
    triangles = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    return _skin(name, frame, points, moves, triangles)


# Coarser surfaces ---------------------------------------------------------------------------------------------------


def clustered(flat: Array, triangles: Array, most: int) -> tuple[Array, Array]:
    """A plane mesh with fewer points, all of them points of the first."""
    kept, made = clusters(flat, triangles, most)
    return flat[kept], made


def clusters(points: Array, triangles: Array, most: int) -> tuple[Array, Array]:
    """Points kept and triangles of them: one point for every cell of a grid as fine as can be."""
    span = np.ptp(points, axis=0)
    cell = float(np.sqrt(np.prod(np.sort(span)[-2:]) / most))
    while True:
        keys = np.floor((points - points.min(axis=0)) / cell).astype(int)
        _, first, owner = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        if len(first) <= most:
            break
        cell *= 1.15
    made = owner.reshape(-1)[triangles]
    whole = (made[:, 0] != made[:, 1]) & (made[:, 1] != made[:, 2]) & (made[:, 0] != made[:, 2])
    made = np.unique(made[whole], axis=0)
    return first, made
