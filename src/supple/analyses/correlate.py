"""A robot beside its measurements: frequencies, shapes and responses, pose by pose."""

from __future__ import annotations

from pathlib import Path

from supple.machine import Machine
from supple.measured.correlation import last_frequency, pose_correlation
from supple.measured.instrumented import instrumented
from supple.measured.parametric import Family
from supple.measured.pose_data import pose_data
from supple.measured.reduced import PoseModel
from supple.measured.test import read_test
from supple.measurements import Correlation


def correlate(robot: Machine, test: str | Path, *, count: int | None = None) -> Correlation:
    """The Correlation of a robot with a test; options as of `api.Robot.correlate`."""
    plain = robot.keeping(())
    read = read_test(Path(test), plain.description, plain.mechanism())
    family = Family.of(instrumented(plain, read))
    poses, notices = [], []
    for pose in read.poses:
        data = pose_data(read, pose, count)
        notices += list(data.notices)
        at = PoseModel(family, pose, read.outputs, read.inputs, last_frequency(read, data))
        poses.append(pose_correlation(read, data, at))
    return Correlation(robot.name, tuple(poses), tuple(dict.fromkeys(notices)))
