"""Sampled laws with sensors: loops in simulations do what the poles of the sampled linear robot say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from closed_loops import after_hit, foretold, found_poles, hit_motion, quiet
from scipy.linalg import expm

import supple
from supple.backends.compiler import find_compiler
from supple.backends.stepping.layout import CONSTANTS
from supple.cli.main import main
from supple.control.filters import filter_of
from supple.control.loops import loop_of, radius
from supple.control.plants import Ask, plant_at, reduced, sampled
from supple.errors import SuppleError
from supple.motion import laws
from supple.motion.laws import Sensor, read_law

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
SENSORS = ["q,resolution=1e-6", "P.x,acceleration,noise=0.01", "P.z,acceleration,noise=0.01"]
LQG = "lqg:effort=1000,deviation=1e-5,sample=1 ms,delay=0.5 ms"
SAMPLE = 1e-3


@pytest.fixture(scope="module")
def robot() -> supple.Robot:
    """DualEMPS whose Coulomb friction is spread so wide that nothing is left of it, as in its linear model."""
    return supple.Robot("dualemps", {"width": 1e3})


def test_sampling_is_exact(robot: supple.Robot) -> None:
    """A plant sampled with a delay of 1.7 samples, against the continuous one under forces that change late."""
    ask = Ask((Sensor("q"), Sensor("P.x", "acceleration")), ("q11", "q21"), (), ("P.x",))
    plant = reduced(plant_at(robot.model(), {}, ask), range(4))
    made = sampled(plant, SAMPLE, 1.7 * SAMPLE)
    rng = np.random.default_rng(2)
    u = rng.standard_normal((12, 2))
    n = len(plant.A)
    x, z = np.zeros(n), np.zeros(len(made.A))

    def on(x: np.ndarray, force: np.ndarray, over: float) -> np.ndarray:
        whole = np.zeros((n + 1, n + 1))
        whole[:n, :n], whole[:n, n] = plant.A * over, plant.B @ force * over
        return (expm(whole) @ np.append(x, 1.0))[:n]

    for k in range(12):
        before, then = (u[k - j] if k >= j else np.zeros(2) for j in (2, 1))
        np.testing.assert_allclose(made.C @ z, plant.C @ x + plant.D @ before, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(z[:n], x, rtol=1e-9, atol=1e-13)
        ahead = on(on(x, before, 0.7 * SAMPLE), then, SAMPLE)
        np.testing.assert_allclose(made.ahead @ z, ahead, rtol=1e-9, atol=1e-13)
        x, z = on(on(x, before, 0.7 * SAMPLE), then, 0.3 * SAMPLE), made.A @ z + made.B @ u[k]


@needs_compiler
@pytest.mark.parametrize("law", ["lqg", "pd"])
def test_poles_foretell_the_decay_of_simulations(robot: supple.Robot, tmp_path: Path, law: str) -> None:
    """Within 2 %, modes above the sampling rate among them; poles are found in the record alone."""
    pose = {"q11": 0.1, "q21": -0.1}
    asked = (LQG, SENSORS) if law == "lqg" else ("pd:kp=1e5,kd=1e3,sample=1 ms,delay=0.5 ms", ["q", "q,velocity"])
    found = robot.control(*asked, pose)
    assert found.stable
    hit = hit_motion(robot, pose, "P.fx", 1e-3, 1.0, tmp_path)
    run = robot.simulate(hit, controller=quiet(found.law), every=SAMPLE, tol=1e-7, keep="position,velocity")
    seen = found_poles(after_hit(run), SAMPLE)
    assert len(seen) >= 3
    for s in seen:
        decay, turn = foretold(found.poses[0].poles, s)
        assert decay < 0.02 and turn < 1e-3


@needs_compiler
def test_loops_grow_just_beyond_their_margins(robot: supple.Robot, tmp_path: Path) -> None:
    """4 % inside each edge forces die away, 4 % outside they grow: least gain, most gain, delay."""
    pose = {"q11": 0.0, "q21": 0.0}
    found = robot.control("lqg:effort=300,deviation=1e-4,sample=1 ms,delay=0.5 ms", ["q,resolution=1e-6"], pose)
    one, law = found.poses[0], quiet(found.law)
    assert one.least_gain and one.most_gain and one.delay_margin
    hit = hit_motion(robot, pose, "P.fx", 1e-3, 2.0, tmp_path)

    def growth(gain: float, later: float) -> float:
        chosen = replace(law.scaled(gain), delay=law.delay + later)
        tau = np.abs(np.asarray(robot.simulate(hit, controller=chosen, every=SAMPLE, keep="tau")["tau"])).max(axis=1)
        return float(tau[-300:].max() / tau[-900:-600].max())

    for gain, later, outwards in ((one.most_gain, 0.0, 1), (one.least_gain, 0.0, -1), (1.0, one.delay_margin, 1)):
        inside, outside = 1 - 0.04 * outwards, 1 + 0.04 * outwards
        edges = [(gain * k, 0.0) if not later else (1.0, later * k) for k in (inside, outside)]
        assert growth(*edges[0]) < 0.99 < 1.01 < growth(*edges[1])


def test_a_law_on_all_modes_keeps_its_poles_apart(robot: supple.Robot) -> None:
    """Separation: poles of the loop are those of feedback and filter, whatever the delay."""
    found = robot.control("lqg:effort=300,deviation=1e-4,modes=5,sample=1 ms,delay=1.7 ms", ["q,resolution=1e-6"])
    few = reduced(plant_at(robot.model(), {}, Ask(found.law.sensors, ("q11", "q21"), (), ("P.x",))), range(5))
    assert radius(loop_of(few, found.law).matrix()) < 1


def test_placed_poles_are_where_they_were_asked_for(robot: supple.Robot) -> None:
    law = "poles:damping=0.1,bandwidth=3,modes=5,sample=1 ms,delay=1.2 ms"
    found = robot.control(law, ["q,resolution=1e-6"], {"q11": 0.0, "q21": 0.0})
    few = reduced(plant_at(robot.model(), {}, Ask(found.law.sensors, ("q11", "q21"), (), ("P.x",))), range(5))
    z = np.linalg.eigvals(loop_of(few, found.law).matrix())
    for f in few.frequencies_hz[2:]:
        s = 2 * np.pi * f * complex(-0.1, np.sqrt(1 - 0.01))
        assert np.abs(z - np.exp(s * SAMPLE)).min() < 2e-3


def test_filters_have_the_response_of_their_analogue() -> None:
    """Exact at their own frequency and at rest; notch: depth; lead: most phase."""
    f = 30.0

    def at(name: str, numbers: dict[str, float], hz: float) -> complex:
        s = filter_of(name, numbers, SAMPLE)
        z = np.exp(2j * np.pi * hz * SAMPLE)
        return complex((s.C @ np.linalg.solve(z * np.eye(len(s.A)) - s.A, s.B) + s.D)[0, 0])

    assert at("notch", {"frequency": f, "damping": 0.5, "depth": 0.2}, f) == pytest.approx(0.2, rel=1e-9)
    assert at("notch", {"frequency": f}, 1e-6) == pytest.approx(1.0, rel=1e-6)
    assert np.angle(at("lead", {"frequency": f, "factor": 4.0}, f)) == pytest.approx(np.arcsin(3 / 5), rel=1e-9)
    assert np.angle(at("lag", {"frequency": f, "factor": 4.0}, f)) == pytest.approx(-np.arcsin(3 / 5), rel=1e-9)
    assert at("lowpass", {"frequency": f, "damping": 0.5}, f) == pytest.approx(-1j, rel=1e-9)
    with pytest.raises(SuppleError, match="half the sampling rate"):
        filter_of("notch", {"frequency": 600.0}, SAMPLE)


@needs_compiler
def test_files_run_as_they_were_designed(robot: supple.Robot, tmp_path: Path) -> None:
    found = robot.control(LQG, SENSORS)
    path = found.save(tmp_path / "loop.json")
    again = read_law(path)
    np.testing.assert_array_equal(again.parts[0].A, found.law.parts[0].A)
    assert again.sensors == found.law.sensors and again.limit == found.law.limit
    hit = hit_motion(robot, {"q11": 0.0, "q21": 0.0}, "P.fx", 1e-3, 0.05, tmp_path)
    runs = [robot.simulate(hit, controller=c, keep="tau") for c in (found.law, str(path))]
    np.testing.assert_array_equal(runs[0]["tau"], runs[1]["tau"])
    assert np.abs(np.asarray(runs[0]["tau"])).max() > 0
    other = robot.simulate(hit, controller=replace(found.law, seed=2), keep="tau")
    assert np.abs(np.asarray(other["tau"]) - np.asarray(runs[0]["tau"])).max() > 0  # noise by its seed
    for text in ("{", "[]", json.dumps({"form": laws.FORM}), found.text.replace('"sample": 0.001', '"sample": -1')):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(SuppleError, match="controller"):
            read_law(path)


def test_what_a_law_cannot_be() -> None:
    """One line and exit code 2."""
    q = ("--sensor", "q,resolution=1e-6")
    for words, said in (
        (("lqg:effort=100", *q), "needs a sample time"),
        (("lqg:sample=1 ms", *q), "what a deviation is worth"),
        (("lqg:effort=100,sample=1 ms",), "noise or resolution"),
        (("lqg:effort=100,sample=1 ms", "--sensor", "nowhere.x,noise=1"), "no point 'nowhere'"),
        (("lqg:effort=100,sample=1 ms", "--sensor", "P.ry,noise=1"), "gyroscope"),
        (("lqg:effort=100,sample=1 ms,modes=7", "--sensor", "q,noise=1,speed"), "'speed' is not one of"),
        (("lqg:effort=100,sample=10 ms,modes=7", *q), "needs samples of at most"),
        (("lqg:effort=100,sample=1 ms,modes=99", *q), "modes=99"),
        (("poles:damping=0.1,sample=1 ms", *q), "bandwidth"),
        (("magic:sample=1 ms", *q), "no law 'magic'"),
        (("pd:kp=1e8,kd=1,sample=5 ms", *q), "motions grow"),
        (("missing.json",), "no such file"),
        (("pd:kp=1e5,kd=1e3,sample=1 ms", "--filter", "notch:depth=2"), "frequency always"),
        (("lqg:effort=100,sample=1 ms", *q, "--push", "P.zz"), "push 'P.zz'"),
    ):
        found = CliRunner().invoke(main, ["control", "dualemps", "--law", *words])
        assert found.exit_code == 2, (words, found.output)
        assert said in found.stderr and "Traceback" not in found.output, (words, found.stderr)


def test_limits_of_the_integrators_are_those_of_laws() -> None:
    known = {k: CONSTANTS[k][0] for k in ("MOST_LAW_STATES", "MOST_SENSORS", "MOST_PUSHES")}
    assert list(known.values()) == [laws.MOST_STATES, laws.MOST_SENSORS, laws.MOST_PUSHES]
