"""Robots of identical legs as a Program: one leg derived for all, numbers that differ between legs as its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import Expr, symbol
from supple.expr.passes.hoist import split
from supple.expr.program import Program
from supple.expr.vector import zeros
from supple.formulations.affine import Unsupported
from supple.formulations.articulated import Articulated, Stuck
from supple.formulations.quadratic import Quadratic
from supple.formulations.solution import Solution
from supple.robot.mechanism import Coordinate, Frame, Mechanism
from supple.robot.simplify import opened, simplify


def leg_program(mechanism: Mechanism, forward: bool, damped: bool = False) -> Program:
    """The inverse or forward model of a platform on identical legs; `damped` as in inverse_model."""
    simple = opened(simplify(mechanism))
    legs = leg_frames(simple)
    varying = Varying(len(legs))
    template = leg_template(simple, legs, varying)
    method = Leg(template, forward, damped)
    common, prepare = _prepared(method)
    try:
        gather, spread = _leg_functions(method, common, varying)
    except Stuck as leg:
        raise Unsupported("rigid legs whose actuators are held by forces") from leg
    meet = _meeting(method, common)
    return _program(mechanism, simple, template, legs, varying, (prepare, gather, meet, spread), forward, damped)


class Varying:
    """Symbols for numbers that differ between legs; equal rows of numbers share one symbol."""

    def __init__(self, legs: int) -> None:
        self.legs = legs
        self.rows: dict[tuple[float, ...], Expr] = {}

    def unified(self, values: Sequence[Any]) -> Any:
        """One value that stands for that of every leg."""
        first = values[0]
        if isinstance(first, np.ndarray):
            if any(v.shape != first.shape for v in values):
                raise Unsupported("legs of different shape")
            made = np.empty(first.shape, dtype=object)
            for index in np.ndindex(first.shape):
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
        if all(abs(x - row[0]) <= 1e-15 * max(1.0, abs(row[0])) for x in row):
            return values[0]
        opposite = tuple(-x for x in row)
        if opposite in self.rows:
            return -self.rows[opposite]
        if row not in self.rows:
            self.rows[row] = symbol(f"c[{len(self.rows)}]")
        return self.rows[row]

    def symbols(self) -> Array:
        made = np.empty(len(self.rows), dtype=object)
        made[:] = list(self.rows.values())
        return made

    def constants(self) -> Any:
        return np.array(list(self.rows)).T.reshape(self.legs, len(self.rows))


class Leg(Articulated):
    """The articulated method on the platform and one leg; the platform's rotation and spin are symbols in space."""

    def __init__(self, template: Mechanism, forward: bool, damped: bool) -> None:
        super().__init__(template, forward, damped=damped)
        assert template.platform is not None
        self.p = template.platform
        self.true_rotation, self.true_spin = self.kin.world[self.p][0], self.kin.motions[self.p].omega
        if not self.planar:
            self.kin.world[self.p] = (symbols("R", (3, 3)), zeros(3))
            self.kin.motions[self.p] = replace(self.kin.motions[self.p], omega=symbols("w", 3))

    def _prepared(self, mechanism: Mechanism) -> Mechanism:
        return mechanism


def leg_frames(m: Mechanism) -> list[list[int]]:
    """Frames of every leg, in the same order; links fixed to the base belong to none."""
    if m.platform is None:
        raise Unsupported("a robot without a platform of its own")
    if m.frames[m.platform].body.flexible:
        raise Unsupported("a platform that bends")
    fixed = [i for i, f in enumerate(m.frames) if not f.leg and f.parent < 0 and f.motion == "fixed" and not f.body.flexible]
    chain = m.platform_chain() + fixed
    names = list(dict.fromkeys(f.leg for i, f in enumerate(m.frames) if i not in chain))
    legs = [[i for i, f in enumerate(m.frames) if i not in chain and f.leg == name] for name in names]
    templates = {m.frames[i].template for leg in legs for i in leg}
    if "" in names or len(templates) != 1 or len({len(leg) for leg in legs}) != 1 or len(legs) < 2:
        raise Unsupported("legs that are not all of one kind")
    for closure in m.closures:
        if m.platform not in (closure.first.frame, closure.second.frame) and not closure.name.startswith(tuple(names)):
            raise Unsupported(f"the closure {closure.name!r} outside the legs")
    return legs


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
        for part in (m.frames[old].v, m.frames[old].ev):
            for k in range(part.start, part.stop):
                offset = k - part.start
                others = [
                    m.coordinates[getattr(m.frames[i], "v" if part is m.frames[old].v else "ev").start + offset]
                    for i in same
                ]
                unified = varying.unified([replace(c, name="", frame=0) for c in others])
                coordinates.append(replace(unified, name=m.coordinates[k].name, frame=number[old]))
        own = m.frames[old]
        nqj, nvj, ne = own.q.stop - own.q.start, own.v.stop - own.v.start, own.e.stop - own.e.start
        frames.append(
            replace(
                frame, name=own.name, parent=number[own.parent], q=slice(nq, nq + nqj), e=slice(nq + nqj, nq + nqj + ne),
                v=slice(at, at + nvj), ev=slice(at + nvj, at + nvj + ne),
            )
        )  # fmt: skip
        nq += nqj + ne
    count = len(m.closures) // len(legs)
    groups = [[c for c in m.closures if _leg_of(c, m, leg)] for leg in legs]
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
    return replace(
        m, frames=tuple(frames), coordinates=tuple(coordinates), nq=nq, closures=tuple(closures), points={},
        platform=number[m.platform],  # type: ignore[index]
    )  # fmt: skip


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
        body=replace(frame.body, outline=None, slender=None),
    )


def _leg_of(closure: Any, m: Mechanism, leg: list[int]) -> bool:
    return closure.first.frame in leg or closure.second.frame in leg


# Functions ---------------------------------------------------------------------------------------------------------------


def _platform_part(method: Leg) -> tuple[Array, Array]:
    """Symbols of the platform's positions and velocities."""
    end_q = method.m.frames[method.p].q.stop
    end_v = method.m.frames[method.p].v.stop
    return method.s.q[:end_q], method.s.v[:end_v]


def _prepared(method: Leg) -> tuple[Array, Function]:
    """What legs need of the platform: rotation and spin in space, its own coordinates in the plane."""
    q, v = _platform_part(method)
    if method.planar:
        values = np.concatenate([q, v])
        return values, function("prepare", {"q": q, "v": v}, {"common": values})
    common = np.concatenate([method.kin.world[method.p][0].ravel(), method.kin.motions[method.p].omega])
    true = np.concatenate([method.true_rotation.ravel(), method.true_spin])
    return common, function("prepare", {"q": q, "v": v}, {"common": true})


def _slots(method: Leg) -> list[Any]:
    return [method.slot(method.p, k) for k in method.alive[method.p]]


def _leg_functions(method: Leg, common: Array, varying: Varying) -> tuple[Function, Function]:
    """gather and spread of one leg."""
    (group,) = method.groups.values()
    method.reduce(group)
    for closure in method.outer:
        method.meet(group.Z, closure)
        method._closing_friction(closure, [method.p], group.Z)
    ids = _slots(method)
    part = [group.Z.get(i, j) for a, i in enumerate(ids) for j in ids[a:]] + [group.Z.linear.get(i, 0) for i in ids]
    slots = symbols("slots", len(ids))
    solution = Solution(method, [])
    solution.values |= dict(zip(ids, slots, strict=True))
    outputs = _leg_outputs(method, solution)
    q, v = _platform_part(method)
    inputs = {
        "q": method.s.q[len(q) :], "v": method.s.v[len(v) :], "drive": method.s.a[method.drives()],
        "g": method.s.g, "c": varying.symbols(), "common": common, "slots": slots,
    }  # fmt: skip
    if method.x is not None:
        inputs["x"] = method.x
    whole = function("leg", inputs, outputs)
    early, late = split(whole, [set(inputs) - {"slots"}, {"slots"}])
    gather = function("gather", early.inputs, {"part": part, "carried": early.outputs["carried"]})
    return gather, Function("spread", late.inputs, late.outputs)


def _leg_outputs(method: Leg, solution: Solution) -> dict[str, list[Any]]:
    elastic: dict[int, Any] = {}
    for j in range(len(method.m.frames)):
        if j != method.p and method.m.frames[j].body.flexible:
            elastic |= solution.elastic(j)
    driven = method.drives()
    frame_of = {f.v.start: j for j, f in enumerate(method.m.frames) if f.motion in ("revolute", "prismatic")}
    first = [solution.joint(frame_of[k]) if method.forward else solution.tau(k) for k in driven]
    return {"a_active" if method.forward else "tau": first, "a_elastic": [elastic[k] for k in sorted(elastic)]}


def _meeting(method: Leg, common: Array) -> Function:
    """The platform's accelerations from the sum over the legs."""
    ids = _slots(method)
    total = symbols("total", len(ids) * (len(ids) + 3) // 2)
    Z = Quadratic()
    entries = iter(total)
    for a, i in enumerate(ids):
        for j in ids[a:]:
            Z.add(i, j, next(entries))
    for i in ids:
        Z.add_linear(i, next(entries))
    Z.include(method.body(method.p))
    solution = Solution(method, Z.minimise_all(ids))
    return function("meet", {"total": total, "common": common}, {"slots": [solution.value(i) for i in ids]})


def _program(
    original: Mechanism, simple: Mechanism, template: Mechanism, legs: list[list[int]], varying: Varying,
    parts: tuple[Function, Function, Function, Function], forward: bool, damped: bool,
) -> Program:  # fmt: skip
    """The Program with the places of every leg's numbers in the arrays of the original mechanism."""
    place_v = {c.name: k for k, c in enumerate(original.coordinates)}
    place_q = _places_q(original)
    active = [c.name for c in original.coordinates if c.kind == "active"]
    elastic = [c.name for c in original.coordinates if c.kind == "elastic"]
    inside = [[simple.frames[i] for i in leg] for leg in legs]

    def names(frame: Frame) -> list[str]:
        return [c.name for c in simple.coordinates[frame.v] + simple.coordinates[frame.ev]]

    rows = [[n for f in leg for n in names(f)] for leg in inside]
    every_q = [[k for f in leg for k in _frame_places(f, simple, place_q)] for leg in inside]
    platform = [simple.frames[j] for j in simple.platform_chain()]
    index = np.intp
    take = {
        "q": np.array(every_q, dtype=index),
        "v": np.array([[place_v[n] for n in row] for row in rows], dtype=index),
        "drive": np.array([[active.index(n) for n in row if n in active] for row in rows], dtype=index),
    }
    put = {
        "a_active" if forward else "tau": take["drive"],
        "a_elastic": np.array([[elastic.index(n) for n in row if n in elastic] for row in rows], dtype=index),
    }
    own = {
        "q": np.array([k for f in platform for k in _frame_places(f, simple, place_q)], dtype=index),
        "v": np.array([place_v[n] for f in platform for n in names(f)], dtype=index),
    }
    drive = "tau" if forward else "a_active"
    inputs = {"q": original.nq, "v": original.nv, drive: len(active), "g": 3}
    if damped:
        take["x"], inputs["x"] = put["a_elastic"], len(elastic)
    outputs = {"a_active" if forward else "tau": len(active), "a_elastic": len(elastic)}
    return Program("forward" if forward else "inverse", inputs, outputs, *parts, take, put, own, varying.constants())


def _places_q(m: Mechanism) -> dict[str, int]:
    """First position number of every coordinate's joint, and of every elastic coordinate."""
    made = {}
    for f in m.frames:
        if f.v.stop > f.v.start:
            made[m.coordinates[f.v.start].name] = f.q.start
        for offset, c in enumerate(m.coordinates[f.ev]):
            made[c.name] = f.e.start + offset
    return made


def _frame_places(f: Frame, m: Mechanism, place: dict[str, int]) -> list[int]:
    found = []
    if f.v.stop > f.v.start:
        first = place[m.coordinates[f.v.start].name]
        found += list(range(first, first + f.q.stop - f.q.start))
    return found + [place[c.name] for c in m.coordinates[f.ev]]
