"""What a robot is made of and how it can move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from supple.model.algebra import Array
from supple.model.closing import values
from supple.model.equilibrium import equilibrium
from supple.model.limits import strokes_left
from supple.model.mobility import check_regular, independent_coordinates
from supple.model.model import Model
from supple.model.ports import wrenches_of
from supple.model.posture import posture
from supple.results import Check, Rest
from supple.robot.mechanism import Mechanism


def check(
    model: Model, at: Mapping[str, float] | None = None, *, assembly: str | None = None,
    loads: Mapping[str, Sequence[float]] | None = None,
) -> Check:  # fmt: skip
    """The report on a robot at a pose (its home pose by default), and on its equilibrium under weight and loads."""
    mechanism, frames = model.mechanism, model.mechanism.frames
    q = posture(model, at, assembly)
    found = check_regular(model, q)
    choice = independent_coordinates(model, q)
    points = model.call("points", q=q)["position"]
    return Check(
        robot=mechanism.name,
        about=" ".join(mechanism.about.split()),
        source=" ".join(mechanism.source.split()),
        space="planar" if mechanism.planar else "spatial",
        links=sum(f.role == "link" for f in frames),
        flexible=sum(f.body.flexible and f.body.outline is not None for f in frames),
        springs=sum(f.body.flexible and f.body.outline is None for f in frames),
        legs=len({f.leg for f in frames if f.leg}),
        mass=float(sum(float(f.body.mass) for f in frames)),
        masses=_masses(mechanism),
        coordinates=dict(Counter(c.kind for c in mechanism.coordinates)),
        closures={c.name: (c.joint, len(c.forbidden)) for c in mechanism.closures},
        mobility=(*found.sentences(), *(f"{line}." for line in strokes_left(mechanism, q))),
        freedom=found.freedom,
        overconstraint=found.overconstraint,
        rule=choice.rule,
        independent=tuple(model.names[i] for i in choice.independent),
        pose=_pose(mechanism, values(model, q)),
        units={c.name: c.unit for c in mechanism.coordinates},
        active=tuple(model.names[i] for i in model.active),
        points={name: tuple(float(x) for x in p) for name, p in zip(mechanism.points, points, strict=True)},
        closure_error=float(np.abs(model.residual(q)).max()) if mechanism.closures else 0.0,
        assemblies=tuple(mechanism.start),
        rest=_rest(model, q, loads) if loads else None,
    )


def _rest(model: Model, q: Array, loads: Mapping[str, Sequence[float]]) -> Rest:
    """The equilibrium under weight and loads, actuators held."""
    w = wrenches_of(model, loads)
    found = equilibrium(model, q, w=w)
    moved = model.call("points", q=found.q)["position"] - model.call("points", q=q)["position"]
    forces = {model.names[i]: float(t) for i, t in zip(model.active, found.tau, strict=True)}
    reactions, begin = {}, 0
    for closure in model.mechanism.closures:
        end = begin + len(closure.forbidden)
        reactions[closure.name] = tuple(float(x) for x in found.reactions[begin:end])
        begin = end
    moves = {name: tuple(float(x) for x in row) for name, row in zip(model.mechanism.points, moved, strict=True)}
    return Rest({name: tuple(float(x) for x in wrench) for name, wrench in loads.items()}, moves, forces, reactions)


def _masses(mechanism: Mechanism) -> dict[str, float]:
    """Mass of every body that has one, the platform's too."""
    made: dict[str, float] = {}
    for frame in mechanism.frames:
        if float(frame.body.mass):
            made[frame.name] = made.get(frame.name, 0.0) + float(frame.body.mass)
    return made


def _pose(mechanism: Mechanism, now: Array) -> dict[str, float]:
    """The values of joints and platform."""
    return {c.name: float(x) for c, x in zip(mechanism.coordinates, now, strict=True) if c.kind != "elastic"}
