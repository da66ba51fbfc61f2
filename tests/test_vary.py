"""`--vary`: which values it makes, what it sets from run to run, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from supple.backends.compiler import find_compiler
from supple.backends.stepping.settings import Settings
from supple.cli.main import main
from supple.errors import SuppleError
from supple.machine import Machine
from supple.simulation.integrate import integrate
from supple.simulation.simulator import simulator
from supple.simulation.starts import listed_values

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

ARM = """
name: arm
space: planar
gravity: [0, -weight, 0]
parameters: {weight: 0 m/s^2, load: 2 kg, k: 50 N m/rad, L: 1 m, parts: 1}
materials: {m: {E: 1 GPa, rho: 1000}}
sections: {s: {circle: {diameter: 10 mm}}}
links:
  arm: {parent: base, joint: revolute, q: turn, body: {rigid: {mass: load, inertia: {zz: 0.5}}}}
  slider: {parent: base, at: [3, 0, 0], joint: prismatic, axis: x, q: slide, body: {rigid: {mass: load}}}
  bob: {parent: slider, joint: fixed, stiffness: {rz: k}, body: {rigid: {mass: 1, inertia: {zz: 1}}}}
  rod: {parent: base, at: [6, 0, 0], joint: fixed, body: {beam: {length: L, section: s, material: m, elements: parts}}}
actuators: {slide: {}}
points: {P: {link: slider}}
motions:
  push: {torques: {slide: 6 N}, duration: 0.5 s}
  path: {moves: [{by: {slide: 0.1}, duration: 1}]}
  free: {start: {slide: 0.25}, duration: 0.1 s}
"""
FREE = ARM.replace("actuators: {slide: {}}\n", "").replace("torques: {slide: 6 N}, ", "loads: {P: {fx: 6}}, ")
FREE = FREE.replace("  path: {moves: [{by: {slide: 0.1}, duration: 1}]}\n", "")


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    (tmp_path / "arm.yaml").write_text(ARM)
    return tmp_path / "arm.yaml"


@pytest.fixture
def free(tmp_path: Path) -> Path:
    (tmp_path / "free.yaml").write_text(FREE)
    return tmp_path / "free.yaml"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,2.5,-3", [1, 2.5, -3]),
        ("7", [7]),
        ("1:3:5", [1, 1.5, 2, 2.5, 3]),
        ("0:-1:2", [0, -1]),
        ("1e9:2e9:3", [1e9, 1.5e9, 2e9]),
    ],
)
def test_values_are_listed_or_spread_evenly(text: str, wanted: list[float]) -> None:
    assert listed_values("load", text) == pytest.approx(wanted)


@pytest.mark.parametrize("text", ["1:2:1", "1:2:0", "1:2:-3", "1:2:100001"])
def test_a_spread_has_two_to_a_hundred_thousand_values(text: str) -> None:
    with pytest.raises(SuppleError, match="the number of values must be 2 to 100000"):
        listed_values("load", text)


@pytest.mark.parametrize("text", ["", "a,b", "1,,2", "1:2", "1:2:3:4", "1:2:2.5", "2 kg,3 kg"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(SuppleError, match="must be A,B,C or FIRST:LAST:COUNT, in SI units"):
        listed_values("load", text)


@needs_compiler
def test_every_run_has_its_own_parameter(arm: Path) -> None:
    """6 N on load + 1 kg for 0.5 s: speeds of 3 / (load + 1) m/s, in the order of the values."""
    found = integrate(simulator(Machine.read(arm), "push", vary={"load": [1.0, 2.0, 5.0]}), Settings(tolerance=1e-7))
    assert found.axes["run"] == ("1", "2", "3") and found.varied == {"load": (1.0, 2.0, 5.0)}
    assert found["velocity:slide"][-1] == pytest.approx([1.5, 1.0, 0.5], rel=1e-6)
    assert found.signals["velocity"].dims == ("run", "coordinate")


@needs_compiler
def test_every_run_has_its_own_start(free: Path) -> None:
    """Two starts of the slider and two of the arm, side by side; the force moves it by 6 N / 3 kg * 0.5^2 / 2 = 0.25 m."""
    found = integrate(
        simulator(Machine.read(free), "push", vary={"slide": [0.0, 0.5], "turn": [0.1, -0.2]}), Settings(tolerance=1e-7)
    )
    assert found["position:slide"][0] == pytest.approx([0.0, 0.5])
    assert found["position:turn"][0] == pytest.approx([0.1, -0.2])
    assert found["position:slide"][-1] == pytest.approx([0.25, 0.75], rel=1e-6)


@pytest.mark.parametrize(
    ("motion", "vary", "words"),
    [
        ("push", {"load": [1.0, 2.0], "k": [1.0]}, "lists of the same length"),
        ("push", {"load": []}, "lists of the same length"),
        ("push", {"nobody": [1.0, 2.0]}, "has neither a parameter nor a coordinate 'nobody' to vary"),
        (
            "path",
            {"slide": [0.0, 1.0]},
            "'slide' cannot be varied: the path of the motion says where it begins",
        ),
        (
            "push",
            {"bob.spring.rz": [0.0, 0.1]},
            "'bob.spring.rz' cannot be varied: it follows from the actuators",
        ),
        ("push", {"turn": [0.0, 0.1]}, "the start of 'turn' cannot be varied: it follows from the actuators"),
        ("push", {"weight": [0.0, 9.81]}, "gravity cannot be varied within one simulation"),
        (
            "push",
            {"parts": [1.0, 2.0]},
            "parts cannot be varied within one simulation; simulate once",
        ),
    ],
)
def test_what_cannot_be_varied_is_refused(arm: Path, motion: str, vary: dict[str, list[float]], words: str) -> None:
    with pytest.raises(SuppleError) as caught:
        simulator(Machine.read(arm), motion, vary=vary)
    assert words in str(caught.value)


PLATFORM = """
name: swing
space: planar
parameters: {L: 1 m}
links:
  crank: {parent: base, joint: revolute, q: turn, body: {rigid: {mass: 1}}}
  tip: {parent: crank, at: [L, 0, 0], joint: prismatic, axis: x, q: reach, body: {rigid: {mass: 1}}}
actuators: {turn: {}, reach: {}}
points: {P: {link: tip}}
home: {turn: 0.5, reach: 0.2}
motions:
  draw: {space: {point: P}, start: {x: 1.2*cos(0.5), y: 1.2*sin(0.5)}, moves: [{by: {x: 0.1, y: 0.05}, duration: 1}]}
"""


def test_a_parameter_that_changes_how_a_path_is_followed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "swing.yaml"
    path.write_text(PLATFORM)
    with pytest.raises(SuppleError, match="L changes how the actuators follow the path of 'draw'"):
        simulator(Machine.read(path), "draw", vary={"L": [1.0, 1.1]})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--vary", "load"], "--vary 'load' must be NAME=VALUE"),
        (["--vary", "load=1,2", "--vary", "load=3,4"], "--vary load is given twice"),
        (["--vary", "load=1,2", "--vary", "k=1,2,3"], "lists of the same length"),
        (["--vary", "slide=1:2:1"], "the number of values must be 2 to 100000"),
        (["--vary", "load=-1,2"], "must not be negative"),
    ],
)
def test_the_command_line_refuses_in_one_line(arm: Path, arguments: list[str], words: str) -> None:
    found = CliRunner().invoke(main, ["simulate", str(arm), "--motion", "push", *arguments])
    assert found.exit_code == 2 and words in found.output and "Traceback" not in found.output


@needs_compiler
def test_the_command_line_varies(arm: Path, tmp_path: Path) -> None:
    import xarray

    out = tmp_path / "out.nc"
    found = CliRunner().invoke(main, ["simulate", str(arm), "--motion", "push", "--vary", "load=1:5:3", "-o", str(out)])
    assert found.exit_code == 0, found.output
    kept = xarray.open_dataset(out)
    assert kept.velocity.sel(coordinate="slide")[-1].values == pytest.approx(3 / np.array([2, 4, 6]), rel=1e-4)
    assert kept.varied.sel(what="load").values.tolist() == [1.0, 3.0, 5.0]
