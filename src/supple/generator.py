"""From a robot to generated code: a model, its operations counted after every pass, packed for export."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.backends.c_source import source
from supple.backends.compiler import find_compiler, portable_library
from supple.backends.interpreter import interpret
from supple.backends.package import NamedArray, Package
from supple.backends.targets.fmu import check_version, write_fmu
from supple.backends.targets.plant import check_target, write_plant
from supple.delivery import scratch
from supple.errors import LeftOut
from supple.expr.function import Array, Function, with_parameters
from supple.expr.passes import Optimised, Stage, optimise
from supple.expr.program import Program
from supple.expr.uncollected import uncollected
from supple.fmu_parts import fmu_parts
from supple.formulations import registry
from supple.formulations.least_constraint.leg_program import leg_program
from supple.formulations.record import Unsupported
from supple.formulations.registry import USUAL
from supple.formulations.tree.parametrised import parametrised
from supple.formulations.tree.undriven import undriven
from supple.kept_models import kept_model
from supple.machine import Machine
from supple.models import builder, derivative, with_rates_solved
from supple.robot.mechanism import Coordinate, Mechanism


@dataclass(frozen=True)
class Generated:
    """A model with the record of how it was optimised, and its package."""

    package: Package
    optimised: Optimised


def generate(
    robot: Machine,
    model: str,
    *,
    wrt: str | None = None,
    solve_rates: bool = False,
    report: Callable[[Stage], None] = lambda stage: None,
    formulation: str = USUAL,
) -> Generated:
    """The named model of a robot, optimised; parameters that the robot keeps are inputs.

    `wrt` differentiates along an input; `solve_rates` computes the rates of passive joints inside instead of taking them
    from v; `report` hears of every stage of the optimiser; `formulation` derives it."""
    build = builder(model, formulation)
    asked = (model, str(wrt), str(solve_rates), formulation)
    own = registry.formulation(formulation).derive.__module__.startswith("supple.")
    question = robot.question if own else ()

    @uncollected()
    def make() -> tuple[Optimised, Program | None]:
        mechanism = robot.mechanism()
        f = with_parameters(build(mechanism), robot.symbols)
        if solve_rates:
            f = with_rates_solved(f, mechanism)
        if wrt is not None:
            f = derivative(f, wrt)
        shared = formulation == USUAL and model in ("inverse", "forward")
        if not shared or robot.keep or wrt is not None or solve_rates:
            return optimise(f, report=report), None
        return optimise(f, report=report), shared_legs(mechanism, model == "forward")

    made, program = kept_model((*asked, *question) if question else (), make)
    package = packed(robot, model, made.function, formulation)
    return Generated(replace(package, program=program), made)


def shared_legs(mechanism: Mechanism, forward: bool) -> Program | None:
    """The model with one leg's code for all legs, each part optimised; None for robots that have no such legs."""
    try:
        program = leg_program(mechanism, forward)
    except Unsupported:
        return None
    parts = {name: optimise(getattr(program, name)).function for name in ("prepare", "gather", "meet", "spread")}
    return replace(program, **parts)  # type: ignore[arg-type]


def export_fmu(robot: Machine, folder: Path, *, version: str = "2.0", structural: str = "viscous") -> Path:
    """The path of an FMU of a robot; parameters that it keeps can be set in it; `structural` as for a simulation."""
    check_version(version)
    parts = fmu_parts(robot.model(), kept=robot.kept(), structural=structural == "viscous")
    soft = [c.name for c in robot.mechanism().coordinates if c.servo is not None]
    if soft:
        said = (
            f"the stiffness of {', '.join(soft)} is of servos, which are not in the FMU: its inputs tau_... are their forces"
        )
        warnings.warn(said, LeftOut, stacklevel=3)
    return write_fmu(parts, folder, version=version)


def export_plant(robot: Machine, target: str, folder: Path, *, structural: str = "viscous") -> tuple[list[Path], Function]:
    """The paths of a robot as a plant that goes on by steps, and the function that a step evaluates most."""
    check_target(target)
    parts = fmu_parts(robot.model(), kept=robot.kept(), structural=structural == "viscous")
    main = parts.plant.accelerations or parts.plant.tree or parts.plant.power
    return write_plant(parts, target, folder), main


def compiled_size(f: Function) -> tuple[float, int] | None:
    """Seconds to compile a model and bytes of its machine code, or None without a compiler."""
    compiler = find_compiler()
    if compiler is None:
        return None
    with scratch() as folder:
        written, made = folder / "model.c", folder / "model.so"
        written.write_text(source(f), encoding="utf-8")
        start = time.perf_counter()
        portable_library(written, made, compiler)
        return time.perf_counter() - start, made.stat().st_size


def packed(robot: Machine, model: str, f: Function, formulation: str = USUAL) -> Package:
    """A model with the names and units of its signals, and a sample to check it by."""
    mechanism, keep = robot.mechanism(), robot.keep
    independent = registry.formulation(formulation).independent(mechanism) if model == "mass" else []
    inputs = tuple(_signal(mechanism, name, array, keep) for name, array in f.inputs.items())
    outputs = tuple(_signal(mechanism, name, array, keep, independent) for name, array in f.outputs.items())
    sample = _sample(mechanism, f, robot.values)
    about = (builder(model, formulation).__doc__ or "").strip().splitlines()[0]
    return Package(mechanism.name, model, about, f, inputs, outputs, sample, interpret(f)(**sample))


def _signal(
    mechanism: Mechanism, name: str, array: Array, keep: Sequence[str], independent: Sequence[str] = ()
) -> NamedArray:  # fmt: skip
    labels, units = _mass_labels(mechanism, name, array, list(independent)) or _labels(mechanism, name, keep)
    if len(labels) != array.size:
        labels = [f"{name}{''.join(f'[{k}]' for k in index)}" for index in np.ndindex(array.shape)]
        units = [""] * array.size
    return NamedArray(name, tuple(labels), tuple(units))


def _mass_labels(
    mechanism: Mechanism, name: str, array: Array, independent: list[str]
) -> tuple[list[str], list[str]] | None:  # fmt: skip
    """Names of the elements of M and c of a mass model: its coordinates."""
    if name not in ("M", "c") or not independent:
        return None
    if array.shape != (len(independent),) * array.ndim:
        return None
    force = {c.name: {"m": "N", "rad": "N m"}[c.unit] for c in mechanism.coordinates}
    if name == "c":
        return independent, [force[n] for n in independent]
    return [f"{a} {b}" for a in independent for b in independent], [""] * array.size


def _labels(mechanism: Mechanism, name: str, keep: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names and units of the elements of a signal, as far as they are known."""
    every = mechanism.coordinates
    force = {"m": "N", "rad": "N m"}
    if name == "q":
        labels, units = [""] * mechanism.nq, [""] * mechanism.nq
        for frame in mechanism.frames:
            for k, c in zip(range(frame.e.start, frame.e.stop), every[frame.ev], strict=True):
                labels[k], units[k] = c.name, c.unit
            if frame.motion == "spherical":
                for k, part in zip(range(frame.q.start, frame.q.stop), "wxyz", strict=True):
                    labels[k] = f"{frame.name}.quaternion_{part}"
            else:
                for k, c in zip(range(frame.q.start, frame.q.stop), every[frame.v], strict=True):
                    labels[k], units[k] = c.name, c.unit
        return labels, units
    if name in ("a_active", "tau", "a_elastic", "a_passive"):
        chosen = _accelerated(mechanism, name)
        return [c.name for c in chosen], [force[c.unit] if name == "tau" else f"{c.unit}/s^2" for c in chosen]
    if name in ("v", "a", "f"):
        per = {"v": "{}/s", "a": "{}/s^2"}.get(name)
        return [c.name for c in every], [per.format(c.unit) if per else force[c.unit] for c in every]
    if name == "g":
        return ["x", "y", "z"], ["m/s^2"] * 3
    if name == "p":
        return list(keep), [""] * len(keep)
    if name == "theta":
        return parametrised(mechanism)[2], [""] * len(parametrised(mechanism)[2])
    return [], []


def _accelerated(mechanism: Mechanism, name: str) -> list[Coordinate]:
    """The coordinates that a signal of accelerations or forces is for."""
    if name == "a_passive":
        loose = undriven(mechanism)
        return [c for c in mechanism.coordinates if c.name in loose]
    return [c for c in mechanism.coordinates if c.kind == ("elastic" if name == "a_elastic" else "active")]


def _sample(mechanism: Mechanism, f: Function, values: Sequence[float]) -> dict[str, Any]:
    """A state with no special numbers in it: near the assembly guess, everything moving a little."""
    rng = np.random.default_rng(7)
    sample = {name: rng.uniform(-1, 1, array.shape) for name, array in f.inputs.items()}
    if "q" in sample:
        guess = next(iter(mechanism.start.values()))
        q = 1e-3 * sample["q"]
        for frame in mechanism.frames:
            if frame.motion == "spherical":
                q[frame.q] = np.array([1.0, 0, 0, 0]) + q[frame.q]
                q[frame.q] /= np.linalg.norm(q[frame.q])
            else:
                for k, c in zip(range(frame.q.start, frame.q.stop), mechanism.coordinates[frame.v], strict=True):
                    q[k] += float(guess.get(c.name, 0.3))
        sample["q"] = q
    if values:
        sample["p"] = np.array(values)
    return sample
