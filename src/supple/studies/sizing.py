"""The best values of parameters: an objective made least while wants are kept, by exact derivatives and sequential quadratic
programming (Kraft 1988) from several starts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from supple.core.core import Core
from supple.core.quantities import Quantity, quantity
from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.results.sizing import Start
from supple.robot.written import si
from supple.storage.studies import Parts
from supple.studies.gradients import Gradients

_WANT = re.compile(r"^\s*(.+?)\s*(>=|<=)\s*(.+?)\s*$")
_DIMENSIONS = {
    "Hz": "frequency", "N/m": "translational stiffness", "N m/rad": "rotational stiffness", "m": "length", "kg": "mass",
    "N": "force", "N m": "torque", "Pa": "pressure",
}  # fmt: skip
_NEXT = 1  # modes beyond the one that a want names: they may become it
_MOST = 80  # steps of a run
KEPT = 1e-6  # relative: a want broken by less is kept
ACTIVE = 1e-4  # relative: a want that near to its limit holds the design back


@dataclass(frozen=True)
class Want:
    """A quantity that must stay above or below a limit in all poses."""

    text: str
    quantity: Quantity
    relation: str
    limit: float

    @property
    def sign(self) -> float:
        return 1.0 if self.relation == ">=" else -1.0


def parsed_want(core: Core, text: str) -> Want:
    """The Want of text such as 'f1 >= 40 Hz' or 'deflection(tool) <= 0.1 mm'."""
    found = _WANT.match(text)
    if found is None:
        raise SuppleError(f"--want {text!r}: write QUANTITY>=VALUE or QUANTITY<=VALUE, as in 'f1>=40 Hz'")
    own = quantity(core, found[1])
    limit = si(found[3], _DIMENSIONS.get(own.unit, "number"), f"--want {text!r}")
    if limit == 0:
        raise SuppleError(f"--want {text!r}: the limit must not be zero")
    return Want(text.strip(), own, found[2], limit)


@dataclass(frozen=True)
class Kept:
    """Designs that were looked at, in a folder beside the result; `question` is all else that numbers depend on."""

    parts: Parts
    question: str

    def found(self, about: Sequence[str], values: Array, look: Callable[[], tuple[Array, Array]]) -> tuple[Array, Array]:
        """Numbers and derivatives of a design: kept ones, or what `look` finds, which is kept."""
        key = hashlib.sha256("\0".join([self.question, *about]).encode() + values.tobytes()).hexdigest()
        known = self.parts.kept(key)
        if known is not None:
            return known["numbers"], known["slopes"]
        numbers, slopes = look()
        self.parts.keep(key, {"numbers": numbers, "slopes": slopes, "problems": {}})
        return numbers, slopes


class Problem:
    """An objective, wants and ranges of parameters; designs that were looked at are known."""

    def __init__(
        self, core: Core, objective: Quantity, most: bool, wants: Sequence[Want], limits: Array, poses: Array,
        wrenches: Array, kept: Kept | None = None,
    ) -> None:  # fmt: skip
        self.kept = kept
        self.objective, self.wants, self.limits, self.poses, self.wrenches = objective, wants, limits, poses, wrenches
        self.sign = -1.0 if most else 1.0
        self._columns = self._asked(core)
        self.gradients = Gradients(core, [q for q, _ in self._columns])
        self._known: dict[bytes, tuple[Array, Array]] = {}
        if not self.gradients.smooth(limits.mean(axis=1)):
            raise SuppleError(
                f"{core.robot.name}: one of these parameters changes a reduced body whose modes turn among each other; "
                "its derivatives are not known (see docs/studies.md): use supple sweep"
            )

    def _asked(self, core: Core) -> list[tuple[Quantity, Want | None]]:
        made: list[tuple[Quantity, Want | None]] = [(self.objective, None)]
        most = len(core.structure.linear.independent)
        for want in self.wants:
            made.append((want.quantity, want))
            if want.quantity.kind == "f" and want.relation == ">=":
                last = min(most, want.quantity.index + 1 + _NEXT)
                made += [(quantity(core, f"f{k}"), want) for k in range(want.quantity.index + 2, last + 1)]
        return made

    def column(self, want: Want) -> int:
        """Where the quantity of a want is among what is looked at."""
        return next(k for k, (_, own) in enumerate(self._columns) if own is want)

    @property
    def evaluations(self) -> int:
        return len(self._known)

    def values(self, x: Array) -> Array:
        """Parameters for shares of their ranges."""
        made: Array = self.limits[:, 0] + np.clip(x, 0.0, 1.0) * (self.limits[:, 1] - self.limits[:, 0])
        return made

    def looked(self, x: Array) -> tuple[Array, Array]:
        """(poses, columns) quantities and (poses, columns, parameters) derivatives by shares, of a design."""
        values = self.values(x)
        key = values.tobytes()
        if key not in self._known:
            numbers, slopes = self._looked_at(values)
            if not np.isfinite(numbers).all():
                raise OutOfReach
            self._known[key] = numbers, slopes * (self.limits[:, 1] - self.limits[:, 0])
        return self._known[key]

    def _looked_at(self, values: Array) -> tuple[Array, Array]:
        """Numbers and derivatives of a design, computed now or kept by an earlier run of the same question."""
        if self.kept is None:
            return self.gradients.at(values, self.poses, self.wrenches)
        about = [q.name for q, _ in self._columns]
        return self.kept.found(about, values, lambda: self.gradients.at(values, self.poses, self.wrenches))

    def objectives(self, x: Array) -> tuple[Array, Array]:
        """What is to be made least, in every pose (once where poses do not matter), and its derivatives."""
        numbers, slopes = self.looked(x)
        rows = slice(0, 1) if self.objective.kind == "mass" else slice(None)
        return self.sign * numbers[rows, 0], self.sign * slopes[rows, 0]

    def margins(self, x: Array) -> tuple[Array, Array]:
        """(wants times poses) how far each is kept, relative to its limit, and derivatives."""
        numbers, slopes = self.looked(x)
        found, along = [np.zeros(0)], [np.zeros((0, len(self.limits)))]
        for k, (_, want) in enumerate(self._columns):
            if want is not None:
                found.append(want.sign * (numbers[:, k] - want.limit) / abs(want.limit))
                along.append(want.sign * slopes[:, k] / abs(want.limit))
        return np.concatenate(found), np.concatenate(along)


class OutOfReach(Exception):
    """A design that cannot take one of the poses."""


@dataclass
class Run:
    """Sequential quadratic programming from one start; the worst of several poses by a bound on all of them."""

    problem: Problem
    start: Array
    history: list[float] = field(default_factory=list)

    def ended(self) -> tuple[Array, Start]:
        """Shares of the best design of this run, and the run."""
        from scipy.optimize import minimize

        problem, n = self.problem, len(self.start)
        before = problem.evaluations
        x, outcome = self.start, "ended"
        try:
            first = problem.objectives(self.start)[0]
            scale = float(np.abs(first).max()) or 1.0
            bounded = len(first) > 1
            begin = np.append(self.start, first.max() / scale) if bounded else self.start
            found = minimize(
                self._objective(n, scale, bounded), begin, jac=True, method="SLSQP",
                bounds=[(0.0, 1.0)] * n + [(None, None)] * bounded, constraints=self._constraints(n, scale, bounded),
                options={"maxiter": _MOST, "ftol": 1e-10},
            )  # fmt: skip
            x, outcome = np.clip(found.x[:n], 0.0, 1.0), str(found.message)
            value, broken = self._judged(x)
        except OutOfReach:
            value, broken, outcome = float("nan"), float("inf"), "came to a design that cannot take a pose"
        names = problem.gradients.core.robot.keep
        values = dict(zip(names, problem.values(x).tolist(), strict=True))
        return x, Start(values, value, broken, problem.evaluations - before, outcome, tuple(self.history))

    def _judged(self, x: Array) -> tuple[float, float]:
        margins = self.problem.margins(x)[0]
        return float(self.problem.objectives(x)[0].max()) * self.problem.sign, max(0.0, -float(margins.min(initial=0.0)))

    def _objective(self, n: int, scale: float, bounded: bool) -> Callable[[Array], tuple[float, Array]]:
        def of(x: Array) -> tuple[float, Array]:
            values, slopes = self.problem.objectives(x[:n])
            self.history.append(float(values.max()) * self.problem.sign)
            return (float(x[n]), np.eye(n + 1)[n]) if bounded else (float(values[0]) / scale, slopes[0] / scale)

        return of

    def _constraints(self, n: int, scale: float, bounded: bool) -> list[dict[str, object]]:
        def margins(x: Array) -> Array:
            found = self.problem.margins(x[:n])[0]
            return np.concatenate([found, x[n] - self.problem.objectives(x[:n])[0] / scale]) if bounded else found

        def slopes(x: Array) -> Array:
            found = self.problem.margins(x[:n])[1]
            if not bounded:
                return found
            above = np.hstack([-self.problem.objectives(x[:n])[1] / scale, np.ones((len(self.problem.poses), 1))])
            return np.vstack([np.hstack([found, np.zeros((len(found), 1))]), above])

        return [{"type": "ineq", "fun": margins, "jac": slopes}] if self.problem.wants or bounded else []


def prices(problem: Problem, x: Array) -> Array:
    """For every want: change of the objective in per cent for one per cent of its limit, by Lagrange's multipliers."""
    from scipy.optimize import nnls

    found, along = problem.margins(x)
    objective, slope = problem.objectives(x)
    worst = int(objective.argmax())
    inside = (x > 1e-7) & (x < 1 - 1e-7)
    near = np.flatnonzero(found < ACTIVE)
    made = np.zeros(len(problem.wants))
    if not len(near) or not inside.any():
        return made
    weights = nnls(along[near][:, inside].T, slope[worst][inside])[0]
    owners = [w for _, w in problem._columns if w is not None]
    count = len(problem.poses)
    for row, weight in zip(near, weights, strict=True):
        want = owners[row // count]
        made[problem.wants.index(want)] += want.sign * weight / abs(float(objective[worst]) or 1.0)
    return made
