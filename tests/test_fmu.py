"""FMUs: valid, loaded and run by FMPy, and in agreement with an independent integration of the tree's equations.

The reference solves M a + c = tau + J^T lam, J a + b = 0 of the recursive Newton-Euler equations in all coordinates
(Radau, tight tolerances); the FMU closes the loops by itself and uses the articulated forward model.
"""

from __future__ import annotations

import ctypes
import inspect
import shutil
import subprocess
import zipfile
from collections.abc import Callable
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
from supple.backends.targets.fmu import Quantity, identifier, write_fmu
from supple.errors import SuppleError
from supple.expr.function import symbols
from supple.fmu_parts import Kept, fmu_parts
from supple.model.model import Model
from supple.pipeline import describe, load
from supple.robot.assemble import assemble

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

QUICK = ("fold", "signs")  # of the optimiser: the others take long and change no value
END, STEP = 0.5, 1e-4  # s
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
    found = solve_ivp(rate, (0, times[-1]), start, "Radau", times, rtol=1e-9, atol=1e-11, max_step=0.01)
    assert found.success
    return found.y[:n].T


@pytest.fixture(scope="module")
def dualemps(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    model = load("dualemps")
    folder = tmp_path_factory.mktemp("fmu")
    path = write_fmu(fmu_parts(model, passes=QUICK), folder)
    times = np.linspace(0, END, 101)
    watched = [model.index(name) for name in WATCHED]
    wanted = reference(model, times)[:, watched]
    return SimpleNamespace(path=path, model=model, times=times, wanted=wanted, folder=folder)


def variables(path: Path) -> dict[str, int]:
    description = fmpy.read_model_description(str(path))
    return {v.name: v.valueReference for v in description.modelVariables}


def instance(path: Path, folder: Path, kind: str, tolerance: float | None = None) -> Any:
    """An FMI 2.0 instance after initialisation."""
    from fmpy.fmi2 import FMU2Model, FMU2Slave

    description = fmpy.read_model_description(str(path))
    where = fmpy.extract(str(path), unzipdir=str(folder / f"{path.stem}_{kind}"))
    make = FMU2Slave if kind == "cs" else FMU2Model
    own = description.coSimulation if kind == "cs" else description.modelExchange
    fmu = make(guid=description.guid, unzipDirectory=where, modelIdentifier=own.modelIdentifier)
    fmu.instantiate()
    fmu.setupExperiment(tolerance=tolerance)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return fmu


def observed(fmu: Any, names: dict[str, int]) -> list[float]:
    wanted = [f"q_{name.replace('.', '_')}" for name in WATCHED]
    return list(fmu.getReal([names[x] for x in (*wanted, "closure_residual")]))


def agrees(found: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    assert np.max(found[:, -1]) < 1e-9, "loops are open"
    error = np.max(np.abs(found[:, :-1] - wanted), axis=0) / np.max(np.abs(wanted - wanted[0]), axis=0)
    print("\nrelative errors", dict(zip(WATCHED, error.tolist(), strict=True)), "open", np.max(found[:, -1]))
    assert np.all(error < tolerance), dict(zip(WATCHED, error.tolist(), strict=True))


def test_the_description_is_valid_and_the_file_complete(dualemps: SimpleNamespace) -> None:
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(dualemps.path)) == []
    with zipfile.ZipFile(dualemps.path) as archive:
        names = archive.namelist()
    assert {"sources/fmi2.c", "sources/model.h", "sources/robot.h", "modelDescription.xml"} <= set(names)
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
    assert not hasattr(library, "dualemps_forward"), "equations are not exported"


def test_co_simulation_agrees_with_the_tree(dualemps: SimpleNamespace) -> None:
    names = variables(dualemps.path)
    fmu = instance(dualemps.path, dualemps.folder, "cs", 1e-7)
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
    """CVode of FMPy, with forces given at every time it asks for (FMPy's own driver holds them over an interval)."""
    from fmpy.sundials import CVodeSolver

    names = variables(dualemps.path)
    fmu = instance(dualemps.path, dualemps.folder, "me")
    taus = [names["tau_q11"], names["tau_q21"]]
    fmu.enterContinuousTimeMode()

    def clock(t: float) -> None:
        fmu.setTime(t)
        fmu.setReal(taus, pulse(t).tolist())

    later = {"input": SimpleNamespace(apply=clock)} if "input" in inspect.signature(CVodeSolver).parameters else {}
    solver = CVodeSolver(
        nx=22, nz=0, get_x=fmu.getContinuousStates, set_x=fmu.setContinuousStates, get_dx=fmu.getDerivatives,
        get_z=fmu.getEventIndicators, get_nominals=fmu.getNominalsOfContinuousStates, set_time=clock, startTime=0.0,
        maxStep=0.01, relativeTolerance=1e-8, **later,
    )  # fmt: skip
    rows = [observed(fmu, names)]
    for before, after in zip(dualemps.times[:-1], dualemps.times[1:], strict=True):
        solver.step(before, after)
        clock(after)
        rows.append(observed(fmu, names))
    fmu.terminate()
    fmu.freeInstance()
    agrees(np.array(rows), dualemps.wanted, 1e-5)
