"""Pictures of surfaces by numpy alone: triangles into pixels with depth, lit as on the page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.results.scene import Array
from supple.views.look import Eye


@dataclass(frozen=True)
class Painted:
    """Triangles as pixels: per pixel the distance (not a number: nothing there) and the colour (0 to 1)."""

    depth: Array
    colour: Array


def filled(eye: Eye, corners: Array) -> tuple[Array, Array, Array, Array]:
    """Pixels that triangles (T x 3 x 3: across, down, distance) cover: pixel, triangle, weights of corners, distance."""
    a, b, c = (corners[:, k, :2] for k in range(3))
    area = _cross(b - a, c - a)
    good = np.flatnonzero((np.abs(area) > 1e-9) & (corners[..., 2] > 0).all(axis=1))
    low, high = corners[good, :, 1].min(axis=1), corners[good, :, 1].max(axis=1)
    top, bottom = (np.clip(np.ceil(y - 0.5), 0, eye.height).astype(int) for y in (low, high))
    which, row = _counted(good, top, bottom)
    left, right = _span(corners[which, :, :2], row + 0.5)
    start, stop = (np.clip(np.ceil(x - 0.5), 0, eye.width).astype(int) for x in (left, right))
    line, x = _counted(np.arange(len(which)), start, stop)
    which, row = which[line], row[line]
    p = np.column_stack([x, row]) + 0.5
    u = _cross(c[which] - b[which], p - b[which]) / area[which]
    v = _cross(a[which] - c[which], p - c[which]) / area[which]
    weights = np.column_stack([u, v, 1 - u - v])
    return row * eye.width + x, which, weights, (weights * corners[which, :, 2]).sum(axis=1)


def _counted(items: Array, first: Array, last: Array) -> tuple[Array, Array]:
    """Every item as often as there are numbers from first to before last, and these numbers."""
    times = np.maximum(last - first, 0)
    ends = np.cumsum(times)
    return np.repeat(items, times), np.arange(int(times.sum())) - np.repeat(ends - times - first, times)


def _span(corners: Array, y: Array) -> tuple[Array, Array]:
    """Where a horizontal line enters and leaves each of the triangles (L x 3 x 2)."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for k in range(3):
        (x0, y0), (x1, y1) = corners[:, k].T, corners[:, (k + 1) % 3].T
        meets = (np.minimum(y0, y1) <= y) & (y < np.maximum(y0, y1))
        x = x0 + (y - y0) / np.where(meets, y1 - y0, 1.0) * (x1 - x0)
        left, right = np.where(meets, np.minimum(left, x), left), np.where(meets, np.maximum(right, x), right)
    return np.where(np.isfinite(left), left, 0.0), np.where(np.isfinite(right), right, 0.0)


def _cross(a: Array, b: Array) -> Array:
    made: Array = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return made


def painted(eye: Eye, points: Array, normals: Array, tints: Array, triangles: Array, up: Array, back: Array) -> Painted:
    """Lit triangles in front of a background (pixels x 3)."""
    pixel, which, weights, far = filled(eye, eye.seen(points)[triangles])
    depth = np.full(eye.width * eye.height, np.inf)
    np.minimum.at(depth, pixel, far)
    front = far <= depth[pixel]
    pixel, which, weights = pixel[front], which[front], weights[front]
    own = triangles[which]
    n = np.einsum("pk,pkc->pc", weights, normals[own])
    n /= np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None]
    place = np.einsum("pk,pkc->pc", weights, points[own])
    colour = back.copy()
    colour[pixel] = _lit(n, place, tints[own[:, 0]], eye, up)
    return Painted(depth, colour)


def sun(eye: Eye, up: Array) -> Array:
    """Where the light comes from."""
    way = 1.1 * up + 0.55 * eye.axes[2] - 0.5 * eye.axes[0]
    made: Array = way / np.linalg.norm(way)
    return made


def _lit(n: Array, place: Array, tint: Array, eye: Eye, up: Array) -> Array:
    to_eye = eye.place - place
    to_eye /= np.linalg.norm(to_eye, axis=1)[:, None]
    facing = (n * to_eye).sum(axis=1)
    n = np.where(facing[:, None] < 0, -n, n)
    light = sun(eye, up)
    half = to_eye + light
    half /= np.linalg.norm(half, axis=1)[:, None]
    key, sky, lamp = np.maximum(n @ light, 0), 0.5 + 0.5 * (n @ up), np.abs(facing)
    shine = 0.32 * np.maximum((n * half).sum(axis=1), 0) ** 42 + 0.16 * (1 - lamp) ** 3
    made: Array = tint * (0.22 + 0.3 * sky + 0.46 * key + 0.2 * lamp)[:, None] + shine[:, None]
    return made


def ruled(eye: Eye, under: Painted, ends: Array, ink: Array, alpha: Array, near: float) -> None:
    """Lines (L x 2 x 3, with an alpha for each end) painted where nothing is in front of them; `near` counts as at them."""
    seen = eye.seen(ends)
    seen, alpha = seen[(seen[..., 2] > 0).all(axis=1)], alpha[(seen[..., 2] > 0).all(axis=1)]
    steps = np.minimum(np.ceil(np.abs(seen[:, 1, :2] - seen[:, 0, :2]).max(axis=1)), 4 * eye.width).astype(int) + 1
    which = np.repeat(np.arange(len(seen)), steps)
    t = (np.arange(len(which)) - np.repeat(np.cumsum(steps) - steps, steps)) / np.maximum(steps[which] - 1, 1)
    inverse = (1 - t) / seen[which, 0, 2] + t / seen[which, 1, 2]
    x, y = ((1 - t) * seen[which, 0, k] + t * seen[which, 1, k] for k in range(2))
    inside = (x >= 0) & (x < eye.width) & (y >= 0) & (y < eye.height)
    pixel = y[inside].astype(int) * eye.width + x[inside].astype(int)
    strength = ((1 - t) * alpha[which, 0] + t * alpha[which, 1])[inside]
    free = 1 / inverse[inside] - near <= under.depth[pixel]
    pixel, strength = pixel[free], strength[free]
    most = np.zeros(eye.width * eye.height)
    np.maximum.at(most, pixel, strength)
    under.colour[:] = under.colour + most[:, None] * (ink - under.colour)
