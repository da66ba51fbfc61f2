"""Derivatives of what the core computes, along displacements dq, reactions dlam and parameters dp, as Functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from supple.core.functions import CoreFunctions
from supple.expr.derivative import push_forward
from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import Expr, Scalar
from supple.formulations.tree.observed import displacement
from supple.robot.mechanism import Mechanism


@dataclass(frozen=True)
class Tangents:
    gaps: Function  # q p dp
    forces: Function  # q p lam w dp
    servo: Function  # p dp
    places: Function  # q p dq dp
    matrices: Mapping[str, Function]  # of a direction, and of dq dp dlam


def tangents(f: CoreFunctions, mechanism: Mechanism) -> Tangents:
    """The Tangents of a core's Functions."""
    matrices = {
        "LOOPS": f.loops, "STIFFNESS": f.stiffness, "INERTIA": f.inertia, "DAMPING": f.damping, "LOSS": f.loss,
        "POINTS": f.points,
    }  # fmt: skip
    return Tangents(
        gaps=_along(f.gaps, "gaps_by_p", ("residual",), _by_p(f.gaps)),
        forces=_along(f.forces, "forces_by_p", ("f",), _by_p(f.forces)),
        servo=_along(f.servo, "servo_by_p", ("k",), _by_p(f.servo)),
        places=_along(f.places, "places_tangent", ("position",), _by_q(f.places, mechanism) | _by_p(f.places)),
        matrices={
            name: _along(
                m.function, f"{m.function.name}_tangent", ("column",),
                _by_q(m.function, mechanism) | _by_p(m.function) | _by_lam(m.function),
            )
            for name, m in matrices.items()
        },
    )  # fmt: skip


def by_parameters(f: Function) -> Function:
    """Derivatives of all outputs of a Function of p, along dp."""
    return _along(f, f"{f.name}_by_p", tuple(f.outputs), _by_p(f))


def slopes(f: Function, mechanism: Mechanism) -> Function:
    """Derivatives of all outputs of a Function along dq (generalised velocities), and along dp, dlam and dw where it has
    these inputs; all others rest."""
    moves = _by_q(f, mechanism) if "q" in f.inputs else {}
    for key in ("p", "lam", "w"):
        if key in f.inputs:
            own = symbols(f"d{key}", f.inputs[key].shape)
            moves[key] = (own, own)
    return _along(f, f"{f.name}_slopes", tuple(f.outputs), moves)


Moves = dict[str, tuple[Array, Array]]  # input -> symbols of its own change, tangent of the input


def _by_q(f: Function, mechanism: Mechanism) -> Moves:
    dq = symbols("dq", mechanism.nv)
    return {"q": (dq, displacement(mechanism, f.inputs["q"], dq))}


def _by_p(f: Function) -> Moves:
    dp = symbols("dp", f.inputs["p"].shape)
    return {"p": (dp, dp)}


def _by_lam(f: Function) -> Moves:
    dlam = symbols("dlam", f.inputs["lam"].shape) if "lam" in f.inputs else None
    return {} if dlam is None else {"lam": (dlam, dlam)}


def _along(f: Function, name: str, outputs: tuple[str, ...], moves: Moves) -> Function:
    seeds: dict[Expr, Scalar] = {}
    for key, (_, tangent) in moves.items():
        seeds |= dict(zip(f.inputs[key].ravel(), np.asarray(tangent, dtype=object).ravel(), strict=True))
    inputs = {**f.inputs, **{f"d{key}": own for key, (own, _) in moves.items()}}
    return function(name, inputs, {key: push_forward(f.outputs[key], seeds) for key in outputs})
