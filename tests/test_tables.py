"""What tables print: numbers of records written by hand, in the units and columns that their headings promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from supple.results import Check, Compared, Comparison, Counted, Drawing, Modes, Moved, Signal, Simulation
from supple.storage import columns, dataset
from supple.views import tables
from supple.views.comparison import comparison_page
from supple.views.page import print_page, unsigned

STILL = Drawing(("arm",), (True,), (np.zeros((2, 3)),), (np.zeros((2, 2, 3)),), True)
MODES = Modes(
    robot="crane", free=False, frequencies_hz=np.array([12.345, 678.9]), damping_ratios=np.array([0.02, 0.00125]),
    poles=np.array([-1.5 + 77j, -5 + 4265j]), coordinates=("q", "arm.w"), kinds=("active", "elastic"), units=("rad", "m"),
    shapes=np.array([[0.0, 0.0], [1.5, 2.5]]), pose={"q": 0.5, "arm.w": 0.0}, tau={"q": 7.5}, bodies=("arm", "hook"),
    kinetic=np.array([[0.75, 0.04], [0.25, 0.96]]), elastic=np.array([[1.0, 0.3], [0.0, 0.7]]),
    elastic_by_kind={"legs": np.array([0.9, 0.3]), "joints": np.array([0.1, 0.7])},
    effective_mass={"x": np.array([1.0, 2.0])}, total_mass=3.5, drawing=STILL,
)  # fmt: skip


def printed(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The words of every line that was printed."""
    return [line.split() for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_modes_are_counted_from_one_in_hertz_and_percent(capsys: pytest.CaptureFixture[str]) -> None:
    print_page(tables.modes_page(MODES))
    title, head, first, second = printed(capsys)
    assert " ".join(title) == "crane: modes with actuators held"
    assert head == ["mode", "Hz", "damping", "legs", "joints", "moves", "bends"]
    assert " ".join(first) == "1 12.35 2.00% 90% 10% arm 75%, hook 25% arm 100%"
    assert " ".join(second) == "2 678.90 0.12% 30% 70% hook 96% hook 70%, arm 30%"
    print_page(tables.modes_page(replace(MODES, free=True)))
    assert "actuators free" in " ".join(printed(capsys)[0])


def test_modes_as_json() -> None:
    found = MODES.to_json()
    assert found["frequencies_hz"] == [12.345, 678.9] and found["damping_ratios"] == [0.02, 0.00125]
    assert found["poles"] == [[-1.5, 77.0], [-5.0, 4265.0]]
    assert found["shapes"] == [[0.0, 1.5], [0.0, 2.5]]  # one row per mode
    assert found["kinetic_energy_share"] == [[0.75, 0.25], [0.04, 0.96]]
    assert found["elastic_energy_share"] == [[1.0, 0.0], [0.3, 0.7]]
    assert found["effective_mass"] == {"x": [1.0, 2.0]} and found["total_mass_kg"] == 3.5
    assert found["actuators"] == "held" and found["actuator_forces"] == {"q": 7.5}


def test_bodies_say_what_they_lost(capsys: pytest.CaptureFixture[str]) -> None:
    lost = {
        "method": "craig_bampton", "coordinates": 1200, "frequencies": [100.5, 222.25], "omitted": 333.125,
        "effective_mass": [0.5, 0.905, 0.001], "static_residual": 0.0123, "meshes": [(400, [101.0]), (1600, [100.5])],
        "extrapolated": [100.4],
    }  # fmt: skip
    print_page(tables.bodies_page([{"name": "plate", "mass": 2.5, "coordinates": 8, "reduced": lost}]))
    lines = [" ".join(words) for words in printed(capsys)]
    assert lines == [
        "plate: 2.5 kg, 8 elastic coordinates",
        "craig_bampton: 8 coordinates of 1200",
        "frequencies, Hz: 100.5, 222.25",
        "first mode left out: 333.12 Hz",
        "effective mass kept, held at the root: x 50.0 %, y 90.5 %, z 0.1 %",
        "largest part of an attachment's compliance that is missing: 1.2 %",
        "mesh of 400 unknowns, free, Hz: 101",
        "mesh of 1600 unknowns, free, Hz: 100.5",
        "extrapolated (not used), Hz: 100.4",
    ]


def test_check_prints_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    report = Check(
        robot="crane", about="lifts", source="", space="planar", links=3, flexible=1, springs=2, legs=0, mass=12.5,
        coordinates={"active": 1, "elastic": 2}, closures={"loop": ("revolute", 2)}, mobility=("1 degree of freedom.",),
        freedom=1, overconstraint=0, rule="no loops", independent=("q",), pose={"q": 0.5, "s": -0.125, "z": 2.6e-16},
        units={"q": "rad", "s": "m", "z": "rad"}, active=("s",), points={"P": (1.5, -2.0, 0.25)}, closure_error=3e-12,
        assemblies=(), masses={"jib": 2.25, "mast": 10.25},
    )  # fmt: skip
    print_page(tables.check_page(report))
    lines = [" ".join(words) for words in printed(capsys)]
    assert "3 links (1 flexible body, 2 elastic joints), 12.5 kg; coordinates: 1 active, 2 elastic" in lines
    assert "loop revolute 2" in lines
    assert "z 0 rad" in lines  # loops tell a zero but for rounding
    assert "Pose (loops closed to 3.0e-12)" in " ".join(lines)
    assert "q 0.5 rad" in lines and "s (actuator) -0.125 m" in lines
    assert "point P at (1.5, -2, 0.25) m" in lines
    assert "masses (kg): jib 2.25, mast 10.25" in lines


def simulation() -> Simulation:
    """Three samples of a robot with a revolute actuator and a slider, and of two points."""
    joints = np.array([[0.0, 1.0], [0.5, -2.0], [0.25, 3.0]])
    points = np.arange(18.0).reshape(3, 2, 3)
    return Simulation(
        robot="crane", motion="lift", time=np.array([0.0, 0.5, 1.0]),
        signals={
            "position": Signal(joints, ("coordinate",), ("rad", "m"), "coordinates"),
            "tau": Signal(10 * joints, ("actuator",), ("N m", "N"), "forces"),
            "point_position": Signal(points, ("point", "axis"), "m", "places"),
            "energy_kinetic": Signal(np.array([1.0, np.nan, 4.0]), (), "J", "kinetic energy"),
        },
        axes={"coordinate": ("q", "s"), "actuator": ("q", "s"), "point": ("P", "Q"), "axis": ("x", "y", "z")},
        kinds=("active", "active"), outcome="complete",
        summary={
            "method": "gauss", "steps": 12, "evaluations": 34, "runs": 1, "wall_time_s": 0.25, "real_time_factor": 4.0,
            "worst_closure": 1e-11, "energy_balance_error": 2e-6, "notices": [],
            "cut_off": {"above_hz": 1000.0, "share": 0.25, "time_s": 0.5},
        },
        varied={}, provenance={"robot": "crane"},
    )  # fmt: skip


def test_simulations_print_their_extremes_with_units(capsys: pytest.CaptureFixture[str]) -> None:
    print_page(tables.simulation_page(simulation()))
    lines = [" ".join(words) for words in printed(capsys)]
    assert lines[0] == "crane lift: 3 samples to t = 1 s, gauss, 12 steps, 34 evaluations"
    assert "Computed in 0.25 s (4 times real time); loops closed to 1.0e-11" in lines[1]
    assert "Vibrations above 1000 Hz were let die away: up to 0.25" in lines[2]
    assert "position -2 3 rad, m" in lines
    assert "tau -20 30 N m, N" in lines
    assert "point position 0 17 m" in lines
    assert "energy kinetic 1 4 J" in lines


def test_columns_of_a_file_have_their_own_names_units_and_values() -> None:
    found = columns(simulation())
    assert {name: unit for name, (unit, _) in found.items()} == {
        "t": "s", "position[q]": "rad", "position[s]": "m", "tau[q]": "N m", "tau[s]": "N",
        **{f"point_position[{p},{a}]": "m" for p in "PQ" for a in "xyz"}, "energy_kinetic": "J",
    }  # fmt: skip
    assert found["position[s]"][1].tolist() == [1.0, -2.0, 3.0]
    assert found["tau[q]"][1].tolist() == [0.0, 5.0, 2.5]
    assert found["point_position[Q,y]"][1].tolist() == [4.0, 10.0, 16.0]


def test_columns_of_several_runs_keep_the_units_of_their_coordinates() -> None:
    one = simulation()
    two = np.stack([one["position"], one["position"] + 100], axis=1)
    many = replace(
        one, signals={"position": Signal(two, ("run", "coordinate"), ("rad", "m"), "coordinates")},
        axes={**one.axes, "run": ("1", "2")}, varied={"E": (1.0, 2.0)},
    )  # fmt: skip
    found = columns(many)
    assert {name: unit for name, (unit, _) in found.items()} == {
        "t": "s", "position[1,q]": "rad", "position[1,s]": "m", "position[2,q]": "rad", "position[2,s]": "m",
    }  # fmt: skip
    assert found["position[2,s]"][1].tolist() == [101.0, 98.0, 103.0]
    kept = dataset(many)
    assert kept["position_unit"].values.tolist() == ["rad", "m"] and kept["position_unit"].dims == ("coordinate",)
    assert kept["varied"].sel(what="E").values.tolist() == [1.0, 2.0]


def test_datasets_have_units_and_axes() -> None:
    kept = dataset(simulation())
    assert kept.time.attrs["units"] == "s" and kept.point_position.attrs["units"] == "m"
    assert float(kept.tau.sel(actuator="s")[1]) == -20.0
    assert float(kept.point_position.sel(point="Q", axis="z")[2]) == 17.0
    assert kept.tau_unit.values.tolist() == ["N m", "N"]


def test_entries_of_a_simulation_are_found_by_name() -> None:
    found = simulation()
    assert found["position:s"].tolist() == [1.0, -2.0, 3.0]
    assert found["point_position:Q"].tolist() == [[3.0, 4.0, 5.0], [9.0, 10.0, 11.0], [15.0, 16.0, 17.0]]
    plain = found.to_json()
    assert plain["signals"]["tau"] == {"least": -20.0, "most": 30.0}
    assert plain["signals"]["energy_kinetic"] == {"least": 1.0, "most": 4.0}
    assert (plain["samples"], plain["first_time_s"], plain["last_time_s"]) == (3, 0.0, 1.0)


def test_counts_of_operations_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {"add": 5, "sub": 2, "mul": 11, "div": 3, "neg": 1, "sin": 4, "cos": 6, "sqrt": 8, "sign": 9}
    stages = {"as derived": {"operations": 22, "counts": counts, "intermediates": 17}}
    print_page(tables.counts_page(Counted("crane", "mass", {}, stages, None, None)))
    assert " ".join(printed(capsys)[-1]) == "as derived 22 7 11 3 1 27 17"


def test_comparisons_put_every_difference_in_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    row = Compared(
        "erls", "order 2", "", mass_difference=1e-3, force_difference=2e-4, mass_order=2.1, force_order=1.95,
        frequencies_hz=(10.5, 20.25), frequency_difference=3e-5, operations=1234, forward_operations=5678,
        microseconds=9.876, integrated="7 of 9 coordinates",
        moved=(Moved(1e-5, 12, 34, 5e-13, {"position": 4e-6, "acceleration": 3e-4, "tau": 2e-5}),),
    )  # fmt: skip
    print_page(comparison_page(Comparison("crane", "newton_euler", {}, (replace(row, formulation="newton_euler"), row))))
    lines = [" ".join(words) for words in printed(capsys)]
    assert "formulation M f order of Hz ops forward us" in lines
    assert "erls 1.0e-03 2.0e-04 1.95 2 3.0e-05 1234 5678 9.88" in lines
    assert "erls 1e-05 12 34 4.0e-06 3.0e-04 2.0e-05 5.0e-13" in lines
    assert "newton_euler 1e-05 12 34 - - - 5.0e-13" in lines
    assert "erls: 7 of 9 coordinates" in lines
    assert "lowest frequencies, actuators held, Hz: 10.5, 20.25" in lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-0.00", "0.00"),
        ("(-0.000, 0.5, -0)", "(0.000, 0.5, 0)"),
        ("-0.01", "-0.01"),
        ("-0e-3", "-0e-3"),
        ("1-0.0", "1-0.0"),
    ],
)
def test_zero_has_no_sign(text: str, shown: str) -> None:
    assert unsigned(text) == shown


def test_work_is_said_to_be_what_actuators_push_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """From rest to rest they brake as much as they push, so that all of it would be nothing."""
    print_page(tables._performance({"work_J": 1.535, "energy_lost_J": 1e-5}))
    text = " ".join(capsys.readouterr().out.split())
    assert "Actuators do 1.535 J of positive work (what they brake is not taken off), 1e-05 J are lost" in text
