"""Stated deviations of fits against the truth, and evaluations with exact slopes against finite differences.

    python bench/identify.py [coverage] [evaluations] [comb] [surgiscope] [--draws 200] [--first 0] [--off 0.1]

coverage: 200 draws of noise (2 % of each response, three averages) on the responses of the comb (docs/examples) and of the
surgiscope in the test of Rognant et al. (2010), 40 triaxial points and two poses; each is fitted by a Gauss-Newton step from
the truth with the noise estimated from what is left, as `supple identify` does. evaluations: springs of twelve pendulums,
their hand and the loss factor, by exact slopes and by scipy's finite differences. A minute each.

comb, surgiscope: whole fits. Each repetition draws the noise of three blows and a start (factors of exp(+-off) on every
group), and fits by logarithms of the responses and then the responses, as `supple identify --use responses` does; printed
are errors, shares of 95 % intervals that cover the truth, held-out frequencies and evaluations.
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
from supple.measured.damped_modes import responses_at
from supple.measured.fit import solve
from supple.measured.free import Free, free_parameters, free_robot
from supple.measured.identifiability import identifiability
from supple.measured.identification import Campaign, campaign, fit_responses
from supple.measured.instrumented import instrumented
from supple.measured.observations import AtPose, ResponsesObserved, response_deviation
from supple.measured.parametric import Family
from supple.measured.pose_data import PoseData
from supple.measured.reduced import PoseModel
from supple.measured.rehearsal import PoseTruth, rehearsed_responses, truth
from supple.measured.test import Test, read_test
from supple.model.algebra import one_thread

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
SURGISCOPE = ["E", "kt1", "kt2=kt5", "kr3=kr4=kr6=kr7=ka3=ka4=ka6=ka7", "kt3=kt4=kt6=kt7", "eta"]
IMPACT = "../../src/supple/papers/surgiscope/surgiscope_impact.yaml"
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
        ("surgiscope", IMPACT, SURGISCOPE),
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
    parser.add_argument("parts", nargs="*", choices=["coverage", "evaluations", "comb", "surgiscope", []], default=[])
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--off", type=float, default=0.1)
    given = parser.parse_args()
    parts = given.parts or ["coverage", "evaluations"]
    draws = range(given.first, given.first + given.draws)
    if "comb" in parts:
        whole_fits(str(EXAMPLES / "comb.yaml"), "comb_test.yaml", ["k", "hand", "eta"], draws, given.off)
    if "surgiscope" in parts:
        whole_fits("surgiscope", IMPACT, SURGISCOPE, draws, given.off)
    if "coverage" in parts:
        coverage()
    if "evaluations" in parts:
        with tempfile.TemporaryDirectory() as folder:
            evaluations(Path(folder))


if __name__ == "__main__":
    main()
