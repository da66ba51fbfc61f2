"""How a formulation solves its loops at every moment of a motion, and what keeps them closed in time.

newton_euler, lagrange_dalembert and the erls formulations integrate independent coordinates; the others follow from the
loops, which are closed at every evaluation. lagrange and scdd integrate all coordinates of the virtual tree; there the
loops are forces, and a Way says where these come from and what becomes of gaps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.backends.stepping.plant import Ball, Coupled, Part, Place, plant_function
from supple.errors import SuppleError
from supple.expr.derivative import jacobian, push_forward
from supple.expr.function import Array, Function
from supple.expr.node import Expr
from supple.expr.passes import optimise
from supple.expr.substitution import substituted
from supple.formulations import registry
from supple.formulations.record import Equations, Way
from supple.formulations.tree.chains import chains
from supple.model.model import Model

_QUICK = ("fold",)
_SINGULAR = 1e-13  # smallest eigenvalue of a mass matrix with a unit diagonal


INDEPENDENT = "independent coordinates, loops closed at every evaluation"


def way_of(formulation: str, asked: str | None) -> Way | None:
    """The Way of a formulation by name (None: its usual one); None for those that integrate independent coordinates."""
    known = registry.formulation(formulation).ways
    if not known:
        if asked is None:
            return None
        others = " and ".join(name for name in registry.names() if registry.formulation(name).ways)
        raise SuppleError(f"--loops {asked}: {formulation} integrates {INDEPENDENT}; {others} have a choice")
    if asked is not None and asked not in known:
        raise SuppleError(f"--loops {asked}: {formulation} does not know it; choose one of {', '.join(known)}")
    return known[asked or next(iter(known))]


def check_method(way: Way | None, method: str, step: float) -> None:
    """Refuses an integrator whose evaluations are not what a Way takes them for."""
    if way is None:
        return
    if way.solved == "printed" and (method != "dormand_prince" or not step):
        raise SuppleError(
            "scdd as printed takes the loop forces of the evaluation before, which has a meaning in fixed, explicit steps "
            "only; add --method dormand_prince and --step, or choose --loops exact"
        )
    if way.projected and method == "cvode":
        raise SuppleError("the method cvode does not put joints back on the loops; choose --loops baumgarte")


def coupled(
    model: Model, equations: Equations, q: Array, way: Way, rows: Sequence[int], dependent: Sequence[int],
    free: Sequence[int], places: Sequence[Place],
) -> Coupled:  # fmt: skip
    """The coupling of a robot near the posture q; `equations` may hold kept parameters."""
    parts: tuple[Part, ...] = ()
    tied = tuple(dependent) if way.solved == "printed" else ()
    if way.solved != "multipliers":
        own = [list(chain.v) for chain in chains(equations.mechanism)]
        _check_chains(model, q, own, free, way)
        if tied:
            _check_printed(model, q, own, tied, free, rows)
        parts = tuple(_part(equations, n, v) for n, v in enumerate(own, 1))
    gap = _gap(equations) if way.gain else None
    moved = _movable(model, dependent, free, tied) if way.projected else ()
    return Coupled(
        way.solved, way.about, tuple(rows), way.gain, gap,
        moved=tuple(places[k] for k in moved), moved_balls=_balls(model, moved),
        tied=tuple(places[k] for k in tied), tied_balls=_balls(model, tied), parts=parts,
    )  # fmt: skip


def _balls(model: Model, among: Sequence[int]) -> tuple[Ball, ...]:
    """Ball joints whose coordinates are all among some, which stand as dependent ones."""
    found = [f for f in model.mechanism.frames if f.motion == "spherical" and f.v.start in among]
    return tuple(Ball(f.q.start, -1, list(among).index(f.v.start)) for f in found)


def _movable(model: Model, dependent: Sequence[int], free: Sequence[int], tied: Sequence[int]) -> tuple[int, ...]:
    """Coordinates that may close gaps: joints and platform, and elastic ones only where loops need them."""
    if tied:
        return tuple(tied)
    kinds = [c.kind for c in model.mechanism.coordinates]
    stiff = any(kinds[k] == "elastic" for k in dependent)
    return tuple(k for k in free if stiff or kinds[k] != "elastic")


def _gap(equations: Equations) -> Function:
    closure = equations.closure
    return optimise(
        plant_function("model_gap", {"q": closure.inputs["q"]}, {"residual": closure.outputs["residual"]}), _QUICK
    ).function


def _part(equations: Equations, number: int, own: list[int]) -> Part:
    """A chain by itself: its own rows of the tree's equations and its own columns of the loops'."""
    f, column, motion = equations.forces, equations.inertia, equations.closure_motion
    still: dict[Expr, int] = dict.fromkeys(f.inputs["lam"].ravel(), 0) | dict.fromkeys(f.inputs["a"].ravel(), 0)
    whole = substituted((f.outputs["f"] + f.outputs["coulomb"])[own], still)
    c = substituted(whole, dict.fromkeys(f.inputs["w"].ravel(), 0))
    load = -push_forward(whole, {x: x for x in f.inputs["w"].ravel()})  # linear in w
    M = jacobian(column.outputs["f"][own], column.inputs["direction"][own])
    M = substituted(M, dict.fromkeys(column.inputs["lam"].ravel(), 0))
    J = jacobian(motion.outputs["velocity"], motion.inputs["v"][own])
    inputs = {k: f.inputs[k].ravel() for k in ("q", "v", "g", "w")}
    made = optimise(
        plant_function(f"model_chain_{number}", inputs, {"M": M, "c": c, "load": load, "J": J.T}), ("fold",)
    ).function
    light = tuple(k for n, k in enumerate(own) if all(not isinstance(x, Expr) and x == 0 for x in made.outputs["M"][n]))
    return Part(made, tuple(own), light)


# Robots that a way does not take ---------------------------------------------------------------------------------------


def _solved_for(M: Array, own: Sequence[int], free: Sequence[int]) -> list[int]:
    """Coordinates that a chain is solved for by itself: those that are not given and move some mass."""
    return [k for k in own if k in set(free) and M[k].any()]


def _check_chains(model: Model, q: Array, parts: Sequence[Sequence[int]], free: Sequence[int], way: Way) -> None:
    """Every chain has to have inertia by itself."""
    M = model.mass(q)
    for part in parts:
        own = _solved_for(M, part, free)
        size = 1.0 / np.sqrt(np.diag(M)[own])
        values, shapes = np.linalg.eigh(M[np.ix_(own, own)] * np.outer(size, size))
        if values.min(initial=1.0) < _SINGULAR:
            worst = model.names[own[int(np.argmax(np.abs(shapes[:, 0])))]]
            raise SuppleError(
                f"{model.mechanism.name}: scdd solves every chain by itself, and without the others nothing has inertia "
                f"against the motion of {worst!r}; use another formulation"
            )
    light = [model.names[k] for k in free if not M[k].any()]
    if way.solved == "printed" and light:
        raise SuppleError(
            f"{model.mechanism.name}: scdd as printed knows no coordinate without inertia, as {light[0]!r} is; choose "
            "--loops exact"
        )


def _check_printed(
    model: Model, q: Array, parts: Sequence[Sequence[int]], tied: Sequence[int], free: Sequence[int], rows: Sequence[int]
) -> None:
    """As printed, loop forces have to follow from the passive joints, and their errors have to die away."""
    name, kinds = model.mechanism.name, [c.kind for c in model.mechanism.coordinates]
    stiff = [model.names[k] for k in tied if kinds[k] in ("elastic", "active")]
    if stiff:
        raise SuppleError(
            f"{name}: scdd as printed takes loop forces from the passive joints, and here {stiff[0]!r} follows from the "
            "loops too; choose --loops exact"
        )
    growth = spread(model, q, parts, tied, free, rows)
    if growth >= 1.0:
        raise SuppleError(
            f"{name}: as printed, errors of the loop forces grow {growth:.3g} times from one evaluation to the next, "
            "because the passive side is too heavy; choose --loops exact"
        )


def spread(
    model: Model, q: Array, parts: Sequence[Sequence[int]], tied: Sequence[int], free: Sequence[int], rows: Sequence[int]
) -> float:
    """By how much one evaluation as printed multiplies an error of the loop forces: the largest eigenvalue of its map."""
    M, J = model.mass(q), model.jacobian(q)[list(rows)]
    yielded = np.zeros((model.nv, len(rows)))
    for part in parts:
        own = _solved_for(M, part, free)
        yielded[own] = np.linalg.solve(M[np.ix_(own, own)], J[:, own].T)
    J_p = J[:, list(tied)]
    yielded[list(tied)] = 0.0
    yielded[list(tied)] = -np.linalg.solve(J_p, J @ yielded)
    found = np.linalg.solve(J_p.T, (M @ yielded)[list(tied)])
    return float(np.abs(np.linalg.eigvals(found)).max(initial=0.0))
