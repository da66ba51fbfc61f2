"""The linear Delta of `linear_delta_exudyn.py` in Exudyn: rods as ANCF cables, geometrically exact beams or reduced FFRF.

Made to be fast: sliders are no bodies, because their motion is given; that motion is a symbolic user function, which Exudyn
evaluates in C++, of the piece at hand alone. Cables are pinned by constraints of their own coordinates, beams have nodes of
rotation vectors (Lie group), which take less time than those of Euler parameters, FFRF bodies have a few modes of the free
rod, which solid elements with the rod's area, moment of inertia and mass make.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import exudyn as exu
import numpy as np
from exudyn import itemInterface as item  # noqa: N813
from exudyn.advancedUtilities import CreateSymbolicUserFunction
from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface
from exudyn.utilities import RotationMatrix2RotationVector
from exudyn_runs import run, signal
from linear_delta import AREA, BENDING, BETA, DEPTH, END, HALF, MASS, PLATFORM, RADIUS, RHO, ROD, E

from supple.motion.trajectory import Trajectory
from supple.robot.finite_elements.solid import solid

CELLS = 10  # solid elements along a rod
SIDE = float(np.sqrt(12 * BENDING / AREA))  # of a square section with the tube's radius of gyration
SHARE = AREA / SIDE**2


class Robot:
    """The linear Delta with `count` cables or beams per rod, or modes of it."""

    def __init__(self, path: Trajectory, kind: str, count: int) -> None:
        self.path, self.kind, self.count = path, kind, count
        self.mbs = exu.SystemContainer().AddSystem()
        self.kept: list[Any] = []  # user functions, which Exudyn does not keep
        mbs = self.mbs
        self.ground = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(item.NodePointGround()), coordinate=0))
        node = mbs.AddNode(item.NodeRigidBodyEP(referenceCoordinates=[0, 0, -DEPTH, 1, 0, 0, 0]))
        self.plate = mbs.AddObject(item.ObjectRigidBody(mass=MASS, inertia=[1e-3, 1e-3, 2e-3, 0, 0, 0], nodeNumber=node))
        if kind == "modes":
            self.reduced, self.ends = _reduced(count)
        for leg, side in product(range(3), (1, -1)):
            self._rod(leg, side * HALF)
        what = exu.OutputVariableType.Acceleration
        self.sensor = mbs.AddSensor(
            item.SensorBody(bodyNumber=self.plate, storeInternal=True, writeToFile=False, outputVariableType=what)
        )
        mbs.Assemble()

    def _rod(self, leg: int, aside: float) -> None:
        """A rod between its slider and its ball on the platform."""
        c, s = np.cos(2 * np.pi * leg / 3), np.sin(2 * np.pi * leg / 3)
        first = np.array([RADIUS * c - aside * s, RADIUS * s + aside * c, 0.0])
        last = np.array([PLATFORM * c - aside * s, PLATFORM * s + aside * c, -DEPTH])
        end = {"cables": self._cables, "beams": self._beams, "modes": self._modes}[self.kind](leg, first, last)
        place = [last[0], last[1], 0.0]
        ball = self.mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=self.plate, localPosition=place))
        self.mbs.AddObject(item.SphericalJoint(markerNumbers=[ball, end]))

    def _cables(self, leg: int, first: np.ndarray, last: np.ndarray) -> Any:
        slope = (last - first) / ROD
        places = [first + share * (last - first) for share in np.linspace(0, 1, self.count + 1)]
        nodes = [self.mbs.AddNode(item.NodePointSlope1(referenceCoordinates=[*p, *slope])) for p in places]
        own = {"massPerLength": RHO * AREA, "bendingStiffness": E * BENDING, "axialStiffness": E * AREA}
        own |= {"bendingDamping": BETA * E * BENDING, "axialDamping": BETA * E * AREA}
        for pair in pairwise(nodes):
            self.mbs.AddObject(
                item.ObjectANCFCable(nodeNumbers=list(pair), length=ROD / self.count, useReducedOrderIntegration=1, **own)
            )
        self._slide(leg, nodes[0])
        return self.mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))

    def _beams(self, leg: int, first: np.ndarray, last: np.ndarray) -> Any:
        section = exu.BeamSection()
        shear = E / 2.6
        stiffness = np.diag([E * AREA, *2 * [shear * AREA / 2], 2 * shear * BENDING, *2 * [E * BENDING]])
        section.massPerLength, section.inertia = RHO * AREA, RHO * BENDING * np.diag([2, 1, 1])
        section.stiffnessMatrix, section.dampingMatrix = stiffness, BETA * stiffness
        turn = list(RotationMatrix2RotationVector(_axes(first, last)))
        places = [first + share * (last - first) for share in np.linspace(0, 1, self.count + 1)]
        nodes = [self.mbs.AddNode(item.NodeRigidBodyRotVecLG(referenceCoordinates=[*p, *turn])) for p in places]
        for pair in pairwise(nodes):
            self.mbs.AddObject(
                item.ObjectBeamGeometricallyExact(nodeNumbers=list(pair), length=ROD / self.count, sectionData=section)
            )
        self._slide(leg, nodes[0])
        return self.mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))

    def _modes(self, leg: int, first: np.ndarray, last: np.ndarray) -> Any:
        made = self.reduced.AddObjectFFRFreducedOrder(
            self.mbs, list(first), rotationMatrixRef=_axes(first, last), initialVelocity=[0, 0, 0],
            initialAngularVelocity=[0, 0, 0], stiffnessProportionalDamping=BETA,
        )  # fmt: skip
        begin, end = (
            self.mbs.AddMarker(
                item.MarkerSuperElementPosition(
                    bodyNumber=made["oFFRFreducedOrder"],
                    meshNodeNumbers=np.array(x),
                    weightingFactors=np.full(len(x), 1 / len(x)),
                )
            )
            for x in self.ends
        )
        slider = self.mbs.AddNode(item.NodePoint(referenceCoordinates=list(first)))
        self.mbs.AddObject(item.MassPoint(mass=0.0, nodeNumber=slider))
        self._slide(leg, slider)
        pin = self.mbs.AddMarker(item.MarkerNodePosition(nodeNumber=slider))
        self.mbs.AddObject(item.SphericalJoint(markerNumbers=[pin, begin]))
        return end

    def _slide(self, leg: int, node: Any) -> None:
        """Holds a node's position, but moves it along z as the slider of its leg."""
        for k in range(3):
            marker = self.mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=node, coordinate=k))
            moved = self._moved(leg) if k == 2 else {}
            self.mbs.AddObject(item.CoordinateConstraint(markerNumbers=[self.ground, marker], **moved))

    def _moved(self, leg: int) -> dict[str, Any]:
        """Displacement and speed of a slider, as Exudyn's own expressions."""

        def displacement(mbs: Any, t: Any, itemNumber: Any, lOffset: Any) -> Any:
            return signal(self.path, leg, t)

        def speed(mbs: Any, t: Any, itemNumber: Any, lOffset: Any) -> Any:
            return signal(self.path, leg, t, rate=True)

        made = {"offsetUserFunction": displacement, "offsetUserFunction_t": speed}
        for name, f in made.items():
            made[name] = CreateSymbolicUserFunction(self.mbs, f, name, itemTypeName="ObjectConnectorCoordinate")
            self.kept.append(made[name])
        return made

    def run(self, step: float, tolerance: tuple[float, float], rho: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Seconds, times, and the platform's acceleration at all steps."""
        return run(self.mbs, self.sensor, END, step, tolerance, rho)


def _axes(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Axes of a rod, x along it."""
    x = (last - first) / ROD
    y = np.cross([0.0, 0.0, 1.0], x)
    y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def _reduced(modes: int) -> tuple[Any, list[list[int]]]:
    """A rod of solid elements with modes of the free body, and the nodes of its ends."""
    points = np.array(list(product(np.linspace(0, ROD, CELLS + 1), *2 * [(-SIDE / 2, SIDE / 2)])))
    cells = [[4 * k + i for i in (0, 4, 6, 2, 1, 5, 7, 3)] for k in range(CELLS)]
    model = solid(points, np.array(cells), E * SHARE, 0.0, RHO * SHARE)
    order = np.argsort(3 * model.node + model.component)
    fem = FEMinterface()
    fem.nodes = {"Position": model.xyz.copy()}
    fem.massMatrix, fem.stiffnessMatrix = (m.tocsr()[order][:, order].tocsr() for m in (model.M, model.K))
    fem.ComputeEigenmodes(nModes=modes, excludeRigidBodyModes=6, useSparseSolver=False)
    ends = [[int(i) for i in np.flatnonzero(np.abs(model.xyz[:, 0] - x) < 1e-9)] for x in (0, ROD)]
    return ObjectFFRFreducedOrderInterface(fem), ends
