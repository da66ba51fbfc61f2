"""FMUs in motion against `supple simulate`, Euler's equations and their own twins.

An FMU and a simulation share the equations and the code that closes loops and steps in time, so agreement shows that
inputs, states, restarts and outputs are right; the physics is compared in test_fmu.py and test_integrators.py.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots import build
from scipy.spatial.transform import Rotation
from test_integrators import TOP, euler

from supple.backends.compiler import find_compiler
from supple.backends.stepping.settings import Settings
from supple.backends.targets.fmu import write_fmu
from supple.fmu_parts import fmu_parts
from supple.machine import Machine
from supple.model.equilibrium import equilibrium, linearise
from supple.model.posture import posture
from supple.results import Simulation
from supple.simulation.integrate import integrate
from supple.simulation.plants import plant
from supple.simulation.simulator import Simulator, simulator

fmpy = pytest.importorskip("fmpy")
from fmus import cvode, instance, variables  # noqa: E402

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

QUICK = ("fold", "signs")
STEP = 1e-3  # s, of communication


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fmu")


@cache
def fall() -> Simulator:
    """Pacdrive let go, with square torques on both arms: 53 free coordinates, 8 dependent."""
    return simulator(Machine.read("pacdrive"), "fall")


@pytest.fixture(scope="module")
def pacdrive(folder: Path) -> Path:
    return write_fmu(fmu_parts(fall().model, at=fall().motion.start, passes=QUICK), folder / "fall")


def driven(
    path: Path, folder: Path, values: dict[str, float], inputs: dict[str, Callable[[float], float]], outputs: Sequence[str],
    duration: float, tolerance: float | None = None,
) -> np.ndarray:  # fmt: skip
    """Outputs (times, names) of co-simulation, inputs held over each communication step."""
    names = variables(path)
    fmu = instance(path, folder, "cs", tolerance, values)
    rows = [fmu.getReal([names[x] for x in outputs])]
    for k in range(round(duration / STEP)):
        fmu.setReal([names[x] for x in inputs], [f(k * STEP) for f in inputs.values()])
        fmu.doStep(k * STEP, STEP)
        rows.append(fmu.getReal([names[x] for x in outputs]))
    fmu.terminate()
    fmu.freeInstance()
    return np.array(rows)


def torque(made: Simulator, name: str) -> Callable[[float], float]:
    table = made.motion.torques
    assert table is not None
    return lambda t: float(table(t + 1e-7)[0][table.names.index(f"tau {name}")])


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference over time, relative to the range of each signal."""
    assert found.shape == wanted.shape
    return float(np.max(np.abs(found - wanted) / np.ptp(wanted, axis=0)))


TIPS = ("position_tip_x", "position_tip_y", "q_q1", "q_q2", "q_q3")


def tips(found: Simulation) -> np.ndarray:
    position = found["point_position:tip"]
    return np.column_stack([position[:, 0], position[:, 1], *(found[f"position:{q}"] for q in ("q1", "q2", "q3"))])


@pytest.mark.parametrize(("number", "method", "tolerance"), [(0, "radau", 3e-7), (1, "gauss", 1e-8)])
def test_co_simulation_follows_supple_simulate(
    pacdrive: Path, folder: Path, number: int, method: str, tolerance: float
) -> None:  # fmt: skip
    """The same torques, method and tolerance; the FMU starts anew where a torque jumps, and at each communication
    point its steps end."""
    made = fall()
    inputs = {f"tau_{n}": torque(made, n) for n in ("q1", "q2")}
    found = driven(pacdrive, folder, {"method": number}, inputs, TIPS, made.duration, tolerance)
    assert error(found, tips(integrate(made, Settings(method, tolerance=tolerance, every=STEP)))) < 3 * tolerance


def test_generalised_alpha_is_as_near_the_truth_in_co_simulation_as_in_supple_simulate(pacdrive: Path, folder: Path) -> None:
    """Its steps end at other times there, so that its errors are others, of the same size: about a hundred tolerances of the
    range of each signal. Truth: Gauss' method."""
    made = fall()
    inputs = {f"tau_{n}": torque(made, n) for n in ("q1", "q2")}
    truth, own = tips(integrate(made, Settings("gauss", every=STEP))), []
    for tolerance in (1e-5, 1e-6):
        found = driven(pacdrive, folder, {"method": 3}, inputs, TIPS, made.duration, tolerance)
        simulated = tips(integrate(made, Settings("generalised_alpha", tolerance=tolerance, every=STEP)))
        own.append(error(found, truth))
        assert own[-1] < 1.5 * error(simulated, truth)
    assert own[1] < own[0] / 5 < 200 * 1e-5 / 5


SWAYING = """
torques: {q11: {sine: {amplitude: 150 N, frequency: 8 Hz}}, q21: {sine: {amplitude: -80 N, frequency: 5 Hz}}}
duration: 0.3 s
"""


def test_model_exchange_follows_supple_simulate(folder: Path) -> None:
    """Dualemps under forces on both sliders: CVode of FMPy, and Gauss' method."""
    (folder / "swaying.yaml").write_text(SWAYING)
    made = simulator(Machine.read("dualemps"), folder / "swaying.yaml")
    wanted = integrate(made, Settings("gauss", every=STEP))
    path = write_fmu(fmu_parts(made.model, passes=QUICK), folder)
    names = variables(path)
    watched = {"q_q11": "q11", "q_q21": "q21", "q_13_y1": "13.y1", "q_16_y1": "16.y1"}
    fmu = instance(path, folder, "me")
    fmu.enterContinuousTimeMode()

    def clock(t: float) -> None:
        fmu.setTime(t)
        fmu.setReal([names["tau_q11"], names["tau_q21"]], [torque(made, n)(t) for n in ("q11", "q21")])

    solver = cvode(fmu, clock, 22, 0.0, 1e-8)
    rows = [fmu.getReal([names[x] for x in watched])]
    for k in range(300):  # FMPy allows 500 steps in each
        solver.step(k * STEP, (k + 1) * STEP)
        rows.append(fmu.getReal([names[x] for x in watched]))
    fmu.terminate()
    fmu.freeInstance()
    assert error(np.array(rows), np.column_stack([wanted[f"position:{x}"] for x in watched.values()])) < 1e-5


LEGS = tuple(f"leg{k}/q3" for k in range(1, 7))
PUSHED = f"""
torques: {{{", ".join(f"{leg}: {500 + 20 * k} N" for k, leg in enumerate(LEGS))}}}
loads: {{centre: {{fx: 200 N, fz: {{step: {{height: -300 N, at: 20 ms}}}}, my: 40 Nm}}}}
duration: 0.05 s
"""


def test_a_wrench_moves_a_robot_with_a_flexible_platform(folder: Path) -> None:
    """gough_stewart_plate on leg forces that do not hold it, under forces and a moment at its centre; all that bends."""
    (folder / "pushed.yaml").write_text(PUSHED)
    made = simulator(Machine.read("gough_stewart_plate"), folder / "pushed.yaml")
    wanted = integrate(made, Settings("gauss", every=STEP))
    parts = fmu_parts(made.model, passes=QUICK)
    path = write_fmu(parts, folder)
    inputs: dict[str, Callable[[float], float]] = {
        f"tau_{leg.replace('/', '_')}": torque(made, leg) for leg in LEGS
    }  # fmt: skip
    inputs["force_centre_x"] = lambda t: 200.0
    inputs["force_centre_z"] = lambda t: -300.0 if t > 0.0199 else 0.0
    inputs["moment_centre_y"] = lambda t: 40.0
    bent = [i for i, kind in enumerate(wanted.kinds) if kind == "elastic"]
    names = [wanted.axes["coordinate"][i].replace("/", "_").replace(".", "_") for i in bent]
    outputs = [*(f"position_centre_{x}" for x in "xyz"), *(f"q_{n}" for n in names)]
    found = driven(path, folder, {"method": 1}, inputs, outputs, made.duration)
    truth = np.column_stack([wanted["point_position:centre"], wanted["position"][:, bent]])
    assert np.ptp(truth[:, 2]) > 1e-3
    assert error(found, truth) < 1e-6


def test_instances_do_not_disturb_each_other(pacdrive: Path, folder: Path) -> None:
    """Two instances of one library, stepped in turn with other torques, and each alone: the same bits."""
    from fmpy.fmi2 import FMU2Slave

    names = variables(pacdrive)
    description = fmpy.read_model_description(str(pacdrive))
    where = fmpy.extract(str(pacdrive), unzipdir=str(folder / "twins"))

    def made() -> Any:
        own = description.coSimulation.modelIdentifier
        fmu = FMU2Slave(guid=description.guid, unzipDirectory=where, modelIdentifier=own)
        fmu.instantiate()
        fmu.setupExperiment()
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        return fmu

    def run(pairs: list[tuple[Any, float]]) -> list[list[float]]:
        for k in range(20):
            for fmu, force in pairs:
                fmu.setReal([names["tau_q1"]], [force * (k % 5)])
                fmu.doStep(k * STEP, STEP)
        return [list(fmu.getReal([names[x] for x in TIPS])) for fmu, _ in pairs]

    forces = (3.0, -2.0)
    alone = [run([(made(), force)])[0] for force in forces]
    assert run([(made(), force) for force in forces]) == alone
    assert alone[0] != alone[1]


def test_a_free_ball_joint_follows_eulers_equations(folder: Path) -> None:
    """The heavy top: its states are the rotation vector from the orientation it starts in, and body rates."""
    path = write_fmu(fmu_parts(build(TOP), passes=()), folder)
    names = variables(path)
    quaternion = [names[f"q_top_quaternion_{k}"] for k in "wxyz"]
    fmu = instance(path, folder, "me")
    origin = Rotation.from_quat(np.roll(fmu.getReal(quaternion), -1))
    fmu.freeInstance()
    turned = (origin.inv() * Rotation.from_rotvec([0.4, 0.3, 0.2])).as_rotvec()
    begin = dict(zip((f"{s}_s_r{x}" for s in "qv" for x in "xyz"), (*turned, 2.0, -3.0, 15.0), strict=True))
    R, w = euler(0.5)
    found = driven(path, folder, {**begin, "method": 1}, {}, [f"q_top_quaternion_{k}" for k in "wxyz"], 0.5, 1e-12)
    assert np.abs(Rotation.from_quat(np.roll(found[-1], -1)).as_matrix() - R).max() < 1e-9
    fmu = instance(path, folder, "me", None, begin)
    fmu.enterContinuousTimeMode()
    solver = cvode(fmu, fmu.setTime, 6, 0.0, 1e-10)
    for k in range(50):
        solver.step(k * 0.01, (k + 1) * 0.01)
    attitude, rates = fmu.getReal(quaternion), fmu.getReal([names[f"v_s_r{x}"] for x in "xyz"])
    fmu.freeInstance()
    assert np.abs(Rotation.from_quat(np.roll(attitude, -1)).as_matrix() - R).max() < 1e-6
    assert np.abs(np.array(rates) - w).max() < 2e-5


def test_an_overconstrained_mechanism_runs(folder: Path) -> None:
    """Bricard's linkage: five closure equations for four dependent joints, of which one follows from the others."""
    path = write_fmu(fmu_parts(Machine.read("bricard").model(), passes=()), folder)
    outputs = ["closure_residual", "kinetic_energy"]
    name = next(x for x in variables(path) if x.startswith("v_"))
    found = driven(path, folder, {name: 1.0, "method": 1}, {}, outputs, 0.2)
    assert np.max(found[:, 0]) < 1e-9
    assert found[0, 1] > 0


def test_the_matrices_of_the_tree_serve_where_there_is_no_closed_form(folder: Path) -> None:
    """Dualemps by its closed form and by M and c of the tree: the same motion; the sources have no warnings."""
    model = Machine.read("dualemps").model()
    parts = fmu_parts(model, passes=QUICK)
    other = replace(parts, plant=plant(model, np.array(parts.start), loads=True, dense=True))
    inputs = {"force_P_x": lambda t: 50.0, "moment_P_y": lambda t: 5.0}
    found = []
    for k, made in enumerate((parts, other)):
        path = write_fmu(made, folder / f"form{k}")
        found.append(driven(path, folder / f"form{k}", {"method": 1}, inputs, ["q_q11", "q_13_y1", "q_16_y1"], 0.02, 1e-10))
    assert error(found[1], found[0]) < 1e-8
    sources = Path(fmpy.extract(str(path), unzipdir=str(folder / "sources"))) / "sources"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "-o", str(folder / "made.o")]
    done = subprocess.run([*(find_compiler() or ()), *flags, str(sources / "fmi2.c")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


def test_rest_under_constant_forces_stays_rest(folder: Path) -> None:
    """Held by constant leg forces, without friction, a Stewart platform stands like a stick on a finger: small motions
    grow with up to 7.6 1/s, by the exact linear model as by the FMU's derivatives. From rest, rounding is all that may
    move it, also under CVode, whose differences over 1e-23 m/s at rest see any trace of what was asked before."""
    model = Machine.read("gough_stewart").model()
    at = equilibrium(model, posture(model))
    linear = linearise(model, at, free=True)
    slowest = float(np.linalg.eigvals(np.linalg.solve(linear.M, linear.K)).real.min())
    path = write_fmu(fmu_parts(model, passes=()), folder)
    n = 2 * (linear.Z.shape[1])
    fmu = instance(path, folder, "me")
    fmu.enterContinuousTimeMode()
    x = (ctypes.c_double * n)()
    fmu.getContinuousStates(x, n)

    def rate(state: np.ndarray) -> np.ndarray:
        dx = (ctypes.c_double * n)()
        fmu.setContinuousStates((ctypes.c_double * n)(*state), n)
        fmu.getDerivatives(dx, n)
        return np.array(dx)

    rest = np.array(x)
    J = np.column_stack([(rate(rest + d) - rate(rest - d)) / 2e-6 for d in 1e-6 * np.eye(n)])
    assert np.abs(rate(rest)).max() < 1e-11
    assert np.linalg.eigvals(J).real.max() == pytest.approx(np.sqrt(-slowest), rel=1e-5)
    before = rate(rest)
    rate(rest + 1e-3)
    assert np.array_equal(rate(rest), before), "derivatives depend on what was asked before"
    fmu.freeInstance()
    for kind, interval in (("CoSimulation", 0.01), ("ModelExchange", 0.01), ("ModelExchange", 0.05)):
        found = fmpy.simulate_fmu(
            str(path), stop_time=0.5, output_interval=interval, fmi_type=kind, output=["position_centre_z"]
        )
        assert np.ptp(found["position_centre_z"]) < 1e-13, kind
