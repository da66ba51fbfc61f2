"""Joints of links: their type, axes and constant frame, from a Khalil-Kleinfinger row or a plain frame."""

from __future__ import annotations

from dataclasses import dataclass

from supple.robot import description as spec
from supple.robot.bodies.record import Array
from supple.robot.entries import Entry, EntryError
from supple.robot.geometry import direction, khalil_kleinfinger, point, turns
from supple.robot.mechanism import JointMotion

_ROW = ("mu", "sigma", "gamma", "b", "alpha", "d", "theta", "r")
_PLAIN = ("at", "rotate", "joint", "axis")


@dataclass(frozen=True)
class Joint:
    """A link's joint: its constant frame in the parent, and its motion as a chain of elementary ones."""

    R: Array
    p: Array
    steps: tuple[tuple[JointMotion, Array], ...]  # none for a fixed joint
    names: tuple[str, ...]  # one coordinate per step


def joint_of(entry: Entry) -> Joint:
    """The Joint of a link."""
    link: spec.Link = entry.part
    motion, axes, R, p = _row(link) if link.a is not None else _plain(link)
    steps = _steps(motion, axes)
    return Joint(R, p, steps, _names(entry, motion, len(steps)))


def _row(link: spec.Link) -> tuple[str, list[Array], Array, Array]:
    mixed = [k for k in _PLAIN if getattr(link, k) is not None]
    if mixed:
        raise EntryError(f"a Khalil-Kleinfinger row (with a:) has no {mixed[0]!r}; use parent: for plain frames")
    if link.sigma is None:
        raise EntryError("needs sigma: 0 revolute, 1 prismatic or 2 fixed")
    R, p = khalil_kleinfinger(**{k: 0 if getattr(link, k) is None else getattr(link, k) for k in _ROW[2:]})
    return ("revolute", "prismatic", "fixed")[link.sigma], [direction("z")], R, p


def _plain(link: spec.Link) -> tuple[str, list[Array], Array, Array]:
    mixed = [k for k in _ROW if getattr(link, k) is not None]
    if mixed:
        raise EntryError(f"{mixed[0]!r} belongs to a Khalil-Kleinfinger row; give the parent as a: instead of parent:")
    motion = link.joint or "fixed"
    given = link.axis if link.axis is not None else (["x", "y"] if motion == "universal" else "z")
    several = isinstance(given, list) and any(isinstance(a, (str, list)) for a in given)
    axes = [direction(a) for a in given] if several else [direction(given)]
    if motion == "universal" and len(axes) != 2:
        raise EntryError("a universal joint needs two axes, such as axis: [x, y]")
    if motion != "universal" and len(axes) != 1:
        raise EntryError(f"a {motion} joint needs one axis")
    return motion, axes, turns(link.rotate), point(link.at)


def _steps(motion: str, axes: list[Array]) -> tuple[tuple[JointMotion, Array], ...]:
    """A joint as a chain of elementary motions."""
    match motion:
        case "fixed":
            return ()
        case "universal":
            if abs(float(axes[0] @ axes[1])) > 1 - 1e-9:
                raise EntryError("the two axes of a universal joint must differ")
            return (("revolute", axes[0]), ("revolute", axes[1]))
        case "cylindrical":
            return (("prismatic", axes[0]), ("revolute", axes[0]))
        case "revolute":
            return (("revolute", axes[0]),)
        case "prismatic":
            return (("prismatic", axes[0]),)
    return (("spherical", axes[0]),)


def _names(entry: Entry, motion: str, count: int) -> tuple[str, ...]:
    """Full names of a joint's coordinates: as given by q, or made from the link's name."""
    given = entry.part.q
    if count == 0:
        if given is not None:
            raise EntryError("a fixed joint has no coordinate q; remove q, or give a joint: (sigma: in a row)")
        return ()
    if given is None:
        bare = entry.name.split("/")[-1]
        given = f"q_{bare}" if count == 1 else [f"q_{bare}_{k + 1}" for k in range(count)]
    listed = [given] if isinstance(given, str) else list(given)
    if len(listed) != count:
        raise EntryError(f"a {motion} joint needs {count} name{'s' if count > 1 else ''} in q")
    return tuple(f"{entry.leg}/{n}" if entry.leg else n for n in listed)
