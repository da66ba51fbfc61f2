"""Numbers of finite-element bodies as they enter: units of matrices, masses tied to attachments, by hand on two nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.analyses.modes import modes
from supple.machine import Machine
from supple.robot.link_bodies import flexible_bodies
from supple.robot.reader import describe_text

# Node B, 1 m along x from the held node A, on springs against A's rigid motion: along x y z, about x y z
STIFFNESS = np.array([4e5, 9e4, 1.6e5, 50.0, 60.0, 70.0])
ROBOT = """
space: spatial
bodies:
  arm:
    fe:
      file: arm.npz
      root: A
      attachments: {A: {nodes: [1]}, B: {nodes: [2]}}
      reduction: {craig_bampton: {modes: 0}}
%s
links:
  arm: {parent: base, joint: fixed, body: arm}
"""


def matrices() -> tuple[Any, Any]:
    """M and K: A has 0.5 kg and 0.002 kg m^2, B 1 kg and 0.01 kg m^2 about every axis."""
    G = np.hstack([-np.eye(6), np.eye(6)])
    G[1, 5], G[2, 4] = -1.0, 1.0  # B moves by theta x (1, 0, 0) = (0, theta_z, -theta_y) with A
    return np.diag(np.repeat([0.5, 0.002, 1.0, 0.01], 3)), G.T @ np.diag(STIFFNESS) @ G


def robot(folder: Path, more: str = "", millimetres: bool = False) -> Path:
    M, K = matrices()
    nodes = np.array([[1, 0, 0, 0], [2, 1, 0, 0]], dtype=float)
    if millimetres:  # t, mm, N: a move of 1 mm is 1e-3 m, an energy of 1 N mm 1e-3 J
        nodes[:, 1:] *= 1e3
        to_metres = np.diag(np.tile(np.repeat([1e-3, 1.0], 3), 2))
        M, K = (1e3 * to_metres @ X @ to_metres for X in (M, K))
        assert M[6, 6] == pytest.approx(1e-3) and M[9, 9] == pytest.approx(10)  # 1 kg = 1e-3 t, 0.01 kg m^2 = 10 t mm^2
        more += "      units: mm\n"
    np.savez(folder / "arm.npz", M=M, K=K, nodes=nodes)
    path = folder / "robot.yaml"
    path.write_text(ROBOT % more)
    return path


def squares(path: Path) -> Any:
    return np.sort((2 * np.pi * modes(Machine.read(path).model()).frequencies_hz) ** 2)


def roots(a: float, b: float, c: float) -> list[float]:
    """Of a x^2 - b x + c = 0."""
    root = np.sqrt(b * b - 4 * a * c)
    return [(b - root) / (2 * a), (b + root) / (2 * a)]


@pytest.mark.parametrize("millimetres", [False, True])
def test_units_of_matrices(tmp_path: Path, millimetres: bool) -> None:
    """B on its springs: k / 1 kg and k / 0.01 kg m^2; the body weighs 1.5 kg, and a unit of it is the same in t and mm."""
    path = robot(tmp_path, millimetres=millimetres)
    assert squares(path) == pytest.approx(np.sort(STIFFNESS / np.repeat([1, 0.01], 3)), rel=1e-9)
    body, markers = flexible_bodies(Machine.read(path).description)["arm"]
    assert float(body.mass) == pytest.approx(1.5)
    assert body.MS_r.astype(float) == pytest.approx([1, 0, 0])
    assert markers["B"].position.astype(float) == pytest.approx([1, 0, 0])


MASS = "      masses: [{mass: 2, at: [1.2, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.02}}]\n"


def test_a_mass_tied_to_an_attachment(tmp_path: Path) -> None:
    """2 kg 0.2 m beyond B move by u + theta x (0.2, 0, 0). Across: (k - 3 s)(c - 0.11 s) = (0.4 s)^2, with
    0.11 = 0.01 + 0.02 + 2 * 0.2^2; along: 4e5 / 3 kg; twisting: 50 / (0.01 + 0.01)."""
    path = robot(tmp_path, MASS)
    wanted = [4e5 / 3, 50 / 0.02]
    for k, c in ((9e4, 70), (1.6e5, 60)):
        wanted += roots(0.33 - 0.16, 0.11 * k + 3 * c, k * c)
    assert squares(path) == pytest.approx(np.sort(wanted), rel=1e-9)


def test_a_tied_mass_counts_in_the_rigid_body(tmp_path: Path) -> None:
    """0.5 + 1 + 2 kg; 1 * 1 + 2 * 1.2 kg m; across 0.002 + 0.01 + 1 + 0.02 + 2 * 1.44 kg m^2, along 0.022."""
    body, _ = flexible_bodies(Machine.read(robot(tmp_path, MASS)).description)["arm"]
    assert float(body.mass) == pytest.approx(3.5)
    assert body.MS_r.astype(float) == pytest.approx([3.4, 0, 0])
    assert np.diag(body.I_rr.astype(float)) == pytest.approx([0.022, 3.912, 3.912])


def test_a_mass_is_tied_to_the_nearest_attachment(tmp_path: Path) -> None:
    """At 0.4 m it is A's, which is held, and does not vibrate; at 0.6 m it is B's."""
    still, shaken = (f"      masses: [{{mass: 2, at: [{x}, 0, 0]}}]\n" for x in (0.4, 0.6))
    assert squares(robot(tmp_path, still)).max() == pytest.approx(4e5, rel=1e-9)
    assert np.abs(squares(robot(tmp_path, shaken)) - 4e5 / 3).min() < 1e-6 * 4e5


def test_the_frame_may_be_at_the_centre_of_mass(tmp_path: Path) -> None:
    """0.5 kg at A and 1 kg at B: the centre is 2/3 m from A, so B is at 1/3 m and A at -2/3 m."""
    body, markers = flexible_bodies(Machine.read(robot(tmp_path, "      origin: centre\n")).description)["arm"]
    assert body.MS_r.astype(float) == pytest.approx([0, 0, 0], abs=1e-9)
    assert markers["B"].position.astype(float) == pytest.approx([1 / 3, 0, 0])
    assert markers["A"].position.astype(float) == pytest.approx([-2 / 3, 0, 0])
    assert float(body.I_rr[2, 2]) == pytest.approx(0.012 + 0.5 * 4 / 9 + 1 / 9)


def test_a_held_body_keeps_six_modes_unless_told(tmp_path: Path) -> None:
    path = robot(tmp_path)
    path.write_text(path.read_text().replace("      reduction: {craig_bampton: {modes: 0}}\n", ""))
    body, _ = flexible_bodies(Machine.read(path).description)["arm"]
    assert body.reduced is not None and body.reduced.method == "clamped_free"
    assert np.sort((2 * np.pi * np.array(body.reduced.frequencies)) ** 2) == pytest.approx(
        np.sort(STIFFNESS / np.repeat([1, 0.01], 3)), rel=1e-9
    )


PLATE = """
space: spatial
materials: {m: {E: 70 GPa, rho: 2500}}
bodies:
  top:
    plate:
      corners: [[0, 0], [0.4, 0], [0.4, 0.2], [0, 0.2]]
      thickness: 10 mm
      material: m
      element: kirchhoff
      refine: 0
      origin: [0, 0]
      masses: [{mass: 3, at: [0.1, 0.05]}, {mass: 1, at: [0.1, 0.05, 0.02]}]
platform: {body: top}
"""


def test_masses_on_a_plate_lie_where_they_are_put() -> None:
    """2500 * 0.4 * 0.2 * 0.01 = 2 kg about (0.2, 0.1, 0), 3 kg at (0.1, 0.05, 0) in its plane, 1 kg 20 mm above it."""
    pytest.importorskip("skfem")
    body, _ = flexible_bodies(describe_text(PLATE, "test.yaml"))["top"]
    assert float(body.mass) == pytest.approx(6)
    assert body.MS_r.astype(float) == pytest.approx([0.4 + 0.3 + 0.1, 0.2 + 0.15 + 0.05, 0.02])
    about_z = 2 * (0.4**2 + 0.2**2) / 3 + 4 * (0.1**2 + 0.05**2)
    assert float(body.I_rr[2, 2]) == pytest.approx(about_z, rel=1e-6)
    assert body.reduced is not None and len(body.reduced.frequencies) == 10  # modes of a free body, unless told


def test_a_plate_is_refined_until_its_frequencies_stand_still() -> None:
    """To a part of 1e-4 of each, as asked: meshes go on until the last change is below."""
    pytest.importorskip("skfem")
    text = PLATE.replace("refine: 0", "tolerance: 0.0001\n      reduction: {free_free: {modes: 3}}")
    bare = text[: text.index("      masses")] + "platform: {body: top}\n"
    body, _ = flexible_bodies(describe_text(bare, "test.yaml"))["top"]
    assert body.reduced is not None
    (_, before), (_, last) = body.reduced.meshes[-2:]
    assert np.abs(np.array(last) / np.array(before) - 1).max() < 1e-4
