"""`gough_stewart_flexible` of the gallery in Exudyn, for `gough_stewart_exudyn.py`.

The plate is a reduced FFRF body with the shapes that supple has of it; its inertia is written down by hand for a flat plate
whose shapes are deflections without mean motion. Drives follow supple's path of the actuators, a symbolic function that
Exudyn evaluates in C++. Rods are parts on sprung hinges in the minimal coordinates of a leg (kinematic tree), geometrically
exact beams whose first node slides in the cylinder, or reduced FFRF bodies whose frame does. ANCF cables in space have no
axes at their ends, by which they could be clamped to what turns. Damping of rods is in proportion to their stiffness, which
gives the ratio of the file at their first frequencies, held at the root; beams do not take theirs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import exudyn as exu
import numpy as np
from exudyn import itemInterface as item  # noqa: N813
from exudyn.advancedUtilities import CreateSymbolicUserFunction
from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface
from exudyn.utilities import RotationMatrix2EulerParameters, RotationMatrix2RotXYZ, RotationMatrixX, RotationMatrixY
from exudyn_runs import run, settle, signal
from scipy.linalg import block_diag
from scipy.sparse import diags

from supple.motion.trajectory import Trajectory
from supple.robot.mechanism import Mechanism

TUBE, ROD, SIDE, HEIGHT, FEET, APART = 0.45, 0.5, 0.5, 0.95, 0.8, np.radians(25)
CYLINDER, CYLINDER_INERTIA = 4.0, np.diag([0.07, 0.07, 0.003])
OUTER, INNER, E, RHO = 0.030, 0.022, 210e9, 7850.0
AREA, BENDING = np.pi / 4 * (OUTER**2 - INNER**2), np.pi / 64 * (OUTER**4 - INNER**4)
STIFFNESS, DAMPER, RATIO = 1e7, 2000.0, 0.01
END = 2.0  # s
ALONG = np.array([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])  # axes of a rod, x along it, in those of its leg, z along it
PARTS = 20  # of a reduced rod
CORNERS = [SIDE * np.array([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0.0]) for k in range(6)]
TURNS = [k * np.pi / 3 + (-1) ** (k + 1) * APART for k in range(6)]
BASES = [FEET * np.array([np.cos(a), np.sin(a), 0.0]) for a in TURNS]


class Robot:
    """The robot with `count` hinges, beams or modes per rod (`kind`: hinges, beams, modes), and the plate of a mechanism."""

    def __init__(self, plate: Mechanism, path: Trajectory, kind: str, count: int, weight: bool = True) -> None:
        self.path, self.kind, self.count = path, kind, count
        self.gravity = [0, 0, -9.81 if weight else 0.0]
        self.mbs = exu.SystemContainer().AddSystem()
        self.kept: list[Any] = []  # user functions, which Exudyn does not keep
        self.ground = self.mbs.AddObject(item.ObjectGround())
        fixed = self.mbs.AddNode(item.NodePointGround())
        self.fixed = self.mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=fixed, coordinate=0))
        self._plate(plate)
        if kind == "modes":
            self.reduced = _reduced(count)
        for leg in range(6):
            end = {"hinges": self._hinges, "beams": self._beams, "modes": self._modes}[kind](leg)
            corner = item.MarkerSuperElementPosition(
                bodyNumber=self.plate, meshNodeNumbers=np.array([leg]), weightingFactors=np.array([1.0])
            )
            self.mbs.AddObject(item.SphericalJoint(markerNumbers=[self.mbs.AddMarker(corner), end]))
        what = exu.OutputVariableType.Acceleration
        own = {"storeInternal": True, "writeToFile": False, "outputVariableType": what}
        self.sensor = self.mbs.AddSensor(item.SensorSuperElement(bodyNumber=self.plate, meshNodeNumber=6, **own))
        self.mbs.Assemble()
        settle(self.mbs)

    def run(
        self, step: float, tolerance: tuple[float, float], rho: float, contraction: float
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Seconds, times, and the acceleration of the platform's centre."""
        return run(self.mbs, self.sensor, END, step, tolerance, rho, contraction)

    def frequencies(self) -> np.ndarray:
        """Natural frequencies in Hz at the start; they leave out what loads on constraints do."""
        return np.sort(self.mbs.ComputeODE2Eigenvalues(convert2Frequencies=True, ignoreAlgebraicEquations=False)[0])

    def _plate(self, mechanism: Mechanism) -> None:
        """A floating body with seven nodes, its corners and centre, and deflections of them as shapes."""
        body = mechanism.frames[mechanism.platform].body
        count = len(body.coordinates)
        mass, stiffness, damping = (x.astype(float) for x in (body.M_ee, body.K_ee, body.D_ee))
        sites = [c.first.marker for c in mechanism.closures] + [mechanism.points["centre"].marker]
        shapes = np.vstack([x.Phi_d.astype(float) for x in sites])
        frame = self.mbs.AddNode(item.NodeRigidBodyEP(referenceCoordinates=[0, 0, HEIGHT, 1, 0, 0, 0]))
        modal = self.mbs.AddNode(
            item.NodeGenericODE2(
                numberOfODE2Coordinates=count, referenceCoordinates=[0] * count,
                initialCoordinates=[0] * count, initialCoordinates_t=[0] * count,
            )
        )  # fmt: skip
        across = np.diag([1.0, 1.0, 0.0])  # r~^T r~ of a unit deflection
        self.plate = self.mbs.AddObject(
            item.ObjectFFRFreducedOrder(
                nodeNumbers=[frame, modal], stiffnessMatrixReduced=_container(stiffness),
                massMatrixReduced=_container(mass), dampingMatrixReduced=_container(damping), modeBasis=shapes,
                referencePositions=np.concatenate([*CORNERS, np.zeros(3)]), mass=float(body.mass),
                inertia=body.I_rr.astype(float), centerOfMass=[0, 0, 0], mPsiTildePsi=np.zeros((3 * count, count)),
                mPsiTildePsiTilde=np.kron(mass, across), mPhitTPsi=np.zeros((3, count)),
                mPhitTPsiTilde=np.zeros((3, 3 * count)), mXRefTildePsi=np.zeros((3, count)),
                mXRefTildePsiTilde=np.zeros((3, 3 * count)), computeFFRFterms=True,
            )
        )  # fmt: skip
        self._weigh(self.plate)

    def _hinges(self, leg: int) -> Any:
        """A leg in minimal coordinates: universal joint, drive, a stretch, and rigid parts of the rod on sprung hinges."""
        kinds = ["RevoluteX", "RevoluteY", "PrismaticZ", "PrismaticZ"] + ["RevoluteX", "RevoluteY"] * self.count
        part = ROD / self.count
        offsets = [0.0, 0.0, TUBE, part / 2, 0.0, 0.0, *[part, 0.0] * (self.count - 1)]
        ends = [0.0, TUBE, part / 2, 0.0] + [0.0, part] * (self.count - 1) + [0.0, part / 2]
        total = len(kinds)
        masses, middles, inertias = [0.0] * total, [np.zeros(3)] * total, [np.zeros((3, 3))] * total
        for k in range(2, total):
            masses[k] = RHO * AREA * ends[k]
            middles[k] = np.array([0, 0, ends[k] / 2])
            inertias[k] = _rod_inertia(ends[k])
        masses[1], middles[1], inertias[1] = CYLINDER, np.array([0, 0, TUBE / 2]), CYLINDER_INERTIA
        start, turn = self._start(leg)
        places = [*start, *[0.0] * (total - 3)]
        node = self.mbs.AddNode(
            item.NodeGenericODE2(
                numberOfODE2Coordinates=total, referenceCoordinates=places,
                initialCoordinates=[0] * total, initialCoordinates_t=[0] * total,
            )
        )  # fmt: skip
        bending, stretching = E * BENDING / part, E * AREA / ROD
        springs = np.array([0, 0, 0, stretching, *[bending] * (total - 4)])
        rates = np.array([1, 1, 1, 2 * RATIO / _stretching(), *[2 * RATIO / _clamped()] * (total - 4)])
        tree = self.mbs.AddObject(
            item.ObjectKinematicTree(
                nodeNumber=node, gravity=self.gravity, baseOffset=list(BASES[leg]),
                jointTypes=[getattr(exu.JointType, k) for k in kinds], linkParents=list(range(-1, total - 1)),
                jointTransformations=exu.Matrix3DList([turn, *[np.eye(3)] * (total - 1)]),
                jointOffsets=exu.Vector3DList([[0, 0, z] for z in offsets]), linkInertiasCOM=exu.Matrix3DList(inertias),
                linkCOMs=exu.Vector3DList(middles), linkMasses=masses, jointPControlVector=springs,
                jointDControlVector=springs * rates,
                jointPositionOffsetVector=[0] * total, jointVelocityOffsetVector=[0] * total,
            )
        )  # fmt: skip
        slide = self.mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=node, coordinate=2))
        law = self._drive(leg)
        self.mbs.AddObject(item.CoordinateSpringDamper(markerNumbers=[self.fixed, slide], springForceUserFunction=law))
        return self.mbs.AddMarker(
            item.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=total - 1, localPosition=[0, 0, ends[-1]])
        )

    def _beams(self, leg: int) -> Any:
        """A rigid cylinder, and geometrically exact beams that share nodes; the first one slides in the cylinder."""
        cylinder, turn, root = self._cylinder(leg)
        section = exu.BeamSection()
        shear = E / 2.6
        stiffness = np.diag([E * AREA, *2 * [shear * AREA / 2], 2 * shear * BENDING, *2 * [E * BENDING]])
        section.massPerLength, section.inertia = RHO * AREA, RHO * BENDING * np.diag([2, 1, 1])
        section.stiffnessMatrix, section.dampingMatrix = stiffness, 2 * RATIO / _clamped() * stiffness
        along = turn @ ALONG
        angles = list(RotationMatrix2RotXYZ(along))
        places = [root + share * ROD * along[:, 0] for share in np.linspace(0, 1, self.count + 1)]
        nodes = [self.mbs.AddNode(item.NodeRigidBodyRxyz(referenceCoordinates=[*p, *angles])) for p in places]
        for pair in pairwise(nodes):
            beam = item.ObjectBeamGeometricallyExact(nodeNumbers=list(pair), length=ROD / self.count, sectionData=section)
            self._weigh(self.mbs.AddObject(beam))
        self._slide(leg, cylinder, self.mbs.AddMarker(item.MarkerNodeRigid(nodeNumber=nodes[0])))
        return self.mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))

    def _modes(self, leg: int) -> Any:
        """A rigid cylinder, and a reduced FFRF rod whose frame is its root and slides in the cylinder."""
        cylinder, turn, root = self._cylinder(leg)
        made = self.reduced.AddObjectFFRFreducedOrder(
            self.mbs, list(root), rotationMatrixRef=turn @ ALONG, initialVelocity=[0, 0, 0], gravity=self.gravity,
            initialAngularVelocity=[0, 0, 0], stiffnessProportionalDamping=2 * RATIO / _clamped(),
        )  # fmt: skip
        self._slide(leg, cylinder, self.mbs.AddMarker(item.MarkerNodeRigid(nodeNumber=made["nRigidBody"])))
        return self.mbs.AddMarker(
            item.MarkerSuperElementPosition(
                bodyNumber=made["oFFRFreducedOrder"], meshNodeNumbers=np.array([PARTS]), weightingFactors=np.array([1.0])
            )
        )

    def _cylinder(self, leg: int) -> tuple[Any, np.ndarray, np.ndarray]:
        """A cylinder on its universal joint, its axes, and where the rod begins."""
        (u1, u2, slide), foot = self._start(leg)
        turn = foot @ RotationMatrixX(u1) @ RotationMatrixY(u2)
        vector = list(RotationMatrix2EulerParameters(turn @ ALONG))
        node = self.mbs.AddNode(item.NodeRigidBodyEP(referenceCoordinates=[*BASES[leg], *vector]))
        about = ALONG.T @ (CYLINDER_INERTIA + CYLINDER * (TUBE / 2) ** 2 * np.diag([1, 1, 0])) @ ALONG
        body = self.mbs.AddObject(
            item.ObjectRigidBody(
                mass=CYLINDER, inertia=[*np.diag(about), 0, 0, 0], centerOfMass=[TUBE / 2, 0, 0], nodeNumber=node
            )
        )  # fmt: skip
        self._weigh(body)
        # constraint: y of the cylinder stays across x of the foot
        held = self.mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=self.ground, localPosition=list(BASES[leg])))
        pivot = self.mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=body))
        joint = item.GenericJoint(
            markerNumbers=[held, pivot], constrainedAxes=[1, 1, 1, 0, 0, 1], rotationMarker0=foot, rotationMarker1=ALONG.T
        )
        self.mbs.AddObject(joint)
        return body, turn, BASES[leg] + (TUBE + slide) * turn[:, 2]

    def _weigh(self, body: Any) -> None:
        marker = self.mbs.AddMarker(item.MarkerBodyMass(bodyNumber=body))
        self.mbs.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=self.gravity))

    def _slide(self, leg: int, cylinder: Any, root: Any) -> None:
        """Lets a rod slide along its cylinder, with the drive between its root and the foot."""
        guide = self.mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=cylinder, localPosition=[TUBE, 0, 0]))
        self.mbs.AddObject(item.GenericJoint(markerNumbers=[guide, root], constrainedAxes=[0, 1, 1, 1, 1, 1]))
        foot = self.mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=self.ground, localPosition=list(BASES[leg])))
        kind = "ObjectConnectorSpringDamper"

        def force(
            mbs: Any, t: Any, itemNumber: Any, deltaL: Any, deltaL_t: Any, stiffness: Any, damping: Any, force: Any
        ) -> Any:
            wanted, speed = (signal(self.path, leg, t, rate) for rate in (False, True))
            return STIFFNESS * (deltaL - wanted) + DAMPER * (deltaL_t - speed)

        made = CreateSymbolicUserFunction(self.mbs, force, "springForceUserFunction", itemTypeName=kind)
        self.kept.append(made)
        own = {"markerNumbers": [foot, root], "referenceLength": TUBE, "springForceUserFunction": made}
        self.mbs.AddObject(item.ObjectConnectorSpringDamper(**own))

    def _start(self, leg: int) -> tuple[np.ndarray, np.ndarray]:
        """Universal joint and slide of a leg, the platform at home, and the axes of its foot."""
        c, s = np.cos(leg * np.pi / 3), np.sin(leg * np.pi / 3)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
        way = CORNERS[leg] + [0, 0, HEIGHT] - BASES[leg]
        length = np.linalg.norm(way)
        d = turn.T @ way / length
        return np.array([np.arctan2(-d[1], d[2]), np.arcsin(d[0]), length - TUBE - ROD]), turn

    def _drive(self, leg: int) -> Any:
        """The force of a leg's drive: spring and damper about the length that the path asks for."""
        home = float(self.path(0.0)[0][leg])

        def force(
            mbs: Any, t: Any, itemNumber: Any, displacement: Any, velocity: Any, stiffness: Any, damping: Any, offset: Any
        ) -> Any:
            wanted, speed = (signal(self.path, leg, t, rate) for rate in (False, True))
            return STIFFNESS * (displacement + home - wanted) + DAMPER * (velocity - speed)

        kind = "ObjectConnectorCoordinateSpringDamper"
        made = CreateSymbolicUserFunction(self.mbs, force, "springForceUserFunction", itemTypeName=kind)
        self.kept.append(made)
        return made


def _reduced(count: int) -> Any:
    """A rod along x with its stretch, its bending under a force at its end, and `count` - 1 bendings between its ends."""
    x = np.linspace(0, 1, PARTS + 1)
    shapes, second = [1.5 * x**2 - 0.5 * x**3], [3 - 3 * x]  # and their second derivatives
    for k in range(2, count + 1):
        shapes.append(x**k * (1 - x) * x)
        second.append((k + 1) * k * x ** (k - 1) - (k + 2) * (k + 1) * x**k)
    simpson = _simpson()
    bends = E * BENDING / ROD**3 * np.array([[(simpson * a * b).sum() for a in second] for b in second])
    basis = np.zeros((PARTS + 1, 3, 1 + 2 * count))
    basis[:, 0, 0] = x
    basis[:, 1, 1 : 1 + count] = basis[:, 2, 1 + count :] = np.column_stack(shapes)
    fem = FEMinterface()
    fem.nodes = {"Position": np.column_stack([ROD * x, 0 * x, 0 * x])}
    fem.modeBasis = {"matrix": basis.reshape(-1, 1 + 2 * count)}
    fem.massMatrix = diags(np.repeat(RHO * AREA * ROD * simpson, 3)).tocsr()
    fem.stiffnessMatrix = 0 * fem.massMatrix
    made = ObjectFFRFreducedOrderInterface(fem)
    made.stiffnessMatrixReduced = block_diag([[E * AREA / ROD]], bends, bends)
    return made


def _simpson() -> np.ndarray:
    """Weights of integrals along the rod."""
    weights = np.array([1.0, *[4.0, 2.0] * (PARTS // 2)])
    weights[-1] = 1.0
    return weights / weights.sum()


def _rod_inertia(length: float) -> np.ndarray:
    """Of a part of the rod about its centre."""
    across = RHO * (BENDING * length + AREA * length**3 / 12)
    return np.diag([across, across, 2 * RHO * BENDING * length])


def _clamped() -> float:
    """rad/s: the rod's first bending, held at its root."""
    return float(1.8751**2 * np.sqrt(E * BENDING / (RHO * AREA)) / ROD**2)


def _stretching() -> float:
    """rad/s: the rod's first stretching, held at its root."""
    return float(np.pi / 2 / ROD * np.sqrt(E / RHO))


def _container(matrix: np.ndarray) -> Any:
    made = exu.MatrixContainer()
    made.SetWithDenseMatrix(matrix, useDenseMatrix=True)
    return made
