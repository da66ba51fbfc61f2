"""Closed-form models with loads at the named points, mixed drives, and platforms that bend, against the general solution."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from closed_states import closed_state
from modal_platforms import modal_body, with_elastic_platform
from robots import build

from supple import models
from supple.backends.interpreter import interpret
from supple.errors import SuppleError
from supple.expr.function import Function
from supple.machine import GALLERY, Machine, gallery
from supple.model.model import Model

STEWART = (GALLERY / "gough_stewart.yaml").read_text(encoding="utf-8")
SPRING = ", stiffness: {z: k}"
# a beam as platform: legs sit between its nodes, and on arms beside it
BEAM = re.sub(
    r"  plate: \{rigid.*\n",
    "  plate: {beam: {length: 1 m, start: [-0.5, 0, 0], elements: 2, section: s, material: m}}\n",
    STEWART.replace(
        "damping: {structural: 0.02}",
        "damping: {rayleigh: {alpha: 0.5, beta: 1e-5}}\nmaterials: {m: {E: 20 GPa, rho: 7500}}\n"
        "sections: {s: {rectangle: {y: 100 mm, z: 30 mm}}}",
    ),
).replace(
    "  centre: {link: platform}", "  off: {link: platform, at: [0.3, 0.1, 0.2]}\n  rod: {link: leg2/3, at: [0.01, 0.02, 0]}"
)
BALL = "joint: spherical\n"
SOFT_BALL = f"{BALL}        stiffness: {{x: 1e6, y: 2e6, z: 3e6}}\n        damping: {{x: 10, y: 10, z: 10}}\n"
# rods that bend, clamped to the platform: the legs share rotations with it too
CLAMPED = """
space: spatial
gravity: [1, -2, -9]
materials: {m: {E: 20 GPa, rho: 2000}}
sections: {s: {rectangle: {y: 20 mm, z: 30 mm}}}
damping: {rayleigh: {alpha: 0.5, beta: 1e-5}}
bodies:
  hip: {rigid: {mass: 1, inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}}
  rod: {beam: {length: 1, section: s, material: m, axis: z}}
  plate: {rigid: {mass: 5, inertia: {xx: 0.1, yy: 0.1, zz: 0.2}}}
platform: {body: plate, at: [0, 0, 1]}
legs:
  leg:
    count: 3
    links:
      hip: {parent: base, at: [0.3*cos(2*pi*i/3), 0.3*sin(2*pi*i/3), 0], joint: revolute, axis: x, q: a, body: hip}
      rod: {parent: hip, joint: revolute, axis: y, q: b, body: rod}
    closures:
      clamp: {joint: fixed, from: {link: platform, at: [0.3*cos(2*pi*i/3), 0.3*sin(2*pi*i/3), 0]}, to: {link: rod, on: end}}
    actuators: {a: {inertia: 0.1}}
points:
  tip: {link: platform, at: [0, 0.1, 0.2]}
"""
NAMES = [n for n in gallery() if n not in ("surgiscope", "delta", "3prr")]  # which take long, or have no closed form
BENDING = [
    "shapes on rigid legs", "shapes on sprung legs", "shapes on clamped rods", "beam on rigid legs", "beam on sprung legs",
    "beam on soft balls", "rigid on soft balls",
]  # fmt: skip


@cache
def robot(name: str) -> Model:
    if name in gallery():
        return Machine.read(name).model()
    rng = np.random.default_rng(3)
    bare, sprung = STEWART.replace(SPRING, ""), STEWART
    texts = {
        "shapes on rigid legs": bare,
        "shapes on sprung legs": sprung,
        "shapes on clamped rods": CLAMPED,
        "beam on rigid legs": BEAM.replace(SPRING, ""),
        "beam on sprung legs": BEAM,
        "beam on soft balls": BEAM.replace(SPRING, "").replace(BALL, SOFT_BALL),
        "rigid on soft balls": bare.replace(BALL, SOFT_BALL),
    }
    model = build(texts[name])
    return with_elastic_platform(model.mechanism, modal_body(rng, 4), rng) if "shapes" in name else model


def call(f: Function, **given: Any) -> dict[str, np.ndarray]:
    return dict(interpret(f)(**{k: given.get(k, np.zeros(a.shape)) for k, a in f.inputs.items()}))


def same(found: np.ndarray, true: np.ndarray, size: float = 1e-3) -> None:
    assert np.abs(found - true).max(initial=0.0) <= 1e-10 * max(np.abs(true).max(initial=0.0), size)


@pytest.mark.parametrize("name", [*NAMES, *BENDING])
def test_inverse_and_forward_under_loads_equal_the_general_solution(name: str) -> None:
    """The general solution is virtual power on the whole virtual tree (Model), which shares no step with the closed form."""
    model = robot(name)
    m, elastic = model.mechanism, model.mechanism.indices("elastic")
    inverse, forward = models.inverse(m, loads=True), models.forward(m, loads=True)
    assert inverse.inputs["w"].shape == forward.inputs["w"].shape == (len(m.points), 6)
    for seed in range(2):
        state, rng = closed_state(model, seed), np.random.default_rng(seed)
        w = rng.uniform(-50, 50, (len(m.points), 6))
        given = {"q": state.q, "v": state.v, "g": model.gravity, "w": w}
        a = rng.uniform(-1, 1, len(model.active))
        size = float(np.abs(model.forces(state.q, state.v)).max())  # elastic forces cancel in tau
        true, found = model.inverse(state.q, state.v, a, w=w), call(inverse, a_active=a, **given)
        same(found["tau"], true.tau, size)
        same(found["a_elastic"], true.a[elastic])
        again, largest = call(forward, tau=found["tau"], **given), float(np.abs(true.a).max(initial=0.0))
        same(again["a_active"], a, largest)  # the forward model undoes the inverse one
        same(again["a_elastic"], found["a_elastic"], largest)
        tau = true.tau + rng.uniform(-1, 1, len(model.active))
        true, found = model.forward(state.q, state.v, tau, w=w), call(forward, tau=tau, **given)
        same(found["a_active"], true.a[model.active], float(np.abs(true.a).max(initial=0.0)))
        same(found["a_elastic"], true.a[elastic])


@pytest.mark.parametrize("name", [*NAMES, *BENDING])
def test_mixed_drives_equal_the_general_solution(name: str) -> None:
    """Under the forces found for the prescribed actuators, Model.forward gives them the accelerations they were to have."""
    model = robot(name)
    active = [model.names[i] for i in model.active]
    if len(active) < 2:
        pytest.skip("one actuator")
    m, elastic = model.mechanism, model.mechanism.indices("elastic")
    chosen = active[::2]
    hybrid = models.hybrid(m, chosen[::-1], loads=True)  # the order of names does not matter
    assert list(hybrid.inputs) == ["q", "v", "a_prescribed", "tau_free", "g", "w"]
    for seed in range(2):
        state, rng = closed_state(model, seed), np.random.default_rng(seed)
        w = rng.uniform(-50, 50, (len(m.points), 6))
        a = rng.uniform(-1, 1, len(chosen))
        hold = model.inverse(state.q, state.v, np.zeros(len(active)), w=w).tau
        free = (hold + rng.uniform(-1, 1, len(active)))[1::2]
        found = call(hybrid, q=state.q, v=state.v, g=model.gravity, w=w, a_prescribed=a, tau_free=free)
        tau = np.zeros(len(active))
        tau[::2], tau[1::2] = found["tau"], free
        true = model.forward(state.q, state.v, tau, w=w)
        size = float(np.abs(true.a).max())
        same(true.a[model.active[::2]], a, size)
        same(found["a_active"], true.a[model.active[1::2]], size)
        same(found["a_elastic"], true.a[elastic], size)


def test_all_or_no_actuators_prescribed_are_the_inverse_and_forward_models() -> None:
    model = robot("shapes on rigid legs")
    m, state, rng = model.mechanism, closed_state(model, 0), np.random.default_rng(0)
    given, x = {"q": state.q, "v": state.v, "g": model.gravity}, rng.uniform(-1, 1, 6)
    names = [model.names[i] for i in model.active]
    every, none = models.hybrid(m, names), models.hybrid(m, [])
    same(call(every, a_prescribed=x, **given)["tau"], call(models.inverse(m), a_active=x, **given)["tau"])
    same(call(none, tau_free=x, **given)["a_active"], call(models.forward(m), tau=x, **given)["a_active"])


def test_a_prescribed_joint_must_be_an_actuator() -> None:
    with pytest.raises(SuppleError, match="no actuator 'leg1/q1'"):
        models.hybrid(robot("gough_stewart").mechanism, ["leg1/q1"])
