"""The robot file as typed records: what may be written, where, and in which dimension.

Values stay as written (`Quantity`) until `resolve` evaluates them in the scope of the named parameters.
"""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from supple.robot.body_entries import Beam as Beam
from supple.robot.body_entries import Body as Body
from supple.robot.body_entries import Damping as Damping
from supple.robot.body_entries import Inertia as Inertia
from supple.robot.body_entries import Rayleigh as Rayleigh
from supple.robot.body_entries import Rigid as Rigid
from supple.robot.body_entries import Skin as Skin
from supple.robot.fields import (
    Angle,
    Direction,
    FileRecord,
    Identifier,
    Length,
    Name,
    NameInFile,
    Q,
    Rotation,
    Size,
    Vector,
    one_of,
)
from supple.robot.motions import Motion


class Parameter(FileRecord):
    """A named parameter with its default and what it stands for."""

    value: Annotated[Any, Q("any")]
    about: str = ""


class Material(FileRecord):
    E: Annotated[Any, Q("pressure", above=0)]
    rho: Annotated[Any, Q("density", above=0)]
    nu: Annotated[Any, Q("number", above=-1, below=0.5)] = "0.3"
    G: Annotated[Any, Q("pressure", above=0)] | None = None
    limit: Annotated[Any, Q("pressure", above=0)] | None = Field(None, alias="yield")


class Rectangle(FileRecord):
    """Sizes along the beam's own y and z axes."""

    y: Size
    z: Size


class Circle(FileRecord):
    diameter: Size


class Tube(FileRecord):
    diameter: Size
    wall: Size

    def relation(self, numbers: Any) -> str | None:
        return _thicker(numbers.wall, numbers.diameter)


class Box(FileRecord):
    y: Size
    z: Size
    wall: Size

    def relation(self, numbers: Any) -> str | None:
        return _thicker(numbers.wall, numbers.y) or _thicker(numbers.wall, numbers.z)


def _thicker(wall: Any, size: Any) -> str | None:
    known = isinstance(wall, Real) and isinstance(size, Real)
    return "the wall must be thinner than half the outer size" if known and not 2 * wall < size else None


class Properties(FileRecord):
    """A section by numbers: Iz bends the beam in its x-y plane, Iy in its x-z plane, J twists it."""

    area: Annotated[Any, Q("area", above=0)]
    Iy: Annotated[Any, Q("second moment of area", above=0)] | None = None
    Iz: Annotated[Any, Q("second moment of area", above=0)]
    J: Annotated[Any, Q("second moment of area", above=0)] | None = None
    ky: Annotated[Any, Q("number", above=0, most=1)] = "5/6"
    kz: Annotated[Any, Q("number", above=0, most=1)] = "5/6"


class Section(FileRecord):
    rectangle: Rectangle | None = None
    circle: Circle | None = None
    tube: Tube | None = None
    box: Box | None = None
    properties: Properties | None = None
    _one = one_of("rectangle", "circle", "tube", "box", "properties")


Stiffness = Annotated[Any, Q("translational stiffness", above=0)]
TurningStiffness = Annotated[Any, Q("rotational stiffness", above=0)]
Damper = Annotated[Any, Q("translational damping", least=0)]
TurningDamper = Annotated[Any, Q("rotational damping", least=0)]


class Spring(FileRecord):
    """Elastic joint: stiffness along and about the joint's axes (N/m and N m/rad). Axes not given are rigid.

    `matrix` gives a full symmetric matrix for the axes listed in `axes` (all six if not given)."""

    x: Stiffness | None = None
    y: Stiffness | None = None
    z: Stiffness | None = None
    rx: TurningStiffness | None = None
    ry: TurningStiffness | None = None
    rz: TurningStiffness | None = None
    axes: list[Literal["x", "y", "z", "rx", "ry", "rz"]] | None = None
    matrix: list[list[Annotated[Any, Q("any")]]] | None = None


class JointDamping(FileRecord):
    """Damping of an elastic joint, per axis (N s/m and N m s/rad) or as a matrix like the stiffness."""

    x: Damper | None = None
    y: Damper | None = None
    z: Damper | None = None
    rx: TurningDamper | None = None
    ry: TurningDamper | None = None
    rz: TurningDamper | None = None
    matrix: list[list[Annotated[Any, Q("any")]]] | None = None


class Friction(FileRecord):
    """viscous * v + coulomb * v / sqrt(v^2 + width^2); width 0 is the sharp sign function."""

    viscous: Annotated[Any, Q("translational damping or rotational damping", least=0)] = 0
    coulomb: Annotated[Any, Q("force or torque", least=0)] = 0
    width: Annotated[Any, Q("velocity or rate", least=0)] = "0.001"


class Actuator(Friction):
    """A motor: its rotor inertia seen through the gear is inertia * gear^2 at the joint; a servo that holds it gives way by
    its stiffness, at the joint, in statics and modes (rigid if not given)."""

    inertia: Annotated[Any, Q("inertia or mass", least=0)] = 0
    gear: Annotated[Any, Q("any", above=0)] = 1
    stiffness: Annotated[Any, Q("translational stiffness or rotational stiffness", above=0)] | None = None


STIFFENING = ("second_order", "none")
JointType = Literal["fixed", "revolute", "prismatic", "universal", "cylindrical", "spherical"]
ClosureType = Literal[
    "fixed",
    "revolute",
    "prismatic",
    "universal",
    "cylindrical",
    "spherical",
    "planar",
    "point_on_line",
    "point_on_plane",
]


class Link(FileRecord):
    """A body frame and the joint that moves it.

    Khalil-Kleinfinger row: a, mu, sigma (0 revolute, 1 prismatic, 2 fixed), gamma, b, alpha, d, theta, r.
    Plain frame: parent, at, rotate, joint, axis. The joint's coordinates are named by q."""

    a: NameInFile | None = None
    mu: Literal[0, 1] | None = None
    sigma: Literal[0, 1, 2] | None = None
    gamma: Angle | None = None
    b: Length | None = None
    alpha: Angle | None = None
    d: Length | None = None
    theta: Angle | None = None
    r: Length | None = None

    parent: NameInFile | None = None
    at: Vector | None = None
    rotate: list[Rotation] | Rotation | None = None
    joint: JointType | None = None
    axis: Direction | list[Direction] | None = None

    on: Name | None = None
    q: Name | list[Name] | None = None
    body: Name | Body | None = None
    stiffness: Spring | None = None
    damping: JointDamping | None = None
    friction: Friction | None = None
    limits: Annotated[list[Annotated[Any, Q("angle or length")]], Field(min_length=2, max_length=2)] | None = None
    _one = one_of("a", "parent")

    def relation(self, numbers: Any) -> str | None:
        ends = numbers.limits
        if ends is not None and all(isinstance(x, Real) for x in ends) and not ends[0] < ends[1]:
            return "limits go from a value to a larger one"
        return None


class Anchor(FileRecord):
    """A frame fixed to a link; the closing joint's axis is this frame's z axis."""

    link: NameInFile
    at: Vector | None = None
    rotate: list[Rotation] | Rotation | None = None
    on: Name | None = None


class Closure(FileRecord):
    """The joint that closes a loop between two links."""

    joint: ClosureType
    first: Anchor = Field(alias="from")
    second: Anchor = Field(alias="to")
    stiffness: Spring | None = None
    damping: JointDamping | None = None


class Point(FileRecord):
    """A named point to observe or to load; its axes are those of its link, turned by `rotate`."""

    link: NameInFile
    at: Vector | None = None
    rotate: list[Rotation] | Rotation | None = None
    on: Name | None = None


class Leg(FileRecord):
    """A template used `count` times: links leg1/..., leg2/...; values may use i (1..n), n, and `vary`."""

    count: Annotated[int, Field(ge=1, le=64)]
    vary: dict[Identifier, list[Annotated[Any, Q("any")]]] = {}
    links: dict[Name, Link] = {}
    closures: dict[Name, Closure] = {}
    actuators: dict[Name, Actuator] = {}
    points: dict[Name, Point] = {}


class Platform(FileRecord):
    """The moving platform; `at` and `rotate` say where it is when the robot is assembled."""

    body: Name | Body
    at: Vector | None = None
    rotate: list[Rotation] | Rotation | None = None


class RobotFile(FileRecord):
    """A whole robot file."""

    name: Annotated[str, StringConstraints(max_length=80)] = ""
    about: str = ""
    source: str = ""
    space: Literal["planar", "spatial"]
    plane: Literal["xy", "xz", "yz"] = "xy"
    gravity: Annotated[list[Annotated[Any, Q("acceleration")]], Field(min_length=3, max_length=3)] = [0] * 3
    stiffening: Literal["second_order", "none"] = "second_order"
    parameters: dict[Identifier, Parameter | Annotated[Any, Q("any")]] = {}
    materials: dict[Name, Material] = {}
    sections: dict[Name, Section] = {}
    damping: Damping | None = None
    bodies: dict[Name, Body] = {}
    links: dict[Name, Link] = {}
    legs: dict[Name, Leg] = {}
    platform: Platform | None = None
    closures: dict[Name, Closure] = {}
    actuators: dict[Name, Actuator] = {}
    points: dict[Name, Point] = {}
    assembly: dict[Name, dict[NameInFile, Annotated[Any, Q("angle or length")]]] = {}
    home: dict[NameInFile, Annotated[Any, Q("angle or length")]] = {}
    motions: dict[Name, Motion] = {}
