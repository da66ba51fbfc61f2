"""`plant`: the Plant of a robot, put together from the partition of its coordinates and the Functions for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.backends.stepping.collocation import MOST
from supple.backends.stepping.plant import MANY, PLENTY, SOME, Controlled, Damped, Place, Plant, plant_function
from supple.errors import SuppleError
from supple.expr.function import Array
from supple.expr.passes import optimise
from supple.expr.uncollected import uncollected
from supple.formulations import registry
from supple.formulations.record import Equations, Way
from supple.machine import Kept
from supple.model import observe
from supple.model.full_damping import taken_out
from supple.model.model import Model
from supple.models import inverse
from supple.robot.mechanism import Mechanism
from supple.simulation.limbs import balanced, limbs
from supple.simulation.partition import Partition, ball_joints, coordinate_places, partition
from supple.simulation.plant_functions import (
    QUICK,
    check_size,
    closed_form,
    eliminated,
    loop_functions,
    power,
    tree,
    undamped,
)
from supple.simulation.ways import coupled


@uncollected()
def plant(
    model: Model,
    q: Array,
    prescribed: Collection[str] = (),
    *,
    loads: bool = False,
    rigid: Model | None = None,
    rigid_q: Array | None = None,
    controlled: Collection[str] = (),
    kept: Kept | None = None,
    dense: bool = False,
    often: bool = False,
    passes: Sequence[str] | None = QUICK,
    way: Way | None = None,
) -> Plant:
    """The Plant of a robot near the posture q, with the actuators named in `prescribed` following a motion.

    `loads`: wrenches at the named points act; `rigid`, `rigid_q`: the rigid robot for computed torque of the actuators
    in `controlled`, and its posture;
    `kept`: parameters that may differ from run to run; `dense`: matrices instead of the closed form; `often`: steps are
    short, as they begin anew at samples of a controller; `passes`: those
    that optimise the closed form; `way`: how loops are solved if all coordinates are integrated (None: independent ones).
    """
    mechanism = model.mechanism
    parts = partition(model, q, prescribed)
    source, beside = (model.equations, model.beside) if kept is None else (kept.equations, ())
    if kept is None and way is None and len(parts.free) > MANY and not beside:
        source, beside = _thinned(model)
    damping = (*_viscous(model), *beside)
    places = coordinate_places(mechanism)
    active = set(mechanism.indices("active"))
    if way is not None and parts.dependent:
        made, parts = _coupled(model, source, q, parts, way, places)
    else:
        only = registry.formulation(source.formulation).in_time == "closed forms only"
        found = (
            _in_closed_form(model, source, q, parts, prescribed, loads, passes, bool(damping)) if not dense or only else None
        )
        made = _with_loops(model, source, q, parts, {"tree": tree(source)} if found is None else found)
        made |= {} if found is None else _bodies(model, source, parts, kept is None, often)
    functions = {**made, "power": power(source, parts)}
    if damping:
        functions = undamped(functions)
    return Plant(
        mechanism.name,
        mechanism.nq,
        mechanism.nv,
        free=tuple(places[i] for i in parts.free),
        given=tuple(places[i] for i in parts.given),
        dependent=tuple(places[i] for i in parts.dependent),
        rows=parts.rows,
        torque=tuple(places[i] for i in sorted(active - set(parts.given))),
        balls=ball_joints(mechanism, parts.free, parts.dependent),
        rigid=None if rigid is None else _controlled(mechanism, rigid, rigid_q, parts, controlled),
        loads=6 * len(mechanism.points),
        reach=_reach(model, q),
        parameters=() if kept is None else kept.values,
        elastic=tuple(mechanism.indices("elastic")),
        damping=damping,
        **functions,
    )


def _in_closed_form(
    model: Model,
    source: Equations,
    q: Array,
    parts: Partition,
    prescribed: Collection[str],
    loads: bool,
    passes: Sequence[str] | None,
    damped: bool,
) -> dict[str, Any] | None:
    """The Functions of a plant without matrices of its tree, if it has any."""
    found = closed_form(source, parts, prescribed, loads, passes, damped)
    if found is None and prescribed:  # else others may have to become free, which the tree's matrices take
        return eliminated(source, parts, model.mass(q), model.jacobian(q), damped)
    return found


def _with_loops(model: Model, source: Equations, q: Array, parts: Partition, made: dict[str, Any]) -> dict[str, Any]:
    """The Functions of a plant with those of its loops."""
    return made | loop_functions(source, parts, None if "tree" in made else model.jacobian(q))


def _bodies(model: Model, source: Equations, parts: Partition, alike: bool, often: bool) -> dict[str, Any]:
    """The bodies of a plant one by one, if they are `alike` in all runs, and stages that fill the lanes in which
    accelerations are computed."""
    n = len(parts.free)
    if n < SOME or (often and n <= MANY):
        return {}
    made = limbs(model.mechanism, parts) if alike else None
    massive = made is not None and all(frame.light < 0 for frame in made.frames)
    if n <= MANY or (n <= PLENTY and massive and not often):
        return {"stages": MOST, "limbs": made}
    return {} if made is None else {"limbs": balanced(made, source)}


def _coupled(
    model: Model, source: Equations, q: Array, parts: Partition, way: Way, places: Sequence[Place]
) -> tuple[dict[str, Any], Partition]:
    """The Functions of a plant all of whose coordinates are integrated, and its Partition."""
    check_size(source.mechanism)
    free = tuple(sorted({*parts.free, *parts.dependent}))
    made: dict[str, Any] = {"coupled": coupled(model, source, q, way, parts.rows, parts.dependent, free, places)}
    made |= {"tree": tree(source)} if way.solved == "multipliers" else {}
    made |= loop_functions(source, parts, None)
    return made, Partition(parts.given, free, (), ())


def _viscous(model: Model) -> tuple[Damped, ...]:
    """The damping of elastic coordinates that the bodies do not have themselves."""
    if model.viscous is None:
        return ()
    elastic = model.mechanism.indices("elastic")
    return (Damped(tuple(range(len(elastic))), model.viscous[np.ix_(elastic, elastic)]),)


def _thinned(model: Model) -> tuple[Equations, tuple[Damped, ...]]:
    """The equations of a robot without full damping of its bodies, and that."""
    method = registry.formulation(model.formulation)
    mechanism, found = (model.mechanism, ()) if method.in_time == "closed forms only" else taken_out(model.mechanism)
    return (method.derive(mechanism) if found else model.equations), found


def _reach(model: Model, q: Array) -> float:
    """How far errors of angles show, in m: the farthest named point from the base, or the longest arm between joints, which
    counts where the tool rests amid the robot; 1 where all is in one place."""
    far = max(float(np.linalg.norm(frame.marker.position.astype(float))) for frame in model.mechanism.frames)
    if model.mechanism.points:
        still = np.zeros((1, model.nv))
        far = max(far, float(np.linalg.norm(observe.points(model, q[None], still, still)["position"], axis=-1).max()))
    return far if far > 0 else 1.0


def _controlled(
    mechanism: Mechanism, rigid: Model, q: Array | None, parts: Partition, controlled: Collection[str]
) -> Controlled:
    """The rigid robot of a computed-torque controller; its actuators are found by their names."""
    assert q is not None
    own = rigid.mechanism
    names = [own.coordinates[i].name for i in own.indices("active")]
    choice = partition(rigid, q, names)
    if choice.free:
        loose = ", ".join(own.coordinates[i].name for i in choice.free[:4])
        raise SuppleError(
            f"{own.name}: no computed torque, because the actuators do not determine {loose} of the rigid robot"
        )
    f = inverse(own)
    inputs = {k: f.inputs[k] for k in ("q", "v", "a_active", "g")}
    loops = loop_functions(rigid.equations, choice, rigid.jacobian(q))
    count = loops.pop("multipliers", 0)
    loops.pop("odd", False)
    renamed = {k: replace(x, name=x.name.replace("model", "rigid")) for k, x in loops.items()}
    places, outer = coordinate_places(own), coordinate_places(mechanism)
    where = [mechanism.names().index(n) for n in names]
    torques = sorted(set(mechanism.indices("active")) - set(parts.given))
    return Controlled(
        renamed.get("loops"),
        renamed.get("rates"),
        renamed.get("square"),
        renamed.get("resolved"),
        count,
        optimise(plant_function("rigid_inverse", inputs, {"tau": f.outputs["tau"]}), QUICK).function,
        dependent=tuple(places[i] for i in choice.dependent),
        rows=choice.rows,
        balls=ball_joints(own, (), choice.dependent),
        drives=tuple(places[i] for i in own.indices("active")),
        measured=tuple(outer[i] for i in where),
        torques=tuple(torques.index(i) if n in controlled else -1 for n, i in zip(names, where, strict=True)),
        start=tuple(float(x) for x in q),
    )
