"""Sampled controllers against the eigenvalues of the sampled linear model, which is derived apart from the integrators."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.equilibrium import equilibrium, linearise
from supple.model.posture import posture
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator

ROBOT = "gough_stewart"


def spectral_radius(kp: float, kd: float, sample: float) -> float:
    """Largest eigenvalue of one sample: forces of the rigid robot's inertia times the errors, held over the sample."""
    flexible, rigid = simulator(Machine.read(ROBOT), "controlled").model, Machine.read(ROBOT).model(rigid=True)
    rest = equilibrium(flexible, posture(flexible))
    independent = sorted([*flexible.active, *flexible.mechanism.indices("elastic")])
    linear = linearise(flexible, rest, free=True)
    back = np.linalg.inv(linear.Z[independent])
    M, D, K = (back.T @ x @ back for x in (linear.M, linear.D, linear.K))
    inertia, _ = rigid.reduced(posture(rigid), np.zeros(rigid.nv), list(rigid.active))
    n, m = len(independent), len(flexible.active)
    pick = np.zeros((n, m))
    pick[[independent.index(i) for i in flexible.active], range(m)] = 1.0
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    B = np.vstack([np.zeros((n, m)), np.linalg.solve(M, pick)])
    step = expm(sample * np.block([[A, B], [np.zeros((m, 2 * n + m))]]))
    gains = -inertia @ np.hstack([kp * pick.T, kd * pick.T])
    return float(np.abs(np.linalg.eigvals(step[: 2 * n, : 2 * n] + step[: 2 * n, 2 * n :] @ gains)).max())


def forces(kp: float, kd: float, sample: float, duration: float) -> np.ndarray:
    motion = Machine.read(ROBOT).motion("controlled")
    assert motion.controller is not None
    gains = {"kp": dict.fromkeys(motion.drives, kp), "kd": dict.fromkeys(motion.drives, kd)}
    motion = replace(motion, controller=replace(motion.controller, sample=sample, **gains), duration=duration)
    return np.asarray(integrate(simulator(Machine.read(ROBOT), motion), Settings(every=sample))["tau"])


def test_an_unstable_sample_time_diverges_at_the_predicted_rate() -> None:
    """The controller counts on the inertia of the rigid robot, of which its motor feels little at once."""
    radius = spectral_radius(400.0, 40.0, 5e-4)
    assert radius > 5.0
    found = forces(400.0, 40.0, 5e-4, 3e-3)
    sizes = np.abs(found - found[0]).max(axis=1)
    assert (sizes[6] / sizes[3]) ** (1 / 3) == pytest.approx(radius, rel=0.03)  # before it grows beyond linear


def test_a_stable_sample_time_follows_the_path() -> None:
    assert spectral_radius(100.0, 20.0, 1e-4) < 1.0
    motion = replace(Machine.read(ROBOT).motion("controlled"), duration=0.3)
    made = simulator(Machine.read(ROBOT), motion)
    result = integrate(made, Settings())
    assert made.path is not None and result.complete
    wanted = made.path(result.time)[0]
    found = np.stack([result[f"position:{n}"] for n in made.path.names], axis=1)
    assert np.abs(found - wanted).max() < 2e-3


def test_pd_holds_with_the_error_that_weight_asks_for() -> None:
    """A constant load F on a joint with stiffness kp: it settles F / kp away, and ki takes the error away."""
    made = {}
    for law, ki in (("pd", 0.0), ("pid", 1e3)):
        motion = Machine.read("3rrr").motion("turn")
        assert motion.controller is not None and motion.path is not None
        still = replace(motion.path, coefficients=motion.path.coefficients * ([1, 0, 0, 0, 0, 0]))
        start = np.zeros_like(still.coefficients)
        start[:, :, 0] = still.coefficients[:1, :, 0]
        gains = {k: dict.fromkeys(motion.drives, x) for k, x in (("kp", 100.0), ("kd", 2.0), ("ki", ki))}
        control = replace(motion.controller, law=law, sample=2e-4, delay=0.0, **gains)
        from supple.motion.trajectory import Trajectory

        push = Trajectory.held([f"tau {n}" for n in motion.drives], [0.1] * len(motion.drives), 1.5)
        motion = replace(motion, path=replace(still, coefficients=start), controller=control, torques=push, duration=1.5)
        run = simulator(Machine.read("3rrr"), motion)
        result = integrate(run, Settings())
        assert run.path is not None
        names = run.path.names
        made[law] = np.array([result[f"position:{n}"][-1] - run.path(1.5)[0][k] for k, n in enumerate(names)])
    assert made["pd"] == pytest.approx(0.1 / 100.0, rel=1e-3)
    assert np.abs(made["pid"]).max() < 2e-5


def test_a_joint_stuck_by_friction_creeps_without_chatter(tmp_path: Path) -> None:
    """Half the friction's force on a slider: v = width F / sqrt(Fc^2 - F^2), in a few steps; a jump is refused."""
    file = tmp_path / "slider.yaml"
    file.write_text(
        "name: slider\nspace: spatial\ngravity: [0, 0, 0]\nbodies: {block: {rigid: {mass: 2 kg}}}\n"
        "links: {block: {parent: base, joint: prismatic, axis: x, q: x, body: block}}\n"
        "actuators: {x: {coulomb: 10, width: 1e-4}}\n"
        "motions: {push: {torques: {x: {step: {height: 5 N, at: 0.1 s}}}, duration: 1 s}}\n"
    )
    result = integrate(simulator(Machine.read(file), "push"), Settings())
    assert result["velocity:x"][-1] == pytest.approx(1e-4 * 5 / np.sqrt(75), rel=1e-4)
    assert np.ptp(result["velocity:x"][101:]) < 5e-8 and result.summary["steps"] < 400  # a thousandth of the speed
    with pytest.raises(SuppleError, match="width"):
        simulator(Machine.read("dualemps", {"width": 0}), "square")
