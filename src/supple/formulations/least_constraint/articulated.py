"""Inverse and forward models in few operations: the mass matrix is never formed.

Gauss' principle: the accelerations minimise Z = sum over bodies of 1/2 u.M u + c.u. Bodies on fixed joints are merged;
a beam's end node is described by its absolute acceleration, so that a chain couples neighbours only; a loop is closed by
giving both sides of its joint the same variables. Each leg is minimised on its own down to what it shares with the
platform (or the first leg), so the cost grows linearly with legs and with elements.
"""

from __future__ import annotations

from collections.abc import Collection

from supple.expr.function import Array, Function, function
from supple.expr.node import Scalar
from supple.formulations.least_constraint.affine import solve_rows
from supple.formulations.least_constraint.closing import closing_friction, far_side, loop_rows
from supple.formulations.least_constraint.folding import chain_forms
from supple.formulations.least_constraint.legs import Group, Legs, Stuck, apply_given, gather, hang, legs_of, meet, reduce
from supple.formulations.least_constraint.nodes import body
from supple.formulations.least_constraint.quadratic import Massless, Quadratic
from supple.formulations.least_constraint.solution import Solution, name_of
from supple.formulations.least_constraint.tree import Choices, Tree, drives, tree_of
from supple.formulations.least_constraint.unknowns import Force, Slot
from supple.formulations.record import Unsupported
from supple.formulations.tree.kinematics import typical
from supple.formulations.tree.undriven import undriven
from supple.robot.mechanism import Mechanism


def solve(legs: Legs) -> Solution:
    """All accelerations by minimising legs, then what they share."""
    tree = legs.tree
    _reduce_all(legs)
    total = _platform(tree)
    for group in legs.groups.values():
        for closure in legs.outer:
            _, far = far_side(tree, closure)
            if far.frame in group.frames:
                meet(tree, group.Z, closure)
        total.include(group.Z)
    root = tree.root
    if root is not None and root not in tree.ports and root != tree.m.platform:
        forms = chain_forms(tree, root)
        total.substitute({Slot(root, k): forms[k].form() for k in range(6) if Slot(root, k) in total.rows})
    _whole(legs, total)
    motions = [x for x in total.ids() if not isinstance(x, Force)]
    return Solution(legs, total.minimise_all(motions) + total.minimise_all(total.ids()))


def follow(legs: Legs) -> Solution | None:
    """The inverse model of a rigid robot: all accelerations follow from the given ones, no equation of motion needed.

    None for a robot with joints that nothing drives."""
    tree = legs.tree
    total = _platform(tree)
    for group in legs.groups.values():
        gather(legs, group)
        total.include(group.Z)
    rows = [row for closure in tree.m.closures for row in loop_rows(tree, closure)]
    legs.dependent.update(solve_rows(rows, lambda x: not tree.is_given(x), typical(tree.m, tree.s)))
    total.substitute({x: form.form() for x, form in legs.dependent.items() if x in total.rows})
    if any(not tree.is_given(x) for x in total.ids()):
        return None
    _whole(legs, total)
    return Solution(legs, [])


def _reduce_all(legs: Legs) -> None:
    """Every leg reduced; all that are stuck are told at once."""
    stuck: set[str] = set()
    for group in legs.groups.values():
        try:
            if group.frames[0] in legs.tree.side:
                hang(legs, group)
            else:
                reduce(legs, group)
        except Stuck as leg:
            stuck |= leg.names
    if stuck:
        raise Stuck(stuck)


def _platform(tree: Tree) -> Quadratic:
    """Z of the platform alone."""
    total = Quadratic()
    if tree.m.platform is not None:
        total.include(body(tree, tree.m.platform))
        for closure in tree.m.closures:
            closing_friction(tree, closure, [tree.m.platform], total)
    return total


def _whole(legs: Legs, total: Quadratic) -> None:
    """The robot's own Z as a further group, given accelerations put in."""
    whole = Group([], total)
    apply_given(legs.tree, whole)
    legs.groups[-1] = whole


# Models ------------------------------------------------------------------------------------------------------------------


def inverse_model(mechanism: Mechanism, *, loads: bool = False, damped: bool = False) -> Function:
    """tau and the elastic accelerations from the state and the accelerations of the actuators.

    With `loads` there is an input w: force and moment (base axes) at every named point; with `damped` an input x: forces of
    damping on the elastic coordinates, beside those of the bodies."""
    active = [c.name for c in mechanism.coordinates if c.kind == "active"]
    tree, solution = _solved(mechanism, active, loads, damped)
    outputs = {"tau": _forces(tree, solution, active), "a_elastic": _elastic(tree, solution)}
    inputs = {"a_active": _inputs(tree, active)}
    return _model("inverse", tree, solution, inputs, outputs)


def forward_model(mechanism: Mechanism, *, loads: bool = False, damped: bool = False) -> Function:
    """Accelerations of the actuators and elastic coordinates from the state and tau; `loads` as in inverse_model."""
    active = [c.name for c in mechanism.coordinates if c.kind == "active"]
    tree, solution = _solved(mechanism, [], loads, damped)
    outputs = {"a_active": _joints(tree, solution, active), "a_elastic": _elastic(tree, solution)}
    return _model("forward", tree, solution, {"tau": _inputs(tree, active)}, outputs)


def hybrid_model(
    mechanism: Mechanism, prescribed: Collection[str], *, loads: bool = False, damped: bool = False
) -> Function:
    """tau of the prescribed actuators and the accelerations of all others, elastic ones included, from the state, the
    prescribed accelerations and the forces of the other actuators; `loads` as in inverse_model."""
    active = [c.name for c in mechanism.coordinates if c.kind == "active"]
    driven, free = [n for n in active if n in prescribed], [n for n in active if n not in prescribed]
    if len(driven) != len(set(prescribed)):
        unknown = sorted(set(prescribed) - set(active))
        raise Unsupported(f"the prescribed {unknown[0]!r}, which is no actuator; there are: {', '.join(active)}")
    tree, solution = _solved(mechanism, driven, loads, damped)
    outputs = {"tau": _forces(tree, solution, driven), "a_active": _joints(tree, solution, free)}
    outputs["a_elastic"] = _elastic(tree, solution)
    inputs = {"a_prescribed": _inputs(tree, driven), "tau_free": _inputs(tree, free)}
    return _model("hybrid", tree, solution, inputs, outputs)


def _solved(mechanism: Mechanism, prescribed: list[str], loads: bool, damped: bool) -> tuple[Tree, Solution]:
    """The tree and its solution; actuators that leave a rigid leg no freedom are held by forces instead."""
    rigid = not any(c.kind == "elastic" for c in mechanism.coordinates)
    held: set[str] = set()
    legs = _legs(mechanism, prescribed, held, loads, damped)
    try:
        solution = follow(legs) if rigid and prescribed else None
        while solution is None:
            legs = _legs(mechanism, prescribed, held, loads, damped)
            try:
                solution = solve(legs)
            except Stuck as leg:
                held |= leg.names
    except Massless as found:
        raise Unsupported(f"a motion that no mass resists: {name_of(legs.tree, found.x)}") from found
    return legs.tree, solution


def _legs(mechanism: Mechanism, prescribed: list[str], held: set[str], loads: bool, damped: bool) -> Legs:
    given = drives(mechanism, prescribed, held)
    return legs_of(tree_of(mechanism, Choices(given, given.accelerated, loads=loads, damped=damped)))


def _inputs(tree: Tree, names: list[str]) -> Array:
    return tree.inputs.a[[tree.original.names().index(n) for n in names]]


def _forces(tree: Tree, solution: Solution, names: list[str]) -> list[Scalar]:
    return [solution.tau(tree.m.names().index(n)) for n in names]


def _joints(tree: Tree, solution: Solution, names: list[str]) -> list[Scalar]:
    """Accelerations of revolute and prismatic joints."""
    frame_of = {f.v.start: j for j, f in enumerate(tree.m.frames) if f.motion in ("revolute", "prismatic")}
    return [solution.joint(frame_of[tree.m.names().index(n)]) for n in names]


def _elastic(tree: Tree, solution: Solution) -> list[Scalar]:
    found: dict[int, Scalar] = {}
    for j in range(len(tree.m.frames)):
        found |= solution.elastic(j)
    names = tree.m.names()
    return [found[names.index(c.name)] for c in tree.original.coordinates if c.kind == "elastic"]


def _passive(tree: Tree, solution: Solution) -> list[Scalar]:
    """Accelerations of the joints that move by themselves."""
    names = tree.m.names()
    wanted = [n for n in undriven(tree.original) if n in names]
    balls = {j for j, f in enumerate(tree.m.frames) if f.motion == "spherical" and names[f.v.start] in wanted}
    turns = {names[tree.m.frames[j].v.start + n]: x for j in balls for n, x in enumerate(solution.ball(j))}
    return [turns[n] if n in turns else _joints(tree, solution, [n])[0] for n in wanted]


def _model(
    name: str, tree: Tree, solution: Solution, drives: dict[str, Array], outputs: dict[str, list[Scalar]]
) -> Function:
    passive = _passive(tree, solution)
    outputs |= {"a_passive": passive} if passive else {}
    inputs = {"q": tree.inputs.q, "v": tree.inputs.v, **drives, "g": tree.inputs.g}
    if tree.w is not None:
        inputs["w"] = tree.w
    if tree.x is not None:
        inputs["x"] = tree.x
    return function(name, inputs, outputs)
