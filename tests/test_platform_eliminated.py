"""A platform on rigid legs by its own equation (Long, Khalil & Martinet 2014), against the general solution."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from closed_states import closed_state
from modal_platforms import modal_body, with_elastic_platform

from supple.backends.interpreter import interpret
from supple.errors import SuppleError
from supple.expr.function import Function
from supple.formulations.platform_eliminated import (
    deformation_model,
    forward_model,
    inverse_model,
    platform_eliminated,
    platform_inverse_model,
)
from supple.formulations.record import Unsupported
from supple.machine import Machine, locate
from supple.model.model import Model
from supple.model.posture import posture
from supple.robot.assemble import assemble
from supple.robot.reader import describe_text

NAMES = ["gough_stewart_plate", "gough_stewart rigid", "3rrr rigid", "shapes"]

# Table 2 of the paper (rad/s, modes 7-16; the last three come from a coarse mesh) and the joints of table 4
TABLE_2 = [188.7473, 188.7475, 315.7169, 401.0187, 474.7468, 709.5586, 709.5814]
TABLE_4 = {
    "q1": (-1.671, -1.373, -2.016, -1.958, -1.656, -1.936),
    "q2": (1.767, 1.764, 1.814, 1.859, 1.389, 1.345),
    "q3": (1.025, 1.039, 1.142, 1.126, 1.0203, 1.099),
}


@cache
def robot(name: str) -> Model:
    if name == "shapes":
        rng = np.random.default_rng(2)
        return with_elastic_platform(Machine.read("gough_stewart").model(rigid=True).mechanism, modal_body(rng, 5), rng)
    weight = {"gravity": 9.81} if name == "gough_stewart_plate" else {}
    return Machine.read(name.removesuffix(" rigid"), weight).model(rigid=name.endswith(" rigid"))


def call(f: Function, **given: Any) -> dict[str, np.ndarray]:
    return dict(interpret(f)(**{k: given.get(k, np.zeros(a.shape)) for k, a in f.inputs.items()}))


def same(found: np.ndarray, true: np.ndarray, size: float = 1e-3) -> None:
    assert np.abs(found - true).max(initial=0.0) <= 1e-10 * max(np.abs(true).max(initial=0.0), size)


@pytest.mark.parametrize("name", NAMES)
def test_closed_form_equals_the_general_solution(name: str) -> None:
    """At random closed states, under loads: virtual power on the whole tree (Model), which eliminates nothing by hand."""
    model = robot(name)
    m, elastic, platform = model.mechanism, model.mechanism.indices("elastic"), model.mechanism.indices("platform")
    inverse, forward = inverse_model(m, loads=True), forward_model(m, loads=True)
    from_platform = platform_inverse_model(m, loads=True)
    for seed in range(3):
        state, rng = closed_state(model, seed), np.random.default_rng(seed)
        w = rng.uniform(-50, 50, (len(m.points), 6))
        given = {"q": state.q, "v": state.v, "g": model.gravity, "w": w}
        a = rng.uniform(-1, 1, len(model.active))
        size = float(np.abs(model.forces(state.q, state.v)).max())
        true, found = model.inverse(state.q, state.v, a, w=w), call(inverse, a_active=a, **given)
        same(found["tau"], true.tau, size)
        same(found["a_elastic"], true.a[elastic])
        found = call(from_platform, a_platform=true.a[platform], **given)
        same(found["tau"], true.tau, size)
        same(found["a_elastic"], true.a[elastic])
        tau = true.tau + rng.uniform(-1, 1, len(model.active))
        true, found = model.forward(state.q, state.v, tau, w=w), call(forward, tau=tau, **given)
        same(found["a_active"], true.a[model.active], float(np.abs(true.a).max()))
        same(found["a_elastic"], true.a[elastic])


@pytest.mark.parametrize("name", NAMES)
def test_the_direct_model_undoes_the_inverse_one(name: str) -> None:
    model = robot(name)
    inverse, forward = inverse_model(model.mechanism), forward_model(model.mechanism)
    for seed in range(3):
        state, a = closed_state(model, seed), np.random.default_rng(seed).uniform(-2, 2, len(model.active))
        given = {"q": state.q, "v": state.v, "g": model.gravity}
        found = call(inverse, a_active=a, **given)
        again = call(forward, tau=found["tau"], **given)
        size = float(np.abs(found["a_elastic"]).max(initial=1.0))
        same(again["a_active"], a, size)
        same(again["a_elastic"], found["a_elastic"], size)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_by_elimination_equals_the_one_by_projection(name: str) -> None:
    """The same elimination with numbers, reactions of the loops included."""
    model = robot(name)
    other = Model(platform_eliminated(model.mechanism))
    for seed in range(3):
        state, a = closed_state(model, seed), np.random.default_rng(seed).uniform(-1, 1, len(model.active))
        true, found = model.inverse(state.q, state.v, a), other.inverse(state.q, state.v, a)
        for key in ("a", "tau", "reactions"):
            same(getattr(found, key), getattr(true, key))
        true, found = model.forward(state.q, state.v, a), other.forward(state.q, state.v, a)
        for key in ("a", "reactions"):
            same(getattr(found, key), getattr(true, key))


def test_it_is_a_formulation() -> None:
    model = Machine.read("gough_stewart_plate").model("platform_eliminated")
    assert model.equations.formulation == "platform_eliminated"
    assert model.equations.coupling == "platform"


@pytest.mark.parametrize("name", ["gough_stewart_plate", "gough_stewart rigid", "shapes"])
def test_forces_at_the_attachments_are_the_reactions_of_the_balls(name: str) -> None:
    """Reactions of the general solution act on the legs, in the axes of the attachment as it is turned (Cayley)."""
    model = robot(name)
    m = model.mechanism
    f = inverse_model(m, attachments=True)
    state, a = closed_state(model, 1), np.linspace(-1, 1, 6)
    found = call(f, q=state.q, v=state.v, g=model.gravity, a_active=a)["force"]
    reactions = model.inverse(state.q, state.v, a).reactions.reshape(6, 3)
    qe = state.q[m.frames[m.platform].e]
    for closure, force, reaction in zip(m.closures, found, reactions, strict=True):
        x, y, z = half = (closure.first.marker.Phi_r.astype(float) @ qe) / 2
        H = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        E = np.eye(3) + 2 * (H + H @ H) / (1 + half @ half)
        same(force, -E @ closure.first.marker.rotation.astype(float) @ reaction, float(np.abs(reactions).max()))


def test_forces_at_the_attachments_carry_the_weight_of_a_platform_at_rest() -> None:
    """Whatever the shape of the plate, the six forces add up to its weight (73.069 kg in the paper) and have no moment about
    its centre, if its frame is at rest: free-free modes move neither its centre nor its mean axes."""
    model = robot("gough_stewart_plate")
    m, state = model.mechanism, closed_state(model, 2)
    frame = m.frames[m.platform]
    f = platform_inverse_model(m, attachments=True)
    force = call(f, q=state.q, g=model.gravity)["force"]
    R = model.call("points", q=state.q * np.where(np.isin(np.arange(m.nq), np.r_[frame.e]), 0, 1))["rotation"][0]
    assert R @ force.sum(axis=0) == pytest.approx([0, 0, 73.069 * 9.81], abs=0.03)
    arms = np.array([c.first.marker.position + c.first.marker.Phi_d @ state.q[frame.e] for c in m.closures], dtype=float)
    assert np.abs(np.cross(arms, force).sum(axis=0)).max() < 1e-8 * np.abs(force).max()


def test_deformation_at_the_attachments_and_the_origin() -> None:
    """Positions of closures and points on the bent platform differ from those of the rigid one by the model's outputs."""
    model = robot("gough_stewart_plate")
    m, state = model.mechanism, closed_state(model, 0)
    found = call(deformation_model(m), q=state.q)
    assert found["displacement"].shape == found["rotation"].shape == (7, 3)
    straight = state.q.copy()
    straight[m.frames[m.platform].e] = 0
    moved = model.call("points", q=state.q)["position"] - model.call("points", q=straight)["position"]
    R = model.call("points", q=straight)["rotation"][0]
    assert R @ found["displacement"][-1] == pytest.approx(moved[0], abs=1e-15)


# The robot of the paper --------------------------------------------------------------------------------------------------


def test_the_plate_has_the_modes_of_the_paper() -> None:
    """Table 2: modes 7-11 within 0.5 %, 12 and 13 within 1.2 %; its modes 14-16 are 8 to 9 % above a converged mesh.
    Modes are mass-normalised and damped by 2 d sqrt(k), d = 0.4 (section 4.4)."""
    m = robot("gough_stewart_plate").mechanism
    body = m.frames[m.platform].body
    K, D = body.K_ee.astype(float), body.D_ee.astype(float)
    assert len(K) == 10
    off = np.abs(np.sqrt(np.diag(K))[:7] / np.array(TABLE_2) - 1)
    assert off[:5].max() < 0.005 and off.max() < 0.012
    assert body.M_ee.astype(float) == pytest.approx(np.eye(10))
    assert pytest.approx(np.diag(2 * 0.4 * np.sqrt(np.diag(K)))) == D
    assert float(body.mass) == pytest.approx(73.069, abs=0.003)


def test_the_first_pose_is_that_of_table_4() -> None:
    model = robot("gough_stewart_plate")
    q = dict(zip(model.names, np.zeros(model.nv), strict=True))
    places = {c.name: model.mechanism.frames[c.frame].q.start for c in model.mechanism.coordinates if "/" in c.name}
    closed = posture(model)
    for joint, values in TABLE_4.items():
        for leg, printed in enumerate(values):
            name = f"leg{leg + 1}/{joint}"
            assert name in q
            assert closed[places[name]] == pytest.approx(printed, abs=1.1e-3)


def test_a_platform_led_by_the_inverse_model_has_the_accelerations_of_its_path() -> None:
    """Figure 5 of the paper: direct less wanted acceleration is rounding, and the pose stays on the path to the tolerance of
    the integrator (1e-9); the loop is that of `supple paper long2014`."""
    from supple.papers.platform_loop import led

    path = Machine.read(locate("gough_stewart_plate")).motion("poses").path
    assert path is not None
    record = led(robot("gough_stewart_plate"), path.cut(0.45, 0.65), samples=41)
    assert np.abs(record.acceleration).max() > 0.5
    assert np.abs(record.error).max() < 1e-12
    assert np.abs(record.pose_error).max() < 1e-8
    assert np.abs(record.closure).max() < 1e-10
    assert np.ptp(record.elastic, axis=0).max() > 1e-3  # the plate does vibrate


# Which robots ------------------------------------------------------------------------------------------------------------

REFUSED = {
    "dualemps": "missing platform",
    "gough_stewart": "the legs must be rigid",
    "delta": "rigid",
    "bricard": "missing platform",
}


@pytest.mark.parametrize("name", REFUSED)
def test_robots_it_does_not_take(name: str) -> None:
    mechanism = Machine.read(name).mechanism()
    for make in (inverse_model, forward_model):
        with pytest.raises(Unsupported, match=REFUSED[name]):
            make(mechanism)
    with pytest.raises(SuppleError, match=REFUSED[name]):
        Machine.read(name).model("platform_eliminated")


def test_a_leg_needs_as_many_joints_as_its_closing_joint_has_equations() -> None:
    text = locate("gough_stewart_plate").read_text(encoding="utf-8")
    text = text.replace("joint: spherical", "joint: fixed")
    with pytest.raises(Unsupported, match="3 joints for a closing joint of 6 equations"):
        inverse_model(assemble(describe_text(text, "clamped.yaml")))
