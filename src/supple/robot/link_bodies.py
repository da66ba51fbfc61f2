"""The bodies that links carry: named or written in place, whole or cut into segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from supple.robot import description as spec
from supple.robot.bodies.beam import BeamSpec, beam_body
from supple.robot.bodies.damping import damped
from supple.robot.bodies.record import Array, Body, eye, moved, zeros
from supple.robot.bodies.rigid import rigid_body
from supple.robot.bodies.section import cross_section
from supple.robot.entries import EntryError, resolved
from supple.robot.geometry import beam_frame, direction, point
from supple.robot.reader import Description
from supple.robot.values import is_number

_LARGEST = 1e20  # of a mass, an inertia or a stiffness, in SI units


@dataclass(frozen=True)
class Piece:
    """A stretch of a link: its Body in the stretch's frame, and where its beam lies in that frame."""

    body: Body
    beam: BeamSpec | None = None
    R: Array = field(default_factory=eye)
    p: Array = field(default_factory=lambda: zeros(3))


class LinkBodies:
    """Makes the pieces of links from the bodies, materials and sections of a robot file."""

    def __init__(self, description: Description, rigid: bool) -> None:
        self.rigid = rigid
        self.planar = description.robot.space == "planar"
        self.plane = description.robot.plane
        self.bodies: Mapping[str, spec.Body] = resolved(description, "bodies")
        self.materials: Mapping[str, spec.Material] = resolved(description, "materials")
        self.sections: Mapping[str, spec.Section] = resolved(description, "sections")
        self.damping: spec.Damping | None = resolved(description, "damping")
        self.made: dict[Any, list[Piece]] = {}  # of named bodies, which legs share

    def pieces(self, given: str | spec.Body | None, normal: Array) -> list[Piece]:
        """The pieces of a link: one, or one per segment of a segmented beam."""
        if given is None:
            return [Piece(Body())]
        if not isinstance(given, str):
            return self.body_pieces(given, normal)
        key = (given, *normal)
        if key not in self.made:
            self.made[key] = self.body_pieces(self.bodies[given], normal)
        return self.made[key]

    def body_pieces(self, body: spec.Body, normal: Array) -> list[Piece]:
        if body.rigid is not None:
            return [Piece(_checked(rigid_body(body.rigid)))]
        assert body.beam is not None
        return self.beam_pieces(body.beam, normal)

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
        made = BeamSpec(length, section, material.E, G, material.rho, elements, self.planar, shear)
        body = damped(_checked(beam_body(made)), beam.damping or self.damping)
        start = point(beam.start)
        first = Piece(moved(body, R, start), made, R, start)
        rest = Piece(moved(body, R, zeros(3)), made, R, zeros(3))
        return [first] + [rest] * (segments - 1)

    def up(self, beam: spec.Beam, x: Array, normal: Array) -> Array:
        if self.planar:
            if abs(float(x @ normal)) > 1e-9:
                raise EntryError(f"the beam's axis leaves the plane {self.plane}")
            return normal
        if beam.up is not None:
            return direction(beam.up)
        return direction("z" if abs(float(x[2])) < 1 - 1e-9 else "x")


def _checked(body: Body) -> Body:
    """The body, if all its numbers are ones that a machine can compute with."""
    numbers: list[Any] = [body.mass]
    for part in (body.MS_r, body.I_rr, body.M_ee, body.K_ee):
        numbers += list(part.ravel())
    for number in numbers:
        if is_number(number) and not abs(number) <= _LARGEST:
            raise EntryError("its mass, inertia or stiffness is out of range; check its sizes and units")
    return body
