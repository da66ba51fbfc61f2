"""`ParametricModel`: a robot whose kept parameters are numbers that change without deriving its equations again.

The equations keep the parameters as an input `p`; bodies are numbers at one value of it. The robot is at rest: Functions
have rates, accelerations and weight put in. They are analytic, so a step along the imaginary axis gives exact derivatives
(Squire & Trapp 1998); columns of matrices that share no row share a direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from supple.backends.interpreter import Interpreted, interpret
from supple.core.functions import Rest, Sparse, loss, moving, sparse
from supple.expr.function import Function, function
from supple.expr.node import Expr
from supple.formulations.record import Equations
from supple.machine import Kept, Machine
from supple.model.algebra import Array
from supple.model.model import Model
from supple.robot.mechanism import Mechanism

STEP = 1e-30  # of the imaginary parts: their squares vanish
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
        self.functions: dict[str, Interpreted] = {}
        self._sparse: dict[str, Sparse] = {}
        self._last: ParametricModel | None = None  # poses of a test ask for the same values one after the other
        leaves: dict[Expr, int] = {}
        self._still: set[int] = set()  # of the mechanism's parts, which live as long as it does
        _walk(kept.equations.mechanism, lambda x: leaves.setdefault(x, len(leaves)), self._still)
        self._leaves = leaves
        made = function("entries", {"p": kept.symbols}, {"values": list(leaves)})
        self._entries = interpret(made)

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

    def function(self, name: str) -> Interpreted:
        """A Function of the equations; those of the robot at rest, without wrenches or under load, are smaller."""
        if name not in self.functions:
            equations, (bare, loaded, _) = self.kept.equations, name.partition(_LOADED)
            made = _MADE[bare](equations) if bare in _MADE else getattr(equations, bare)
            if bare in _AT_REST:
                rest = Rest(equations.mechanism, equations.forces, np.array(self.kept.symbols, dtype=object))
                made = rest.kept(made, ("f", "velocity"), "lam", "direction", *(("w",) if loaded else ()))
            self.functions[name] = interpret(made)
        return self.functions[name]

    def sparse(self, name: str) -> Sparse:
        """Which entries the matrix of a Function has, and directions that show them."""
        if name not in self._sparse:
            made = self.function(name).function
            assert made is not None
            self._sparse[name] = sparse(made)
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
            self.kept.equations.mechanism, {x: float(values[k]) for x, k in self._leaves.items()}, self._still
        )
        return made


class ParametricModel(Model):
    """A Model of equations with an input `p`, which every call is given."""

    def __init__(self, family: Family, p: Array) -> None:
        self.family, self.p = family, p
        super().__init__(replace(family.kept.equations, mechanism=family.mechanism(p)))

    def function(self, name: str) -> Interpreted:
        return self.family.function(name)

    def call(self, name: str, **given: Any) -> dict[str, Array]:
        if name in _AT_REST:
            still = [given.pop(key, 0.0) for key in ("v", "a", "g")]
            assert not np.any(still[0]) and not np.any(still[1])
            name += _LOADED if "w" in given else ""
        inputs = self.function(name).inputs
        if "p" in inputs:
            given.setdefault("p", self.p)
        if "lam" not in inputs:
            given.pop("lam", None)
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
    """Derivatives along a direction of (q, reactions, parameters), by a step along the imaginary axis."""

    def __init__(self, model: ParametricModel, q: Array, lam: Array, dq: Array, dlam: Array, dp: Array) -> None:
        self.model = model
        self.q = _retracted(model, q, dq)
        self.lam = lam + 1j * STEP * dlam
        self.p = model.p + 1j * STEP * dp
        self.real_q, self.dq, self.dp = q, dq, dp

    def call(self, name: str, **given: Any) -> dict[str, Array]:
        """Derivatives of a Function's outputs."""
        inputs = self.model.function(name).inputs
        more: dict[str, Any] = {"p": self.p} if "p" in inputs else {}
        found = self.model.call(name, q=self.q, **more, **given)
        return {key: np.imag(value) / STEP for key, value in found.items()}

    def still(self, name: str) -> bool:
        """Whether the matrix of a Function is zero wherever the robot rests."""
        return self.model.family.sparse(name).rounds == 0

    def entry(self, x: Any) -> Any:
        """The shifted value of an entry of the mechanism."""
        family = self.model.family
        return family.entries(self.p)[family._leaves[x]] if isinstance(x, Expr) else float(x)

    def servos(self) -> dict[int, float]:
        """Derivatives of the stiffness of servos."""
        coordinates = self.model.family.kept.equations.mechanism.coordinates
        return {
            i: float(np.imag(self.entry(coordinates[i].servo)) / STEP)
            for i in self.model.servos
            if isinstance(coordinates[i].servo, Expr)
        }


def _retracted(model: Model, q: Array, dq: Array) -> Array:
    """q moved by an infinitesimal imaginary step along a generalised displacement."""
    moved = np.array(q, dtype=complex)
    for frame in model.mechanism.frames:
        moved[frame.e] += 1j * STEP * dq[frame.ev]
        if frame.motion == "spherical":
            a, u, w = q[frame.q][0], q[frame.q][1:], dq[frame.v]
            rate = 0.5 * np.concatenate([[-u @ w], a * w + np.cross(u, w)])
            moved[frame.q] += 1j * STEP * rate
        else:
            moved[frame.q] += 1j * STEP * dq[frame.v]
    return moved


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
