"""Shapers against their definitions, an oscillator whose frequency changes, and a slider that carries a beam."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from supple.backends.compiler import find_compiler
from supple.backends.stepping.settings import Settings
from supple.errors import RobotFileError, SuppleError
from supple.machine import Machine
from supple.motion.profiles import trapezoidal
from supple.motion.shapers import LAWS, Band, average, ei, impulses, si, smooth, zv, zvd, zvdd
from supple.motion.shaping import Phase, shaped
from supple.motion.trajectory import Trajectory
from supple.simulation.integrate import integrate
from supple.simulation.performance import residual, settling
from supple.simulation.simulator import simulator

SLIDER = """
name: slider
space: planar
gravity: [0, 0, 0]
materials: {steel: {E: 210 GPa, rho: 7800 kg/m^3}}
sections: {blade: {rectangle: {y: 2 mm, z: 20 mm}}}
bodies:
  carriage: {rigid: {mass: 1, inertia: {zz: 1e-3}}}
  blade: {beam: {length: 0.3 m, section: blade, material: steel, elements: 2}}
links:
  carriage: {parent: base, joint: prismatic, axis: y, q: s, body: carriage}
  blade: {parent: carriage, joint: fixed, body: blade}
actuators: {s: {}}
points: {tip: {link: blade, at: [0.3, 0, 0]}}
motions:
  go: {moves: [{by: {s: 0.1}, profile: trapezoidal, duration: 0.4 s, acceleration_time: 0.05 s}, {rest: 0.4 s}]SHAPER}
"""


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
    elif law == "smooth":  # one period for one vibration leaves less than zv nearby
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
    robot = Machine.parse(SLIDER.replace("SHAPER", shaper))
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
        (", shaper: {zdv: {}}", "did you mean 'zv'"),
        (", shaper: {zvd: {frequencies: [1 Hz]}}", "longer than the motion's"),
        (", shaper: {zvd: {modes: [40]}}", "modes with its actuators held, not 40"),
    ],
)
def test_shapers_that_cannot_be(shaper: str, says: str) -> None:
    with pytest.raises((RobotFileError, SuppleError), match=says):
        simulator(Machine.parse(SLIDER.replace("SHAPER", shaper)), "go")
