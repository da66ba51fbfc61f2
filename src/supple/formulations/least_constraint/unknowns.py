"""The unknowns of Gauss' principle, a kind each: what they are numbered by, and a letter that tells kinds apart.

Equal numbers of different kinds are different unknowns, because the letter is part of the tuple; leave it as it is.
"""

from __future__ import annotations

from typing import NamedTuple


class Slot(NamedTuple):
    """A component (a_x .. a_z alpha_x .. alpha_z) of the acceleration of a frame, at its reference point in its axes."""

    frame: int
    component: int
    kind: str = "s"


class Joint(NamedTuple):
    """The acceleration of a joint's own coordinate; numbered as in v."""

    velocity: int
    kind: str = "v"


class Spin(NamedTuple):
    """The absolute angular acceleration about a joint's axis; numbered as in v."""

    velocity: int
    kind: str = "w"


class Elastic(NamedTuple):
    """The acceleration of an elastic coordinate, relative to its body's frame; numbered as in v."""

    velocity: int
    kind: str = "e"


class Node(NamedTuple):
    """A component of the absolute acceleration of a node, in the axes of the body that has it; `frame` sits on it."""

    frame: int
    component: int
    kind: str = "p"


class Holding(NamedTuple):
    """The force that holds an actuator to its given acceleration; numbered as in v."""

    velocity: int
    kind: str = "t"


class Pull(NamedTuple):
    """The force, along a slot that a leg shares, that makes the leg follow what it meets; `frame` is the leg's end."""

    frame: int
    component: int
    kind: str = "f"


class Turned(NamedTuple):
    """A node's acceleration in the axes of the frame on it, on the way from Node to Slot."""

    frame: int
    component: int
    kind: str = "n"


class Hung(NamedTuple):
    """The acceleration of the place a frame hangs on, in the frame's axes, on the way from a Slot to those of its parent."""

    frame: int
    component: int
    kind: str = "o"


class Place(NamedTuple):
    """The same in the axes of the parent."""

    frame: int
    component: int
    kind: str = "m"


class Met(NamedTuple):
    """The acceleration of the end of a leg in the axes of what it meets, by the name of its closure."""

    closure: str
    component: int
    kind: str = "c"


Force = Holding | Pull  # unknowns that are minimised after all motions
Unknown = Slot | Joint | Spin | Elastic | Node | Force | Turned | Hung | Place | Met
Coordinate = Joint | Spin | Elastic | Holding  # unknowns that are numbered as in v
