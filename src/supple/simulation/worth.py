"""What a simulation is worth: the balance of its energy, where theory or tolerance are left, and whether by far."""

from __future__ import annotations

import numpy as np

from supple.backends.stepping.settings import Settings
from supple.model.algebra import Array
from supple.model.limits import Strained, bent_too_far, notices, strained
from supple.results import Signal
from supple.simulation.groups import Group
from supple.simulation.simulator import Simulator

Beams = list[dict[int, Strained]]  # of every run

_MASSLESS = 1e-12
_UNBALANCED = 10.0  # tolerances: the tolerance is that of a radian or a step, the balance that of the whole motion
_SEEN = 0.01  # of the peak energy: told whatever the tolerance
_LOST = 0.1  # of the peak energy: beyond it the result says nothing of the robot
_ROUNDED = 1e-9  # of all energy: an imbalance that is no error of integration
_FOLLOWED = 0.01  # of the accelerations: less above the cutoff is not what the balance misses


def doubts(
    simulator: Simulator, groups: list[Group], parts: dict[str, Array], signals: dict[str, Signal],
    balance: dict[str, float | None], beams: Beams,
) -> list[str]:  # fmt: skip
    """Why a simulation that came to its end is not to be trusted, a line each."""
    found = []
    share, error = balance["energy_balance_error"] or 0.0, balance["energy_balance_error_J"] or 0.0
    if share > _LOST and error > _ROUNDED * float(np.nanmax(np.abs(_total(signals)))):
        found.append(f"accuracy is lost, the energy balance is off by {share:.3g} times its peak")
    reach = groups[0].stepper.plant.reach
    lines = (bent_too_far(run.model, parts["q"][:, k], reach, beams[k]) for k, run in enumerate(simulator.runs))
    return found + list(dict.fromkeys(line for line in lines if line is not None))[:1]


def beams_of(simulator: Simulator, parts: dict[str, Array]) -> Beams:
    """How far the beams of every run are strained."""
    return [strained(run.model, parts["q"][:, k]) for k, run in enumerate(simulator.runs)]


def limits_left(simulator: Simulator, parts: dict[str, Array], beams: Beams) -> list[str]:
    """Where the bodies of any run leave what their theory carries, a line each."""
    every = (notices(run.model, parts["q"][:, k], parts["v"][:, k], beams[k]) for k, run in enumerate(simulator.runs))
    return list(dict.fromkeys(line for lines in every for line in lines))


def cut_off(settings: Settings, groups: list[Group]) -> dict[str, float] | None:
    """What was above the cutoff and not followed: its largest share of the accelerations of the moment, and when."""
    share, at = max(b.state.cut_off for b in groups)
    return {"above_hz": settings.cutoff, "share": share, "time_s": at} if share > 0.0 else None


def warnings_of(settings: Settings, balance: float | None, cut: dict[str, float] | None) -> list[str]:
    """What the user has to know of the accuracy, with what helps."""
    if balance is None or balance <= min(_UNBALANCED * settings.tolerance, _SEEN):
        return []
    helps = "a smaller tolerance helps"
    if settings.step:
        helps = "a smaller step helps, or none"
    elif settings.method == "generalised_alpha":
        helps = "generalised_alpha damps what its steps are too long for; the default method does not"
    elif balance > 1.0:
        helps = "look for an unstable controller or a wrong load"
    elif cut is not None and cut["share"] > _FOLLOWED:
        helps = f"vibrations above {settings.cutoff:g} Hz died away; `simulate --cutoff 0` follows them"
    return [f"the energy balance is off by {balance:.1e} of its peak, at a tolerance of {settings.tolerance:g}: {helps}"]


def _total(signals: dict[str, Signal]) -> Array:
    parts: list[Array] = [signals[f"energy_{k}"].values for k in ("kinetic", "elastic", "gravity")]
    return sum(parts[1:], parts[0])


def balance_of(settings: Settings, groups: list[Group], signals: dict[str, Signal]) -> dict[str, float | None]:
    """Energy at the end less that at the start and the work done: zero but for errors of integration."""
    total = _total(signals)
    work = np.concatenate([b.state.lanes("work")[: len(dict.fromkeys(b.runs)), 0] for b in groups])
    last = [int(np.flatnonzero(np.isfinite(x))[-1]) for x in total.reshape(len(total), -1).T]
    gained = np.array([x[k] - x[0] for x, k in zip(total.reshape(len(total), -1).T, last, strict=True)])
    peak = float(np.nanmax(np.abs(signals["energy_kinetic"].values + signals["energy_elastic"].values), initial=0.0))
    if settings.method in ("cvode", "quasi_static"):  # no work is integrated, or bodies bend without rates that do work
        return {"energy_balance_error_J": None, "energy_balance_error": None}
    error = float(np.nan_to_num(np.abs(gained - work), nan=np.inf).max(initial=0.0))
    return {"energy_balance_error_J": error, "energy_balance_error": error / peak if peak > _MASSLESS else None}
