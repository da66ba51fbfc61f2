"""Joints, motors and springs as small bodies that show their kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from supple.results.scene import Mesh
from supple.robot.bodies.record import eye, fixed_marker, zeros
from supple.robot.bodies.spring import spring_marker
from supple.robot.mechanism import Anchor, Closure, Frame, Mechanism
from supple.scene.bodies import placed_surface
from supple.scene.surfaces import Surface, along, ball, block, coil, cylinder, joined, revolved, rod


@dataclass(frozen=True)
class Sizes:
    """How large joints are drawn: by the robot's size and the sections that they join."""

    whole: float
    thick: Mapping[int, float]  # half thickness of the bodies of frames

    def joint(self, *frames: int) -> float:
        widest = max((self.thick.get(f, 0.0) for f in frames), default=0.0)
        return float(np.clip(1.2 * widest, 0.009 * self.whole, 0.03 * self.whole))

    @property
    def rod(self) -> float:
        return 0.0065 * self.whole


def joint_meshes(mechanism: Mechanism, sizes: Sizes, strokes: Mapping[int, tuple[float, float]]) -> list[Mesh]:
    """Everything that shows a joint; strokes: least and largest values of sliding joints by their frames."""
    made: list[Mesh] = []
    for index, frame in enumerate(mechanism.frames):
        if frame.role == "spring":
            made.append(_spring(index, frame, sizes))
        elif frame.role in ("link", "joint") and index != mechanism.platform:
            driven = any(c.kind == "active" for c in mechanism.coordinates[frame.v])
            near = _Near(
                index, sizes.joint(index, frame.parent, *_behind(mechanism, index)), driven, _crossed(mechanism, frame)
            )
            made += _jointed(frame, near, sizes.whole, strokes.get(index, (0.0, 0.0)))
    for closure in mechanism.closures:
        made += _closing(closure, sizes.joint(closure.first.frame, closure.second.frame))
    return made


def _behind(mechanism: Mechanism, index: int) -> list[int]:
    """Frames that hang on a frame between the motions of a joint."""
    return [k for k, f in enumerate(mechanism.frames) if f.parent == index and mechanism.frames[index].role == "joint"]


def _crossed(mechanism: Mechanism, frame: Frame) -> bool:
    """Whether a hinge is one of two that make a universal joint."""
    return frame.role == "joint" or (frame.parent >= 0 and mechanism.frames[frame.parent].role == "joint")


@dataclass(frozen=True)
class _Near:
    """A frame whose joint is drawn, how large, whether a motor drives it, and whether it is half a universal joint."""

    index: int
    size: float
    driven: bool
    crossed: bool


def _jointed(frame: Frame, near: _Near, whole: float, stroke: tuple[float, float]) -> list[Mesh]:
    index, r = near.index, near.size
    own = fixed_marker(zeros(3), eye(), len(frame.body.coordinates))
    axis = frame.axis.astype(float)
    name = frame.link
    if frame.motion == "spherical":
        return [placed_surface(name, "joint", index, own, ball(1.25 * r))]
    if frame.motion == "revolute":
        shape = _pin(0.55 * r, 1.5 * r) if near.crossed else _pin(r, 1.35 * r)
        made = [placed_surface(name, "joint", index, own, shape.moved(along(axis), np.zeros(3)))]
        if near.driven:
            housing = _motor(r).moved(along(axis), np.zeros(3))
            made.append(placed_surface(name, "motor", frame.parent, frame.marker, housing))
        return made
    if frame.motion == "prismatic":
        return _slider(frame, near, whole, stroke)
    return []


def _pin(radius: float, half: float) -> Surface:
    """A hinge: a barrel with a thinner pin that sticks out of it."""
    return joined([cylinder(radius, -0.8 * half, 0.8 * half, 16), cylinder(0.55 * radius, -half, half, 10)])


def _motor(r: float) -> Surface:
    """A motor's housing behind a hinge."""
    parts = [
        cylinder(1.7 * r, 1.5 * r, 4.2 * r, 24),
        cylinder(1.25 * r, 4.2 * r, 4.8 * r, 24),
        cylinder(0.8 * r, 1.0 * r, 1.5 * r),
    ]
    return joined(parts)


def _slider(frame: Frame, near: _Near, whole: float, stroke: tuple[float, float]) -> list[Mesh]:
    """A carriage on a rail of the base, or a rod in a sleeve between two bodies."""
    index, r, driven = near.index, near.size, near.driven
    axis = along(frame.axis.astype(float))
    own = fixed_marker(zeros(3), eye(), len(frame.body.coordinates))
    least = min(stroke, key=abs)  # of the rod, which reaches from the joint to here
    if frame.parent < 0 or abs(least) < 4 * r:
        low, high = stroke[0] - 0.05 * whole, stroke[1] + 0.05 * whole
        rail = [rod(np.array([0, s * r, low]), np.array([0, s * r, high]), 0.28 * r) for s in (-0.6, 0.6)]
        ends = [block(1.1 * r, 2.4 * r, 0.5 * r).moved(np.eye(3), np.array([0, 0, z])) for z in (low, high)]
        made = [placed_surface(frame.link, "rail", frame.parent, frame.marker, joined(rail + ends).moved(axis, np.zeros(3)))]
        carriage = block(1.3 * r, 2.0 * r, 2.6 * r).moved(axis, np.zeros(3))
        made.append(placed_surface(frame.link, "motor" if driven else "joint", index, own, carriage))
        return made
    sleeve = rod(np.zeros(3), np.array([0, 0, 0.6 * least]), 0.95 * r)
    inner = rod(np.zeros(3), np.array([0, 0, -0.9 * least]), 0.55 * r)
    return [
        placed_surface(
            frame.link, "motor" if driven else "rod", frame.parent, frame.marker, sleeve.moved(axis, np.zeros(3))
        ),
        placed_surface(frame.link, "rod", index, own, inner.moved(axis, np.zeros(3))),
    ]


def _spring(index: int, frame: Frame, sizes: Sizes) -> Mesh:
    """A coil around an elastic joint; it moves with its far side."""
    r = 1.25 * sizes.joint(frame.parent)
    return placed_surface(frame.name, "spring", index, spring_marker(frame.body), coil(r, -0.9 * r, 0.9 * r))


def _closing(closure: Closure, r: float) -> list[Mesh]:
    draw = _CLOSING.get(closure.joint, _ball)
    second = closure.second if closure.second.frame >= 0 else closure.first
    return [draw(closure, second, r)]


def _ball(closure: Closure, at: Anchor, r: float) -> Mesh:
    return placed_surface(closure.name, "joint", at.frame, at.marker, ball(1.25 * r))


def _hinge(closure: Closure, at: Anchor, r: float) -> Mesh:
    return placed_surface(closure.name, "joint", at.frame, at.marker, _pin(r, 1.35 * r))


def _cross(closure: Closure, at: Anchor, r: float) -> Mesh:
    pins = [_pin(0.55 * r, 1.5 * r).moved(along(axis), np.zeros(3)) for axis in np.eye(3)[[0, 2]]]
    return placed_surface(closure.name, "joint", at.frame, at.marker, joined(pins))


def _weld(closure: Closure, at: Anchor, r: float) -> Mesh:
    return placed_surface(closure.name, "joint", at.frame, at.marker, block(1.7 * r, 1.7 * r, 1.7 * r))


def _sleeve(closure: Closure, at: Anchor, r: float) -> Mesh:
    wall = [(0.7 * r, -2 * r), (1.1 * r, -2 * r), (1.1 * r, 2 * r), (0.7 * r, 2 * r), (0.7 * r, -2 * r)]
    return placed_surface(closure.name, "joint", at.frame, at.marker, revolved(wall))


_CLOSING: dict[str, Callable[[Closure, Anchor, float], Mesh]] = {
    "spherical": _ball, "revolute": _hinge, "universal": _cross, "fixed": _weld, "prismatic": _sleeve,
    "cylindrical": _sleeve,
}  # fmt: skip
