"""Identical legs of a platform: one that stands for all, numbers that differ between them as symbols."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from supple.expr.function import Array
from supple.expr.node import Expr, parameter
from supple.formulations.record import Unsupported
from supple.robot.mechanism import Closure, Coordinate, Frame, Mechanism

_SAME = 1e-15  # relative difference of numbers that are rounding


class Varying:
    """Symbols for numbers that differ between legs; equal rows of numbers share one symbol."""

    def __init__(self, legs: int) -> None:
        self.legs = legs
        self.rows: dict[tuple[float, ...], Expr] = {}
        self.family: list[Expr] = []

    def unified(self, values: Sequence[Any]) -> Any:
        """One value that stands for that of every leg."""
        first = values[0]
        if all(v is first for v in values):
            return first
        if isinstance(first, np.ndarray):
            if any(v.shape != first.shape for v in values):
                raise Unsupported("legs of different shape")
            made = np.array(first, dtype=object)
            for index in _differing(values):
                made[index] = self.unified([v[index] for v in values])
            return made
        if isinstance(first, tuple):
            return tuple(self.unified(same) for same in zip(*values, strict=True))
        if is_dataclass(first) and not isinstance(first, type):
            changed = {f.name: self.unified([getattr(v, f.name) for v in values]) for f in fields(first)}
            return replace(first, **changed)
        if isinstance(first, (int, float, Fraction)) and not isinstance(first, bool):
            return self._number(values)
        return first

    def _number(self, values: Sequence[Any]) -> Any:
        if any(isinstance(v, Expr) for v in values):
            raise Unsupported("kept parameters that differ between legs")
        row = tuple(float(v) for v in values)
        if all(abs(x - row[0]) <= _SAME * max(1.0, abs(row[0])) for x in row):
            return values[0]
        opposite = tuple(-x for x in row)
        if opposite in self.rows:
            return -self.rows[opposite]
        if row not in self.rows:
            self.rows[row] = parameter(f"c[{len(self.rows)}]", self.family)
        return self.rows[row]

    def symbols(self) -> Array:
        made = np.empty(len(self.rows), dtype=object)
        made[:] = list(self.rows.values())
        return made

    def constants(self) -> Any:
        return np.array(list(self.rows)).T.reshape(self.legs, len(self.rows))


def _differing(values: Sequence[Array]) -> Iterable[tuple[int, ...]]:
    """Places at which arrays may differ: all, unless they are numbers."""
    first = values[0]
    try:
        rows = np.array([v.astype(float) for v in values])
    except TypeError:  # expressions
        return np.ndindex(first.shape)
    other = np.abs(rows - rows[0]) > _SAME * np.maximum(1.0, np.abs(rows[0]))
    return map(tuple, np.argwhere(other.any(axis=0)))


def leg_frames(m: Mechanism) -> list[list[int]]:
    """Frames of every leg, in the same order; links fixed to the base belong to none."""
    if m.platform is None:
        raise Unsupported("a robot without a platform of its own")
    if m.frames[m.platform].body.flexible:
        raise Unsupported("a platform that bends")
    fixed = [i for i, f in enumerate(m.frames) if not f.leg and f.parent < 0 and f.motion == "fixed" and not f.body.flexible]
    chain = m.platform_chain() + fixed
    legs: dict[str, list[int]] = {}
    for i, frame in enumerate(m.frames):
        if i not in chain:
            legs.setdefault(frame.leg, []).append(i)
    templates = {m.frames[i].template for leg in legs.values() for i in leg}
    if "" in legs or len(templates) != 1 or len({len(leg) for leg in legs.values()}) != 1 or len(legs) < 2:
        raise Unsupported("legs that are not all of one kind")
    _check_closures(m)
    return list(legs.values())


def _check_closures(m: Mechanism) -> None:
    """Every loop closes on the platform or within one leg."""
    for closure in m.closures:
        ends = [a.frame for a in (closure.first, closure.second) if a.frame >= 0]
        if m.platform not in ends and len({m.frames[j].leg for j in ends}) != 1:
            raise Unsupported(f"the closure {closure.name!r} outside the legs")


def leg_template(m: Mechanism, legs: list[list[int]], varying: Varying) -> Mechanism:
    """The platform and one leg that stands for all."""
    inside = {i for leg in legs for i in leg}
    shared = [i for i in range(len(m.frames)) if i not in inside]
    number = {-1: -1} | {old: new for new, old in enumerate(shared)}
    for leg in legs:
        number |= {old: len(shared) + k for k, old in enumerate(leg)}
    frames: list[Frame] = []
    coordinates: list[Coordinate] = []
    nq = 0
    for old in [*shared, *legs[0]]:
        same = [leg[legs[0].index(old)] for leg in legs] if old in inside else [old]
        frame: Frame = varying.unified([_bare(m.frames[i]) for i in same])
        at = len(coordinates)
        coordinates += _unified_coordinates(m, old, same, number[old], varying)
        own = m.frames[old]
        nqj, nvj, ne = own.q.stop - own.q.start, own.v.stop - own.v.start, own.e.stop - own.e.start
        frames.append(
            replace(
                frame, name=own.name, parent=number[own.parent], q=slice(nq, nq + nqj), e=slice(nq + nqj, nq + nqj + ne),
                v=slice(at, at + nvj), ev=slice(at + nvj, at + nvj + ne),
            )
        )  # fmt: skip
        nq += nqj + ne
    return replace(
        m, frames=tuple(frames), coordinates=tuple(coordinates), nq=nq, points={},
        closures=tuple(_unified_closures(m, legs, number, varying)),
        platform=number[m.platform],  # type: ignore[index]
    )  # fmt: skip


def _unified_coordinates(m: Mechanism, old: int, same: list[int], frame: int, varying: Varying) -> Iterator[Coordinate]:
    """Coordinates of a frame and of those that are the same in other legs, as one."""
    for part in ("v", "ev"):
        own: slice = getattr(m.frames[old], part)
        for offset, k in enumerate(range(own.start, own.stop)):
            others = [m.coordinates[getattr(m.frames[i], part).start + offset] for i in same]
            unified = varying.unified([replace(c, name="", frame=0) for c in others])
            yield replace(unified, name=m.coordinates[k].name, frame=frame)


def _unified_closures(
    m: Mechanism, legs: list[list[int]], number: dict[int, int], varying: Varying
) -> list[Closure]:  # fmt: skip
    """Closures of one leg, each with those that are the same in other legs."""
    count = len(m.closures) // len(legs)
    groups = [[c for c in m.closures if c.first.frame in leg or c.second.frame in leg] for leg in legs]
    if any(len(g) != count for g in groups):
        raise Unsupported("legs with different closures")
    closures = []
    for same_closures in zip(*groups, strict=True):
        anchors = {}
        for side in ("first", "second"):
            ends = [getattr(c, side) for c in same_closures]
            marker = varying.unified([a.marker for a in ends])
            anchors[side] = replace(ends[0], frame=number[ends[0].frame], marker=marker)
        closures.append(replace(same_closures[0], **anchors))
    return closures


def _bare(frame: Frame) -> Frame:
    """A frame without its place in the tree and in the coordinates, which differ between legs anyway."""
    none = slice(0, 0)
    return replace(
        frame,
        name="",
        leg="",
        parent=-1,
        q=none,
        v=none,
        e=none,
        ev=none,
        body=replace(frame.body, outline=None, slender=None, fibres=None),
    )
