"""Accelerations by elimination in a fixed order, beside those of the projected matrices of the tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from supple.backends.stepping.settings import Settings
from supple.backends.stepping.stepper import Stepper
from supple.machine import Machine
from supple.simulation.plants import plant
from supple.simulation.saddle import saddle_order
from supple.simulation.simulator import simulator


@pytest.mark.parametrize("held", [3, 1])
def test_eliminated_and_projected_accelerations_agree(held: int) -> None:
    """Random displacements and rates of the free coordinates; the tree's accelerations come from T^T M T, pivots chosen."""
    made = simulator(Machine.read("3prr"), "to_and_fro")
    start, given = made.runs[0].q, [made.model.names[p.v] for p in made.stepper().plant.given][:held]
    led = made.drive.given
    assert led is not None
    drive = replace(made.drive, given=replace(led, coefficients=led.coefficients[:, :held]))
    found = []
    for dense in (False, True):
        own = plant(made.model, start, given, dense=dense)
        assert (own.tree is not None) == dense
        stepper = Stepper(own)
        state = stepper.start(made.scaled(Settings()), drive, 0.0, start, made.runs[0].v)
        assert stepper.begin(state, drive) == "fine"
        rng = np.random.default_rng(3)
        for t in (0.0, 0.06, 0.3):
            y = 1e-3 * rng.standard_normal(2 * len(own.free)) * np.repeat([1.0, 100.0], len(own.free))
            outcome, rates = stepper.derivatives(state, drive, t, y)
            assert outcome == "fine"
            found.append(rates[len(own.free) :])
    closed, projected = np.array(found[:3]), np.array(found[3:])
    assert np.abs(projected).max() > 1.0
    assert np.abs(closed - projected).max() < 1e-9 * np.abs(projected).max()


def test_forces_in_loops_wait_for_what_they_hold_on_to() -> None:
    """Two masses tied twice in the same way, and not at all: the second tie has nothing left to move."""
    M, J = np.eye(2), np.array([[1.0, -1.0], [1.0, -1.0]])
    tied_twice = np.block([[M, J.T], [J, np.zeros((2, 2))]])
    assert saddle_order(tied_twice != 0, tied_twice, 2) is None
    once = tied_twice[:3, :3]
    order = saddle_order(once != 0, once, 2)
    assert order is not None and order[0] < 2
