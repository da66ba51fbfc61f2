"""Many postures at once beside numpy, one by one: least squares, rotation vectors, results in rows, memory used again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supple.backends import sampled, shelf
from supple.backends.compiler import find_compiler
from supple.backends.interpreter import interpret
from supple.backends.tape import tape
from supple.expr.function import function, symbols
from supple.expr.node import cos, sin, sqrt
from supple.machine import Machine
from supple.model import seen as seen_room
from supple.model.followers import moved_by
from supple.model.observe import turning_vectors
from supple.model.posture import posture
from supple.model.seen import seen
from supple.model.turning import quaternion
from supple.motion.trajectory import Trajectory

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@needs_compiler
@pytest.mark.parametrize("m, n", [(1, 1), (3, 3), (6, 4), (18, 18)])
def test_least_squares(m: int, n: int) -> None:
    rng = np.random.default_rng(m + n)
    A, b = rng.normal(size=(21, m, n)), rng.normal(size=(21, m, 2))
    A[4] = 0.0
    A[7, :, -1] = A[7, :, 0] if n > 1 else 0.0
    x, poor = sampled.least(np.moveaxis(A, 0, -1), np.moveaxis(b, 0, -1).copy())
    assert np.flatnonzero(poor).tolist() == [4, 7]
    for k in np.flatnonzero(~poor):
        np.testing.assert_allclose(x[..., k], np.linalg.lstsq(A[k], b[k], rcond=None)[0], rtol=1e-9, atol=1e-11)
    alone, _ = sampled.least(A[9:10].transpose(1, 2, 0), b[9:10].transpose(1, 2, 0))
    assert np.array_equal(alone[..., 0], x[..., 9])  # whatever is beside it


@needs_compiler
def test_rotation_vectors() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(40, 3))
    vectors *= (rng.uniform(0, np.pi, 40) / np.linalg.norm(vectors, axis=1))[:, None]
    vectors[0], vectors[1], vectors[2] = 0.0, [1e-13, 0, 0], [np.pi - 1e-9, 0, 0]
    w, x, y, z = quaternion(vectors).T
    R = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    R[..., 3] = np.nan
    made = sampled.turning(R)
    assert made is not None and np.isnan(made[:, 3]).all()
    np.testing.assert_allclose(np.delete(made.T, 3, 0), np.delete(vectors, 3, 0), atol=1e-8)
    np.testing.assert_allclose(made.T, turning_vectors(np.moveaxis(R, -1, 0)), atol=1e-12)


@needs_compiler
def test_rotation_vectors_to_the_last_digits() -> None:
    """About one axis the angle is known: a second derivation by the arc tangent of the library."""
    angle = np.concatenate([np.linspace(-np.pi, np.pi, 1001)[1:], [1e-3, 1e-7, 1e-9]])
    c, s, zero, one = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    made = sampled.turning(np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]]))
    assert made is not None
    np.testing.assert_allclose(made[2], np.arctan2(s, c), rtol=2e-15, atol=1e-17)
    assert not made[:2].any()


@pytest.mark.parametrize("width", [1, 7, 8, 14, 24])
def test_the_largest_of_many(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(width).normal(size=(37, width + 3))[:, 1 : width + 1]
    x[5], x[:, 0] = np.nan, np.nan
    true = np.nan_to_num(np.abs(x)).max(axis=0)
    assert np.array_equal(sampled.largest(x), true)
    monkeypatch.setattr(sampled, "_library", lambda: None)
    assert np.array_equal(sampled.largest(x), true)


@needs_compiler
@pytest.mark.parametrize("count", [1, 5, 32, 75])
def test_results_in_rows(count: int) -> None:
    a = symbols("a", 4)
    f = function(
        "rows",
        {"a": a},
        {"x": [[a[0] * a[1] + a[2], a[3] - a[0] * a[2]]], "y": sin(a[0]) / (2 + cos(a[1])), "z": [sqrt(a[3] * a[3])]},
    )
    given = np.random.default_rng(1).normal(size=(count, 9))[:, 2:6]
    made, true = tape(f), interpret(f)(a=given)
    first, rest = np.empty((3, count + 2))[:, 1:-1], np.empty((1, count))
    made.rows((first, rest), a=given)
    assert np.array_equal(made.named(first)["x"], np.moveaxis(true["x"], 0, -1))
    np.testing.assert_allclose(made.named(first)["y"], true["y"], rtol=1e-15)
    assert np.array_equal(made.named(rest, 3)["z"][0], true["z"][:, 0]) and "z" not in made.named(first)


def test_memory_is_used_again_when_nobody_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "_shelf", {})
    first = shelf.array(100, 1000)
    at, part = first.ctypes.data, first[3:5].T
    del first
    second = shelf.array(100, 1000)
    assert second.ctypes.data != at and not shelf._shelf  # a part of the first is still held
    del part
    assert [x.ctypes.data for x in shelf._shelf.values()] == [at]
    assert shelf.array(90, 1000).ctypes.data == at
    monkeypatch.setattr(shelf, "_MOST", 0)
    shelf.array(100, 100_000)
    assert sum(map(len, shelf._shelf.values())) < 4_000_000


@needs_compiler
@pytest.mark.parametrize("robot", ["dualemps", "delta"])
def test_what_is_seen_together_is_what_the_functions_tell(robot: str) -> None:
    model = Machine.read(robot).model()
    rng = np.random.default_rng(2)
    home = posture(model, None, None)
    q = np.array([model.retract(home, 1e-3 * rng.normal(size=model.nv)) for _ in range(7)])
    v, a = rng.normal(size=(2, 7, model.nv))
    found = seen(model, q, v, a, given=[int(i) for i in model.active])
    energy, points = model.call("energy", q=q, v=v), model.call("points", q=q, v=v, a=a)
    np.testing.assert_allclose(found["energy_kinetic"], energy["kinetic"].sum(axis=1) + energy["motors"], rtol=1e-12)
    np.testing.assert_allclose(found["power_lost"], energy["dissipation"], rtol=1e-12)
    for key in ("position", "velocity", "acceleration", "spin"):
        np.testing.assert_allclose(found[f"point_{key}"], points[key], rtol=1e-11, atol=1e-13)
    turned = np.einsum("nkij,nki->nkj", points["rotation"], points["acceleration"])
    np.testing.assert_allclose(found["point_acceleration_own"], turned, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found["closure"], np.abs(model.call("closure", q=q)["residual"]).max(axis=1), rtol=1e-12)


@pytest.mark.parametrize("robot", ["dualemps", "delta"])
@pytest.mark.parametrize("compiler", [True, False])
def test_forces_of_actuators_by_virtual_power(robot: str, compiler: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside joints that follow one by one, with damping, and in a sample where loops say nothing."""
    model = Machine.read(robot).model()
    if not compiler:
        monkeypatch.setattr(sampled, "_library", lambda: None)
    rng = np.random.default_rng(4)
    home = posture(model, None, None)
    q = np.array([model.retract(home, 1e-3 * rng.normal(size=model.nv)) for _ in range(139)])
    v, a = rng.normal(size=(2, 139, model.nv))
    damped = model.damped(np.diag(rng.uniform(size=model.nv)))
    given = [int(i) for i in model.active[1:]]
    for own in (model, damped):
        out = own.call("forces", q=q, v=v, a=a)
        true = np.einsum("nik,ni->nk", moved_by(model, q, given), out["f"] + out["coulomb"])
        tau = seen(own, q, v, a, given=given)["tau"]
        np.testing.assert_allclose(tau[:, 1:], true, rtol=1e-9, atol=1e-10 * np.abs(true).max())
        assert not tau[:, 0].any()


@needs_compiler
def test_samples_that_c_gives_up_are_told_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Machine.read("dualemps").model()
    q = np.array([posture(model, None, None)] * 9)
    v = a = np.ones((9, model.nv))
    given = [int(i) for i in model.active]
    true, own = seen(model, q, v, a, given=given)["tau"], seen_room.drives

    def some_poor(*told: Any) -> Any:
        poor = own(*told)
        poor[[2, 8]] = True
        told[-1][:, poor] = np.nan
        return poor

    monkeypatch.setattr(seen_room, "drives", some_poor)
    np.testing.assert_allclose(seen(model, q, v, a, given=given)["tau"], true, rtol=1e-9)


def test_when_a_path_has_come_to_rest() -> None:
    knots, c = np.array([0.0, 1.0, 2.0, 3.0]), np.zeros((3, 2, 6))
    c[0, 0, :2], c[1:, 0, 0] = (0.0, 2.0), 2.0
    c[2, 1, 2] = 1e-12
    path = Trajectory(("a", "b"), knots, c, np.zeros(0))
    assert path.at_rest_from(1e-9) == 1.0 and path.at_rest_from(1e-13) == 3.0
