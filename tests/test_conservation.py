"""Laws along motions: energy of robots that lose nothing, and the account of work of those that are driven.

`bench/conservation.py` runs the same cases for a million steps: energy to 9e-12 (five_bar ringing), 2e-11 (delta ringing)
and 9e-11 (five_bar swinging) of the kinetic energy, loops closed to 5e-16 m.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import simpson
from undamped import CASES, energy

from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator


@pytest.mark.parametrize("name", CASES)
def test_energy_of_undamped_robots_is_kept(name: str, tmp_path: Path) -> None:
    """Gauss' method is symmetric in time, so energy errs within a band and does not drift."""
    found = energy(CASES[name], tmp_path, 10_000, samples=500)
    assert found.found.complete
    assert found.found.summary["steps"] == 10_000
    assert found.error < 1e-9
    assert found.drift < 1e-9
    assert found.closure < 1e-12
    moved = np.ptp(found.found["energy_kinetic"])
    assert moved > 0.9 * found.found["energy_kinetic"].max() > 1e-5


def test_generalised_alpha_only_loses_energy(tmp_path: Path) -> None:
    """With rho = 1 the energy of a swing stays within a band; with rho = 0.5 it falls, and less with smaller steps."""
    case = CASES["five_bar swinging"]
    made, lost = case.ready(tmp_path, 10_000), []
    for rho, step in ((1.0, 1e-4), (0.5, 1e-4), (0.5, 5e-5)):
        found = integrate(made, Settings("generalised_alpha", step=step, rho=rho, tolerance=1e-8, every=2e-3))
        total = sum(found[f"energy_{k}"] for k in ("kinetic", "elastic", "gravity"))
        error = (total - total[0]) / found["energy_kinetic"].max()
        if rho == 1.0:
            assert np.abs(error).max() < 1e-5
            assert abs(np.polyfit(found.time, error, 1)[0] * found.time[-1]) < 1e-6
        else:
            assert error.max() < 1e-9
            lost.append(-error[-1])
    assert 1e-3 > lost[0] > 2 * lost[1] > 0


# Work ------------------------------------------------------------------------------------------------------------------

MOTIONS = [
    ("dualemps", "square", 0.5),
    ("3rrr", "circle", 0.2),
    ("five_bar", "circle", 0.2),
    ("delta", "pick_and_place", 0.05),
]


@pytest.mark.parametrize("robot, motion, end", MOTIONS)
def test_work_of_the_actuators_is_found_again(robot: str, motion: str, end: float) -> None:
    """Energy gained + energy lost = work of the actuators, by the integrator's account and by Simpson's rule on samples."""
    made = simulator(Machine.read(robot), motion, duration=end)
    alpha = [
        integrate(made, Settings("generalised_alpha", tolerance=t, every=1e-3)).summary["energy_balance_error"]
        for t in (1e-3, 1e-5)
    ]
    assert alpha[0] < 1e-4
    assert alpha[1] < max(0.1 * alpha[0], 1e-7)
    found = integrate(made, Settings("gauss", tolerance=1e-8, every=5e-4))
    assert found.summary["energy_balance_error"] < 1e-8
    power = np.einsum("ta,ta->t", found["tau"], found["velocity"][:, made.model.active]) - found["power_lost"]
    total = sum(found[f"energy_{k}"] for k in ("kinetic", "elastic", "gravity"))
    peak = (found["energy_kinetic"] + found["energy_elastic"]).max()
    assert abs(total[-1] - total[0] - simpson(power, x=found.time)) < 1e-5 * peak
    assert simpson(np.abs(power), x=found.time) > 0.5 * peak


def test_the_account_of_work_does_not_depend_on_how_long_steps_are() -> None:
    """Generalised-alpha takes steps of 50 ms where springs follow a path at rest: its account holds its tolerance all the
    same, and says what Simpson's rule says of the samples."""
    made = simulator(Machine.read("five_bar_elastic"), "line")
    for tolerance in (1e-3, 1e-5, 1e-6):
        found = integrate(made, Settings("generalised_alpha", tolerance=tolerance))
        power = np.einsum("ta,ta->t", found["tau"], found["velocity"][:, made.model.active]) - found["power_lost"]
        total = sum(found[f"energy_{k}"] for k in ("kinetic", "elastic", "gravity"))
        peak = (found["energy_kinetic"] + found["energy_elastic"]).max()
        assert found.summary["energy_balance_error"] < tolerance
        assert abs(total[-1] - total[0] - simpson(power, x=found.time)) < tolerance * peak
        assert not found.summary["notices"]


def test_work_of_a_sampled_controller(tmp_path: Path) -> None:
    """Torques that jump at every sample of the controller: the balance closes over all jumps, the better the finer."""
    file = tmp_path / "step.yaml"
    file.write_text(
        "start: {leg1/q1: 127 deg, leg2/q1: 127 deg, leg3/q1: 127 deg}\n"
        "moves: [{by: {leg1/q1: 5 deg, leg2/q1: 3 deg, leg3/q1: -4 deg}, duration: 0.05 s}]\n"
        "controller: {pd: {kp: 100 Nm, kd: 2 Nm*s, sample: 1 ms, delay: 0.5 ms}}\n"
    )
    made = simulator(Machine.read("3rrr"), file)
    errors = {
        (m, t): integrate(made, Settings(m, tolerance=t, every=5e-3)).summary["energy_balance_error"]
        for m, t in (("generalised_alpha", 1e-3), ("generalised_alpha", 1e-5), ("gauss", 1e-8))
    }
    assert errors["generalised_alpha", 1e-3] < 1e-4
    assert errors["generalised_alpha", 1e-5] < 0.1 * errors["generalised_alpha", 1e-3]
    assert errors["gauss", 1e-8] < 1e-9
