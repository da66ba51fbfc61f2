"""DualEMPS along a motion in Exudyn: five rigid bodies, blades as cables or beams, friction, sliders moved.

Made to be fast: the sliders are no bodies, because their motion is given (the hips' pins move instead); motion and friction
are symbolic user functions, which Exudyn evaluates in C++; the sparse solver is a little faster than the dense one. Blades
are one ANCFCable2D each, which has the frequencies of supple's element, or geometrically exact beams with quadratic shapes
that end in the nodes of the rigid bodies (`beams` per long blade, half as many in the short one): the better model.
"""

from __future__ import annotations

import time
from typing import Any

import exudyn as exu
import numpy as np
from dualemps_states import BASE, BLADE, HIP, KNEE
from exudyn.advancedUtilities import CreateSymbolicUserFunction
from exudyn.itemInterface import (
    Cable2D,
    CoordinateConstraint,
    CoordinateSpringDamper,
    GenericJoint,
    MarkerBodyRigid,
    MarkerNodeCoordinate,
    MarkerNodeRigid,
    NodePoint2DSlope1,
    NodePointGround,
    NodeRigidBody2D,
    ObjectBeamGeometricallyExact2D,
    RevoluteJoint2D,
    RigidBody2D,
    SensorBody,
)

from supple.motion.trajectory import Trajectory

SHORT, ARM = 0.14, 0.082 + 0.065  # the blade of the tip; from the knee's start to its own
E, RHO, AREA, BENDING = 74e9, 2800, 2e-4, 0.05 * 0.004**3 / 12
SHEAR = 5 / 6 * E / 2.6 * AREA
WIDTH = 1e-3  # rad/s, of the smoothed sign
RIGID = {  # mass, first moment, inertia at the link's origin
    "hip1": (0.843, 0.004, 7.06e-4), "hip2": (0.843, 0.004, 7.06e-4), "tip": (0.177, 0.0058215, 2.56e-4),
    "knee1": (0.396, 0.0298579, 0.0030511), "knee2": (0.190, 0.0111708, 9.44e-4),
}  # fmt: skip
BLADES = (("hip1", HIP, BLADE, "knee1"), ("knee1", ARM, SHORT, "tip"), ("hip2", HIP, BLADE, "knee2"))
FRICTION = ((None, "hip1", 0.08, 0.02), (None, "hip2", 0.08, 0.02), ("knee2", "knee1", 0.005, 0.01))  # viscous, Coulomb
TOLERANCE = (
    1e-4,
    1e-5,
)  # of Newton's method, relative and absolute; ten times looser spoils the errors, tighter only takes time
REFERENCE_TOLERANCE = (1e-7, 1e-7)


class Robot:
    """DualEMPS, its sliders along a path (q11, q21), or held at zero and without friction; x, y are x0, z0.

    `beams`: geometrically exact beams per long blade; 0: cables."""

    def __init__(self, path: Trajectory | None = None, beams: int = 0) -> None:
        self.mbs = exu.SystemContainer().AddSystem()
        self.kept: list[Any] = []  # user functions, which have to outlive the system
        start = np.zeros(2) if path is None else path.only(["q11", "q21"])(path.start)[0]
        ground = self.mbs.AddNode(NodePointGround())
        self.ground = self.mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
        self._bodies(start)
        for body, x, length, after in BLADES:
            if beams:
                self._beams(body, x, length, after, beams if length > SHORT else (beams + 1) // 2)
            else:
                self._blade(body, x, length, after)
        self.mbs.AddObject(RevoluteJoint2D(markerNumbers=[self._at("knee1", KNEE), self._at("knee2", KNEE)]))
        for leg, (hip, z) in enumerate(zip(("hip1", "hip2"), start, strict=True)):
            self._join(hip, 0)
            self._join(hip, 1, **({} if path is None else self._moved(path.only([f"q{leg + 1}1"]), float(z))))
        if path is not None:
            for before, after, viscous, coulomb in FRICTION:
                self._rub(before, after, viscous, coulomb)
        kind = exu.OutputVariableType.Acceleration
        self.sensor = self.mbs.AddSensor(
            SensorBody(bodyNumber=self.bodies["tip"], storeInternal=True, writeToFile=False, outputVariableType=kind)
        )
        self.mbs.Assemble()
        self.counts: dict[str, int] = {}

    def _bodies(self, start: np.ndarray) -> None:
        """Rigid bodies where the robot that does not bend has them."""
        base, leg = complex(BASE, start[1] - start[0]), HIP + BLADE + KNEE
        angle = {"1": np.angle(base) + np.arccos(abs(base) / 2 / leg)}
        angle["2"] = np.angle(leg * np.exp(1j * angle["1"]) - base)
        origin = {"1": 1j * start[0], "2": BASE + 1j * start[1]}
        along = {"hip": 0.0, "knee": HIP + BLADE, "tip": HIP + BLADE + ARM + SHORT}
        self.place, self.nodes, self.bodies = {}, {}, {}
        for name, (mass, first, inertia) in RIGID.items():
            its = name[-1] if name != "tip" else "1"
            turned = np.exp(1j * angle[its])
            self.place[name] = (origin[its] + along[name.rstrip("12")] * turned, turned)
            at = self.place[name][0]
            node = self.mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[at.real, at.imag, angle[its]]))
            own = {"mass": mass, "inertia": inertia, "centerOfMass": [first / mass, 0]}
            self.nodes[name], self.bodies[name] = node, self.mbs.AddObject(RigidBody2D(nodeNumber=node, **own))

    def _at(self, body: str, x: float) -> Any:
        return self.mbs.AddMarker(MarkerBodyRigid(bodyNumber=self.bodies[body], localPosition=[x, 0, 0]))

    def _coordinate(self, body: str, k: int) -> Any:
        return self.mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=self.nodes[body], coordinate=k))

    def _blade(self, body: str, x: float, length: float, after: str) -> None:
        """One element, clamped to both bodies."""
        origin, turned = self.place[body]
        ends = [origin + (x + share) * turned for share in (0, length)]
        slope = [turned.real, turned.imag]
        nodes = [self.mbs.AddNode(NodePoint2DSlope1(referenceCoordinates=[p.real, p.imag, *slope])) for p in ends]
        own = {"massPerLength": RHO * AREA, "bendingStiffness": E * BENDING, "axialStiffness": E * AREA}
        self.mbs.AddObject(Cable2D(nodeNumbers=nodes, length=length, useReducedOrderIntegration=1, **own))
        for node, marker in zip(nodes, (self._at(body, x), self._at(after, 0)), strict=True):
            pair = [marker, self.mbs.AddMarker(MarkerNodeRigid(nodeNumber=node))]
            self.mbs.AddObject(GenericJoint(markerNumbers=pair, constrainedAxes=[1, 1, 0, 0, 0, 1]))

    def _beams(self, body: str, x: float, length: float, after: str, count: int) -> None:
        """Quadratic beams, clamped to the first body, that end in the node of the second."""
        origin, turned = self.place[body]
        angle = float(np.angle(turned))
        ways = [x + length * k / (2 * count) for k in range(2 * count)]
        points = [origin + way * turned for way in ways]
        nodes = [self.mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[p.real, p.imag, angle])) for p in points]
        nodes.append(self.nodes[after])
        own = {"massPerLength": RHO * AREA, "crossSectionInertia": RHO * BENDING, "bendingStiffness": E * BENDING}
        own |= {"axialStiffness": E * AREA, "shearStiffness": SHEAR, "length": length / count}
        for k in range(count):
            three = nodes[2 * k : 2 * k + 3]
            self.mbs.AddObject(ObjectBeamGeometricallyExact2D(nodeNumbers=three, includeReferenceRotations=True, **own))
        pair = [self._at(body, x), self.mbs.AddMarker(MarkerNodeRigid(nodeNumber=nodes[0]))]
        self.mbs.AddObject(GenericJoint(markerNumbers=pair, constrainedAxes=[1, 1, 0, 0, 0, 1]))

    def _join(self, body: str, k: int, **moved: Any) -> None:
        self.mbs.AddObject(CoordinateConstraint(markerNumbers=[self.ground, self._coordinate(body, k)], **moved))

    def _moved(self, path: Trajectory, start: float) -> dict[str, Any]:
        """Displacement and speed along one channel's path, as Exudyn's own expressions."""

        def displacement(mbs: Any, t: Any, itemNumber: Any, lOffset: Any) -> Any:
            return _sum_of_pieces(path, t, rate=False) - start

        def speed(mbs: Any, t: Any, itemNumber: Any, lOffset: Any) -> Any:
            return _sum_of_pieces(path, t, rate=True)

        made = {"offsetUserFunction": displacement, "offsetUserFunction_t": speed}
        return {name: self._symbolic(f, name, "ObjectConnectorCoordinate") for name, f in made.items()}

    def _rub(self, before: str | None, after: str, viscous: float, coulomb: float) -> None:
        def torque(
            mbs: Any, t: Any, itemNumber: Any, displacement: Any, velocity: Any, stiffness: Any, damping: Any, offset: Any
        ) -> Any:
            return viscous * velocity + coulomb * velocity / exu.symbolic.sqrt(velocity * velocity + WIDTH * WIDTH)

        kind = "ObjectConnectorCoordinateSpringDamper"
        markers = [self.ground if before is None else self._coordinate(before, 2), self._coordinate(after, 2)]
        law = self._symbolic(torque, "springForceUserFunction", kind)
        self.mbs.AddObject(CoordinateSpringDamper(markerNumbers=markers, springForceUserFunction=law))

    def _symbolic(self, f: Any, name: str, kind: str) -> Any:
        self.kept.append(CreateSymbolicUserFunction(self.mbs, f, name, itemTypeName=kind))
        return self.kept[-1]

    def frequencies(self) -> np.ndarray:
        """Natural frequencies in Hz at the reference, lowest first."""
        return np.sort(self.mbs.ComputeODE2Eigenvalues(convert2Frequencies=True, ignoreAlgebraicEquations=False)[0])

    def run(
        self, step: float, end: float, every: float, tolerance: tuple[float, float] = TOLERANCE, rho: float = 0.8
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Seconds, times and tip accelerations (times, 2) of the generalised-alpha method with constraints of index 3."""
        settings = exu.SimulationSettings()
        by = settings.timeIntegration
        by.numberOfSteps, by.endTime, by.verboseMode = round(end / step), end, 0
        by.newton.useModifiedNewton = True
        by.newton.relativeTolerance, by.newton.absoluteTolerance = tolerance
        by.generalizedAlpha.spectralRadius = rho
        by.generalizedAlpha.computeInitialAccelerations = False
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = every
        settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
        settings.parallel.numberOfThreads = 1
        solver = exu.MainSolverImplicitSecondOrder()
        begun = time.thread_time()
        fine = solver.SolveSystem(self.mbs, settings)
        taken = time.thread_time() - begun
        if not fine:
            raise RuntimeError(f"Exudyn stopped early with a step of {step:g} s")
        self.counts = {"iterations": solver.it.newtonStepsCount, "Jacobians": solver.it.newtonJacobiCount}
        found = self.mbs.GetSensorStoredData(self.sensor)
        return taken, found[:, 0].copy(), found[:, 1:3].copy()


def _sum_of_pieces(path: Trajectory, t: Any, rate: bool) -> Any:
    """The first value (or rate) and its growth within each piece, the time clipped to the piece: no branches."""
    order = 1 if rate else 0
    total: Any = float(path.coefficients[0, 0, order])
    for k, c in enumerate(path.coefficients[:, 0]):
        growth = c[2:] * np.arange(2, 6) if rate else c[1:]
        if not np.abs(growth).max() > 1e-13:
            continue
        length = float(path.knots[k + 1] - path.knots[k])
        s = exu.symbolic.min(exu.symbolic.max(t - float(path.knots[k]), 0.0), length)
        grown: Any = float(growth[-1])
        for x in growth[-2::-1]:
            grown = grown * s + float(x)
        total = grown * s + total
    return total
