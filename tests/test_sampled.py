"""Many postures at once beside numpy, one by one: least squares, rotation vectors, results in rows, memory used again."""

from __future__ import annotations

import numpy as np
import pytest

from supple.backends import sampled, shelf
from supple.backends.compiler import find_compiler
from supple.backends.interpreter import interpret
from supple.backends.tape import tape
from supple.expr.function import function, symbols
from supple.expr.node import cos, sin, sqrt
from supple.machine import Machine
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


def test_when_a_path_has_come_to_rest() -> None:
    knots, c = np.array([0.0, 1.0, 2.0, 3.0]), np.zeros((3, 2, 6))
    c[0, 0, :2], c[1:, 0, 0] = (0.0, 2.0), 2.0
    c[2, 1, 2] = 1e-12
    path = Trajectory(("a", "b"), knots, c, np.zeros(0))
    assert path.at_rest_from(1e-9) == 1.0 and path.at_rest_from(1e-13) == 3.0
