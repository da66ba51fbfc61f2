"""Where a robot leaves what the theory of its beams carries, in words.

Bending is linear, so slopes are small: at 0.2 rad the deflection of a cantilever is 2 % off. The work of axial forces on
bending is of second order, with the shapes of the elements: an axial force N of a tenth of pi^2 E I / h^2, the buckling load
of an element of length h between hinges, costs about 1 % of a frequency. `stiffening: none` leaves that work out. Bending
in one plane couples the other one with torsion; segments have that, elements within a segment have not: a moment of a fifth
of that at which the segment tips over costs about 1 % of a frequency.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np

from supple.backends.sampled import largest
from supple.expr.function import Function, function
from supple.expr.node import Expr
from supple.formulations.tree.kinematics import Kinematics, state
from supple.model.algebra import Array
from supple.model.model import Model
from supple.model.modes_left_out import modes_left_out
from supple.robot.bodies.record import Body, Slender
from supple.robot.mechanism import Frame, Mechanism

STEEP = 0.2  # rad
LOADED = 0.1  # of the buckling load of an element
TIPPING = 0.2  # of the moment at which a segment tips over
_TOUCHED = 1e-9  # of a stroke: at its end is not beyond it
FAR = 1.0  # rad: bending of which linear theory says nothing any more
FAR_MOVED = 0.5  # deflection of a body relative to its size
IGNORED = 0.02  # of the buckling load of the beam, or of the squared clamped frequency, where stiffening is none


@dataclass(frozen=True)
class Excess:
    """How far a link is beyond a limit (1: at it), and what there is to say."""

    kind: str
    size: float
    link: str
    text: str


@dataclass(frozen=True)
class Strained:
    """The largest slope (rad), axial force (N) and share of the moment of tipping of a beam in any of many postures."""

    steepest: float
    force: float
    tipping: float


def strained(model: Model, q: Array) -> dict[int, Strained]:
    """How far beams are strained in a posture, or in any of many (..., nq), by their frames; at most so far in many where
    even that is within all limits."""
    q = q.reshape(-1, q.shape[-1])
    made: dict[int, Strained] = {}
    most = largest(q) if len(q) > 1 else None
    for j, frame in enumerate(model.mechanism.frames):
        if (slender := frame.body.slender) is not None:
            bound = None if most is None else _bound(frame.body, slender, most[frame.e])
            if bound is None or next(iter(_excesses(frame, bound, 0.0)), None) is not None:
                x = _strains(frame.body, q[:, frame.e].T.copy())
                bound = Strained(*(_largest(rows @ x) for rows in (slender.turning, slender.axial, slender.tipping)))
            made[j] = bound
    return made


def _bound(body: Body, slender: Slender, q: Array) -> Strained:
    """How far a beam is strained at most if no coordinate is larger than q."""
    x = q.copy()
    for t in body.stretches:
        x[list(t.coordinates)] += 0.5 * q[t.bending] @ np.abs(t.numbers) @ q[t.bending]
    sizes = (np.abs(rows.astype(float)) @ x for rows in (slender.turning, slender.axial, slender.tipping))
    return Strained(*(float(size.max(initial=0.0)) for size in sizes))


def _strains(body: Body, q: Array) -> Array:
    """Strain coordinates of a body at many q (N, samples), as `strains`, by matrices."""
    x = q.copy()
    for t in body.stretches:
        own = q[t.bending]
        x[list(t.coordinates)] += 0.5 * (t.numbers @ own * own).sum(axis=0)
    return x


def notices(
    model: Model, q: Array, v: Array | None = None, known: Mapping[int, Strained] | None = None
) -> tuple[str, ...]:  # fmt: skip
    """A line for each kind of limit that a posture, or any of many (..., nq), exceeds: which link, how much, what to do.
    `known`: how far beams are strained, if somebody has asked before."""
    beams = strained(model, q) if known is None else known
    spins = _spins(model, list(beams), q, v) if v is not None else {}
    found = [y for j, x in beams.items() for y in _excesses(model.mechanism.frames[j], x, spins.get(j, 0.0))]
    lines = []
    for kind in dict.fromkeys(x.kind for x in found):
        own = [x for x in found if x.kind == kind]
        worst = max(own, key=lambda x: x.size)
        others = len({x.link for x in own}) - 1
        also = f" ({others} other link{'s' * (others > 1)} too)" if others else ""
        lines.append(f"link {worst.link!r}{also} {worst.text}")
    first = q.reshape(-1, q.shape[-1])[0]
    return (*lines, *strokes_left(model.mechanism, q), *_unknown(model, q), *modes_left_out(model, first))


def strokes_left(mechanism: Mechanism, q: Array) -> tuple[str, ...]:
    """A line for every joint that is beyond its limits in a posture, or in any of many (..., nq)."""
    lines = []
    for name, place, low, high, unit in strokes(mechanism):
        x = q[..., place]
        far = max(low - float(np.fmin.reduce(x, axis=None)), float(np.fmax.reduce(x, axis=None)) - high)
        if far > _TOUCHED * (high - low):
            lines.append(f"{name} is beyond its limits of {low:.4g} and {high:.4g} {unit}, by {far:.3g} {unit}")
    return tuple(lines)


def strokes(mechanism: Mechanism) -> list[tuple[str, int, float, float, str]]:
    """Name, place in q, limits and unit of the joints that have limits (those made of kept parameters left out)."""
    made = []
    for c in mechanism.coordinates:
        if c.limits is not None and not any(isinstance(x, Expr) for x in c.limits):
            low, high = (float(x) for x in c.limits)
            made.append((c.name, mechanism.frames[c.frame].q.start, low, high, c.unit))
    return made


def bent_too_far(model: Model, q: Array, reach: float, known: Mapping[int, Strained] | None = None) -> str | None:
    """Which body is far beyond small deformations in any of many postures (..., nq), and how far; None if none is.

    Beams are judged by their slopes, other bodies by their deflection, elastic joints by their angle or, with the reach of
    the robot, by their length."""
    beams = strained(model, q) if known is None else known
    worst: tuple[float, str] | None = None
    for j, frame in enumerate(model.mechanism.frames):
        if frame.body.flexible:
            share, text = _far(frame, q[..., frame.e].reshape(-1, len(frame.body.coordinates)), reach, beams.get(j))
            if share > 1.0 and (worst is None or share > worst[0]):
                worst = share, f"link {frame.link!r} {text}"
    return None if worst is None else worst[1]


def _far(frame: Frame, q: Array, reach: float, beam: Strained | None) -> tuple[float, str]:
    """How far a body is beyond small deformations (1: at the limit), and in words."""
    body = frame.body
    if beam is not None:
        return beam.steepest / FAR, f"bends by {beam.steepest:.3g} rad, far beyond small deformations"
    if body.outline is not None:
        place = body.outline.position.astype(float)
        size = float(np.linalg.norm(np.ptp(place, axis=0))) or reach
        moved = float(np.nanmax(np.linalg.norm(np.einsum("pck,nk->npc", body.outline.Phi_d.astype(float), q), axis=-1)))
        return moved / (FAR_MOVED * size), f"deflects by {moved:.3g} m, with a size of {size:.3g} m"
    wide = [_largest(q[:, k]) for k in range(q.shape[1])]
    shares = [x / (FAR if unit == "rad" else FAR_MOVED * reach) for x, unit in zip(wide, body.units, strict=True)]
    k = int(np.argmax(shares))
    return shares[k], f"yields by {wide[k]:.3g} {body.units[k]} in its elastic joint"


def _unknown(model: Model, q: Array) -> Iterable[str]:
    """A line about loaded bodies of which nobody knows how loads change their stiffness."""
    loaded = [f for f in model.mechanism.frames if not f.body.stiffens and np.any(np.nan_to_num(q[..., f.e]))]
    if loaded:
        others = len(loaded) - 1
        also = f" ({others} other link{'s' * (others > 1)} too)" if others else ""
        yield (
            f"link {loaded[0].link!r}{also} is a body of another program's matrices or modes: loads do not change its "
            "stiffness, because its stresses are not known; give its mesh if it is slender and loaded"
        )


def _excesses(frame: Frame, beam: Strained, spin: float) -> Iterable[Excess]:
    slender, link, steepest, force = frame.body.slender, frame.link, beam.steepest, beam.force
    assert slender is not None
    if steepest > FAR:
        yield Excess("bending", steepest, link, f"bends by {steepest:.3g} rad, far beyond small deformations")
    elif steepest > STEEP:
        yield Excess("bending", steepest, link, (
            f"bends by {steepest:.2g} rad, where the theory of small bending carries {STEEP:g} rad to 2 %: "
            f"give its beam segments, {ceil(steepest / STEEP)} times as many as now"
        ))  # fmt: skip
    yield from _tips(beam.tipping, link)
    if slender.second_order:
        yield from _coarse(slender, force, link)
    else:
        yield from _ignored(slender, force, spin, link)


def _tips(share: float, link: str) -> Iterable[Excess]:
    if share > TIPPING:
        yield Excess("tipping", share, link, (
            f"is bent by {share:.0%} of the moment at which it tips over sideways, which nothing within a segment feels: "
            f"give its beam segments, {ceil(share / TIPPING)} times as many as now"
        ))  # fmt: skip


def _coarse(slender: Slender, force: float, link: str) -> Iterable[Excess]:
    share = force / (np.pi**2 * slender.bending / slender.element**2)
    if share > 1.0:
        yield Excess("load", share, link, f"carries {force:.3g} N along its axis, beyond the buckling load of its elements")
    elif share > LOADED:
        whole = force / (np.pi**2 * slender.bending / slender.length**2)
        yield Excess("load", share, link, (
            f"carries {force:.3g} N along its axis, {whole:.0%} of its buckling load between hinges; its elements are too "
            f"long for that: give its beam elements, {ceil((share / LOADED) ** 0.5)} times as many as now"
        ))  # fmt: skip


def _ignored(slender: Slender, force: float, spin: float, link: str) -> Iterable[Excess]:
    whole = force / (np.pi**2 * slender.bending / slender.length**2)
    if whole > IGNORED:
        yield Excess("load", whole, link, (
            f"carries {force:.3g} N along its axis, {whole:.0%} of its buckling load between hinges, "
            "whose work on bending `stiffening: none` leaves out"
        ))  # fmt: skip
    if (spin / slender.clamped) ** 2 > IGNORED:
        yield Excess("spin", spin, link, (
            f"turns at {spin:.3g} rad/s, {spin / slender.clamped:.0%} of its first frequency when clamped; "
            "`stiffening: none` leaves out how that stiffens it"
        ))  # fmt: skip


def _largest(x: Array) -> float:
    return float(max(np.fmax.reduce(x, axis=None, initial=0.0), -np.fmin.reduce(x, axis=None, initial=0.0)))


def _spins(model: Model, frames: list[int], q: Array, v: Array) -> dict[int, float]:
    """The largest angular velocity of some frames, where somebody asks for it."""
    wanted = [j for j in frames if not _second_order(model, j)]
    if not wanted:
        return {}
    f = model.own("spins", lambda: _turning(model, wanted))
    w = np.asarray(f(q=q.reshape(-1, q.shape[-1]), v=v.reshape(-1, v.shape[-1]))["w"]).reshape(-1, len(wanted), 3)
    return dict(zip(wanted, np.nanmax(np.linalg.norm(w, axis=-1), axis=0), strict=True))


def _turning(model: Model, frames: list[int]) -> Function:
    """Angular velocities of frames."""
    kin = Kinematics(model.mechanism, state(model.mechanism))
    s = kin.state
    return function("spins", {"q": s.q, "v": s.v}, {"w": np.array([kin.motions[j].omega for j in frames])})


def _second_order(model: Model, frame: int) -> bool:
    slender = model.mechanism.frames[frame].body.slender
    return slender is None or slender.second_order
