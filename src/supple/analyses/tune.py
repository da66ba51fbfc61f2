"""A shaper, or the gains of a controller, for several motions and payloads: best where it is worst."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from supple.errors import SuppleError
from supple.machine import Machine
from supple.motion.controllers import controlled, controller_text
from supple.motion.description import Controller, Motion
from supple.motion.shapers import LAWS
from supple.motion.written_shapers import shaped_by, shaper_text
from supple.results.tuning import Outcome, Tried, Tuned
from supple.robot.written import Written, seconds, si
from supple.simulation.starts import listed_values
from supple.simulation.trials import UNITS, Trials

_USUAL = {"shaper": "residual", "gains": "rms"}
_FIRST = 3.0  # factor between the first gains that are tried
_NEAR = 0.02  # of a gain, relative: a search this near its end is over
_FAILED = 1e3  # cost of gains with which a motion fails, in logarithms


def tune(
    robot: Machine,
    motions: str | Path | Motion | Sequence[str | Path | Motion] = (),
    *,
    of: str = "shaper",
    by: str | None = None,
    point: str | None = None,
    vary: Mapping[str, str | Sequence[float]] | None = None,
    shapers: Sequence[str] = (),
    modes: int = 2,
    enough: Written | None = None,
    controller: str | None = None,
    tries: int = 30,
    within: float = 30.0,
    saturated: float = 0.0,
    every: Written = "1 ms",
    accept: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Tuned:
    """What was tried on all motions and payloads, and the best of it. Options as of `api.Robot.tune`."""
    judged = _by(of, by)
    _check(robot, of, point, enough, shapers, tries, within, saturated)
    read = _read(robot, motions, controller)
    payloads = _payloads(robot, vary or {})
    if vary and any(m.controller is not None and m.controller.own is not None for m in read):
        raise SuppleError(
            "vary: the forces that a law in state space adds know the payload; tune without vary, or without it"
        )
    trials = Trials(robot, payloads, judged, point, seconds(every, "every") or 1e-3, accept)
    search = _Search(trials, read, saturated, progress or (lambda share: None))
    if of == "gains":
        return _gains(search, tries, within)
    limit = None if enough is None else si(enough, "time" if judged == "settled" else "length", "enough")
    return _shapers(search, shapers or _usual_shapers(modes), limit)


def _by(of: str, by: str | None) -> str:
    if of not in _USUAL:
        raise SuppleError(f"of {of}: must be shaper or gains")
    if by is not None and by not in UNITS:
        raise SuppleError(f"by {by}: must be one of {', '.join(UNITS)}")
    return by or _USUAL[of]


def _check(
    robot: Machine, of: str, point: str | None, enough: Written | None, shapers: Sequence[str], tries: int, within: float,
    saturated: float,
) -> None:  # fmt: skip
    known = list(robot.model(rigid=True).mechanism.points)
    if point is not None and point not in known:
        raise SuppleError(f"{robot.name} has no point {point!r}; it has: {', '.join(known) or 'none'}")
    if of == "gains" and (enough is not None or shapers):
        raise SuppleError("enough and try belong to shapers; leave them out for gains")
    if not 3 <= tries <= 10_000:
        raise SuppleError(f"tries {tries}: must be 3 to 10000")
    if not 1 < within <= 1e6:
        raise SuppleError(f"within {within:g}: must be a factor above 1, at most 1e6")
    if not 0 <= saturated <= 1:
        raise SuppleError(f"saturated {saturated:g}: must be a share of the time, from 0 to 1")


def _read(robot: Machine, motions: Any, controller: str | None) -> list[Motion]:
    """The motions, under the controller if one is given."""
    given = [motions] if isinstance(motions, (str, Path, Motion)) else list(motions) or [None]
    read = [m if isinstance(m, Motion) else robot.motion(m) for m in given]
    for k, motion in enumerate(read):
        if motion.name in [m.name for m in read[:k]]:
            raise SuppleError(f"the motion {motion.name!r} is given twice; give it once")
        if motion.path is None:
            raise SuppleError(f"{motion.name!r} has no path to shape or to follow; leave it out")
    return [controlled(m, controller) for m in read] if controller is not None else read


def _payloads(robot: Machine, vary: Mapping[str, str | Sequence[float]]) -> list[dict[str, float]]:
    """Parameters of every robot that is tried: one value of each list."""
    lists = {name: listed_values(name, x) for name, x in vary.items()}
    for name in lists:
        if name not in robot.description.parameters:
            raise SuppleError(
                f"{robot.name} has no parameter {name!r} to vary; it has: {', '.join(robot.description.parameters)}"
            )
    lengths = {len(x) for x in lists.values()}
    if len(lengths) > 1 or 0 in lengths:
        raise SuppleError("varied values must be lists of the same length, one value of each for a robot")
    return [{n: float(x[k]) for n, x in lists.items()} for k in range(lengths.pop() if lengths else 1)]


def _usual_shapers(modes: int) -> list[str]:
    """Every kind, for the first mode, the first two, and so on."""
    if not 1 <= modes <= 10:
        raise SuppleError(f"modes {modes}: must be 1 to 10")
    sets = ["+".join(str(k + 1) for k in range(count)) for count in range(1, modes + 1)]
    return [f"{law}:modes={x}" for x in sets for law in LAWS]


@dataclass(frozen=True)
class _Search:
    trials: Trials
    motions: Sequence[Motion]
    saturated: float
    progress: Callable[[float], None]

    def tried(self, about: str, made: Sequence[Motion]) -> Tried:
        """What becomes of a choice, which made these of the motions."""
        cases: list[Outcome] = []
        for motion, before in zip(made, self.motions, strict=True):
            cases += self.trials.of(motion, before.duration)
        return Tried(about, tuple(cases), self.saturated)

    def tuned(self, of: str, before: Tried, tried: list[Tried], best: Tried, text: str, said: list[str]) -> Tuned:
        """The result; an error if nothing works."""
        if best.failed is not None:
            raise SuppleError(f"nothing that was tried works; {best.about}: {best.failed.where}: {best.failed.why}")
        if best.beyond > 0:
            said.append(
                f"{best.about} leaves limits: {100 * best.used:.4g} % of one is used, a force is at its limit for "
                f"{100 * best.saturated:.3g} % of the time; nothing that was tried keeps them"
            )
        every = [before, *tried]
        lost = [t for t in every if t.failed is not None]
        if lost:
            said.append(f"{len(lost)} of {len(every)} failed and count as worst")
        name = self.trials.robot.name
        count = sum(len(t.cases) for t in every)
        return Tuned(
            name, of, self.trials.by, UNITS[self.trials.by], before, tuple(sorted(tried, key=lambda t: t.rank)), best, text,
            count, tuple(said),
        )  # fmt: skip


# Shapers ---------------------------------------------------------------------------------------------------------------


def _shapers(search: _Search, texts: Sequence[str], enough: float | None) -> Tuned:
    plain = replace(search, motions=[replace(m, shaper=None) for m in search.motions])
    made = [[shaped_by(m, text) for m in plain.motions] for text in texts]  # what cannot be read is told before the work
    before = plain.tried("no shaper", plain.motions)
    tried = []
    for k, (text, motions) in enumerate(zip(texts, made, strict=True)):
        tried.append(plain.tried(text, motions))
        search.progress((k + 1) / len(texts))
    said: list[str] = []
    best = min(tried, key=lambda t: t.rank)
    fit = [t for t in tried if enough is not None and t.rank <= (False, False, enough)]
    if fit:
        best = min(fit, key=lambda t: (t.longer, t.rank))
    elif enough is not None:
        said.append(
            f"none leaves as little as {enough:g} {UNITS[search.trials.by]} everywhere; the one that leaves least is taken"
        )
    if before.rank <= best.rank:
        said.append("no shaper is better than none here")
    chosen = made[tried.index(best)][0].shaper
    assert chosen is not None
    return plain.tuned("shaper", before, tried, best, f"shaper: {shaper_text(chosen)}\n", said)


# Gains -----------------------------------------------------------------------------------------------------------------


def _gains(search: _Search, tries: int, within: float) -> Tuned:
    """Nelder and Mead's search over logarithms of the factors of kp, kd and ki."""
    first = _controller(search.motions)
    keys = [k for k in ("kp", "kd", "ki") if any(getattr(first, k).values())]
    known: dict[tuple[float, ...], Tried] = {}

    def tried(x: Any) -> Tried:
        factors = tuple(round(float(v), 6) for v in x)
        if factors not in known:
            control = _scaled(first, dict(zip(keys, np.exp(factors), strict=True)))
            made = [replace(m, controller=_scaled(m.controller or first, dict(zip(keys, np.exp(factors), strict=True))))
                    for m in search.motions]  # fmt: skip
            known[factors] = search.tried(_about(control, keys), made)
            search.progress(min(len(known) / tries, 1.0))
        return known[factors]

    before = tried(np.zeros(len(keys)))
    edge = math.log(within)
    step = min(math.log(_FIRST), edge)
    simplex = np.vstack([np.zeros(len(keys)), step * np.eye(len(keys))])
    minimize(
        lambda x: _cost(tried(x)), simplex[0], method="Nelder-Mead", bounds=[(-edge, edge)] * len(keys),
        options={"maxfev": tries, "initial_simplex": simplex, "xatol": _NEAR, "fatol": 1e-3},
    )  # fmt: skip
    factors, best = min(known.items(), key=lambda item: item[1].rank)
    said = [
        f"{key} is at the edge of what was searched, {math.exp(x):.3g} times that given; give sample and delay of the real "
        "loop, or search further (--within)"
        for key, x in zip(keys, factors, strict=True)
        if abs(x) > edge - _NEAR
    ]
    if len(known) >= tries:
        said.append(f"the search ended after {tries} tries, not where it stood still; --tries allows more")
    text = f"controller: {controller_text(_scaled(first, dict(zip(keys, np.exp(factors), strict=True))))}\n"
    return search.tuned("gains", before, [t for t in known.values() if t is not before] or [before], best, text, said)


def _controller(motions: Sequence[Motion]) -> Controller:
    """The controller that all motions have."""
    found = [m.controller for m in motions]
    bare = next((m.name for m in motions if m.controller is None), None)
    if bare is not None:
        raise SuppleError(f"{bare!r} has no controller; give gains to begin with, as in --controller pd:kp=1e4,kd=200")
    first = found[0]
    assert first is not None
    if first.law == "state_space":
        raise SuppleError("gains of a law in state space are designed by supple control; tune pd, pid or computed_torque")
    if not all(math.isfinite(x) for x in first.limit.values()):
        raise SuppleError("gains are searched under a limit of forces, without which unstable ones never end; give limit=")
    if any(c != first for c in found):
        raise SuppleError("the motions have different controllers; give one for all, as in --controller pd:kp=1e4,kd=200")
    return first


def _scaled(control: Controller, factors: Mapping[str, float]) -> Controller:
    """The controller with gains multiplied and rounded to four digits, so that what is written is what was tried."""
    more: Any = {
        key: {n: float(f"{x * factor:.4g}") for n, x in getattr(control, key).items()} for key, factor in factors.items()
    }
    return replace(control, **more)


def _about(control: Controller, keys: Sequence[str]) -> str:
    gains = ",".join(f"{k}={'+'.join(f'{x:.4g}' for x in dict.fromkeys(getattr(control, k).values()))}" for k in keys)
    return f"{control.law}:{gains}"


def _cost(tried: Tried) -> float:
    if tried.failed is not None:
        return _FAILED
    return math.log(max(tried.worst.value or 0.0, 1e-300)) + (1.0 + 10.0 * tried.beyond if tried.beyond > 0 else 0.0)
