"""The order in which loops are eliminated: blocks that share no rows, and the columns that tie them."""

from __future__ import annotations

import numpy as np
import pytest

from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.simulation.block_order import block_order
from supple.simulation.groups import groups_of
from supple.simulation.simulator import simulator


@pytest.mark.parametrize("legs, columns, rows, ties", [(6, 2, 3, 6), (3, 10, 12, 6), (4, 3, 3, 0)])
def test_shuffled_legs_are_found_again(legs: int, columns: int, rows: int, ties: int) -> None:
    """Legs of a platform, rows and columns shuffled: every block is one leg, and its columns are empty outside its rows."""
    rng = np.random.default_rng(1)
    filled = np.zeros((legs * rows, legs * columns + ties), dtype=bool)
    for k in range(legs):
        filled[k * rows : (k + 1) * rows, k * columns : (k + 1) * columns] = True
    filled[:, legs * columns :] = True
    filled = filled[rng.permutation(len(filled))][:, rng.permutation(len(filled))]
    order = block_order(filled)
    assert sorted(b.coordinate for b in order) == sorted(b.equation for b in order) == list(range(len(filled)))
    arranged = filled[np.ix_([b.equation for b in order], [b.coordinate for b in order])]
    for j, b in enumerate(order):
        assert not arranged[: b.begin, j].any() and not arranged[b.end :, j].any()
        assert (b.end - b.begin, j - b.start < columns) == (rows, True) or (b.start, b.begin, b.end) == (0, 0, len(filled))
    assert len({b.start for b in order[: legs * columns]}) == legs


def test_what_is_full_stays_as_it_is() -> None:
    """A matrix without zeros is one block, in its own order."""
    assert block_order(np.ones((5, 5), dtype=bool)) == tuple((i, i, 0, 0, 5) for i in range(5))


def test_elimination_by_blocks_gives_rates_that_keep_loops_closed() -> None:
    """Rates with gough_stewart's 18 dependent coordinates, after a simulated second, satisfy J v = 0.

    J comes from model.Model: the interpreter, in the order of the coordinates."""
    made = simulator(Machine.read("gough_stewart"), "quintic")
    (group,) = groups_of(made, Settings(tolerance=1e-3), None)
    outcome, rows = group.stepper.run(group.state, made.drive, 1.0, 10**6, 2000)
    plant = group.stepper.plant
    assert outcome == "done" and len({b.start for b in plant.blocks}) > 3
    q, v, _ = (x[:, 0] for x in group.stepper.observe(group.state, made.drive, rows[300:900:100], np.zeros(6)))
    assert np.abs(v[:, [p.v for p in plant.dependent]]).max() > 1e-2
    for position, rate in zip(q, v, strict=True):
        assert np.abs(made.model.jacobian(position) @ rate).max() < 1e-12
