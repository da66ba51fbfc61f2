"""Planned tests: choices against all choices, and accuracy as it comes out of a fit."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from virtual_tests import parsed, write_responses

from supple.api import Robot
from supple.cli.main import main
from supple.machine import Machine
from supple.measured.planning import BEFORE, chosen

COMB = Path(__file__).parents[1] / "docs" / "examples" / "comb.yaml"


def test_greedy_exchange_finds_the_best_of_all_choices() -> None:
    rng = np.random.default_rng(3)
    rows = [rng.normal(size=(2, 3)) * rng.uniform(0.1, 3) for _ in range(9)]
    parts, before = [r.T @ r for r in rows], BEFORE * np.eye(3)
    found = chosen(parts, 3, before)
    worth = {c: np.linalg.slogdet(before + sum(parts[k] for k in c))[1] for c in combinations(range(9), 3)}
    assert worth[tuple(sorted(found))] == pytest.approx(max(worth.values()), abs=1e-9)


def test_a_planned_test_is_as_accurate_as_it_says(tmp_path: Path) -> None:
    """The plan is written, rehearsed by `frf` with its noise, and fitted: deviations agree and cover the truth."""
    file = tmp_path / "planned.yaml"
    robot = Robot(COMB)
    plan = robot.plan("k,hand,eta", sensors=4, poses=2, band=(15.0, 55.0), noise=0.05, output=file)
    assert plan.known == 3 and len(plan.sensors) == 4 and len(plan.poses) == 2
    assert (np.diff(plan.by_sensors) < 0).all()
    test = parsed(robot, file.read_text(), tmp_path)
    text = file.read_text()
    for k, pose in enumerate(plan.poses):
        level = 0.05 / np.sqrt(3)  # three averages
        write_responses(Machine.read(COMB), test, pose, tmp_path / f"{pose}.uff", noise=level, seed=k, points=82, like=True)
        text = text.replace(f'"{pose}": {{', f'"{pose}": {{"responses": "{pose}.uff", ')
    file.write_text(text)
    found = robot.changed({"k": 31.0, "eta": 0.011}).identify(file, "k,hand,eta")
    np.testing.assert_allclose(found.deviations / found.values, plan.deviations, rtol=0.5)
    assert (np.abs(found.values - [30, 6e4, 0.01]) < 4 * found.deviations).all()


def test_silent_parameters_are_told_and_candidates_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("""
sensors: {a: {point: palm, directions: [x, y]}, b: {link: finger1/tip, at: [0.1, 0, 0], directions: [x, y]}}
exciters: {h: {point: palm, direction: x}}
poses: {one: {}, two: {at: {q1: 1.0}}}
""")
    words = ["plan", str(COMB), "--free", "k,hand", "--test", str(tmp_path / "t.yaml"), "--sensors", "1", "--poses", "1"]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0 and "1 of 2" not in found.stdout and "strike point palm along x" in found.stdout
    bad = CliRunner().invoke(main, ["plan", str(COMB), "--free", "kk"])
    assert bad.exit_code == 2 and "did you mean" in bad.stderr
