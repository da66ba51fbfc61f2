"""Links without a shape of their own: rods between the places where others hang on them, plates of platforms, the base."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from supple.results.scene import Array, Mesh
from supple.robot.bodies.record import eye, fixed_marker, zeros
from supple.robot.mechanism import Anchor, Mechanism
from supple.scene.bodies import placed_surface
from supple.scene.joints import Sizes
from supple.scene.surfaces import Surface, along, ball, block, joined, prism, rod


def link_meshes(mechanism: Mechanism, sizes: Sizes) -> list[Mesh]:
    """Rods and plates of rigid links, and rods that bridge the way from a link's joint to its beam."""
    made = []
    hung = _hung(mechanism)
    for index, frame in enumerate(mechanism.frames):
        if frame.role in ("slide", "spring", "joint"):
            continue
        own = fixed_marker(zeros(3), eye(), len(frame.body.coordinates))
        piece = mechanism.pieces.get(index)
        if piece is not None:
            start = piece.p.astype(float)
            if piece.beam is not None and frame.role == "link" and np.linalg.norm(start) > 1e-3 * sizes.whole:
                made.append(placed_surface(frame.link, "rod", index, own, rod(np.zeros(3), start, sizes.rod)))
            continue
        places = _apart([a.marker.position.astype(float) for a in hung[index]], 1e-3 * sizes.whole)
        surface = _plate(places, sizes) or _rods(places, sizes)
        if surface is not None:
            kind = "platform" if index == mechanism.platform else "rod"
            made.append(placed_surface(frame.link, kind, index, own, surface))
    return made


def _hung(mechanism: Mechanism) -> list[list[Anchor]]:
    """What hangs on every frame: joints, ends of loops and named points."""
    found: list[list[Anchor]] = [[] for _ in mechanism.frames]
    every = [Anchor(f.parent, f.marker) for f in mechanism.frames]
    every += [a for c in mechanism.closures for a in (c.first, c.second)] + list(mechanism.points.values())
    for anchor in every:
        if anchor.frame >= 0:
            found[anchor.frame].append(anchor)
    return found


def _apart(places: list[Array], least: float) -> list[Array]:
    """Places without those that coincide with others."""
    kept: list[Array] = []
    for p in places:
        if all(np.linalg.norm(p - x) > least for x in kept):
            kept.append(p)
    return kept


def _rods(places: list[Array], sizes: Sizes) -> Surface | None:
    ends = [p for p in places if np.linalg.norm(p) > 1e-3 * sizes.whole]
    if not ends:
        return None
    return joined([rod(np.zeros(3), p, sizes.rod) for p in ends] + [ball(1.15 * sizes.rod, 14)])


def _plate(places: list[Array], sizes: Sizes) -> Surface | None:
    """A plate through places in one plane; None if there are fewer than three or they are not in a plane."""
    flat = _in_plane(places, 1e-3 * sizes.whole)
    if flat is None:
        return None
    middle, axes, corners = flat
    low, high = -0.006 * sizes.whole, 0.006 * sizes.whole
    return prism(_widened(corners, 0.02 * sizes.whole), low, high).moved(axes, middle)


def _in_plane(places: list[Array], least: float) -> tuple[Array, Array, Array] | None:
    """Middle, axes (the third is the normal) and hull (anticlockwise) of places in a plane."""
    if len(places) < 3:
        return None
    points = np.array(places)
    middle = points.mean(axis=0)
    _, spread, axes = np.linalg.svd(points - middle)
    if spread[2] > least or spread[1] < 10 * least:
        return None
    basis = axes.T.copy()
    if np.linalg.det(basis) < 0:
        basis[:, 2] *= -1
    flat = (points - middle) @ basis[:, :2]
    try:
        return middle, basis, flat[ConvexHull(flat).vertices]
    except QhullError:
        return None


def _widened(corners: Array, margin: float) -> Array:
    """A convex polygon with a margin and cut corners around it."""
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    around = margin * np.column_stack([np.cos(angle), np.sin(angle)])
    every = (corners[:, None] + around[None]).reshape(-1, 2)
    made: Array = every[ConvexHull(every).vertices]
    return made


def base_meshes(mechanism: Mechanism, sizes: Sizes, middle: Array) -> list[Mesh]:
    """The ground that the robot's joints stand on; middle: of the robot, which the ground is kept away from."""
    hanging = [Anchor(f.parent, f.marker) for f in mechanism.frames if f.role not in ("slide",) and f.motion != "prismatic"]
    closing = [a for c in mechanism.closures for a in (c.first, c.second)]
    places = _apart([a.marker.position.astype(float) for a in [*hanging, *closing] if a.frame < 0], 1e-3 * sizes.whole)
    if not places:
        return []
    flat = None if mechanism.planar else _in_plane(places, 1e-3 * sizes.whole)
    own = fixed_marker(zeros(3), eye())
    if flat is not None:
        centre, axes, corners = flat
        away = 1.0 if (centre - middle) @ axes[:, 2] >= 0 else -1.0
        low, high = sorted((away * 0.012 * sizes.whole, away * 0.026 * sizes.whole))
        plate = prism(_widened(corners, 0.045 * sizes.whole), low, high).moved(axes, centre)
        return [placed_surface("base", "base", -1, own, plate)]
    if mechanism.planar:
        under = -mechanism.normal.astype(float)
    else:
        heavy = mechanism.gravity.astype(float)
        under = heavy / np.linalg.norm(heavy) if np.any(heavy) else -np.eye(3)[2]
    blocks = []
    for p in places:
        side = 0.055 * sizes.whole
        blocks.append(block(side, side, 0.5 * side).moved(along(under), p + 0.032 * sizes.whole * under))
    return [placed_surface("base", "base", -1, own, joined(blocks))]
