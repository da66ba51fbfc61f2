"""Bodies as they may be written in a robot file: rigid, beams, plates and finite elements, their damping and reduction."""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, StringConstraints

from supple.robot.fields import Direction, FileRecord, Length, Name, Q, Ratio, Rotation, Size, Vector, one_of
from supple.robot.physical import FURTHEST_TIED, inertia_fault, mass_fault


class Rayleigh(FileRecord):
    """D = alpha M + beta K."""

    alpha: Annotated[Any, Q("rate", least=0)] = 0
    beta: Annotated[Any, Q("time", least=0)] = 0


class Damping(FileRecord):
    """rayleigh: D = alpha M + beta K; modal: ratio of every mode of the body clamped at its origin;
    structural: loss factor eta of K (1 + j eta), twice the modal ratio."""

    rayleigh: Rayleigh | None = None
    modal: Ratio | Annotated[list[Ratio], Field(min_length=1, max_length=500)] | None = None
    structural: Ratio | None = None
    _one = one_of("rayleigh", "modal", "structural")


class Inertia(FileRecord):
    """Entries of the inertia matrix (xy is the matrix entry, the negative of the product of inertia)."""

    xx: Annotated[Any, Q("inertia", least=0)] = 0
    yy: Annotated[Any, Q("inertia", least=0)] = 0
    zz: Annotated[Any, Q("inertia", least=0)] = 0
    xy: Annotated[Any, Q("inertia")] = 0
    xz: Annotated[Any, Q("inertia")] = 0
    yz: Annotated[Any, Q("inertia")] = 0

    def matrix(self) -> Any:
        """The entries as a symmetric matrix (3 x 3)."""
        return np.array(
            [[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]], dtype=object
        )


class Rigid(FileRecord):
    """A rigid body: centre and inertia about it, or first moments and inertia about the link's origin.

    Inertia that no body has is refused, unless `unphysical: allowed` says that it is meant."""

    mass: Annotated[Any, Q("mass", least=0)]
    centre: Vector | None = None
    first_moments: Annotated[list[Annotated[Any, Q("first moment of mass")]], Field(min_length=3, max_length=3)] | None = (
        None
    )
    inertia: Inertia | None = None
    inertia_at_origin: Inertia | None = None
    unphysical: Literal["allowed"] | None = None

    def relation(self, numbers: Any) -> str | None:
        if self.centre is not None and self.first_moments is not None:
            return "centre and first_moments say the same; give one of them"
        if self.inertia is not None and self.inertia_at_origin is not None:
            return "inertia and inertia_at_origin say the same; give one of them"
        if numbers.mass == 0 and self.first_moments is not None:
            return "a body without mass has no first_moments"
        return None

    def faults(self, numbers: Any) -> list[tuple[tuple[Any, ...], str]]:
        problem = self.relation(numbers)
        return [((), problem)] if problem else self.impossible(numbers)

    def impossible(self, numbers: Any) -> list[tuple[tuple[Any, ...], str]]:
        """What no body has, where all that it follows from is a number."""
        key = "inertia" if self.inertia is not None else "inertia_at_origin"
        place = numbers.centre or numbers.first_moments or [0, 0, 0]
        if not _are_numbers(numbers.mass, *place):
            return []
        centre = [x / numbers.mass for x in place] if self.first_moments is not None else place
        fault = mass_fault(numbers.mass, centre)
        return [((), fault)] if fault is not None else _inertia_faults(self, numbers, key, centre)


def _are_numbers(*values: Any) -> bool:
    """Whether values are known: neither wrong by themselves nor symbols that the caller keeps."""
    return all(isinstance(x, Real) for x in values)


def _inertia_faults(part: Any, numbers: Any, key: str, centre: list[Any]) -> list[tuple[tuple[Any, ...], str]]:
    """What is wrong with the inertia of a part, given about its centre of mass or, at another key, about the origin."""
    written, inertia = getattr(part, key), getattr(numbers, key)
    if inertia is None or part.unphysical is not None or not _are_numbers(*inertia.matrix().ravel()):
        return []
    fault = inertia_fault(numbers.mass, centre, inertia.matrix(), tuple(written.model_fields_set), key != "inertia")
    return [((key,), fault)] if fault is not None else []


class Selection(FileRecord):
    """Which modes are kept: how many, all up to a frequency, or enough for a part of the effective mass."""

    modes: Annotated[Any, Q("number", least=0, most=500, whole=True)] | None = None
    up_to: Annotated[Any, Q("frequency", above=0)] | None = None
    effective_mass: Annotated[Any, Q("number", above=0, below=1)] | None = None
    _one = one_of("modes", "up_to", "effective_mass")


class Reduction(FileRecord):
    """How a flexible body is described by few coordinates.

    free_free: modes of the free body; clamped_free: modes of the body held at its root; craig_bampton: motions of its
    attachments and modes with all attachments held; static: modes and the shapes under loads at its attachments."""

    free_free: Selection | None = None
    clamped_free: Selection | None = None
    craig_bampton: Selection | None = None
    static: Selection | None = None
    _one = one_of("free_free", "clamped_free", "craig_bampton", "static")


class Beam(FileRecord):
    """A beam from the link's origin (or `start`) along `axis`; elements: 0 makes it rigid."""

    length: Size
    section: Name
    material: Name
    elements: Annotated[Any, Q("number", least=0, most=200, whole=True)] = 1
    segments: Annotated[Any, Q("number", least=1, most=50, whole=True)] = 1
    theory: Literal["euler_bernoulli", "timoshenko"] = "euler_bernoulli"
    axis: Direction = "x"
    up: Direction | None = None
    start: Vector | None = None
    damping: Damping | None = None
    reduction: Reduction | None = None


Place2 = Annotated[list[Length], Field(min_length=2, max_length=2)]
FileName = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class PointMass(FileRecord):
    """A mass tied rigidly to the nearest point of the body, with the inertia about its own centre."""

    mass: Annotated[Any, Q("mass", least=0)]
    at: Annotated[list[Length], Field(min_length=2, max_length=3)]
    inertia: Inertia | None = None
    unphysical: Literal["allowed"] | None = None

    def faults(self, numbers: Any) -> list[tuple[tuple[Any, ...], str]]:
        if not _are_numbers(numbers.mass, *numbers.at):
            return []
        fault = mass_fault(numbers.mass, numbers.at, FURTHEST_TIED)
        return [(("at",), fault)] if fault is not None else _inertia_faults(self, numbers, "inertia", [0, 0, 0])


class Stiffener(FileRecord):
    """A beam on the plate, from one point to another; y of its section lies across it in the plane.

    Its section's centre is `offset` above the middle plane."""

    start: Place2 = Field(alias="from")
    end: Place2 = Field(alias="to")
    section: Name
    material: Name | None = None
    offset: Length = 0


class PlateAttachment(FileRecord):
    """A place on a plate: a point, an edge that is tied to something rigid, or so the edge of the hole around a point."""

    at: Place2 | None = None
    edge: Annotated[list[Place2], Field(min_length=2, max_length=2)] | None = None
    hole: Place2 | None = None
    _one = one_of("at", "edge", "hole")


class Round(FileRecord):
    """A circle."""

    centre: Place2
    radius: Size


Corners = Annotated[list[Place2], Field(min_length=3, max_length=200)]


class Patch(FileRecord):
    """A part of a plate, within corners or a circle, of another thickness; its middle plane is `offset` higher."""

    corners: Corners | None = None
    circle: Round | None = None
    thickness: Size
    offset: Length = 0
    _one = one_of("corners", "circle")


class Plate(FileRecord):
    """A flat plate in the x-y plane of its frame: corners, a circle, or a mesh file of triangles.

    It is stiff in its plane unless in_plane: true, which eccentric stiffeners and patches need."""

    corners: Corners | None = None
    circle: Round | None = None
    mesh: FileName | None = None
    holes: Annotated[list[Round | Corners], Field(max_length=100)] = []
    patches: Annotated[list[Patch], Field(max_length=100)] = []
    thickness: Size
    material: Name
    in_plane: bool = False
    origin: Literal["centroid"] | Place2 = "centroid"
    element: Literal["mindlin", "kirchhoff"] = "mindlin"
    refine: Annotated[Any, Q("number", least=0, most=6, whole=True)] | None = None
    tolerance: Annotated[Any, Q("number", least=0.00001, most=0.1)] = "0.001"
    masses: Annotated[list[PointMass], Field(max_length=100)] = []
    stiffeners: Annotated[list[Stiffener], Field(max_length=100)] = []
    attachments: Annotated[dict[Name, PlateAttachment], Field(max_length=64)] = {}
    root: Name | None = None
    reduction: Reduction | None = None
    damping: Damping | None = None
    stiffening: Literal["second_order", "none"] | None = None
    _one = one_of("corners", "circle", "mesh")


class Nodes(FileRecord):
    """Which nodes: by their numbers, of a named group of a mesh, in a box, on a plane, or within a radius of a point."""

    group: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    nodes: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=20000)] | None = None
    box: Annotated[list[Vector], Field(min_length=2, max_length=2)] | None = None
    plane: dict[Literal["x", "y", "z"], Length] | None = None
    radius: Size | None = None
    within: Size = "1e-6"
    at: Vector | None = None
    tie: Literal["rigid", "average"] = "rigid"

    def relation(self, numbers: Any) -> str | None:
        given = [k for k in ("nodes", "group", "box", "plane", "radius") if getattr(self, k) is not None]
        if len(given) > 1:
            return f"{' and '.join(given)} are given; give one of nodes, group, box, plane, radius"
        if given in ([], ["radius"]) and self.at is None:
            return "needs nodes, a group, box or plane, or the point at: with or without a radius"
        return None


class FiniteElements(FileRecord):
    """A body from a finite-element program: matrices, modes or a mesh in files named relative to the robot file.

    Places of attachments and masses are those of the file's nodes, in metres; the body's frame is at `origin` of them."""

    file: FileName
    nodes: FileName | None = None
    mass: FileName | None = None
    solver: Literal["calculix"] | None = None
    material: Name | None = None
    units: Literal["m", "mm"] = "m"
    origin: Vector | Literal["centre"] = [0, 0, 0]
    masses: Annotated[list[PointMass], Field(max_length=100)] = []
    attachments: Annotated[dict[Name, Nodes], Field(max_length=64)] = {}
    root: Name | None = None
    reduction: Reduction | None = None
    damping: Damping | None = None
    stiffening: Literal["second_order", "none"] | None = None


class Skin(FileRecord):
    """What a body looks like: an STL, OBJ or GLB file, in the axes of the body after `rotate` and `at`."""

    file: FileName
    units: Literal["m", "mm"] = "m"
    at: Vector | None = None
    rotate: list[Rotation] | Rotation | None = None


class Body(FileRecord):
    rigid: Rigid | None = None
    beam: Beam | None = None
    plate: Plate | None = None
    fe: FiniteElements | None = None
    skin: Skin | None = None
    _one = one_of("rigid", "beam", "plate", "fe")
