"""Natural frequencies, damping and shapes at a pose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.model.algebra import Array, one_thread
from supple.model.closing import values
from supple.model.equilibrium import Equilibrium, equilibrium
from supple.model.frames import joint_places
from supple.model.limits import notices
from supple.model.mobility import check_regular
from supple.model.model import Model
from supple.model.natural import Natural, natural
from supple.model.participation import by_kind, drive_energies, link_energies, shares
from supple.model.ports import wrenches_of
from supple.model.posture import posture
from supple.results import Drawing, Modes
from supple.robot.mechanism import Mechanism


@one_thread
def modes(
    model: Model,
    at: Mapping[str, float] | None = None,
    *,
    free: bool = False,
    count: int | None = None,
    assembly: str | None = None,
    loads: Mapping[str, Any] | None = None,
) -> Modes:
    """Modes of the robot at rest in a pose, deformed by gravity and loads.

    at: joint values, or the platform's pose (x, y, z, rx, ry, rz); the rest is the file's home pose.
    free: actuators follow with constant force instead of being held.
    count: how many modes, lowest first; all if None.
    loads: named point -> wrench (three forces, three moments in base axes)."""
    q = posture(model, at, assembly)
    check_regular(model, q)
    wrenches = wrenches_of(model, loads or {})
    rest = equilibrium(model, q, w=wrenches)
    return _record(model, rest, free, natural(model, rest, free, count, wrenches))


def _record(
    model: Model,
    rest: Equilibrium,
    free: bool,
    found: Natural,
) -> Modes:
    omega, shapes = found.omega, found.shapes
    mechanism, now = model.mechanism, values(model, rest.q)
    links, moving, bent = link_energies(model, rest.q, shapes)
    drives, held = ((), np.zeros((0, len(omega)))) if free else drive_energies(model, shapes)
    kinetic, elastic = shares(np.vstack([moving, np.zeros_like(held)])), shares(np.vstack([bent, held]))
    elastic[:, omega == 0] = 0.0  # shares of nothing
    kinds = by_kind(model, links, elastic[: len(links)])
    return Modes(
        robot=mechanism.name,
        free=free,
        frequencies_hz=omega / (2 * np.pi),
        damping_ratios=found.ratios,
        poles=found.poles,
        coordinates=tuple(model.names),
        kinds=tuple(c.kind for c in mechanism.coordinates),
        units=tuple(c.unit for c in mechanism.coordinates),
        shapes=shapes,
        pose={n: float(x) for n, x in zip(model.names, now, strict=True)},
        tau={model.names[i]: float(t) for i, t in zip(model.active, rest.tau, strict=True)},
        bodies=(*links, *drives),
        kinetic=kinetic,
        elastic=elastic,
        elastic_by_kind=kinds | ({"drives": elastic[len(links) :].sum(axis=0)} if drives else {}),
        effective_mass=dict(found.effective_mass),
        total_mass=float(sum(float(f.body.mass) for f in mechanism.frames)),
        drawing=_drawing(model, rest.q, shapes),
        notices=notices(model, rest.q),
    )


def _drawing(model: Model, q: Array, shapes: Array) -> Drawing:
    frames = model.mechanism.frames
    points = model.call("outline", q=q)
    moves = model.call("outline_gradient", q=q, direction=shapes.T)
    keys = [f"frame{i}" for i in range(len(frames))]
    breaks = tuple(_breaks(f.body.outline, len(points[k])) for f, k in zip(frames, keys, strict=True))
    joints, joint_moves = joint_places(model, q, shapes.T)
    return Drawing(
        tuple(f.name for f in frames), tuple(f.body.flexible and f.body.outline is not None for f in frames),
        tuple(points[k] for k in keys), tuple(moves[k] for k in keys), model.mechanism.planar, breaks,
        joints, joint_moves, _ground(model.mechanism),
    )  # fmt: skip


def _ground(mechanism: Mechanism) -> Array:
    """Where the robot stands: places on the base on which links hang or loops close."""
    hanging = [f.marker for f in mechanism.frames if f.parent < 0 and f.role != "slide"]
    closing = [a.marker for c in mechanism.closures for a in (c.first, c.second) if a.frame < 0]
    return np.array([m.position.astype(float) for m in (*hanging, *closing)]).reshape(-1, 3)


def _breaks(outline: Any, drawn: int) -> tuple[int, ...]:
    """Points of a frame's drawing at which a new line begins; its outline comes last."""
    return () if outline is None else tuple(drawn - len(outline.position) + k for k in outline.breaks)
