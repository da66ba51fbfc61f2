"""Places where sensors and a hammer could go, and poses that a robot could be measured in, as a test file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from supple.errors import PoseError
from supple.machine import Machine
from supple.model.closing import values
from supple.model.posture import posture
from supple.robot.mechanism import Frame, Mechanism

_REACH = {"rad": 0.35, "m": 0.12}  # of actuators around home
_POINTS = 4  # named points that may be struck


def candidate_text(robot: Machine, poses: int, seed: int = 0) -> str:
    """The text of a test file with all candidates: triaxial accelerometers on every link, hammers at named points or at the
    platform, and random poses around home."""
    mechanism = robot.mechanism()
    axes = robot.source.robot.plane if mechanism.planar else "xyz"
    sensors = {
        f"at_{k + 1}": {**place, "directions": list(axes), "node": k + 1} for k, place in enumerate(_places(mechanism))
    }
    struck = [{"point": p} for p in list(mechanism.points)[:_POINTS]] or [
        {key: place[key] for key in ("link", "at")} for place in _places(mechanism)[-_POINTS:]
    ]
    exciters = {
        f"hammer_{k + 1}{axis}": {**place, "direction": axis, "node": 1000 + k}
        for k, place in enumerate(struck)
        for axis in axes
    }
    found = {f"pose_{k + 1}": {"at": at} for k, at in enumerate(candidate_poses(robot, poses, seed))}
    return json.dumps({"sensors": sensors, "exciters": exciters, "poses": found})  # JSON is YAML


def _places(mechanism: Mechanism) -> list[dict[str, Any]]:
    """Middle and end of what is drawn of every link; the origin of links that are not drawn."""
    made = []
    for frame in mechanism.frames:
        if frame.role != "link" or set("~^#") & set(frame.name) or not float(frame.body.mass) > 0:
            continue
        made += [{"link": frame.name, "at": at} for at in _spots(frame)]
    return made


def _spots(frame: Frame) -> list[list[float]]:
    if frame.body.outline is None or len(frame.body.outline.position) < 2:
        return [[0.0, 0.0, 0.0]]
    line = np.array(frame.body.outline.position, dtype=float)
    return [[float(f"{x:.6g}") for x in line[k]] for k in (len(line) // 2, -1)]


def candidate_poses(robot: Machine, count: int, seed: int) -> list[dict[str, float]]:
    """Actuators at home, and at random around it as far as the robot can be assembled there."""
    model = robot.model()
    home = values(model, posture(model))
    rng = np.random.default_rng(seed)
    names = [model.names[i] for i in model.active]
    reach = np.array([_REACH[model.mechanism.coordinates[i].unit] for i in model.active])
    made = [dict(zip(names, (float(f"{home[i]:.6g}") for i in model.active), strict=True))]
    for _ in range(20 * count):
        if len(made) >= count or not names:
            break
        at = home[model.active] + reach * rng.uniform(-1, 1, len(names))
        pose = dict(zip(names, (float(f"{x:.4g}") for x in at), strict=True))
        try:
            posture(model, pose)
        except PoseError:
            continue
        made.append(pose)
    return made
