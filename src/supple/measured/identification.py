"""From a test and a robot with free parameters to the fit: observations of every pose, steps on the way, held-out poses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.measured import test_file as spec
from supple.measured.correlation import computed_responses, last_frequency
from supple.measured.fit import Solution, solve, solve_pairing
from supple.measured.free import Free, free_parameters
from supple.measured.gathered import file_of
from supple.measured.instrumented import instrumented
from supple.measured.measured_run import read_run
from supple.measured.observations import (
    AtPose,
    ModesObserved,
    Observation,
    ResponsesObserved,
    StaticObserved,
    response_deviation,
)
from supple.measured.observed_motion import MotionObserved, Simulated
from supple.measured.pairing import pairs_by_frequency
from supple.measured.parametric import Family
from supple.measured.pose_data import PoseData, pose_data
from supple.measured.reduced import PoseModel
from supple.measured.statics import StaticPose
from supple.measured.tables import MOVED, read_static_table
from supple.measured.test import Channel, Pose, Test
from supple.motion.description import Motion
from supple.robot.bodies.record import Array
from supple.robot.named_files import files_below, is_outside_allowed

Say = Callable[[str], None]
Along = Callable[[Machine, Motion, float, tuple[str, ...]], Simulated]  # robot, motion, sampling, varied parameters
_EXTRACTED = (2e-3, 0.05)  # least deviations of extracted modes: noise does not know of modes that were not told apart
_FACTORS = np.exp(np.linspace(-0.6, 0.6, 13))  # of all frequencies: pairings by frequency that are tried
_ROUGHLY, _ON_THE_WAY, _ENOUGH = (
    1e-2,
    1e-4,
    1e-8,
)  # relative changes of the cost at which fits end: of logarithms, others, last
_TRIED = 3  # of them, best first


@dataclass(frozen=True)
class Campaign:
    """All that was measured, on models of the robot with free parameters: poses to fit and to judge by, other data."""

    test: Test
    free: Free
    fitted: tuple[tuple[PoseData, AtPose], ...]
    judges: tuple[tuple[PoseData, AtPose], ...]
    others: tuple[Observation, ...]
    notices: tuple[str, ...]


def campaign(
    robot: Machine, test: Test, groups: tuple[tuple[str, ...], ...], *, count: int | None, say: Say,
    along: Along | None = None,
) -> Campaign:  # fmt: skip
    """The Campaign of a test; robot: without kept parameters; along: how it is simulated along measured motions."""
    free = free_parameters(robot, groups, test.written.priors)
    carrying = instrumented(robot, test)
    family = Family.of(carrying.keeping(free.names))
    fitted: list[tuple[PoseData, AtPose]] = []
    judges: list[tuple[PoseData, AtPose]] = []
    notices: list[str] = []
    for pose in test.poses:
        say(f"pose {pose.name}")
        data = pose_data(test, pose, count)
        notices += list(data.notices)
        if data.modes is None and data.responses is None:
            continue
        at = AtPose(PoseModel(family, pose, test.outputs, test.inputs, last_frequency(test, data)), free)
        (judges if pose.held_out else fitted).append((data, at))
    others: tuple[Observation, ...] = tuple(_static(test, name, family, free) for name in test.written.static)
    if along is not None:
        others += tuple(_motion(test, name, carrying, free, along) for name in test.written.motions)
    if not fitted and not others:
        raise test.problem(("poses",), "no pose that is fitted holds data: give it frequencies, a table, modes or responses")
    return Campaign(test, free, tuple(fitted), tuple(judges), others, tuple(dict.fromkeys(notices)))


def _motion(test: Test, name: str, carrying: Machine, free: Free, along: Along) -> MotionObserved:
    entry = test.written.motions[name]
    run = read_run(test, name, carrying.mechanism(), forces=False)
    simulated = along(carrying, run.motion, 1.0 / run.rate, free.names)
    return MotionObserved(
        run, free, test.outputs, simulated, (float(entry.force_noise), float(entry.acceleration_noise))
    )  # fmt: skip


def _static(test: Test, name: str, family: Family, free: Free) -> StaticObserved:
    written = test.written.static[name]
    mechanism = family.kept.equations.mechanism
    dimensions = {
        c.name: {"rad": "angle", "m": "length"}.get(c.unit, "any") for c in mechanism.coordinates if c.kind != "elastic"
    }
    with files_below(test.folder, is_outside_allowed()):
        poses, moved, axes = read_static_table(file_of(test, written.table), dimensions)
    channels = [c for c in test.outputs if c.place == written.sensor]
    along = [_along(channels, MOVED.index(a), test, name) for a in axes]
    push = next(c for c in test.inputs if c.place == written.exciter)
    models = []
    for k, at in enumerate(poses):
        pose = Pose(f"{name} {k + 1}", at, None, False, False, spec.Pose())
        models.append(StaticPose(PoseModel(family, pose, along, [push], 1.0), float(written.force)))
    return StaticObserved(name, tuple(models), free, moved, float(written.deviation))


def _along(channels: list[Channel], axis: int, test: Test, name: str) -> Channel:
    """The channel of a sensor along a base axis."""
    found = next((c for c in channels if not c.in_link and abs(c.vector[axis]) > 1 - 1e-9), None)
    if found is None:
        raise test.problem(
            ("static", name, "sensor"), f"has no direction along base axis {'xyz'[axis]}, which the table gives"
        )
    return replace(found, vector=np.abs(found.vector))


def _modes(c: Campaign, which: Sequence[tuple[PoseData, AtPose]], p: Array, *, damped: bool) -> list[ModesObserved]:
    made = []
    for data, at in which:
        if data.modes is not None:
            least = _EXTRACTED if data.extracted else (0.0, 0.0)
            own = ModesObserved(data.pose.name, c.test, data, at, (), least, damped)
            made.append(replace(own, pairs=own.paired_at(p)))
    return made


def fit_modes(c: Campaign, x: Array, *, robust: bool, damped: bool = True, fixed: Array | None = None,
              say: Say) -> Solution:  # fmt: skip
    """The fit to modes and all that is no response; pairings by frequency alone are tried several times."""
    p = c.free.values(x)
    say("modes")
    modes = _modes(c, c.fitted, p, damped=damped)
    if not modes and not c.others:
        raise SuppleError("no pose has modes to fit; they could not be extracted either: widen the band, or look at extract")
    starts: list[list[Observation]] = [[*modes, *c.others]]
    if modes and not any(m.data.has_shapes for m in modes):
        starts = [[*pairing, *c.others] for pairing in _pairings(modes, p)]
    found = []
    for k, start in enumerate(starts):
        if len(starts) > 1:
            say(f"modes, pairing {k + 1} of {len(starts)}")
        found.append(solve_pairing(start, c.free, x, robust=robust, fixed=fixed))
    best = min(found, key=lambda s: s.cost)
    history = tuple(h for s in found for h in s.history)
    return replace(best, history=history, gradients=sum(s.gradients for s in found))


def _pairings(modes: list[ModesObserved], p: Array) -> list[list[Observation]]:
    """Pairings with the nearest frequencies after all computed ones are multiplied by a factor; the likeliest first."""
    found: dict[Any, float] = {}
    for factor in _FACTORS:
        pairs, cost = [], 0.5 * float(np.log(factor)) ** 2
        for m in modes:
            hz = m.at.modes(p, False).frequencies_hz
            own = pairs_by_frequency(m.modes.frequencies_hz, hz, float(factor))
            cost += sum(np.log(factor * hz[list(c)].mean() / m.modes.frequencies_hz[k]) ** 2 for k, c in own)
            pairs.append(own)
        key = tuple(pairs)
        found[key] = min(cost, found.get(key, np.inf))
    likely = sorted(found, key=lambda k: found[k])[:_TRIED]
    return [[replace(m, pairs=own) for m, own in zip(modes, key, strict=True)] for key in likely]


def fit_responses(
    c: Campaign, x: Array, *, robust: bool, fixed: Array | None = None, say: Say, log_first: bool = True
) -> Solution:
    """The fit to responses, in poses that have none to modes, and to all other data."""
    modes = _modes(c, [(d, a) for d, a in c.fitted if d.responses is None], c.free.values(x), damped=True)
    history: tuple[float, ...] = ()
    gradients = 0
    left: list[Array | None] = [None] * len(c.fitted)
    steps = [True, False] if log_first else [False]
    unknown = any(d.responses is not None and d.responses.deviation is None for d, _ in c.fitted)
    plan = [*steps, *([False] * (2 if unknown else 0))]
    for step, log in enumerate(plan):
        say("responses, logarithms" if log else "responses")
        own = [
            ResponsesObserved(d.pose.name, c.test, d, a, response_deviation(d, left[k] if step else None), log)
            for k, (d, a) in enumerate(c.fitted) if d.responses is not None
        ]  # fmt: skip
        last = step == len(plan) - 1
        made = solve(
            [*own, *modes, *c.others], c.free, x, robust=robust or log, fixed=fixed, most=12 if log else 30,
            enough=_ROUGHLY if log else _ENOUGH if last else _ON_THE_WAY,
        )  # fmt: skip
        x, history, gradients = made.x, history + made.history, gradients + made.gradients
        left = [
            _left(c, d, a, x) if d.responses is not None and d.responses.deviation is None else None for d, a in c.fitted
        ]
    return replace(made, history=history, gradients=gradients)


def _left(c: Campaign, data: PoseData, at: AtPose, x: Array) -> Array:
    assert data.responses is not None
    H, _ = computed_responses(c.test, data.responses, at.reduced(c.free.values(x), False))
    made: Array = H - data.responses.values
    return made


def only_damping(c: Campaign) -> Array:
    """Which groups change damping alone: mass and stiffness do not move with them."""
    _, at = c.fitted[0]
    r = at.reduced(c.free.start, True)
    return np.array([not (K_p.any() or M_p.any()) for K_p, M_p in zip(r.K_p, r.M_p, strict=True)])


def judged(c: Campaign, p: Array, covariance: Array) -> list[dict[str, Any]]:
    """What held-out poses say: measured, predicted, and how sure the prediction is by the covariance of logarithms."""
    made = []
    for modes in _modes(c, c.judges, p, damped=True):
        rows = modes.told(p)
        computed = modes.at.modes(p, True)
        by_log = computed.log_frequencies_p.T
        order = [k for k, _ in modes.pairs]
        for row in rows:
            row["error"] = row["computed"] / row["measured"] - 1
            if row["what"].startswith("frequency"):
                _, group = modes.pairs[order.index(int(row["what"].split()[1]) - 1)]
                slope = by_log[list(group)].mean(0)
                row["predicted_deviation"] = float(np.sqrt(max(slope @ covariance @ slope, 0.0))) * row["computed"]
        made += rows
    for data, at in c.judges:
        if data.responses is not None:
            made += ResponsesObserved(data.pose.name, c.test, data, at, response_deviation(data)).told(p)
    return made
