"""FMUs: valid, loaded and run by FMPy, and in agreement with an independent integration of the tree's equations.

The reference solves M a + c = tau + J^T lam, J a + b = 0 of the recursive Newton-Euler equations in all coordinates
(Radau, tight tolerances); the FMU closes the loops by itself and uses the articulated forward model.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from robots import build
from scipy.integrate import solve_ivp

from supple.backends.compiler import find_compiler
from supple.backends.native import native
from supple.backends.targets.fmu import identifier, write_fmu
from supple.errors import SuppleError
from supple.fmu_parts import fmu_parts
from supple.machine import Machine, locate
from supple.model.model import Model

fmpy = pytest.importorskip("fmpy")
from fmus import cvode, instance, variables  # noqa: E402

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

QUICK = ("fold", "signs")  # of the optimiser: the others take long and change no value
END, STEP = 0.4, 1e-4  # s
WATCHED = ("q11", "q21", "13.y1", "23.y1", "16.y1")  # sliders and blade tips


def pulse(t: Any) -> np.ndarray:
    """Forces on the two sliders: smooth, over after 0.3 s."""
    shape = np.where(np.asarray(t) < 0.3, np.sin(np.pi * np.asarray(t) / 0.3) ** 4, 0.0)
    return np.stack([300.0 * shape, -120.0 * shape], axis=-1)


def reference(model: Model, times: np.ndarray) -> np.ndarray:
    """Coordinates of the whole tree at `times`, from rest under the pulse."""
    equations, n, m = model.equations, model.nv, model.mechanism.equations
    forces, inertia, motion = native(equations.forces), native(equations.inertia), native(equations.closure_motion)
    idle = {"g": model.gravity, "lam": np.zeros(m), "w": np.zeros(equations.forces.inputs["w"].shape)}
    eye, zero = np.eye(n), np.zeros(n)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:n], y[n:]
        M = inertia(q=q, v=v, a=zero, direction=eye, **idle)["f"]
        f = forces(q=q, v=v, a=zero, **idle)
        J = motion(q=q, v=eye, a=zero, g=model.gravity)["velocity"].T
        b = motion(q=q, v=v, a=zero, g=model.gravity)["acceleration"]
        applied = np.zeros(n)
        applied[model.active] = pulse(t)
        K = np.block([[M, -J.T], [J, np.zeros((m, m))]])
        a = np.linalg.solve(K, np.concatenate([applied - f["f"] - f["coulomb"], -b]))[:n]
        return np.concatenate([v, a])

    start = np.concatenate([fmu_parts(model, passes=()).start, zero])
    found = solve_ivp(rate, (0, times[-1]), start, "Radau", times, rtol=1e-8, atol=1e-10, max_step=0.01)
    assert found.success
    return found.y[:n].T


@pytest.fixture(scope="module")
def dualemps(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    model = Machine.read("dualemps").model()
    folder = tmp_path_factory.mktemp("fmu")
    path = write_fmu(fmu_parts(model, passes=QUICK), folder)
    times = np.linspace(0, END, 101)
    watched = [model.index(name) for name in WATCHED]
    wanted = reference(model, times)[:, watched]
    return SimpleNamespace(path=path, model=model, times=times, wanted=wanted, folder=folder)


def observed(fmu: Any, names: dict[str, int]) -> list[float]:
    wanted = [f"q_{name.replace('.', '_')}" for name in WATCHED]
    return list(fmu.getReal([names[x] for x in (*wanted, "closure_residual")]))


def agrees(found: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    assert np.max(found[:, -1]) < 1e-9, "loops are open"
    error = np.max(np.abs(found[:, :-1] - wanted), axis=0) / np.max(np.abs(wanted - wanted[0]), axis=0)
    assert np.all(error < tolerance), dict(zip(WATCHED, error.tolist(), strict=True))


def test_the_description_is_valid_and_the_file_complete(dualemps: SimpleNamespace) -> None:
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(dualemps.path)) == []
    with zipfile.ZipFile(dualemps.path) as archive:
        names = archive.namelist()
    assert {f"sources/{x}" for x in ("fmi2.c", "model.h", "robot.h", "stepping.h")} <= set(names)
    assert sum(name.startswith("binaries/") for name in names) == 1
    description = fmpy.read_model_description(str(dualemps.path))
    units = {v.name: v.unit for v in description.modelVariables}
    assert units["tau_q11"] == "N" and units["v_q11"] == "m/s" and units["q_13_rz1"] == "rad"
    assert units["gravity_z"] == "m/s2" and units["acceleration_P_x"] == "m/s2" and units["elastic_energy"] == "J"


def test_every_function_of_the_standard_is_there(dualemps: SimpleNamespace) -> None:
    where = Path(fmpy.extract(str(dualemps.path), unzipdir=str(dualemps.folder / "symbols")))
    library = ctypes.CDLL(str(next((where / "binaries").rglob("dualemps.*"))))
    text = (Path(fmpy.__file__).parent / "c-code" / "fmi2Functions.h").read_text()
    wanted = [line.split()[1] for line in text.splitlines() if line.startswith("#define fmi2") and "FullName(fmi2" in line]
    assert len(wanted) == 44
    assert [name for name in wanted if not hasattr(library, name)] == []
    assert not hasattr(library, "dualemps_f_loops") and not hasattr(library, "supple_run"), "only FMI is exported"


@pytest.mark.parametrize("method", [0, 1, 2, 3])
def test_co_simulation_agrees_with_the_tree(dualemps: SimpleNamespace, method: int) -> None:
    names = variables(dualemps.path)
    fmu = instance(dualemps.path, dualemps.folder, "cs", 1e-7, {"method": method})
    taus = [names["tau_q11"], names["tau_q21"]]
    references, orders = (ctypes.c_uint * 2)(*taus), (ctypes.c_int * 2)(1, 1)
    rows = [observed(fmu, names)]
    count = round(END / STEP)
    for k in range(count):
        now, then = pulse(k * STEP), pulse((k + 1) * STEP)
        fmu.setReal(taus, now.tolist())
        fmu.fmi2SetRealInputDerivatives(fmu.component, references, 2, orders, (ctypes.c_double * 2)(*((then - now) / STEP)))
        fmu.doStep(k * STEP, STEP)
        if (k + 1) % (count // 100) == 0:
            rows.append(observed(fmu, names))
    fmu.terminate()
    fmu.freeInstance()
    agrees(np.array(rows), dualemps.wanted, 1e-5)


def test_model_exchange_agrees_with_the_tree(dualemps: SimpleNamespace) -> None:
    """CVode of FMPy, with forces given at every time it asks for."""
    names = variables(dualemps.path)
    fmu = instance(dualemps.path, dualemps.folder, "me")
    taus = [names["tau_q11"], names["tau_q21"]]
    fmu.enterContinuousTimeMode()

    def clock(t: float) -> None:
        fmu.setTime(t)
        fmu.setReal(taus, pulse(t).tolist())

    solver = cvode(fmu, clock, 22, 0.0, 1e-8)
    rows = [observed(fmu, names)]
    for before, after in zip(dualemps.times[:-1], dualemps.times[1:], strict=True):
        solver.step(before, after)
        clock(after)
        rows.append(observed(fmu, names))
    fmu.terminate()
    fmu.freeInstance()
    agrees(np.array(rows), dualemps.wanted, 1e-5)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_3rrr_runs_in_both_versions_and_kinds(tmp_path: Path, version: str) -> None:
    from fmpy.validation import validate_fmu

    parts = fmu_parts(Machine.read("3rrr").model(), passes=())
    path = write_fmu(parts, tmp_path, version=version)
    assert path.name == "robot_3rrr.fmu"
    assert validate_fmu(str(path)) == []
    watched = ["q_leg1_q1", "position_tool_x", "position_tool_y", "closure_residual", "kinetic_energy"]
    found = {}
    for kind in ("CoSimulation", "ModelExchange"):
        found[kind] = fmpy.simulate_fmu(
            str(path), stop_time=0.1, output_interval=0.002, fmi_type=kind, start_values={"tau_leg1_q1": 0.5},
            relative_tolerance=1e-7, output=watched,
        )  # fmt: skip
        assert np.max(found[kind]["closure_residual"]) < 1e-9
        assert found[kind]["kinetic_energy"][-1] > 1e-3
    for name in watched[:3]:
        one, two = (np.interp(np.linspace(0, 0.1, 11), x["time"], x[name]) for x in found.values())
        assert np.max(np.abs(one - two)) < 1e-5 * np.max(np.abs(one - one[0])), name


def test_a_robot_under_its_weight_stays_at_rest(tmp_path: Path) -> None:
    """Gravity, a quaternion among the dependent coordinates, and forces that hold the robot as start values."""
    path = write_fmu(fmu_parts(Machine.read("gough_stewart").model(), passes=()), tmp_path)
    found = fmpy.simulate_fmu(
        str(path), stop_time=0.05, output_interval=0.01, fmi_type="CoSimulation",
        output=["kinetic_energy", "elastic_energy", "closure_residual", "position_centre_z", "q_platform_quaternion_w"],
    )  # fmt: skip
    assert np.max(found["kinetic_energy"]) < 1e-20
    assert found["elastic_energy"][0] > 0.1
    assert np.ptp(found["position_centre_z"]) < 1e-12
    assert np.max(found["closure_residual"]) < 1e-9


def test_energy_is_conserved_without_friction(tmp_path: Path) -> None:
    """Constant forces and gravity from another pose: kinetic + elastic energy = work of forces and weight."""
    model = Machine.parse(locate("gough_stewart").read_text().replace("damping: {structural: 0.02}\n", "")).model()
    path = write_fmu(fmu_parts(model, passes=()), tmp_path)
    names = [c.name for c in model.mechanism.coordinates if c.kind == "active"]
    description = fmpy.read_model_description(str(path))
    held = {v.name: float(v.start) for v in description.modelVariables if v.causality == "input"}
    pushed = {name: 0.97 * force for name, force in held.items()}
    watched = ["kinetic_energy", "elastic_energy", *(f"q_{n.replace('/', '_')}" for n in names)]
    found = fmpy.simulate_fmu(
        str(path), stop_time=0.2, output_interval=0.02, fmi_type="CoSimulation", relative_tolerance=1e-8,
        start_values={**pushed, "gravity_z": 0.0, "method": 1}, output=watched,
    )  # fmt: skip
    work = sum(
        pushed[f"tau_{n.replace('/', '_')}"] * (found[x] - found[x][0]) for n, x in zip(names, watched[2:], strict=True)
    )
    stored = found["kinetic_energy"] + found["elastic_energy"]
    assert np.max(work) > 1.0
    assert np.max(np.abs(stored - stored[0] - work)) < 1e-5 * np.max(np.abs(work))


HOSTILE = """
name: close
space: planar
bodies:
  bar: {rigid: {mass: 1, centre: [0.1, 0, 0], inertia: {zz: 0.01}}}
links:
  N_Q: {parent: base, joint: revolute, q: a.b, body: bar}
  VALUES: {parent: N_Q, at: [0.2, 0, 0], joint: revolute, q: a-b, body: bar}
actuators:
  a.b: {viscous: 0.1}
  a-b: {viscous: 0.1}
points:
  MODEL_LOOPS: {link: VALUES}
"""
EVIL = """*/ system("x"); /* <&' ]]> é\\\n#define q --> {0}"""


def test_hostile_names_stay_harmless(tmp_path: Path) -> None:
    """Words of our macros in the robot file, and labels that no robot file may have."""
    from fmpy.validation import validate_fmu

    tame = fmu_parts(build(HOSTILE), passes=())
    evil = replace(
        tame,
        robot=EVIL,
        about=EVIL,
        forces=tuple(replace(x, label=EVIL) for x in tame.forces),
        free=tuple(replace(x, label=EVIL) for x in tame.free),
        point_labels=(EVIL,),
    )
    for version in ("2.0", "3.0"):
        for parts, point in ((tame, "MODEL_LOOPS"), (evil, "system_x_e_define_q_0")):
            path = write_fmu(parts, tmp_path, version=version)
            assert path.parent == tmp_path and path.stem.isidentifier() and path.stem.isascii()
            assert validate_fmu(str(path)) == []
            found = fmpy.simulate_fmu(str(path), stop_time=0.01, output=[f"position_{point}_x"])
            assert np.isclose(found[f"position_{point}_x"][0], 0.2)


@pytest.mark.parametrize("robot", ["", "con", "int", "3rrr", "supple", "fmi2GetReal", "é" * 400, "../../x", "double"])
def test_identifiers_are_safe(robot: str) -> None:
    name = identifier(robot)
    assert name.isidentifier() and name.isascii() and len(name) <= 28
    assert not name.lower().startswith(("supple", "fmi")) and name not in ("con", "int", "double")


def test_parameters_that_are_kept_can_be_set(tmp_path: Path) -> None:
    """Young's modulus set in the FMU gives what the robot of that modulus gives."""
    kept = Machine.read("dualemps").keeping(["E"]).kept()
    path = write_fmu(fmu_parts(Machine.read("dualemps").model(), passes=(), kept=kept), tmp_path / "kept")
    other = write_fmu(fmu_parts(Machine.read("dualemps", {"E": "60 GPa"}).model(), passes=()), tmp_path / "other")
    found = [
        fmpy.simulate_fmu(
            str(file),
            stop_time=0.02,
            output_interval=0.002,
            fmi_type="CoSimulation",
            start_values=values,
            relative_tolerance=1e-8,
            output=["q_13_y1", "closure_residual"],
        )
        for file, values in ((path, {"p_E": 60e9, "tau_q11": 100.0}), (other, {"tau_q11": 100.0}))
    ]
    assert np.ptp(found[0]["q_13_y1"]) > 1e-7
    assert np.allclose(found[0]["q_13_y1"], found[1]["q_13_y1"], rtol=0, atol=1e-5 * np.ptp(found[0]["q_13_y1"]))


def test_the_state_of_an_fmu_can_be_kept_and_restored(dualemps: SimpleNamespace) -> None:
    names = variables(dualemps.path)
    fmu = instance(dualemps.path, dualemps.folder, "cs")
    fmu.setReal([names["tau_q11"]], [200.0])
    fmu.doStep(0.0, 0.01)
    kept = fmu.getFMUstate()
    data = fmu.serializeFMUstate(kept)
    fmu.doStep(0.01, 0.01)
    first = observed(fmu, names)
    fmu.setFMUstate(fmu.deSerializeFMUstate(data))
    fmu.doStep(0.01, 0.01)
    assert observed(fmu, names) == first
    fmu.freeFMUstate(kept)
    fmu.freeInstance()


def test_a_pose_out_of_reach_is_refused(dualemps: SimpleNamespace) -> None:
    names = variables(dualemps.path)
    fmu = instance(dualemps.path, dualemps.folder, "me")
    far = (ctypes.c_double * 22)(5.0)
    fmu.setContinuousStates(far, 22)
    derivatives = (ctypes.c_double * 22)()
    status = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(
        ("fmi2GetDerivatives", fmu.dll)
    )(fmu.component, ctypes.addressof(derivatives), 22)
    assert status == 2, "fmi2Discard"
    fmu.setContinuousStates((ctypes.c_double * 22)(0.1, *[0.0] * 21), 22)
    assert observed(fmu, names)[-1] < 1e-9
    fmu.freeInstance()


ZIG = (sys.executable, "-m", "ziglang", "cc")


@pytest.mark.parametrize(("compiler", "standard"), [(None, "c99"), (None, "c11"), (ZIG, "c99")])
def test_the_sources_compile_without_warnings(
    dualemps: SimpleNamespace, tmp_path: Path, compiler: tuple[str, ...] | None, standard: str
) -> None:
    if compiler is ZIG:
        pytest.importorskip("ziglang")
    where = Path(fmpy.extract(str(dualemps.path), unzipdir=str(tmp_path / "x"))) / "sources"
    flags = [f"-std={standard}", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "-o", str(tmp_path / "made.o")]
    command = [*(compiler or find_compiler() or ()), *flags, str(where / "fmi2.c")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


def test_without_a_compiler_only_sources_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dualemps: SimpleNamespace
) -> None:
    monkeypatch.setattr("supple.backends.targets.fmu.find_compiler", lambda: None)
    with pytest.warns(RuntimeWarning, match="sources only"):
        path = write_fmu(fmu_parts(dualemps.model, passes=()), tmp_path)
    with zipfile.ZipFile(path) as archive:
        assert not [name for name in archive.namelist() if name.startswith("binaries/")]


def test_friction_that_jumps_is_refused() -> None:
    with pytest.raises(SuppleError, match="jumps at rest"):
        fmu_parts(build(HOSTILE.replace("viscous: 0.1}", "coulomb: 0.1, width: 0}", 1)), passes=())


def test_an_unknown_version_is_refused(tmp_path: Path, dualemps: SimpleNamespace) -> None:
    with pytest.raises(SuppleError, match=r"choose 2\.0 or 3\.0"):
        write_fmu(fmu_parts(dualemps.model, passes=()), tmp_path, version="1.0")
