"""Velocities of passive joints from those of the others: the loops of a planar robot, at velocity level."""

from __future__ import annotations

import numpy as np

from supple.expr.function import Function, function
from supple.expr.node import Scalar, add, mul
from supple.expr.vector import dot, vector
from supple.formulations.least_constraint.affine import Affine, cofactor_inverse
from supple.formulations.least_constraint.base_axes import loop_in_base
from supple.formulations.least_constraint.closing import far_side, tied
from supple.formulations.least_constraint.composite import prepared
from supple.formulations.least_constraint.tree import Choices, Tree, tree_of
from supple.formulations.least_constraint.unknowns import Coordinate
from supple.formulations.record import Unsupported
from supple.robot.mechanism import Closure, Mechanism


def rates_model(mechanism: Mechanism, independent: list[str]) -> Function:
    """v with the rates of passive joints replaced by those that keep the loops closed."""
    tree = tree_of(mechanism, Choices(own=None, prepared=prepared, nodes=False))
    found = _solved(tree, set(independent))
    v = [found.get(c.name, x) for c, x in zip(mechanism.coordinates, tree.inputs.v, strict=True)]
    return function("rates", {"q": tree.inputs.q, "v": tree.inputs.v}, {"v": v})


def _solved(tree: Tree, independent: set[str]) -> dict[str, Scalar]:
    """Passive coordinate -> its velocity as an expression of the others'."""
    if tree.m.platform is not None or not tree.planar:
        raise Unsupported("a robot in space or with a platform of its own")
    found: dict[str, Scalar] = {}
    for closure in tree.m.closures:
        rows, chosen = _loop(tree, closure, independent)
        again = any(_name(tree, x) in found for x in chosen)
        if len(chosen) != len(rows) or len(rows) > 3 or again:
            raise Unsupported("loops whose passive joints do not follow one by one")
        inverse = cofactor_inverse(np.array([[row.terms.get(x, 0) for x in chosen] for row in rows], dtype=object))
        speed = [_speed(tree, row, chosen) for row in rows]
        for n, x in enumerate(chosen):
            found[_name(tree, x)] = mul(-1, dot(inverse[n], vector(*speed)))
    return found


def _loop(tree: Tree, closure: Closure, independent: set[str]) -> tuple[list[Affine], list[Coordinate]]:
    """The equations of a loop, and its unknowns that are not independent."""
    near, far = far_side(tree, closure)
    tied(tree, closure)  # joints that slide are not for this method
    rows = loop_in_base(tree, near, far)
    every = dict.fromkeys(x for row in rows for x in row.terms if isinstance(x, Coordinate))
    return rows, [x for x in every if _name(tree, x) not in independent]


def _name(tree: Tree, x: Coordinate) -> str:
    return tree.m.coordinates[x.velocity].name


def _speed(tree: Tree, row: Affine, chosen: list[Coordinate]) -> Scalar:
    total: Scalar = 0
    for x, c in row.terms.items():
        if x not in chosen and isinstance(x, Coordinate):
            total = add(total, mul(c, tree.s.v[x.velocity]))
    return total
