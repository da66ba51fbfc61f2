"""A linear Delta, three sliders and six flexible rods, along 0.7 s of pick and place: supple against Exudyn.

Rods are pinned by balls at both ends: finite elements in supple (universal joints at the sliders, so that rods do not
spin), ANCF cables in Exudyn, the cheapest of its rods between balls. Damping in proportion to stiffness, no gravity;
sliders follow the same quintics. Errors are RMS over the motion of the difference of the platform's acceleration,
relative to its RMS: of time-stepping, against a fine run of the same model, and the whole one, against supple's with
CONVERGED elements per rod, stepped finely. Exudyn's step is swept, supple's tolerance; one thread, times of the
processor, turn by turn. supple's times are those of the integration, and "with the tip" of it, the accelerations of
all samples and those of the platform, which Exudyn's sensor records on its way.
"""

from __future__ import annotations

import importlib.util
import os
import time
from itertools import pairwise
from typing import Any

import numpy as np
from simulation_exudyn import Attempt, relative
from threadpoolctl import threadpool_limits
from timing import show

from supple.backends.native import native
from supple.backends.stepping.settings import Settings
from supple.expr.passes import optimise
from supple.machine import Machine
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator

ROUNDS, EVERY, END, EQUAL = 3, 1e-3, 0.7, 0.01
MESHES, CONVERGED = (1, 2), 3
TOLERANCES = (1e-4, 1e-3, 1e-2, 1e-1)
STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)
FINE, FINE_STEP = Settings(method="gauss", tolerance=1e-9, every=EVERY), 2.5e-5
RADIUS, PLATFORM, HALF, ROD = 0.35, 0.06, 0.05, 0.6  # m: towers, balls of the platform, half the distance of rods, rods
DEPTH = float(np.sqrt(ROD**2 - (RADIUS - PLATFORM) ** 2))
OUTER, INNER, E, RHO, MASS = 0.012, 0.009, 120e9, 1600.0, 0.8
BETA = 1e-4  # s
AREA, BENDING = np.pi / 4 * (OUTER**2 - INNER**2), np.pi / 64 * (OUTER**4 - INNER**4)
MOVES = ((0.02, 0.02, 0.02, 0.15), (0.12, -0.08, -0.05, 0.4), (-0.02, -0.02, -0.02, 0.15))  # of the sliders in m, and s
ROBOT = f"""
name: linear_delta
space: spatial
gravity: [0, 0, 0]
parameters: {{elements: 1, Rp: {PLATFORM} m, w: {HALF} m}}
materials: {{carbon: {{E: {E}, rho: {RHO}, nu: 0.3}}}}
sections: {{rod: {{tube: {{diameter: {OUTER}, wall: {(OUTER - INNER) / 2}}}}}}}
damping: {{rayleigh: {{alpha: 0, beta: {BETA}}}}}
bodies:
  carriage: {{rigid: {{mass: 0.5 kg}}}}
  rod: {{beam: {{length: {ROD}, section: rod, material: carbon, elements: elements}}}}
  plate: {{rigid: {{mass: {MASS}, inertia: {{xx: 1e-3, yy: 1e-3, zz: 2e-3}}}}}}
platform: {{body: plate, at: [0, 0, {-DEPTH}]}}
legs:
  leg:
    count: 3
    links:
      slide:
        parent: base
        at: [{RADIUS}*cos(2*pi*(i-1)/n), {RADIUS}*sin(2*pi*(i-1)/n), 0]
        rotate: {{z: 2*pi*(i-1)/n}}
        joint: prismatic
        axis: z
        q: s
        body: carriage
      rod1: {{parent: slide, at: [0, {HALF}, 0], joint: universal, axis: [y, z], q: [q2, q3], body: rod}}
      rod2: {{parent: slide, at: [0, {-HALF}, 0], joint: universal, axis: [y, z], q: [q4, q5], body: rod}}
    closures:
      ball1:
        joint: spherical
        from:
          link: platform
          at: [Rp*cos(2*pi*(i-1)/n) - w*sin(2*pi*(i-1)/n), Rp*sin(2*pi*(i-1)/n) + w*cos(2*pi*(i-1)/n), 0]
        to: {{link: rod1, on: end}}
      ball2:
        joint: spherical
        from:
          link: platform
          at: [Rp*cos(2*pi*(i-1)/n) + w*sin(2*pi*(i-1)/n), Rp*sin(2*pi*(i-1)/n) - w*cos(2*pi*(i-1)/n), 0]
        to: {{link: rod2, on: end}}
    actuators:
      s: {{}}
points: {{tool: {{link: platform}}}}
assembly:
  down: {{leg/s: 0, leg/q2: 120 deg, leg/q4: 120 deg}}
home: {{x: 0, y: 0, z: {-DEPTH}}}
motions:
  pick:
    start: {{leg1/s: 0, leg2/s: 0, leg3/s: 0}}
    moves:
{chr(10).join(f"      - {{by: {{leg1/s: {a}, leg2/s: {b}, leg3/s: {c}}}, duration: {t}}}" for a, b, c, t in MOVES)}
"""


class Ours:
    """supple with some elements per rod."""

    def __init__(self, elements: int) -> None:
        self.robot: Simulator = simulator(Machine.parse(ROBOT, {"elements": str(elements)}), "pick")
        self.stepper = self.robot.stepper()
        self.points = native(optimise(self.robot.model.equations.points).function, lanes=8)
        self.fine = np.asarray(integrate(self.robot, FINE)["point_acceleration"][1:, 0])
        self.attempts = {t: Attempt(f"supple, {elements} elements, tolerance {t:g}") for t in TOLERANCES}

    def turn(self, reference: np.ndarray) -> None:
        for tolerance, attempt in self.attempts.items():
            robot, run, drive = self.robot, self.robot.runs[0], self.robot.drive
            chosen = robot.scaled(Settings(tolerance=tolerance, every=EVERY))
            begun = time.thread_time()
            state = self.stepper.start(chosen, drive, 0.0, run.q, run.v)
            outcome = self.stepper.begin(state, drive)
            if outcome == "fine":
                outcome, rows = self.stepper.run(state, drive, robot.duration, 10**9, round(END / EVERY) + 100)
            attempt.took("integration", time.thread_time() - begun)
            if outcome != "done":
                raise RuntimeError(f"supple stopped early: {outcome}")
            q, v, a = self.stepper.observe(state, drive, rows, np.full(len(rows), -1.0))[:3]
            found = self.points(q=q[:, 0], v=v[:, 0], a=a[:, 0], g=robot.model.gravity)["acceleration"][:, 0]
            attempt.took("with the tip", time.thread_time() - begun)
            attempt.stepping, attempt.error = relative(found - self.fine, self.fine), relative(found - reference, reference)
            attempt.notes = f"{state.counts()['steps']} steps"


class Theirs:
    """Exudyn with some ANCF cables per rod."""

    def __init__(self, cables: int) -> None:
        import exudyn as exu

        self.exu, self.mbs = exu, exu.SystemContainer().AddSystem()
        self.kept: list[Any] = []
        self._build(cables)
        self.fine = self._run(FINE_STEP)[1]
        self.attempts = {h: Attempt(f"Exudyn, {cables} cables, step {h * 1e3:g} ms") for h in STEPS}

    def _build(self, cables: int) -> None:
        from exudyn import itemInterface as item  # noqa: N813

        mbs = self.mbs
        self.ground = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(item.NodePointGround()), coordinate=0))
        node = mbs.AddNode(item.NodeRigidBodyEP(referenceCoordinates=[0, 0, -DEPTH, 1, 0, 0, 0]))
        plate = mbs.AddObject(item.ObjectRigidBody(mass=MASS, inertia=[1e-3, 1e-3, 2e-3, 0, 0, 0], nodeNumber=node))
        for leg in range(3):
            for side in (1, -1):
                self._rod(plate, leg, side * HALF, cables)
        kind = self.exu.OutputVariableType.Acceleration
        self.sensor = mbs.AddSensor(
            item.SensorBody(bodyNumber=plate, storeInternal=True, writeToFile=False, outputVariableType=kind)
        )
        mbs.Assemble()

    def _rod(self, plate: Any, leg: int, aside: float, cables: int) -> None:
        from exudyn import itemInterface as item  # noqa: N813

        c, s = np.cos(2 * np.pi * leg / 3), np.sin(2 * np.pi * leg / 3)
        first = np.array([RADIUS * c - aside * s, RADIUS * s + aside * c, 0.0])
        last = np.array([PLATFORM * c - aside * s, PLATFORM * s + aside * c, -DEPTH])
        slope = (last - first) / ROD
        places = [first + share * (last - first) for share in np.linspace(0, 1, cables + 1)]
        nodes = [self.mbs.AddNode(item.NodePointSlope1(referenceCoordinates=[*p, *slope])) for p in places]
        own = {"massPerLength": RHO * AREA, "bendingStiffness": E * BENDING, "axialStiffness": E * AREA}
        own |= {"bendingDamping": BETA * E * BENDING, "axialDamping": BETA * E * AREA}
        for pair in pairwise(nodes):
            self.mbs.AddObject(
                item.ObjectANCFCable(nodeNumbers=list(pair), length=ROD / cables, useReducedOrderIntegration=1, **own)
            )
        for k in range(3):
            marker = self.mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
            moved = self._moved(leg) if k == 2 else {}
            self.mbs.AddObject(item.CoordinateConstraint(markerNumbers=[self.ground, marker], **moved))
        ball = self.mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=plate, localPosition=[last[0], last[1], 0.0]))
        end = self.mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))
        self.mbs.AddObject(item.SphericalJoint(markerNumbers=[ball, end]))

    def _moved(self, leg: int) -> dict[str, Any]:
        """Displacement and speed of a slider: quintics one after the other, as Exudyn's own expressions."""
        from exudyn.advancedUtilities import CreateSymbolicUserFunction

        bound = self.exu.symbolic

        def pieces(t: Any, rate: bool) -> Any:
            total: Any = 0.0
            begun = 0.0
            for *by, duration in MOVES:
                x = bound.min(bound.max(t - begun, 0.0), duration) * (1 / duration)
                total = total + (
                    by[leg] / duration * x * x * (30 - 60 * x + 30 * x * x)
                    if rate
                    else by[leg] * x * x * x * (10 - 15 * x + 6 * x * x)
                )
                begun += duration
            return total

        def displacement(mbs: Any, t: Any, itemNumber: Any, lOffset: Any) -> Any:
            return pieces(t, rate=False)

        def speed(mbs: Any, t: Any, itemNumber: Any, lOffset: Any) -> Any:
            return pieces(t, rate=True)

        made = {"offsetUserFunction": displacement, "offsetUserFunction_t": speed}
        for name, f in made.items():
            made[name] = CreateSymbolicUserFunction(self.mbs, f, name, itemTypeName="ObjectConnectorCoordinate")
            self.kept.append(made[name])
        return made

    def _run(self, step: float) -> tuple[float, np.ndarray]:
        """Seconds, and the platform's acceleration EVERY apart after the start."""
        settings = self.exu.SimulationSettings()
        by = settings.timeIntegration
        by.numberOfSteps, by.endTime, by.verboseMode = round(END / step), END, 0
        by.newton.useModifiedNewton = True
        by.newton.relativeTolerance, by.newton.absoluteTolerance = (1e-7, 1e-7) if step == FINE_STEP else (1e-4, 1e-5)
        by.generalizedAlpha.spectralRadius = 0.9 if step == FINE_STEP else 0.8
        by.generalizedAlpha.computeInitialAccelerations = False
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = max(step, EVERY)
        settings.linearSolver.solverType = self.exu.LinearSolverType.EigenSparse
        settings.parallel.numberOfThreads = 1
        solver = self.exu.MainSolverImplicitSecondOrder()
        begun = time.thread_time()
        if not solver.SolveSystem(self.mbs, settings):
            raise RuntimeError(f"Exudyn stopped early with a step of {step:g} s")
        taken = time.thread_time() - begun
        found = self.mbs.GetSensorStoredData(self.sensor)
        return taken, found[found[:, 0] > 0.5 * EVERY, 1:4].copy()

    def turn(self, reference: np.ndarray) -> None:
        for step, attempt in self.attempts.items():
            taken, found = self._run(step)
            attempt.took("with the tip", taken)
            apart = max(1, round(step / EVERY))  # samples are not closer than steps
            fine, there = self.fine[apart - 1 :: apart], reference[apart - 1 :: apart]
            attempt.stepping, attempt.error = relative(found - fine, fine), relative(found - there, there)
            attempt.notes = f"{round(END / step)} steps"


def main() -> None:
    if importlib.util.find_spec("exudyn") is None:
        raise SystemExit("skipped: Exudyn is not installed (pip install exudyn)")
    os.environ.setdefault("EXUDYN_MODULE", "fast")
    with threadpool_limits(1):
        reference = Ours(CONVERGED).fine
        ours, others = [Ours(n) for n in MESHES], [Theirs(n) for n in MESHES]
        for x in (*ours, *others):
            name = next(iter(x.attempts.values())).name.rsplit(",", 1)[0]
            print(f"{name}: fine run from the converged one {relative(x.fine - reference, reference):.2%}")
        for _ in range(ROUNDS):
            for x in (*ours, *others):
                x.turn(reference)
    mine, peers = [a for x in ours for a in x.attempts.values()], [a for x in others for a in x.attempts.values()]
    kinds = ("integration", "with the tip")
    rows = []
    for a in (*mine, *peers):
        times = (f"{1e3 * a.times[k]:.1f}" if k in a.times else "" for k in kinds)
        rows.append([a.name, f"{a.stepping:.2%}", f"{a.error:.2%}", *times, a.notes])
    show("linear Delta, 0.7 s: errors and best times in ms", ["", "stepping", "whole", *kinds, ""], rows)
    for what, limit in (("error", EQUAL), ("error", EQUAL / 5), ("stepping", EQUAL)):
        able = [a for a in peers if getattr(a, what) <= limit]
        if not able:
            print(f"no run of Exudyn's has an error ({what}) of {limit:.1%}")
            continue
        peer = min(able, key=lambda a: a.times["with the tip"])
        for k in kinds:
            best = min((a for a in mine if getattr(a, what) <= limit), key=lambda a, k=k: a.times[k])
            ratio = peer.times["with the tip"] / best.times[k]
            print(f"{what} of {limit:.1%} at most: {best.name}, {k}, {ratio:.1f} times as fast as {peer.name}")


if __name__ == "__main__":
    main()
