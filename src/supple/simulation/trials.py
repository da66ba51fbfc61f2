"""Motions tried on several robots that are commanded alike, and the one number by which each trial is judged.

Path, shaper and inverse dynamics are those of the robot as it is: a controller does not know what it carries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.machine import Machine
from supple.motion.description import Motion
from supple.results.tuning import Outcome
from supple.simulation.elastic_control import foreseen
from supple.simulation.integrate import integrate
from supple.simulation.simulator import Simulator, simulator

UNITS = {"residual": "m", "settled": "s", "peak": "m", "rms": "m", "tracking": "m or rad"}


@dataclass(frozen=True)
class Trials:
    """Robots that differ in `payloads` (one {} for the robot as it is), and how their motions are judged."""

    robot: Machine
    payloads: Sequence[Mapping[str, float]]
    by: str
    point: str | None
    every: float
    accept: bool
    robots: dict[int, Machine] = field(default_factory=dict)
    compiled: dict[tuple[str, int], dict[tuple[int, bool], Any]] = field(default_factory=dict)

    def of(self, motion: Motion, unshaped: float) -> list[Outcome]:
        """What becomes of a motion on every robot; `unshaped`: s that it lasts without the choice."""
        try:
            read = foreseen(self.robot, motion, self.every)
            plain = self._ready(simulator(self.robot, read), motion, -1)
        except SuppleError as problem:
            return [Outcome(motion.name, dict(p), None, str(problem)) for p in self.payloads]
        return [self._judged(motion.name, plain, k, unshaped) for k in range(len(self.payloads))]

    def _judged(self, name: str, plain: Simulator, k: int, unshaped: float) -> Outcome:
        given = dict(self.payloads[k])
        longer = max(plain.motion.duration - unshaped, 0.0)
        try:
            made = self._carrying(plain, k) if given else plain
            run = integrate(made, Settings("radau", every=self.every), accept=self.accept)
        except SuppleError as problem:
            return Outcome(name, given, None, str(problem), longer)
        told = run.summary["performance"]
        used = max((x["used"] for each in told.get("limits", {}).values() for x in each.values()), default=0.0)
        saturated = max(told.get("saturated_share", {}).values(), default=0.0)
        if not run.complete:
            if "interrupted" in run.outcome:
                raise KeyboardInterrupt
            return Outcome(name, given, None, run.outcome, longer, used, saturated)
        value, why = _value(told, self.by, self.point, name)
        return Outcome(name, given, value, why, longer, used, saturated)

    def _carrying(self, plain: Simulator, k: int) -> Simulator:
        """The same commands on the robot with payload k."""
        robot = self.robots.setdefault(k, self.robot.changed(self.payloads[k]))
        motion = replace(plain.motion, shaper=None)
        if motion.space != "joints" and plain.path is not None:
            begin = dict(zip(plain.path.names, plain.path(plain.path.start)[0].tolist(), strict=True))
            motion = replace(motion, space="joints", point=None, path=plain.path, start=begin)
        made = simulator(robot, motion)
        return self._ready(replace(made, rigid=made.rigid and plain.rigid), motion, k)

    def _ready(self, made: Simulator, motion: Motion, k: int) -> Simulator:
        """The simulator with what was compiled for it before: gains and paths are no part of that."""
        return replace(made, compiled=self.compiled.setdefault((motion.name, k), made.compiled))


def _value(told: Mapping[str, Any], by: str, point: str | None, name: str) -> tuple[float | None, str]:
    """The number that judges a motion, or why there is none."""
    if by == "tracking":
        if not told.get("tracking_error"):
            raise SuppleError(f"{name!r} has no controller whose tracking could be judged; choose another --by")
        return max(x["rms"] for x in told["tracking_error"].values()), ""
    if by in ("peak", "rms"):
        errors = {p: x[by] for p, x in told.get("tool_error_m", {}).items()}
    elif "rest_from_s" not in told:
        raise SuppleError(
            f"{name!r} does not rest at its end, where vibrations are seen; add a rest of some periods, as in "
            "{rest: 0.4 s}, or choose --by peak or rms"
        )
    else:
        errors = told["residual_vibration_m" if by == "residual" else "settling_time_s"]
    known = {p: x for p, x in errors.items() if point in (None, p)}
    if not known:
        raise SuppleError(f"{name!r}: there is no point {point or ''} to judge it by; name one in points:")
    if any(x is None for x in known.values()):
        return None, "does not settle while it is watched"
    most = max(float(x) for x in known.values())
    return (told["rest_from_s"] + most if by == "settled" else most), ""
