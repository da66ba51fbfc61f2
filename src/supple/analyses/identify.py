"""Parameters of a robot fitted to measurements, with what the data hold of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.measured.advice import advice
from supple.measured.base_parameters import Observed, actuator_regressor, base_fit, identified_base
from supple.measured.fit import Solution, solve
from supple.measured.free import free_robot, source_text
from supple.measured.identifiability import Identifiability, correlation_of, identifiability
from supple.measured.identification import Campaign, campaign, fit_modes, fit_responses, judged, only_damping
from supple.measured.measured_run import read_run
from supple.measured.test import Test, read_test
from supple.measured.written_robot import fitted_text, write_robot
from supple.measurements import Identified
from supple.model.algebra import one_thread
from supple.robot.bodies.record import Array
from supple.simulation.states import run_along, runs_along, states_of

USES = ("auto", "modes", "responses", "two-step")
_MISFIT = 2.0  # chi^2 per degree of freedom: what noise alone does not leave


def _silent(text: str) -> None:
    pass


@one_thread
def identify(
    robot: Machine,
    test: str | Path,
    free: str | Sequence[str],
    *,
    use: str = "auto",
    robust: bool = False,
    count: int | None = None,
    profile: str | Sequence[str] = (),
    advise: bool = False,
    output: str | Path | None = None,
    report: Callable[[str], None] = _silent,
) -> Identified:
    """The Identified of a robot with a test; options as of `api.Robot.identify`."""
    if use not in USES:
        raise SuppleError(f"use {use!r}: must be one of {', '.join(USES)}")
    if _entries(free) == ["base"]:
        return _base(robot, read_test(Path(test), robot.description, robot.mechanism()), output)
    own, groups, text = free_robot(robot.keeping(()), _entries(free))
    read = read_test(Path(test), own.description, own.mechanism())
    c = campaign(own, read, groups, count=count, say=report, along=runs_along)
    found = _fitted(c, use, robust, report)
    p = c.free.values(found.x)
    freedom = max(len(found.residuals) - len(found.x), 1)
    known = identifiability(found.slopes, c.free, float(np.sqrt(max(found.cost / freedom, 1.0))))
    if advise and known.known < len(c.free.groups) and c.fitted:
        report("advice")
        lowest = max((len(d.modes.poles) for d, _ in c.fitted if d.modes is not None), default=6)
        said = advice(own, read, c.free, c.fitted[0][1].model, p, known, lowest)
        known = replace(known, words=(*known.words, *said))
    made = _record(
        own, str(Path(test).name), c, found, known, p, freedom, _profiles(c, found, known, _entries(profile), report)
    )
    if output is not None:
        whole = _updated(text or source_text(own), own, made)
        write_robot(Path(output), whole)
    return made


def _base(robot: Machine, test: Test, output: str | Path | None) -> Identified:
    """Base inertial and friction parameters from the motions of a test."""
    if not test.written.motions:
        raise SuppleError(f"{test.file}: base parameters are told by motions; add motions: to it")
    if output is not None:
        raise SuppleError("output: base parameters are combinations of those of a robot file and cannot be written to one")
    model, parts, notices = robot.model(), [], []
    for name in test.written.motions:
        run = read_run(test, name, robot.mechanism())
        made = run_along(robot, run.motion, 1.0 / run.rate)
        W, theta = actuator_regressor(robot, model, *states_of(robot, made))
        count = min(len(W), len(run.tau))
        parts.append(Observed(W[:count], run.tau[:count], run.rate, run.cutoff))
        notices += made.summary["notices"]
    found = base_fit(parts, theta)
    return identified_base(robot.name, Path(test.file).name, [model.names[i] for i in model.active], found, notices)


def _entries(given: str | Sequence[str]) -> list[str]:
    return [x.strip() for x in given.split(",") if x.strip()] if isinstance(given, str) else list(given)


def _fitted(c: Campaign, use: str, robust: bool, say: Callable[[str], None]) -> Solution:
    """The fit by the steps that the data, or the user, ask for."""
    x = np.zeros(len(c.free.groups))
    heard = any(d.responses is not None for d, _ in c.fitted)
    if use in ("responses", "two-step") and not heard:
        raise SuppleError(f"use {use}: no pose that is fitted has responses; use modes")
    if use == "modes" or not heard:
        return fit_modes(c, x, robust=robust, say=say)
    if use == "two-step":
        lost = only_damping(c)
        first = fit_modes(c, x, robust=robust, damped=False, fixed=lost, say=say) if not lost.all() else None
        x = x if first is None else first.x
        if not lost.any():
            raise SuppleError(
                "use two-step: no free parameter changes damping alone; free a loss factor too, or use responses"
            )
        second = fit_responses(c, x, robust=robust, fixed=~lost, say=say, log_first=False)
        return _joined(first, second, lost)
    if any(d.modes is not None for d, _ in c.fitted):
        x = fit_modes(c, x, robust=True, say=say).x
    return fit_responses(c, x, robust=robust, say=say)


def _joined(first: Solution | None, second: Solution, lost: Array) -> Solution:
    """Two steps as one: each parameter has the slopes of its own step."""
    if first is None:
        return second
    slopes = np.vstack([np.where(lost, 0.0, first.slopes), np.where(lost, second.slopes, 0.0)])
    return Solution(
        second.x, np.concatenate([first.residuals, second.residuals]), slopes, (*first.observations, *second.observations),
        first.history + second.history, first.gradients + second.gradients,
    )  # fmt: skip


def _misfit(chi2: float) -> list[str]:
    """A word where the model leaves more than the noise of the data."""
    if chi2 < _MISFIT:
        return []
    return [
        f"the fit leaves {np.sqrt(chi2):.2g} times the noise of the data: something systematic is in it (the model, "
        "windows, wrong deviations); stated deviations are widened by that factor, errors may be larger still"
    ]


def _record(
    robot: Machine, test: str, c: Campaign, found: Solution, known: Identifiability, p: Array, freedom: int,
    profiles: dict[str, Array],
) -> Identified:  # fmt: skip
    G = c.free.gathering
    covariance = G @ np.where(np.isfinite(known.covariance), known.covariance, 0.0) @ G.T
    lost = (G @ ~np.isfinite(np.diag(known.covariance))) > 0
    spread = np.where(lost, np.inf, np.sqrt(np.diag(covariance)))
    finite = np.where(np.isfinite(known.covariance), known.covariance, 0.0)
    room = np.minimum(found.x - c.free.least, c.free.most - found.x)
    at_bounds = [f"{n} stands at its bound" for n, left in zip(c.free.labels, room, strict=True) if left < 1e-3]
    return Identified(
        robot.name, test, c.free.names, c.free.labels, c.free.start, p, np.abs(p) * spread, correlation_of(covariance),
        known.combinations, known.known, tuple(r for o in found.observations for r in o.told(p)),
        tuple(judged(c, p, finite)), known.words, _evaluations(c), found.gradients, found.cost, freedom, found.history,
        known.spectrum, profiles, (*c.notices, *at_bounds, *_misfit(found.cost / freedom)),
    )  # fmt: skip


def _evaluations(c: Campaign) -> int:
    return sum(at.model.evaluations for _, at in c.fitted) + sum(o.evaluations for o in c.others)


def _profiles(
    c: Campaign, found: Solution, known: Identifiability, names: list[str], say: Callable[[str], None]
) -> dict[str, Array]:  # fmt: skip
    """Least chi^2 over all others, for values of each named parameter within three deviations."""
    made: dict[str, Array] = {}
    for name in names:
        k = next((i for i, g in enumerate(c.free.groups) if name in g), None)
        if k is None:
            raise SuppleError(f"profile {name}: is not free; free are: {', '.join(c.free.labels)}")
        spread = float(np.sqrt(min(known.covariance[k, k], 0.5)))
        rows = []
        for step in np.linspace(-3, 3, 7):
            say(f"profile {name}, {step:+.0f} deviations")
            x = found.x.copy()
            x[k] = np.clip(x[k] + step * spread, c.free.least[k], c.free.most[k])
            fixed = np.arange(len(x)) == k
            again = solve(found.observations, c.free, x, fixed=fixed, most=12) if len(x) > 1 else _still(c, found, x)
            rows.append((float(c.free.values(again.x)[c.free.names.index(name)]), again.cost))
        made[name] = np.array(rows)
    return made


def _still(c: Campaign, found: Solution, x: Array) -> Solution:
    left = np.concatenate([o.compared(c.free.values(x), False).residuals for o in found.observations])
    return Solution(x, left, found.slopes, found.observations, (), 0)


def _updated(text: str, robot: Machine, found: Identified) -> str:
    """The robot file with fitted values and those that were set, deviations beside them, and where they come from."""
    written = Machine(robot.source).description.parameters
    values = {n: float(robot.description.parameters[n].number) for n in robot.settings if n in written}
    remarks = dict.fromkeys(values, "set")
    for n, v, s in zip(found.names, found.values, found.deviations, strict=True):
        values[n] = float(v)
        remarks[n] = f"fitted, +- {100 * s / abs(v):.2g} %" if s < abs(v) else "fitted, and hardly known by these data"
    head = (
        f"{', '.join(found.labels)} fitted to {found.test} by supple identify: {len(found.residuals)} comparisons, "
        f"chi^2 {found.chi_squared:.4g} of {found.freedom} degrees of freedom.\n"
    ) + "\n".join(found.words)
    return fitted_text(text, values, {n: float(written[n].number) for n in values}, remarks, head)
