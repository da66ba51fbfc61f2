"""Motions of a Scene: samples of a simulation, thinned out to what a page can carry."""

from __future__ import annotations

import numpy as np

from supple.errors import SuppleError
from supple.model.followers import undeformed
from supple.model.model import Model
from supple.model.observe import in_blocks, postures_of
from supple.results import Simulation
from supple.results.scene import Array, Force, SceneMotion, Series
from supple.scene.scene import placed_at

_SAMPLES = 401  # at most
_NUMBERS = 140_000  # at most, of all samples: 0.75 MB of a page


def motion_postures(model: Model, run: Simulation) -> tuple[Array, Array]:
    """Which samples of a simulation are shown, and the postures of the robot there."""
    if tuple(model.names) != run.axes["coordinate"]:
        raise SuppleError(
            f"{run.robot} {run.motion}: is not a motion of {model.mechanism.name} as it is; show the robot it is of"
        )
    x = run["position"]
    if x.ndim > 2:
        raise SuppleError(f"{run.motion} holds {x.shape[1]} runs; show one of them")
    known = np.flatnonzero(np.isfinite(x).all(axis=1))
    if len(known) < 2:
        raise SuppleError(f"{run.robot} {run.motion}: fewer than two samples were computed")
    numbers = 14 * len(model.mechanism.frames) + 2 * len(model.mechanism.indices("elastic"))
    most = min(len(known), _SAMPLES, max(2, _NUMBERS // numbers))
    rows = known[np.unique(np.linspace(0, len(known) - 1, most).round().astype(int))]
    return rows, postures_of(model, x[rows])


def scene_motion(model: Model, run: Simulation, rows: Array, q: Array) -> SceneMotion:
    """The SceneMotion of samples of a simulation."""
    bent = placed_at(model, q)
    with np.errstate(invalid="ignore"):
        straight = placed_at(model, undeformed(model, q))
    energy = in_blocks(lambda **x: model.call("energy", **x), q=q, v=np.zeros((len(q), model.nv)))["elastic"]
    return SceneMotion(
        run.motion, run.time[rows], bent, straight, energy, _series(run, rows), _forces(model, run, rows),
        run.outcome,
    )  # fmt: skip


def _series(run: Simulation, rows: Array) -> tuple[Series, ...]:
    """What can be plotted: points, actuator forces, driven joints, energies."""
    made = []
    for key, title in (
        ("point_deformation", "deformation"),
        ("point_position", "position"),
        ("point_acceleration", "acceleration"),
    ):
        if key in run.signals:
            signal = run.signals[key]
            for k, point in enumerate(run.axes["point"]):
                lines = dict(zip("xyz", signal.values[rows, k].T, strict=True))
                made.append(_readable(Series(f"{point}: {title}", str(signal.unit), lines)))
    made += _by_unit(run, "tau", "actuator", "actuator forces", rows)
    made += _by_unit(run, "position", "coordinate", "joints", rows, ("active",))
    energies = {k.removeprefix("energy_"): run.signals[k].values[rows] for k in run.signals if k.startswith("energy_")}
    if energies:
        made.append(Series("energies", "J", energies))
    return tuple(made)


def _readable(series: Series) -> Series:
    """A length in metres as mm or µm where it is small."""
    largest = max((float(np.nanmax(np.abs(x), initial=0.0)) for x in series.lines.values()), default=0.0)
    if series.unit != "m" or largest >= 0.02:
        return series
    factor, unit = (1e3, "mm") if largest >= 2e-4 else (1e6, "µm")
    return Series(series.name, unit, {k: factor * x for k, x in series.lines.items()})


def _by_unit(
    run: Simulation, key: str, axis: str, title: str, rows: Array, kinds: tuple[str, ...] | None = None
) -> list[Series]:  # fmt: skip
    if key not in run.signals:
        return []
    signal, names = run.signals[key], run.axes[axis]
    units = signal.unit if isinstance(signal.unit, tuple) else (signal.unit,) * len(names)
    chosen = [k for k in range(len(names)) if kinds is None or run.kinds[k] in kinds]
    return [
        Series(title, unit, {names[k]: signal.values[rows, k] for k in chosen if units[k] == unit})
        for unit in dict.fromkeys(units[k] for k in chosen)
    ]


def _forces(model: Model, run: Simulation, rows: Array) -> tuple[Force, ...]:
    if "tau" not in run.signals:
        return ()
    made, coordinates = [], {c.name: c for c in model.mechanism.coordinates}
    for k, name in enumerate(run.axes["actuator"]):
        frame = coordinates[name].frame
        own = model.mechanism.frames[frame]
        made.append(Force(name, frame, own.axis.astype(float), own.motion == "revolute", run["tau"][rows, k]))
    return tuple(made)
