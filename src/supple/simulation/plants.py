"""The plant of a robot: which coordinates a motion gives, which are integrated, which follow; and the Functions for it.

Accelerations come from the closed form (generated with few operations) where the robot has one, else from the matrices of
the virtual tree, which serve every mechanism, every formulation, and the passage of singular poses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.sparse.csgraph import connected_components

from supple.backends.stepping.plant import Block, Controlled, Place, Plant, plant_function
from supple.errors import SuppleError
from supple.expr.derivative import jacobian
from supple.expr.function import Array, Function, kept_parameters, symbols
from supple.expr.node import Expr
from supple.expr.passes import optimise
from supple.expr.program import Program
from supple.expr.substitution import substituted
from supple.formulations.affine import Unsupported
from supple.formulations.equations import Equations
from supple.formulations.leg_program import leg_program
from supple.model import observe
from supple.model.mobility import best_conditioned, independent_coordinates
from supple.model.model import Model
from supple.models import builder, forward, hybrid, inverse
from supple.robot.mechanism import Mechanism
from supple.simulation.ways import Way, coupled

_LARGE = 12_000  # operations above which legs share code and passes are left out, because compiling takes longer
_LARGEST_TREE = 150  # coordinates; larger mass matrices are not printed
_QUICK = ("fold", "signs")


@dataclass(frozen=True)
class Split:
    """Places in v: prescribed, integrated, and following; and the closure equations that say how."""

    given: tuple[int, ...]
    free: tuple[int, ...]
    dependent: tuple[int, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Kept:
    """The equations of the same robot with symbols for some of its numbers, the symbols, and their values."""

    equations: Equations
    symbols: Array
    values: tuple[float, ...]


def plant(
    model: Model,
    q: Array,
    prescribed: Collection[str] = (),
    *,
    loads: bool = False,
    rigid: Model | None = None,
    rigid_q: Array | None = None,
    controlled: Collection[str] = (),
    kept: Kept | None = None,
    dense: bool = False,
    passes: Sequence[str] | None = _QUICK,
    way: Way | None = None,
) -> Plant:
    """The Plant of a robot near the posture q, with the actuators named in `prescribed` following a motion.

    `loads`: wrenches at the named points act; `rigid`, `rigid_q`: the rigid robot for computed torque of the actuators
    in `controlled`, and its posture;
    `kept`: parameters that may differ from run to run; `dense`: matrices instead of the closed form; `passes`: those
    that optimise the closed form; `way`: how loops are solved if all coordinates are integrated (None: independent ones).
    """
    equations, mechanism = model.equations, model.mechanism
    source = equations if kept is None else kept.equations
    split = divide(model, q, prescribed)
    places = coordinate_places(mechanism)
    active = set(mechanism.indices("active"))
    with kept_parameters(kept.symbols) if kept else nullcontext():
        if way is not None and split.dependent:
            made, split = _coupled(model, source, q, split, way, places)
        else:
            found = (
                None
                if dense and source.formulation != "platform_eliminated"
                else _closed_form(source, split, prescribed, loads, passes, model.viscous is not None)
            )
            made = {"tree": _tree(source)} if found is None else found
            made |= _loops(source, split, wide="tree" in made)
        functions = {**made, "power": _power(source, split)}
    if model.viscous is not None:
        functions = _undamped(functions)
    return Plant(
        mechanism.name,
        mechanism.nq,
        mechanism.nv,
        free=tuple(places[i] for i in split.free),
        given=tuple(places[i] for i in split.given),
        dependent=tuple(places[i] for i in split.dependent),
        rows=split.rows,
        torque=tuple(places[i] for i in sorted(active - set(split.given))),
        turning=turning(mechanism, split.free, split.dependent),
        rigid=None if rigid is None else _controlled(mechanism, rigid, rigid_q, split, controlled),
        loads=6 * len(mechanism.points),
        reach=_reach(model, q),
        parameters=() if kept is None else kept.values,
        **functions,
        **_damping(model),
    )


def _reach(model: Model, q: Array) -> float:
    """How far from the base the named points are, in m; 1 without points."""
    if not model.mechanism.points:
        return 1.0
    still = np.zeros((1, model.nv))
    far = np.linalg.norm(observe.points(model, q[None], still, still)["position"], axis=-1).max()
    return float(far) if far > 0 else 1.0


def divide(model: Model, q: Array, prescribed: Collection[str] = (), pivoted: bool = False) -> Split:
    """Which coordinates are given, free and dependent at a posture; spherical joints go as a whole.

    `pivoted`: those depend whose columns of J are largest, whatever kind of joint they belong to."""
    mechanism = model.mechanism
    given = [i for i, c in enumerate(mechanism.coordinates) if c.name in prescribed]
    unknown = set(prescribed) - {mechanism.coordinates[i].name for i in given if mechanism.coordinates[i].kind == "active"}
    if unknown:
        raise SuppleError(f"{mechanism.name} has no actuator {sorted(unknown)[0]!r} to prescribe")
    choice = best_conditioned(model, q) if pivoted else independent_coordinates(model, q)
    if any(i not in choice.independent for i in given):
        choice = best_conditioned(model, q, given)
    taken = [mechanism.coordinates[i].name for i in given if i not in choice.independent]
    if taken:
        raise SuppleError(
            f"{mechanism.name}: the loops leave fewer freedoms than there are prescribed actuators, so {', '.join(taken)} "
            "cannot be prescribed too; drive it with a torque or a PD controller"
        )
    dependent = tuple(i for i in range(mechanism.nv) if i not in choice.independent)
    free = tuple(i for i in choice.independent if i not in given)
    for frame in mechanism.frames:
        own = set(range(frame.v.start, frame.v.stop))
        if frame.motion == "spherical" and own & set(dependent) and own - set(dependent):
            raise SuppleError(f"{mechanism.name}: the ball joint {frame.name!r} is only partly free at this pose")
    return Split(tuple(given), free, dependent, _rows(model, q, dependent))


def _rows(model: Model, q: Array, dependent: Sequence[int]) -> tuple[int, ...]:
    """As many closure equations as there are dependent coordinates, which determine them."""
    J = model.jacobian(q)[:, list(dependent)]
    if J.shape[0] == len(dependent):
        return tuple(range(J.shape[0]))
    _, _, order = qr(J.T, mode="economic", pivoting=True)
    return tuple(sorted(int(i) for i in order[: len(dependent)]))


def coordinate_places(mechanism: Mechanism) -> list[Place]:
    """Place in v, in q, and kind of unit of every coordinate."""
    where = [-1] * mechanism.nv
    for frame in mechanism.frames:
        if frame.motion != "spherical":
            where[frame.v] = range(frame.q.start, frame.q.stop)
        where[frame.ev] = range(frame.e.start, frame.e.stop)
    return [Place(i, where[i], c.unit == "rad") for i, c in enumerate(mechanism.coordinates)]


def turning(mechanism: Mechanism, free: Sequence[int], dependent: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """For every ball joint: its place in q, among the free and among the dependent coordinates (-1: not there)."""
    balls = [f for f in mechanism.frames if f.motion == "spherical"]
    return tuple(
        (f.q.start, *(list(part).index(f.v.start) if f.v.start in part else -1 for part in (free, dependent))) for f in balls
    )


# Functions ------------------------------------------------------------------------------------------------------------


def _closed_form(
    equations: Equations, split: Split, prescribed: Collection[str], loads: bool, passes: Sequence[str] | None, damped: bool
) -> dict[str, Any] | None:
    """The accelerations in closed form, as one Function or as a program of equal legs; None where there is none."""
    mechanism = equations.mechanism
    kinds = {mechanism.coordinates[i].kind for i in split.dependent}
    if equations.formulation == "platform_eliminated":
        return {"accelerations": _eliminated(mechanism, split, loads, passes)}
    if equations.formulation != "newton_euler" or "active" in kinds:
        return None
    active = mechanism.indices("active")
    try:
        if len(split.given) == len(active) and active:
            f = inverse(mechanism, loads=loads, damped=damped)
        elif not split.given:
            f = forward(mechanism, loads=loads, damped=damped)
        else:
            f = hybrid(mechanism, prescribed, loads=loads, damped=damped)
    except SuppleError:
        return None
    if "a_passive" not in f.outputs and any(mechanism.coordinates[i].kind == "passive" for i in split.free):
        return None
    if f.operations > _LARGE:
        if not loads and len(split.given) in (0, len(active)) and "p" not in f.inputs:
            program = _program(mechanism, not split.given, damped)
            if program is not None:
                order = {k: mechanism.indices(k) for k in ("active", "elastic")}
                kind = {i: mechanism.coordinates[i].kind for i in split.free}
                return {"program": program, "outputs": tuple((f"a_{kind[i]}", order[kind[i]].index(i)) for i in split.free)}
        return {"accelerations": _arranged(mechanism, f, split)}
    return {"accelerations": optimise(_arranged(mechanism, f, split), passes).function}


def _damping(model: Model) -> dict[str, Any]:
    """Places in v and matrix of the damping that the bodies do not have themselves."""
    if model.viscous is None:
        return {}
    elastic = model.mechanism.indices("elastic")
    return {"elastic": tuple(elastic), "damping": model.viscous[np.ix_(elastic, elastic)]}


def _undamped(functions: dict[str, Any]) -> dict[str, Any]:
    """Functions that know nothing of further damping, under names that say so; C adds it."""
    names = {"tree": "undamped_tree", "power": "undamped_power", "accelerations": "damped_accelerations"}
    return functions | {k: replace(functions[k], name=n) for k, n in names.items() if functions.get(k) is not None}


def _eliminated(mechanism: Mechanism, split: Split, loads: bool, passes: Sequence[str] | None) -> Function:
    """The accelerations by elimination onto the platform; there is no other way to write these equations."""
    if split.given and len(split.given) < len(mechanism.indices("active")):
        raise SuppleError(
            f"{mechanism.name}: platform_eliminated takes actuators that are all prescribed or all driven by forces; use "
            "newton_euler for some of each"
        )
    f = builder("inverse" if split.given else "forward", "platform_eliminated")(mechanism, loads=loads)
    made = _arranged(mechanism, f, split)
    return made if f.operations > _LARGE else optimise(made, passes).function


def _coupled(
    model: Model, source: Equations, q: Array, split: Split, way: Way, places: Sequence[Place]
) -> tuple[dict[str, Any], Split]:
    """The Functions of a plant all of whose coordinates are integrated, and its Split."""
    _check_size(source.mechanism)
    free = tuple(sorted({*split.free, *split.dependent}))
    made: dict[str, Any] = {"coupled": coupled(model, source, q, way, split.rows, split.dependent, free, places)}
    made |= {"tree": _tree(source)} if way.solved == "multipliers" else {}
    made |= _loops(source, split, wide=True)
    return made, Split(split.given, free, (), ())


def _program(mechanism: Mechanism, forward: bool, damped: bool) -> Program | None:
    try:
        return leg_program(mechanism, forward, damped)
    except Unsupported:
        return None


def _arranged(mechanism: Mechanism, f: Function, split: Split) -> Function:
    """A closed form with the inputs and outputs of a plant."""
    active, elastic, passive = (mechanism.indices(k) for k in ("active", "elastic", "passive"))
    others = [i for i in active if i not in split.given]
    found: dict[int, Any] = {}
    for key, order in (("a_active", others), ("a_elastic", elastic), ("a_passive", passive)):
        if key in f.outputs:
            found |= dict(zip(order, f.outputs[key], strict=True))
    given = next((f.inputs[k] for k in ("a_active", "a_prescribed") if k in f.inputs), symbols("given", 0))
    effort = next((f.inputs[k] for k in ("tau", "tau_free") if k in f.inputs), symbols("effort", 0))
    w = f.inputs["w"] if "w" in f.inputs else symbols("w", (len(mechanism.points), 6))
    inputs = {"q": f.inputs["q"], "v": f.inputs["v"], "given": given, "effort": effort, "g": f.inputs["g"], "w": w.ravel()}
    if "x" in f.inputs:
        inputs["x"] = f.inputs["x"]
    tau: Any = f.outputs.get("tau", [])
    return plant_function("model_accelerations", inputs, {"f": [found[i] for i in split.free], "tau_given": tau})


def _check_size(mechanism: Mechanism) -> None:
    if mechanism.nv > _LARGEST_TREE:
        raise SuppleError(
            f"{mechanism.name} has no closed form of its accelerations and {mechanism.nv} coordinates, too many for its "
            f"mass matrix to be compiled (at most {_LARGEST_TREE}); use fewer elements or a reduced body"
        )


def _tree(equations: Equations) -> Function:
    """M and c of the virtual tree."""
    f = equations.forces
    _check_size(equations.mechanism)
    still = dict.fromkeys(f.inputs["lam"].ravel(), 0) | dict.fromkeys(f.inputs["a"].ravel(), 0)
    c = substituted(f.outputs["f"] + f.outputs["coulomb"], still)
    column = equations.inertia
    M = jacobian(column.outputs["f"], column.inputs["direction"])
    M = substituted(M, dict.fromkeys(column.inputs["lam"].ravel(), 0))
    inputs = {k: f.inputs[k].ravel() for k in ("q", "v", "g", "w")}
    return optimise(plant_function("model_tree", inputs, {"M": M, "c": c}), ("fold",)).function


def _loops(equations: Equations, split: Split, wide: bool) -> dict[str, Any]:
    """The Functions of the loops, and unless all columns are wanted the order of the dependent ones."""
    if not split.dependent:
        return {}
    gradient, motion, closure = equations.closure_gradient, equations.closure_motion, equations.closure
    columns = list(range(equations.mechanism.nv)) if wide else list(split.dependent)
    J_q = jacobian(gradient.outputs["residual"], gradient.inputs["direction"][columns])
    J_v = jacobian(motion.outputs["velocity"], motion.inputs["v"][columns])
    q, v, a = (motion.inputs[k] for k in ("q", "v", "a"))
    blocks: tuple[Block, ...] = ()
    if not wide:
        chosen = list(split.rows)
        blocks = block_order(_filled(J_q[chosen]) | _filled(J_v[chosen]))
        at = np.ix_([chosen[b.equation] for b in blocks], [b.coordinate for b in blocks])
        J_q, J_v = J_q[at], J_v[at]
    residual = {"residual": closure.outputs["residual"], "gradient": J_q.T, "alignment": closure.outputs["alignment"]}
    rates = {"velocity": motion.outputs["velocity"], "jacobian": J_v.T}
    weightless = dict.fromkeys(motion.inputs["g"], 0) if "g" in motion.inputs else {}  # it cancels between the two ends
    drift = substituted(motion.outputs["acceleration"], weightless)
    made = {
        "loops": plant_function("model_loops", {"q": closure.inputs["q"]}, residual),
        "rates": plant_function("model_rates", {"q": q, "v": v}, rates),
        "drift": plant_function("model_drift", {"q": q, "v": v, "a": a}, {"acceleration": drift}),
    }
    return {name: optimise(f, _QUICK).function for name, f in made.items()} | {"blocks": blocks}


def _filled(J: Array) -> Array:
    """Where a matrix of expressions is not zero for certain."""
    return np.array([[isinstance(x, Expr) or x != 0 for x in row] for row in J], dtype=bool)


def block_order(filled: Array) -> tuple[Block, ...]:
    """An order of a square matrix, given where it is filled: blocks that share no rows, then the columns that tie them.

    Columns that share rows with many others tie: as many of them as make elimination cheapest, or all if that saves
    less than half."""
    n = len(filled)
    together = filled.T.astype(int) @ filled.astype(int) > 0
    ties = sorted(range(n), key=lambda j: -int(together[j].sum()))
    trials = [_elimination(filled, together, ties[:k]) for k in range(n + 1)]
    cost, tied, parts = min(trials, key=lambda found: found[0])
    if 2 * cost > trials[-1][0]:
        _, tied, parts = trials[-1]
    columns: list[tuple[int, int, int, int]] = []
    rows: list[int] = []
    for part in parts:
        own = [int(i) for i in np.flatnonzero(filled[:, part].any(axis=1))]
        columns += [(j, len(columns), len(rows), len(rows) + len(own)) for j in part]
        rows += own
    columns += [(j, 0, 0, n) for j in tied]
    rows += [i for i in range(n) if i not in rows]
    return tuple(Block(j, i, *rest) for (j, *rest), i in zip(columns, rows, strict=True))


def _elimination(filled: Array, together: Array, ties: Sequence[int]) -> tuple[int, list[int], list[list[int]]]:
    """About how many multiplications elimination takes, the columns that tie, in order, and the columns of every block."""
    left = [j for j in range(len(filled)) if j not in ties]
    count, label = connected_components(together[np.ix_(left, left)], directed=False)
    parts = [[left[i] for i in np.flatnonzero(label == k)] for k in range(count)]
    cost = len(ties) ** 3 // 3
    cost += sum(len(p) * int(filled[:, p].any(axis=1).sum()) * (len(p) + 2 * len(ties)) // 2 for p in parts)
    return cost, sorted(ties), parts


def _power(equations: Equations, split: Split) -> Function:
    """Power of actuators and loads less what is lost."""
    mechanism, energy, points = equations.mechanism, equations.energy, equations.points
    others = [i for i in mechanism.indices("active") if i not in split.given]
    driven = [*split.given, *others]
    v = energy.inputs["v"]
    known: dict[Expr, Any] = dict(zip(points.inputs["v"].ravel(), v, strict=True))
    known |= dict(zip(points.inputs["q"].ravel(), energy.inputs["q"], strict=True))
    tau, w = symbols("tau", len(driven)), symbols("w", (len(mechanism.points), 6))
    power: Any = -np.sum(energy.outputs["dissipation"])
    for i, k in enumerate(driven):
        power = power + tau[i] * v[k]
    if len(mechanism.points):
        twist = [substituted(points.outputs[key], known) for key in ("velocity", "spin")]
        power = power + np.sum(w[:, :3] * twist[0]) + np.sum(w[:, 3:] * twist[1])
    still = dict.fromkeys(energy.inputs["g"], 0)
    inputs = {"q": energy.inputs["q"], "v": v, "tau": tau, "w": w.ravel()}
    return optimise(
        plant_function("model_power", inputs, {"power": substituted(np.array([power]), still)}), ("fold",)
    ).function


def _controlled(
    mechanism: Mechanism, rigid: Model, q: Array | None, split: Split, controlled: Collection[str]
) -> Controlled:
    """The rigid robot of a computed-torque controller; its actuators are found by their names."""
    assert q is not None
    own = rigid.mechanism
    names = [own.coordinates[i].name for i in own.indices("active")]
    choice = divide(rigid, q, names)
    if choice.free:
        loose = ", ".join(own.coordinates[i].name for i in choice.free[:4])
        raise SuppleError(
            f"{own.name}: no computed torque, because the actuators do not determine {loose} of the rigid robot"
        )
    f = inverse(own)
    inputs = {k: f.inputs[k] for k in ("q", "v", "a_active", "g")}
    loops = _loops(rigid.equations, choice, wide=False)
    blocks = loops.pop("blocks", ())
    renamed = {k: replace(x, name=x.name.replace("model", "rigid")) for k, x in loops.items()}
    places, outer = coordinate_places(own), coordinate_places(mechanism)
    where = [mechanism.names().index(n) for n in names]
    torques = sorted(set(mechanism.indices("active")) - set(split.given))
    return Controlled(
        renamed.get("loops"),
        renamed.get("rates"),
        optimise(plant_function("rigid_inverse", inputs, {"tau": f.outputs["tau"]}), _QUICK).function,
        dependent=tuple(places[i] for i in choice.dependent),
        rows=choice.rows,
        turning=tuple((at, dep) for at, _, dep in turning(own, (), choice.dependent)),
        blocks=blocks,
        drives=tuple(places[i] for i in own.indices("active")),
        measured=tuple(outer[i] for i in where),
        torques=tuple(torques.index(i) if n in controlled else -1 for n, i in zip(names, where, strict=True)),
        start=tuple(float(x) for x in q),
    )
