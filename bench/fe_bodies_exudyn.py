"""Two bars of solid elements, joined by hinges and spun in space: supple against Exudyn's FFRF objects on the same matrices.

Both read M and K of the same hexahedra and reduce them to the motions of the ends and four modes with the ends held. They
turn about two crossed axes without gravity; Exudyn's mass-proportional load leaves out how gravity's moment follows the
deformation (CObjectFFRFreducedOrder.cpp, DisplacementMassIntegral_q takes the undeformed centre of mass), supple does not.
The programs treat large deformations differently, so the paths of the tip must differ by the square of the deformation:
when the bars are four times stiffer, sixteen times less, until Exudyn's steps limit it.

    python bench/fe_bodies_exudyn.py [FILE.json]     # writes the paths of the tip to a file
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from itertools import product
from pathlib import Path

import exudyn as exu
import numpy as np
from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface
from exudyn.itemInterface import (
    MarkerBodyRigid,
    MarkerSuperElementRigid,
    ObjectGround,
    ObjectJointRevoluteZ,
    SensorMarker,
)
from timing import show

from supple.backends.stepping.settings import Settings
from supple.machine import Machine
from supple.robot.finite_elements.matrix_files import write_model
from supple.robot.finite_elements.nodal import NodalModel
from supple.robot.finite_elements.solid import solid
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator

CELLS, E, NU, RHO, Y, Z = 10, 2.1e11, 0.3, 7850.0, 0.012, 0.015
BETA, MODES, END, EVERY = 1e-4, 4, 0.5, 5e-3
RATES = (2.0, 6.0)  # rad/s of the two hinges
STEP = 1.25e-4  # s, the finer of Exudyn's
ROBOT = f"""
name: bars
space: spatial
bodies:
  bar:
    fe:
      file: bar.npz
      attachments: {{root: {{plane: {{x: 0}}}}, end: {{plane: {{x: 1}}}}}}
      root: root
      reduction: {{craig_bampton: {{modes: {MODES}}}}}
      damping: {{rayleigh: {{beta: {BETA}}}}}
links:
  first: {{parent: base, joint: revolute, axis: y, q: q1, body: bar}}
  second: {{parent: first, on: end, joint: revolute, axis: z, q: q2, body: bar}}
points: {{tip: {{link: second, on: end}}}}
motions:
  spin: {{rates: {{q1: {RATES[0]}, q2: {RATES[1]}}}, duration: {END} s}}
"""


def bar(stiffer: float) -> NodalModel:
    """A bar of 1 m along x."""
    points = np.array(list(product(np.linspace(0, 1, CELLS + 1), (-Y / 2, Y / 2), (-Z / 2, Z / 2))))
    cells = [[4 * k + i for i in (0, 4, 6, 2, 1, 5, 7, 3)] for k in range(CELLS)]
    return solid(points, np.array(cells), stiffer * E, NU, RHO)


def by_supple(model: NodalModel, folder: Path) -> tuple[np.ndarray, float]:
    """The tip's path (T x 3), and the largest deformation."""
    write_model(model, folder / "bar.npz")
    (folder / "bars.yaml").write_text(ROBOT)
    fine = Settings(method="gauss", tolerance=1e-10, every=EVERY)
    found = integrate(simulator(Machine.read(folder / "bars.yaml"), "spin", start="undeformed"), fine).signals
    return found["point_position"].values[:, 0], float(np.abs(found["point_deformation"].values).max())


def by_exudyn(model: NodalModel, step: float) -> np.ndarray:
    """The tip's path (T x 3)."""
    fem = FEMinterface()
    order = np.argsort(3 * model.node + model.component)
    fem.nodes = {"Position": model.xyz.copy()}
    fem.massMatrix, fem.stiffnessMatrix = (m.tocsr()[order][:, order].tocsr() for m in (model.M, model.K))
    ends = [[int(i) for i in np.flatnonzero(np.abs(model.xyz[:, 0] - x) < 1e-9)] for x in (0, 1)]
    fem.ComputeHurtyCraigBamptonModes(ends, MODES, computationMode=HCBstaticModeSelection.RBE2)
    reduced = ObjectFFRFreducedOrderInterface(fem)
    mbs = exu.SystemContainer().AddSystem()

    def body(x: float, velocity: list[float], spin: list[float]) -> list[int]:
        """Markers at both ends of a bar."""
        given = {"initialVelocity": velocity, "initialAngularVelocity": spin, "rotationMatrixRef": np.eye(3)}
        made = reduced.AddObjectFFRFreducedOrder(mbs, [x, 0, 0], stiffnessProportionalDamping=BETA, **given)
        number = made["oFFRFreducedOrder"]
        weights = [np.full(len(nodes), 1 / len(nodes)) for nodes in ends]
        return [
            mbs.AddMarker(MarkerSuperElementRigid(bodyNumber=number, meshNodeNumbers=np.array(n), weightingFactors=w))
            for n, w in zip(ends, weights, strict=True)
        ]

    first, second = body(0, [0, 0, 0], [0, RATES[0], 0]), body(1, [0, 0, -RATES[0]], [0, *RATES])
    ground = mbs.AddMarker(MarkerBodyRigid(bodyNumber=mbs.AddObject(ObjectGround())))
    y = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # turns z to y
    mbs.AddObject(ObjectJointRevoluteZ(markerNumbers=[ground, first[0]], rotationMarker0=y, rotationMarker1=y))
    mbs.AddObject(ObjectJointRevoluteZ(markerNumbers=[first[1], second[0]]))
    place = exu.OutputVariableType.Position
    sensor = mbs.AddSensor(SensorMarker(markerNumber=second[1], outputVariableType=place, storeInternal=True))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    time = settings.timeIntegration
    time.numberOfSteps, time.endTime, time.verboseMode = round(END / step), END, 0
    time.generalizedAlpha.spectralRadius = 0.9
    time.newton.relativeTolerance, time.newton.absoluteTolerance = 1e-9, 1e-10
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = EVERY
    mbs.SolveDynamic(settings)
    return np.array(mbs.GetSensorStoredData(sensor))[:, 1:4]


def main() -> None:
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    rows, paths = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for stiffer in (1, 4, 16):
            model = bar(stiffer)
            own, deformation = by_supple(model, Path(folder))
            coarse, fine = (by_exudyn(model, step) for step in (2 * STEP, STEP))
            limit = (4 * fine - coarse) / 3  # of a method of second order
            paths[stiffer] = limit
            away = [1e3 * float(np.abs(x).max()) for x in (own - limit, fine - limit)]
            rows.append([f"{stiffer}", f"{1e3 * deformation:.3f}", *(f"{x:.1e}" for x in away)])
    show("path of the tip over 0.5 s, in mm", ["stiffness", "deformation", "supple - Exudyn", "Exudyn's steps"], rows)
    if len(sys.argv) > 1:
        stored = {str(k): x[:: round(0.1 / EVERY)].tolist() for k, x in paths.items()}
        Path(sys.argv[1]).write_text(json.dumps({"every": 0.1, "tip": stored}))


if __name__ == "__main__":
    main()
