"""FMUs of the tests: their variables by name, instances ready to run, and CVode around one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fmpy


def variables(path: Path) -> dict[str, int]:
    description = fmpy.read_model_description(str(path))
    return {v.name: v.valueReference for v in description.modelVariables}


def instance(
    path: Path, folder: Path, kind: str, tolerance: float | None = None, values: Mapping[str, float] | None = None
) -> Any:
    """An FMI 2.0 instance after initialisation."""
    from fmpy.fmi2 import FMU2Model, FMU2Slave

    description = fmpy.read_model_description(str(path))
    where = fmpy.extract(str(path), unzipdir=str(folder / f"{path.stem}_{kind}"))
    make = FMU2Slave if kind == "cs" else FMU2Model
    own = description.coSimulation if kind == "cs" else description.modelExchange
    fmu = make(guid=description.guid, unzipDirectory=where, modelIdentifier=own.modelIdentifier)
    fmu.instantiate()
    fmu.setupExperiment(tolerance=tolerance)
    names = variables(path)
    for name, value in (values or {}).items():
        fmu.setReal([names[name]], [value])
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return fmu


def cvode(fmu: Any, clock: Callable[[float], None], states: int, start: float, tolerance: float) -> Any:
    """FMPy's CVode; `clock` sets time and inputs (FMPy's own driver holds them over an interval)."""
    from fmpy.sundials import CVodeSolver

    later = {"input": SimpleNamespace(apply=clock)} if "input" in inspect.signature(CVodeSolver).parameters else {}
    return CVodeSolver(
        nx=states, nz=0, get_x=fmu.getContinuousStates, set_x=fmu.setContinuousStates, get_dx=fmu.getDerivatives,
        get_z=fmu.getEventIndicators, get_nominals=fmu.getNominalsOfContinuousStates, set_time=clock, startTime=start,
        maxStep=0.01, relativeTolerance=tolerance, **later,
    )  # fmt: skip
