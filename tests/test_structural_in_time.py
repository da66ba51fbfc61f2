"""Structural damping in time: every mode decays with half its loss factor, as `modes` says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from robots import build

from supple.analyses.modes import modes
from supple.backends.program import run
from supple.backends.stepping.settings import Settings
from supple.cli.main import main
from supple.fmu_parts import fmu_parts
from supple.formulations.least_constraint.leg_program import leg_program
from supple.machine import GALLERY, Machine
from supple.model.algebra import null_space
from supple.model.posture import posture
from supple.model.structural import viscous_equivalent
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator

DELTA = GALLERY / "delta.yaml"
HELD = "drive: {leg/q3: prescribed}\nduration: 0.3 s"


def struck(tmp_path: Path, **options: Any) -> tuple[Simulator, Any]:
    """gough_stewart with held legs, all its modes moving at once by a little, and the modes."""
    (tmp_path / "held.yaml").write_text(HELD)
    made = simulator(Machine.read("gough_stewart", {"gravity": 0.0}), tmp_path / "held.yaml", **options)
    found = modes(Machine.read("gough_stewart", {"gravity": 0.0}).model())
    v = 1e-5 * found.shapes.sum(axis=1)
    return replace(made, runs=(replace(made.runs[0], v=v),)), found


@pytest.mark.parametrize("dense", [False, True])
def test_every_mode_decays_with_half_its_loss_factor(dense: bool, tmp_path: Path) -> None:
    """Logarithmic decrement 2 pi zeta / sqrt(1 - zeta^2) of the momentum of each mode, between its peaks."""
    made, found = struck(tmp_path, dense=dense)
    assert found.damping_ratios == pytest.approx(np.full(6, 0.01), rel=1e-3)
    result = integrate(made, Settings("gauss", every=1e-4))
    M = made.model.mass(made.runs[0].q)
    momenta = result.signals["velocity"].values @ M @ found.shapes
    for k, (f, zeta) in enumerate(zip(found.frequencies_hz, found.damping_ratios, strict=True)):
        y, t = momenta[:, k], result.time
        omega = 2 * np.pi * f
        swung = omega * np.sqrt(1 - zeta**2) * t
        exact = np.exp(-zeta * omega * t) * (np.cos(swung) - zeta / np.sqrt(1 - zeta**2) * np.sin(swung))
        np.testing.assert_allclose(y / y[0], exact, atol=5e-3)
        size = np.abs(y)
        peaks = [i for i in range(1, len(y) - 1) if size[i] > size[i - 1] and size[i] >= size[i + 1]]
        decrement = 2 * np.log(size[peaks[0]] / size[peaks[-1]]) / (len(peaks) - 1)
        assert len(peaks) > 2 and decrement == pytest.approx(2 * np.pi * zeta / np.sqrt(1 - zeta**2), rel=0.02)
    assert result.summary["energy_balance_error"] < 1e-4
    assert (result.signals["power_lost"].values[1:] > 0).all()


def test_left_out_it_rings_on_and_says_so(tmp_path: Path) -> None:
    made, _ = struck(tmp_path, structural="none")
    result = integrate(made, Settings("gauss", every=1e-3))
    energy = sum(result.signals[f"energy_{k}"].values for k in ("kinetic", "elastic"))
    assert energy[-1] == pytest.approx(energy[0], rel=1e-3)
    assert result.summary["structural_damping"] == "left out" and not result.signals["power_lost"].values.any()


CHAIN = """
space: planar
gravity: [0, -9.81, 0]
materials: {steel: {E: 210 GPa, rho: 7850 kg/m^3}}
sections: {blade: {rectangle: {y: 8 mm, z: 30 mm}}}
bodies:
  first: {beam: {length: 0.5 m, section: blade, material: steel, elements: 2, damping: {structural: 0.04}}}
  second: {beam: {length: 0.3 m, section: blade, material: steel, elements: 2, damping: {structural: 0.01}}}
links:
  first: {parent: base, joint: revolute, q: q1, body: first}
  second: {parent: first, on: end, rotate: {z: 30 deg}, body: second}
actuators: {q1: {inertia: 0.05}}
"""


@pytest.mark.parametrize("free", [False, True])
def test_bodies_of_different_loss_share_it_as_the_modes_do(free: bool) -> None:
    """Viscous poles of the equivalent against the poles of K (1 + j eta), actuator held and free.

    Free, there is one motion more than elastic coordinates, so that weight takes part in the first: exact to its share."""
    model = build(CHAIN)
    lossy = modes(model, free=free)
    q = np.array([lossy.pose[n] for n in model.names])
    found = viscous_equivalent(model, q, () if free else ("q1",))
    assert found is not None and np.linalg.eigvalsh(found.D).min() > -1e-9 * np.abs(found.D).max()
    viscous = modes(model.damped(found.D), free=free)
    first = int(free)  # a free actuator swings slowly
    assert ((lossy.damping_ratios[first:] > 0.0049) & (lossy.damping_ratios[first:] < 0.0201)).all()
    np.testing.assert_allclose(viscous.damping_ratios[first:], lossy.damping_ratios[first:], rtol=1e-2 if free else 2e-3)
    rigid = np.eye(model.nv)[0]
    assert not (found.D @ rigid).any()  # turning as a whole is not damped


def test_a_robot_without_loss_factors_has_no_equivalent() -> None:
    model = Machine.read("five_bar").model()
    assert viscous_equivalent(model, np.zeros(model.mechanism.nq)) is None


def test_the_command_says_what_was_done() -> None:
    arguments = ["inverse", "gough_stewart", "--motion", "quintic", "--duration", "0.01"]
    said = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert "structural damping: viscous" in said.stderr and "each of the 6 modes" in said.stderr
    assert "actuators held" in said.stderr
    said = CliRunner().invoke(main, [*arguments, "--structural", "none"], catch_exceptions=False)
    assert "structural damping: left out" in said.stderr


def test_an_fmu_has_the_damping_of_the_robot_with_free_actuators() -> None:
    model = Machine.read("gough_stewart").model()
    parts = fmu_parts(model, passes=("fold", "signs"))
    found = viscous_equivalent(model, np.array(parts.start))
    assert found is not None
    elastic = model.mechanism.indices("elastic")
    assert parts.plant.elastic == tuple(elastic)
    (damped,) = parts.plant.damping
    assert damped.at == tuple(range(len(elastic)))
    np.testing.assert_allclose(damped.D, found.D[np.ix_(elastic, elastic)])
    assert fmu_parts(model, passes=(), structural=False).plant.damping == ()


def test_one_legs_code_for_all_legs_takes_the_forces_of_damping() -> None:
    """The program of a Delta with loss factors against the general solution."""
    model = build(DELTA.read_text().replace("damping: {modal: 0.01}", "damping: {structural: 0.03}"))
    q = posture(model)
    found = viscous_equivalent(model, q, [model.names[i] for i in model.active])
    assert found is not None
    damped, elastic = model.damped(found.D), model.mechanism.indices("elastic")
    Z, _, _ = null_space(np.vstack([model.jacobian(q), model.held(model.active)]))
    v = Z @ np.random.default_rng(3).standard_normal(Z.shape[1])
    given = {"q": q, "v": v, "a_active": np.zeros(3), "g": model.gravity, "x": (found.D @ v)[elastic]}
    made = run(leg_program(model.mechanism, False, damped=True), **given)
    wanted = damped.inverse(q, v, np.zeros(3))
    still = model.inverse(q, v, np.zeros(3))
    assert np.abs(wanted.a - still.a).max() > 1e-2 * np.abs(wanted.a).max()
    np.testing.assert_allclose(made["a_elastic"], wanted.a[elastic], atol=1e-8 * np.abs(wanted.a).max())
    np.testing.assert_allclose(made["tau"], wanted.tau, rtol=1e-7)
