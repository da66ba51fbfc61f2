"""Poses come from the assembly mode of home, or are refused in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robots import build
from walks import Crowd, judged, ways_to_ask

from supple.analyses.modes import modes
from supple.errors import PoseError
from supple.machine import Machine, gallery, locate
from supple.model.continuation import Goal, HeldPostures
from supple.model.curvature import Curvature
from supple.model.model import Model
from supple.model.posture import posture, postures

FIVE_BAR = Path(__file__).parent / "data" / "five_bar_outward.yaml"
LOOPED = [r for r in gallery() if r not in ("cantilever", "serial_arm")]


def tip(first: float, second: float) -> np.ndarray | None:
    """The upper intersection of circles of 0.5 m about the elbows: the loop of FIVE_BAR closed by hand."""
    one = np.array([-0.125 + 0.4 * np.cos(first), 0.4 * np.sin(first)])
    two = np.array([0.125 + 0.4 * np.cos(second), 0.4 * np.sin(second)])
    across = two - one
    length = np.hypot(*across)
    if length >= 1.0:
        return None
    return (one + two) / 2 + np.sqrt(0.25 - length**2 / 4) * np.array([-across[1], across[0]]) / length


def test_the_five_bar_stays_in_its_assembly() -> None:
    """Poses all over the workspace; Newton's method from home ends in the lower closure at one in twenty of them."""
    model = Machine.read(FIVE_BAR).model()
    poses = np.vstack([np.radians([93.0, 72.0]), np.random.default_rng(2).uniform(0.3, 2.8, (40, 2))])
    for first, second in poses:
        expected = tip(first, second)
        try:
            q = posture(model, {"leg1/q1": first, "leg2/q1": second})
        except PoseError:
            assert expected is None
            continue
        assert expected is not None
        assert np.abs(model.call("points", q=q)["position"][0][:2] - expected).max() < 1e-9


def test_modes_are_those_of_the_assembly() -> None:
    """The pose that came back upside down: the tip and the sag of the flexible robot are those of the upper closure."""
    model = Machine.read(FIVE_BAR).model()
    found = modes(model, {"leg1/q1": np.radians(93), "leg2/q1": np.radians(72)}, count=1)
    q = posture(model, {"leg1/q1": np.radians(93), "leg2/q1": np.radians(72)})
    assert found.pose["leg1/q2"] == pytest.approx(q[model.index("leg1/q2")], abs=1e-9)
    assert np.allclose(model.call("points", q=q)["position"][0], [0.0735, 0.8487, 0.0], atol=5e-5)


@pytest.mark.parametrize("robot", LOOPED)
def test_poses_asked_for_are_those_walks_reach(robot: str) -> None:
    """Against walks from home that share no step with `posture`."""
    model = Machine.read(robot).model(rigid=True)
    for how in ways_to_ask(model):
        verdict = judged(model, how, 5, share=0.2, steps=16)
        assert verdict.other == []
        assert verdict.same + verdict.unjudged + verdict.refused == verdict.asked
        assert verdict.reachable == 0 and verdict.same > 0
        assert all("out of reach" in w or "singular" in w for w in verdict.words)


@pytest.mark.parametrize("robot", ["five_bar", "3rrr", "gough_stewart"])
def test_crowds_are_answered_as_one_by_one(robot: str) -> None:
    """Postures to rounding, errors word by word; some of these poses are out of reach."""
    model = Machine.read(robot).model(rigid=True)
    names = [model.names[i] for i in model.active]
    home = posture(model)[[model.index(n) for n in names]]
    poses = home + np.random.default_rng(3).uniform(-0.4, 0.4, (6, len(names)))
    words = 0
    for found, row in zip(postures(model, names, poses), poses.tolist(), strict=True):
        try:
            assert np.abs(posture(model, dict(zip(names, row, strict=True))) - found).max() < 1e-9
        except PoseError as problem:
            words += 1
            assert str(found) == str(problem)
    assert (words > 0) == (robot != "five_bar")


def test_the_judge_finds_another_branch() -> None:
    """A walk from the other closure of the five-bar does not end where `posture` does."""
    model = Machine.read("five_bar").model(rigid=True)
    q = posture(model, assembly="inward")
    crowd = Crowd(model, [int(i) for i in model.active])
    begin = q[None, [0, 2]]
    end, good = crowd.walk(q[None], begin, begin + 0.1, 20)
    direct = posture(model, {"arm1/q1": begin[0, 0] + 0.1, "arm2/q1": begin[0, 1] + 0.1})
    same = posture(model, {"arm1/q1": begin[0, 0] + 0.1, "arm2/q1": begin[0, 1] + 0.1}, "inward")
    assert good.all() and np.abs(end[0] - direct).max() > 0.1 and np.abs(end[0] - same).max() < 1e-9


def test_poses_beyond_reach_and_beyond_singular_ones_are_refused() -> None:
    """Elbows of FIVE_BAR more than two couplers apart; Bricard's loop by a joint that cannot turn further."""
    with pytest.raises(PoseError, match="the pose is out of reach"):
        posture(Machine.read(FIVE_BAR).model(rigid=True), {"leg1/q1": np.radians(175), "leg2/q1": np.radians(5)})
    with pytest.raises(PoseError, match=r"singular pose|out of reach"):
        posture(Machine.read("bricard").model(), {"q1": -0.9})


def test_ways_around_singular_poses_where_a_joint_swings_outside_the_loops() -> None:
    """Five bars with a bob, elbows far out and lowered; by hand, the couplers rise by acos((0.1 + 0.3 cos 17 deg) / 0.4)."""
    model = Machine.read("five_bar_bob").model(rigid=True)
    q = posture(model, {"arm1/q1": np.radians(197), "arm2/q1": np.radians(-17)})
    slope = np.arccos((0.1 + 0.3 * np.cos(np.radians(17))) / 0.4)
    assert q[model.index("arm1/q2")] == pytest.approx(slope - np.radians(197), abs=1e-9)
    assert q[model.index("arm2/q2")] == pytest.approx(np.radians(197) - slope, abs=1e-9)


def bounds_hold(model: Model, size: float) -> float:
    """The largest ratio of a change of the loops' equations to its bound, at random places of a box about home."""
    rng, q = np.random.default_rng(5), posture(model)
    way = HeldPostures(model, [int(i) for i in model.active])
    at = way.linear(way.gradient(q))
    curvature = Curvature(way.places, way.moving, model.mechanism.nq)
    worst = 0.0
    for _ in range(40):
        step = size * rng.uniform(-1, 1, len(way.moving))
        here = way.charted(way.gradient(model.retract(q, way.spread(step))), step)
        half = way.charted(way.gradient(model.retract(q, way.spread(0.5 * step))), 0.5 * step)
        levers = curvature.within(q, at.levers, np.abs(step))
        second = curvature.second(levers, at.weights, np.abs(step))
        third = curvature.third(levers, at.weights, np.abs(step)) / 8
        worst = max(worst, float((np.abs(at.A @ (here - at.J)) - second).max()))
        worst = max(worst, float((np.abs(at.A @ (half - 0.5 * (here + at.J))) - third).max()))
    return worst


@pytest.mark.parametrize("robot", ["five_bar", "3rrr", "dualemps", "delta", "surgiscope", "pacdrive"])
@pytest.mark.parametrize("size", [0.02, 0.3])
def test_bounds_of_curvature_hold(robot: str, size: float) -> None:
    """Changes of J over a step, and what a straight line between its ends misses halfway, stay within their bounds."""
    assert bounds_hold(Machine.read(robot).model(rigid=True), size) < 1e-9


def test_a_point_is_led_to_the_start_of_its_path() -> None:
    """Straight ways of the tool of the five-bar from home, against the circles' intersection."""
    model = Machine.read(FIVE_BAR).model(rigid=True)
    q = posture(model)
    way = HeldPostures(model, [], 0, (0, 1))
    for goal in ((0.1, 0.7), (-0.2, 0.5), (0.0, 0.85)):
        walked = way.walk(q, Goal({}, 0, (0, 1), goal))
        assert walked.arrived
        first, second = walked.q[model.index("leg1/q1")], walked.q[model.index("leg2/q1")]
        assert tip(first, second) == pytest.approx(goal, abs=1e-9)


def test_home_of_joints_that_nothing_drives() -> None:
    """Bricard's q1 is taken from home; a joint that follows from the actuators may not stand elsewhere."""
    text = locate("bricard").read_text() + "\nhome: {q1: 20 deg}\n"
    assert posture(build(text))[0] == pytest.approx(np.radians(20), abs=1e-12)
    five = FIVE_BAR.read_text()
    wrong = five.replace(
        "home: {leg1/q1: 130 deg, leg2/q1: 50 deg}", "home: {leg1/q1: 130 deg, leg2/q1: 50 deg, leg1/q2: -20 deg}"
    )
    with pytest.raises(PoseError, match=r"'leg1/q2' follows from the other joints through the loops and is -1\.567"):
        posture(build(wrong))


@pytest.mark.parametrize("robot", ["five_bar", "dualemps"])
def test_damping_ratios_do_not_depend_on_how_many_are_shown(robot: str) -> None:
    model = Machine.read(robot).model()
    every, few = modes(model), modes(model, count=2)
    assert np.allclose(few.damping_ratios, every.damping_ratios[:2], rtol=1e-12, atol=0)
