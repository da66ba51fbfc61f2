"""Robots as plants in C: truth is `supple simulate` of the same steps; strict compilers, sanitisers and the symbol table."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from pathlib import Path

import numpy as np
import pytest
from target_runners import tool

import supple
from supple.errors import LeftOut, SuppleError

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-ffp-contract=off")
MOTION = """
moves:
  - {by: {q11: 8 mm}, profile: trapezoidal, duration: 60 ms}
  - {rest: 20 ms}
controller: {pid: {kp: 2e5 N/m, kd: 3e3 N*s/m, ki: 1e3 N/(m*s), limit: 500 N, sample: 0.1 ms}}
shaper: {zv: {frequencies: [50 Hz]}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plant")
    (made / "motion.yaml").write_text(MOTION)
    robot = supple.Robot("dualemps")
    robot.generate("plant", "c", made)
    robot.generate("plant", "simulink", made)
    robot.generate("controller", "c", made, motion=str(made / "motion.yaml"))
    return made


def _built(folder: Path, *words: str) -> None:
    subprocess.run([tool("gcc"), *STRICT, *words, "-lm"], cwd=folder, check=True)


def test_plant_and_controller_go_where_the_simulation_goes(folder: Path) -> None:
    """Pid at 10 kHz along a shaped path, step by step in C, and as one simulation with fixed steps."""
    _built(folder, "-shared", "-fPIC", "dualemps_plant.c", "dualemps_controller.c", "-o", "both.so")
    library = ctypes.CDLL(str(folder / "both.so"))
    plant, law = (ctypes.c_double * 100_000)(), (ctypes.c_double * 64)()
    q, v, tau = ((ctypes.c_double * 2)() for _ in range(3))
    dt = ctypes.c_double(1e-4)
    assert library.dualemps_plant_init(plant, dt) == 0
    library.dualemps_controller_init(law)
    robot = supple.Robot("dualemps")
    run = robot.simulate(folder / "motion.yaml", method="radau", step="0.1 ms", tol=1e-9, every="0.1 ms")
    whole, rates = (ctypes.c_double * 14)(), (ctypes.c_double * 14)()
    for k in range(len(run.time)):
        library.dualemps_plant_state(plant, whole, rates)
        assert np.abs(np.array(whole) - run["position"][k]).max() < 1e-9
        library.dualemps_plant_actuators(plant, q, v)
        library.dualemps_controller_step(law, q, v, tau)
        assert library.dualemps_plant_step(plant, tau, dt) == 0
    assert np.abs(run["position"][-1] - run["position"][0]).max() > 0.005
    tau[0] = float("nan")
    assert library.dualemps_plant_step(plant, tau, dt) == 7
    assert library.dualemps_plant_step(plant, tau, ctypes.c_double(-1.0)) == 8


def test_nothing_is_allocated(folder: Path) -> None:
    _built(folder, "-c", "dualemps_plant.c")
    wanted = subprocess.run([tool("nm"), "-u", "dualemps_plant.o"], cwd=folder, capture_output=True, text=True, check=True)
    assert not [x for x in ("alloc", "free", "printf", "abort", "exit") if x in wanted.stdout]


def test_the_self_test_passes_under_sanitisers(folder: Path) -> None:
    _built(folder, "-fsanitize=address,undefined", "-fno-sanitize-recover", "main.c", "dualemps_plant.c", "-o", "check")
    made = subprocess.run([str(folder / "check"), "1000", "300"], capture_output=True, text=True, check=False)
    assert made.returncode == 0 and "PASS" in made.stdout, made.stdout + made.stderr


def test_the_s_function_has_the_plants_states(folder: Path) -> None:
    """Compiled against a stand-in of Simulink's headers: as many states as the plant has numbers, input not fed through."""
    stub = Path(__file__).parent / "data" / "simulink_stub"
    words = (
        "-DMATLAB_MEX_FILE",
        f"-I{stub}",
        "-shared",
        "-fPIC",
        "dualemps_plant_sfun.c",
        "dualemps_plant.c",
        "-o",
        "sfun.so",
    )
    _built(folder, "-DSTUB_STATES", *words)
    run = ctypes.CDLL(str(folder / "sfun.so")).stub_states
    run.restype = ctypes.c_double
    forces = (ctypes.c_double * 2)(100.0, -50.0)
    moved = run(forces, ctypes.c_double(1e-3), 50)
    assert moved == pytest.approx(0.5 * 100.0 / 97.0 * 0.05**2, rel=0.5)  # about F / m t^2 / 2, with friction and links


def test_what_is_no_plant_is_told(folder: Path) -> None:
    robot = supple.Robot("dualemps")
    with pytest.raises(SuppleError, match="a plant is written for c, simulink, rust"):
        robot.generate("plant", "matlab", folder)
    with pytest.raises(SuppleError, match="with a sample time"):
        robot.generate("controller", "c", folder, motion="square", controller="pd:kp=1e4,kd=100")
    with pytest.raises(SuppleError, match="belong to the model controller"):
        robot.generate("inverse", "c", folder, motion="square")


@pytest.mark.skipif(importlib.util.find_spec("fmpy") is None, reason="fmpy is not installed")
def test_the_controller_leads_the_fmu(folder: Path, tmp_path: Path) -> None:
    """The exported controller beside the robot's FMU in fmpy: the same motion as that of the simulation."""
    from fmpy import extract, read_model_description
    from fmpy.fmi2 import FMU2Slave

    path = supple.Robot("dualemps").export_fmu(tmp_path)
    _built(folder, "-shared", "-fPIC", "dualemps_controller.c", "-o", "law.so")
    library, law = ctypes.CDLL(str(folder / "law.so")), (ctypes.c_double * 64)()
    q, v, tau = ((ctypes.c_double * 2)() for _ in range(3))
    library.dualemps_controller_init(law)
    described = read_model_description(str(path))
    names = {x.name: x.valueReference for x in described.modelVariables}
    fmu = FMU2Slave(
        guid=described.guid, unzipDirectory=extract(str(path)), instanceName="robot",
        modelIdentifier=described.coSimulation.modelIdentifier,
    )  # fmt: skip
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    places, rates, forces = ([names[f"{x}_{n}"] for n in ("q11", "q21")] for x in ("q", "v", "tau"))
    run = supple.Robot("dualemps").simulate(folder / "motion.yaml", every="0.1 ms")
    k = list(run.axes["coordinate"]).index("q11")
    for n in range(600):
        q[:], v[:] = fmu.getReal(places), fmu.getReal(rates)
        assert abs(q[0] - run["position"][n, k]) < 1e-6
        library.dualemps_controller_step(law, q, v, tau)
        fmu.setReal(forces, list(tau))
        fmu.doStep(n * 1e-4, 1e-4)
    fmu.terminate()
    fmu.freeInstance()


ARM = """
name: arm
space: planar
bodies: {arm: {rigid: {mass: 1 kg, centre: [0.2 m, 0, 0], inertia: {zz: 0.05}}}}
links: {arm: {parent: base, joint: revolute, q: turn, body: arm}}
actuators: {turn: {inertia: 0.001, stiffness: 2 kNm}}
home: {turn: 0}
"""


def test_what_an_fmu_leaves_out_is_told(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    with pytest.warns(LeftOut, match=r"the stiffness of turn is of servos, which are not in the FMU"):
        supple.Robot(file).export_fmu(tmp_path)
