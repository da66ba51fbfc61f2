"""Bodies in the unknowns of their frames: Z of a body in its own slots and those of the frames on its nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Scalar, add, mul, sub
from supple.expr.vector import (
    cross,
    cross_matrix,
    dot,
    identity,
    is_zero,
    matvec,
    minus,
    plus,
    scale,
    vector,
    zeros,
)
from supple.formulations.least_constraint.affine import Affine, across, combined, shifted, turned
from supple.formulations.least_constraint.bodies import Motion, Port, body_quadratic, node_motion
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.least_constraint.tree import Tree
from supple.formulations.least_constraint.unknowns import (
    Elastic,
    Node,
    Slot,
    Turned,
    Unknown,
)
from supple.robot.bodies.record import moved


def body_motion(tree: Tree, j: int) -> Motion:
    """The state of frame j's body."""
    now = tree.kin.motions[j]
    return Motion(now.omega, now.qe, now.qde)


def body(tree: Tree, j: int) -> Quadratic:
    """Z of frame j's body in its own slots and those of the frames on its nodes."""
    frame = tree.m.frames[j]
    record = moved(frame.body, identity(), scale(-1, tree.c[j]))
    ports = [
        replace(p, marker=replace(p.marker, position=minus(p.marker.position, tree.c[j])))
        for k, p in tree.ports.items()
        if tree.m.frames[k].parent == j
    ]
    Z = body_quadratic(record, j, frame.ev.start, body_motion(tree, j), ports, tree.planar, _applied(tree, j))
    Z.drop([Slot(j, k) for k in range(6) if k not in tree.alive[j]])
    _draw_back(tree, Z, j, ports)
    for port in ports:
        _port_to_frame(tree, Z, j, port)
    return Z


def _draw_back(tree: Tree, Z: Quadratic, i: int, ports: list[Port]) -> None:
    """Nodes as if bending did not draw them back -> true ones: p = b + axis (g.qdd + qd.G qd) with g = G q."""
    if not any(p.marker.shortening for p in ports):
        return
    now, qdd = body_motion(tree, i), _elastic_forms(tree, i, ports)
    forms: dict[Unknown, Affine] = {Node(p.key, k): Affine(0, {Node(p.key, k): 1}) for p in ports for k in range(3)}
    for port in ports:
        for s in port.marker.shortening:
            back = combined(matvec(s.G, now.q), qdd) + dot(now.qd, matvec(s.G, now.qd))
            for k in range(3):
                if not is_zero(s.axis[k]):
                    forms[Node(port.key, k)] += back * s.axis[k]
    changed = {x: form.form() for x, form in forms.items() if x in Z.rows and len(form.terms) > 1}
    Z.substitute(changed)


def _elastic_forms(tree: Tree, i: int, ports: list[Port]) -> list[Affine]:
    """Accelerations of the elastic coordinates of frame i's body that shorten it, from those of its nodes."""
    frame, now = tree.m.frames[i], body_motion(tree, i)
    own = [Affine(0, {Slot(i, k): 1}) if k in tree.alive[i] else Affine() for k in range(6)]
    qdd = [Affine(0, {Elastic(k): 1}) for k in range(frame.ev.start, frame.ev.stop)]
    for port in ports:
        r, swing = node_motion(port.marker, now)
        node = [Affine(0, {Node(port.key, k): 1}) for k in range(6)]
        carried = shifted(shifted(own[:3], across(own[3:], vector(*r))), swing)
        turned_by = own[3:] if tree.planar else [Affine()] * 3  # a spatial node keeps its rotation relative
        relative = [x + y * -1 for x, y in zip(node, carried + turned_by, strict=True)]
        for row, column in enumerate(port.columns):
            qdd[column] = combined(port.inverse[row], [relative[k] for k in port.components])
    return qdd


def _applied(tree: Tree, j: int) -> Array:
    """Forces of loads and further damping on (a, alpha, qdd) of frame j's body."""
    if tree.w is None and tree.x is None:
        return zeros(0)
    force, moment, elastic = zeros(3), zeros(3), zeros(len(tree.m.frames[j].body.coordinates))
    if tree.damping and len(elastic):
        elastic = scale(-1, vector(*(tree.damping[c.name] for c in tree.m.coordinates[tree.m.frames[j].ev])))
    for anchor, wrench in zip(tree.m.points.values(), tree.w, strict=True) if tree.w is not None else ():
        if anchor.frame != j:
            continue
        m, T = tree.kin.marker(anchor), tree.kin.world[j][0].T
        f, n = matvec(T, wrench[:3]), matvec(T, wrench[3:])
        force, moment = plus(force, f), plus(moment, n, cross(minus(m.r, tree.c[j]), f))
        elastic = plus(elastic, matvec(m.Phi_d.T, f), m.couple(n))
    return np.concatenate([force, moment, elastic])


def is_leaf(tree: Tree, j: int) -> bool:
    used = {a.frame for c in tree.m.closures for a in (c.first, c.second)} | {f.parent for f in tree.m.frames}
    return j not in used and not tree.m.frames[j].body.flexible


def _port_to_frame(tree: Tree, Z: Quadratic, i: int, port: Port) -> None:
    """Node variables of body i -> slots of the frame that sits there (a leaf stays in the node's axes)."""
    j = port.key
    now = tree.kin.motions[j]
    R = now.marker.R
    if is_leaf(tree, j) and tree.planar:
        return
    node = [Node(j, k) for k in range(6)]
    if not tree.planar:
        _spatial_spin(tree, Z, i, j)
    local = [Turned(j, k) for k in range(6)]
    Z.rotate(node[:3], local[:3], R)
    if tree.planar:
        Z.rotate(node[3:], local[3:], R)
        Z.substitute({local[3 + k]: ({Slot(j, 3 + k): 1}, 0) for k in range(3) if local[3 + k] in Z.rows})
    arm = scale(-1, tree.c[j])
    spin = now.omega
    bias = cross(spin, cross(spin, arm))
    alpha = [Affine(0, {Slot(j, 3 + k): 1}) if 3 + k in tree.alive[j] else Affine() for k in range(3)]
    shift = across(alpha, arm)
    forms: dict[Unknown, tuple[dict[Unknown, Scalar], Scalar]] = {}
    for k in range(3):
        if local[k] in Z.rows:
            if k not in tree.alive[j]:
                Z.drop([local[k]])
            else:
                forms[local[k]] = (Affine(bias[k], {Slot(j, k): 1}) + shift[k]).form()
    Z.substitute(forms)


def _spatial_spin(tree: Tree, Z: Quadratic, i: int, j: int) -> None:
    """psi = B^-1 (R alpha_j - alpha_i - w_i x w_e - bias): a node's relative rotation from absolute accelerations."""
    now = tree.kin.motions[j]
    rest = plus(cross(tree.kin.motions[i].omega, now.marker.omega_e), now.marker.bias)
    node = turned(now.marker.R, [Affine(0, {Slot(j, 3 + k): 1}) for k in range(3)])
    relative = [t + Affine(mul(-1, rest[k]), {Slot(i, 3 + k): -1}) for k, t in enumerate(node)]
    relative = turned(spin_inverse(tree, i, j), relative)
    Z.substitute({Node(j, 3 + k): relative[k].form() for k in range(3) if Node(j, 3 + k) in Z.rows})


def spin_inverse(tree: Tree, i: int, j: int) -> Array:
    """B^-1 = 1 - c^ + c c^T of the node frame j sits on, c half its rotation (Cayley)."""
    now = tree.kin.motions[j]
    if now.marker.B is None:
        return identity()
    half = scale(0.5, matvec(now.marker.Phi_r, tree.kin.motions[i].qe))
    inverse, H = identity(), cross_matrix(half)
    for a in range(3):
        for b in range(3):
            inverse[a, b] = sub(add(inverse[a, b], mul(half[a], half[b])), H[a, b])
    return inverse


def leaf_in_node(tree: Tree, j: int) -> Quadratic:
    """A planar leaf's Z in the axes of the node it sits on."""
    Z = body(tree, j)
    R = tree.kin.motions[j].marker.R
    node = [Node(j, k) for k in range(6)]
    Z.rotate([Slot(j, k) for k in range(3)], node[:3], R.T)
    Z.rotate([Slot(j, 3 + k) for k in range(3)], node[3:], R.T)
    keep = set(tree.ports[j].components)
    Z.drop([x for k, x in enumerate(node) if k not in keep and x in Z.rows])
    return Z
