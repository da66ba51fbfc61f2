"""Natural frequencies, damping and shapes at a pose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.model.algebra import Array, eigh, least_squares, one_thread, symmetric
from supple.model.closing import values
from supple.model.damped import damped
from supple.model.equilibrium import Equilibrium, Linear, equilibrium, linearise
from supple.model.frames import joint_places
from supple.model.limits import notices
from supple.model.mobility import check_regular
from supple.model.model import Model
from supple.model.participation import by_kind, drive_energies, link_energies, shares
from supple.model.ports import wrenches_of
from supple.model.posture import posture
from supple.results import Drawing, Modes
from supple.robot.mechanism import Mechanism

_BLURRED = 1e11  # times the rounding: squares below it are told from their shapes


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
    linear = linearise(model, rest, free, w=wrenches)
    size = linear.M.shape[0]
    if size == 0:
        raise SuppleError(f"{model.mechanism.name} has nothing that vibrates with its actuators held; try free actuators")
    kept = size if count is None else max(1, min(count, size))
    squares, vectors = _undamped(model, linear)
    omega = np.sign(squares) * np.sqrt(np.abs(squares))
    ratios, poles = damped(omega, vectors.T @ linear.D @ vectors, vectors.T @ linear.H @ vectors, kept)
    shapes = linear.Z @ vectors[:, :kept]
    shapes = shapes * np.where(shapes[np.abs(shapes).argmax(axis=0), np.arange(kept)] < 0, -1.0, 1.0)
    return _record(model, rest, linear, free, omega[:kept], ratios, poles, shapes)


def _undamped(model: Model, linear: Linear) -> tuple[Array, Array]:
    """Squared angular frequencies and mass-normalised shapes; zero where nothing resists a motion.

    Rounding leaves eps times the largest square in all of them; Rayleigh's quotients of the low ones, in the coordinates of
    the bodies, where a rigid motion meets no stiffness at all, are free of it."""
    try:
        squares, vectors = eigh(symmetric(linear.K), linear.M)
    except np.linalg.LinAlgError as error:
        raise SuppleError(model.massless(linear.M, linear.Z)) from error
    blurred = np.finfo(float).eps * float(np.abs(squares).max())
    low = np.abs(squares) < 1e6 * blurred
    for some in (low, ~low & (np.abs(squares) < _BLURRED * blurred)):
        if some.any() and not some.all():
            basis = vectors[:, some]
            shapes = linear.Z @ basis
            squares[some], turn = eigh(symmetric(shapes.T @ linear.K_tree @ shapes), basis.T @ linear.M @ basis)
            vectors[:, some] = basis @ turn
    if not low.all():
        squares[low & (np.abs(squares) < 1e-6 * blurred)] = 0.0
    return squares, vectors


def _record(
    model: Model,
    rest: Equilibrium,
    linear: Linear,
    free: bool,
    omega: Array,
    ratios: Array,
    poles: Array,
    shapes: Array,
) -> Modes:
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
        damping_ratios=ratios,
        poles=poles,
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
        effective_mass=_effective_mass(model, rest.q, linear, shapes),
        total_mass=float(sum(float(f.body.mass) for f in mechanism.frames)),
        drawing=_drawing(model, rest.q, shapes),
        notices=notices(model, rest.q),
    )


def _effective_mass(model: Model, q: Array, linear: Linear, shapes: Array) -> dict[str, Array]:
    """Modal mass excited by shaking the base along x, y, z, or by driving an actuator of the undeformed robot."""
    weight = model.call("forces", q=q, g=np.vstack([np.zeros(3), np.eye(3)]))["f"]
    found = {axis: (shapes.T @ (weight[0] - weight[k + 1])) ** 2 for k, axis in enumerate("xyz")}
    elastic = model.mechanism.indices("elastic")
    if len(model.active):
        A = np.vstack([model.jacobian(q), model.held(model.active), model.held(elastic)])
        unit = np.zeros((A.shape[0], len(model.active)))
        first = model.mechanism.equations
        unit[first : first + len(model.active)] = np.eye(len(model.active))
        driven = least_squares(A, unit)
        factors = shapes.T @ linear.M_tree @ driven
        found |= {model.names[i]: factors[:, k] ** 2 for k, i in enumerate(model.active)}
    return found


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
