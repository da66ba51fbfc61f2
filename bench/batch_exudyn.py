"""Accelerations of DualEMPS in a batch of states: supple on two threads against Exudyn, state by state.

Exudyn has no batches: its user sets the coordinates of a state and asks for its accelerations in a Python loop. The model in
Exudyn has the same links, masses, joints and one cubic element for each blade (ANCFCable2D, four coordinates a node). The
states are the same at every body and node, but the coordinates are not (45 with constraints against 11) and neither are the
axial shapes of the blades; the frequencies printed first say how near the models are. Friction is left out of Exudyn's model,
where it would call back into Python.
"""

from __future__ import annotations

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
from timing import best_times, show

from supple.analyses.modes import modes
from supple.backends.native import native
from supple.expr.passes import optimise
from supple.formulations.articulated import forward_model
from supple.pipeline import load

STATES, FOR_EXUDYN, ROUNDS = 100_000, 1_000, 5
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

    def along(link: tuple[np.ndarray, ...], x: np.ndarray | float, y: np.ndarray | float = 0.0, turn: np.ndarray | float = 0.0):
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
        self.settings.solutionSettings.writeSolutionToFile = False
        self.solver = exu.MainSolverImplicitSecondOrder()
        self.solver.InitializeSolver(mbs, self.settings)

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


def main() -> None:
    model = load("dualemps")
    q, v, _ = closed_states(model.names, STATES)
    tau, g = np.zeros((STATES, 2)), np.zeros(3)
    forward = native(optimise(forward_model(model.mechanism)).function, lanes=8, threads=2)

    heavy, robot = Robot(slider=1e6), Robot()
    print("frequencies, sliders held: supple", np.round(modes(model, count=6).frequencies_hz, 1))
    print("                           Exudyn", np.round(heavy.frequencies()[2:8], 1))
    few = slice(FOR_EXUDYN)
    x = coordinates(q[few]) - robot.reference
    xd = coordinates(q[few] + 1e-30j * v[few]).imag / 1e-30
    found = forward(q=q, v=v, tau=tau, g=g)["a_active"][few]
    print("state 0, sliders: supple", found[0], "Exudyn", robot.accelerations(x[0], xd[0])[[1, 13]])

    times = best_times(
        {
            "Exudyn, one by one": lambda: [robot.accelerations(a, b) for a, b in zip(x, xd, strict=True)],
            "supple, 8 lanes, 2 threads": lambda: forward(q=q, v=v, tau=tau, g=g),
        },
        ROUNDS,
    )
    each = [times["Exudyn, one by one"] / FOR_EXUDYN, times["supple, 8 lanes, 2 threads"] / STATES]
    show(
        f"accelerations of DualEMPS: {STATES} states in supple, the first {FOR_EXUDYN} of them in Exudyn",
        ["", "us a state", "s per 100,000", "times faster"],
        [[name, f"{t * 1e6:.3f}", f"{t * 1e5:.4f}", f"{each[0] / t:.0f}"] for name, t in zip(times, each, strict=True)],
    )


if __name__ == "__main__":
    main()
