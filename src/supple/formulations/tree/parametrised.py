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


def parametrised(mechanism: Mechanism) -> tuple[Mechanism, Array, list[str]]:
    """The mechanism with a symbol for every parameter forces are linear in, those symbols, and their names."""
    theta: list[Expr] = []  # a family
    names: list[str] = []

    def new(name: str) -> Expr:
        names.append(name)
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
                changed[key] = new(f"{short} {c.name}")
        coordinates.append(replace(c, **changed))
    made = np.empty(len(theta), dtype=object)
    made[:] = theta
    return replace(mechanism, frames=tuple(frames), coordinates=tuple(coordinates)), made, names


def _rigid(body: Body, name: str, new: Callable[[str], Expr]) -> Body:
    """Mass, first moments and inertia as symbols, where they are not zero."""
    mass = body.mass if is_zero(body.mass) else new(f"m {name}")
    MS, inertia = body.MS_r.copy(), body.I_rr.copy()
    for i, axis in enumerate("xyz"):
        if not is_zero(MS[i]):
            MS[i] = new(f"m{axis} {name}")
        for j in range(i, 3):
            if not is_zero(inertia[i, j]):
                inertia[i, j] = inertia[j, i] = new(f"{axis}{'xyz'[j]} {name}")
    return replace(body, mass=mass, MS_r=MS, I_rr=inertia)


def _flexible(body: Body, name: str, new: Callable[[str], Expr]) -> Body:
    """A factor on the body's inertia, one on its stiffness, one on its damping."""
    inertial = ("MS_r", "I_rr", "MS_de", "beta", "lam", "I_re", "I_ee", "M_ee")
    changed: dict[str, Any] = {}
    if not is_zero(body.mass):
        factor = new(f"inertia {name}")
        changed = {key: getattr(body, key) * factor for key in inertial} | {"mass": body.mass * factor}
        changed["shortened"] = tuple(replace(t, G=t.G * factor) for t in body.shortened)
    changed["K_ee"] = body.K_ee * new(f"stiffness {name}")
    if not is_zero(body.D_ee):
        changed["D_ee"] = body.D_ee * new(f"damping {name}")
    return replace(body, **changed)
