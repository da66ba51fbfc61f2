"""M and c in independent coordinates: composite inertias folded onto relative coordinates, loops solved by cofactors."""

from __future__ import annotations

import numpy as np

from supple.expr.function import Function, function
from supple.expr.node import Scalar, mul
from supple.expr.vector import dot, is_zero
from supple.formulations.least_constraint.affine import Affine, cofactor_inverse, combined, turned
from supple.formulations.least_constraint.base_axes import base_rotation, loop_in_base
from supple.formulations.least_constraint.closing import at_anchor, closing_friction, far_side, loop_rows, relative, tied
from supple.formulations.least_constraint.folding import chain_forms, fold
from supple.formulations.least_constraint.nodes import body
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.least_constraint.tree import Choices, Tree, tree_of
from supple.formulations.least_constraint.unknowns import Coordinate, Elastic, Joint, Slot, Unknown
from supple.formulations.record import Unsupported
from supple.formulations.tree.undriven import outside_loops
from supple.robot.mechanism import Closure, Mechanism
from supple.robot.nodes import opened
from supple.robot.simplify import regrouped, simplify


def mass_model(mechanism: Mechanism, independent: list[str]) -> Function:
    """M and c of the closed robot in independent coordinates: generalised forces = M a + c."""
    tree = tree_of(mechanism, Choices(own=frozenset(independent), prepared=prepared, nodes=False))
    Z, places = _matrix(tree), {c.name: k for k, c in enumerate(tree.m.coordinates)}
    kinds = {name: tree.m.coordinates[k].kind for name, k in places.items()}
    ids: list[Unknown] = [Elastic(places[n]) if kinds[n] == "elastic" else Joint(places[n]) for n in independent]
    if any(Z.rows[x] or not is_zero(Z.linear[x]) for x in Z.ids() if x not in ids):
        raise Unsupported("joints that neither a loop nor an actuator moves")
    M = [[Z.get(i, j) for j in ids] for i in ids]
    inputs = {"q": tree.inputs.q, "v": tree.inputs.v, "g": tree.inputs.g}
    return function("mass", inputs, {"M": M, "c": [Z.linear[i] for i in ids]})


def prepared(mechanism: Mechanism) -> Mechanism:
    """A mechanism in few frames, inertial parameters regrouped."""
    return regrouped(opened(simplify(mechanism)))


def _matrix(tree: Tree) -> Quadratic:
    """Z of the closed robot in its independent accelerations."""
    total = Quadratic()
    every = list(range(len(tree.m.frames)))
    chain = tree.m.platform_chain()
    for j in every:
        total.include(body(tree, j))
    for closure in tree.m.closures:
        closing_friction(tree, closure, every, total)
    for j in reversed(every):
        if j not in chain:
            fold(tree, total, j)
    for closure in tree.m.closures:
        _solve_loop(tree, total, closure)
    if chain:
        _platform_coordinates(tree, total, chain)
    return total


def _platform_coordinates(tree: Tree, Z: Quadratic, chain: list[int]) -> None:
    """The platform's slots -> accelerations of its own coordinates: a = R^T (xdd - g)."""
    p = chain[-1]
    R = base_rotation(tree, p) if tree.planar else tree.kin.world[p][0]
    forms: dict[Unknown, tuple[dict[Unknown, Scalar], Scalar]] = {}
    for k in range(3):
        form = Affine(mul(-1, dot(R[:, k], tree.s.g)))
        for j in chain[:-1]:
            frame = tree.m.frames[j]
            form = form + Affine(0, {Joint(frame.v.start): 1}) * dot(R[:, k], frame.axis)
        forms[Slot(p, k)] = form.form()
    own = tree.m.frames[p]
    for n, k in enumerate(x for x in range(3, 6) if x in tree.alive[p]):
        forms[Slot(p, k)] = ({Joint(own.v.start + n): 1 if not tree.planar else own.axis[k - 3]}, 0)
    Z.substitute({x: form for x, form in forms.items() if x in Z.rows})


def _equations(tree: Tree, closure: Closure) -> list[Affine]:
    """The equations of a closing joint, in the axes in which they are shortest."""
    near, far = far_side(tree, closure)
    shared = tied(tree, closure)  # joints that slide are not for this method
    if tree.m.platform is not None:
        return loop_rows(tree, closure)
    if tree.planar and not any(k >= 3 for k in closure.forbidden):
        return loop_in_base(tree, near, far)
    R = relative(tree, far.frame, near.frame)
    root = at_anchor(tree, near, chain_forms(tree, near.frame))
    leg = at_anchor(tree, far, chain_forms(tree, far.frame))
    facing = turned(R, root[:3]) + turned(R, root[3:])
    return [leg[k] + facing[k] * -1 for k in shared if k in tree.alive[far.frame]]


def _solve_loop(tree: Tree, Z: Quadratic, closure: Closure) -> None:
    """A loop's unknowns that are not independent, replaced by the others."""
    rows = _equations(tree, closure)
    chosen = [x for x in dict.fromkeys(x for row in rows for x in row.terms) if not _is_independent(tree, x)]
    if len(chosen) != len(rows) or len(rows) > 3 or any(x not in Z.rows for x in chosen):
        raise Unsupported("loops whose passive joints do not follow one by one")
    inverse = cofactor_inverse(np.array([[row.terms.get(x, 0) for x in chosen] for row in rows], dtype=object))
    rest = [Affine(mul(-1, row.constant), {x: mul(-1, c) for x, c in row.terms.items() if x not in chosen}) for row in rows]
    Z.substitute({x: combined(inverse[n], rest).form() for n, x in enumerate(chosen)})


def _is_independent(tree: Tree, x: Unknown) -> bool:
    return isinstance(x, Slot) or (isinstance(x, Coordinate) and tree.given(x.velocity))


def independent_names(mechanism: Mechanism) -> list[str]:
    """Coordinates of the mass model: active and elastic ones and joints that swing outside the loops; with a platform of
    its own, all but the last of each leg (Briot & Khalil 2014, section 4.1)."""
    if mechanism.platform is None:
        loose = outside_loops(mechanism)
        return [c.name for c in mechanism.coordinates if c.kind in ("active", "elastic") or c.name in loose]
    m = opened(simplify(mechanism))
    dependent: set[str] = set()
    for closure in m.closures:
        far = closure.second if closure.first.frame == m.platform else closure.first
        found = _node_names(m, far.frame, any(k >= 3 for k in closure.forbidden))
        if not found:
            leg = m.frames[far.frame].leg
            rank = {"passive": 0, "elastic": 1, "active": 2}
            own = [c for c in m.coordinates if m.frames[c.frame].leg == leg and c.kind in rank]
            found = [c.name for c in sorted(own, key=lambda c: rank[c.kind])][: len(closure.forbidden)]
        dependent |= set(found)
    names = {c.name for c in m.coordinates}
    return [c.name for c in mechanism.coordinates if c.name in names and c.name not in dependent]


def _node_names(m: Mechanism, j: int, turning: bool) -> list[str]:
    """Elastic coordinates that move the node frame j sits on: its displacements, and its rotations if they are tied."""
    frame = m.frames[j]
    if frame.parent < 0:
        return []
    first = m.frames[frame.parent].ev.start
    found = []
    for k in range(frame.marker.Phi_d.shape[1]):
        if not is_zero(frame.marker.Phi_d[:, k]) or (turning and not is_zero(frame.marker.Phi_r[:, k])):
            found.append(m.coordinates[first + k].name)
    return found
