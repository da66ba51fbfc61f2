"""What the core computes of a robot: its Functions at rest, linear in a direction, and which entries they fill.

Everything is a Function of q, of the parameters p and of lam and w where it needs them; gravity is the robot's own (and may
depend on parameters). Matrices are applied to a direction: `Sparse` says which entries they have and which columns
may share a direction because no row has entries in two of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.function import Array, Function, function
from supple.expr.node import Expr
from supple.expr.substitution import substituted
from supple.expr.vector import zeros
from supple.formulations.record import Equations
from supple.formulations.tree.strain import elastic_forces
from supple.robot.mechanism import Mechanism

Indices = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Sparse:
    """A matrix as a Function applied to a direction: rows and columns of its entries, and a colour for every column."""

    function: Function
    rows: Indices
    columns: Indices
    colours: Indices  # of every column; columns of one colour share no row

    @property
    def rounds(self) -> int:
        """Directions that show all entries."""
        return int(self.colours.max(initial=-1)) + 1


@dataclass(frozen=True)
class CoreFunctions:
    """A robot at rest: gaps of its loops, forces of its tree, and the matrices of its linear model."""

    gaps: Function  # q p -> residual, alignment
    forces: Function  # q p lam w -> f
    places: Function  # q p -> position of the named points
    servo: Function  # p -> stiffness of every actuator's servo
    lengths: Function  # p -> of the links after every joint of a chain, chain by chain
    opening: Sparse  # of the gaps
    loops: Sparse  # J
    stiffness: Sparse
    inertia: Sparse
    damping: Sparse
    loss: Sparse
    points: Sparse  # velocities and angular velocities of named points


def core_functions(equations: Equations, p: Array, lengths: Array) -> CoreFunctions:
    """The CoreFunctions of a robot with these parameters, and lengths that depend on them."""
    mechanism = equations.mechanism
    at_rest = Rest(mechanism, equations.forces, p)
    return CoreFunctions(
        gaps=replace(at_rest.kept(equations.closure, ("residual", "alignment")), name="gaps"),
        forces=at_rest.kept(equations.forces, ("f",), "lam", "w"),
        places=replace(at_rest.kept(equations.points, ("position",)), name="places"),
        servo=function("servo", {"p": p}, {"k": _servo(mechanism)}),
        lengths=function("lengths", {"p": p}, {"after": lengths}),
        opening=sparse(at_rest.applied("opening", equations.closure_gradient, "residual")),
        loops=sparse(at_rest.applied("loops", moving(equations.closure_motion), "velocity")),
        stiffness=sparse(at_rest.applied("stiffness", equations.stiffness, "f", "lam", "w")),
        inertia=sparse(at_rest.applied("inertia", equations.inertia, "f")),
        damping=sparse(at_rest.applied("damping", equations.damping, "f")),
        loss=sparse(at_rest.applied("loss", loss(equations), "f")),
        points=sparse(at_rest.applied("points", _point_motion(equations.points), "twist")),
    )


@dataclass(frozen=True)
class Rest:
    """Functions of a mechanism with rates and accelerations at zero and gravity as it is."""

    mechanism: Mechanism
    forces: Function
    p: Array

    def kept(self, f: Function, outputs: tuple[str, ...], *inputs: str) -> Function:
        """f of q, p and these inputs."""
        still: dict[Expr, Any] = {}
        for name in ("v", "a"):
            if name in f.inputs:
                still |= dict.fromkeys(f.inputs[name].ravel(), 0)
        if "g" in f.inputs:
            still |= dict(zip(f.inputs["g"].ravel(), self.mechanism.gravity, strict=True))
        for name in ("lam", "w"):
            if name in f.inputs and name not in inputs:
                still |= dict.fromkeys(f.inputs[name].ravel(), 0)
        given = {"q": f.inputs["q"], "p": self.p} | {k: f.inputs[k] for k in inputs if k in f.inputs}
        made = {key: substituted(f.outputs[key], still) for key in outputs if key in f.outputs}
        return function(f.name, given, made)

    def applied(self, name: str, f: Function, output: str, *inputs: str) -> Function:
        """The matrix of f's direction, as a Function of it."""
        made = self.kept(f, (output,), *inputs, "direction")
        return function(name, made.inputs, {"column": made.outputs[output].ravel()})


def moving(motion: Function) -> Function:
    """J v with v as the direction."""
    return replace(motion, inputs={**_without(motion.inputs, "v"), "direction": motion.inputs["v"]})


def _point_motion(points: Function) -> Function:
    """Velocity and angular velocity of all points with v as the direction."""
    twist = np.concatenate([points.outputs["velocity"], points.outputs["spin"]], axis=-1)
    inputs = {**_without(points.inputs, "v"), "direction": points.inputs["v"]}
    return function("points", inputs, {"twist": twist})


def _without(inputs: Mapping[str, Array], name: str) -> dict[str, Array]:
    return {k: v for k, v in inputs.items() if k != name}


def _servo(mechanism: Mechanism) -> Array:
    made = zeros(mechanism.nv)
    for k, c in enumerate(mechanism.coordinates):
        made[k] = 0 if c.servo is None else c.servo
    return made


def loss(equations: Equations) -> Function:
    """Loss stiffness of bodies and joints applied to a direction."""
    mechanism, inputs = equations.mechanism, equations.stiffness.inputs
    q, direction = inputs["q"], inputs["direction"]
    made = zeros(mechanism.nv)
    for frame in mechanism.frames:
        if len(frame.body.coordinates):
            lossy = replace(frame.body, K_ee=frame.body.K_ee * 0, D_ee=frame.body.H_ee)
            made[frame.ev] = elastic_forces(lossy, q[frame.e], direction[frame.ev])
    return function("loss", {"q": q, "direction": direction}, {"f": made})


# Which entries there are ---------------------------------------------------------------------------------------------


def sparse(f: Function) -> Sparse:
    """The entries of a Function that is linear in its direction."""
    depends = _dependence(f)
    rows, columns = [], []
    for i, mask in enumerate(depends):
        j = 0
        while mask:
            skip = (mask & -mask).bit_length() - 1
            j += skip
            rows.append(i)
            columns.append(j)
            mask >>= skip + 1
            j += 1
    width = f.inputs["direction"].size
    colours = _coloured(np.array(rows, dtype=np.int32), np.array(columns, dtype=np.int32), width)
    order = np.argsort(colours[np.array(columns, dtype=int)], kind="stable") if columns else np.zeros(0, dtype=int)
    return Sparse(f, np.array(rows, dtype=np.int32)[order], np.array(columns, dtype=np.int32)[order], colours)


def _dependence(f: Function) -> list[int]:
    """For every output the set (bits) of entries of the direction that it depends on."""
    known: dict[Expr, int] = {x: 1 << k for k, x in enumerate(f.inputs["direction"].ravel())}
    for node in f.nodes:
        if node.op != "symbol":
            bits = 0
            for operand in node.args:
                if isinstance(operand, Expr):
                    bits |= known.get(operand, 0)
            known[node] = bits
    return [known.get(x, 0) if isinstance(x, Expr) else 0 for x in f.output_scalars()]


def _coloured(rows: Indices, columns: Indices, width: int) -> Indices:
    """A colour for every column, the fewest that a greedy choice finds, the fullest column first; -1: empty columns."""
    members: list[set[int]] = [set() for _ in range(width)]
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        members[j].add(i)
    colours = np.full(width, -1, dtype=np.int32)
    taken: list[set[int]] = []
    for j in sorted(range(width), key=lambda j: -len(members[j])):
        if not members[j]:
            continue
        k = next((k for k, occupied in enumerate(taken) if occupied.isdisjoint(members[j])), len(taken))
        if k == len(taken):
            taken.append(set())
        taken[k] |= members[j]
        colours[j] = k
    return colours
