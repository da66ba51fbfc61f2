"""Quasi-static motion: against slow motion of the full simulation, and against static equilibrium by Newton on forces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.model.equilibrium import equilibrium
from supple.model.observe import coordinate_values
from supple.model.posture import posture
from supple.results import Simulation
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator


def written(folder: Path, moves: str) -> Path:
    path = folder / "move.yaml"
    path.write_text(f"space: platform\n{moves}\n")
    return path


def still(made: Simulator, every: float) -> Simulation:
    return integrate(made, Settings("quasi_static", step=every, every=every))


def test_a_slow_motion_is_quasi_static(tmp_path: Path) -> None:
    """Slowly moved, bodies bend as their loads ask: the full simulation has the forces and deformations of the quasi-static.

    The rigid robot, which the test must be able to tell from it, is fifty times further away."""
    path = written(tmp_path, "start: {x: 0, y: 0, z: -0.6}\nmoves: [{by: {x: 0.1, z: 0.05}, duration: 20 s}]")
    whole = integrate(simulator(Machine.read("delta"), path), Settings(tolerance=1e-4, every=0.05))
    found = still(simulator(Machine.read("delta"), path), 0.05)
    rigid = integrate(simulator(Machine.read("delta"), path, rigid=True), Settings(every=0.05))
    assert whole.complete and found.complete and np.allclose(whole.time, found.time)
    far = np.abs(rigid["tau"] - whole["tau"]).max()
    assert far > 1e-5 and np.abs(found["tau"] - whole["tau"]).max() < 0.02 * far
    bending = np.abs(whole["point_deformation"]).max()
    assert bending > 1e-5 and np.abs(found["point_deformation"] - whole["point_deformation"]).max() < 1e-5 * bending


@pytest.mark.parametrize("robot", ["surgiscope", "gough_stewart", "delta"])
def test_at_rest_it_is_the_static_equilibrium(robot: str, tmp_path: Path) -> None:
    """After a short move the posture is that in which elastic forces balance weight (model/equilibrium.py, on forces).

    surgiscope has axial modes so stiff that rounding of positions alone makes accelerations of 1e-4 rad/s^2."""
    made = simulator(Machine.read(robot), written(tmp_path, "moves: [{by: {x: 0.01, z: 0.02}, duration: 0.05 s}]"))
    found = still(made, 1e-3)
    assert found.complete and found.summary["rejected_steps"] == 0
    model, last = made.model, found["position"][-1]
    joints = {model.names[i]: float(last[i]) for i in model.active}
    wanted = coordinate_values(model, equilibrium(model, posture(model, joints)).q)
    elastic = [i for i, kind in enumerate(found.kinds) if kind == "elastic"]
    assert np.abs(wanted[elastic]).max() > 5e-5  # m or rad
    assert np.abs(last - wanted)[elastic].max() < 1e-9 * np.abs(wanted[elastic]).max()
