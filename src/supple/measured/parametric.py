"""`ParametricModel`: a robot whose kept parameters are numbers that change without deriving its equations again.

The equations keep the parameters as an input `p`; bodies are numbers at one value of it. The robot is at rest: Functions
have rates, accelerations and weight put in. Their derivatives are Functions too (`core.tangents.slopes`); columns of
matrices that share no row share a direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from supple.backends.tape import Tape
from supple.core.functions import Rest, Sparse, loss, moving, sparse
from supple.core.tangents import by_parameters, slopes
from supple.expr.function import Function, function
from supple.expr.node import Expr
from supple.expr.stored import stored
from supple.formulations.record import Equations
from supple.machine import Kept, Machine
from supple.model.algebra import Array
from supple.model.model import Model
from supple.robot.mechanism import Mechanism

_AT_REST = ("forces", "inertia", "stiffness", "damping", "loss", "loops")
_MADE: dict[str, Callable[[Equations], Function]] = {
    "loss": loss,
    "loops": lambda equations: moving(equations.closure_motion),
}
_LOADED = " under load"


class Family:
    """The equations of a robot with kept parameters, from which a ParametricModel is made for every value of them."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept
        self.names = tuple(x.args[0] if x.args else str(x) for x in kept.symbols)
        self._expressions: dict[str, Function] = {}
        self._functions: dict[str, Tape] = {}
        self._slopes: dict[str, Tape] = {}
        self._sparse: dict[str, Sparse] = {}
        self._last: ParametricModel | None = None  # poses of a test ask for the same values one after the other
        leaves: dict[Expr, int] = {}
        self._still: set[int] = set()  # of the mechanism's parts, which live as long as it does
        _walk(kept.equations.mechanism, lambda x: leaves.setdefault(x, len(leaves)), self._still)
        self.leaves = leaves  # expressions of the mechanism, by their places among `entries`
        made = function("entries", {"p": kept.symbols}, {"values": list(leaves)})
        self._entries, self._entries_slopes = Tape(stored(made)), Tape(stored(by_parameters(made)))

    @classmethod
    def of(cls, robot: Machine) -> Family:
        """The Family of a robot's kept parameters, which may be none."""
        return cls(robot.kept() or Kept(robot.equations(), robot.symbols, ()))

    @property
    def geometric(self) -> bool:
        """Whether loops depend on the parameters, so that postures change with them."""
        return "p" in self.kept.equations.closure.inputs

    def entries(self, p: Array) -> Array:
        """Values of everything in the mechanism that depends on the parameters."""
        return self._entries(p=np.asarray(p))["values"]

    def entries_along(self, p: Array, dp: Array) -> Array:
        """Derivatives of `entries` along a change of the parameters."""
        return self._entries_slopes(p=np.asarray(p), dp=np.asarray(dp))["values"]

    def expression(self, name: str) -> Function:
        """A Function of the equations; those of the robot at rest, without wrenches or under load, are smaller."""
        if name not in self._expressions:
            equations, (bare, loaded, _) = self.kept.equations, name.partition(_LOADED)
            made = _MADE[bare](equations) if bare in _MADE else getattr(equations, bare)
            if bare in _AT_REST:
                rest = Rest(equations.mechanism, equations.forces, np.array(self.kept.symbols, dtype=object))
                made = rest.kept(made, ("f", "velocity"), "lam", "direction", *(("w",) if loaded else ()))
            self._expressions[name] = made
        return self._expressions[name]

    def function(self, name: str) -> Tape:
        """An `expression`, ready to be called."""
        if name not in self._functions:
            self._functions[name] = Tape(stored(self.expression(name)))
        return self._functions[name]

    def slopes(self, name: str) -> Tape:
        """Derivatives of an `expression` along all that it depends on, ready to be called."""
        if name not in self._slopes:
            self._slopes[name] = Tape(stored(slopes(self.expression(name), self.kept.equations.mechanism)))
        return self._slopes[name]

    def sparse(self, name: str) -> Sparse:
        """Which entries the matrix of a Function has, and directions that show them."""
        if name not in self._sparse:
            self._sparse[name] = sparse(self.expression(name))
        return self._sparse[name]

    def at(self, p: Array) -> ParametricModel:
        values = np.asarray(p, dtype=float)
        if self._last is None or not np.array_equal(self._last.p, values):
            self._last = ParametricModel(self, values.copy())
        return self._last

    def mechanism(self, p: Array) -> Mechanism:
        """The mechanism with numbers for its parameters."""
        values = self.entries(p)
        made: Mechanism = _with(
            self.kept.equations.mechanism, {x: float(values[k]) for x, k in self.leaves.items()}, self._still
        )
        return made


class ParametricModel(Model):
    """A Model of equations with an input `p`, which every call is given."""

    def __init__(self, family: Family, p: Array) -> None:
        self.family, self.p = family, p
        super().__init__(replace(family.kept.equations, mechanism=family.mechanism(p)))

    def function(self, name: str) -> Tape:
        return self.family.function(name)

    def named(self, name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The name of a Function of the robot at rest, and what it is given of all that is."""
        if name in _AT_REST:
            still = [given.pop(key, 0.0) for key in ("v", "a", "g")]
            assert not np.any(still[0]) and not np.any(still[1])
            name += _LOADED if "w" in given else ""
        if "lam" not in self.function(name).inputs:
            given.pop("lam", None)
        return name, given

    def call(self, name: str, **given: Any) -> dict[str, Array]:
        name, given = self.named(name, given)
        if "p" in self.function(name).inputs:
            given.setdefault("p", self.p)
        return super().call(name, **given)

    def mass(self, q: Array) -> Array:
        M = self._matrix("inertia", q=q)
        return 0.5 * (M + M.T)

    def stiffness(self, q: Array, lam: Array | None = None, **given: Any) -> Array:
        return self._matrix("stiffness", q=q, **({} if lam is None else {"lam": lam}), **given)

    def damping(self, q: Array) -> Array:
        return self._matrix("damping", q=q)

    def loss_stiffness(self, q: Array) -> Array:
        return self._matrix("loss", q=q)

    def jacobian(self, q: Array) -> Array:
        return self._matrix("loops", q=q)[: self.mechanism.equations]

    def _matrix(self, name: str, **given: Any) -> Array:
        shape = self.family.sparse(name + (_LOADED if "w" in given else ""))
        made = np.zeros((max(self.nv, self.mechanism.equations), self.nv))
        if shape.rounds:
            chosen = (shape.colours == np.arange(shape.rounds)[:, None]).astype(float)
            (found,) = self.call(name, direction=chosen, **given).values()
            made[shape.rows, shape.columns] = found[shape.colours[shape.columns], shape.rows]
        return made


class Shifted:
    """Derivatives along a direction: displacements dq, reactions dlam, parameters dp."""

    def __init__(self, model: ParametricModel, q: Array, lam: Array, dq: Array, dlam: Array, dp: Array) -> None:
        self.model, self.q, self.lam = model, q, lam
        self.dq, self.dlam, self.dp = dq, dlam, dp

    def call(self, name: str, dw: Array | None = None, *, held: bool = False, **given: Any) -> dict[str, Array]:
        """Derivatives of a Function's outputs; given: its other inputs; held: under the reactions too."""
        model = self.model
        name, known = model.named(name, {"q": self.q, **({"lam": self.lam} if held else {}), **given})
        known |= {"p": model.p, "g": model.gravity, "dq": self.dq, "dp": self.dp}
        known |= {"dlam": self.dlam if held else None, "dw": dw}
        f = model.family.slopes(name)
        return f(**{key: np.zeros(n) if known.get(key) is None else known[key] for key, n in f.inputs.items()})

    def still(self, name: str) -> bool:
        """Whether the matrix of a Function is zero wherever the robot rests."""
        return self.model.family.sparse(name).rounds == 0

    @cached_property
    def _entries(self) -> Array:
        return self.model.family.entries_along(self.model.p, self.dp)

    def entry(self, x: Any) -> float:
        """The derivative of an entry of the mechanism."""
        return float(self._entries[self.model.family.leaves[x]]) if isinstance(x, Expr) else 0.0

    def body_stiffness(self, frame: int) -> Array:
        """Derivatives of the stiffness matrix of a frame's body."""
        written = self.model.family.kept.equations.mechanism.frames[frame].body.K_ee
        return np.array([[self.entry(x) for x in row] for row in written])

    def servos(self) -> dict[int, float]:
        """Derivatives of the stiffness of servos."""
        coordinates = self.model.family.kept.equations.mechanism.coordinates
        return {i: self.entry(coordinates[i].servo) for i in self.model.servos if isinstance(coordinates[i].servo, Expr)}


def _walk(part: Any, note: Callable[[Expr], Any], still: set[int]) -> bool:
    """Notes every expression in a record, its arrays, tuples and dicts; gathers the ids of what holds none of them."""
    if isinstance(part, Expr):
        note(part)
        return True
    held = False
    for x in _parts(part):
        held = _walk(x, note, still) or held
    if not held:
        still.add(id(part))
    return held


def _parts(part: Any) -> Iterable[Any]:
    """What a record, an array of objects, a tuple, a list or a dict holds."""
    if isinstance(part, np.ndarray):
        return part.ravel() if part.dtype == object else ()
    if isinstance(part, (tuple, list)):
        return part
    if isinstance(part, dict):
        return part.values()
    if is_dataclass(part) and not isinstance(part, type):
        return [getattr(part, f.name) for f in fields(part)]
    return ()


def _with(part: Any, values: dict[Expr, float], still: set[int]) -> Any:
    """The same record with numbers for its expressions; parts that are still have none."""
    if id(part) in still:
        return part
    if isinstance(part, Expr):
        return values[part]
    if isinstance(part, np.ndarray):
        made = np.empty(part.shape, dtype=object)
        made.ravel()[:] = [values[x] if isinstance(x, Expr) else x for x in part.ravel()]
        return made
    if isinstance(part, (tuple, list)):
        return type(part)(_with(x, values, still) for x in part)
    if isinstance(part, dict):
        return {k: _with(x, values, still) for k, x in part.items()}
    return replace(part, **{f.name: _with(getattr(part, f.name), values, still) for f in fields(part) if f.init})
