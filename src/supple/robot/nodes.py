"""The same mechanism with frames at the nodes of its flexible bodies."""

from __future__ import annotations

from dataclasses import replace

from supple.robot.bodies.record import Array, Body, Marker, eye, fixed_marker, is_zero, zeros
from supple.robot.mechanism import Anchor, Frame, Mechanism


def opened(mechanism: Mechanism) -> Mechanism:
    """Frames inserted at every node of a flexible body that carries a moving joint or closes a loop.

    A loop that closes on the platform's side keeps its anchor there: legs meet the platform in the platform's axes."""
    frames = mechanism.frames
    nodes: list[Frame] = []  # their parents numbered as before
    joints = {i: _node(nodes, f.parent, f.marker, f) for i, f in enumerate(frames) if _bends_below(f)}
    anchors = _anchors_on_nodes(mechanism, nodes)
    place, place_of_node = _places(len(frames), nodes)

    def moved(index: int) -> Frame:
        if index not in joints:
            return replace(frames[index], parent=place[frames[index].parent])
        node = joints[index]
        held = fixed_marker(zeros(3), _from_node(nodes[node].marker, frames[index].marker))
        return replace(frames[index], parent=place_of_node[node], marker=held)

    def anchored(anchor: Anchor, node: int | None = None) -> Anchor:
        if node is None:
            return Anchor(place[anchor.frame], anchor.marker)
        return Anchor(place_of_node[node], fixed_marker(zeros(3), _from_node(nodes[node].marker, anchor.marker)))

    made = {place[i]: moved(i) for i in range(len(frames))}
    made |= {place_of_node[k]: replace(f, parent=place[f.parent]) for k, f in enumerate(nodes)}
    closures = [
        replace(c, first=anchored(c.first, anchors.get((i, "first"))), second=anchored(c.second, anchors.get((i, "second"))))
        for i, c in enumerate(mechanism.closures)
    ]
    return replace(
        mechanism,
        frames=tuple(made[i] for i in range(len(made))),
        closures=tuple(closures),
        coordinates=tuple(replace(c, frame=place[c.frame]) for c in mechanism.coordinates),
        points={k: anchored(a) for k, a in mechanism.points.items()},
        platform=None if mechanism.platform is None else place[mechanism.platform],
    )


def _node(nodes: list[Frame], parent: int, marker: Marker, like: Frame) -> int:
    """The number of the node at a marker, appended to `nodes` if it is none of them."""
    for index, node in enumerate(nodes):
        if node.parent == parent and _same_place(node.marker, marker):
            return index
    nodes.append(
        replace(like, name=f"{like.name}^", parent=parent, marker=marker, motion="fixed", body=Body(), q=slice(0, 0),
                v=slice(0, 0), e=slice(0, 0), ev=slice(0, 0), role="node")
    )  # fmt: skip
    return len(nodes) - 1


def _same_place(a: Marker, b: Marker) -> bool:
    return is_zero(a.Phi_d - b.Phi_d) and is_zero(a.Phi_r - b.Phi_r) and is_zero(a.position - b.position)


def _anchors_on_nodes(mechanism: Mechanism, nodes: list[Frame]) -> dict[tuple[int, str], int]:
    """Closure and side -> node, for the anchors that move to a node; nodes that are missing are appended."""
    whole = mechanism.platform_side()
    found: dict[tuple[int, str], int] = {}
    for number, closure in enumerate(mechanism.closures):
        for side, anchor in (("first", closure.first), ("second", closure.second)):
            if anchor.frame in whole and closure.turning is None:
                continue
            if anchor.frame >= 0 and _bends(anchor.marker):
                bare = replace(anchor.marker, rotation=eye())
                found[number, side] = _node(nodes, anchor.frame, bare, mechanism.frames[anchor.frame])
    return found


def _places(count: int, nodes: list[Frame]) -> tuple[dict[int, int], list[int]]:
    """New numbers of the frames (-1 stays) and of the nodes, which come right behind their parents."""
    place, place_of_node = {-1: -1}, [0] * len(nodes)
    for index in range(count):
        place[index] = index + sum(f.parent < index for f in nodes)
        for k, node in enumerate(k for k, f in enumerate(nodes) if f.parent == index):
            place_of_node[node] = place[index] + 1 + k
    return place, place_of_node


def _bends_below(frame: Frame) -> bool:
    """Whether a frame's moving joint sits on a place that bends."""
    return frame.motion != "fixed" and frame.parent >= 0 and _bends(frame.marker)


def _bends(marker: Marker) -> bool:
    """Whether a place moves or turns with the elastic coordinates of its body."""
    return not (is_zero(marker.Phi_d) and is_zero(marker.Phi_r))


def _from_node(node: Marker, marker: Marker) -> Array:
    """Rotation of a marker in the axes of the frame at its node."""
    return eye() if is_zero(node.rotation - marker.rotation) else node.rotation.T @ marker.rotation
