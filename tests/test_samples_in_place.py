"""What simulations record: samples where they are written, work by trapezia, bounds in place of what is within limits."""

from __future__ import annotations

import numpy as np
import pytest

from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.model.limits import notices, strained
from supple.model.posture import posture
from supple.simulation import groups, integrate
from supple.simulation.performance import _integral
from supple.simulation.simulator import simulator


@pytest.mark.parametrize("every", [0.01, 0.0])
def test_samples_are_the_same_wherever_they_are_written(every: float, monkeypatch: pytest.MonkeyPatch) -> None:
    made = simulator(Machine.read("five_bar"), "circle", duration=0.3)
    settings = Settings(every=every)
    _, _, (group,), _ = integrate._integrated(made, settings, 1, None, None, None)
    assert (group.room is None) == (every == 0.0)
    rows = group.rows
    assert np.shares_memory(rows, group.samples[-1]) == (every > 0.0)
    monkeypatch.setattr(groups, "_AT_ONCE", 0)
    _, _, (other,), _ = integrate._integrated(made, settings, 1, None, None, None)
    assert other.room is None and np.array_equal(other.rows, rows, equal_nan=True)
    monkeypatch.setattr(groups, "_AT_ONCE", 1 << 16)
    monkeypatch.setattr(groups, "_rows_of", lambda settings, duration: settings.most_samples + 4)  # room that does not last
    _, _, (short,), _ = integrate._integrated(made, settings, 1, None, None, None)
    assert np.array_equal(short.rows, rows, equal_nan=True)


def test_work_by_trapezia() -> None:
    time = np.sort(np.random.default_rng(1).uniform(size=30))
    values = np.random.default_rng(2).normal(size=(30, 2))
    np.testing.assert_allclose(_integral(time, values), np.trapezoid(values, time, axis=0), rtol=1e-13)
    values[20:, 1] = np.nan  # a run that stopped early
    np.testing.assert_allclose(_integral(time, values), np.trapezoid(np.nan_to_num(values), time, axis=0), rtol=1e-13)
    assert _integral(time[:1], values[:1]).tolist() == [0.0, 0.0]


def test_beams_are_strained_at_most_as_told() -> None:
    """Exactly in one posture and beyond limits, a bound within them."""
    model = Machine.read("dualemps").model()
    draw = np.random.default_rng(3)
    for size, quiet in ((1e-7, True), (0.3, False)):
        home = posture(model, None, None)
        q = np.array([home + size * draw.normal(size=home.shape) for _ in range(20)])
        one_by_one, together = [strained(model, x) for x in q], strained(model, q)
        for j, found in together.items():
            for key, value in vars(found).items():
                most = max(getattr(x[j], key) for x in one_by_one)
                assert value >= most * (1 - 1e-12) and (quiet or value == pytest.approx(most, rel=1e-12))
        assert (notices(model, q, known=together) == ()) == quiet
