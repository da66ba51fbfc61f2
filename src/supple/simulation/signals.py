"""Named signals over time, from what the integrators recorded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from supple.errors import SuppleError
from supple.model import inner_forces as inner
from supple.model import observe
from supple.model.algebra import Array
from supple.model.attachments import attachments
from supple.model.seen import seen
from supple.results import Signal
from supple.simulation.groups import Group
from supple.simulation.simulator import Simulator
from supple.simulation.tracking import tool_errors

_WRENCH_UNITS = "N or N m"
ALSO: dict[str, tuple[tuple[str, ...], str, str]] = {  # signals on demand: axes, unit, what they are
    "loop_force": (("loop", "wrench"), _WRENCH_UNITS, "what closing joints put on their second body, in axes of the first"),
    "joint_force": (("joint", "wrench"), _WRENCH_UNITS, "what links take from the link before, at their origins, own axes"),
    "beam_stress": (("beam",), "Pa", "von Mises stress of the worst section of a beam; shear forces left out"),
}
_INNER = {"loop_force": inner.loop_forces, "joint_force": inner.joint_forces}
_FORCE = {"m": "N", "rad": "N m"}


def observed(simulator: Simulator, groups: list[Group]) -> tuple[Array, dict[str, Array]]:
    """Time, and q, v, a and the forces of driven actuators (time, run, ...) of all runs."""
    every = [b.rows for b in groups]
    time = max(every, key=len)[:, 0, 0].copy()  # which does not hold on to the rows
    parts: dict[str, list[Array]] = {"q": [], "v": [], "a": [], "effort": []}
    for b, rows in zip(groups, every, strict=True):
        found = (*b.observe(simulator.drive, rows), rows[..., b.stepper.sample["effort"]])
        for k in range(len(dict.fromkeys(b.runs))):
            for key, x in zip(parts, found, strict=True):
                parts[key].append(_padded(x[:, k], len(time)))
    return time, {k: x[0][:, None] if len(x) == 1 else np.stack(x, axis=1) for k, x in parts.items()}


def _padded(x: Array, rows: int) -> Array:
    """x with rows behind it that are not numbers: what a run that stopped early did not reach."""
    return x if len(x) == rows else np.pad(x, ((0, rows - len(x)), (0, 0)), constant_values=np.nan)


SIGNALS = (
    "position", "velocity", "acceleration", "tau", "desired", "spring_force", "point_position", "point_velocity",
    "point_acceleration", "point_acceleration_own", "point_orientation", "point_spin", "point_deformation",
    "attachment_position", "attachment_deformation", "energy_kinetic", "energy_elastic", "energy_gravity", "power_lost",
    "closure", "tool_error",
)  # fmt: skip


def checked_keep(keep: str | Collection[str] | None) -> tuple[str, ...] | None:
    """Names of signals to keep, if there are such; None: all."""
    if keep is None:
        return None
    names = tuple(x.strip() for x in (keep.split(",") if isinstance(keep, str) else keep) if x.strip())
    for name in names:
        if name not in SIGNALS and name not in ALSO:
            raise SuppleError(f"keep: there is no signal {name!r}; choose of {', '.join([*SIGNALS, *ALSO])}")
    if not names:
        raise SuppleError(f"keep: name some signals, of {', '.join(SIGNALS)}")
    return names


def only(
    keep: tuple[str, ...] | None, signals: dict[str, Signal], axes: dict[str, tuple[str, ...]]
) -> tuple[dict[str, Signal], dict[str, tuple[str, ...]]]:
    """The signals that are kept, and their axes."""
    if keep is None:
        return signals, axes
    absent = [name for name in keep if name not in signals]
    if absent:
        raise SuppleError(f"keep: this motion has no signal {absent[0]!r}; it has: {', '.join(signals)}")
    kept = {name: replace(x, values=x.values.copy()) for name, x in signals.items() if name in keep}  # of their own
    used = {dim for signal in kept.values() for dim in signal.dims}
    return kept, {name: entries for name, entries in axes.items() if name in used or name == "coordinate"}


def _desired(simulator: Simulator, time: Array, active: tuple[str, ...]) -> Array:
    """Places of actuators that a controller leads along the path (time x actuators); not a number for the others. Empty
    where there is no controller or no path."""
    if simulator.path is None or simulator.motion.controller is None:
        return np.zeros((len(time), 0))
    places, names = simulator.path(time)[0], list(simulator.path.names)
    led = set(simulator.motion.driven("controlled"))
    made = np.full((len(time), len(active)), np.nan)
    for k, name in enumerate(active):
        if name in led and name in names:
            made[:, k] = places[:, names.index(name)]
    return made


def _found(
    simulator: Simulator, time: Array, parts: dict[str, Array], wanted: Collection[str] | None, active: tuple[str, ...]
) -> tuple[dict[str, list[Array]], tuple[int, ...]]:  # fmt: skip
    """Values of signals, run by run, and the coordinates of springs."""
    found: dict[str, list[Array]] = {}
    w, prescribed = simulator.loads_at(time), set(simulator.prescribed)
    others = [k for k, name in enumerate(active) if name not in prescribed]
    given = [int(i) for i, name in zip(simulator.model.active, active, strict=True) if name in prescribed]
    for k, run in enumerate(simulator.runs):
        q, v, a = (parts[p][:, k] for p in ("q", "v", "a"))
        for key, x in seen(run.model, q, v, a, w=w, given=given, wanted=wanted).items():
            found.setdefault(key, []).append(x)
        found["tau"][-1][:, others] = parts["effort"][:, k]
    places = _springs(simulator, parts, found)
    found |= tool_errors(simulator, time, parts)
    found["desired"] = [_desired(simulator, time, active)] * len(simulator.runs)
    return found, places


def signals_of(
    simulator: Simulator, time: Array, parts: dict[str, Array], wanted: Collection[str] | None = None
) -> tuple[dict[str, Signal], dict[str, tuple[str, ...]]]:
    """Named signals of all runs, the axis `run` left out where there is only one."""
    model, many = simulator.model, simulator.many > 1
    mechanism = model.mechanism
    names, units = tuple(model.names), tuple(c.unit for c in mechanism.coordinates)
    active = tuple(names[i] for i in model.active)
    axes: dict[str, tuple[str, ...]] = {"coordinate": names, "actuator": active, "axis": ("x", "y", "z")}
    if many:
        axes["run"] = tuple(str(k + 1) for k in range(len(simulator.runs)))
    found, places = _found(simulator, time, parts, wanted, active)
    whole = {k: np.stack(x, axis=1) if many else x[0] for k, x in found.items()}
    signals: dict[str, Signal] = {}

    def add(key: str, dims: tuple[str, ...], unit: str | tuple[str, ...], about: str) -> None:
        if key in whole and whole[key].size:
            signals[key] = Signal(whole[key], (("run", *dims) if many else dims), unit, about)

    add("position", ("coordinate",), units, "joint, platform and elastic coordinates; rotation vectors for ball joints")
    add("velocity", ("coordinate",), tuple(f"{u}/s" for u in units), "their rates")
    add("acceleration", ("coordinate",), tuple(f"{u}/s^2" for u in units), "their accelerations")
    own = tuple(units[i] for i in model.active)
    add("tau", ("actuator",), tuple(map(_FORCE.__getitem__, own)), "forces and torques of the actuators")
    add("desired", ("actuator",), own, "where the path wants actuators under control")
    if places:
        axes["spring"] = tuple(names[i] for i in places)
        add(
            "spring_force",
            ("spring",),
            tuple(_FORCE[units[i]] for i in places),
            "what loads the springs of joints, along their coordinates",
        )
    if mechanism.points:
        axes["point"] = tuple(mechanism.points)
        add("point_position", ("point", "axis"), "m", "positions of the named points in the base")
        add("point_velocity", ("point", "axis"), "m/s", "their velocities")
        add("point_acceleration", ("point", "axis"), "m/s^2", "their accelerations")
        add("point_acceleration_own", ("point", "axis"), "m/s^2", "their accelerations in their own axes, without weight")
        add("point_orientation", ("point", "axis"), "rad", "rotation vectors of their axes")
        add("point_spin", ("point", "axis"), "rad/s", "their angular velocities in the base")
        add("point_deformation", ("point", "axis"), "m", "their distance from the robot that does not bend, actuators alike")
    if "attachment_position" in whole:
        axes["attachment"] = tuple(attachments(model))
        add("attachment_position", ("attachment", "axis"), "m", "positions of the places where loops close")
        add("attachment_deformation", ("attachment", "axis"), "m", "their distance from the robot that does not bend")
    add("tool_error", ("point", "axis"), "m", "how far points are from where the rigid robot would have them on the path")
    add("energy_kinetic", (), "J", "kinetic energy, motors included")
    add("energy_elastic", (), "J", "elastic energy")
    add("energy_gravity", (), "J", "energy of weight")
    add("power_lost", (), "W", "power lost by friction and damping")
    add("closure", (), "m or rad", "largest opening of any loop")
    axes |= _inner(simulator, time, parts, found["tau"], whole)
    for key in simulator.also:
        add(key, *ALSO[key])
    return signals, axes


def check_also(given: str | Sequence[str]) -> tuple[str, ...]:
    """The names of signals that are told on demand, once each."""
    names = [x.strip() for x in given.split(",") if x.strip()] if isinstance(given, str) else given
    for name in names:
        if name not in ALSO:
            raise SuppleError(f"also {name!r}: must be among {', '.join(ALSO)}")
    return tuple(dict.fromkeys(names))


def demanded(also: str | Sequence[str], keep: Sequence[str] | None) -> tuple[str, ...]:
    """Signals on demand: those that are asked for beside all others, or among those that are kept."""
    return tuple(dict.fromkeys([*check_also(also), *(name for name in keep or () if name in ALSO)]))


def _inner(
    simulator: Simulator, time: Array, parts: dict[str, Array], tau: list[Array], whole: dict[str, Array]
) -> dict[str, tuple[str, ...]]:  # fmt: skip
    """Adds the forces inside the robot that are asked for to what is known; the axes that they need."""
    if not simulator.also:
        return {}
    model, w = simulator.model, simulator.loads_at(time)
    axes = {
        "wrench": ("fx", "fy", "fz", "mx", "my", "mz"), "loop": tuple(c.name for c in model.mechanism.closures),
        "joint": tuple(f.name for _, f in inner.jointed(model)), "beam": tuple(f.link for f in inner.stressed(model)),
    }  # fmt: skip
    for key in simulator.also:
        found = []
        for k, run in enumerate(simulator.runs):
            q, v, a = (parts[p][:, k] for p in ("q", "v", "a"))
            found.append(
                inner.beam_stresses(run.model, q) if key == "beam_stress" else _INNER[key](run.model, q, v, a, tau[k], w)
            )
        whole[key] = np.stack(found, axis=1) if simulator.many > 1 else found[0]
    needed = {d for key in simulator.also for d in ALSO[key][0]}
    return {k: x for k, x in axes.items() if k in needed and x}


def _springs(simulator: Simulator, parts: dict[str, Array], found: dict[str, list[Array]]) -> tuple[int, ...]:
    """Coordinates of springs; their forces are added to what was found."""
    places: tuple[int, ...] = ()
    for k, run in enumerate(simulator.runs):
        places, forces = observe.spring_forces(run.model, parts["q"][:, k], parts["v"][:, k])
        found.setdefault("spring_force", []).append(forces)
    return places
