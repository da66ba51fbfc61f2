"""What the C core has to know of a robot before any pose: which coordinates are given, which follow from which, in which
order loops are eliminated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from supple.core.free_parameters import FreeParameters
from supple.core.functions import CoreFunctions, core_functions
from supple.errors import SuppleError
from supple.expr.function import Array as Symbols
from supple.expr.vector import zeros
from supple.model.algebra import Array, null_space, row_scaled
from supple.model.closing import close
from supple.model.curvature import JointRow, place_of_closure
from supple.model.mobility import rigid_indices
from supple.model.model import Model
from supple.robot.mechanism import Mechanism

_RANK = 1e-7
_SAMPLES = 6  # postures that the choice of pivots is made for
_MOVES = 0.4  # m or rad, how far they are from home at most
_PREFERRED = {"passive": 1.0, "platform": 0.3, "elastic": 1e-4, "active": 1e-7}  # to follow from the others


class NotInCore(SuppleError):
    """A pose that is asked for in a way that the core does not take."""


@dataclass(frozen=True)
class Way:
    """Rows of J that are solved, in the order of elimination, for the dependent coordinates; the independent ones; where
    every row and coordinate stands among them (dependent ones after the independent ones; -1: left out, or held)."""

    rows: tuple[int, ...]
    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    row_places: tuple[int, ...]
    column_places: tuple[int, ...]


@dataclass(frozen=True)
class Structure:
    """All that the core has to know; its Functions are derived when they are first asked for."""

    derive: Callable[[], CoreFunctions] = field(repr=False)
    nq: int
    nv: int
    given: tuple[int, ...]  # places in q of what a pose gives
    chosen: tuple[int, ...]  # and in v
    active: tuple[int, ...]
    balls: tuple[tuple[int, int], ...]  # places in q and in v of spherical joints
    places: tuple[int, ...]  # of every velocity in q; -1: of a spherical joint
    elastic: tuple[int, ...]
    closing: Way
    held: Way
    linear: Way
    free: bool
    points: int
    loops: int  # rows of J
    chains: tuple[Chain, ...] = field(repr=False)

    @cached_property
    def functions(self) -> CoreFunctions:
        return self.derive()

    @property
    def loads(self) -> int:
        """Components of all wrenches."""
        return 6 * self.points


@dataclass(frozen=True)
class Chain:
    """The joints around a loop, and the rows of its equations."""

    rows: range
    turns: tuple[bool, ...]  # rows that speak of turns
    whole: bool  # the other rows hold all components that can change
    joints: JointRow


def structure(
    parameters: FreeParameters, model: Model, home: Array, held: Sequence[int], *, free: bool = False
) -> Structure:
    """The Structure of a robot whose poses give the coordinates `held` (places in v).

    model and home: with numbers for the parameters; free: actuators follow in the linear model."""
    mechanism = model.mechanism
    samples = _samples(model, home)
    joints = [i for i in rigid_indices(model) if i not in held]
    gradients = [_opening(model, q) for q in samples]
    jacobians = [model.jacobian(q) for q in samples]
    active = set(mechanism.indices("active"))
    moving = [i for i in range(model.nv) if i not in active]
    loose = set() if not free else active
    linear = [i for i in range(model.nv) if i not in active or i in loose or i in model.servos]
    chains = _chains(parameters.mechanism)
    way = _way(model, jacobians, linear)
    for i in () if free else model.servos:
        if i in way.dependent:  # K has the servos of independent motions only
            raise NotInCore(f"the servo of {model.names[i]!r} moves as the loops tell it to")
    return Structure(
        derive=lambda: core_functions(parameters.equations, parameters.symbols, _lengths(chains)),
        nq=mechanism.nq,
        nv=model.nv,
        given=_given(model, held),
        chosen=tuple(held),
        active=tuple(mechanism.indices("active")),
        balls=tuple((f.q.start, f.v.start) for f in mechanism.frames if f.motion == "spherical"),
        places=_places(model),
        elastic=tuple(int(c.kind == "elastic") for c in mechanism.coordinates),
        closing=_only_dependent(_way(model, gradients, joints)),
        held=_way(model, jacobians, moving),
        linear=way,
        free=free,
        points=len(mechanism.points),
        loops=sum(len(closure.forbidden) for closure in mechanism.closures),
        chains=chains,
    )


def _chains(mechanism: Mechanism) -> tuple[Chain, ...]:
    made, row = [], 0
    for closure in mechanism.closures:
        place, rows = place_of_closure(mechanism, closure, row), range(row, row + len(closure.forbidden))
        made.append(Chain(rows, tuple(i in place.turns for i in rows), place.whole, place.chains[0]))
        row = rows.stop
    return tuple(made)


def most_links(chains: Sequence[Chain]) -> int:
    return max([1, *(len(c.joints.coordinates) for c in chains)])


def _lengths(chains: Sequence[Chain]) -> Symbols:
    """Lengths of the links after every joint, chains side by side."""
    made = zeros(max(1, len(chains)), most_links(chains))
    for row, chain in zip(made, chains, strict=False):
        row[: len(chain.joints.after)] = chain.joints.after
    return made


def _opening(model: Model, q: Array) -> Array:
    if not model.mechanism.closures:
        return np.zeros((0, model.nv))
    made: Array = model.call("closure_gradient", q=q, direction=np.eye(model.nv))["residual"].T
    return made


def _samples(model: Model, home: Array) -> list[Array]:
    """Home and postures around it, some of them bent."""
    rng, found = np.random.default_rng(7), [home]
    joints = rigid_indices(model)
    if not model.mechanism.closures:
        return found
    moves = null_space(model.jacobian(home)[:, joints])[0]
    for k in range(_SAMPLES):
        step = np.zeros(model.nv)
        if moves.shape[1]:
            direction = moves @ rng.standard_normal(moves.shape[1])
            step[joints] = _MOVES * (k + 1) / _SAMPLES * direction / max(float(np.abs(direction).max()), 1e-12)
        near = close(model, model.retract(home, step), joints, 25)
        if near is not None:
            found.append(near)
    return found


def _given(model: Model, held: Sequence[int]) -> tuple[int, ...]:
    """Places in q of coordinates that a pose gives; spherical joints as a whole."""
    found: list[int] = []
    for frame in model.mechanism.frames:
        own = [i for i in range(frame.v.start, frame.v.stop) if i in held]
        if frame.motion == "spherical" and own:
            if len(own) < 3:
                raise NotInCore(f"{frame.name!r} is turned by some of its angles only")
            found += range(frame.q.start, frame.q.stop)
        elif own:
            found += [frame.q.start + i - frame.v.start for i in own]
    return tuple(found)


def _places(model: Model) -> tuple[int, ...]:
    made = [-1] * model.nv
    for frame in model.mechanism.frames:
        if frame.motion != "spherical":
            for v, q in zip(range(frame.v.start, frame.v.stop), range(frame.q.start, frame.q.stop), strict=True):
                made[v] = q
        for v, q in zip(range(frame.ev.start, frame.ev.stop), range(frame.e.start, frame.e.stop), strict=True):
            made[v] = q
    return tuple(made)


# Pivots --------------------------------------------------------------------------------------------------------------


def _way(model: Model, jacobians: Sequence[Array], columns: Sequence[int]) -> Way:
    """The Way whose pivots are large in all samples."""
    kinds = [c.kind for c in model.mechanism.coordinates]
    weight = np.array([_PREFERRED[kinds[i]] for i in columns])
    left = np.array([row_scaled(J)[:, list(columns)] for J in jacobians])
    rows: list[int] = []
    dependent: list[int] = []
    for _ in range(min(left.shape[1:])):
        if np.abs(left).max(initial=0.0) < _RANK:
            break
        least = np.abs(left).min(axis=0) * weight
        if least.max() < 1e-9:  # none suits all samples: home decides
            least = np.abs(left[0]) * weight
        i, j = np.unravel_index(int(least.argmax()), least.shape)
        if np.abs(left[0, i, j]) < _RANK:
            break
        rows.append(int(i))
        dependent.append(columns[int(j)])
        pivots = np.where(np.abs(left[:, i, j]) < 1e-12, np.inf, left[:, i, j])
        left = left - left[:, :, j : j + 1] * (left[:, i : i + 1, :] / pivots[:, None, None])
        left[:, i, :] = 0.0
        left[:, :, j] = 0.0
    independent = [i for i in columns if i not in set(dependent)]
    return _named(jacobians[0].shape, rows, dependent, independent)


def _named(shape: tuple[int, ...], rows: Sequence[int], dependent: Sequence[int], independent: Sequence[int]) -> Way:
    row_places, column_places = [-1] * shape[0], [-1] * shape[1]
    for k, i in enumerate(rows):
        row_places[i] = k
    for k, j in enumerate((*independent, *dependent)):
        column_places[j] = k
    return Way(tuple(rows), tuple(dependent), tuple(independent), tuple(row_places), tuple(column_places))


def _only_dependent(way: Way) -> Way:
    """The same with independent coordinates held: idle motions stay as they are."""
    return _named((len(way.row_places), len(way.column_places)), way.rows, way.dependent, ())
