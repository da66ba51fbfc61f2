"""A mechanism with symbols for the parameters that its forces are linear in, for identification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Expr, parameter
from supple.robot.bodies.record import Body, is_zero
from supple.robot.mechanism import Mechanism

New = Callable[[str, Any], Expr]  # name, value -> symbol


def parametrised(mechanism: Mechanism) -> tuple[Mechanism, Array, list[str]]:
    """The mechanism with a symbol for every parameter forces are linear in, those symbols, and their names."""
    made, theta, values = _spread(mechanism)
    return made, theta, list(values)


def parameter_values(mechanism: Mechanism) -> dict[str, float]:
    """The values of these parameters, by name: factors of flexible bodies are one."""
    return {name: float(value) for name, value in _spread(mechanism)[2].items()}


def _spread(mechanism: Mechanism) -> tuple[Mechanism, Array, dict[str, Any]]:
    theta: list[Expr] = []  # a family
    values: dict[str, Any] = {}

    def new(name: str, value: Any) -> Expr:
        values[name] = value
        return parameter(name, theta)

    frames = []
    for frame in mechanism.frames:
        frames.append(replace(frame, body=_flexible(frame.body, frame.name, new) if frame.body.flexible else
                              _rigid(frame.body, frame.name, new)))  # fmt: skip
    coordinates = []
    for c in mechanism.coordinates:
        changed: dict[str, Any] = {}
        for key, short in (("inertia", "IA"), ("viscous", "fv"), ("coulomb", "fs")):
            if not is_zero(getattr(c, key)):
                changed[key] = new(f"{short} {c.name}", getattr(c, key))
        coordinates.append(replace(c, **changed))
    made = np.empty(len(theta), dtype=object)
    made[:] = theta
    return replace(mechanism, frames=tuple(frames), coordinates=tuple(coordinates)), made, values


def _rigid(body: Body, name: str, new: New) -> Body:
    """Mass, first moments and inertia as symbols, where they are not zero."""
    mass = body.mass if is_zero(body.mass) else new(f"m {name}", body.mass)
    MS, inertia = body.MS_r.copy(), body.I_rr.copy()
    for i, axis in enumerate("xyz"):
        if not is_zero(MS[i]):
            MS[i] = new(f"m{axis} {name}", MS[i])
        for j in range(i, 3):
            if not is_zero(inertia[i, j]):
                inertia[i, j] = inertia[j, i] = new(f"{axis}{'xyz'[j]} {name}", inertia[i, j])
    return replace(body, mass=mass, MS_r=MS, I_rr=inertia)


def _flexible(body: Body, name: str, new: New) -> Body:
    """A factor on the body's inertia, one on its stiffness, one on its damping."""
    inertial = ("MS_r", "I_rr", "MS_de", "beta", "lam", "I_re", "I_ee", "M_ee")
    changed: dict[str, Any] = {}
    if not is_zero(body.mass):
        factor = new(f"inertia {name}", 1)
        changed = {key: getattr(body, key) * factor for key in inertial} | {"mass": body.mass * factor}
        changed["shortened"] = tuple(replace(t, G=t.G * factor) for t in body.shortened)
    changed["K_ee"] = body.K_ee * new(f"stiffness {name}", 1)
    if not is_zero(body.D_ee):
        changed["D_ee"] = body.D_ee * new(f"damping {name}", 1)
    return replace(body, **changed)
