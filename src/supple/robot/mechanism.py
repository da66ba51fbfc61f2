"""`Mechanism`: a spanning tree of frames, the closures that make its loops, and the coordinates of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from supple.robot.bodies.record import Array, Body, Marker
from supple.robot.link_bodies import Piece

Kind = Literal["active", "passive", "elastic", "platform"]
JointMotion = Literal["fixed", "revolute", "prismatic", "spherical"]
# What a frame is to its link: its own frame; a frame between the motions of its joint; a slide that lets the platform float;
# the far side of its joint's spring; a further segment of its beam; a rigid arm on it; a node of it (see `simplify.opened`)
Role = Literal["link", "joint", "slide", "spring", "segment", "arm", "node"]

# Components of the relative twist (x y z of the first anchor's frame, then rx ry rz) that each closing joint forbids.
FORBIDDEN: dict[str, tuple[int, ...]] = {
    "fixed": (0, 1, 2, 3, 4, 5),
    "revolute": (0, 1, 2, 3, 4),
    "prismatic": (0, 1, 3, 4, 5),
    "cylindrical": (0, 1, 3, 4),
    "spherical": (0, 1, 2),
    "planar": (2, 3, 4),
    "point_on_line": (0, 1),
    "point_on_plane": (2,),
}


@dataclass(frozen=True)
class Coordinate:
    """One generalised velocity. A spherical joint has three of them but four position numbers (a quaternion)."""

    name: str
    kind: Kind
    unit: str
    frame: int
    inertia: Any = 0  # of the motor, seen at the joint
    viscous: Any = 0
    coulomb: Any = 0
    width: Any = 0
    servo: Any = None  # stiffness at the joint of what holds an actuator; None: rigid
    limits: tuple[Any, Any] | None = None  # the joint's stroke


@dataclass(frozen=True)
class Frame:
    """A body frame of the tree: where it hangs on its parent, how its joint moves it, and the body it carries."""

    name: str
    parent: int  # -1: the base
    marker: Marker  # on the parent's body
    motion: JointMotion
    axis: Array
    body: Body
    q: slice  # its joint's position numbers in q
    v: slice  # its joint's velocities in v
    e: slice  # its body's elastic coordinates in q
    ev: slice  # the same in v
    leg: str = ""  # leg3, or nothing for a frame outside the legs
    template: str = ""  # leg
    link: str = ""  # of the robot file that it belongs to; for joints that close loops, the closure
    role: Role = "link"

    @property
    def part(self) -> str:
        """What results list it under: its link, or the spring of its joint."""
        return self.name if self.role == "spring" else self.link


@dataclass(frozen=True)
class Anchor:
    frame: int
    marker: Marker


@dataclass(frozen=True)
class Closure:
    """A joint that closes a loop: these components of the relative twist of two anchors are zero."""

    name: str
    joint: str
    first: Anchor
    second: Anchor
    forbidden: tuple[int, ...]
    turning: Coordinate | None = None  # a joint coordinate taken over from a massless link: second turns on first
    about: Array | None = None  # its axis in the second anchor's frame

    @property
    def slides(self) -> bool:
        """Whether the two origins may be apart when the loop is closed."""
        return self.joint not in ("fixed", "revolute", "spherical", "universal")


@dataclass(frozen=True)
class Mechanism:
    name: str
    about: str
    source: str
    planar: bool
    gravity: Array
    frames: tuple[Frame, ...]
    closures: tuple[Closure, ...]
    coordinates: tuple[Coordinate, ...]
    points: dict[str, Anchor]
    nq: int
    start: dict[str, dict[str, Any]]  # assembly modes: name -> coordinate -> guess
    home: dict[str, Any]
    platform: int | None  # the platform's frame
    orientation: Array | None  # platform's assembled orientation as a quaternion
    normal: Array  # of a planar robot's plane, in the base
    pieces: Mapping[int, Piece]  # of frames that carry a beam, a plate or finite elements: what these are made of

    @property
    def nv(self) -> int:
        return len(self.coordinates)

    @property
    def equations(self) -> int:
        """Number of closure equations."""
        return sum(len(c.forbidden) for c in self.closures)

    def platform_chain(self) -> list[int]:
        """Frames from the base to the platform: its own coordinates; empty without a platform."""
        chain, j = [], -1 if self.platform is None else self.platform
        while j >= 0:
            chain.append(j)
            j = self.frames[j].parent
        return chain[::-1]

    def platform_side(self) -> set[int]:
        """The platform's frame and all that hang on it; empty without a platform."""
        side: set[int] = set() if self.platform is None else {self.platform}
        for j, frame in enumerate(self.frames):
            if frame.parent in side:
                side.add(j)
        return side

    def indices(self, *kinds: Kind) -> list[int]:
        """Positions in v of the coordinates of these kinds."""
        return [i for i, c in enumerate(self.coordinates) if c.kind in kinds]

    def names(self) -> list[str]:
        return [c.name for c in self.coordinates]
