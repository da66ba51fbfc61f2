"""Robots of identical legs as a Program: one leg derived for all, numbers that differ between legs as its inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from supple.expr.function import Array, Function, function, symbols
from supple.expr.passes.hoist import split
from supple.expr.program import Program
from supple.expr.vector import zeros
from supple.formulations.least_constraint.articulated import Articulated, Stuck
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.least_constraint.solution import Solution
from supple.formulations.record import Unsupported
from supple.formulations.tree.identical_legs import Varying, leg_frames, leg_template
from supple.robot.mechanism import Frame, Mechanism
from supple.robot.nodes import opened
from supple.robot.simplify import simplify


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
