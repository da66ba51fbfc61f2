"""Robots of the tests: from the text of a robot file to a Model, and the frequencies of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.analyses.modes import modes
from supple.formulations.newton_euler import newton_euler
from supple.model.model import Model
from supple.robot.assemble import assemble
from supple.robot.reader import describe_text


def build(text: str, settings: Mapping[str, Any] | None = None, *, rigid: bool = False) -> Model:
    """The Model of a robot file given as text."""
    return Model(newton_euler(assemble(describe_text(text, "test.yaml", settings), rigid)))


def frequencies(text: str, settings: Mapping[str, Any] | None = None, **options: Any) -> np.ndarray:
    """Natural frequencies in Hz of a robot file given as text, lowest first."""
    return modes(build(text, settings), **options).frequencies_hz
