"""Small dense algebra beside scipy's, and joints that follow the actuators beside the loops' own Functions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh as scipy_eigh
from scipy.linalg import qr

from supple.machine import Machine
from supple.model import follow as following
from supple.model.algebra import eigh, pivots
from supple.model.follow import follow
from supple.model.followers import moved_by, undeformed
from supple.model.posture import posture


@pytest.mark.parametrize("n", [1, 6, 40])
def test_eigenvalues_of_masses_that_differ_by_powers_of_ten(n: int) -> None:
    rng = np.random.default_rng(n)
    A, B = rng.standard_normal((2, n, n))
    size = 10.0 ** rng.uniform(-4, 4, n)
    A, B = A + A.T, (B @ B.T + n * np.eye(n)) * np.outer(size, size)
    values, vectors = eigh(A, B)
    wanted = scipy_eigh(A, B, eigvals_only=True)
    np.testing.assert_allclose(values, wanted, atol=1e-12 * np.abs(wanted).max())
    np.testing.assert_allclose(vectors.T @ B @ vectors, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(eigh(A, B, 1)[0], wanted[:1], atol=1e-12 * np.abs(wanted).max())


def test_a_matrix_that_is_not_positive_definite_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        eigh(np.eye(2), np.diag([1.0, 0.0]))


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (4, 4)])
def test_columns_by_pivoting(shape: tuple[int, int]) -> None:
    A = np.random.default_rng(2).standard_normal(shape)
    order, added = pivots(A)
    _, R, wanted = qr(A, mode="economic", pivoting=True)
    assert order[: min(shape)] == wanted[: min(shape)].tolist()
    np.testing.assert_allclose(added, np.abs(np.diagonal(R)), rtol=1e-12)


@pytest.mark.parametrize("name", ["dualemps", "delta", "five_bar", "gough_stewart_flexible"])
def test_joints_that_follow(name: str) -> None:
    model = Machine.read(name).model()
    home = posture(model, None, None)
    bent = model.retract(home, 1e-4 * np.random.default_rng(3).standard_normal(model.nv))
    q = np.array([home, bent])
    still = undeformed(model, q)
    elastic = [i for f in model.mechanism.frames for i in range(f.e.start, f.e.stop)]
    active = [model.mechanism.frames[model.mechanism.coordinates[i].frame].q.start for i in model.active]
    assert not still[:, elastic].any()
    np.testing.assert_array_equal(still[:, active], q[:, active])
    assert max(np.abs(model.residual(x)).max() for x in still) < 1e-10
    assert np.abs(still[1] - bent).max() > 1e-6
    moves = moved_by(model, still, list(model.active))
    for x, move in zip(still, moves, strict=True):
        np.testing.assert_allclose(model.jacobian(x) @ move, 0, atol=1e-9)
        np.testing.assert_array_equal(move[model.active], np.eye(len(model.active)))
        assert not move[model.mechanism.indices("elastic")].any()


@pytest.mark.parametrize("name, motion", [("dualemps", "circle"), ("delta", "pick_and_place")])
def test_a_path_that_was_followed_is_remembered(name: str, motion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine.read(name)
    read = machine.motion(motion)
    first = follow(machine.model(rigid=True), read)
    monkeypatch.setattr(following, "_follow", lambda *_: pytest.fail("followed again"))
    again = Machine.read(name)
    second = follow(again.model(rigid=True), again.motion(motion))
    assert first.trajectory is not None and second.trajectory is not None
    assert second.trajectory.names == first.trajectory.names and second.posture == first.posture
    for part in ("knots", "coefficients", "breaks"):
        np.testing.assert_array_equal(getattr(second.trajectory, part), getattr(first.trajectory, part))
    assert read.path is not None
    others = (replace(read, path=read.path.later(0.1)), replace(read, assembly="another"), replace(read, start={"x": 1.0}))
    assert len({following._asked(m) for m in (read, *others)}) == 4
