"""Imported finite-element bodies in large motion, against another program on the same matrices."""

from __future__ import annotations

import json
from pathlib import Path

import bars
import numpy as np
import pytest

pytest.importorskip("skfem")

from supple.backends.compiler import find_compiler
from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.robot.finite_elements.matrix_files import write_model
from supple.robot.finite_elements.solid import solid
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator

EXUDYN = json.loads((Path(__file__).parent / "data" / "exudyn_bars.json").read_text())
ROBOT = """
name: bars
space: spatial
bodies:
  bar:
    fe:
      file: bar.npz
      attachments: {root: {plane: {x: 0}}, end: {plane: {x: 1}}}
      root: root
      reduction: {craig_bampton: {modes: 4}}
      damping: {rayleigh: {beta: 1e-4}}
links:
  first: {parent: base, joint: revolute, axis: y, q: q1, body: bar}
  second: {parent: first, on: end, joint: revolute, axis: z, q: q2, body: bar}
points: {tip: {link: second, on: end}}
motions:
  spin: {rates: {q1: 2, q2: 6}, duration: 0.5 s}
"""


@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")
def test_two_bars_spun_in_space_by_exudyn(tmp_path: Path) -> None:
    """Path of the tip by Exudyn's FFRF objects (bench/fe_bodies_exudyn.py), which read the same M and K. The programs differ
    in how they turn what is far bent, so by the square of the deformation: sixteen times less if four times as stiff."""
    (tmp_path / "bars.yaml").write_text(ROBOT)
    away, bent = [], []
    for stiffer in (1, 4):
        write_model(solid(*bars.hexahedra(10), stiffer * bars.E, bars.NU, bars.RHO), tmp_path / "bar.npz")
        fine = Settings(method="gauss", tolerance=1e-9, every=EXUDYN["every"])
        found = integrate(simulator(Machine.read(tmp_path / "bars.yaml"), "spin", start="undeformed"), fine).signals
        away.append(np.abs(found["point_position"].values[:, 0] - EXUDYN["tip"][str(stiffer)]).max())
        bent.append(np.abs(found["point_deformation"].values).max())
    assert bent[0] > 0.02  # m
    assert away[0] < 0.05 * bent[0] ** 2
    assert 12 < away[0] / away[1] < 20
