"""The parts of an FMU gathered from a robot: Functions, names, units, and the posture it starts in.

The states are the active and elastic coordinates and their rates; loops give all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from supple.backends.targets.fmu import Coordinate, FmuParts, Observed, Quantity
from supple.errors import SuppleError
from supple.expr.derivative import jacobian
from supple.expr.function import Array, Function, function, kept_parameters
from supple.expr.passes import optimise
from supple.formulations.newton_euler import newton_euler
from supple.model.equilibrium import equilibrium
from supple.model.mobility import independent_coordinates
from supple.model.model import Model
from supple.model.posture import posture
from supple.models import forward
from supple.robot.mechanism import Mechanism

_FORCE = {"m": "N", "rad": "N.m"}
# A displacement and a rate that matter, for tolerances: joints, elastic coordinates
_NOMINAL = {"joint": {"m": (0.1, 0.1), "rad": (0.1, 0.1)}, "elastic": {"m": (1e-4, 1e-2), "rad": (1e-3, 1e-1)}}
_LIGHT = ("fold", "signs")  # passes of the functions that are evaluated at outputs only


@dataclass(frozen=True)
class Kept:
    """The same mechanism with symbols for some of its numbers, and what those are."""

    mechanism: Mechanism
    symbols: Array
    quantities: tuple[Quantity, ...]


def fmu_parts(
    model: Model,
    *,
    at: Mapping[str, float] | None = None,
    assembly: str | None = None,
    passes: Sequence[str] | None = None,
    kept: Kept | None = None,
) -> FmuParts:
    """The FmuParts of a robot that starts at rest: loops closed, bodies bent by their weight, actuators holding it.

    `at` and `assembly` choose the pose (home if not given), `passes` those that optimise the forward model (the default
    ones if None), `kept` the parameters that can be set in the FMU.
    """
    mechanism = model.mechanism
    rest = equilibrium(model, posture(model, at, assembly))
    dependent = _dependent(model, rest.q)
    with kept_parameters(kept.symbols) if kept else nullcontext():
        functions = _functions(kept.mechanism if kept else mechanism, dependent, passes)
    _smooth(mechanism, functions["forward"])
    places = _places(mechanism)
    independent = tuple(_coordinate(mechanism, i, places) for i in range(mechanism.nv) if i not in dependent)
    return FmuParts(
        robot=mechanism.name,
        about=mechanism.about,
        **functions,
        independent=independent,
        dependent=tuple(_coordinate(mechanism, i, places) for i in dependent),
        turning=_turning(mechanism, dependent),
        observed=_observed(mechanism, dependent),
        forces=_forces(mechanism, rest.tau),
        gravity=tuple(float(x) for x in model.gravity),
        parameters=kept.quantities if kept else (),
        point_labels=tuple(mechanism.points),
        start=tuple(float(x) for x in rest.q),
    )


def _dependent(model: Model, q: Array) -> list[int]:
    """Places in v of the passive and platform coordinates, if they follow from the others."""
    mechanism = model.mechanism
    choice = independent_coordinates(model, q)
    dependent = mechanism.indices("passive", "platform")
    if set(choice.independent) & set(dependent) or len(choice.independent) + len(dependent) != mechanism.nv:
        raise SuppleError(
            f"{mechanism.name}: no FMU, because passive joints and platform do not follow from the actuators and elastic "
            f"coordinates at this pose (independent coordinates were found by this rule: {choice.rule})"
        )
    if mechanism.equations != len(dependent):
        raise SuppleError(
            f"{mechanism.name}: no FMU, because {mechanism.equations} closure equations hold {len(dependent)} dependent "
            "coordinates; give the overconstrained joints the elasticity they have, or free what is held twice"
        )
    return dependent


def _functions(mechanism: Mechanism, dependent: list[int], passes: Sequence[str] | None) -> dict[str, Function]:
    equations = newton_euler(mechanism)
    gradient, motion = equations.closure_gradient, equations.closure_motion
    J_q = jacobian(gradient.outputs["residual"], gradient.inputs["direction"][dependent])
    J_v = jacobian(motion.outputs["velocity"], motion.inputs["v"][dependent])
    loops = {**equations.closure.outputs, "gradient": J_q}
    energy, points = equations.energy, equations.points
    kinetic = sum(energy.outputs["kinetic"]) + energy.outputs["motors"]
    made = {
        "loops": function("loops", equations.closure.inputs, loops),
        "rates": function("rates", motion.inputs, {"velocity": motion.outputs["velocity"], "jacobian": J_v}),
        "drift": function("drift", motion.inputs, {"acceleration": motion.outputs["acceleration"]}),
        "points": function(
            "points", points.inputs, {k: points.outputs[k] for k in ("position", "velocity", "acceleration")}
        ),
        "energy": function("energy", energy.inputs, {"kinetic": kinetic, "elastic": sum(energy.outputs["elastic"])}),
    }
    light = {name: optimise(f, _LIGHT).function for name, f in made.items()}
    return {**light, "forward": optimise(_forward(mechanism), passes).function}


def _forward(mechanism: Mechanism) -> Function:
    """The forward model with its accelerations in the order of the coordinates."""
    f = forward(mechanism)
    found = dict(zip(mechanism.indices("active"), f.outputs["a_active"], strict=True))
    found |= dict(zip(mechanism.indices("elastic"), f.outputs["a_elastic"], strict=True))
    return function("forward", f.inputs, {"a": [found[i] for i in sorted(found)]})


def _smooth(mechanism: Mechanism, f: Function) -> None:
    if f.counts["sign"]:
        stuck = [c.name for c in mechanism.coordinates if c.coulomb != 0 and c.width == 0]
        raise SuppleError(
            f"{mechanism.name}: no FMU, because the Coulomb friction of {', '.join(stuck[:4]) or 'a joint'} jumps at rest; "
            "give it a width in the robot file, for example width: 0.001"
        )


def _places(mechanism: Mechanism) -> dict[int, int]:
    """Place in v -> place in q, of all but the quaternions' velocities."""
    found: dict[int, int] = {}
    for frame in mechanism.frames:
        if frame.motion != "spherical":
            found |= dict(zip(range(frame.v.start, frame.v.stop), range(frame.q.start, frame.q.stop), strict=True))
        found |= dict(zip(range(frame.ev.start, frame.ev.stop), range(frame.e.start, frame.e.stop), strict=True))
    return found


def _coordinate(mechanism: Mechanism, i: int, places: Mapping[int, int]) -> Coordinate:
    c = mechanism.coordinates[i]
    nominal = _NOMINAL["elastic" if c.kind == "elastic" else "joint"][c.unit]
    return Coordinate(c.name, c.unit, places.get(i, -1), i, *nominal)


def _turning(mechanism: Mechanism, dependent: list[int]) -> tuple[tuple[int, int], ...]:
    turning = [f for f in mechanism.frames if f.motion == "spherical"]
    return tuple((f.q.start, dependent.index(f.v.start)) for f in turning)


def _observed(mechanism: Mechanism, dependent: list[int]) -> tuple[Observed, ...]:
    """Dependent position numbers in the order of q; a quaternion by its four numbers."""
    found = []
    for frame in mechanism.frames:
        if frame.motion == "spherical":
            found += [Observed(f"{frame.name} quaternion {k}", "", frame.q.start + i) for i, k in enumerate("wxyz")]
        elif frame.v.start in dependent:
            names = mechanism.coordinates[frame.v]
            found += [Observed(c.name, c.unit, frame.q.start + i) for i, c in enumerate(names)]
    return tuple(found)


def _forces(mechanism: Mechanism, tau: Array) -> tuple[Quantity, ...]:
    active = [mechanism.coordinates[i] for i in mechanism.indices("active")]
    return tuple(Quantity(c.name, _FORCE[c.unit], float(x)) for c, x in zip(active, np.asarray(tau), strict=True))
