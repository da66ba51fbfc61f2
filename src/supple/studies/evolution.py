"""The curve of best compromises by evolution (NSGA-II, Deb et al. 2002; pymoo): no derivatives, no starts, whole generations
answered in lanes. It finds curves that are not convex or have gaps, to about a per cent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.core.core import Core
from supple.core.quantities import Quantity, evaluated
from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.results.sizing import Trade
from supple.studies.sizing import Want

_CROWD = 48  # designs of a generation
_NEVER = 1e30  # of a design that cannot take a pose


class Designs:
    """The two objectives and the wants of designs (n, parameters), the worst of all poses."""

    def __init__(
        self, core: Core, objectives: Sequence[tuple[Quantity, float]], wants: Sequence[Want], poses: Array, wrenches: Array
    ) -> None:  # fmt: skip
        self.core, self.objectives, self.wants, self.poses, self.wrenches = core, objectives, wants, poses, wrenches
        self.asked = [*(q for q, _ in objectives), *(w.quantity for w in wants)]
        self.count = 0

    def __call__(self, designs: Array) -> tuple[Array, Array]:
        """(n, 2) objectives with their signs and (n, wants) how far wants are broken (above zero)."""
        n, m = len(designs), len(self.poses)
        self.count += n
        poses, p = np.tile(self.poses, (n, 1)), np.repeat(designs, m, axis=0)
        found = [x.reshape(n, m) for x in evaluated(self.core, self.asked, poses, p, self.wrenches, 1)[1]]
        aims = [sign * x for (_, sign), x in zip(self.objectives, found, strict=False)]
        broken = [
            w.sign * (w.limit - x) / abs(w.limit) for w, x in zip(self.wants, found[len(self.objectives) :], strict=True)
        ]
        worst = [np.where(np.isfinite(x).all(axis=1), x.max(axis=1), _NEVER) for x in (*aims, *broken)]
        return np.column_stack(worst[:2]), np.column_stack(worst[2:]) if broken else np.zeros((n, 0))


def evolved(designs: Designs, limits: Array, points: int, generations: int, seed: int) -> tuple[Trade, ...]:
    """At most so many designs that no other one beats in both objectives, along the curve."""
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.problem import Problem
        from pymoo.optimize import minimize
    except ImportError as missing:
        raise SuppleError("--evolve needs pymoo: pip install 'supple[opt]'") from missing

    class Asked(Problem):  # type: ignore[misc, unused-ignore]
        def _evaluate(self, x: Array, out: dict[str, Any], *args: object, **options: object) -> None:
            out["F"], out["G"] = designs(x)

    problem = Asked(n_var=len(limits), n_obj=2, n_ieq_constr=len(designs.wants), xl=limits[:, 0], xu=limits[:, 1])
    found = minimize(problem, NSGA2(pop_size=_CROWD), ("n_gen", generations), seed=seed, verbose=False)
    if found.X is None:
        raise SuppleError("--evolve: no design was found that keeps the wants; widen a range, or ask for less")
    X, F = np.atleast_2d(found.X), np.atleast_2d(found.F)
    order = np.argsort(F[:, 1], kind="stable")
    picked = order[np.unique(np.linspace(0, len(order) - 1, points).round().astype(int))]
    names, signs = designs.core.robot.keep, [sign for _, sign in designs.objectives]
    return tuple(
        Trade(dict(zip(names, X[k].tolist(), strict=True)), float(F[k, 0] * signs[0]), float(F[k, 1] * signs[1]))
        for k in picked
    )
