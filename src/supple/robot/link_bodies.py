"""The bodies that links carry: named or written in place, whole or cut into segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import SuppleError
from supple.robot import description as spec
from supple.robot.bodies.beam import beam_body, beam_marker
from supple.robot.bodies.beam_element import BeamSpec
from supple.robot.bodies.damping import damped
from supple.robot.bodies.record import Array, Body, Marker, eye, is_zero, moved, moved_marker, zeros
from supple.robot.bodies.rigid import rigid_body
from supple.robot.bodies.section import CrossSection, cross_section
from supple.robot.bodies.shortening import section_shortening
from supple.robot.entries import EntryError, resolved
from supple.robot.geometry import beam_frame, direction, point
from supple.robot.physical import MOMENTS
from supple.robot.quantity import is_number
from supple.robot.reader import Description

if TYPE_CHECKING:  # plates and finite elements take long to load and few robots have them
    from supple.robot.flexible_bodies import FlexibleBodies, Shape

_LARGEST = 1e20  # of a mass, an inertia or a stiffness, in SI units


@dataclass(frozen=True)
class Piece:
    """A stretch of a link: its Body in the stretch's frame, and where its beam lies in that frame."""

    body: Body
    beam: BeamSpec | None = None
    R: Array = field(default_factory=eye)
    p: Array = field(default_factory=lambda: zeros(3))
    V: Array | None = None  # a reduced beam's nodal coordinates from its own
    shape: Shape | None = None  # of a finite-element body: where things may sit on it

    def section(self, fraction: Any) -> Marker:
        """The beam's section at a fraction of its length, in the stretch's frame and axes."""
        assert self.beam is not None
        marker = beam_marker(self.beam, fraction)
        if self.V is not None:
            drawn_back = section_shortening(self.beam, fraction)
            shortening = tuple(replace(s, G=_congruent(s.G, self.V)) for s in drawn_back)
            Phi_d, Phi_r = _product(marker.Phi_d, self.V), _product(marker.Phi_r, self.V)
            marker = replace(marker, Phi_d=Phi_d, Phi_r=Phi_r, shortening=shortening)
        return replace(moved_marker(marker, self.R, self.p), rotation=eye())


class LinkBodies:
    """Makes the pieces of links from the bodies, materials and sections of a robot file."""

    def __init__(self, description: Description, rigid: bool) -> None:
        self.rigid = rigid
        self.planar = description.robot.space == "planar"
        self.shortens = description.robot.stiffening == "second_order"
        self.plane = description.robot.plane
        self.bodies: Mapping[str, spec.Body] = resolved(description, "bodies")
        self.materials: Mapping[str, spec.Material] = resolved(description, "materials")
        self.sections: Mapping[str, spec.Section] = resolved(description, "sections")
        self.damping: spec.Damping | None = resolved(description, "damping")
        self.files = (description.folder, description.outside)
        self.made: dict[Any, list[Piece]] = {}  # of named bodies, which legs share

    @cached_property
    def flexible(self) -> FlexibleBodies:
        from supple.robot.flexible_bodies import FlexibleBodies

        folder, outside = self.files
        return FlexibleBodies(self.materials, self.sections, folder, self.rigid, self.shortens, outside)

    def pieces(self, given: str | spec.Body | None, normal: Array, floating: bool = False) -> list[Piece]:
        """The pieces of a link: one, or one per segment of a segmented beam. A platform's body is `floating`."""
        if given is None:
            return [Piece(Body())]
        if not isinstance(given, str):
            return self.body_pieces(given, normal, floating)
        key = (given, floating, *normal)
        if key not in self.made:
            self.made[key] = self.body_pieces(self.bodies[given], normal, floating)
        return self.made[key]

    def body_pieces(self, body: spec.Body, normal: Array, floating: bool) -> list[Piece]:
        if body.rigid is not None:
            if self.planar:
                _check_turning(body.rigid, normal, self.plane)
            return [Piece(_checked(rigid_body(body.rigid)))]
        if body.plate is not None or body.fe is not None:
            return [self.flexible_piece(body, floating)]
        assert body.beam is not None
        return self.beam_pieces(body.beam, normal)

    def flexible_piece(self, body: spec.Body, floating: bool) -> Piece:
        if self.planar:
            raise EntryError("plates and finite elements need a spatial robot; write space: spatial")
        try:
            made, shape = self.flexible.body(body, floating)
        except SuppleError as error:
            raise EntryError(str(error)) from error
        own = body.plate or body.fe
        assert own is not None
        return Piece(damped(_checked(made), own.damping or self.damping), shape=shape)

    def beam_pieces(self, beam: spec.Beam, normal: Array) -> list[Piece]:
        material = self.materials[beam.material]
        section = cross_section(self.sections[beam.section], material.nu)
        G = material.G if material.G is not None else material.E / (2 * (1 + material.nu))
        x = direction(beam.axis)
        R = beam_frame(x, self.up(beam, x, normal))
        segments = 1 if self.rigid else int(beam.segments)
        length = beam.length if segments == 1 else beam.length * Fraction(1, segments)
        elements = 0 if self.rigid else int(beam.elements)
        shear = beam.theory == "timoshenko"
        made = BeamSpec(
            length, section, material.E, G, material.rho, elements, self.planar, shear, self.shortens, material.limit
        )  # fmt: skip
        _check_slender(made, beam.length)
        whole, V = _checked(beam_body(made)), None
        if beam.reduction is not None and elements:
            whole, V = self.reduced_beam(made, whole, beam.reduction)
        unit = None if shear or V is not None else lambda: beam_body(_unit(made))
        body = damped(whole, beam.damping or self.damping, unit)
        start = point(beam.start)
        first = Piece(moved(body, R, start), made, R, start, V)
        if segments == 1:
            return [first]
        rest = Piece(moved(body, R, zeros(3)), made, R, zeros(3), V)
        return [first] + [rest] * (segments - 1)

    def reduced_beam(self, made: BeamSpec, whole: Body, given: Any) -> tuple[Body, Array]:
        from supple.robot.bodies.reduced_beam import reduced_beam
        from supple.robot.flexible_bodies import reduction_of

        try:
            return reduced_beam(made, whole, *reduction_of(given))
        except SuppleError as error:
            raise EntryError(f"reduction: {error}") from error

    def up(self, beam: spec.Beam, x: Array, normal: Array) -> Array:
        if self.planar:
            if abs(float(x @ normal)) > 1e-9:
                raise EntryError(f"the beam's axis leaves the plane {self.plane}")
            return normal
        if beam.up is not None:
            return direction(beam.up)
        return direction("z" if abs(float(x[2])) < 1 - 1e-9 else "x")


def _product(Phi: Array, V: Array) -> Array:
    from supple.robot.finite_elements.model import cleaned

    found = Phi.astype(float) @ V
    return cleaned(found, np.abs(found).max(axis=1, initial=0.0)[:, None])


def _congruent(G: Array, V: Array) -> Array:
    from supple.robot.finite_elements.model import cleaned

    made = V.T @ G.astype(float) @ V
    return cleaned((made + made.T) / 2, np.abs(made).max(initial=0.0))


def _check_slender(made: BeamSpec, length: Any) -> None:
    """Refuses a beam of moments of inertia that no body has: sections that tilt have none in Euler and Bernoulli's theory,
    so that of a beam shorter than they are deep is above the sum of the others when it rolls."""
    s = made.section
    if made.planar or made.shear or not all(is_number(x) for x in (length, s.area, s.polar)):
        return
    least = (6 * float(s.polar) / float(s.area)) ** 0.5
    if float(length) < least:
        raise EntryError(
            f"its length of {float(length):.3g} m is below {least:.3g} m: shorter than its section is deep (about "
            f"{least * (4 / 3) ** 0.5:.3g} m; are its units right?), so that Euler and Bernoulli's theory gives it an "
            "inertia that no body has; take theory: timoshenko, or a rigid body"
        )


def _checked(body: Body) -> Body:
    """The body, if all its numbers are ones that a machine can compute with."""
    numbers: list[Any] = [body.mass]
    for part in (body.MS_r, body.I_rr, body.M_ee, body.K_ee):
        numbers += list(part.ravel())
    for number in numbers:
        if is_number(number) and not abs(number) <= _LARGEST:
            raise EntryError("its mass, inertia or stiffness is out of range; check its sizes and units")
    return body


def _check_turning(rigid: spec.Rigid, normal: Array, plane: str) -> None:
    """Refuses inertia of a planar robot's body that is written for other axes than the one it turns about."""
    inertia = rigid.inertia or rigid.inertia_at_origin
    along = [k for k in range(3) if abs(abs(float(normal[k])) - 1) < 1e-9]
    if inertia is None or rigid.unphysical is not None or not along:
        return
    moments = np.diagonal(inertia.matrix())
    if is_zero(moments[along[0]]) and not is_zero(moments):
        own = MOMENTS[along[0]]
        raise EntryError(f"its inertia has no {own}, about which alone a body turns in the plane {plane} here; give {own}")


def flexible_bodies(description: Description) -> dict[str, tuple[Body, dict[str, Marker]]]:
    """Named plates, finite-element bodies and reduced beams of a robot file, with the markers of their attachments."""
    platform: spec.Platform | None = description.robot.platform
    made: dict[str, tuple[Body, dict[str, Marker]]] = {}
    link_bodies = LinkBodies(description, rigid=False)
    normal = direction({"xy": "z", "xz": "-y", "yz": "x"}[description.robot.plane]) if link_bodies.planar else zeros(3)
    for name, body in link_bodies.bodies.items():
        beam = body.beam is not None and body.beam.reduction is not None
        if not beam and body.plate is None and body.fe is None:
            continue
        try:
            piece = link_bodies.pieces(name, normal, floating=platform is not None and platform.body == name)[0]
        except EntryError as error:
            raise SuppleError(description.tree.problem(("bodies", name), str(error))) from error
        made[name] = piece.body, dict(piece.shape.every) if piece.shape is not None else {"end": piece.section(1)}
    return made


def _unit(beam: BeamSpec) -> BeamSpec:
    """A beam of numbers with the same elements; matrices of slender beams differ from its by factors only."""
    one = CrossSection(1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    return replace(beam, length=1.0, section=one, E=1.0, G=1.0, rho=1.0)
