"""Designs and judgements of closed loops beside python-control, which derives them by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flexible_links import ARM

import supple
from supple.control.optimal import Noise, observed_law, placed_gain, quadratic_gain
from supple.control.plants import Ask, PosedPlant, plant_at, reduced, sampled
from supple.errors import SuppleError
from supple.machine import Machine
from supple.motion.laws import Sensor

control: Any = pytest.importorskip("control")
SAMPLE = 1e-3


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arm") / "arm.yaml"
    path.write_text(ARM.replace("elements: 3", "elements: 2"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def plant(file: Path) -> PosedPlant:
    """The arm's turn and its first bending modes, the joint read."""
    ask = Ask((Sensor("q.turn", "displacement", 1e-5),), ("turn",), (), ("q.turn", "tip.y"))
    return reduced(plant_at(Machine.read(file).model(), {}, ask, None), [0, 1, 2])


def test_samples_are_those_of_a_held_force(plant: PosedPlant) -> None:
    made = sampled(plant, SAMPLE)
    held = control.c2d(control.ss(plant.A, plant.B, plant.C, np.zeros((1, 1))), SAMPLE)
    assert pytest.approx(held.A, rel=1e-9, abs=1e-12) == made.Phi
    assert pytest.approx(held.B, rel=1e-9, abs=1e-15) == made.Gamma


def test_gains_of_lqg_and_its_filter(plant: PosedPlant) -> None:
    """Feedback by dlqr, the filter by dlqe, both on the sampled plant with its delay."""
    made = sampled(plant, SAMPLE, 0.4e-3)
    deviation, effort = np.array([1e-4, 1e-5]), np.array([3.0])
    Q = made.W.T @ np.diag(deviation**-2.0) @ made.W
    wanted, _, _ = control.dlqr(made.A, made.B, (Q + Q.T) / 2, np.diag(effort**-2.0))
    gain = quadratic_gain(made, deviation, effort)
    assert gain == pytest.approx(wanted, rel=1e-6, abs=1e-6 * np.abs(wanted).max())
    noise = Noise(2.0, 0.0, 0.0, np.array([1e-5]), np.zeros(1))
    part = observed_law(plant, made, gain, noise)
    _, P, _ = control.dlqe(made.A, made.B, made.C, np.diag([4.0]), np.diag([1e-10]))
    M = P @ made.C.T @ np.linalg.inv(made.C @ P @ made.C.T + 1e-10)
    assert pytest.approx(made.A @ M, rel=1e-5, abs=1e-6 * np.abs(made.A @ M).max()) == part.B
    assert pytest.approx(-gain @ M, rel=1e-5) == part.D


def test_poles_that_are_placed(plant: PosedPlant) -> None:
    made = sampled(plant, SAMPLE)
    reached = np.linalg.eigvals(made.Phi - made.Gamma @ placed_gain(plant, made, 0.2, 3.0)[:, : len(made.Phi)])
    wanted = control.place(made.Phi, made.Gamma, reached)
    assert placed_gain(plant, made, 0.2, 3.0)[:, : len(made.Phi)] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("law", ["pd:kp=40,kd=4,lowpass=150", "lqg:effort=2,deviation=1e-4"])
def test_loops_and_their_margins(file: Path, law: str) -> None:
    """The exported plant, sampled, and the exported law, joined there: poles, and the factors by which forces may grow."""
    robot = supple.Robot(file)
    found = robot.control(f"{law},sample=1 ms", ["q,noise=1e-5"], cutoff=0.0)
    whole = control.c2d(robot.linear("tau", "q").to_control(), SAMPLE)
    loop = -(whole * found.to_control())
    told = found.poses[0]
    poles = control.poles(control.feedback(loop))
    poles = np.log(poles[np.abs(poles) > 1e-6].astype(complex)) / SAMPLE
    for one in told.poles:
        assert np.abs(poles - one).min() < 1e-5 * abs(one)
    assert len(poles) == len(told.poles)
    for gain, grows in ((0.9999, False), (1.0001, True)):  # of the factor at which motions grow
        assert (np.abs(control.poles(control.feedback(told.most_gain * gain * loop))).max() > 1) == grows
    crossings = np.array(control.stability_margins(loop, returnall=True)[0])
    assert np.abs(crossings - told.most_gain).min() < 1e-3 * told.most_gain


def test_scheduled_laws_are_not_one_system(file: Path) -> None:
    found = supple.Robot(file).control(
        "pd:kp=40,kd=4,sample=1 ms", over={"turn": (-0.5, 0.5, 2)}, scheduled=True, cutoff=0.0
    )  # fmt: skip
    with pytest.raises(SuppleError, match="make it for one pose"):
        found.to_control()
