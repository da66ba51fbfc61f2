"""`Plant`: what the integrators in C need to know of a robot, as Functions and places of coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from supple.expr.function import Function, function, symbols
from supple.expr.program import Program

MANY = 60  # free coordinates above which Newton's matrices are made leg by leg, where legs are equal


@dataclass(frozen=True)
class Place:
    """Where a coordinate is: in v, in q (-1: part of a quaternion), and whether it is an angle."""

    v: int
    q: int
    angle: bool


class Block(NamedTuple):
    """A place on the diagonal of the loops' square Jacobian, in an order that leaves most of the matrix empty: the dependent
    coordinate and the equation (of those chosen) there, the column where its block starts, and the rows of its block."""

    coordinate: int
    equation: int
    start: int
    begin: int
    end: int


class Ball(NamedTuple):
    """A ball joint: its first place in q, and that among the free and among the dependent coordinates, -1 if not there."""

    q: int
    free: int
    dependent: int


@dataclass(frozen=True)
class Controlled:
    """The rigid robot that a computed-torque controller computes with."""

    loops: Function | None  # q, p -> residual, gradient, alignment
    rates: Function | None  # q, v, p -> velocity, jacobian
    inverse: Function  # q, v, a, g, p -> tau
    dependent: tuple[Place, ...]
    rows: tuple[int, ...]
    balls: tuple[Ball, ...]
    blocks: tuple[Block, ...]
    drives: tuple[Place, ...]  # its actuators
    measured: tuple[Place, ...]  # the same in the flexible robot
    torques: tuple[int, ...]  # their places among the torque-driven actuators, -1 for those it does not control
    start: tuple[float, ...]  # q


class Part(NamedTuple):
    """A chain by itself. model: q, v, g, w -> M, c, load, J (transposed); its coordinates, and those that move no mass."""

    model: Function
    v: tuple[int, ...]
    light: tuple[int, ...]


@dataclass(frozen=True)
class Coupled:
    """Loops as forces between coordinates that are all integrated.

    way: "multipliers" (all accelerations and forces at once), "chains" (chain by chain, then the forces), or "printed"
    (chain by chain with the forces of the evaluation before, `tied` coordinates following from the loops)."""

    way: str
    about: str
    rows: tuple[int, ...]  # closure equations that say everything
    gain: float = 0.0  # 1/s, with which gaps are pulled together
    gap: Function | None = None  # q -> residual, if they are
    moved: tuple[Place, ...] = ()  # coordinates that close what is left of gaps after every step
    moved_balls: tuple[Ball, ...] = ()  # ball joints; the moved ones stand as dependent
    tied: tuple[Place, ...] = ()
    tied_balls: tuple[Ball, ...] = ()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Plant:
    """A robot whose coordinates are given by a motion, free, or dependent on both through its loops.

    Functions, inputs in this order, `p` (kept parameters) last:
    loops: q -> residual, gradient, alignment; rates: q, v -> velocity, jacobian; drift: q, v, a -> acceleration (gradient
    and jacobian columns first: those of `blocks` in their order, or all if there are none);
    accelerations: q, v, a of given ones, forces of the others, g, w -> a of free ones, forces of given ones; or
    tree: q, v, g, w -> M, c; power: q, v, forces, w -> power. `coupled` plants have no dependent coordinates.
    """

    name: str
    nq: int
    nv: int
    free: tuple[Place, ...]
    given: tuple[Place, ...]
    dependent: tuple[Place, ...]
    rows: tuple[int, ...]  # closure equations by which they follow
    torque: tuple[Place, ...]
    balls: tuple[Ball, ...]
    power: Function
    loops: Function | None = None
    rates: Function | None = None
    drift: Function | None = None
    blocks: tuple[Block, ...] = ()
    accelerations: Function | None = None
    program: Program | None = None  # the accelerations with one leg's code for all legs
    outputs: tuple[tuple[str, int], ...] = ()  # where the program has the accelerations of the free coordinates
    tree: Function | None = None
    coupled: Coupled | None = None
    rigid: Controlled | None = None
    loads: int = 0  # numbers in w
    reach: float = 1.0  # m: what errors of angles are multiplied with to be compared with lengths
    parameters: tuple[float, ...] = field(default=())
    elastic: tuple[int, ...] = ()  # places in v of the elastic coordinates, which `damping` acts on
    damping: Any = field(default=None, compare=False)  # D of further forces D v; accelerations take them as an input x


def plant_function(name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Function:
    """A Function with an input p even where no parameters are kept."""
    made = function(name, inputs, outputs)
    return made if "p" in made.inputs else replace(made, inputs={**made.inputs, "p": symbols("p", 0)})
