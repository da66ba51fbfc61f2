"""Equivalent rigid-link system with compatible joints (Vidoni, Gasparetto, Boscariol & Giovagnoni 2012).

Virtual work of every link on virtual motions of the ERLS (their global equilibrium) and virtual elastic displacements (local
nodal equilibrium), both with the whole of eqs. (8) and (13). In link axes, with c = o + d the displaced origin:

    velocity      V + W r + w x Phi e + Phi ed,              W = [w] + [psi] + [phi][w]
    acceleration  A + B r + C Phi e + 2 w x Phi ed + Phi edd,  C = [al] + [w]^2,
                  B = C + [chi] + 2 [psi][w] + [phi] C

psi and chi are the first and second rate of phi, [x] is the cross product matrix. C is the paper's R^T R'', w x its R^T R'.
Rotary inertia of sections and the shortening of bent beams, which the paper has not, come in by their energies.
Joints are compatible from the start (`rigid_links/link_system.py`); docs/erls_compatible.md: what goes beyond the print.
"""

from __future__ import annotations

from dataclasses import dataclass

from supple.expr.derivative import pull_back
from supple.expr.function import Array, symbols
from supple.expr.node import HALF, Scalar, add, mul, sub
from supple.expr.vector import cross, cross_matrix, dot, matmul, matvec, minus, plus, scale, vector
from supple.formulations.record import DENSE, Equations, Formulation
from supple.formulations.rigid_links.equations import link_equations, shortening_energy, shortening_weight
from supple.formulations.rigid_links.link_system import LinkMotion, LinkSystem
from supple.formulations.rigid_links.moments import Moments, contract, moments
from supple.formulations.rigid_links.named_matrices import named_matrices
from supple.formulations.tree.kinematics import State, state
from supple.formulations.tree.lagrangian import lagrange_terms
from supple.formulations.tree.models import equation_models
from supple.formulations.tree.saddle import saddle_models
from supple.robot.mechanism import Mechanism


def erls_compatible(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism by virtual work on its equivalent rigid-link system."""
    s = state(mechanism)
    links = LinkSystem(mechanism, s)
    virtual = symbols("virtual", mechanism.nv)
    tried = LinkSystem(mechanism, State(s.q, virtual, s.a, s.g))
    power: Scalar = 0
    beyond: Scalar = 0  # energies of what the paper has not
    kinetic: list[Scalar] = []
    for index, (frame, link, trial) in enumerate(zip(mechanism.frames, links.motions, tried.motions, strict=True)):
        body = moments(frame.body)
        if body is None:
            kinetic.append(0)
            continue
        moving, shaken = Velocity(link), Velocity(trial)
        power = add(power, _virtual_power(body, link, moving, shaken, s.g))
        own = add(rotary_energy(body, link, moving), shortening_energy(body, link))
        beyond = add(beyond, sub(own, shortening_weight(links, index, body)))
        kinetic.append(add(_kinetic(body, link, moving), own))
    inertial = plus(pull_back(vector(power), vector(1), virtual), lagrange_terms(links, beyond))
    return link_equations(FORMULATION, links, inertial, kinetic)


class Velocity:
    """Velocity of a link's points in its axes: V + W r + w x Phi e + Phi ed."""

    def __init__(self, link: LinkMotion) -> None:
        self.V = link.inside(plus(link.o.rate, link.d.rate))
        self.w = link.inside(link.spin)
        self.phi, self.psi = link.inside(link.phi.x), link.inside(link.phi.rate)
        self.W = cross_matrix(self.w) + cross_matrix(self.psi) + matmul(cross_matrix(self.phi), cross_matrix(self.w))
        self.e, self.ed = link.e, link.ed


@dataclass(frozen=True)
class Integrals:
    """Acceleration of a link's points, integrated over its mass: itself, and its dyads with r0 and with Phi e."""

    total: Array
    with_place: Array  # int p'' r0^T
    with_bend: Array  # int p'' (Phi e)^T
    with_shapes: Array  # int phi_k . p''


def _virtual_power(body: Moments, link: LinkMotion, moving: Velocity, trial: Velocity, g: Array) -> Scalar:
    """int (virtual velocity) . (acceleration - gravity) dm."""
    a = _accelerated(body, link, moving, g)
    bend = vector(*(a.with_bend[i, j] - a.with_bend[j, i] for i, j in ((2, 1), (0, 2), (1, 0))))  # int Phi e x p''
    power = add(dot(trial.V, a.total), contract(trial.W, a.with_place))
    return add(power, add(dot(trial.w, bend), dot(trial.ed, a.with_shapes)))


def _accelerated(body: Moments, link: LinkMotion, moving: Velocity, g: Array) -> Integrals:
    A = link.inside(minus(plus(link.o.second, link.d.second), g))
    w, e, ed, edd = cross_matrix(moving.w), link.e, link.ed, link.edd
    C = cross_matrix(link.inside(link.spin_rate)) + matmul(w, w)
    chi, two_psi = cross_matrix(link.inside(link.phi.second)), cross_matrix(scale(2, moving.psi))
    B = C + chi + matmul(two_psi, w) + matmul(cross_matrix(moving.phi), C)
    w2 = cross_matrix(scale(2, moving.w))
    J = body.first

    def s(x: Array) -> Array:
        return matvec(body.s, x)

    total = plus(scale(body.mass, A), matvec(B, body.s0), matvec(C, s(e)), matvec(w2, s(ed)), s(edd))
    place = outer(A, body.s0) + matmul(B, body.S0) + matmul(C, J(e).T) + matmul(w2, J(ed).T) + J(edd).T
    bend = outer(A, s(e)) + matmul(B, J(e)) + matmul(C, body.second(e, e))
    bend = bend + matmul(w2, body.second(ed, e)) + body.second(edd, e)
    shapes = matvec(body.s.T, A)
    for k in range(len(e)):
        shapes[k] = add(shapes[k], add(contract(B.T, body.J[k]), dot(body.M[k], edd)))
        for i in range(len(e)):
            shapes[k] = add(shapes[k], mul(e[i], contract(C.T, body.E[i, k])))
            shapes[k] = add(shapes[k], mul(ed[i], contract(w2.T, body.E[i, k])))
    return Integrals(total, place, bend, shapes)


def outer(a: Array, b: Array) -> Array:
    return matmul(a[:, None], b[None, :])


def _kinetic(body: Moments, link: LinkMotion, at: Velocity) -> Scalar:
    """Half the integral of the squared velocity: exact for displacements linear in the elastic coordinates."""
    w, e, ed = cross_matrix(at.w), link.e, link.ed
    V, W = at.V, at.W
    rest = plus(matvec(W, body.s0), cross(at.w, matvec(body.s, e)), matvec(body.s, ed))
    bent = matmul(w, body.first(e).T) + body.first(ed).T
    T = add(mul(HALF, mul(body.mass, dot(V, V))), dot(V, rest))
    T = add(T, contract(W, matmul(W, body.S0) * HALF + bent))
    T = add(T, contract(w, matmul(w, body.second(e, e)) * HALF))
    return add(T, add(contract(w.T, body.second(e, ed)), mul(HALF, dot(ed, matvec(body.M, ed)))))


def rotary_energy(body: Moments, link: LinkMotion, at: Velocity) -> Scalar:
    """Coupling of a link's spin, in its turned axes, with the rotary inertia of its bending sections.

    With axes E R, E = 1 + [phi], the spin is E w + phi' in base axes and w + E^T phi' in its own: psi, the rate of phi in
    base axes, holds w x phi already."""
    spin = plus(at.w, at.psi)
    return dot(spin, matvec(body.rotary, link.ed))


FORMULATION = Formulation(
    name="erls_compatible",
    about="equivalent rigid links with compatible joints, by virtual work",
    derive=erls_compatible,
    couple="projection",
    expected="order 1",
    models=saddle_models(erls_compatible) | equation_models(erls_compatible) | {"named_matrices": named_matrices},
    largest=DENSE,
    linear_places=True,
)
