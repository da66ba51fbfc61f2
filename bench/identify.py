"""Stated deviations of fits against the truth, and evaluations with exact slopes against finite differences.

    python bench/identify.py [coverage] [evaluations]

coverage: 200 draws of noise (2 % of each response, three averages) on the responses of the comb (docs/examples) and of the
surgiscope in the test of Rognant et al. (2010), 40 triaxial points and two poses; each is fitted by a Gauss-Newton step from
the truth with the noise estimated from what is left, as `supple identify` does. evaluations: springs of twelve pendulums,
their hand and the loss factor, by exact slopes and by scipy's finite differences. A minute each.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from supple.api import Robot
from supple.machine import Machine
from supple.measured.damped_modes import responses_at
from supple.measured.fit import solve
from supple.measured.free import Free, free_parameters, free_robot
from supple.measured.identification import campaign
from supple.measured.instrumented import instrumented
from supple.measured.observations import ResponsesObserved, response_deviation
from supple.measured.parametric import Family
from supple.measured.reduced import PoseModel
from supple.measured.test import Test, read_test

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
SURGISCOPE = ["E", "kt1", "kt2=kt5", "kr3=kr4=kr6=kr7=ka3=ka4=ka6=ka7", "kt3=kt4=kt6=kt7", "eta"]
DRAWS, NOISE, AVERAGES = 200, 0.02, 3


def slopes_of(robot: Machine, test: Test, free: Free) -> list[tuple[np.ndarray, np.ndarray]]:
    """Responses of the poses that are fitted (lines, channels) and their slopes (groups, lines, channels)."""
    family = Family.of(instrumented(robot, test).keeping(free.names))
    hz = np.arange(test.band[0], test.band[1], 1 / float(test.written.record.duration))
    made = []
    for pose in test.poses:
        if not pose.held_out:
            at = PoseModel(family, pose, test.outputs, test.inputs, test.band[1])
            r = at.reduced(free.start, directions=free.directions(free.start))
            H, H_x = responses_at(r, 2j * np.pi * hz, np.array([c.order for c in test.outputs]))
            made.append((H.reshape(len(hz), -1), H_x.reshape(len(H_x), len(hz), -1)))
    return made


def drawn(parts: list[tuple[np.ndarray, np.ndarray]], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Errors of logarithms and their stated deviations for one draw of noise."""
    noise = []
    for H, _ in parts:
        size = NOISE * np.sqrt((np.abs(H) ** 2).mean(0) / 2 / AVERAGES)
        noise.append(size * (rng.normal(size=H.shape) + 1j * rng.normal(size=H.shape)))
    left = noise
    for _ in range(3):
        spread = [np.sqrt((np.abs(x) ** 2).mean(0) / 2) for x in left]
        J = np.concatenate([(H_x / s).reshape(len(H_x), -1) for (_, H_x), s in zip(parts, spread, strict=True)], axis=1)
        r = np.concatenate([(x / s).ravel() for x, s in zip(noise, spread, strict=True)])
        F = np.real(J.conj() @ J.T)
        x = np.linalg.solve(F, np.real(J.conj() @ r))
        left = [n - np.tensordot(x, H_x, 1) for n, (_, H_x) in zip(noise, parts, strict=True)]
    return x, np.sqrt(np.diag(np.linalg.inv(F)))


def coverage() -> None:
    for name, file, entries in (
        (str(EXAMPLES / "comb.yaml"), "comb_test.yaml", ["k", "hand", "eta"]),
        ("surgiscope", "../../src/supple/papers/surgiscope/surgiscope_impact.yaml", SURGISCOPE),
    ):
        robot, groups, _ = free_robot(Machine.read(name), entries)
        test = read_test(EXAMPLES / file, robot.description, robot.mechanism())
        free = free_parameters(robot, groups, {})
        parts, rng = slopes_of(robot, test, free), np.random.default_rng(5)
        found = [drawn(parts, rng) for _ in range(DRAWS)]
        inside = 100 * np.mean([np.abs(x) < 1.96 * s for x, s in found], axis=0)
        worst = 100 * np.max([np.abs(x) for x, _ in found], axis=0)
        print(f"{robot.name}: 95 % intervals cover the truth in {inside.mean():.1f} % of {DRAWS} draws")
        for label, share, error in zip(free.labels, inside, worst, strict=True):
            print(f"  {label.split('=')[0]:>5}: {share:.1f} %, largest error {error:.3g} %", flush=True)


def evaluations(folder: Path) -> None:
    comb = Robot(EXAMPLES / "comb.yaml")
    comb.test(EXAMPLES / "comb_test.yaml", output=folder / "measured.uff")
    robot, groups, _ = free_robot(comb.changed({"k": 31.0, "hand": 58e3, "eta": 0.011}), ["k@finger", "hand", "eta"])
    test = read_test(folder / "measured.yaml", robot.description, robot.mechanism())
    c = campaign(robot, test, groups, count=4, say=lambda text: None)
    seen = [ResponsesObserved(d.pose.name, test, d, at, response_deviation(d)) for d, at in c.fitted]
    start = np.zeros(len(groups))
    exact = solve(seen, c.free, start)

    def residuals(x: np.ndarray) -> np.ndarray:
        return np.concatenate([o.compared(c.free.values(x), False).residuals for o in seen])

    found = least_squares(residuals, start, xtol=1e-7, ftol=1e-9, gtol=1e-9, max_nfev=30)
    spent = found.nfev + found.njev * len(start)
    print(f"{len(start)} parameters: {len(exact.history)} evaluations with exact slopes, chi^2 {exact.cost:.6g}")
    print(f"  {spent} with finite differences, chi^2 {2 * found.cost:.6g}: {spent / len(exact.history):.1f} times as many")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=["coverage", "evaluations", []], default=[])
    parts = parser.parse_args().parts or ["coverage", "evaluations"]
    if "coverage" in parts:
        coverage()
    if "evaluations" in parts:
        with tempfile.TemporaryDirectory() as folder:
            evaluations(Path(folder))


if __name__ == "__main__":
    main()
