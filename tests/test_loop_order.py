"""Loops eliminated in a fixed order: factors and solutions written out, and pivots that are chosen anew where they fail."""

from __future__ import annotations

import numpy as np
import pytest

from supple.backends.stepping import plant_text
from supple.backends.stepping.settings import Settings
from supple.backends.stepping.stepper import Stepper
from supple.expr.function import Array
from supple.machine import Machine
from supple.simulation.groups import groups_of
from supple.simulation.loop_order import factors, loop_order, multipliers, odd, solution
from supple.simulation.plants import plant
from supple.simulation.simulator import simulator


def legs_on_a_platform(legs: int, columns: int, rows: int, ties: int) -> Array:
    """Where a Jacobian is filled: legs share no rows, all share the last columns; rows and columns shuffled."""
    rng = np.random.default_rng(1)
    filled = np.zeros((legs * rows, legs * columns + ties), dtype=bool)
    for k in range(legs):
        filled[k * rows : (k + 1) * rows, k * columns : (k + 1) * columns] = True
    filled[:, legs * columns :] = True
    return filled[rng.permutation(len(filled))][:, rng.permutation(len(filled))]


@pytest.mark.parametrize("filled", [legs_on_a_platform(6, 2, 3, 6), legs_on_a_platform(3, 10, 12, 6), np.ones((5, 5), bool)])
def test_solutions_are_those_of_numpy(filled: Array) -> None:
    """Solved with the order chosen for one matrix: that one, and others that are filled alike."""
    rng = np.random.default_rng(2)
    order = loop_order(filled, np.where(filled, rng.standard_normal(filled.shape), 0.0))
    for _ in range(3):
        J = np.where(filled, rng.standard_normal(filled.shape), 0.0) + 3.0 * _permutation(order)
        right = rng.standard_normal(len(J))
        found = np.array(solution(order, factors(J.astype(object), order), list(right)), dtype=float)
        assert np.allclose(found, np.linalg.solve(J, right), rtol=1e-9, atol=1e-9)
        pivots = np.array(factors(J.astype(object), order)[: len(J)], dtype=float)
        assert np.linalg.slogdet(J)[0] == np.prod(np.sign(pivots)) * (-1) ** odd(order)


def _permutation(order: tuple[tuple[int, int, object, object], ...]) -> Array:
    """Ones at the pivots, which keep them away from zero."""
    made = np.zeros((len(order), len(order)))
    for row, column, *_ in order:
        made[row, column] = 1.0
    return made


def test_work_grows_with_the_number_of_legs() -> None:
    """Numbers among the factors of 3, 6 and 12 legs on a platform: the same more for each leg."""
    found = []
    for legs in (3, 6, 12):
        filled = legs_on_a_platform(legs, 3, 3, 0)
        filled = np.block([[filled, np.ones((len(filled), 6))], [np.ones((6, len(filled))), np.ones((6, 6))]]).astype(bool)
        order = loop_order(filled, np.where(filled, 1.0, 0.0) + 5.0 * np.eye(len(filled)))
        found.append(multipliers(order))
    assert found[2] - found[1] == 2 * (found[1] - found[0])


def test_largest_entries_become_pivots() -> None:
    """Of two rows with as many entries, the one that is large in the column."""
    order = loop_order(np.ones((2, 2), dtype=bool), np.array([[1e-6, 1.0], [1.0, 1.0]]))
    assert order[0][:2] != (0, 0)


def test_elimination_in_a_fixed_order_gives_rates_that_keep_loops_closed() -> None:
    """Rates with gough_stewart's 18 dependent coordinates, after a simulated second, satisfy J v = 0.

    J comes from model.Model: the interpreter, in the order of the coordinates."""
    made = simulator(Machine.read("gough_stewart"), "quintic")
    (group,) = groups_of(made, Settings(tolerance=1e-3), None)
    outcome, rows = group.stepper.run(group.state, made.drive, 1.0, 10**6, 2000)
    plant = group.stepper.plant
    assert outcome == "done" and 0 < plant.multipliers < 18 * 17 // 4
    q, v, _ = (x[:, 0] for x in group.stepper.observe(group.state, made.drive, rows[300:900:100], np.zeros(6)))
    assert np.abs(v[:, [p.v for p in plant.dependent]]).max() > 1e-2
    for position, rate in zip(q, v, strict=True):
        assert np.abs(made.model.jacobian(position) @ rate).max() < 1e-12


def test_pivots_chosen_anew_lead_to_the_same_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """gough_stewart on its way, with pivots of the fixed order and with those that are chosen at every posture."""
    made = simulator(Machine.read("gough_stewart"), "quintic")
    names = made.model.names
    own = plant(made.model, made.runs[0].q, [names[p.v] for p in made.stepper().plant.given])
    text = plant_text._file("loops")
    found = []
    for limit in ("100.0", "0.0"):
        other = text.replace("MOST_MULTIPLIED 100.0", f"MOST_MULTIPLIED {limit}")
        monkeypatch.setattr(
            plant_text, "_file", lambda name, own=other, file=plant_text._file: own if name == "loops" else file(name)
        )
        stepper = Stepper(own)
        state = stepper.start(made.scaled(Settings()), made.drive, 0.0, made.runs[0].q, made.runs[0].v)
        assert stepper.begin(state, made.drive) == "fine"
        outcome, rows = stepper.run(state, made.drive, 0.5, 10**6, 1000)
        assert outcome == "done"
        found.append(rows)
        monkeypatch.undo()
    assert np.abs(found[0]).max() > 0.1 and np.allclose(found[0], found[1], rtol=1e-8, atol=1e-8)
    assert (found[0] != found[1]).any()
