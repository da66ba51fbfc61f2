"""The chains of a virtual tree: what is left hanging on the base, each by itself, when all loops are cut."""

from __future__ import annotations

from dataclasses import dataclass

from supple.robot.mechanism import Mechanism


@dataclass(frozen=True)
class Chain:
    """Frames of one chain, base first, and its generalised velocities."""

    frames: tuple[int, ...]
    v: tuple[int, ...]


def chains(mechanism: Mechanism) -> list[Chain]:
    """Chains that share no coordinate, in the order of their first frame; the platform on its own joints is one of them."""
    root: list[int] = []
    members: dict[int, list[int]] = {}
    for index, frame in enumerate(mechanism.frames):
        above = root[frame.parent] if frame.parent >= 0 else -1
        moves = frame.v.stop > frame.v.start or frame.ev.stop > frame.ev.start
        root.append(above if above >= 0 or not moves else index)  # -1: part of the ground
        if root[index] >= 0:
            members.setdefault(root[index], []).append(index)
    made = []
    for frames in members.values():
        parts = [part for i in frames for part in (mechanism.frames[i].v, mechanism.frames[i].ev)]
        v = sorted(k for part in parts for k in range(part.start, part.stop))
        made.append(Chain(tuple(frames), tuple(v)))
    return made
