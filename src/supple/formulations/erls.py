"""Equivalent rigid-link system by Lagrange's equations (Rognant, Courteille & Maurine 2010).

The kinetic energy is sorted by powers of the elastic variables, T = T0 + T1 + T2. The paper neglects second-order terms in
the equations of the joints. That costs the mass matrix its positive definiteness and the motion its energy balance, so
here they are kept; `printed` neglects them as the paper's appendix does. See docs/erls.md.

The operators U_k, Lambda_k, V_kl and Omega_kl of eq. (26) come contracted with the rates (sum_k U_k q'_k = T', and so on);
`rigid_links/operators.py` gives them one by one.
"""

from __future__ import annotations

from supple.expr.derivative import pull_back, push_forward
from supple.expr.function import Array
from supple.expr.node import HALF, Scalar, add, mul, sub
from supple.expr.vector import cross, cross_matrix, dot, is_zero, matmul, matvec, plus, vector
from supple.formulations.record import DENSE, Equations, Formulation
from supple.formulations.rigid_links.equations import link_equations, shortening_energy, weight_energy
from supple.formulations.rigid_links.link_system import LinkMotion, LinkSystem
from supple.formulations.rigid_links.moments import Moments, contract, moments
from supple.formulations.tree.kinematics import State, state
from supple.formulations.tree.lagrangian import lagrange_terms
from supple.formulations.tree.models import equation_models
from supple.formulations.tree.saddle import saddle_models
from supple.robot.mechanism import Mechanism

Energies = tuple[Scalar, Scalar, Scalar]  # T0, T1, T2


def erls(mechanism: Mechanism, *, printed: bool = False) -> Equations:
    """The Equations of a mechanism by Lagrange's equations of its equivalent rigid-link system.

    printed: neglect what is of second order in the elastic variables in the rows of the joints, as eqs. (37)-(49) do."""
    s = state(mechanism)
    links = LinkSystem(mechanism, s)
    elastic = [c.kind == "elastic" for c in mechanism.coordinates]
    rigid = vector(*(0 if e else x for e, x in zip(elastic, s.v, strict=True)))
    gliding = LinkSystem(mechanism, State(s.q, rigid, s.a, s.g))  # bent, but not bending
    low: Scalar = 0
    high: Scalar = 0
    kinetic: list[Scalar] = []
    for index, (frame, link, glide) in enumerate(zip(mechanism.frames, links.motions, gliding.motions, strict=True)):
        body = moments(frame.body)
        if body is None:
            kinetic.append(0)
            continue
        T0, T1, T2 = _energies(body, link)
        low = add(low, sub(add(T0, T1), weight_energy(links, index, body)))
        high = add(high, T2)
        kinetic.append(sub(add(T0, add(T1, T2)), _energies(body, glide)[2] if printed else 0))
    rows = _first_order(links, elastic, low, high) if printed else lagrange_terms(links, add(low, high))
    return link_equations(FORMULATION, links, rows, kinetic)


def _first_order(links: LinkSystem, elastic: list[bool], low: Scalar, high: Scalar) -> Array:
    """Lagrange's equations of `low` for all coordinates, of `high` for elastic ones; joints see only the accelerations u''
    of `high`, which make the mass matrix symmetric."""
    s = links.state
    bending = {v: a for v, a, e in zip(s.v, s.a, elastic, strict=True) if e}
    coupling = push_forward(pull_back(vector(high), vector(1), s.v), bending)
    complete = lagrange_terms(links, high)
    kept = vector(*(x if e else y for e, x, y in zip(elastic, complete, coupling, strict=True)))
    return plus(lagrange_terms(links, low), kept)


def _energies(body: Moments, link: LinkMotion) -> Energies:
    """Kinetic energy of a link, of order 0, 1 and 2 in d, phi, e and their rates."""
    e, ed, w = link.e, link.ed, link.inside(link.spin)
    phi, psi = link.inside(link.phi.x), link.inside(link.phi.rate)
    V0, V1 = link.inside(link.o.rate), link.inside(link.d.rate)
    W0 = cross_matrix(w)
    W1 = cross_matrix(psi) + matmul(cross_matrix(phi), W0)
    bent = matmul(W0, body.first(e).T) + body.first(ed).T  # int (w x Phi e + Phi ed) r0^T
    drift = plus(matvec(W1, body.s0), cross(w, matvec(body.s, e)), matvec(body.s, ed))
    T0 = add(mul(HALF, mul(body.mass, dot(V0, V0))), dot(V0, matvec(W0, body.s0)))
    T0 = add(T0, mul(HALF, contract(W0, matmul(W0, body.S0))))
    swing = matvec(body.rotary, ed)
    T1 = add(mul(body.mass, dot(V0, V1)), add(dot(V1, matvec(W0, body.s0)), dot(V0, drift)))
    T1 = add(T1, add(contract(W0, matmul(W1, body.S0) + bent), dot(w, swing)))
    T2 = add(mul(HALF, mul(body.mass, dot(V1, V1))), dot(V1, drift))
    T2 = add(T2, add(contract(W1, matmul(W1, body.S0) * HALF + bent), dot(psi, swing)))
    T2 = add(T2, contract(W0, matmul(W0, body.second(e, e)) * HALF))
    T2 = add(T2, contract(W0.T, body.second(e, ed)))
    T2 = add(T2, shortening_energy(body, link))
    return T0, T1, add(T2, mul(HALF, dot(ed, matvec(body.M, ed))) if not is_zero(ed) else 0)


FORMULATION = Formulation(
    name="erls",
    about="equivalent rigid links by Lagrange's equations",
    derive=erls,
    couple="independent",
    expected="order 1",
    models=saddle_models(erls) | equation_models(erls),
    largest=DENSE,
    linear_places=True,
)
