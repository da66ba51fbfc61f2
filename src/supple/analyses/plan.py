"""A test that tells parameters of a robot well, and how well."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import PoseError, SuppleError
from supple.machine import Machine
from supple.measured.candidates import candidate_text
from supple.measured.free import Free, free_parameters, free_robot
from supple.measured.identifiability import identifiability
from supple.measured.instrumented import instrumented
from supple.measured.parametric import Family
from supple.measured.planning import BEFORE, arranged, information, mean_deviations
from supple.measured.reduced import PoseModel
from supple.measured.test import Pose, Test, parse_test, read_test
from supple.measured.written_robot import write_robot
from supple.measurements import Planned
from supple.robot.bodies.record import Array
from supple.robot.written import Band, band_of

_MOST = 100  # poses of a plan
_SPARE = 3  # poses to choose from, for each that is wanted
_MODES = 10  # that the usual band reaches


def _silent(text: str) -> None:
    pass


def plan(
    robot: Machine,
    free: str | Sequence[str],
    *,
    sensors: int = 8,
    poses: int = 3,
    test: str | Path | None = None,
    band: Band | None = None,
    noise: float = 0.02,
    seed: int = 0,
    output: str | Path | None = None,
    report: Callable[[str], None] = _silent,
) -> Planned:
    """The Planned of a robot's free parameters; options as of `api.Robot.plan`."""
    if poses > _MOST:
        raise SuppleError(f"a plan of {poses} poses: at most {_MOST} are chosen")
    if sensors < 1 or poses < 1 or not 0 < noise < 1:
        raise SuppleError("a plan needs at least one sensor, one pose, and noise between 0 and 1")
    entries = [x.strip() for x in free.split(",") if x.strip()] if isinstance(free, str) else list(free)
    own, groups, _ = free_robot(robot.keeping(()), entries)
    if test is None:
        text = candidate_text(own, _SPARE * poses, seed)
        read = parse_test(text, "candidates", Path(), own.description, own.mechanism())
    else:
        read = read_test(Path(test), own.description, own.mechanism())
    if not read.inputs or not read.outputs:
        raise SuppleError(f"{read.file}: needs sensors and exciters to choose from")
    parameters = free_parameters(own, groups, {})
    family = Family.of(instrumented(own, _weightless(read)).keeping(parameters.names))
    reach = (0.0, _usual_band(family, read)) if band is None else band_of(band)
    F, reached = _information(read, parameters, family, reach, noise, report)
    hammer, places, visited = arranged(F, sensors, poses)
    names = list(dict.fromkeys(c.place for c in read.outputs))
    chosen = {
        "sensors": {names[k]: _placed(read.written.sensors[names[k]]) for k in places},
        "exciter": {read.inputs[hammer].name: _placed(read.written.exciters[read.inputs[hammer].name])},
        "poses": {reached[k].name: reached[k].at for k in visited},
    }
    made = _record(own, parameters.labels, F, (hammer, places, visited), chosen, parameters, reach, noise)
    if output is not None:
        whole = {"sensors": chosen["sensors"], "exciters": chosen["exciter"], "band": list(reach),
                 "poses": {k: {"at": at} for k, at in made.poses.items()}}  # fmt: skip
        write_robot(Path(output), json.dumps(whole, indent=1) + "\n")
    return made


def _information(
    read: Test, parameters: Free, family: Family, band: tuple[float, float], noise: float, say: Callable[[str], None]
) -> tuple[Array, list[Pose]]:  # fmt: skip
    """Information of every pose that the robot can stand in (poses, exciters, sensors, groups, groups)."""
    level = noise / np.sqrt(read.written.record.averages)
    lines = (band[1] - band[0]) * float(read.written.record.duration)
    parts, reached = [], []
    for pose in read.poses:
        say(f"pose {pose.name}")
        try:
            at = PoseModel(family, pose, read.outputs, read.inputs, band[1])
            parts.append(information(read, parameters, at, band, level, lines))
            reached.append(pose)
        except PoseError:
            continue
    if not parts:
        raise SuppleError("the robot can stand in none of the poses to choose from")
    return np.array(parts), reached


def _weightless(read: Test) -> Test:
    """The test without the masses of its sensors: not all candidates are mounted."""
    light = {k: s.model_copy(update={"mass": 0}) for k, s in read.written.sensors.items()}
    return replace(read, written=read.written.model_copy(update={"sensors": light}))


def _usual_band(family: Family, read: Test) -> float:
    """1.2 times the tenth frequency in the first pose, and not above eight times the first."""
    at = PoseModel(family, read.poses[0], [], [], 1.0)
    hz = at.reduced(np.array(family.kept.values), gradient=False).frequencies_hz
    return float(f"{min(1.2 * hz[min(_MODES, len(hz)) - 1], 8 * hz[0]):.3g}")


def _placed(part: Any) -> dict[str, Any]:
    """Where a sensor or exciter is, in the words of a test file."""
    keys = ("point", "link", "directions", "direction", "node")
    made = {k: getattr(part, k) for k in keys if getattr(part, k, None) is not None}
    if part.at is not None:
        made["at"] = [float(x) for x in part.at]
    if part.axes != "base":
        made["axes"] = part.axes
    return made


def _record(
    robot: Machine, labels: tuple[str, ...], F: Array, choice: tuple[int, list[int], list[int]], chosen: dict[str, Any],
    parameters: Free, band: tuple[float, float], noise: float,
) -> Planned:  # fmt: skip
    hammer, places, visited = choice
    own = F[visited][:, hammer][:, places]
    total = own.sum((0, 1))
    sizes, axes = np.linalg.eigh(total)
    slopes = np.sqrt(np.maximum(sizes, 0.0))[:, None] * axes.T
    known = identifiability(slopes, parameters)
    deviations = np.sqrt(np.diag(np.linalg.inv(total + BEFORE * np.eye(len(total)))))
    return Planned(
        robot.name, labels, chosen["sensors"], chosen["exciter"], chosen["poses"], deviations, known.combinations,
        known.known, known.words, mean_deviations(list(own.sum(0))), mean_deviations(list(own.sum(1))),
        (F.shape[2], F.shape[1], F.shape[0]), band, noise,
    )  # fmt: skip
