"""Reports: a robot gathered on one page, two results beside each other; names are text, figures come with their commands."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import CHROMIUM
from click.testing import CliRunner

import supple
from supple.api import differences
from supple.cli.main import main
from supple.errors import SuppleError
from supple.storage.studies import read_study
from supple.views.report_page import difference_page, report_page

EVIL = "<script>window.hit=1</script>\"'</script><!--<b>" + "x" * 300 + "😀 שלום"


class Seen(HTMLParser):
    """Tags, texts and commands of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.commands: list[str] = []
        self.sources: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [v or "" for k, v in attrs if k in ("src", "href")]

    def handle_data(self, data: str) -> None:
        if self.tags[-1] == "code":
            self.commands.append(data)
        self.words.append(data)


@pytest.fixture(scope="module")
def report() -> Any:
    return supple.Robot("dualemps", E="72 GPa").report([{"q11": 0.05}], motion="square", duration="20 ms", count=2)


def test_a_report_holds_what_the_verbs_say(report: Any) -> None:
    robot = supple.Robot("dualemps", E="72 GPa")
    seen = Seen(report.page())
    words = " ".join(seen.words)
    modes = robot.modes({"q11": 0.05}, count=2)
    assert all(f"{f:.2f}" in words for f in modes.frequencies_hz)
    for body, mass in robot.check().masses.items():
        assert f"{body} {mass:.4g}" in words
    assert "7.2e+10" in words and robot.source.sha256 in words and "complete" not in report.notices
    assert seen.tags.count("img") == 1 + 2 + 1 + 1 == seen.tags.count("figcaption")  # at rest, modes, map, motion
    study, told = report.study
    assert told == ("--over", "q11=0.02:0.08:7", "--over", "q21=-0.03:0.03:7", "--of", "f1")
    middle = robot.map({"q11": [0.05], "q21": [0.0]}, "f1").quantities["f1"].values[0]
    assert study.quantities["f1"].values.reshape(7, 7)[3, 3] == pytest.approx(middle, rel=1e-9)
    assert modes.frequencies_hz[0] == pytest.approx(middle, rel=1e-9)
    assert all(s.startswith("data:") for s in seen.sources) and "script" not in seen.tags


def test_the_command_below_a_figure_makes_it(report: Any, tmp_path: Path) -> None:
    commands = [c for c in Seen(report.page()).commands if " --mode 2 " in c or c.startswith(("supple check", "supple map"))]
    assert len(commands) == 4  # that of the map below its figure and its table
    for command in commands:
        words = [str(tmp_path / w) if w.endswith(".png") else w for w in shlex.split(command)[1:]]
        found = CliRunner().invoke(main, words)
        assert found.exit_code == 0, found.output
    assert (tmp_path / "mode2.png").is_file() and (tmp_path / "map.png").is_file()


def test_a_motion_file_is_named_as_it_was_given_and_a_map_left_out_is_said(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("supple.api.pages._LARGEST_MAPPED", 3)
    monkeypatch.chdir(tmp_path)
    Path("blow.yaml").write_text("duration: 5 ms\nloads: {P: {fx: {impulse: {area: 0.1, duration: 1 ms}}}}\n")
    made = supple.Robot("dualemps").report(motion="blow.yaml", count=1)
    commands = [c for c in Seen(made.page()).commands if c.startswith("supple simulate")]
    assert shlex.split(commands[-1])[3:5] == ["--motion", "blow.yaml"]
    assert CliRunner().invoke(main, shlex.split(commands[-1])[1:]).exit_code == 0
    assert [n for n in made.notices if n.startswith("no map: the robot has ")] and made.study is None


def test_names_in_reports_are_text(report: Any) -> None:
    check = replace(report.check, robot=EVIL, about=EVIL, masses={EVIL: 1.0})
    evil = replace(
        report, check=check, asked=(EVIL,), parameters={EVIL: (EVIL, EVIL)}, notices=(EVIL,), provenance={EVIL: EVIL}
    )
    seen = Seen(report_page(evil))
    assert "script" not in seen.tags and "b" in seen.tags and sum(EVIL in w for w in seen.words) >= 6
    changed = replace(_difference_of_nothing(), files=(EVIL, EVIL), words={EVIL: (EVIL, "")}, alone=(EVIL,))
    assert "script" not in Seen(difference_page(changed)).tags


def _difference_of_nothing() -> Any:
    from supple.results.report import Changed, Difference

    line = np.linspace(0, 1, 5)
    return Difference(("a", "b"), {EVIL: Changed("m", 1.0, 1.1, 0.1, (line, line, 1.1 * line), "time")}, (), {})


def test_two_results_are_compared(tmp_path: Path) -> None:
    """Two simulations whose payload differs: the difference is that of the arrays themselves, at common times."""
    runs = []
    for k, (E, every) in enumerate((("70 GPa", "1 ms"), ("60 GPa", "0.5 ms"))):
        runs.append(supple.Robot("cantilever", E=E).simulate("hammer", duration="20 ms", every=every))
        runs[-1].save(tmp_path / f"{k}.nc")
    found = differences(tmp_path / "0.nc", tmp_path / "1.nc")
    name = next(k for k in found.quantities if k.startswith("point_position[tip,z"))
    a, b = runs[0]["point_position:tip"][:, 2], runs[1]["point_position:tip"][::2, 2]
    assert found.quantities[name].apart == pytest.approx(np.abs(a - b).max(), rel=1e-9)
    assert "settings" in found.words
    out = tmp_path / "changed.html"
    said = CliRunner().invoke(main, ["report", str(tmp_path / "0.nc"), str(tmp_path / "1.nc"), "-o", str(out)])
    assert said.exit_code == 0 and "img" in Seen(out.read_text(encoding="utf-8")).tags
    (tmp_path / "bad.nc").write_bytes(b"nonsense")
    for words, part in (
        (["report", str(tmp_path / "0.nc"), str(tmp_path / "bad.nc"), "-o", str(out)], "is not a result"),
        (["report", str(tmp_path / "0.nc"), str(tmp_path / "no.nc"), "-o", str(out)], "no such file"),
        (["report", "cantilever", "-o", str(tmp_path / "x.pdf")], ".html"),
        (["report", "cantilever", "--poses", "nonsense", "-o", str(out)], "NAME=VALUE"),
    ):
        said = CliRunner().invoke(main, words)
        assert said.exit_code == 2 and part in said.output and "Traceback" not in said.output


@pytest.mark.skipif(CHROMIUM is None or shutil.which("pdftotext") is None, reason="no chromium or no pdftotext here")
def test_a_report_prints(report: Any, tmp_path: Path) -> None:
    file = report.save(tmp_path / "report.html")
    made = tmp_path / "report.pdf"
    how = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    subprocess.run([str(CHROMIUM), *how, f"--print-to-pdf={made}", file.as_uri()], check=True, capture_output=True)
    text = subprocess.run(["pdftotext", "-layout", str(made), "-"], check=True, capture_output=True, text=True).stdout
    assert "Where it comes from" in text and "Stiffness of P" in text and text.count("\f") >= 3


@pytest.mark.parametrize("read", [lambda p: differences(p, p), read_study])
def test_results_larger_than_memory_are_not_unpacked(read: Callable[[Path], Any], tmp_path: Path) -> None:
    """A file of a few kB may say that it holds terabytes."""
    import h5netcdf

    with h5netcdf.File(tmp_path / "bomb.nc", "w") as made:
        made.dimensions = {"case": 10**11}
        made.create_variable("answered", ("case",), "f8", chunks=(1000,))
    assert (tmp_path / "bomb.nc").stat().st_size < 1e5
    with pytest.raises(SuppleError, match="800 GB of numbers; at most 2 GB"):
        read(tmp_path / "bomb.nc")
