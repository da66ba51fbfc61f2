"""Platforms of too few free modes: what is told beside what more modes, or shapes under loads, show."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from supple.analyses.modes import modes
from supple.machine import GALLERY, Machine
from supple.model.modes_left_out import lowered, modes_left_out, pushed_modes
from supple.model.posture import posture
from supple.results import Modes

COUNT = 4


@cache
def machine(robot: str, reduction: str) -> Machine:
    text = (GALLERY / f"{robot}.yaml").read_text(encoding="utf-8")
    made, found = re.subn(r"reduction: \{[^\n]*", f"reduction: {reduction}", text)
    assert found == 1
    return Machine.parse(made)


def found(robot: str, reduction: str) -> Modes:
    return modes(machine(robot, reduction).model(), count=COUNT)


@pytest.mark.parametrize(
    ("robot", "kept", "whole"),
    [
        ("gough_stewart_flexible", 10, "{static: {modes: 12}}"),  # shapes under loads: a second way to the same plate
        ("gough_stewart_flexible", 20, "{static: {modes: 12}}"),
        ("gough_stewart_plate", 10, "{free_free: {modes: 80}}"),
        ("gough_stewart_plate", 20, "{free_free: {modes: 80}}"),
    ],
)
def test_frequencies_are_too_high_by_what_is_told(robot: str, kept: int, whole: str) -> None:
    """The worst of the first frequencies, and their mean: within a factor of three of the truth."""
    few = machine(robot, f"{{free_free: {{modes: {kept}}}}}").model()
    assert few.mechanism.platform is not None
    platform = few.mechanism.frames[few.mechanism.platform]
    squares, pushed = pushed_modes(few, posture(few))
    told = lowered(platform.body, squares[:COUNT], pushed[platform.e][:, :COUNT])
    true = np.sqrt(squares[:COUNT]) / (2 * np.pi) / found(robot, whole).frequencies_hz - 1
    assert true.max() > 0.01
    for a, b in ((told.max(), true.max()), (told.mean(), true.mean())):
        assert 1 / 3 < a / b < 3


def test_more_modes_are_asked_for() -> None:
    (line,) = [x for x in found("gough_stewart_flexible", "{free_free: {modes: 10}}").notices if "gives way too little" in x]
    assert "link 'platform'" in line and "name its attachments" in line


def test_enough_is_silent() -> None:
    """Shapes under loads, and a rigid platform."""
    assert not found("gough_stewart_flexible", "{static: {modes: 4}}").notices
    rigid = Machine.read("gough_stewart").model()
    assert not modes_left_out(rigid, posture(rigid))
