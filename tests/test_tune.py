"""Shapers and gains for several motions and payloads, beside simulations that know nothing of the search."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import supple
from supple.backends.compiler import find_compiler
from supple.cli.main import main
from supple.errors import SuppleError

SLIDER = """
name: slider
space: planar
gravity: [0, 0, 0]
parameters: {payload: 0.05 kg}
materials: {steel: {E: 210 GPa, rho: 7800 kg/m^3}}
sections: {blade: {rectangle: {y: 2 mm, z: 20 mm}}}
bodies:
  carriage: {rigid: {mass: 1, inertia: {zz: 1e-3}}}
  blade: {beam: {length: 0.3 m, section: blade, material: steel, elements: 1}}
  load: {rigid: {mass: payload, inertia: {zz: 1e-6}}}
links:
  carriage: {parent: base, joint: prismatic, axis: y, q: s, body: carriage}
  blade: {parent: carriage, joint: fixed, body: blade}
  load: {parent: blade, on: end, joint: fixed, body: load}
actuators: {s: {}}
points: {tip: {link: blade, on: end}}
motions:
  go: {moves: [{by: {s: 0.1}, profile: trapezoidal, duration: 0.4 s, acceleration_time: 0.05 s}, {rest: 0.3 s}]}
  short: {moves: [{by: {s: 0.03}, duration: 0.15 s}, {rest: 0.3 s}]}
  blink: {moves: [{by: {s: 0.001}, duration: 0.02 s}, {rest: 0.01 s}]}
  on: {moves: [{by: {s: 0.03}, duration: 0.15 s}]}
"""
PD = "pd:kp=1000,kd=1500,sample=2 ms,delay=1 ms,limit=20"

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("slider") / "slider.yaml"
    made.write_text(SLIDER)
    return made


@pytest.fixture(scope="module")
def robot(file: Path) -> supple.Robot:
    return supple.Robot(file)


def test_shapers_by_their_worst_payload(robot: supple.Robot) -> None:
    """What is left at worst is what one simulation of all payloads side by side, shaped for the robot as it is, says."""
    shapers = ["zv:modes=1", "zvd:modes=1", "zvdd:modes=1"]
    found = robot.tune(["go", "short"], vary={"payload": "0.04,0.06"}, shapers=shapers)
    assert [t.about for t in found.tried] == shapers[::-1] and found.best is found.tried[0]
    assert found.simulations == 16 and len(found.best.cases) == 4 and not found.notices
    for t in found.tried:
        side = [robot.simulate(m, shaper=t.about, vary={"payload": [0.04, 0.06]}) for m in ("go", "short")]
        left = [run.summary["performance"]["residual_vibration_m"]["tip"] for run in side]
        assert t.worst.value == pytest.approx(max(left), rel=0.02, abs=1e-7)
        assert t.longer == pytest.approx(max(float(side[0].time[-1]) - 0.7, 0), abs=1.1e-3)
    zv, zvd = found.tried[2], found.tried[1]
    middle = 0.5 * ((zvd.worst.value or 0) + (zv.worst.value or 0))
    enough = robot.tune(["go", "short"], vary={"payload": "0.04,0.06"}, shapers=shapers, enough=middle)
    assert enough.best.about == "zvd:modes=1" and enough.text == 'shaper: {"zvd": {"modes": [1]}}\n'
    none = robot.tune("go", shapers=["zv:modes=1"], enough="1e-15 m")
    assert "none leaves as little" in none.notices[0]


def test_shapers_that_do_not_fit_count_as_worst(robot: supple.Robot) -> None:
    found = robot.tune("blink", shapers=["zvd:modes=1", "zv:frequencies=200 Hz"], by="peak")
    assert found.best.about == "zv:frequencies=200 Hz" and found.tried[1].failed is not None
    assert "longer than the motion" in found.tried[1].failed.why and "1 of 3 failed" in " ".join(found.notices)
    assert "failed" in found._repr_html_()
    with pytest.raises(SuppleError, match=r"nothing that was tried works; zvd:modes=1: blink: .*longer than the motion"):
        robot.tune("blink", shapers=["zvd:modes=1"], by="peak")


def test_gains_that_keep_their_limits(robot: supple.Robot, tmp_path: Path) -> None:
    """The loop as given chatters at its limit; what is found does not, and simulates to what is said of it."""
    found = robot.tune("short", of="gains", controller=PD, tries=12)
    assert found.before.saturated > 0.5 and found.best.saturated == 0
    assert found.tried[0] is found.best and found.simulations <= 14
    still = robot.tune("short", of="gains", controller=PD, tries=12, saturated=1.0)
    assert (still.best.worst.value or 1) <= (still.before.worst.value or 0)
    line = found.save(tmp_path / "tuned.yaml").read_text()
    motion = tmp_path / "again.yaml"
    motion.write_text("moves: [{by: {s: 0.03}, duration: 0.15 s}, {rest: 0.3 s}]\n" + line)
    told = robot.simulate(motion).summary["performance"]
    assert told["tool_error_m"]["tip"]["rms"] == pytest.approx(found.best.worst.value, rel=1e-6)


def test_the_command_prints_and_refuses(file: Path, tmp_path: Path) -> None:
    def run(*words: str) -> tuple[int, str, str]:
        made = CliRunner().invoke(main, ["tune", str(file), *words])
        return made.exit_code, made.stdout, made.stderr

    out = tmp_path / "tuned.yaml"
    code, said, _ = run("--motion", "short", "--try", "zv:modes=1", "--json", "-o", str(out))
    assert code == 0 and json.loads(said)["best"]["choice"] == "zv:modes=1" and "zv" in out.read_text()
    code, said, _ = run("--motion", "short", "--try", "zv:modes=1")
    assert code == 0 and "no shaper" in said and "in a motion file" in said
    for words, why in (
        (("--motion", "short", "--try", "zx"), "there is no law 'zx'"),
        (("--motion", "on", "--try", "zv", "--point", "tip"), "does not rest at its end"),
        (("--motion", "short", "--point", "nose"), "no point 'nose'"),
        (("--motion", "short", "--vary", "weight=1,2"), "no parameter 'weight'"),
        (("--motion", "short", "--motion", "short"), "given twice"),
        (("--motion", "short", "--of", "gains"), "has no controller"),
        (("--motion", "short", "--of", "gains", "--controller", "pd:kp=1,kd=1"), "give limit="),
        (("--motion", "short", "--of", "gains", "--enough", "1 um"), "belong to shapers"),
        (("--motion", "short", "--enough", "1 kg"), "enough"),
        (("--motion", "short", "-o", str(tmp_path / "x.json")), ".yaml"),
    ):
        code, said, wrong = run(*words)
        shown = wrong + said
        assert code == 2 and why in shown and len(shown.strip().splitlines()) == 1, (words, shown)
