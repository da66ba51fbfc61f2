"""A control law designed on a robot's linear model, or read from a file, and judged on the whole robot in many poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from supple.control.designs import Wishes, designed, wishes_of
from supple.control.judged import growth, judged, locus_of, nyquist_of
from supple.control.plants import Ask, PosedPlant, cut_off, plant_at
from supple.control.written import sensor_of
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import one_thread
from supple.model.model import Model
from supple.motion.laws import SampledLaw, checked, law_text, read_law
from supple.results.control import Control
from supple.robot.written import Written
from supple.studies.places import Range, places

_MOST_POSES = 2000


@one_thread
def control(
    robot: Machine,
    law: str | SampledLaw,
    sensors: Sequence[str] = ("q",),
    at: Mapping[str, Written] | None = None,
    *,
    pushes: Sequence[str] = (),
    watch: Sequence[str] = (),
    filters: Sequence[str] = (),
    over: Mapping[str, Range] | None = None,
    poses: str | Path | None = None,
    along: str | None = None,
    samples: int = 21,
    scheduled: bool = False,
    cutoff: float = 1000.0,
    seed: int = 1,
    assembly: str | None = None,
) -> Control:
    """A sampled law and its closed loops; options as of `api.Robot.control`."""
    known: SampledLaw | None = None
    wishes: Wishes | None = None
    if isinstance(law, SampledLaw) or law.endswith(".json"):
        known = law if isinstance(law, SampledLaw) else read_law(Path(law))
    else:
        wishes = wishes_of(law, filters)
    model = robot.model()
    where = places(robot, over, poses, along, samples, at)
    table = [dict(zip(where.names, row.tolist(), strict=True)) for row in where.table]
    if len(table) > _MOST_POSES:
        raise SuppleError(f"{len(table)} poses are more than the {_MOST_POSES} of one judgement; look at fewer")
    if known is not None:
        ask = Ask(known.sensors, known.actuators, known.pushes, tuple(watch) or _watched(model))
        found = [plant_at(model, pose, ask, assembly) for pose in table]
    else:
        assert wishes is not None
        ask = Ask(
            tuple(sensor_of(x) for x in sensors), tuple(model.names[i] for i in model.active), tuple(pushes),
            tuple(watch) or _watched(model),
        )  # fmt: skip
        found = [plant_at(model, pose, ask, assembly) for pose in table]
        first = found[0] if not at and where.chosen == {} else plant_at(model, dict(where.fixed), ask, assembly)
        known = _law(robot, wishes, [cut_off(x, cutoff) for x in (found if scheduled else [first])], seed)
    return _judged(robot, known, found, cutoff)


def _watched(model: Model) -> tuple[str, ...]:
    """Actuated joints, and where the named points are."""
    planar = model.mechanism.planar
    across = int(np.argmax(np.abs(model.mechanism.normal.astype(float)))) if planar else -1
    return ("q", *(f"{p}.{axis}" for p in model.mechanism.points for k, axis in enumerate("xyz") if k != across))


def _law(robot: Machine, wishes: Wishes, found: Sequence[PosedPlant], seed: int) -> SampledLaw:
    """The law with a part for every pose."""
    one = found[0]
    r = len(one.ask.actuators) + len(one.ask.pushes)
    parts = tuple(designed(plant, wishes) for plant in found)
    return checked(
        SampledLaw(
            robot.name, wishes.text, one.ask.sensors, one.ask.actuators, one.ask.pushes, wishes.sample, wishes.delay, parts,
            (wishes.limit,) * r, (0.0,) * r, seed=seed,
        )
    )  # fmt: skip


def _judged(robot: Machine, law: SampledLaw, whole: Sequence[PosedPlant], cutoff: float) -> Control:
    found = [cut_off(plant, cutoff) for plant in whole]
    poses = tuple(judged(plant, law) for plant in found)
    worst = found[int(np.argmin([p.damping for p in poses]))]
    gains, locus = locus_of(worst, law)
    frequencies, curve = nyquist_of(worst, law)
    return Control(
        robot=robot.name, about=law.about, law=law, text=law_text(law), sensors=tuple(s.name for s in law.sensors),
        forces=(*law.actuators, *law.pushes), states=law.states, parts=len(law.parts), sample=law.sample, delay=law.delay,
        sigma=_sigma(law, found[0]), poses=poses, gains=gains, locus=locus, frequencies_hz=frequencies, nyquist=curve,
        notices=(
            *dict.fromkeys(x for plant in found for x in plant.notices), *_coarse(law), *_fast(whole, found, law, cutoff),
        ),
    )  # fmt: skip


def _fast(whole: Sequence[PosedPlant], found: Sequence[PosedPlant], law: SampledLaw, cutoff: float) -> list[str]:
    """Whether loops are stable only because modes above the cutoff were taken to die away."""
    told = [
        growth(plant, law) for plant, cut in zip(whole, found, strict=True) if plant is not cut and growth(cut, law) <= 0
    ]
    worst = max(told, default=0.0)
    if worst <= 0:
        return []
    return [
        f"modes above {cutoff:g} Hz were taken to die away; as the robot file damps them they grow by {worst:.3g} 1/s under "
        "this law (--cutoff 0 shows where): lower its gains, or give the robot the damping that it has"
    ]


def _coarse(law: SampledLaw) -> list[str]:
    """Sensors whose steps hide what the law claims to know."""
    e = law.parts[0].estimate
    known = {} if e is None else dict(zip(e.names, e.sigma.tolist(), strict=True))
    return [
        f"{s.name}: steps of {s.resolution:g} hide what is estimated to {known[s.of]:.2g}, and no noise shakes it across; "
        "rounding errors stay, and estimates may be off by more than stated"
        for s in law.sensors
        if s.quantity == "displacement" and s.noise < 0.5 * s.resolution and known.get(s.of, 1.0) < 0.25 * s.resolution
    ]


def _sigma(law: SampledLaw, plant: PosedPlant) -> dict[str, tuple[float, str]]:
    """Standard deviations of what the first part estimates, with units."""
    e = law.parts[0].estimate
    units: Mapping[str, str] = dict(zip(plant.ask.watched, plant.watched_units, strict=True))
    return {} if e is None else {n: (float(x), units.get(n, "")) for n, x in zip(e.names, e.sigma, strict=True)}
