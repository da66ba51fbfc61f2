"""The matrices of Vidoni, Gasparetto, Boscariol & Giovagnoni (2012), eqs. (15)-(22), link by link, by their names.

A point r of link i is displaced by N y in link axes, y = T_i u: displacement (3), turn (3) and shape of the real link as a
linear function of all elastic coordinates u (N = [1, -[r], Phi], and T_i is A_i of `operators`). With W = R^T R' and
C = R^T R'':

    M = T^T int N^T N T      MG1 = T^T int N^T W N T    MG2 = T^T int N^T N T'
    MC1 = T^T int N^T C N T  MC2 = T^T int N^T W N T'   MC3 = T^T int N^T N T''
    K = T^T K_e T            fg = T^T int N^T R^T g

The print of (17)-(21) lost N^T R^T; with it (23) is an equation of forces.
"""

from __future__ import annotations

import numpy as np

from supple.expr.derivative import jacobian, push_forward
from supple.expr.function import Array, Function, function
from supple.expr.vector import cross_matrix, identity, matmul, matvec, vector, zeros
from supple.formulations.record import DENSE, Unsupported
from supple.formulations.rigid_links.equations import in_time
from supple.formulations.rigid_links.link_system import LinkMotion, LinkSystem
from supple.formulations.rigid_links.moments import Moments, contract, moments
from supple.formulations.tree.kinematics import inputs, state
from supple.robot.mechanism import Mechanism


def named_matrices(mechanism: Mechanism) -> Function:
    """q v a g -> M_3, K_3, MG1_3, ... fg_3 of every flexible link (here of link 3), over all elastic coordinates."""
    if mechanism.nv > DENSE:
        raise Unsupported(f"{mechanism.nv} coordinates, more than the {DENSE} that dense matrices are written for")
    s = state(mechanism)
    links = LinkSystem(mechanism, s)
    moves, elastic = in_time(links), s.q[mechanism.indices("elastic")]
    outputs: dict[str, Array] = {}
    for frame, link in zip(mechanism.frames, links.motions, strict=True):
        body = moments(frame.body)
        if body is None or not frame.body.flexible:
            continue
        T = jacobian(np.concatenate([link.inside(link.d.x), link.inside(link.phi.x), link.e]), elastic)
        T1 = push_forward(T.ravel(), moves).reshape(T.shape)
        T2 = push_forward(T1.ravel(), moves).reshape(T.shape)
        for name, (form, right) in _terms(body, link, T, T1, T2).items():
            outputs[f"{name}_{frame.name}"] = matmul(T.T, matmul(form, right))
        stiff = zeros(len(T), len(T))
        stiff[6:, 6:] = frame.body.K_ee
        outputs[f"K_{frame.name}"] = matmul(T.T, matmul(stiff, T))
        outputs[f"fg_{frame.name}"] = matvec(T.T, _weight(body, link.inside(s.g)))
    if not outputs:
        raise Unsupported("links that are all rigid")
    return function("named_matrices", inputs(s), outputs)


def _terms(body: Moments, link: LinkMotion, T: Array, T1: Array, T2: Array) -> dict[str, tuple[Array, Array]]:
    """Form between shapes, and what stands on its right, by the paper's names."""
    W = cross_matrix(link.inside(link.spin))
    C = cross_matrix(link.inside(link.spin_rate)) + matmul(W, W)
    mass, turning, sped = form(body, identity()), form(body, W), form(body, C)
    mass[6:, 6:] = body.M
    return {
        "M": (mass, T), "MG1": (turning, T), "MG2": (mass, T1), "MC1": (sped, T), "MC2": (turning, T1), "MC3": (mass, T2),
    }  # fmt: skip


def form(body: Moments, W: Array) -> Array:
    """int N^T W N over a body, (6 + n) square: displacements, turns, shapes."""
    n = len(body.J)
    turns = [cross_matrix(identity()[:, k]) for k in range(3)]
    made = zeros(6 + n, 6 + n)
    made[:3, :3] = np.array([[body.mass * W[i, j] for j in range(3)] for i in range(3)], dtype=object)
    for k in range(3):
        made[:3, 3 + k] = matvec(matmul(W, turns[k]), body.s0)
        made[3 + k, :3] = matvec(matmul(turns[k].T, W).T, body.s0)
        for m in range(3):
            made[3 + k, 3 + m] = contract(matmul(matmul(turns[k].T, W), turns[m]), body.S0)
        for i in range(n):
            made[3 + k, 6 + i] = contract(matmul(turns[k].T, W), body.J[i])
            made[6 + i, 3 + k] = contract(matmul(W, turns[k]), body.J[i].T)
    for i in range(n):
        made[:3, 6 + i], made[6 + i, :3] = matvec(W, body.s[:, i]), matvec(W.T, body.s[:, i])
        for j in range(n):
            made[6 + i, 6 + j] = contract(W, body.E[i, j])
    return made


def _weight(body: Moments, g: Array) -> Array:
    """int N^T g, g in link axes."""
    fallen = [body.mass * x for x in g]
    return vector(*fallen, *matvec(cross_matrix(body.s0), g), *matvec(body.s.T, g))
