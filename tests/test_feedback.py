"""Sampled laws with sensors: loops in simulations do what the poles of the sampled linear robot say."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray
from click.testing import CliRunner
from closed_loops import (
    after_hit,
    compared,
    crossing,
    foretold_poles,
    found_poles,
    hit_motion,
    poles_by_start,
    quiet,
    shapes_of,
)
from flexible_links import ARM
from scipy.linalg import expm

import supple
from supple.backends.compiler import find_compiler
from supple.backends.stepping.layout import CONSTANTS
from supple.backends.stepping.settings import Settings
from supple.cli.main import main
from supple.control.filters import filter_of
from supple.control.loops import loop_of, nyquist, radius
from supple.control.plants import Ask, plant_at, reduced, sampled
from supple.errors import SuppleError
from supple.model.posture import posture
from supple.model.sensors import forces_of
from supple.motion import laws
from supple.motion.controllers import under_law
from supple.motion.laws import Sensor, read_law
from supple.simulation.integrate import integrate
from supple.simulation.replay import chance, replayed
from supple.simulation.simulator import simulator

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
SENSORS = ["q,resolution=1e-6", "P.x,acceleration,noise=0.1", "P.z,acceleration,noise=0.1"]
TURNED = (
    ARM
    + """\
motions:
  turn: {start: {turn: 0}, moves: [{to: {turn: 0.5}, duration: 0.5 s}, {rest: 0.5 s}], controller: {file: loop.json}}
"""
)
LQG = "lqg:effort=100,deviation=1e-5,sample=1 ms,delay=0.5 ms"
SAMPLE = 1e-3


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> supple.Robot:
    """A beam turned by a motor, with points at its ends."""
    path = tmp_path_factory.mktemp("arm") / "arm.yaml"
    path.write_text(TURNED, encoding="utf-8")
    return supple.Robot(path)


@pytest.fixture(scope="module")
def robot() -> supple.Robot:
    """DualEMPS whose Coulomb friction is spread so wide that nothing is left of it, as in its linear model."""
    return supple.Robot("dualemps", {"width": 1e3})


def test_sampling_is_exact(robot: supple.Robot) -> None:
    """A plant sampled with a delay of 1.7 samples, against the continuous one under forces that change late."""
    ask = Ask((Sensor("q"), Sensor("P.x", "acceleration")), ("q11", "q21"), (), ("P.x",))
    whole = plant_at(robot.model(), {}, ask)
    for key in "ABCDWS":
        np.testing.assert_allclose(getattr(reduced(whole, range(whole.modes)), key), getattr(whole, key), atol=1e-12)
    plant = reduced(whole, range(4))
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


LAWS = {
    "lqg": (LQG, SENSORS),
    "poles": ("poles:damping=0.1,bandwidth=3,modes=5,sample=1 ms,delay=1.2 ms", ["q,noise=1e-6"]),
    "pd": ("pd:kp=1e5,kd=1e3,sample=1 ms,delay=0.5 ms", ["q", "q,velocity"]),
}


@needs_compiler
@pytest.mark.parametrize("law", LAWS)
def test_poles_foretell_the_decay_of_simulations(robot: supple.Robot, law: str) -> None:
    """Of a law made at home, elsewhere: starts in the shape of every pole, up to 4.2 kHz at 0.03 1/s, decay as it says."""
    found = robot.control(*LAWS[law], {"q11": 0.0, "q21": 0.0})
    held = poles_by_start(shapes_of(robot, found.law, {"q11": 0.1, "q21": -0.1}), longest=80)
    assert found.stable and len(held) > 10
    for pole in held:
        assert pole.off < 0.01 and abs(pole.found - pole.told) < 1e-3 * abs(pole.told), pole


@needs_compiler
@pytest.mark.parametrize("law", LAWS)
def test_loops_grow_just_beyond_their_margins(robot: supple.Robot, law: str) -> None:
    """2 % inside each edge the motion that crosses there dies away, 2 % outside it grows, as quickly as foretold: least
    gain, most gain, delay. Under pd that is by 0.002 1/s, at 574 Hz."""
    found = robot.control(*LAWS[law], {"q11": 0.0, "q21": 0.0}, cutoff=0.0)
    one, own = found.poses[0], found.law
    assert one.most_gain and one.delay_margin and bool(one.least_gain) == (law == "lqg")
    pairs = [[own.scaled(k * one.most_gain) for k in (0.98, 1.02)]]
    pairs.append([replace(own, delay=own.delay + k * one.delay_margin) for k in (0.98, 1.02)])
    if one.least_gain:
        pairs.append([own.scaled(k * one.least_gain) for k in (1.02, 0.98)])
    for inside, outside in pairs:
        for pole, sign in zip(crossing(robot, inside, outside, one.at, longest=60), (-1, 1), strict=True):
            assert sign * pole.told.real > 0 and sign * pole.found.real > 0 and pole.off < 0.05, pole


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


def test_a_pair_of_moments_acts_on_elastic_coordinates_alone(arm: supple.Robot) -> None:
    """By virtual power: a motor that turns feels nothing of it, and its work is that of the bending between the points."""
    model = arm.model()
    q = posture(model, {"turn": 0.3})
    _, columns = forces_of(model, q, ["turn"], ["pair(root,tip).mz"])
    turn = model.index("turn")
    assert columns[turn, 1] == pytest.approx(0.0, abs=1e-12) and np.abs(columns[:, 1]).max() > 0.1
    assert columns[turn, 0] == 1.0


@needs_compiler
def test_a_smart_actuator_damps_what_the_motor_does_not(arm: supple.Robot, tmp_path: Path) -> None:
    """Strain fed back to a pair of moments: decay as foretold, and far quicker than by the motor with the same sensors."""
    sensors = ["q,noise=1e-6", "strain(beam).y,noise=1e-6"]
    law = "lqg:effort=1,deviation=1e-3,disturbance=0.01,sample=1 ms"
    smart = arm.control(law, sensors, pushes=["pair(root,tip).mz"])
    assert smart.stable and smart.forces == ("turn", "pair(root,tip).mz")
    plain = arm.control(law, sensors)
    assert smart.worst.poles.real.max() < plain.worst.poles.real.max()
    hit = hit_motion(arm, {"turn": 0.0}, "tip.fy", 1e-4, 0.5, tmp_path)
    run = arm.simulate(hit, controller=quiet(smart.law), every=SAMPLE, tol=1e-7, keep="position,velocity")
    seen = found_poles(after_hit(run), SAMPLE, ranks=(26, 30, 34), lag=10)
    held = compared(seen, *foretold_poles(arm, smart.law, {"turn": 0.0}))
    assert len(held) >= 4 and all(decay < 0.002 for _, _, decay, _ in held)


@needs_compiler
def test_what_is_stated_covers_the_error(robot: supple.Robot, tmp_path: Path) -> None:
    """Forces and readings at random as stated, accelerometers among them, which see modes that the filter does not know:
    95 % of errors within 1.96 standard deviations, and e' P^-1 e as it should be for all outputs together. The law run again
    over the record in Python tells the forces that the integrators applied."""
    pose = {"q11": 0.0, "q21": 0.0}
    law = "lqg:effort=300,deviation=1e-4,disturbance=1,sample=1 ms,delay=0.5 ms"
    accelerometers = ["P.x,acceleration,noise=0.05", "P.z,acceleration,noise=0.05"]
    found = robot.control(law, ["q,noise=1e-6", *accelerometers], pose, watch=["q", "P.x", "P.z"])
    noisy = replace(found.law, noise=(1.0, 1.0), seed=5)
    made = simulator(robot, under_law(robot.motion(hit_motion(robot, pose, "P.fx", 1e-12, 6.0, tmp_path)), noisy))
    run = integrate(made, Settings("radau", 1e-6, 0.0, every=SAMPLE))
    again = replayed(made, run)
    told = again.forces + np.column_stack([chance(5, len(again.forces), i + 64 * 8) for i in range(2)])
    np.testing.assert_allclose(np.asarray(run["tau"])[1:], told[:-1], rtol=1e-6, atol=1e-8)
    assert again.estimates is not None and found.law.parts[0].estimate is not None
    tip = np.asarray(run["point_position:P"])
    e = (again.estimates - np.column_stack([run["position:q11"], run["position:q21"], (tip - tip[0])[:, [0, 2]]]))[2000:]
    P = found.law.parts[0].estimate.covariance
    share = (np.abs(e) < 1.96 * np.sqrt(np.diag(P))).mean(axis=0)
    nees = np.mean(np.einsum("ti,ij,tj->t", e, np.linalg.inv(P), e)) / 4
    assert share.min() > 0.92 and share.max() < 0.98 and 0.8 < nees < 1.2


@needs_compiler
def test_forces_that_stay_are_estimated_and_taken_off(arm: supple.Robot, tmp_path: Path) -> None:
    path = tmp_path / "pushed.yaml"
    path.write_text(
        "start: {turn: 0}\nmoves: [{to: {turn: 0}, duration: 2 s}]\n"
        "loads: {tip: {fy: {step: {height: 0.5 N, at: 10 ms}}}}\n", encoding="utf-8",
    )  # fmt: skip
    off = {}
    for drift in (0, 5):
        law = f"lqg:effort=1,deviation=1e-3,modes=3,disturbance=0.01,drift={drift},sample=1 ms"
        found = arm.control(law, ["q,resolution=1e-6"])
        off[drift] = abs(
            float(np.asarray(arm.simulate(str(path), controller=found.law, keep="position")["position:turn"])[-1])
        )
    assert off[5] < 3e-6 < 100 * off[5] < off[0]


@needs_compiler
def test_laws_scheduled_over_poses(robot: supple.Robot, tmp_path: Path) -> None:
    """Parts for two ends of a stroke: their own law at each end, both in between, stable all the way and along a motion."""
    ends = robot.control(LQG, SENSORS, {"q21": 0.0}, over={"q11": [-0.1, 0.1]}, scheduled=True)
    law = ends.law
    assert len(law.parts) == 2 and ends.stable
    w = law.weights(["q11", "q21"], np.array([[-0.1, 0.0], [0.0, 0.0], [0.1, 0.0]]))
    np.testing.assert_allclose(w, [[1, 0], [0.5, 0.5], [0, 1]], atol=1e-9)
    between = robot.control(law, over={"q11": "-0.1:0.1:5"}, at={"q21": 0.0})
    assert between.stable and len(between.poses) == 5
    path = tmp_path / "stroke.yaml"
    path.write_text(
        "start: {q11: -0.1, q21: 0}\nmoves: [{to: {q11: 0.1}, duration: 0.6 s}, {rest: 0.2 s}]\n", encoding="utf-8"
    )
    run = robot.simulate(str(path), controller=law, keep="position,tau")
    assert abs(float(np.asarray(run["position:q11"])[-1]) - 0.1) < 2e-3
    assert run.complete


@needs_compiler
def test_a_motion_names_the_file_of_its_controller(arm: supple.Robot) -> None:
    found = arm.control("pd:kp=20,kd=1,sample=1 ms", ["q", "q,velocity"], {"turn": 0.0})
    assert arm.source.folder is not None
    path = found.save(arm.source.folder / "loop.json")
    own, same = arm.simulate("turn", keep="tau"), arm.simulate("turn", controller="pd:kp=20,kd=1,sample=1 ms", keep="tau")
    np.testing.assert_allclose(own["tau"], same["tau"], atol=1e-9)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(SuppleError, match="controller"):
        supple.Robot(arm.source.folder / "arm.yaml").simulate("turn")


@needs_compiler
def test_exported_laws_tell_the_forces_of_simulations(robot: supple.Robot, tmp_path: Path) -> None:
    """A scheduled law with limits, in C: its own test, and over the readings of a simulation the forces recorded there."""
    cc = shutil.which("cc") or shutil.which("gcc")
    if cc is None:
        pytest.skip("needs a C compiler")
    law = "lqg:effort=100,deviation=1e-5,sample=1 ms,limit=60"
    found = robot.control(law, ["q,resolution=1e-6", SENSORS[1]], {"q21": 0.0}, over={"q11": [-0.1, 0.1]}, scheduled=True)
    found.save(tmp_path / "loop.json")
    (tmp_path / "m.yaml").write_text(
        "start: {q11: -0.1, q21: 0}\nmoves: [{to: {q11: 0.05}, duration: 0.15 s}]\ncontroller: {file: loop.json}\n",
        encoding="utf-8",
    )
    made = robot.generate("controller", "c", tmp_path, motion=str(tmp_path / "m.yaml"))
    names = [str(p) for p in made.files if p.suffix == ".c"]
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    subprocess.run([cc, *flags, *names, "-lm", "-o", str(tmp_path / "self")], check=True)
    assert subprocess.run([str(tmp_path / "self")], capture_output=True, text=True).returncode == 0
    own = next(n for n in names if "test" not in Path(n).name)
    subprocess.run([cc, *flags, "-shared", "-fPIC", own, "-lm", "-o", str(tmp_path / "law.so")], check=True)
    simulated = simulator(robot, robot.motion(str(tmp_path / "m.yaml")))
    run = integrate(simulated, Settings("radau", 1e-6, 0.0, every=SAMPLE))
    again = replayed(simulated, run)
    assert simulated.rest is not None
    readings = again.readings + simulated.rest.only([s.name for s in found.law.sensors])(again.time)[0]
    library, state = ctypes.CDLL(str(tmp_path / "law.so")), ctypes.create_string_buffer(1 << 14)
    library.dualemps_controller_init(state)
    tau = []
    for row in readings:
        told = (ctypes.c_double * 2)()
        library.dualemps_controller_step(state, (ctypes.c_double * 3)(*row), told)
        tau.append(list(told))
    recorded = np.asarray(run["tau"])[1:]
    assert np.abs(recorded).max() == pytest.approx(60.0)
    np.testing.assert_allclose(recorded, np.array(tau)[:-1], rtol=1e-6, atol=1e-6)


def test_curves_are_responses_of_the_open_loop(arm: supple.Robot) -> None:
    """One motor: -F(z) G(z), the law's response times the sampled plant's, each solved by itself."""
    found = arm.control("pd:kp=20,kd=1,lowpass=80,sample=1 ms,delay=0.4 ms", ["q"], filters=["notch:frequency=14"])
    plant = plant_at(arm.model(), {}, Ask(found.law.sensors, ("turn",), (), ("q",)))
    made, part = sampled(plant, SAMPLE, 0.4e-3), found.law.parts[0]
    f = np.array([0.7, 9.0, 14.0, 60.0, 333.0])
    for hz, told in zip(f, nyquist(loop_of(plant, found.law), f)[:, 0], strict=True):
        z = np.exp(2j * np.pi * hz * SAMPLE)
        law = part.C @ np.linalg.solve(z * np.eye(len(part.A)) - part.A, part.B) + part.D
        robot = made.C @ np.linalg.solve(z * np.eye(len(made.A)) - made.A, made.B)
        assert told == pytest.approx(complex(-(law @ robot)[0, 0]), rel=1e-8)


def test_modes_beyond_the_cutoff_are_not_passed_over(robot: supple.Robot) -> None:
    """A law under which a mode of 1.2 kHz grows, though those beyond 1 kHz were taken to die away."""
    gauges = [f"strain({link}).y,noise=1e-7" for link in ("13", "23", "16")]
    law = "lqg:effort=3000,deviation=1e-6,disturbance=20,sample=1 ms,delay=0.5 ms"
    found = robot.control(law, ["q,resolution=1e-6", *gauges])
    whole = robot.control(found.law, cutoff=0.0)
    assert found.stable and not whole.stable and any("as the robot file damps them they grow" in x for x in found.notices)


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


@needs_compiler
def test_loops_that_grow_without_bound_are_stopped(arm: supple.Robot, tmp_path: Path) -> None:
    """Soon, in words, with what was computed, and exit code 2; a force limit bounds them."""
    path = tmp_path / "go.yaml"
    path.write_text("start: {turn: 0}\nmoves: [{to: {turn: 0.2}, duration: 1 s}]\n", encoding="utf-8")
    unstable = "pd:kp=1e4,kd=200,sample=5 ms"
    words = ["simulate", str(arm.source.folder / "arm.yaml"), "--motion", str(path), "-o", str(tmp_path / "run.nc")]
    found = CliRunner().invoke(main, [*words, "--controller", unstable])
    assert found.exit_code == 2 and "the loop grows without bound: turn leaves its path" in found.stderr
    with xarray.open_dataset(tmp_path / "run.nc") as told:
        assert "stopped at t = " in told.attrs["outcome"] and 0.02 < float(told["time"][-1]) < 0.2
    bounded = arm.simulate(str(path), controller=f"{unstable},limit=2", keep="tau")
    assert np.abs(np.asarray(bounded["tau"])).max() == 2.0 and bounded.time[-1] == pytest.approx(1.0)


def test_limits_of_the_integrators_are_those_of_laws() -> None:
    known = {k: CONSTANTS[k][0] for k in ("MOST_LAW_STATES", "MOST_SENSORS", "MOST_PUSHES")}
    assert list(known.values()) == [laws.MOST_STATES, laws.MOST_SENSORS, laws.MOST_PUSHES]
