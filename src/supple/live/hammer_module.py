"""A robot that is hit, for a page: its plant and integrators as `supple simulate` has them, in C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.backends.c_source import literal
from supple.backends.stepping.layout import SETTINGS, initialiser
from supple.backends.stepping.plant import Plant
from supple.backends.stepping.plant_text import chosen_text, plant_equations, stepping_source
from supple.backends.stepping.settings import Settings
from supple.errors import SuppleError
from supple.expr.function import Function, symbols
from supple.expr.passes import optimise
from supple.machine import Kept, Machine
from supple.model.model import Model
from supple.motion.description import Motion
from supple.motion.signals import impulse
from supple.motion.trajectory import Trajectory
from supple.simulation.simulator import Simulator, simulator

EXPORTS = (
    "hammer_start", "hammer_run", "hammer_rows", "hammer_row", "hammer_rows_ahead", "hammer_observe", "hammer_load",
    "hammer_damping", "observed_points",
)  # fmt: skip
BLOWS = {"hard": 0.5e-3, "medium": 1e-3, "soft": 3e-3}  # s: how long tips touch
AT = 1e-3  # s, when it is hit
DURATION = 1.0  # s
# steps of one length: what rounding leaves then decides nothing; twice as long ones PacDrive's Newton iterations refuse
HOW = Settings(every=2.5e-4, step=6.25e-5, tolerance=1e-7)
_LIGHT = ("fold", "signs")
_LONGEST = 60_000  # operations of the equations that a page carries: about 1 MB


@dataclass(frozen=True)
class Hammer:
    """The C text, what of it is called, and what the page has to know besides: sizes, unit blows (1 N s) as signals over
    time."""

    source: str
    exports: Sequence[str]
    about: Mapping[str, Any]


def hammer(robot: Machine, pose: Mapping[str, float], assembly: str | None, kept: Kept | None) -> Hammer:
    """The Hammer of a robot whose actuators hold it in a pose."""
    made = simulator(robot, blow_motion(robot.model(), pose, assembly, "medium"))
    made = replace(made, kept=kept, loads=True)
    plant = made.plant()
    _check(plant)
    settings = made.scaled(HOW)
    damped = made.model.viscous is not None  # stands first among the damping of the plant
    seen = (_points(robot, made.model, kept), *((_stiffness(made.model, kept),) if damped else ()))
    lines = [
        "#define DAMPING_TABLE static double",  # a page fills it for the pose it is in
        plant_equations(plant, seen),
        f"#define DAMPING_OF_POSE {'DAMPING' if damped else 'NULL'}",
        f"#define MODEL_SETTINGS {initialiser(SETTINGS, {k: float(x) for k, x in settings.numbers().items()})}",
        chosen_text(plant), f"#define LEAST_SCALE {literal(settings.scale)}", stepping_source(plant.stages),
        (Path(__file__).parent / "hammer.h").read_text(encoding="ascii"),
    ]  # fmt: skip
    exports = (*EXPORTS, *(("elastic_stiffness",) if damped else ()))
    return Hammer("\n".join(lines), exports, {**_about(plant, made.model), "blows": _blows(made)})


def blow_motion(model: Model, pose: Mapping[str, float], assembly: str | None, tip: str, point: str = "", axis: str = "z",
                area: float = 1.0) -> Motion:  # fmt: skip
    """The Motion of a robot that holds still and is hit at a point, as the page does it."""
    mechanism = model.mechanism
    active = [mechanism.coordinates[i].name for i in mechanism.indices("active")]
    load = impulse(area, BLOWS[tip], AT, DURATION)
    load = replace(load, names=(f"{point or next(iter(mechanism.points))}.f{axis}",))
    return Motion(
        "hammer", "", "joints", None, assembly, dict(pose), {}, None, None, load, None,
        dict.fromkeys(active, "prescribed"), DURATION,
    )  # fmt: skip


def _check(plant: Plant) -> None:
    """A page has no hammer for a robot in which nothing rings, or whose equations are too long for it."""
    if not plant.free:
        raise SuppleError(f"nothing of {plant.name} moves while its actuators are held")
    models = (plant.accelerations, plant.tree, *(plant.program.functions() if plant.program is not None else ()))
    if sum(f.operations for f in models if f is not None) > _LONGEST:
        raise SuppleError(f"the equations of motion of {plant.name} are too long for a page; use fewer elements")


def _points(robot: Machine, model: Model, kept: Kept | None) -> Function:
    """q, v, a, p -> position and acceleration of the named points."""
    equations = model.equations if kept is None else kept.equations
    f = equations.points
    light = optimise(Function(f.name, f.inputs, {k: f.outputs[k] for k in ("position", "acceleration")}), _LIGHT).function
    sizes = {"q": equations.mechanism.nq, "v": equations.mechanism.nv, "a": equations.mechanism.nv, "g": 3}
    inputs = {k: light.inputs[k] if k in light.inputs else symbols(k, n) for k, n in sizes.items()}
    p = symbols("p", 0) if kept is None else kept.symbols
    return Function("observed_points", {**inputs, "p": p}, light.outputs)


def _stiffness(model: Model, kept: Kept | None) -> Function:
    """p -> K_ee of the bodies, one after another."""
    mechanism = model.mechanism if kept is None else kept.equations.mechanism
    K = np.concatenate([f.body.K_ee.ravel() for f in mechanism.frames])
    return Function("elastic_stiffness", {"p": symbols("p", 0) if kept is None else kept.symbols}, {"K": K})


def _about(plant: Plant, model: Model) -> dict[str, Any]:
    bodies = [f.ev.stop - f.ev.start for f in model.mechanism.frames]
    return {
        "nq": plant.nq, "nv": plant.nv, "loads": plant.loads, "at": AT, "duration": DURATION, "every": HOW.every,
        "damped": {"elastic": plant.elastic, "bodies": [n for n in bodies if n]} if model.viscous is not None else None,
    }  # fmt: skip


def _blows(made: Simulator) -> dict[str, dict[str, Any]]:
    """Unit blows by the tip of the hammer: knots, coefficients (pieces x 6) and times at which steps end."""
    found = {}
    for tip, width in BLOWS.items():
        load = impulse(1.0, width, AT, DURATION)
        breaks = replace(made, motion=replace(made.motion, loads=_named(load, made.motion.loads))).drive.breaks
        found[tip] = {
            "width": width, "knots": load.knots.tolist(), "coefficients": load.coefficients[:, 0].tolist(),
            "breaks": np.asarray(breaks).tolist(),
        }  # fmt: skip
    return found


def _named(load: Trajectory, like: Trajectory | None) -> Trajectory:
    assert like is not None
    return replace(load, names=like.names)
