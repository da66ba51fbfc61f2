"""Robots of the gallery whose platform bends: energy shares of their modes, compiled models, FMU."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from target_runners import done, tool

from supple import models
from supple.analyses.modes import modes
from supple.backends.compiler import find_compiler
from supple.backends.targets import TARGETS
from supple.backends.targets.fmu import write_fmu
from supple.fmu_parts import fmu_parts
from supple.generator import packed
from supple.machine import Machine, locate
from supple.model.equilibrium import equilibrium
from supple.model.model import Model
from supple.model.posture import posture
from supple.robot.link_bodies import flexible_bodies
from supple.views.page import print_page
from supple.views.tables import modes_page

ROBOTS = ("gough_stewart_plate", "gough_stewart_flexible")


@cache
def robot(name: str) -> Model:
    """A robot of the gallery with its weight."""
    return Machine.read(name, {"gravity": 9.81}).model()


def test_shares_of_legs_joints_and_platform_are_those_of_the_elastic_energy() -> None:
    """Against the energy of the robot displaced along each mode, by its second difference, frame by frame."""
    model = robot("gough_stewart_flexible")
    found = modes(model, count=20)
    assert list(found.elastic_by_kind) == ["legs", "joints", "platform"]
    total = sum(found.elastic_by_kind.values())
    assert total == pytest.approx(np.ones(20))
    q = equilibrium(model, posture(model)).q
    frames = model.mechanism.frames
    kind = ["joints" if f.role == "spring" else "platform" if f.name == "platform" else "legs" for f in frames]
    at_rest = model.call("energy", q=q)["elastic"]
    for k in range(20):
        away = [model.call("energy", q=model.retract(q, s * found.shapes[:, k]))["elastic"] for s in (1e-3, -1e-3)]
        curvature = away[0] + away[1] - 2 * at_rest
        for name, share in found.elastic_by_kind.items():
            own = sum(x for x, what in zip(curvature, kind, strict=True) if what == name)
            assert share[k] == pytest.approx(own / curvature.sum(), abs=1e-6)


def test_a_stiff_platform_leaves_the_energy_to_legs_and_joints() -> None:
    """Its share of the first mode falls like 1/E, and the frequency rises towards that of a rigid platform."""
    shares, frequencies = [], []
    for factor in (1, 1e2, 1e3):
        first = modes(Machine.read("gough_stewart_flexible", {"E_plate": 70e9 * factor}).model(), count=1)
        shares.append(first.elastic_by_kind["platform"][0])
        frequencies.append(first.frequencies_hz[0])
    assert shares[0] > 0.75
    assert shares[1] / shares[2] == pytest.approx(10, rel=0.05)
    assert 2 * frequencies[0] < frequencies[1] < frequencies[2] < 1.05 * frequencies[1]


def test_shapes_under_loads_are_what_more_and_more_modes_come_to() -> None:
    """Frequencies of free modes alone fall towards those with shapes under loads, which more modes hardly change."""
    text = locate("gough_stewart_flexible").read_text(encoding="utf-8")
    alone = text.replace("{static: {modes: modes}}", "{free_free: {modes: modes}}")
    first = {
        (way, n): modes(Machine.parse(given, {"modes": n}).model(), count=3).frequencies_hz[[0, 2]]
        for way, given in (("alone", alone), ("loaded", text))
        for n in ((4, 20) if way == "loaded" else (10, 20, 40))
    }
    assert first["loaded", 4] == pytest.approx(first["loaded", 20], rel=2e-5)
    errors = np.array([first["alone", n] / first["loaded", 4] - 1 for n in (10, 20, 40)])
    assert (errors > 0).all() and (np.diff(errors, axis=0) < 0).all()
    assert errors[0] == pytest.approx([0.025, 0.043], abs=0.002)


def test_platforms_with_attachments_get_shapes_under_loads_by_default() -> None:
    text = locate("gough_stewart_flexible").read_text(encoding="utf-8")
    unsaid = text.replace("      reduction: {static: {modes: modes}}\n", "")
    nameless = unsaid[: unsaid.index("      attachments:")] + unsaid[unsaid.index("\nplatform:") :]
    mindlin = unsaid.replace("kirchhoff", "mindlin\n      refine: 0")
    for given, method in ((unsaid, "static"), (nameless, "free_free"), (mindlin, "free_free")):
        reduced = flexible_bodies(Machine.parse(given).description)["plate"][0].reduced
        assert reduced is not None and reduced.method == method


def test_tables_show_the_shares_of_robots_that_have_several_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    found = modes(robot("gough_stewart_flexible"), count=2)
    print_page(modes_page(found))
    assert "joints" in capsys.readouterr().out
    assert set(found.to_json()["elastic_energy_share_by_kind"]) == {"legs", "joints", "platform"}
    print_page(modes_page(modes(robot("gough_stewart_plate"), count=2)))
    assert "joints" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("model", ["inverse", "forward"])
def test_generated_c_code_passes_its_own_test(name: str, model: str, tmp_path: Path) -> None:
    """The written sample holds what the interpreter found, and the program compares what the C code finds."""
    machine = Machine.read(name)
    package = packed(machine, model, getattr(models, model)(machine.mechanism()))
    files = TARGETS["c"](package, tmp_path)
    sources = [f.name for f in files if f.suffix == ".c"]
    done(tool("cc"), "-std=c99", "-O0", "-o", "test", *sources, "-lm", folder=tmp_path)
    assert "PASS" in done("./test", folder=tmp_path)


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("name", ROBOTS)
def test_an_fmu_under_its_weight_stays_at_rest(name: str, tmp_path: Path) -> None:
    fmpy = pytest.importorskip("fmpy")
    path = write_fmu(fmu_parts(robot(name), passes=()), tmp_path)
    watched = ["kinetic_energy", "elastic_energy", "closure_residual", "position_centre_z"]
    found = fmpy.simulate_fmu(str(path), stop_time=0.02, output_interval=0.01, fmi_type="CoSimulation", output=watched)
    assert np.max(found["kinetic_energy"]) < 1e-18
    assert found["elastic_energy"][0] > 1e-3
    assert np.ptp(found["position_centre_z"]) < 1e-12
    assert np.max(found["closure_residual"]) < 1e-9


def test_the_plate_of_the_gallery_has_the_frequencies_of_the_paper() -> None:
    """Modes 7 to 11 of table 2 in Long, Khalil & Martinet (2014), MSC Nastran, rad/s."""
    body, _ = flexible_bodies(Machine.read("gough_stewart_plate").description)["plate"]
    assert body.reduced is not None
    found = 2 * np.pi * np.array(body.reduced.frequencies[:5])
    assert found == pytest.approx([188.7473, 188.7475, 315.7169, 401.0187, 474.7468], rel=0.005)
