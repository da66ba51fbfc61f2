"""A robot as it looks: its parts, at rest, in its modes, through a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import PoseError, SuppleError
from supple.live.live import live as own_code
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.equilibrium import equilibrium
from supple.model.limits import notices
from supple.model.model import Model
from supple.model.observe import postures_of
from supple.model.ports import wrenches_of
from supple.model.posture import posture
from supple.results import Modes, Simulation
from supple.results.scene import MeshChange, Scene
from supple.results.study import Study
from supple.robot.skins import skins_of
from supple.robot.written import Written, pose_of
from supple.scene.maps import scene_map
from supple.scene.motions import motion_postures, scene_motion
from supple.scene.scene import mesh_changes, scene_at, scene_modes

_STEP = 1e-3  # of a parameter, for derivatives of what is drawn


def show(
    robot: Machine,
    modes: Modes | None = None,
    run: Simulation | None = None,
    study: Study | None = None,
    at: Mapping[str, Written] | None = None,
    *,
    loads: Mapping[str, Any] | None = None,
    assembly: str | None = None,
    live: bool = False,
) -> Scene:
    """The Scene of a robot at rest, of modes about it, and of a simulated motion; options as of `api.Robot.show`."""
    model = robot.model()
    if modes is None:
        q, said = _rest(model, robot, at, loads or {}, assembly)
    else:
        q, said = postures_of(model, np.array([modes.pose[n] for n in model.names])), modes.notices
    rows, along = (None, None) if run is None else motion_postures(model, run)
    scene = scene_at(model, q, said, along, skins_of(robot.description))
    if modes is not None:
        scene = replace(scene, modes=scene_modes(model, q, modes))
    if run is not None and rows is not None and along is not None:
        scene = replace(scene, motion=scene_motion(model, run, rows, along))
    if study is not None:
        fixed = pose_of(model.mechanism, at)
        scene = replace(scene, map=scene_map(robot.model(rigid=True), study, fixed, assembly))
    return _alive(scene, robot, q, modes, loads, assembly) if live else scene


def _alive(
    scene: Scene, robot: Machine, q: Array, modes: Modes | None, loads: Mapping[str, Any] | None, assembly: str | None
) -> Scene:  # fmt: skip
    """The scene with the robot's own code; it stays as it is, and says why, where that cannot be."""
    count, free = (0, False) if modes is None else (len(modes.frequencies_hz), modes.free)
    try:
        made = own_code(robot, q, modes=count, free=free, loads=loads, assembly=assembly)
        return replace(scene, live=replace(made, changes=_changes(robot, q, [x["name"] for x in made.about["parameters"]])))
    except SuppleError as reason:
        return replace(scene, notices=(*scene.notices, f"the robot of this page does not move by itself: {reason}"))


def _rest(
    model: Model, robot: Machine, at: Mapping[str, Written] | None, loads: Mapping[str, Any], assembly: str | None
) -> tuple[Array, tuple[str, ...]]:  # fmt: skip
    """The robot at rest under its weight and loads; as it is assembled where nothing holds it."""
    q = posture(model, pose_of(model.mechanism, at), assembly)
    try:
        rest = equilibrium(model, q, w=wrenches_of(model, loads))
    except PoseError as reason:
        return q, (f"drawn undeformed: {reason}",)
    return rest.q, notices(model, rest.q)


def _changes(robot: Machine, q: Array, names: Sequence[str]) -> tuple[tuple[MeshChange, ...], ...]:
    """How kept parameters change what is drawn."""
    made = []
    for name in names:
        value = robot.values[robot.keep.index(name)]
        step = _STEP * (abs(value) or 1.0)
        ends = [robot.keeping(()).changed({name: x}) for x in (value - step, value + step)]
        low, high = (scene_at(x.model(), q, skins=skins_of(x.description)) for x in ends)
        made.append(mesh_changes((low, high), step))
    return tuple(made)
