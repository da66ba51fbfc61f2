"""DualEMPS in CasADi by the recursion of the literature, as one would write it from the paper.

Briot & Khalil, IJRR 33 (2014): per link the generalised Newton-Euler equations M_j, c_j (eqs. 19, 26), its Jacobian J_j
by recursion, M = sum J_j^T M_j J_j and c = sum J_j^T (M_j g_j + c_j) of the tree, the loop by J (eqs. 36-44).
The plane is (x0, z0); twists are (x, z, turn) in the axes of the link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

RHO_A, EA, EI = 2800 * 2e-4, 74e9 * 2e-4, 74e9 * 0.05 * 0.004**3 / 12  # duralumin blades of 4 mm x 50 mm
WIDTH = 1e-3  # of the smoothed sign
FRICTION = {"q11": (250, 25), "q12": (0.08, 0.02), "q21": (250, 25), "q22": (0.08, 0.02), "q25": (0.005, 0.01)}
RIGID = {  # mass, first moment along x, inertia at the origin
    "11": (95.196, 0, 0), "12": (0.843, 0.004, 7.06e-4), "14": (0.396, 0.0298579, 0.0030511), "15": (0, 0, 0),
    "17": (0.177, 0.0058215, 2.56e-4),
    "21": (95.196, 0, 0), "22": (0.843, 0.004, 7.06e-4), "24": (0.190, 0.0111708, 9.44e-4), "25": (0, 0, 0),
}  # fmt: skip
BLADES = {"13": 0.4505, "16": 0.14, "23": 0.4505}
# link, its joint coordinate, its place on the link before; on a blade's end if it has none
LEGS = (
    (("11", "q11", 0), ("12", "q12", 0), ("13", None, 0.0675), ("14", None, None), ("15", None, 0.082), ("16", None, 0.065),
     ("17", None, None)),
    (("21", "q21", 0.4), ("22", "q22", 0), ("23", None, 0.0675), ("24", None, None), ("25", "q25", 0.082)),
)  # fmt: skip


@dataclass(frozen=True)
class Tree:
    """Mass matrix and forces of the tree; Jacobian and bias acceleration of every link."""

    M: ca.SX
    c: ca.SX
    J: dict[str, ca.SX]
    bias: dict[str, ca.SX]


def rigid_link(name: str, w: ca.SX, g: ca.SX) -> tuple[ca.SX, ca.SX]:
    """M and c of a rigid link that turns at w in the gravity g of its axes."""
    m, s, inertia = RIGID[name]
    M = _matrix([[m, 0, 0], [0, m, s], [0, s, inertia]])
    return M, ca.vertcat(-s * w**2, 0, 0) - M @ ca.vertcat(g, 0)


def blade(name: str, e: ca.SX, ed: ca.SX, w: ca.SX, g: ca.SX) -> tuple[ca.SX, ca.SX]:
    """M and c of one Euler-Bernoulli element clamped at its start: (x, z, turn, then u, v, rotation of its end)."""
    L = BLADES[name]
    m = RHO_A * L
    S = ca.DM([[m / 2, 0, 0], [0, m / 2, -m * L / 12]])  # integral of the shapes
    N = m / 20 * ca.DM([[0, 7, -L], [-7, 0, 0], [L, 0, 0]])  # integral of shape_i x shape_j
    M_ee = m / 420 * ca.DM([[140, 0, 0], [0, 156, -22 * L], [0, -22 * L, 4 * L**2]])
    K = EI / L**3 * ca.DM([[EA / EI * L**2, 0, 0], [0, 12, -6 * L], [0, -6 * L, 4 * L**2]])
    stretch = ca.DM([m * L / 3, 0, 0])  # integral of x times axial shape
    s = ca.DM([m * L / 2, 0]) + S @ e
    turn = m * L / 20 * ca.DM([0, 7, -L]) - N @ e
    inertia = m * L**2 / 3 + 2 * stretch.T @ e + e.T @ M_ee @ e
    M = _matrix(
        [[m, 0, -s[1], S[0, :]], [0, m, s[0], S[1, :]], [-s[1], s[0], inertia, turn.T], [S[0, :].T, S[1, :].T, turn, M_ee]]
    )
    sd, pull = S @ ed, stretch + M_ee @ e
    c = ca.vertcat(
        -(w**2) * s[0] - 2 * w * sd[1], -(w**2) * s[1] + 2 * w * sd[0], 2 * w * pull.T @ ed,
        2 * w * N.T @ ed - w**2 * pull + K @ e,
    )  # fmt: skip
    return M, c - M[:, :2] @ g


def tree(names: Sequence[str], q: ca.SX, v: ca.SX, g0: ca.SX) -> Tree:
    """The two legs cut at the knee."""
    n = len(names)
    M, c, Js, biases = ca.SX(n, n), ca.SX(n, 1), {}, {}
    for leg in LEGS:
        J, t, bias, g, before = ca.SX(3, n), ca.SX(3, 1), ca.SX(3, 1), g0, ""
        for link, joint, place in leg:
            k = names.index(joint) if joint else None
            slides = joint in ("q11", "q21")
            e = _elastic(names, before) if place is None else []
            r = ca.vertcat(BLADES[before] + q[e[0]], q[e[1]]) if e else ca.vertcat(place, 0)
            angle = q[e[2]] if e else q[k] if joint and not slides else 0
            R, w = _turn(angle), t[2]
            rate = v[e] if e else ca.SX(3, 1)
            shift = _matrix([[1, 0, -r[1]], [0, 1, r[0]], [0, 0, 1]])
            swing = ca.vertcat(-w * (2 * rate[1] + w * r[0]), w * (2 * rate[0] - w * r[1]), 0)
            own = ca.SX(3, n)
            for row, column in enumerate(e):
                own[row, column] = 1
            J, t, bias, g = R @ (shift @ J + own), R @ (shift @ t + rate), R @ (shift @ bias + swing), R[:2, :2] @ g
            if joint:
                J[1 if slides else 2, k] += 1
                t[1 if slides else 2] += v[k]
            Js[link], biases[link], before = J, bias, link
            if link in BLADES:
                e = _elastic(names, link)
                Mj, cj = blade(link, q[e], v[e], t[2], g)
                Jj, bj = ca.vertcat(J, ca.SX.eye(n)[e, :]), ca.vertcat(bias, ca.SX(3, 1))
            else:
                Mj, cj = rigid_link(link, t[2], g)
                Jj, bj = J, bias
            M, c = M + _symmetric(Jj.T @ (Mj @ Jj)), c + Jj.T @ (Mj @ bj + cj)
    for joint, (viscous, coulomb) in FRICTION.items():
        rate = v[names.index(joint)]
        c[names.index(joint)] += viscous * rate + coulomb * rate / ca.sqrt(rate**2 + WIDTH**2)
    return Tree(M, c, Js, biases)


def inverse_model(names: Sequence[str]) -> ca.Function:
    """(q, v, a_active, g) -> (tau, a_elastic), as supple's `inverse_model`."""
    q, v, a, g = (ca.SX.sym(k, n) for k, n in (("q", len(names)), ("v", len(names)), ("a_active", 2), ("g", 3)))
    found = tree(names, q, v, ca.vertcat(g[0], g[2]))
    dependent = [names.index(k) for k in ("q12", "q22", "q25")]
    active = [names.index(k) for k in ("q11", "q21")]
    elastic = [k for name in BLADES for k in _elastic(names, name)]
    own = [*active, *elastic]
    J_loop, b_loop = found.J["15"] - found.J["25"], found.bias["15"] - found.bias["25"]
    inverse = ca.inv(ca.sparsify(J_loop[:, dependent]))
    J, b = ca.SX(len(names), len(own)), ca.SX(len(names), 1)
    J[own, :] = ca.SX.eye(len(own))
    J[dependent, :] = -inverse @ J_loop[:, own]
    b[dependent] = -inverse @ b_loop
    M, c = _symmetric(ca.sparsify(J.T @ found.M @ J)), J.T @ (found.M @ b + found.c)
    D, LT, order = ca.ldl(M[2:, 2:])
    a_elastic = ca.ldl_solve(-(c[2:] + M[2:, :2] @ a), D, LT, order)
    tau = M[:2, :2] @ a + M[:2, 2:] @ a_elastic + c[:2]
    in_order = [elastic.index(k) for k in sorted(elastic)]
    outputs = ca.cse([tau, a_elastic[in_order]])
    return ca.Function("inverse", [q, v, a, g], outputs, ["q", "v", "a_active", "g"], ["tau", "a_elastic"])


def _elastic(names: Sequence[str], blade_name: str) -> list[int]:
    return [names.index(f"{blade_name}.{k}") for k in ("x1", "y1", "rz1")]


def _symmetric(M: ca.SX) -> ca.SX:
    """M with its lower triangle taken from the upper, which saves CasADi a tenth of its operations."""
    return ca.triu2symm(ca.triu(M))


def _turn(angle: ca.SX) -> ca.SX:
    """Twists in the axes of a link turned by `angle`."""
    c, s = ca.cos(angle), ca.sin(angle)
    return _matrix([[c, s, 0], [-s, c, 0], [0, 0, 1]])


def _matrix(rows: Sequence[Sequence[object]]) -> ca.SX:
    return ca.sparsify(ca.vertcat(*(ca.horzcat(*row) for row in rows)))
