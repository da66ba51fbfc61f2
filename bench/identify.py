"""Stated deviations of fits against the truth, and evaluations with exact slopes against finite differences.

    python bench/identify.py [evaluations] [comb] [surgiscope] [--draws 200] [--first 0] [--off 0.1]

evaluations: springs of twelve pendulums, their hand and the loss factor, by exact slopes and by scipy's finite differences.

comb, surgiscope: whole fits of the comb (docs/examples) and of the surgiscope in the test of Rognant et al. (2010), 40
triaxial points and two poses. Each repetition draws the noise (2 %) of three blows and a start (factors of exp(+-off) on
every group), and fits by logarithms of the responses and then the responses, as `supple identify --use responses` does;
printed are errors, shares of 95 % intervals that cover the truth, held-out frequencies and evaluations.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from supple.api import Robot
from supple.machine import Machine
from supple.measured.fit import solve
from supple.measured.free import free_parameters, free_robot
from supple.measured.identifiability import identifiability
from supple.measured.identification import Campaign, campaign, fit_responses
from supple.measured.instrumented import instrumented
from supple.measured.observations import AtPose, ResponsesObserved, response_deviation
from supple.measured.parametric import Family
from supple.measured.pose_data import PoseData
from supple.measured.reduced import PoseModel
from supple.measured.rehearsal import PoseTruth, rehearsed_responses, truth
from supple.measured.test import read_test
from supple.model.algebra import one_thread

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
SURGISCOPE = ["E", "kt1", "kt2=kt5", "kr3=kr4=kr6=kr7=ka3=ka4=ka6=ka7", "kt3=kt4=kt6=kt7", "eta"]
IMPACT = "../../src/supple/papers/surgiscope/surgiscope_impact.yaml"
DRAWS, NOISE = 200, 0.02


class Truth(PoseTruth):
    """A PoseTruth whose responses are computed once."""

    @cached_property
    def known(self) -> dict[int, np.ndarray]:
        return {}

    def responses(self, frequencies_hz: np.ndarray) -> np.ndarray:
        if len(frequencies_hz) not in self.known:
            self.known[len(frequencies_hz)] = super().responses(frequencies_hz)
        return self.known[len(frequencies_hz)]


def whole_fits(name: str, file: str, entries: list[str], draws: range, off: float) -> None:
    """Whole fits of draws of noise and starts; prints as it goes, so that a run that is cut off still says something."""
    robot, groups, _ = free_robot(Machine.read(name), entries)
    test = read_test(EXAMPLES / file, robot.description, robot.mechanism())
    free = free_parameters(robot, groups, {})
    carrying = instrumented(robot, test)
    family = Family.of(carrying.keeping(free.names))
    truths = [Truth(**vars(truth(carrying, test, pose))) for pose in test.poses]
    models = [AtPose(PoseModel(family, pose, test.outputs, test.inputs, test.band[1]), free) for pose in test.poses]
    judge = next(k for k, pose in enumerate(test.poses) if pose.held_out)
    real = models[judge].modes(free.start, False).frequencies_hz
    seen = real < test.band[1]
    errors, inside, judged, spent = [], [], [], []
    began = time.process_time()
    for draw in draws:
        rng = np.random.default_rng(draw)
        data = [PoseData(t.pose, None, rehearsed_responses(t, test, NOISE, rng)) for t in truths if not t.pose.held_out]
        fitted = tuple(zip(data, [m for m in models if not m.model.pose.held_out], strict=True))
        before = sum(m.model.evaluations for _, m in fitted)
        start = off * rng.uniform(-1, 1, len(groups))
        found = one_thread(fit_responses)(
            Campaign(test, free, fitted, (), (), ()), start, robust=False, say=lambda text: None
        )
        freedom = len(found.residuals) - len(start)
        known = identifiability(found.slopes, free, float(np.sqrt(max(found.cost / freedom, 1.0))))
        errors.append(found.x)
        inside.append(np.abs(found.x) < 1.96 * np.sqrt(np.diag(known.covariance)))
        spent.append((sum(m.model.evaluations for _, m in fitted) - before) / len(fitted))
        predicted = one_thread(models[judge].modes)(free.values(found.x), False).frequencies_hz
        judged.append(np.abs(predicted / real - 1)[seen].max())
        if len(errors) % 5 == 0 or draw == draws[-1]:
            share = 100 * np.mean(inside, axis=0)
            print(
                f"{robot.name}: {len(errors)} whole fits from up to {100 * off:.0f} % off, {np.mean(spent):.1f} evaluations "
                f"each, {(time.process_time() - began) / len(errors):.1f} s: {share.mean():.1f} % of 95 % intervals cover"
            )
            for label, own, error in zip(free.labels, share, 100 * np.max(np.abs(errors), axis=0), strict=True):
                print(f"  {label.split('=')[0]:>5}: {own:.1f} %, largest error {error:.3g} %")
            print(f"  held-out pose: frequencies within {100 * max(judged):.2g} %", flush=True)


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
    parser.add_argument("parts", nargs="*", choices=["evaluations", "comb", "surgiscope", []], default=[])
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--off", type=float, default=0.1)
    given = parser.parse_args()
    parts = given.parts or ["evaluations"]
    draws = range(given.first, given.first + given.draws)
    if "comb" in parts:
        whole_fits(str(EXAMPLES / "comb.yaml"), "comb_test.yaml", ["k", "hand", "eta"], draws, given.off)
    if "surgiscope" in parts:
        whole_fits("surgiscope", IMPACT, SURGISCOPE, draws, given.off)
    if "evaluations" in parts:
        with tempfile.TemporaryDirectory() as folder:
            evaluations(Path(folder))


if __name__ == "__main__":
    main()
