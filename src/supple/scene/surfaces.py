"""Simple surfaces: revolved outlines, boxes, prisms and swept tubes, with normals and sharp edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.results.scene import Array

ROUND = 20  # sides of what is round


@dataclass(frozen=True)
class Surface:
    """Points with normals, triangles seen from outside, and edges to be drawn."""

    points: Array  # V x 3
    normals: Array
    triangles: Array  # T x 3
    edges: Array  # E x 2

    def moved(self, R: Array, p: Array) -> Surface:
        return Surface(self.points @ R.T + p, self.normals @ R.T, self.triangles, self.edges)


def joined(parts: Sequence[Surface]) -> Surface:
    """Several surfaces as one."""
    first = np.cumsum([0, *(len(s.points) for s in parts)])
    return Surface(
        np.vstack([np.zeros((0, 3)), *(s.points for s in parts)]),
        np.vstack([np.zeros((0, 3)), *(s.normals for s in parts)]),
        np.vstack([np.zeros((0, 3), int), *(s.triangles + k for s, k in zip(parts, first, strict=False))]),
        np.vstack([np.zeros((0, 2), int), *(s.edges + k for s, k in zip(parts, first, strict=False))]),
    )


def strip(rows: int, columns: int, closed: bool) -> Array:
    """Triangles between neighbouring rows of points, each row `columns` long and closed or not."""
    made = []
    last = columns if closed else columns - 1
    for i in range(rows - 1):
        for k in range(last):
            a, b = i * columns + k, i * columns + (k + 1) % columns
            made += [(a, b, b + columns), (a, b + columns, a + columns)]
    return np.array(made, dtype=int).reshape(-1, 3)


def ring(first: int, count: int) -> Array:
    """Edges around a closed row of points."""
    k = np.arange(count)
    return np.column_stack([first + k, first + (k + 1) % count])


def revolved(outline: Sequence[tuple[float, float]], sides: int = ROUND, smooth: bool = False) -> Surface:
    """What the outline (radius, height) sweeps about z; upwards with the material on its left side."""
    angle = 2 * np.pi * np.arange(sides) / sides
    out = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(sides)])
    up = np.array([0.0, 0.0, 1.0])
    line = np.array(outline, dtype=float)
    along = np.diff(line, axis=0)
    flat = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    corners = np.vstack([flat[:1], flat[:-1] + flat[1:], flat[-1:]])
    corners /= np.linalg.norm(corners, axis=1)[:, None]
    parts = []
    pieces = [(line, corners)] if smooth else [(line[k : k + 2], flat[[k, k]]) for k in range(len(flat))]
    for places, normals in pieces:
        points = np.vstack([r * out + z * up for r, z in places])
        turned = np.vstack([a * out + b * up for a, b in normals])
        edges = np.vstack([ring(i * sides, sides) for i, (r, _) in enumerate(places) if r > 0 and not smooth] or [_none(2)])
        parts.append(Surface(points, turned, strip(len(places), sides, True), edges))
    return joined(parts)


def _none(width: int) -> Array:
    return np.zeros((0, width), dtype=int)


def cylinder(radius: float, low: float, high: float, sides: int = ROUND) -> Surface:
    """A closed cylinder about z with bevelled ends."""
    bevel = 0.12 * min(radius, high - low)
    start = [(0.0, low), (radius - bevel, low), (radius, low + bevel)]
    return revolved([*start, (radius, high - bevel), (radius - bevel, high), (0.0, high)], sides)


def ball(radius: float, sides: int = ROUND) -> Surface:
    angle = np.linspace(-np.pi / 2, np.pi / 2, sides // 2 + 1)
    return revolved([(radius * max(np.cos(a), 0.0), radius * np.sin(a)) for a in angle], sides, smooth=True)


def block(x: float, y: float, z: float) -> Surface:
    """A box of these sizes about the origin."""
    return prism(np.array([[-x, -y], [x, -y], [x, y], [-x, y]]) / 2, -z / 2, z / 2)


def prism(polygon: Array, low: float, high: float) -> Surface:
    """A convex polygon (anticlockwise, N x 2) from one height to another."""
    n = len(polygon)
    parts = []
    for height, up in ((low, -1.0), (high, 1.0)):
        points = np.column_stack([polygon, np.full(n, height)])
        fan = np.array([(0, k, k + 1) if up > 0 else (0, k + 1, k) for k in range(1, n - 1)], dtype=int)
        parts.append(Surface(points, np.tile([0.0, 0.0, up], (n, 1)), fan, ring(0, n)))
    for k in range(n):
        a, b = polygon[k], polygon[(k + 1) % n]
        side = (b - a) / np.linalg.norm(b - a)
        points = np.array([[*a, low], [*b, low], [*b, high], [*a, high]])
        normals = np.tile([side[1], -side[0], 0.0], (4, 1))
        parts.append(Surface(points, normals, np.array([[0, 1, 2], [0, 2, 3]]), np.array([[0, 3]])))
    return joined(parts)


def along(axis: Array) -> Array:
    """A rotation whose third column is the axis."""
    z = np.asarray(axis, dtype=float) / np.linalg.norm(np.asarray(axis, dtype=float))
    other = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(other, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def rod(a: Array, b: Array, radius: float, sides: int = 14) -> Surface:
    """A cylinder between two points."""
    way = np.asarray(b, dtype=float) - np.asarray(a, dtype=float)
    return cylinder(radius, 0.0, float(np.linalg.norm(way)), sides).moved(along(way), np.asarray(a, dtype=float))


def swept(curve: Array, radius: float, sides: int = 8) -> Surface:
    """A round wire along a curve (N x 3)."""
    tangent = np.gradient(curve, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    frames = [along(tangent[0])]
    for t in tangent[1:]:
        x = frames[-1][:, 0] - t * (t @ frames[-1][:, 0])
        x /= np.linalg.norm(x)
        frames.append(np.column_stack([x, np.cross(t, x), t]))
    angle = 2 * np.pi * np.arange(sides) / sides
    normals = np.vstack([np.outer(np.cos(angle), F[:, 0]) + np.outer(np.sin(angle), F[:, 1]) for F in frames])
    return Surface(np.repeat(curve, sides, axis=0) + radius * normals, normals, strip(len(curve), sides, True), _none(2))


def coil(radius: float, low: float, high: float, turns: float = 4.5) -> Surface:
    """A helical spring about z."""
    t = np.linspace(0, 1, int(14 * turns))
    angle = 2 * np.pi * turns * t
    curve = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), low + (high - low) * t])
    return swept(curve, 0.13 * radius, 6)
