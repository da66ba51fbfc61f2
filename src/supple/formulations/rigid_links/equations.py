"""What the two ERLS formulations share beyond their kinematics: loops, points, loads, energies, and the record of it all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.expr.derivative import pull_back, push_forward
from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import HALF, Expr, Scalar, add, mul
from supple.expr.vector import cross, cross_matrix, dot, is_zero, matmul, matvec, minus, plus, scale, vector, zeros
from supple.formulations.record import Equations, Formulation
from supple.formulations.rigid_links.link_system import LinkMotion, LinkSystem
from supple.formulations.rigid_links.moments import Moments, contract, moments
from supple.formulations.tree.equations import tangents
from supple.formulations.tree.friction import coulomb_friction
from supple.formulations.tree.kinematics import inputs, small_rotation
from supple.formulations.tree.lagrangian import along_velocities
from supple.formulations.tree.loops import closure_rows
from supple.formulations.tree.observed import along, displacement, outline_function
from supple.formulations.tree.strain import elastic_energy, elastic_forces, lost_power
from supple.robot.mechanism import Anchor


def link_equations(
    formulation: Formulation, links: LinkSystem, inertial: Array, kinetic: Sequence[Scalar]
) -> Equations:  # fmt: skip
    """The Equations of a mechanism from its inertial and weight forces and the kinetic energy of every frame."""
    mechanism, s = links.mechanism, links.state
    direction, closure = symbols("d", mechanism.nv), _closure(links)
    forces = _forces(links, inertial, closure)
    makes = {
        **tangents(mechanism, forces, direction),
        **along(mechanism, s.q, direction, lambda: closure, lambda: _outline(links)),
        "closure_motion": lambda: _closure_motion(links, closure),
        "points": lambda: _points(links),
        "energy": lambda: _energy(links, kinetic),
    }
    return Equations(formulation.name, mechanism, makes, formulation.couple)


def in_time(links: LinkSystem) -> dict[Expr, Scalar]:
    """How the symbols of q and v change with time."""
    s = links.state
    moves = dict(zip(s.q, displacement(links.mechanism, s.q, s.v), strict=True)) | dict(zip(s.v, s.a, strict=True))
    return {x: dx for x, dx in moves.items() if not is_zero(dx)}


def _forces(links: LinkSystem, inertial: Array, closure: Function) -> Function:
    mechanism, s = links.mechanism, links.state
    lam, w = symbols("lam", mechanism.equations), symbols("w", (len(mechanism.points), 6))
    f = inertial.copy()
    for motion in links.motions:
        frame = motion.frame
        if frame is not None and frame.body.flexible:
            f[frame.ev] = plus(f[frame.ev], elastic_forces(frame.body, motion.e, motion.ed))
    for k, c in enumerate(mechanism.coordinates):
        f[k] = add(f[k], add(mul(c.inertia, s.a[k]), mul(c.viscous, s.v[k])))
    reactions = pull_back(closure.outputs["residual"], lam, s.q)
    f = minus(f, along_velocities(mechanism, s.q, reactions))
    f = minus(f, pull_back(vector(_load_power(links, w)), vector(1), s.v))
    return function("forces", {**inputs(s), "lam": lam, "w": w}, {"f": f, "coulomb": coulomb_friction(mechanism, s.v)})


# Loops ---------------------------------------------------------------------------------------------------------------


def _closure(links: LinkSystem) -> Function:
    residual: list[Scalar] = []
    alignment = []
    for closure in links.mechanism.closures:
        R, d = links.relative(closure.first, closure.second, closure.slides)
        rows, upright = closure_rows(closure, R, d)
        residual += rows
        alignment.append(upright)
    return function("closure", {"q": links.state.q}, {"residual": residual, "alignment": alignment})


def _closure_motion(links: LinkSystem, closure: Function) -> Function:
    """First and second time derivative of the residuals: J is their gradient."""
    moves = in_time(links)
    velocity = push_forward(closure.outputs["residual"], moves)
    outputs = {"velocity": velocity, "acceleration": push_forward(velocity, moves)}
    return function("closure_motion", inputs(links.state), outputs)


# Points and loads ----------------------------------------------------------------------------------------------------


def _points(links: LinkSystem) -> Function:
    out: dict[str, list[Array]] = {"position": [], "rotation": [], "velocity": [], "acceleration": [], "spin": []}
    for anchor in links.mechanism.points.values():
        at = links.section(anchor)
        E, _, turning, _ = small_rotation(at.phi.x, at.phi.rate)  # a finite turn: rotations must be rotations
        place = at.o + at.d
        out["position"].append(place.x)
        out["rotation"].append(matmul(E, at.R))
        out["velocity"].append(place.rate)
        out["acceleration"].append(place.second)
        out["spin"].append(plus(turning, matvec(E, at.spin)))
    n = len(links.mechanism.points)
    arrays = {k: np.array(v, dtype=object).reshape(n, *((3, 3) if k == "rotation" else (3,))) for k, v in out.items()}
    return function("points", inputs(links.state), arrays)


def _load_power(links: LinkSystem, w: Array) -> Scalar:
    """Power of the wrenches at the named points."""
    points = _points(links).outputs
    total: Scalar = 0
    for wrench, velocity, spin in zip(w, points["velocity"], points["spin"], strict=True):
        total = add(total, add(dot(wrench[:3], velocity), dot(wrench[3:], spin)))
    return total


def _outline(links: LinkSystem) -> Function:
    def place(anchor: Anchor) -> Array:
        at = links.section(anchor)
        return (at.o + at.d).x

    def foot(index: int) -> Array:
        frame = links.mechanism.frames[index]
        at = links.section(Anchor(frame.parent, frame.marker))
        return (at.o + at.d).x

    return outline_function(links.mechanism, links.state.q, links.drawn, foot, place)


# Energies ------------------------------------------------------------------------------------------------------------


def shortening_energy(body: Moments, link: LinkMotion) -> Scalar:
    """Kinetic energy of the velocities of second order, w x u + u', with those of the rigid link, V + w x r, and of the
    shapes."""
    (s, J), (sd, Jd) = body.shortened(link.e), body.shortening(link.e, link.ed)
    w, V = link.inside(link.spin), link.inside(link.o.rate)
    W = cross_matrix(w)
    rigid = add(dot(V, plus(cross(w, s), sd)), contract(W, matmul(W, J.T) + Jd.T))
    return add(rigid, body.shortening_with_shapes(link.e, link.ed))


def weight_energy(links: LinkSystem, index: int, body: Moments) -> Scalar:
    """Energy of a link in the field of gravity: linear in its displacements."""
    link = links.motion(index)
    arm = matvec(link.R, body.s0)
    place = plus(
        scale(body.mass, plus(link.o.x, link.d.x)), arm, cross(link.phi.x, arm), matvec(link.R, matvec(body.s, link.e))
    )
    return add(mul(-1, dot(links.state.g, place)), shortening_weight(links, index, body))


def shortening_weight(links: LinkSystem, index: int, body: Moments) -> Scalar:
    """Energy of the displacements of second order in the field of gravity."""
    link = links.motion(index)
    return mul(-1, dot(links.state.g, matvec(link.R, body.shortened(link.e)[0])))


def _energy(links: LinkSystem, kinetic: Sequence[Scalar]) -> Function:
    mechanism, s = links.mechanism, links.state
    elastic: list[Scalar] = []
    gravity: list[Scalar] = []
    lost, motors = zeros(2)
    for index, (link, frame) in enumerate(zip(links.motions, mechanism.frames, strict=True)):
        body = frame.body
        own = moments(body)
        gravity.append(0 if own is None else weight_energy(links, index, own))
        elastic.append(elastic_energy(body, link.e) if body.flexible else 0)
        if body.flexible:
            lost = add(lost, lost_power(body, link.e, link.ed))
    coulomb = coulomb_friction(mechanism, s.v)
    for k, c in enumerate(mechanism.coordinates):
        motors = add(motors, mul(HALF, mul(c.inertia, mul(s.v[k], s.v[k]))))
        lost = add(lost, mul(s.v[k], add(mul(c.viscous, s.v[k]), coulomb[k])))
    outputs = {"kinetic": kinetic, "elastic": elastic, "gravity": gravity, "motors": motors, "dissipation": lost}
    return function("energy", inputs(s), outputs)
