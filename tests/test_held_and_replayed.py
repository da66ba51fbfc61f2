"""Actuators that are held, forces that are replayed, loops within loops, and what the tables say of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from supple.analyses.modes import modes
from supple.backends.stepping.settings import Settings
from supple.cli.main import main
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.mobility import mobility
from supple.model.posture import posture
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [str(x) for x in arguments], catch_exceptions=False)


# Loops within loops ------------------------------------------------------------------------------------------------------


def test_a_rigid_robot_with_loops_within_loops_falls_as_its_general_solution_does() -> None:
    """Accelerations at every tenth sample against the virtual tree solved for its reactions."""
    made = simulator(Machine.read("pacdrive"), "fall", rigid=True)
    found = integrate(made, Settings("gauss", every=2e-3))
    assert found.complete and found.summary["energy_balance_error"] < 1e-6
    model = made.model
    position, velocity, acceleration, tau = (
        found.signals[k].values for k in ("position", "velocity", "acceleration", "tau")
    )
    for k in range(0, len(found.time), 10):
        wanted = model.forward(position[k], velocity[k], tau[k]).a
        np.testing.assert_allclose(acceleration[k], wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())


# Held actuators ----------------------------------------------------------------------------------------------------------

HELD = """
start: {q11: 0.01 m, q21: 0.02 m}
duration: 20 ms
loads: {P: {fx: {step: {height: 10 N, at: 5 ms}}}}
"""


@pytest.mark.parametrize(
    ("drive", "still"),
    [
        ("drive: {q11: prescribed, q21: prescribed}", 0.0),
        ("controller: {pd: {kp: 1e9, kd: 1e6}}", 1e-6),
    ],
)
def test_an_actuator_without_a_path_stays_where_it_starts(drive: str, still: float, tmp_path: Path) -> None:
    """A blow of 10 N at the tip: the actuators stay, bodies bend as on a path that is at rest."""
    (tmp_path / "blow.yaml").write_text(HELD + drive)
    (tmp_path / "rest.yaml").write_text(HELD + "moves: [{by: {q11: 0, q21: 0}, duration: 20 ms}]")
    blow, rest = (integrate(simulator(Machine.read("dualemps"), tmp_path / f"{n}.yaml")) for n in ("blow", "rest"))
    assert blow.complete
    names = list(blow.axes["coordinate"])
    for name, start in (("q11", 0.01), ("q21", 0.02)):
        assert np.abs(blow.signals["position"].values[:, names.index(name)] - start).max() <= still
    bent = rest.signals["point_deformation"].values
    assert np.abs(bent).max() > 1e-5
    np.testing.assert_allclose(
        blow.signals["point_deformation"].values, bent, atol=(1e-9 if still == 0 else 1e-2) * np.abs(bent).max()
    )


# Forces replayed -----------------------------------------------------------------------------------------------------------


def test_the_forces_of_an_inverse_model_make_the_robot_follow_the_motion(tmp_path: Path) -> None:
    """Only forces are given the second time, sampled every 0.2 ms and joined by straight lines."""
    forces = tmp_path / "forces.csv"
    (tmp_path / "move.yaml").write_text(
        "start: {q11: -0.1, q21: -0.1}\nmoves: [{to: {q11: 0.1, q21: 0.05}, duration: 0.3 s}]"
    )
    done = run("inverse", "dualemps", "--motion", tmp_path / "move.yaml", "--every", "0.2 ms", "-o", forces)
    assert done.exit_code == 0, done.output
    made = simulator(Machine.read("dualemps"), forces)
    assert made.prescribed == [] and made.path is None
    found = integrate(made)
    names = list(found.axes["coordinate"])
    position = found.signals["position"].values
    assert found.complete and position[0, names.index("q11")] == pytest.approx(-0.1, abs=1e-12)
    wanted = integrate(simulator(Machine.read("dualemps"), tmp_path / "move.yaml")).signals["position"].values
    for name, travel in (("q11", 0.2), ("q21", 0.15)):
        k = names.index(name)
        assert np.ptp(position[:, k]) > 0.99 * travel
        assert np.abs(position[:, k] - wanted[:, k]).max() < 1e-4 * travel


def test_forces_are_fed_forward_beside_a_controller(tmp_path: Path) -> None:
    """Weak gains leave less than a hundredth of the error that they leave without the forces."""
    forces, move = tmp_path / "forces.csv", tmp_path / "move.yaml"
    move.write_text("moves: [{by: {q11: 0.1}, duration: 0.2 s}]")
    assert run("inverse", "dualemps", "--motion", move, "--every", "0.5 ms", "-o", forces).exit_code == 0
    law, off = "pd:kp=1e4,kd=1e3", []
    for motion in (forces, move):
        out = tmp_path / f"{motion.stem}-out.csv"
        assert run("simulate", "dualemps", "--motion", motion, "--controller", law, "-o", out).exit_code == 0
        rows = [s.split(",") for s in out.read_text().splitlines() if not s.startswith("#")]
        column = next(k for k, name in enumerate(rows[0]) if name.startswith("position[q11]"))
        off.append(abs(float(rows[-1][column]) - 0.1))
    assert off[0] < 0.01 * off[1]


def test_results_of_several_runs_are_no_motion(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    table.write_text('t (s),"tau[1,q11] (N)","tau[2,q11] (N)"\n0,1,1\n1,1,1\n')
    with pytest.raises(SuppleError, match="single run of this robot"):
        simulator(Machine.read("dualemps"), table)


# Words ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["3rrr", "dualemps", "five_bar", "delta"])
def test_motions_that_nothing_resists_have_no_frequency(robot: str) -> None:
    """As many as the rigid robot has freedoms, exactly zero, and not called unstable."""
    settings = {"gravity": 0.0} if robot == "delta" else {}
    model = Machine.read(robot, settings).model()
    found = modes(model, free=True)
    freedom = mobility(model, posture(model)).freedom
    assert np.count_nonzero(found.frequencies_hz == 0.0) == freedom
    assert found.frequencies_hz[freedom] > 1.0
    assert not found.elastic[:, :freedom].any()
    shown = run("modes", robot, "--free", *(["--set", "gravity=0"] if settings else []), "--count", freedom)
    assert "unstable" not in shown.output and shown.output.count(" 0.00 ") == freedom


def test_slow_and_falling_motions_keep_their_frequency() -> None:
    """On free legs a platform under gravity falls in all six directions: none of that is rounding."""
    found = modes(Machine.read("gough_stewart").model(), free=True)
    assert (np.abs(found.frequencies_hz[:6]) > 1e-2).all() and found.frequencies_hz[0] < 0


def test_a_quasi_static_motion_has_no_balance_of_energy_to_complain_of() -> None:
    """Bodies bend without rates there, so their energy comes from nowhere."""
    arguments = ("inverse", "five_bar", "--motion", "circle", "--quasi-static", "--duration", "0.1")
    assert json.loads(run(*arguments, "--json").output)["energy_balance_error"] is None
    shown = run(*arguments)
    assert shown.exit_code == 0 and "balance" not in shown.output and "--method" not in shown.output
