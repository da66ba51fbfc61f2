"""`Plant`: what the integrators in C need to know of a robot, as Functions and places of coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from supple.backends.stepping.collocation import FEWEST
from supple.expr.function import Function, function, symbols
from supple.expr.program import Program

SOME = 50  # free coordinates from which Newton's matrices are made body by body; below, the whole matrix is cheaper
MANY = 100  # above which full damping stands beside the equations, and residuals may be what is out of balance
PLENTY = 500  # above which they are, as rounding of accelerations grows; below it where some coordinates move no mass


@dataclass(frozen=True)
class Place:
    """Where a coordinate is: in v, in q (-1: part of a quaternion), and whether it is an angle."""

    v: int
    q: int
    angle: bool


class Ball(NamedTuple):
    """A ball joint: its first place in q, and that among the free and among the dependent coordinates, -1 if not there."""

    q: int
    free: int
    dependent: int


@dataclass(frozen=True)
class Controlled:
    """The rigid robot that a computed-torque controller computes with."""

    loops: Function | None  # q, p -> residual, factors, alignment
    rates: Function | None  # q, v, p -> velocity, factors
    square: Function | None  # q, p -> gradient, jacobian
    resolved: Function | None  # factors, equations, p -> dependent
    multipliers: int  # among the factors
    inverse: Function  # q, v, a, g, p -> tau
    dependent: tuple[Place, ...]
    rows: tuple[int, ...]
    balls: tuple[Ball, ...]
    drives: tuple[Place, ...]  # its actuators
    measured: tuple[Place, ...]  # the same in the flexible robot
    torques: tuple[int, ...]  # their places among the torque-driven actuators, -1 for those it does not control
    start: tuple[float, ...]  # q


class Part(NamedTuple):
    """A chain by itself. model: q, v, g, w -> M, c, load, J (transposed); its coordinates, and those that move no mass."""

    model: Function
    v: tuple[int, ...]
    light: tuple[int, ...]


class Limb(NamedTuple):
    """A frame with its body, see limbs.h: the frame that it hangs on (-1: the base); its elastic coordinates: how many, the
    first in v, how far from the diagonal their matrices reach; its joint's coordinates that are not given: how many, the
    first; closure equations (first, last + 1) that hold on to it and to what hangs on it; the place among those of its own
    coordinates where it moves no mass, or -1; elastic coordinates of its parent that move it: the first, how many; where
    its numbers stand; and what bending changes: the place of its elastic coordinates in q, terms of its inertia, stretches
    of its elements (the first, how many)."""

    parent: int
    elastic: int
    e: int
    band: int
    dofs: int
    q: int
    first: int
    last: int
    light: int
    mark: int
    marked: int
    phi: int
    rigid: int
    mass: int
    stiff: int
    damped: int
    joint: int
    at: int
    bend: int
    bends: int
    stretch: int
    stretches: int


class Bend(NamedTuple):
    """A term of a bent body's inertia, see bent.h: the number that it is added to, one or two elastic coordinates (-1: no
    second one), and where the factor stands."""

    to: int
    first: int
    second: int
    by: int


class Window(NamedTuple):
    """A stretched element, see bent.h: its elastic coordinates (the first, how many), and where its numbers stand."""

    first: int
    wide: int
    numbers: int


class Tie(NamedTuple):
    """An anchor of a loop: its frame; the closure, whether it is the second anchor, whether legs meet there; elastic
    coordinates that move it and where its numbers stand; places of the equations of the six directions, or -1."""

    frame: int
    closure: int
    second: int
    hosted: int
    mark: int
    marked: int
    phi: int
    x: int
    y: int
    z: int
    rx: int
    ry: int
    rz: int


class Meeting(NamedTuple):
    """Closure equations (first, last + 1) that are solved together, and the rigid frame that they leave; -1: none."""

    first: int
    last: int
    host: int


class TeamLimb(NamedTuple):
    """A limb as the legs of a team have it. Places of its elastic coordinates, of its joint's, of its twist among a leg's
    numbers, -1: it hangs on the base; of its columns' ends, of its factors, of its joint's, and of what is real."""

    parent: int
    elastic: int
    e: int
    dofs: int
    q: int
    twist: int
    first: int
    last: int
    light: int
    mark: int
    marked: int
    column: int
    factors: int
    joint: int
    axis: int
    reach: int


class Team(NamedTuple):
    """Legs solved side by side: how many, their host; limbs: the first, how many; a leg's own coordinates and forces in
    loops; places of factors of its meeting, and of what is real of that, after all of its limbs; where its numbers stand."""

    legs: int
    host: int
    limb: int
    limbs: int
    coordinates: int
    forces: int
    meeting: int
    held: int
    factors: int
    rates: int
    work: int
    v: int


@dataclass(frozen=True)
class Limbs:
    """A robot of many coordinates as its chains are eliminated.

    posture: q -> rotations and places of frames and anchors; balance: q, v, a, g, lam, w -> forces out of balance."""

    posture: Function
    balance: Function | None  # None: accelerations are solved for instead
    twists: tuple[int, ...]  # parts of twists, of three translations and three rotations, that frames have
    frames: tuple[Limb, ...]
    ties: tuple[Tie, ...]
    meetings: tuple[Meeting, ...]
    bends: tuple[Bend, ...]  # those of equal bodies once
    windows: tuple[Window, ...]
    order: tuple[int, ...]  # in which frames are eliminated
    rows: tuple[int, ...]  # closure equations that say everything; -1 at the places of coordinates that move no mass
    equations: int  # of all closures
    numbers: Any = field(compare=False)


class Stretched(NamedTuple):
    """Bending that stretches coordinates that damp each other: from `first` on their strains change at the rate v.G q more.

    A row for each, in the order of `first`: places in q and in v of what bends, and G; rows of few end with zeros in G."""

    first: Any
    q: Any
    v: Any
    G: Any


class Damped(NamedTuple):
    """Elastic coordinates that damp each other, by their places among all of these, the matrix of it, and what else changes
    their strains."""

    at: tuple[int, ...]
    D: Any
    stretched: Stretched | None = None


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
    loops: q -> residual, gradient, alignment; rates: q, v -> velocity, jacobian; drift: q, v, a -> acceleration. Gradient
    and jacobian are matrices, columns first, or where the order of elimination is fixed their factors: square: q -> the
    matrices (of dependent coordinates, chosen equations); resolved: factors, equations -> dependent coordinates;
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
    square: Function | None = None
    resolved: Function | None = None
    multipliers: int = 0  # among the factors
    odd: bool = False  # whether an odd number of swaps makes the order
    accelerations: Function | None = None
    program: Program | None = None  # the accelerations with one leg's code for all legs
    outputs: tuple[tuple[str, int], ...] = ()  # where the program has the accelerations of the free coordinates
    tree: Function | None = None
    coupled: Coupled | None = None
    limbs: Limbs | None = None  # for Newton's method, where free coordinates are many
    stages: int = FEWEST  # of collocation
    rigid: Controlled | None = None
    loads: int = 0  # numbers in w
    reach: float = 1.0  # m: what errors of angles are multiplied with to be compared with lengths
    parameters: tuple[float, ...] = field(default=())
    elastic: tuple[int, ...] = ()  # places in v of the elastic coordinates, which `damping` acts on
    damping: tuple[Damped, ...] = field(default=(), compare=False)  # of forces D v; accelerations take them as an input x


def plant_function(name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Function:
    """A Function with an input p even where no parameters are kept."""
    made = function(name, inputs, outputs)
    return made if "p" in made.inputs else replace(made, inputs={**made.inputs, "p": symbols("p", 0)})
