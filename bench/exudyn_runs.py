"""What models in Exudyn share: signals over time as its own expressions, and runs of its generalised-alpha method."""

from __future__ import annotations

import time
from typing import Any

import exudyn as exu
import numpy as np

from supple.motion.trajectory import Trajectory

CLOSEST = 5e-4  # s, of samples


def signal(path: Trajectory, channel: int, t: Any, rate: bool = False) -> Any:
    """A channel's value or rate, its piece found by halving: Exudyn evaluates only the branch that is taken."""
    return _piece(path, channel, t, rate, 0, len(path.knots) - 1)


def _piece(path: Trajectory, channel: int, t: Any, rate: bool, first: int, last: int) -> Any:
    if last - first > 1:
        middle = (first + last) // 2
        early, late = (_piece(path, channel, t, rate, a, b) for a, b in ((first, middle), (middle, last)))
        return exu.symbolic.IfThenElse(t < float(path.knots[middle]), early, late)
    c = path.coefficients[first, channel]
    c = c[1:] * np.arange(1, 6) if rate else c
    if not np.abs(c[1:]).max() > 1e-13:
        return float(c[0]) + 0.0 * t
    s = t - float(path.knots[first])
    found: Any = float(c[-1])
    for x in c[-2::-1]:
        found = found * s + float(x)
    return found


def settle(mbs: Any) -> None:
    """Puts the start where the robot rests."""
    settings = exu.SimulationSettings()
    settings.staticSolver.verboseMode = 0
    settings.staticSolver.loadStepDuration = 1e-9  # its time, which drives follow
    settings.staticSolver.newton.relativeTolerance, settings.staticSolver.newton.absoluteTolerance = 1e-8, 1e-6
    settings.solutionSettings.writeSolutionToFile = False
    mbs.SolveStatic(settings)
    data, start = mbs.systemData, exu.ConfigurationType.Initial
    data.SetODE2Coordinates(data.GetODE2Coordinates(), configuration=start)
    data.SetAECoordinates(data.GetAECoordinates(), configuration=start)


def run(
    mbs: Any, sensor: Any, end: float, step: float, tolerance: tuple[float, float], rho: float, contraction: float = 0.5
) -> tuple[float, np.ndarray, np.ndarray]:
    """Seconds, times, and a sensor's acceleration at all steps, or those CLOSEST apart; Newton's matrix is kept while its
    residual shrinks by `contraction` in an iteration."""
    settings = exu.SimulationSettings()
    by = settings.timeIntegration
    by.numberOfSteps, by.endTime, by.verboseMode = round(end / step), end, 0
    by.newton.useModifiedNewton, by.newton.modifiedNewtonContractivity = True, contraction
    by.newton.relativeTolerance, by.newton.absoluteTolerance = tolerance
    by.generalizedAlpha.spectralRadius = rho
    by.generalizedAlpha.computeInitialAccelerations = False
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = max(step, CLOSEST)
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    solver = exu.MainSolverImplicitSecondOrder()
    begun = time.thread_time()
    if not solver.SolveSystem(mbs, settings):
        raise RuntimeError(f"Exudyn stopped early with a step of {step:g} s")
    taken = time.thread_time() - begun
    found = mbs.GetSensorStoredData(sensor)
    return taken, found[:, 0].copy(), found[:, 1:4].copy()
