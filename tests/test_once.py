"""Every stage is made once: a command reads its file once, assembles once per variant, derives each formulation once, and
the same command derives nothing the next time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from supple import machine
from supple.cli.main import main
from supple.robot import reader

WALKS = {
    "modes gough_stewart --plot {folder}/mode.png": {"read": 1, "flexible": 1, "newton_euler flexible": 1},
    "simulate dualemps --motion square --duration 0.02 -o {folder}/square.nc": {
        "read": 1, "flexible": 1, "rigid": 1, "newton_euler flexible": 1, "newton_euler rigid": 1,
    },
    "simulate gough_stewart --motion controlled --duration 0.001": {
        "read": 1, "flexible": 1, "rigid": 1, "newton_euler flexible": 1, "newton_euler rigid": 1,
    },
    "inverse five_bar --motion circle --duration 0.02 --formulation lagrange": {
        "read": 1, "flexible": 1, "rigid": 1, "lagrange flexible": 1, "newton_euler rigid": 1,
    },
    "generate five_bar_elastic --model inverse --target c -o {folder}/c": {"read": 1, "flexible": 1},
    "count five_bar_elastic --json": {"read": 1, "flexible": 1},
    "map five_bar_elastic --along line --samples 3": {
        "read": 1, "flexible": 1, "rigid": 1, "newton_euler flexible": 1, "newton_euler rigid": 1,
    },
    "generate five_bar_elastic --target fmu --keep k -o {folder}/fmu": {
        "read": 1, "flexible": 2, "newton_euler flexible": 2,  # with numbers, and with a symbol for E
    },
    "compare five_bar_elastic --only lagrange --motion line --duration 0.02 --tol 1e-3 --no-time": {
        "read": 1, "flexible": 1, "rigid": 1, "newton_euler flexible": 1, "newton_euler rigid": 1, "lagrange flexible": 1,
    },
}  # fmt: skip


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often files were read, mechanisms assembled and equations derived."""
    found: Counter[str] = Counter()
    read, assemble, derived = reader.read_tree, machine.assemble, machine.Machine._derived

    def reading(*given: Any) -> Any:
        found["read"] += 1
        return read(*given)

    def assembling(description: Any, rigid: bool = False) -> Any:
        found["rigid" if rigid else "flexible"] += 1
        return assemble(description, rigid)

    def deriving(self: Any, formulation: str, rigid: bool) -> Any:
        found[f"{formulation} {'rigid' if rigid else 'flexible'}"] += 1
        return derived(self, formulation, rigid)

    monkeypatch.setattr(reader, "read_tree", reading)
    monkeypatch.setattr(machine, "assemble", assembling)
    monkeypatch.setattr(machine.Machine, "_derived", deriving)
    yield found


NUMBERS = ("read", "rigid", "flexible")  # that a file is made into, every time
DERIVED_AGAIN = ("fmu", "compare")  # exports and verbs that need expressions


@pytest.mark.parametrize("command", WALKS)
def test_stages_of_a_command(
    command: str, counted: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    words = command.format(folder=tmp_path).split()
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0, found.output
    assert dict(counted) == WALKS[command]
    if not {*words} & {*DERIVED_AGAIN}:
        counted.clear()
        again = CliRunner().invoke(main, words)
        assert again.exit_code == 0, again.output
        assert dict(counted) == {key: n for key, n in WALKS[command].items() if key in NUMBERS}


def test_a_page_is_written_again_without_deriving(
    counted: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """The same page, to the byte; that of another pose is another one."""
    pytest.importorskip("ziglang", reason="no ziglang here: pip install ziglang")
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    pages = []
    for at in ((), (), ("--at", "arm1/q1=1.9")):
        counted.clear()
        found = CliRunner().invoke(main, ["show", "five_bar_elastic", "-o", str(tmp_path / "page.html"), *at])
        assert found.exit_code == 0, found.output
        pages.append(((tmp_path / "page.html").read_bytes(), counted["newton_euler flexible"]))
    (first, derived), (second, again), (moved, _) = pages
    assert derived > 0 and again == 0
    assert first == second != moved


def test_variants_share_the_file_that_was_read(
    counted: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    first = machine.Machine.read("dualemps")
    for made in (first, first.changed({"E": 1e9}), first.keeping(["E"])):
        assert made.mechanism() is made.mechanism() and made.equations() is made.equations()
    assert counted["read"] == 1 and counted["flexible"] == 3
    assert first.model() is first.model() and counted["newton_euler flexible"] == 3
