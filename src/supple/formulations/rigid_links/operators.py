"""The operators of Rognant, Courteille & Maurine (2010), eqs. (18) and (26), one by one, for inspection and for checks.

A point r of link i is at T_i (r + N A_i u): T_i is the homogeneous matrix of the rigid link, A_i u the displacement (3),
turn (3) and shape of the real one in link axes, as a function of all elastic coordinates u. Along joint coordinates k, l

    U_k = dT/dq_k    V_kl = dU_k/dq_l    Lambda_k = dA/dq_k    Omega_kl = dLambda_k/dq_l
"""

from __future__ import annotations

import numpy as np

from supple.expr.derivative import jacobian
from supple.expr.function import Array, Function, function
from supple.expr.vector import zeros
from supple.formulations.rigid_links.link_system import LinkMotion, LinkSystem
from supple.formulations.tree.kinematics import state
from supple.robot.mechanism import Mechanism


def operators(mechanism: Mechanism) -> Function:
    """q -> T0, U0, V0, A0, Lambda0, Omega0, T1, ...: the operators of every frame, in this order of their axes:

    U[k, 4, 4], V[k, l, 4, 4], Lambda[k, 6 + n, u], Omega[k, l, 6 + n, u] with n the frame's own elastic coordinates."""
    if any(frame.motion == "spherical" for frame in mechanism.frames):
        raise ValueError("operators need one coordinate per joint; a spherical joint has a quaternion")
    s = state(mechanism)
    links = LinkSystem(mechanism, s)
    joints = s.q[[i for i, c in enumerate(mechanism.coordinates) if c.kind != "elastic"]]
    elastic = s.q[mechanism.indices("elastic")]
    outputs: dict[str, Array] = {}
    for index, link in enumerate(links.motions):
        T, A = _homogeneous(link), jacobian(_displacement(link), elastic)
        U, Lambda = _along(T, joints), _along(A, joints)
        outputs |= {f"T{index}": T, f"U{index}": U, f"V{index}": np.stack([_along(x, joints) for x in U])}
        outputs |= {f"A{index}": A, f"Lambda{index}": Lambda}
        outputs |= {f"Omega{index}": np.stack([_along(x, joints) for x in Lambda])}
    return function("operators", {"q": s.q}, outputs)


def _homogeneous(link: LinkMotion) -> Array:
    T = zeros(4, 4)
    T[:3, :3], T[:3, 3], T[3, 3] = link.R, link.o.x, 1
    return T


def _displacement(link: LinkMotion) -> Array:
    return np.concatenate([link.inside(link.d.x), link.inside(link.phi.x), link.e])


def _along(x: Array, coordinates: Array) -> Array:
    """Derivatives of an array, one per coordinate in front."""
    made = jacobian(x.ravel(), coordinates)
    return np.moveaxis(made.reshape(*x.shape, len(coordinates)), -1, 0)
