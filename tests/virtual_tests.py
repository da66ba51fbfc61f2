"""Data of a robot whose truth is known, in files as a measurement system writes them; responses come from `supple frf`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from supple.analyses.frf import frf
from supple.machine import Machine
from supple.measured.instrumented import instrumented
from supple.measured.test import Test, parse_test
from supple.storage.universal import Function58, write_functions

AXES = "xyz"


def parsed(robot: Machine, text: str, folder: Path) -> Test:
    return parse_test(text, "test.yaml", folder, robot.description, robot.mechanism())


def write_responses(
    robot: Machine, test: Test, pose: str, file: Path, *, noise: float = 0.0, seed: int = 0, points: int = 241,
    turned: Mapping[str, Any] | None = None, like: bool = False,
) -> np.ndarray:  # fmt: skip
    """Writes the responses of a robot with its sensors on, in a pose of a test, with noise of a share of their mean
    magnitude; sensors and exciter must have axes of the base. turned: sensor -> order of axes and signs; like: all channels
    have the noise of the strongest."""
    at = test.pose(pose)
    carrying = instrumented(robot, test)
    places = list(dict.fromkeys(c.place for c in test.outputs))
    pushed = test.inputs[0]
    plane = carrying.source.robot.plane if carrying.source.robot.space == "planar" else AXES
    found = frf(
        carrying, [f"{pushed.place}.f{a}" for a in plane], [f"{p}.{a}" for p in places for a in plane], at.at,
        band=test.band, points=points, free=at.free,
    )  # fmt: skip
    known = [AXES.index(a) for a in plane]
    base = np.zeros((points, len(places), 3), dtype=complex)
    base[:, :, known] = (found.values @ pushed.vector[known]).reshape(points, len(places), len(known))
    rng = np.random.default_rng(seed)
    functions = []
    for k, place in enumerate(places):
        own = [c for c in test.outputs if c.place == place]
        values = np.array([base[:, k] @ c.vector for c in own])
        order, signs = (turned or {}).get(place, (range(len(own)), (1,) * len(own)))
        values = np.array(signs)[:, None] * values[list(order)]
        for c, y in zip(own, values, strict=True):
            strength = float(np.mean(np.abs(base) ** 2, axis=0).max()) if like else float(np.mean(np.abs(y) ** 2))
            size = noise * np.sqrt(strength / 2)
            noisy = y + size * (rng.normal(size=points) + 1j * rng.normal(size=points))
            # nodes have directions along the axes that the test file names, so that signs stay as they are there
            functions.append(Function58(4, found.frequencies_hz, noisy, c.node, c.code, pushed.node, pushed.code, 2, False))
    write_functions(file, functions)
    return base
