"""What is kept between commands: bounded, cleared on request, and printed models as they were made."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from supple import kept_models
from supple.analyses.modes import modes
from supple.cli.main import main
from supple.errors import SuppleError
from supple.expr.restored import restored
from supple.generator import generate
from supple.machine import Machine
from supple.model import equilibrium, memory, mobility, natural, structural
from supple.model.mobility import check_regular
from supple.model.posture import posture
from supple.model.structural import viscous_equivalent
from supple.remembered import entries, key_of, largest, prune, recalled, remember, summary


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_was_not_used_for_longest_goes_first(cache: Path) -> None:
    keys = [key_of("test", str(k)) for k in range(4)]
    for age, key in enumerate(keys):
        remember(key, {"age": age})
        (path,) = cache.rglob(f"{key}-*")
        os.utime(path, (1e9 - 1e5 * age, 1e9 - 1e5 * age))
    assert recalled(keys[3]) is not None  # the oldest, used just now
    size = max(found.st_size for _, found in entries(cache))
    assert prune(cache, 2.5 * size) == 2
    assert [recalled(key) is not None for key in keys] == [True, False, False, True]


def test_the_verb_shows_and_clears(cache: Path) -> None:
    remember(key_of("test"), {"x": 1})
    shown = json.loads(CliRunner().invoke(main, ["cache", "--json"]).stdout)
    assert shown["folder"] == str(cache) and shown["kinds"]["derived"]["files"] == 1
    assert "1 files removed" in CliRunner().invoke(main, ["cache", "--clear"]).stdout
    assert summary()["kinds"] == {} and (cache / "key").exists()


def test_a_size_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPPLE_CACHE_SIZE", "much")
    with pytest.raises(SuppleError, match="SUPPLE_CACHE_SIZE is 'much'"):
        largest()


def test_a_model_comes_back_as_it_was_printed(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same files, byte by byte, kept parameters and one leg's code for all legs included."""
    monkeypatch.setattr(kept_models, "restored", lambda *given: pytest.fail("no node is read of what was printed before"))
    for robot, options in (("hexa", ["--model", "inverse"]), ("five_bar_elastic", ["--model", "mass", "--keep", "k"])):
        made = []
        for k in range(2):
            folder = tmp_path / f"{robot}{k}"
            words = ["generate", robot, *options, "--target", "c", "-o", str(folder)]
            assert CliRunner().invoke(main, words).exit_code == 0
            made.append({p.name: p.read_bytes() for p in folder.iterdir()})
        assert made[0] == made[1]
    monkeypatch.setattr(kept_models, "restored", restored)
    assert generate(Machine.read("hexa"), "inverse").package.program is not None


def test_a_large_robot_at_rest_is_solved_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Home, mobility, equilibrium, modes and the equivalent of structural damping come back to the last bit, for the same
    posture and loads only."""
    monkeypatch.setattr(memory, "_LARGE", 1)

    def told() -> list[np.ndarray]:
        model = Machine.read("gough_stewart").model()
        assert check_regular(model, posture(model)).freedom == 6
        found = modes(model)
        D = viscous_equivalent(model, posture(model))
        assert D is not None
        return [found.frequencies_hz, found.shapes, found.poles, *found.effective_mass.values(), D.D]

    first = told()
    robot = Machine.read("gough_stewart").model()
    pushed = modes(robot, loads={next(iter(robot.mechanism.points)): [0, 0, -50, 0, 0, 0]})
    for room, name in ((equilibrium, "_balanced"), (natural, "_undamped"), (mobility, "_mobility"), (structural, "_modes")):
        monkeypatch.setattr(room, name, lambda *given, **more: pytest.fail("it was solved before"))
    assert all(np.array_equal(a, b) for a, b in zip(first, told(), strict=True))
    assert not np.array_equal(first[1], pushed.shapes)
