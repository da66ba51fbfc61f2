"""One least-squares problem over all observations, priors included, with exact slopes; bounds, robust loss, deviations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from supple.errors import PoseError
from supple.measured.free import Free
from supple.measured.observations import Compared, ModesObserved, Observation
from supple.robot.bodies.record import Array

_SCALE = 2.0  # standard deviations: residuals beyond count less where the loss is robust
_ROUNDS = 6  # of pairing again
_EARLY = 6  # steps of a fit whose pairs may change
_LOST = 1e3  # standard deviations: where the robot cannot stand


@dataclass(frozen=True)
class Solution:
    """Logarithms of factors, residuals and slopes of the data (weighted if robust) there, costs on the way."""

    x: Array
    residuals: Array
    slopes: Array
    observations: tuple[Observation, ...]
    history: tuple[float, ...]
    gradients: int

    @property
    def cost(self) -> float:
        return float(self.residuals @ self.residuals)


class _Problem:
    def __init__(self, observations: Sequence[Observation], free: Free, start: Array, fixed: Array) -> None:
        self.observations, self.free, self.start, self.fixed = list(observations), free, start, fixed
        self.history: list[float] = []
        self.known: dict[bytes, Compared] = {}
        self.last: Compared | None = None

    def whole(self, y: Array) -> Array:
        """All logarithms, from those that move."""
        x = self.start.copy()
        x[~self.fixed] = y
        return x

    def compared(self, y: Array) -> Compared:
        key = y.tobytes()
        if key not in self.known:
            self.known = {key: self._compared(self.whole(y))}
        return self.known[key]

    def _compared(self, x: Array) -> Compared:
        p = self.free.values(x)
        try:
            parts = [o.compared(p) for o in self.observations]
        except PoseError:
            if self.last is None:
                raise
            return Compared(np.full_like(self.last.residuals, _LOST), self.last.slopes)
        slopes = np.vstack([c.slopes for c in parts])
        self.last = Compared(np.concatenate([c.residuals for c in parts]), slopes)
        self.history.append(float(self.last.residuals @ self.last.residuals))
        return self.last

    def with_priors(self, y: Array) -> Compared:
        """Residuals and slopes of what moves, with a row for every prior."""
        found, x = self.compared(y), self.whole(y)
        told = np.isfinite(self.free.prior) & ~self.fixed
        rows = np.diag(1 / np.where(told, self.free.prior, 1.0))[told][:, ~self.fixed]
        left = x[told] / self.free.prior[told]
        return Compared(np.concatenate([found.residuals, left]), np.vstack([found.slopes[:, ~self.fixed], rows]))


def solve(
    observations: Sequence[Observation], free: Free, x: Array, *, robust: bool = False, most: int = 30,
    fixed: Array | None = None, enough: float = 1e-9,
) -> Solution:  # fmt: skip
    """The Solution from logarithms x; fixed: those that stay; enough: relative change of the cost at which it ends."""
    still = np.zeros(len(x), dtype=bool) if fixed is None else fixed
    problem = _Problem(observations, free, x, still)
    low, high = free.least[~still], free.most[~still]
    found = least_squares(
        lambda y: problem.with_priors(y).residuals, np.clip(x[~still], low + 1e-9, high - 1e-9),
        jac=lambda y: problem.with_priors(y).slopes, bounds=(low, high), loss="soft_l1" if robust else "linear",
        f_scale=_SCALE, max_nfev=most, xtol=1e-7, ftol=enough, gtol=1e-9,
    )  # fmt: skip
    last = problem.compared(found.x)
    weights = np.sqrt(1 / np.sqrt(1 + (last.residuals / _SCALE) ** 2)) if robust else np.ones(len(last.residuals))
    return Solution(
        problem.whole(found.x), weights * last.residuals, weights[:, None] * last.slopes, tuple(observations),
        tuple(problem.history), int(found.njev),
    )  # fmt: skip


def solve_pairing(
    observations: Sequence[Observation], free: Free, x: Array, *, robust: bool = False, fixed: Array | None = None
) -> Solution:  # fmt: skip
    """The Solution whose pairs of modes are those that its own shapes, or frequencies, ask for."""
    seen: list[Solution] = []
    history: tuple[float, ...] = ()
    gradients = 0
    for _ in range(_ROUNDS):
        made = solve(observations, free, x, robust=robust, fixed=fixed, most=_EARLY)
        history, gradients = history + made.history, gradients + made.gradients
        seen.append(made)
        again = repaired(made.observations, free.values(made.x))
        observations, x = again, made.x
        if _pairs(again) == _pairs(made.observations) or _pairs(again) in [_pairs(s.observations) for s in seen]:
            break
    best = min(seen, key=lambda s: (-_paired(s.observations), s.cost))
    best = solve(best.observations, free, best.x, robust=robust, fixed=fixed)
    history, gradients = history + best.history, gradients + best.gradients
    return replace(best, history=history, gradients=gradients)


def repaired(observations: Sequence[Observation], p: Array) -> tuple[Observation, ...]:
    """Observations of modes with the pairs that they have at values of the parameters."""
    return tuple(replace(o, pairs=o.paired_at(p)) if isinstance(o, ModesObserved) else o for o in observations)


def _pairs(observations: Sequence[Observation]) -> list[object]:
    return [o.pairs for o in observations if isinstance(o, ModesObserved)]


def _paired(observations: Sequence[Observation]) -> int:
    return sum(len(o.pairs) for o in observations if isinstance(o, ModesObserved))
