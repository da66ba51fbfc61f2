"""A robot as it looks: its parts, at rest, in its modes, through a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import PoseError, SuppleError
from supple.live.live import live as own_code
from supple.machine import Machine
from supple.measured.instrumented import instrumented
from supple.measured.test import Pose, Test, read_test
from supple.measurements import PoseCorrelation
from supple.model.algebra import Array, assigned
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
from supple.scene.measured import MeasuredShapes, beside_measured, real_shapes
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


def test_pose(robot: Machine, test: str | Path, pose: str | None) -> tuple[Machine, Test, Pose]:
    """The robot with the sensors of a test on it, the test, and the pose asked for (the first one if None)."""
    plain = robot.keeping(())
    read = read_test(Path(test), plain.description, plain.mechanism())
    return instrumented(plain, read), read, read.poses[0] if pose is None else read.pose(pose)


def show_measured(scene: Scene, test: Test, found: PoseCorrelation) -> Scene:
    """A Scene of the computed modes that were measured in a pose, beside it that of the measured ones."""
    if found.measured_shapes is None or found.axes is None or not found.pairs:
        raise SuppleError(f"pose {found.pose}: no measured shapes that computed modes are paired with; see supple correlate")
    channels = {c.name: c for c in test.outputs}
    rows = [k for k, n in enumerate(found.outputs) if channels[n].joint is None and not channels[n].gauge]
    if len(rows) < 2:
        raise SuppleError(f"pose {found.pose}: shapes are drawn from two sensors on bodies at least")
    if scene.modes is None:
        raise SuppleError(f"pose {found.pose}: the robot has no modes there")
    paired, same = [m for m, _ in found.pairs], _same_modes(found.computed_hz, scene.modes.frequencies_hz)
    groups = tuple(tuple(same[k] for k in c) for _, c in found.pairs)
    shapes = MeasuredShapes(
        tuple(channels[found.outputs[k]].place for k in rows), found.axes[rows], real_shapes(found.measured_shapes)[rows],
        found.measured_hz[paired], found.measured_ratios[paired], found.pair_mac, groups, found.pose,
    )  # fmt: skip
    model, measured = beside_measured(scene, shapes)
    return replace(model, measured=measured)


def _same_modes(damped_hz: Array, hz: Array) -> list[int]:
    """For every damped mode the undamped one with its frequency, each once."""
    known = np.maximum(hz, 1e-9)
    apart = np.abs(np.log(np.maximum(damped_hz, 1e-9)[:, None] / known[None, :]))
    rows, columns = assigned(apart)
    found = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    return [found[k] for k in range(len(damped_hz))]


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
