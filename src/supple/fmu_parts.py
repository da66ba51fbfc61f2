"""The parts of an FMU gathered from a robot: Functions, names, units, and the posture it starts in.

It rests on the same plant as a simulation: states are the free coordinates and their rates, loops give all others.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.backends.stepping.plant import Place, Plant
from supple.backends.targets.fmu_variables import FmuCoordinate, FmuParts, FmuQuantity, Observed
from supple.errors import LeftOut, SuppleError
from supple.expr.function import Array, Function, function, symbols
from supple.expr.passes import optimise
from supple.formulations.record import Equations
from supple.machine import Kept
from supple.model.equilibrium import equilibrium
from supple.model.model import Model
from supple.model.posture import posture, standing
from supple.model.structural import viscous_equivalent
from supple.robot.mechanism import Mechanism
from supple.simulation.plants import plant

_FORCE = {"m": "N", "rad": "N.m"}
# A displacement and a rate that matter, for tolerances: joints, elastic coordinates
_NOMINAL = {"joint": {"m": (0.1, 0.1), "rad": (0.1, 0.1)}, "elastic": {"m": (1e-4, 1e-2), "rad": (1e-3, 1e-1)}}
_LIGHT = ("fold", "signs")  # passes of the functions that are evaluated at outputs only


def fmu_parts(
    model: Model,
    *,
    at: Mapping[str, float] | None = None,
    assembly: str | None = None,
    passes: Sequence[str] | None = None,
    kept: Kept | None = None,
    structural: bool = True,
) -> FmuParts:
    """The FmuParts of a robot that starts at rest: loops closed, bodies bent by their weight, actuators holding still.

    `at` and `assembly` choose the pose (home if not given), `passes` those that optimise the forward model (the default
    ones if None), `kept` the parameters that can be set in the FMU; `structural`: structural damping is there as its viscous
    equivalent at this pose, actuators free.
    """
    mechanism = model.mechanism
    q, tau = _rest(model, posture(model, at, assembly))
    outputs = _outputs(kept.equations, len(kept.symbols)) if kept else _outputs(model.equations, 0)
    equivalent = viscous_equivalent(model, q) if structural else None
    if equivalent is not None:
        free = ", actuators free" if len(model.active) else ""
        warnings.warn(f"structural damping is {equivalent.sentence()}{free}", LeftOut, stacklevel=4)
    made = plant(
        model if equivalent is None else model.damped(equivalent.D), q, loads=True, kept=kept, often=True, passes=passes
    )
    motion = made.accelerations or made.tree
    assert motion is not None
    _smooth(mechanism, motion)
    return FmuParts(
        robot=mechanism.name,
        about=mechanism.about,
        plant=made,
        **outputs,
        free=tuple(_coordinate(mechanism, p, q) for p in made.free),
        dependent=tuple(_coordinate(mechanism, p, q) for p in made.dependent),
        observed=_observed(mechanism, made),
        forces=_forces(mechanism, tau),
        loads=_loads(motion),
        gravity=tuple(float(x) for x in model.gravity),
        parameters=_parameters(kept) if kept else (),
        point_labels=tuple(mechanism.points),
        start=tuple(float(x) for x in q),
    )


def _rest(model: Model, q: Array) -> tuple[Array, Array]:
    """The posture a simulation starts in, and the forces of actuators that hold still."""
    if any(c.kind == "elastic" for c in model.mechanism.coordinates):
        rest = equilibrium(model, q, standing=standing(model))
        return rest.q, rest.tau
    return q, model.inverse(q, np.zeros(model.nv), np.zeros(len(model.active))).tau


def _outputs(equations: Equations, parameters: int) -> dict[str, Function]:
    """Motion of the named points, and energies."""
    energy, points = equations.energy, equations.points
    kinetic = sum(energy.outputs["kinetic"]) + energy.outputs["motors"]
    made: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
        "points": (points.inputs, {k: points.outputs[k] for k in ("position", "velocity", "acceleration")}),
        "energy": (energy.inputs, {"kinetic": kinetic, "elastic": sum(energy.outputs["elastic"])}),
    }
    nq, nv = equations.mechanism.nq, equations.mechanism.nv
    sizes = {"q": nq, "v": nv, "a": nv, "g": 3, "p": parameters}
    found = {}
    for name, (given, results) in made.items():
        f = optimise(function(name, given, results), _LIGHT).function
        found[name] = replace(f, inputs={k: f.inputs[k] if k in f.inputs else symbols(k, n) for k, n in sizes.items()})
    return found


def _smooth(mechanism: Mechanism, f: Function) -> None:
    if f.counts["sign"]:
        stuck = [c.name for c in mechanism.coordinates if c.coulomb != 0 and c.width == 0]
        raise SuppleError(
            f"{mechanism.name}: no FMU, because the Coulomb friction of {', '.join(stuck[:4]) or 'a joint'} jumps at rest; "
            "give it a width in the robot file, for example width: 0.001"
        )


def _coordinate(mechanism: Mechanism, place: Place, q: Array) -> FmuCoordinate:
    c = mechanism.coordinates[place.v]
    nominal = _NOMINAL["elastic" if c.kind == "elastic" else "joint"][c.unit]
    return FmuCoordinate(c.name, c.unit, *nominal, start=float(q[place.q]) if place.q >= 0 else 0.0)


def _observed(mechanism: Mechanism, made: Plant) -> tuple[Observed, ...]:
    """Position numbers that are no states, in the order of q; a ball joint by the four numbers of its quaternion."""
    units = [mechanism.coordinates[p.v] for p in made.dependent]
    found = [Observed(c.name, c.unit, p.q) for c, p in zip(units, made.dependent, strict=True) if p.q >= 0]
    for frame in mechanism.frames:
        if frame.motion == "spherical":
            found += [Observed(f"{frame.name} quaternion {k}", "", frame.q.start + i) for i, k in enumerate("wxyz")]
    return tuple(sorted(found, key=lambda x: x.q))


def _loads(f: Function) -> tuple[int, ...]:
    """Places of the forces and moments at points that move the robot."""
    used = {x for x in f.nodes if x.op == "symbol"}
    return tuple(i for i, x in enumerate(f.inputs["w"].ravel()) if x in used)


def _parameters(kept: Kept) -> tuple[FmuQuantity, ...]:
    signs = kept.signs or (0,) * len(kept.values)
    return tuple(FmuQuantity(x.label, "", value, s) for x, value, s in zip(kept.symbols, kept.values, signs, strict=True))


def _forces(mechanism: Mechanism, tau: Array) -> tuple[FmuQuantity, ...]:
    active = [mechanism.coordinates[i] for i in mechanism.indices("active")]
    return tuple(FmuQuantity(c.name, _FORCE[c.unit], float(x)) for c, x in zip(active, np.asarray(tau), strict=True))
