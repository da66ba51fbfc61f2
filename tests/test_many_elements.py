"""Robots of many elements: equilibria without modes, and full damping beside the equations, against those with both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.errors import FarFromPose, PoseError
from supple.formulations.newton_euler import newton_euler
from supple.machine import Machine
from supple.model import equilibrium as module
from supple.model.equilibrium import equilibrium
from supple.model.firm import LARGE
from supple.model.model import Model
from supple.model.posture import posture

DATA = Path(__file__).parent / "data" / "idle"
NEVER = 10**9


@pytest.fixture(scope="module")
def many() -> Model:
    return Machine.read("delta", {"elements": 8}).model()


@pytest.mark.parametrize("force", [0.0, 50.0])
def test_equilibria_with_and_without_modes(many: Model, force: float, monkeypatch: pytest.MonkeyPatch) -> None:
    assert many.nv >= LARGE
    q, w = posture(many), np.zeros((1, 6))
    w[0, 0] = force
    without = equilibrium(many, q, w=w)
    monkeypatch.setattr(module, "LARGE", NEVER)
    by_modes = equilibrium(many, q, w=w)
    np.testing.assert_allclose(without.q, by_modes.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(without.tau, by_modes.tau, rtol=0, atol=1e-8)
    np.testing.assert_allclose(without.reactions, by_modes.reactions, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["3prr", "delta", "cantilever", "gough_stewart_flexible"])
def test_small_robots_without_modes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Machine.read(name).model()
    q = posture(model)
    by_modes = equilibrium(model, q)
    monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(module, "_balanced", None)
    np.testing.assert_allclose(equilibrium(model, q).q, by_modes.q, rtol=0, atol=1e-9)


def test_what_gives_way_is_left_to_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rods that spin, one of them twisted; a posture that falls; a pendulum that swings down."""
    monkeypatch.setattr(module, "LARGE", 0)
    idle = Machine.read(DATA / "delta_balls.yaml").model()
    wrenches = np.zeros((len(idle.mechanism.points), 6))
    assert equilibrium(idle, posture(idle), w=wrenches).iterations < 8
    wrenches[list(idle.mechanism.points).index("rod"), 3:] = [0.01, 0.0, 0.01]
    with pytest.raises(PoseError, match=r"nothing holds 'leg1/a\.r"):
        equilibrium(idle, posture(idle), w=wrenches)
    plate = Machine.read("gough_stewart_plate", {"gravity": 9.81}).model()
    with pytest.warns(FarFromPose, match="another posture"):
        equilibrium(plate, posture(plate, {}))
    pendulum = Machine.read(DATA / "pendulum.yaml", {"elements": 6}).model()
    assert np.sin(equilibrium(pendulum, posture(pendulum, {"q": 0.3})).q[0]) == pytest.approx(0.0, abs=1e-9)


def test_operations_beside_full_damping_grow_linearly() -> None:
    """Forces and lost power of beams damped mode by mode: twice as much more for twice as many elements more."""
    robots = [Machine.read("delta", {"elements": n}).model() for n in (8, 16, 32)]
    counts = [[robot.function(name).stored.operations for name in ("forces", "energy")] for robot in robots]
    first, second = np.diff(counts, axis=0)
    assert np.all(np.abs(second - 2 * first) <= 0.02 * second)


def test_damping_beside_the_equations(many: Model) -> None:
    """The same forces, lost power and damping matrix as with all of it written out."""
    whole = Model(newton_euler(many.mechanism))
    assert many.beside and not whole.beside
    assert many.function("forces").stored.operations < whole.function("forces").stored.operations
    rng = np.random.default_rng(1)
    q, v = posture(many), rng.normal(size=(3, many.nv))
    q = q + 1e-3 * rng.normal(size=q.size) * np.isin(
        np.arange(q.size), [k for f in many.mechanism.frames for k in range(f.e.start, f.e.stop)]
    )
    for k in range(3):
        np.testing.assert_allclose(many.forces(q, v[k]), whole.forces(q, v[k]), rtol=1e-9, atol=1e-6)
        lost = [model.energy(q, v[k])["dissipation"] for model in (many, whole)]
        np.testing.assert_allclose(*lost, rtol=1e-9)
    np.testing.assert_allclose(many.damping(q), whole.damping(q), rtol=0, atol=1e-9 * np.abs(whole.damping(q)).max())
