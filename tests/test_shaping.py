"""Shapers against their definitions, an oscillator whose frequency changes, and a slider that carries a beam."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from flexible_links import SLIDER
from scipy.integrate import solve_ivp
from scipy.linalg import eigh, null_space
from scipy.optimize import linprog

from supple.backends.compiler import find_compiler
from supple.backends.stepping.settings import Settings
from supple.errors import RobotFileError, SuppleError
from supple.machine import Machine
from supple.model.equilibrium import equilibrium, linearise
from supple.model.posture import posture
from supple.motion.profiles import trapezoidal
from supple.motion.shapers import AT_ONCE, LAWS, Band, Brake, average, ei, impulses, si, smooth, together, zv, zvd, zvdd
from supple.motion.shaping import Phase, shaped
from supple.motion.trajectory import Trajectory
from supple.motion.written_shapers import shaped_by
from supple.simulation.integrate import integrate
from supple.simulation.performance import residual, settling
from supple.simulation.simulator import simulator
from supple.simulation.sticking import stops

SHAPED = (
    SLIDER
    + """\
motions:
  go: {moves: [{by: {s: 0.1}, profile: trapezoidal, duration: 0.4 s, acceleration_time: 0.05 s}, {rest: 0.4 s}]SHAPER}
"""
)


@pytest.mark.parametrize("damping", [0.0, 0.03, 0.2])
@pytest.mark.parametrize("law", LAWS)
def test_what_a_law_promises(law: str, damping: float) -> None:
    made = impulses(law, damping, 0.05, 0.2)
    assert made.amplitudes.sum() == pytest.approx(1, abs=1e-12) and (made.amplitudes > 0).all() and made.times[0] == 0
    h = 1e-4
    left = [float(made.vibration(r, damping)[0]) for r in (1 - h, 1.0, 1 + h)]
    orders = {"zv": 1, "zvd": 2, "zvdd": 3}
    if law in orders:  # zeros of that order: halving the distance divides what is left by 2, 4, 8
        assert left[1] < 1e-14
        near, far = (float(made.vibration(1 + x, damping)[0]) for x in (0.01, 0.02))
        assert far / near == pytest.approx(2 ** orders[law], rel=0.1)
    elif law == "ei":
        assert left[1] == pytest.approx(0.05, abs=1e-9) and max(left) < 0.05 + 1e-8
    elif law == "average":
        d = damping / np.sqrt(1 - damping**2)  # the mean of exp((i - d) 2 pi t) over a period
        assert left[1] == pytest.approx((1 - np.exp(-2 * np.pi * d)) / (2 * np.pi * np.hypot(1, d)), abs=1e-12)
    elif law in AT_ONCE:  # one period for one vibration leaves less than zv nearby
        near = impulses(law, damping, 0.05, None)
        assert near.length == 1.0 and near.vibration(np.linspace(0.98, 1.02, 11), damping).max() < 0.02
    else:
        assert made.vibration(np.linspace(0.8, 1.2, 101), damping).max() < 0.0505


def test_impulses_of_the_literature() -> None:
    k = np.exp(-0.1 * np.pi / np.sqrt(0.99))
    assert zv(0.1).amplitudes == pytest.approx([1 / (1 + k), k / (1 + k)])
    assert zvd().amplitudes == pytest.approx([0.25, 0.5, 0.25]) and zvdd().amplitudes == pytest.approx(
        [1 / 8, 3 / 8, 3 / 8, 1 / 8]
    )
    assert ei(0.0, 0.05).amplitudes == pytest.approx([1.05 / 4, 0.95 / 2, 1.05 / 4], abs=1e-10)
    for damping in (4e-5, 1e-3):
        assert ei(damping, 0.05).amplitudes == pytest.approx(ei(0.0, 0.05).amplitudes, abs=2 * damping)
    assert si(0.0, 0.05, 0.2).length < zvdd().length


def test_one_smooth_sequence_for_two_vibrations() -> None:
    """What is left of each by the definition, a sum of damped sines, is what its formula says."""
    made = smooth([Band(0.98, 1.02, 0.015), Band(1.72, 1.80, 0.04)], 1.0)
    path = shaped(trapezoidal(1.0, acceleration_time=0.2), made, Phase.constant(7.0))
    assert path.end == pytest.approx(1 + 1 / 7) and not path.breaks.size  # accelerations do not jump
    for ratio, damping, most in ((1.0, 0.015, 0.01), (1.76, 0.04, 0.2)):
        assert made.vibration(ratio, damping)[0] < most
    t = np.linspace(-0.2, 1.4, 3001)
    u = np.linspace(0.0, made.rounded / 7, 4001)
    unrounded = trapezoidal(1.0, acceleration_time=0.2)
    k = 1500
    pairs = zip(made.amplitudes, made.times, strict=True)
    by_hand = sum(a * np.trapezoid(unrounded(t[k] - x / 7 - u)[0][:, 0], u) / u[-1] for a, x in pairs)
    assert path(t[k])[0][0] == pytest.approx(by_hand, abs=1e-7)
    with pytest.raises(SuppleError, match="give it more length"):
        smooth([Band(0.98, 1.02, 0.0)], 0.2)


def test_one_sequence_for_several_vibrations_that_brakes() -> None:
    """In one period next to nothing of either is left, where one after the other take 1.57 periods; the shaped path is as
    slow before its end as it is asked to be."""
    bands = [Band(0.99, 1.01, 0.02), Band(1.75, 1.77, 0.05)]
    path = trapezoidal(1.0, acceleration_time=0.2)
    span, most = 0.2, 0.07 * float(np.abs(path(path.end - 0.2 / 7)[1]).max())
    before = path(path.end - np.linspace(0.0, span / 7, 65))[1][:, 0]
    before[0] = 0.0
    free, slow = together(bands), together(bands, 1.0, [Brake(span, np.abs(before) / most, 1.0)])
    for made in (free, slow):
        assert made.length == 1.0
        assert made.vibration(1.0, 0.02)[0] < 0.01 and made.vibration(1.76, 0.05)[0] < 0.03
    speeds = []
    for made in (free, slow):
        shaped_path = shaped(path, made, Phase.constant(7.0))
        speeds.append(float(np.abs(shaped_path(shaped_path.end - span / 7)[1]).max()))
    assert speeds[0] > 1.5 * most and speeds[1] < 1.2 * most
    with pytest.raises(SuppleError, match="give it more length"):
        together(bands, 0.3)
    vain = together(bands, 1.0, [Brake(span, np.abs(before) / most, 1e-9)])
    assert vain.amplitudes == pytest.approx(free.amplitudes) and vain.times == pytest.approx(free.times)


def test_no_other_impulses_in_a_period_are_a_zvd() -> None:
    """Of all positive impulses within a period that leave nothing, with a slope of nothing, linear programs find the three
    alone, whatever else they ask for: about the middle, s sin(2 pi s) is positive but at 0 and half a period."""
    times, damping = np.linspace(0.0, 1.0, 97), 0.03
    turning = np.exp(2 * np.pi * (1j + damping / np.sqrt(1 - damping**2)) * times)
    kept = np.vstack([turning.real, turning.imag, times * turning.real, times * turning.imag, np.ones(97)])
    for cost in np.random.default_rng(5).normal(size=(6, 97)):
        found = linprog(cost, A_eq=kept, b_eq=[0, 0, 0, 0, 1], bounds=(0, None)).x
        assert found[[0, 48, 96]] == pytest.approx(zvd(damping).amplitudes, abs=1e-6)


def test_what_vibrates_with_joints_stuck() -> None:
    """Dry friction as the damper that it is at rest, against the robot whose joints are held by equations."""
    robot = Machine.read("dualemps")
    motion = robot.motion("square_trapezoidal")
    found = stops(robot, robot.model(), motion)
    assert [s.time for s in found] == pytest.approx([1.8, 8.05, 14.3, 20.55], abs=2e-3)
    model = robot.model()
    for stop in found[:2]:
        at = dict(zip(motion.path.names, motion.path(stop.time)[0].tolist(), strict=True))  # type: ignore[union-attr]
        linear = linearise(model, equilibrium(model, posture(model, at)))
        held = null_space(linear.Z[[model.index(n) for n in ("q12", "q22", "q25")]])
        squares = eigh(held.T @ linear.K @ held, held.T @ linear.M @ held, eigvals_only=True)
        assert [f for f, _ in stop.stuck[:2]] == pytest.approx(np.sqrt(squares[:2]) / (2 * np.pi), rel=5e-3)
        # 0.444 m/s^2 over half a period, 2 widths of 1 mrad/s: slider to joint by the lengths of the legs
        quickest = 0.2 / 1.5 / 0.3 * stop.span / 2e-3
        assert 1.5 * quickest < stop.speeds.max() < 3 * quickest
    assert stops(Machine.read("delta"), Machine.read("delta").model(), Machine.read("delta").motion("carry")) == []


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_dualemps_with_its_dry_friction_comes_to_rest(tmp_path: Path) -> None:
    """An edge of the square, a period longer: what is left about the creep, a quintic."""
    robot, file = Machine.read("dualemps"), tmp_path / "edge.yaml"
    file.write_text(
        "start: {q11: -0.1, q21: -0.1}\n"
        "moves: [{to: {q11: 0.1}, profile: trapezoidal, duration: 1.8 s, acceleration_time: 0.3 s}, {rest: 0.3 s}]\n"
    )
    left = []
    for law in ("", "zvd:modes=1", "together:modes=1+2"):
        motion = robot.motion(file)
        made = integrate(simulator(robot, shaped_by(motion, law) if law else motion), Settings("radau", 1e-6, every=0.5e-3))
        end = made.summary["performance"]["rest_from_s"]
        assert end < 1.802 + 1 / 14.218
        after = made.time > end
        creep = np.polynomial.chebyshev.chebfit(made.time[after] - end, made["point_deformation"][after, 0], 5)
        about = np.polynomial.chebyshev.chebval(made.time[after] - end, creep).T
        left.append(float(np.linalg.norm(made["point_deformation"][after, 0] - about, axis=1).max()))
    assert left[2] < left[0] / 12 and left[2] < left[1] / 2


def left_by(path: Trajectory, phase: Phase) -> float:
    """Amplitude that a path's acceleration leaves in an oscillator of this phase, undamped."""

    def rates(t: float, s: list[float]) -> list[float]:
        return [s[1], -float(path(t)[2][0]) - (2 * np.pi * float(phase.rate(np.array(t))[0])) ** 2 * s[0]]

    edges = np.unique(np.concatenate([[0.0], path.breaks, [path.end]]))
    state = [0.0, 0.0]
    for a, b in itertools.pairwise(edges):
        if b - a > 1e-9:
            state = solve_ivp(rates, (a + 1e-12, b - 1e-12), state, rtol=1e-8, atol=1e-12, max_step=0.02).y[:, -1].tolist()
    return float(np.hypot(state[0], state[1] / (2 * np.pi * float(phase.rate(np.array(path.end))[0]))))


def test_a_frequency_that_changes_is_followed() -> None:
    path = trapezoidal(1.0, acceleration_time=0.2)
    times = np.linspace(0.0, 1.2, 9)
    phase = Phase(times, 7 + np.sin(times))
    unshaped = left_by(path, phase)
    assert left_by(shaped(path, zvd(), Phase.constant(7.0)), phase) > unshaped / 20
    assert left_by(shaped(path, zvd(), phase), phase) < unshaped / 100
    assert left_by(shaped(path, average(), phase), phase) < unshaped / 50


def test_shaping_keeps_the_path_and_its_limits() -> None:
    path = trapezoidal(1.0, acceleration_time=0.2)
    made = shaped(path, zvd(0.02), Phase.constant(5.0))
    t = np.linspace(-0.1, 1.4, 301)
    by_hand = sum(a * path(t - x / 5.0)[0] for a, x in zip(zvd(0.02).amplitudes, zvd(0.02).times, strict=True))
    assert made(t)[0] == pytest.approx(by_hand, abs=1e-12)
    assert made.end == pytest.approx(1.2) and made(made.end)[0] == pytest.approx(1)
    assert np.abs(made(t)[1]).max() <= np.abs(path(t)[1]).max() + 1e-12


def run(shaper: str) -> tuple[float, float]:
    """Largest deflection of the tip after the command, and how long the motion lasts; the summary says the same."""
    robot = Machine.parse(SHAPED.replace("SHAPER", shaper))
    made = integrate(simulator(robot, "go"), Settings("radau", 0.0, 0.0, every=1e-3))
    s = made["position:s"]
    end = made.time[np.flatnonzero(np.abs(s - s[-1]) > 1e-9)[-1]]
    largest = float(np.abs(made["point_deformation"][made.time > end]).max())
    told = made.summary["performance"]
    assert told["rest_from_s"] == pytest.approx(end, abs=2e-3)
    assert 0.5 * largest < told["residual_vibration_m"]["tip"] <= 1.001 * largest  # it swings to both sides
    assert told["work_J"] > 0
    return largest, float(made.time[-1])


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_a_beam_on_a_slider_comes_to_rest() -> None:
    unshaped, duration = run("")
    zero, longer = run(", shaper: {zvd: {modes: [1, 2]}}")
    together, _ = run(", shaper: {smooth: {modes: [1, 2]}}")
    wrong, _ = run(", shaper: {ei: {frequencies: [20.5 Hz]}}")
    assert unshaped > 1e-4 and zero < unshaped / 100 and together < unshaped / 50 and wrong < unshaped / 5
    assert duration == pytest.approx(0.8) and 0.8 < longer < 0.88


def test_damping_that_is_given_changes_amplitudes_alone() -> None:
    """As dry friction does, which leaves frequencies alone: the same times, amplitudes of Singer and Seering's formula."""
    robot = Machine.parse(SHAPED.replace("SHAPER", ""))
    motion = robot.motion("go")
    own, given = (simulator(robot, shaped_by(motion, x)).path for x in ("zvd", "zvd:modes=1,damping=0.2"))
    read = simulator(Machine.parse(SHAPED.replace("SHAPER", ", shaper: {zvd: {damping: [0.2]}}")), "go").path
    assert own is not None and given is not None and read is not None
    assert given.end == pytest.approx(own.end, abs=1e-12)
    K = np.exp(-np.pi * 0.2 / np.sqrt(1 - 0.2**2))
    first = 0.1 / 0.35 / 0.05  # m/s^2 of the trapezoid
    assert given(1e-3)[2][0] == pytest.approx(first / (1 + K) ** 2, rel=1e-9)
    assert read(1e-3)[2][0] == pytest.approx(first / (1 + K) ** 2, rel=1e-9)
    assert own(1e-3)[2][0] == pytest.approx(first / 4, rel=1e-2)
    with pytest.raises(SuppleError, match="as many damping ratios as modes"):
        shaped_by(motion, "zvd:modes=1+2,damping=0.2")


def test_vibration_and_settling_of_a_known_signal() -> None:
    t = np.linspace(0.0, 3.0, 3001)
    ringing = 1.0 + 0.5 * np.exp(-4 * (t - 1)) * np.sin(40 * (t - 1))
    x = np.where(t < 1.0, t, ringing)[:, None, None] * np.array([0.6, 0, 0.8])
    swing = 0.5 * (np.exp(-4 * np.pi / 80) + np.exp(-4 * 3 * np.pi / 80)) / 2  # first two peaks, nearly
    assert residual(t, x, 1.0)[0] == pytest.approx(swing, rel=0.01)
    settled = settling(t, x, 1.0)
    assert settled is not None and abs(settled - np.log(0.5 / 0.05) / 4) < np.pi / 40  # the envelope falls to 5 % of 1
    assert settling(t, np.cos(300 * t)[:, None, None] * np.ones(3), 1.0) is None


@pytest.mark.parametrize(
    ("shaper", "says"),
    [
        (", shaper: {zvd: {modes: [1], frequencies: [3 Hz]}}", "modes or frequencies, not both"),
        (", shaper: {zvd: {frequencies: [0 Hz]}}", "must be positive"),
        (", shaper: {zvd: {frequencies: [3 Hz], damping: [0.1, 0.2]}}", "as many damping ratios as frequencies"),
        (", shaper: {zvd: {modes: [1, 2], damping: [0.1]}}", "as many damping ratios as modes"),
        (", shaper: {zvd: {damping: [0.1, 0.1]}}", "as many damping ratios as modes"),
        (", shaper: {zdv: {}}", "did you mean 'zv'"),
        (", shaper: {zvd: {frequencies: [1 Hz]}}", "longer than the motion's"),
        (", shaper: {zvd: {frequencies: [2 Hz, 2.1 Hz]}}", "longer than the motion's"),
        (", shaper: {zvd: {modes: [40]}}", "modes with its actuators held, not 40"),
    ],
)
def test_shapers_that_cannot_be(shaper: str, says: str) -> None:
    with pytest.raises((RobotFileError, SuppleError), match=says):
        simulator(Machine.parse(SHAPED.replace("SHAPER", shaper)), "go")
