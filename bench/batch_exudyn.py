"""Accelerations of DualEMPS in a batch of states: supple on two threads against Exudyn, state by state.

Exudyn has no batches: its user sets the coordinates of a state and asks for its accelerations in a Python loop. The model
in Exudyn has the same links, masses and joints and one cubic element for each blade (ANCFCable2D). Every link and node is in
the same state on both sides, but Exudyn's 45 coordinates have six freedoms more (the stretch of the blades at their ends),
which change the accelerations of a state though not the lower frequencies. So the models are compared by their frequencies,
and by Exudyn's masses and forces projected on supple's freedoms; these differ in proportion to the bending, because Exudyn's
element stiffens geometrically. Friction is left out of both: in Exudyn it would call back into Python.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import exudyn as exu
import numpy as np
from dualemps_states import BASE, BLADE, HIP, KNEE, closed_states
from exudyn.itemInterface import (
    Cable2D,
    GenericJoint,
    MarkerBodyRigid,
    NodePoint2DSlope1,
    NodeRigidBody2D,
    ObjectGround,
    PrismaticJoint2D,
    RevoluteJoint2D,
    RigidBody2D,
)
from threadpoolctl import threadpool_limits
from timing import best_times, show

from supple.analyses.modes import modes
from supple.backends.native import native
from supple.expr.passes import optimise
from supple.formulations.least_constraint.articulated import forward_model
from supple.formulations.newton_euler import newton_euler
from supple.machine import Machine
from supple.model.model import Model

STATES, FOR_EXUDYN, ROUNDS = 100_000, 500, 15
BATCHED = "supple, batch, 8 lanes, 2 threads"
SHORT, ARM = 0.14, 0.082 + 0.065  # the blade of the tip; from the knee's start to its own
E, RHO, AREA, BENDING = 74e9, 2800, 2e-4, 0.05 * 0.004**3 / 12
SLIDER1, HIP1, KNEE1, TIP, SLIDER2, HIP2, KNEE2 = range(7)
RIGID = {  # mass, first moment, inertia at the link's origin
    HIP1: (0.843, 0.004, 7.06e-4), HIP2: (0.843, 0.004, 7.06e-4), TIP: (0.177, 0.0058215, 2.56e-4),
    KNEE1: (0.396, 0.0298579, 0.0030511), KNEE2: (0.190, 0.0111708, 9.44e-4),
}  # fmt: skip
CLAMPED = ((HIP1, HIP, BLADE, KNEE1), (KNEE1, ARM, SHORT, TIP), (HIP2, HIP, BLADE, KNEE2))  # link, place, blade, next link


def coordinates(q: np.ndarray) -> np.ndarray:
    """Exudyn's coordinates of supple's q: x, z, angle of seven links; then x, z and slope of the ends of the blades."""
    z1, th1, u1, v1, p1, u3, v3, p3, z2, th2, u2, v2, p2, _ = np.moveaxis(q, -1, 0)

    def along(link: tuple[np.ndarray, ...], x: Any, y: Any = 0.0, turn: Any = 0.0) -> tuple[np.ndarray, ...]:
        px, pz, angle = link
        c, s = np.cos(angle), np.sin(angle)
        return px + c * x - s * y, pz + s * x + c * y, angle + turn

    links, slopes = {SLIDER1: (0 * z1, z1, 0 * z1), SLIDER2: (0 * z2 + BASE, z2, 0 * z2)}, []
    links[HIP1], links[HIP2] = (0 * z1, z1, th1), (0 * z2 + BASE, z2, th2)
    for (link, place, length, after), (u, v, p) in zip(CLAMPED, ((u1, v1, p1), (u3, v3, p3), (u2, v2, p2)), strict=True):
        start = along(links[link], place)
        links[after] = along(start, length + u, v, p)
        for x, z, angle in (start, links[after]):
            slopes += [x, z, (1 + u / length) * np.cos(angle), (1 + u / length) * np.sin(angle)]
    return np.stack([*(x for k in range(7) for x in links[k]), *slopes], -1)


class Robot:
    """DualEMPS in Exudyn, its sliders of the given mass; x, y of its plane are x0, z0."""

    def __init__(self, slider: float = 95.196) -> None:
        self.mbs = mbs = exu.SystemContainer().AddSystem()
        leg = np.arccos(BASE / 2 / (HIP + BLADE + KNEE))
        home = np.zeros(14)
        home[1], home[9] = leg, np.pi - leg
        self.reference = coordinates(home)
        ground = mbs.AddObject(ObjectGround())
        bodies, blades = [], []
        for k in range(7):
            mass, first, inertia = RIGID.get(k, (slider, 0, 1.0))
            node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=list(self.reference[3 * k : 3 * k + 3])))
            own = {"mass": mass, "inertia": inertia, "centerOfMass": [first / mass, 0]}
            bodies.append(mbs.AddObject(RigidBody2D(nodeNumber=node, **own)))
        for k, (_, _, length, _) in enumerate(CLAMPED):
            ends = [self.reference[21 + 8 * k + n : 25 + 8 * k + n] for n in (0, 4)]
            nodes = [mbs.AddNode(NodePoint2DSlope1(referenceCoordinates=list(end))) for end in ends]
            own = {"massPerLength": RHO * AREA, "bendingStiffness": E * BENDING, "axialStiffness": E * AREA}
            blades.append(mbs.AddObject(Cable2D(nodeNumbers=nodes, length=length, **own)))

        def markers(*places: tuple[int, float]) -> list[int]:
            return [mbs.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=[x, 0, 0])) for body, x in places]

        for slider_, hip, x in ((SLIDER1, HIP1, 0.0), (SLIDER2, HIP2, BASE)):
            rail = markers((ground, x), (bodies[slider_], 0))
            mbs.AddObject(PrismaticJoint2D(markerNumbers=rail, axisMarker0=[0, 1, 0], normalMarker1=[1, 0, 0]))
            mbs.AddObject(RevoluteJoint2D(markerNumbers=markers((bodies[slider_], 0), (bodies[hip], 0))))
        mbs.AddObject(RevoluteJoint2D(markerNumbers=markers((bodies[KNEE1], KNEE), (bodies[KNEE2], KNEE))))
        for blade, (link, place, length, after) in zip(blades, CLAMPED, strict=True):
            for ends in (((bodies[link], place), (blade, 0)), ((blade, length), (bodies[after], 0))):
                mbs.AddObject(GenericJoint(markerNumbers=markers(*ends), constrainedAxes=[1, 1, 0, 0, 0, 1]))
        mbs.Assemble()
        self.settings = exu.SimulationSettings()
        self.settings.timeIntegration.verboseMode = 0
        self.settings.solution.file.write = False
        self.settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse  # four times faster here than the default
        self.solver = exu.MainSolverImplicitSecondOrder()
        self.solver.InitializeSolver(mbs, self.settings)
        self.size = self.solver.GetODE2size(), self.solver.GetODE2size() + self.solver.GetAEsize()
        self.empty = np.zeros((self.size[1], self.size[1]))

    def frequencies(self) -> np.ndarray:
        """Natural frequencies in Hz at the reference, lowest first."""
        return np.sort(self.mbs.ComputeODE2Eigenvalues(convert2Frequencies=True, ignoreAlgebraicEquations=False)[0])

    def accelerations(self, x: np.ndarray, xd: np.ndarray) -> np.ndarray:
        """Accelerations of all coordinates: what Exudyn computes, constraints included, before it integrates."""
        data, initial = self.mbs.systemData, exu.ConfigurationType.Initial
        data.SetODE2Coordinates(x, initial)
        data.SetODE2Coordinates_t(xd, initial)
        self.solver.InitializeSolverInitialConditions(self.mbs, self.settings)
        return data.GetODE2Coordinates_tt()

    def matrices(self, x: np.ndarray, xd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix and forces without constraints."""
        self.mbs.systemData.SetODE2Coordinates(x)
        self.mbs.systemData.SetODE2Coordinates_t(xd)
        self.solver.ComputeMassMatrix(self.mbs)
        self.solver.ComputeODE2RHS(self.mbs)
        return self.solver.GetSystemMassMatrix(), self.solver.GetSystemResidual()

    def solved(self, x: np.ndarray, xd: np.ndarray) -> np.ndarray:
        """Accelerations from Exudyn's matrices by numpy, less the bias of the constraints, which Exudyn keeps to itself."""
        n, _ = self.size
        M, b = self.matrices(x, xd)
        self.solver.SetSystemJacobian(self.empty)
        self.solver.ComputeJacobianAE(self.mbs)
        A = self.solver.GetSystemJacobian()
        A[:n, :n] = M
        b[n:] = 0
        return np.linalg.solve(A, b)[:n]


def disagreement(model: Model, robot: Robot, bending: float) -> float:
    """Largest difference of the accelerations at rest, relative to the largest, in states bent by `bending`."""
    (q,), _, _ = closed_states(model.names, 1, size=bending)
    own = [*model.active, *model.mechanism.indices("elastic")]
    tangent = np.array([coordinates(q + 1e-30j * e).imag / 1e-30 for e in np.eye(model.nv)]).T @ model.expansion(q, own)
    M, f = robot.matrices(coordinates(q) - robot.reference, np.zeros(robot.size[0]))
    theirs = np.linalg.solve(tangent.T @ M @ tangent, tangent.T @ f[: robot.size[0]])
    ours = model.forward(q, np.zeros(model.nv), np.zeros(2)).a[own]
    return float(np.abs(theirs - ours).max() / np.abs(ours).max())


def main() -> None:
    loaded = Machine.read("dualemps").model().mechanism
    smooth = tuple(replace(c, viscous=0, coulomb=0) for c in loaded.coordinates)
    model = Model(newton_euler(replace(loaded, coordinates=smooth)))
    function = optimise(forward_model(model.mechanism)).function
    single, batched = native(function), native(function, lanes=8, threads=2)
    robot = Robot()
    print("frequencies in Hz, sliders held: supple", np.round(modes(model, count=6).frequencies_hz, 2))
    print("                                 Exudyn", np.round(Robot(slider=1e6).frequencies()[2:8], 2))
    for bending in (1e-2, 1e-4):
        differ = disagreement(model, robot, bending)
        print(f"accelerations on supple's freedoms, blades bent by {5 * bending:g} mm, differ by {differ:.1e}")

    q, v, _ = closed_states(model.names, STATES)
    tau, g = np.zeros((STATES, 2)), np.zeros(3)
    x = coordinates(q[:FOR_EXUDYN]) - robot.reference
    xd = coordinates(q[:FOR_EXUDYN] + 1e-30j * v[:FOR_EXUDYN]).imag / 1e-30
    few = list(zip(q[:FOR_EXUDYN], v[:FOR_EXUDYN], x, xd, strict=True))
    contestants = {
        "Exudyn, its initial accelerations": lambda: [robot.accelerations(x, xd) for _, _, x, xd in few],
        "Exudyn, its matrices, numpy's solve": lambda: [robot.solved(x, xd) for _, _, x, xd in few],
        "supple, state by state from Python": lambda: [single(q=q, v=v, tau=tau[0], g=g) for q, v, _, _ in few],
        "supple, batch, 1 lane, 1 thread": lambda: single(q=q, v=v, tau=tau, g=g),
        BATCHED: lambda: batched(q=q, v=v, tau=tau, g=g),
    }
    with threadpool_limits(1):  # threads only slow down numpy's solution of 91 equations
        times = best_times(contestants, ROUNDS)
    each = {name: t / (STATES if "batch" in name else FOR_EXUDYN) for name, t in times.items()}
    show(
        f"accelerations of DualEMPS: batches of {STATES} states in supple, {FOR_EXUDYN} of them state by state",
        ["", "us a state", "times the last"],
        [[name, f"{t * 1e6:.3f}", f"{t / each[BATCHED]:.0f}"] for name, t in each.items()],
    )


if __name__ == "__main__":
    main()
