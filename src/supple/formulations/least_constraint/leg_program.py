"""Robots of identical legs as a Program: one leg derived for all, numbers that differ between legs as its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.function import Array, Function, function, symbols
from supple.expr.passes.hoist import staged
from supple.expr.program import Program
from supple.expr.vector import zeros
from supple.formulations.least_constraint.closing import closing_friction
from supple.formulations.least_constraint.legs import Legs, Stuck, legs_of, meet, reduce
from supple.formulations.least_constraint.nodes import body
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.least_constraint.solution import Solution
from supple.formulations.least_constraint.tree import Choices, Tree, drives, tree_of
from supple.formulations.least_constraint.unknowns import Force, Slot
from supple.formulations.record import Unsupported
from supple.formulations.tree.identical_legs import Varying, leg_frames, leg_template
from supple.robot.mechanism import Frame, Mechanism
from supple.robot.nodes import opened
from supple.robot.simplify import simplify

Indices = npt.NDArray[np.intp]


def leg_program(mechanism: Mechanism, forward: bool, damped: bool = False) -> Program:
    """The inverse or forward model of a platform on identical legs; `damped` as in inverse_model."""
    simple = opened(simplify(mechanism))
    legs = leg_frames(simple)
    varying = Varying(len(legs))
    template = leg_template(simple, legs, varying)
    leg = _leg(template, forward, damped)
    common, prepare = _prepared(leg)
    try:
        gather, spread = _leg_functions(leg, common, varying, forward)
    except Stuck as stuck:
        raise Unsupported("rigid legs whose actuators are held by forces") from stuck
    meeting = _meeting(leg, common)
    return _program(mechanism, simple, legs, varying, (prepare, gather, meeting, spread), forward, damped)


@dataclass(frozen=True)
class Leg:
    """The platform and one leg; in space the platform's rotation and spin are symbols, with the true ones beside them."""

    legs: Legs
    p: int  # the platform's frame
    true_rotation: Array
    true_spin: Array

    @property
    def tree(self) -> Tree:
        return self.legs.tree


def _leg(template: Mechanism, forward: bool, damped: bool) -> Leg:
    active = [c.name for c in template.coordinates if c.kind == "active"]
    given = drives(template, [] if forward else active)
    legs = legs_of(tree_of(template, Choices(given, given.accelerated, prepared=lambda m: m, damped=damped)))
    assert template.platform is not None
    p, kin = template.platform, legs.tree.kin
    made = Leg(legs, p, kin.world[p][0], kin.motions[p].omega)
    if not template.planar:
        kin.world[p] = (symbols("R", (3, 3)), zeros(3))
        kin.motions[p] = replace(kin.motions[p], omega=symbols("w", 3))
    return made


# Functions ---------------------------------------------------------------------------------------------------------------


def _platform_part(leg: Leg) -> tuple[Array, Array]:
    """Symbols of the platform's positions and velocities."""
    end_q = leg.tree.m.frames[leg.p].q.stop
    end_v = leg.tree.m.frames[leg.p].v.stop
    return leg.tree.s.q[:end_q], leg.tree.s.v[:end_v]


def _prepared(leg: Leg) -> tuple[Array, Function]:
    """What legs need of the platform: rotation and spin in space, its own coordinates in the plane."""
    q, v = _platform_part(leg)
    if leg.tree.planar:
        values = np.concatenate([q, v])
        return values, function("prepare", {"q": q, "v": v}, {"common": values})
    common = np.concatenate([leg.tree.kin.world[leg.p][0].ravel(), leg.tree.kin.motions[leg.p].omega])
    true = np.concatenate([leg.true_rotation.ravel(), leg.true_spin])
    return common, function("prepare", {"q": q, "v": v}, {"common": true})


def _slots(leg: Leg) -> list[Slot]:
    return [Slot(leg.p, k) for k in leg.tree.alive[leg.p]]


def _leg_functions(leg: Leg, common: Array, varying: Varying, forward: bool) -> tuple[Function, Function]:
    """gather and spread of one leg."""
    (group,) = leg.legs.groups.values()
    reduce(leg.legs, group)
    for closure in leg.legs.outer:
        meet(leg.tree, group.Z, closure)
        closing_friction(leg.tree, closure, [leg.p], group.Z)
    if any(isinstance(x, Force) for x in group.Z.ids()):
        raise Unsupported("rigid legs that follow the platform by forces")
    ids = _slots(leg)
    part = [group.Z.get(i, j) for a, i in enumerate(ids) for j in ids[a:]] + [group.Z.linear.get(i, 0) for i in ids]
    slots = symbols("slots", len(ids))
    solution = Solution(leg.legs, [])
    solution.values |= dict(zip(ids, slots, strict=True))
    outputs = _leg_outputs(leg, solution, forward)
    q, v = _platform_part(leg)
    inputs = {
        "q": leg.tree.s.q[len(q) :], "v": leg.tree.s.v[len(v) :], "drive": leg.tree.s.a[leg.tree.m.indices("active")],
        "g": leg.tree.s.g, "c": varying.symbols(), "common": common, "slots": slots,
    }  # fmt: skip
    if leg.tree.x is not None:
        inputs["x"] = leg.tree.x
    whole = function("leg", inputs, outputs)
    early, late = staged(whole, [set(inputs) - {"slots"}, {"slots"}])
    gather = function("gather", early.inputs, {"part": part, "carried": early.outputs["carried"]})
    return gather, Function("spread", late.inputs, late.outputs)


def _leg_outputs(leg: Leg, solution: Solution, forward: bool) -> dict[str, list[Any]]:
    elastic: dict[int, Any] = {}
    for j in range(len(leg.tree.m.frames)):
        if j != leg.p and leg.tree.m.frames[j].body.flexible:
            elastic |= solution.elastic(j)
    driven = leg.tree.m.indices("active")
    frame_of = {f.v.start: j for j, f in enumerate(leg.tree.m.frames) if f.motion in ("revolute", "prismatic")}
    first = [solution.joint(frame_of[k]) if forward else solution.tau(k) for k in driven]
    return {"a_active" if forward else "tau": first, "a_elastic": [elastic[k] for k in sorted(elastic)]}


def _meeting(leg: Leg, common: Array) -> Function:
    """The platform's accelerations from the sum over the legs."""
    ids = _slots(leg)
    total = symbols("total", len(ids) * (len(ids) + 3) // 2)
    Z = Quadratic()
    entries = iter(total)
    for a, i in enumerate(ids):
        for j in ids[a:]:
            Z.add(i, j, next(entries))
    for i in ids:
        Z.add_linear(i, next(entries))
    Z.include(body(leg.tree, leg.p))
    solution = Solution(leg.legs, Z.minimise_all(ids))
    return function("meet", {"total": total, "common": common}, {"slots": [solution.value(i) for i in ids]})


def _program(
    original: Mechanism, simple: Mechanism, legs: list[list[int]], varying: Varying,
    parts: tuple[Function, Function, Function, Function], forward: bool, damped: bool,
) -> Program:  # fmt: skip
    """The Program with the places of every leg's numbers in the arrays of the original mechanism."""
    active, elastic = ([original.coordinates[k].name for k in original.indices(kind)] for kind in ("active", "elastic"))
    place_q, index = _places_q(original), np.intp
    rows = [_names(simple, leg) for leg in legs]
    chain = simple.platform_chain()
    take = {
        "q": np.array([_positions(simple, leg, place_q) for leg in legs], dtype=index),
        "v": _found(rows, original.names()),
        "drive": _found(rows, active),
    }
    drive, force = ("tau", "a_active") if forward else ("a_active", "tau")
    put = {force: take["drive"], "a_elastic": _found(rows, elastic)}
    own = {
        "q": np.array(_positions(simple, chain, place_q), dtype=index),
        "v": _found([_names(simple, chain)], original.names())[0],
    }
    inputs = {"q": original.nq, "v": original.nv, drive: len(active), "g": 3}
    if damped:
        take["x"], inputs["x"] = put["a_elastic"], len(elastic)
    outputs = {force: len(active), "a_elastic": len(elastic)}
    return Program("forward" if forward else "inverse", inputs, outputs, *parts, take, put, own, varying.constants())


def _names(m: Mechanism, frames: Sequence[int]) -> list[str]:
    """Names of the coordinates of some frames."""
    own = [(m.frames[j].v, m.frames[j].ev) for j in frames]
    return [c.name for joint, bent in own for c in m.coordinates[joint] + m.coordinates[bent]]


def _positions(m: Mechanism, frames: Sequence[int], place: dict[str, int]) -> list[int]:
    """Places in q of the numbers of some frames."""
    return [k for j in frames for k in _frame_places(m.frames[j], m, place)]


def _found(rows: list[list[str]], among: list[str]) -> Indices:
    """Places of the names of every row among others, those that are not there left out."""
    at = {name: k for k, name in enumerate(among)}
    return np.array([[at[n] for n in row if n in at] for row in rows], dtype=np.intp)


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
