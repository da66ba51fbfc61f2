"""The recursion of Briot & Khalil (2014) as printed: Jacobians of all links, their masses summed, loops by the last
coordinates of each leg. Every matrix of sections 3 and 4 is there by its name.

    J_j  twist and elastic rates of link j from v_t (eqs. 14, 17)      M_tot, c_tot  of the virtual tree (eqs. 23-27)
    J_t v_t - J_p t_p = 0 (eq. 30)    v_d = J_d v (eq. 33)    v_tot = J v (eq. 36)    a_tot = J a + b (eq. 40)
    M = E J^T M_tot J E^T,  c = E J^T (M_tot b + c_tot)  (eq. 44), where E puts the actuators first

The dependent coordinates are the last of each leg, taken as active, passive, elastic (section 4.1): as many as its loops
have equations, so that legs stay alike and robots with redundant closures need no special care.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.expr.elimination import solved
from supple.expr.function import Array, Function, function
from supple.expr.node import add, mul
from supple.expr.substitution import estimates, substituted
from supple.expr.vector import cross_matrix, identity, is_zero, matmul, matvec, plus, scale, zeros
from supple.formulations.record import DENSE, Unsupported
from supple.formulations.tree.chains import chains
from supple.formulations.tree.friction import coulomb_friction
from supple.formulations.tree.kinematics import FrameMotion, Kinematics, State, state, typical
from supple.formulations.tree.loops import closure_motion, loop_jacobian
from supple.formulations.tree.observed import deformed
from supple.formulations.tree.recursion import body_wrench, loaded
from supple.robot.mechanism import Mechanism

_ORDER = {"active": 0, "passive": 1, "elastic": 2}
_SINGULAR = 1e-9


def recursion_model(mechanism: Mechanism) -> Function:
    """q v g -> J_t, J_p, J_d, b, E and M, c of the closed robot, actuators first, by the printed sequence of steps."""
    check_size(mechanism)
    s = replace(state(mechanism), a=zeros(mechanism.nv))
    M_tot, c_tot = _tree(mechanism, s)
    still = Kinematics(mechanism, replace(s, g=zeros(3)))
    loops = _loops(still)
    right = matmul(M_tot, loops.J)
    order = actuators_first(mechanism, loops.independent)
    E = zeros(len(order), len(order))
    for row, k in enumerate(order):
        E[row, loops.independent.index(k)] = 1
    M = matmul(E, matmul(matmul(loops.J.T, right), E.T))
    c = matvec(E, matvec(loops.J.T, plus(matvec(M_tot, loops.b), c_tot)))
    outputs = {"J_t": loops.J_t, "J_p": loops.J_p, "J_d": loops.J_d, "b": loops.b, "E": E, "M": _mirrored(M), "c": c}
    return function("recursion", {"q": s.q, "v": s.v, "g": s.g}, {k: x for k, x in outputs.items() if x.size})


def recursion_names(mechanism: Mechanism) -> list[str]:
    """Coordinates of M and c of the recursion, actuators first."""
    dependent = set(last_of_legs(mechanism))
    kept = [k for k in range(mechanism.nv) if k not in dependent]
    return [mechanism.coordinates[k].name for k in actuators_first(mechanism, kept)]


def last_of_legs(mechanism: Mechanism) -> list[int]:
    """Dependent coordinates by the rule of section 4.1: of each leg the last, as many as its loops have equations.

    A coordinate that says nothing new to these equations at the assembly guess is passed over: joints that close loops
    are no coordinates here, so a leg that ends in a hinge has fewer equations than its last node has coordinates."""
    kin = Kinematics(mechanism, state(mechanism))
    J = estimates(loop_jacobian(kin), typical(mechanism, kin.state))
    found: list[int] = []
    for own, rows in _legs(mechanism):
        columns: list[int] = []
        for k in reversed(own):
            tried = J[np.ix_(rows, [*columns, k])]
            if len(columns) < len(rows) and np.linalg.matrix_rank(tried, tol=_SINGULAR * np.abs(J).max()) > len(columns):
                columns.append(k)
        if len(columns) < len(rows):
            raise Unsupported("loops that the last coordinates of the legs do not determine")
        found += columns
    return sorted(found)


def _legs(mechanism: Mechanism) -> list[tuple[list[int], list[int]]]:
    """Of every chain that loops end in: its coordinates as active, passive, elastic, and the rows of these loops."""
    own = [sorted(c.v, key=lambda k: _ORDER.get(mechanism.coordinates[k].kind, -1)) for c in chains(mechanism)]
    home = {j: n for n, chain in enumerate(chains(mechanism)) for j in chain.frames}
    platform, rows, at = mechanism.platform_side(), {n: list[int]() for n in range(len(own))}, 0
    for closure in mechanism.closures:
        ends = [a.frame for a in (closure.second, closure.first) if a.frame in home and a.frame not in platform]
        if not ends:
            raise Unsupported(f"the loop {closure.name!r}, which no leg ends in")
        rows[home[ends[0]]] += range(at, at + len(closure.forbidden))
        at += len(closure.forbidden)
    return [(x, rows[n]) for n, x in enumerate(own) if rows[n]]


def actuators_first(mechanism: Mechanism, kept: list[int]) -> list[int]:
    """The order that E makes of independent coordinates."""
    return sorted(kept, key=lambda k: mechanism.coordinates[k].kind != "active")


# The virtual tree ----------------------------------------------------------------------------------------------------


def link_jacobians(kin: Kinematics) -> list[Array]:
    """J_t of every frame: velocity of its origin and spin in its own axes (6 x nv), link after link (eqs. 10-16)."""
    n = kin.mechanism.nv
    made: list[Array] = []
    for motion in kin.motions:
        frame, m = motion.frame, motion.marker
        before = made[frame.parent] if frame.parent >= 0 else zeros(6, n)
        place = before[:3] - matmul(cross_matrix(m.r), before[3:])
        spin = before[3:].copy()
        if frame.parent >= 0:
            ev = kin.mechanism.frames[frame.parent].ev
            place[:, ev] = place[:, ev] + m.Phi_d
            spin[:, ev] = spin[:, ev] + (m.Phi_r if m.B is None else matmul(m.B, m.Phi_r))
        place, spin = matmul(motion.R.T, place), matmul(motion.R.T, spin)
        if frame.motion == "revolute":
            spin[:, frame.v.start] = spin[:, frame.v.start] + frame.axis
        elif frame.motion == "spherical":
            spin[:, frame.v] = spin[:, frame.v] + identity()
        elif frame.motion == "prismatic":
            place = place - matmul(cross_matrix(motion.slide), spin)
            place[:, frame.v.start] = place[:, frame.v.start] + frame.axis
        made.append(np.concatenate([place, spin]))
    return made


def link_mass(motion: FrameMotion) -> Array | None:
    """M_j of eq. (64), (6 + N) square: of a body as it is bent; None for one without mass."""
    body = motion.frame.body
    if is_zero(body.mass) and is_zero(body.MS_r) and is_zero(body.I_rr):
        return None
    d = deformed(body, motion)
    n = len(body.coordinates)
    M = zeros(6 + n, 6 + n)
    S = cross_matrix(d.MS)
    for k in range(3):
        M[k, k] = body.mass
    M[:3, 3:6], M[3:6, :3], M[3:6, 3:6] = S.T, S, d.inertia
    M[:3, 6:], M[6:, :3], M[3:6, 6:], M[6:, 3:6] = d.MS_de, d.MS_de.T, d.MS_re, d.MS_re.T
    M[6:, 6:] = d.M_ee
    return M


def _tree(mechanism: Mechanism, s: State) -> tuple[Array, Array]:
    """M_tot and c_tot (eqs. 23-27): c of a link with its bias acceleration and weight, which the base's -g brings."""
    kin = Kinematics(mechanism, s)
    M, c = zeros(mechanism.nv, mechanism.nv), coulomb_friction(mechanism, s.v)
    for motion, J_t in zip(kin.motions, link_jacobians(kin), strict=True):
        ev = motion.frame.ev
        own_rates = zeros(ev.stop - ev.start, mechanism.nv)
        for row, k in enumerate(range(ev.start, ev.stop)):
            own_rates[row, k] = 1
        J = np.concatenate([J_t, own_rates])
        c = plus(c, matvec(J.T, np.concatenate(body_wrench(motion))))
        own = link_mass(motion)
        if own is not None:
            M = M + _mirrored(matmul(J.T, matmul(own, J)))
    for k, x in enumerate(mechanism.coordinates):
        M[k, k] = add(M[k, k], x.inertia)
        c[k] = add(c[k], mul(x.viscous, s.v[k]))
    return M, c


def summed_forces(kin: Kinematics) -> Function:
    """q v a g lam w -> f = M a + c - J^T lam - loads of every coordinate, and Coulomb friction: the wrenches of the links
    summed by their Jacobians (eq. 23), instead of handed down from link to link."""
    mechanism = kin.mechanism
    balance, given = loaded(kin)
    f = zeros(mechanism.nv)
    for index, J in enumerate(link_jacobians(kin)):
        ev = mechanism.frames[index].ev
        f = plus(f, matvec(J.T, np.concatenate([balance.force[index], balance.moment[index]])))
        f[ev] = plus(f[ev], balance.elastic[index])
    for k, c in enumerate(mechanism.coordinates):
        f[k] = add(f[k], add(mul(c.inertia, kin.state.a[k]), mul(c.viscous, kin.state.v[k])))
    return function("forces", given, {"f": f, "coulomb": coulomb_friction(mechanism, kin.state.v)})


@dataclass(frozen=True)
class Closed:
    """M a + c = tau of the closed robot in its independent coordinates, actuators first (eq. 44), and v = J v_i, a = J a_i
    + b of all coordinates."""

    state: State
    order: list[int]  # the independent coordinates
    M: Array
    c: Array
    J: Array
    b: Array
    w: Array | None  # wrenches at the named points, if asked for


def closed(mechanism: Mechanism, loads: bool = False) -> Closed:
    """The Closed of a mechanism by the printed steps."""
    check_size(mechanism)
    s = replace(state(mechanism), a=zeros(mechanism.nv))
    M_tot, _ = _tree(mechanism, s)
    f = summed_forces(Kinematics(mechanism, s))
    w = f.inputs["w"]
    still = dict.fromkeys(f.inputs["lam"].ravel(), 0) | ({} if loads else dict.fromkeys(w.ravel(), 0))
    c_tot = substituted(plus(f.outputs["f"], f.outputs["coulomb"]), still)
    loops = _loops(Kinematics(mechanism, replace(s, g=zeros(3))))
    order = actuators_first(mechanism, loops.independent)
    J = loops.J[:, [loops.independent.index(k) for k in order]]
    M = _mirrored(matmul(J.T, matmul(M_tot, J)))
    return Closed(s, order, M, matvec(J.T, plus(matvec(M_tot, loops.b), c_tot)), J, loops.b, w if loads else None)


def check_size(mechanism: Mechanism) -> None:
    if mechanism.nv > DENSE:
        raise Unsupported(f"{mechanism.nv} coordinates, more than the {DENSE} that dense matrices are written for")


def _mirrored(M: Array) -> Array:
    """A symmetric matrix, what is below the diagonal taken from above it."""
    made = M.copy()
    for i in range(len(M)):
        made[i + 1 :, i] = M[i, i + 1 :]
    return made


# The loops -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Loops:
    independent: list[int]
    J_t: Array
    J_p: Array
    J_d: Array
    J: Array
    b: Array


def _loops(kin: Kinematics) -> _Loops:
    """Eqs. (30) to (40); b_d = -(J_t^f)^-1 b*, whose sign eq. (39) lost."""
    mechanism = kin.mechanism
    J_tot, b_star = loop_jacobian(kin), closure_motion(kin).outputs["acceleration"]
    platform = mechanism.indices("platform")
    legs = [k for k in range(mechanism.nv) if k not in set(platform)]
    dependent = last_of_legs(mechanism)
    free = [k for k in range(mechanism.nv) if k not in set(dependent)]
    J, b, J_d = zeros(mechanism.nv, len(free)), zeros(mechanism.nv), zeros(0, len(free))
    for n, k in enumerate(free):
        J[k, n] = 1
    if dependent:
        sample = typical(mechanism, kin.state)
        right = np.concatenate([J_tot[:, free], b_star[:, None]], axis=1)
        try:
            found = solved(J_tot[:, dependent], right, sample)
        except ZeroDivisionError as reason:
            raise Unsupported("loops that the last coordinates of the legs do not determine") from reason
        J_d = np.array([scale(-1, row) for row in found[:, :-1]], dtype=object)
        J[dependent], b[dependent] = J_d, scale(-1, found[:, -1])
    J_p = np.array([scale(-1, row) for row in J_tot[:, platform]], dtype=object).reshape(len(J_tot), len(platform))
    return _Loops(free, J_tot[:, legs], J_p, J_d, J, b)
