"""The linear model of a robot about a pose: A, B, C, D."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import one_thread
from supple.model.closed_loop import Law, differentiated, under
from supple.model.limits import notices
from supple.model.model import Model
from supple.model.ports import wrenches_of
from supple.model.posture import posture
from supple.model.small_motions import QUANTITIES, SmallMotions, small_motions
from supple.model.state_space import StateSpace, balanced, balanced_in_band, first_order, truncated
from supple.motion.controllers import gains_of
from supple.results import LinearModel
from supple.robot.written import Written, pose_of


@one_thread
def linear(
    robot: Machine,
    inputs: Sequence[str],
    outputs: Sequence[str],
    at: Mapping[str, Written] | None = None,
    *,
    order: int | None = None,
    reduction: str = "balanced",
    quantity: str = "displacement",
    band: tuple[float, float] | None = None,
    controller: str | None = None,
    free: bool | None = None,
    loads: Mapping[str, Sequence[float]] | None = None,
    assembly: str | None = None,
) -> LinearModel:
    """x' = A x + B u, y = C x + D u about a pose; options as of `api.Robot.linear`."""
    if quantity not in QUANTITIES:
        raise SuppleError(f"there is no quantity {quantity!r}; choose one of {', '.join(QUANTITIES)}")
    model = robot.model()
    loose = free if free is not None else controller is not None or any(n.partition(".")[0] == "tau" for n in inputs)
    straight = posture(model, pose_of(model.mechanism, at), assembly)
    w = wrenches_of(model, loads or {})
    made = small_motions(model, straight, list(inputs), list(outputs), free=loose, w=w)
    if controller is None:
        whole = first_order(made, QUANTITIES[quantity])
    else:
        law = _law(model, controller, free, reduction)
        driven = small_motions(model, straight, ["tau"], ["q"], free=True, w=w)
        both = replace(made, B=np.hstack([made.B, driven.B]), C=np.vstack([made.C, driven.C]))
        joints = [model.names[i] for i in model.active]
        whole = differentiated(under(first_order(both), law, made.B.shape[1], joints), QUANTITIES[quantity])
    found = _reduced(whole, made, quantity, order, reduction, band)
    suffix = ("", "/s", "/s^2")[QUANTITIES[quantity]]
    return LinearModel(
        robot=model.mechanism.name,
        free=loose,
        A=found.A,
        B=found.B,
        C=found.C,
        D=found.D,
        states=found.states,
        inputs=made.inputs.names,
        outputs=made.outputs.names,
        input_units=made.inputs.units,
        output_units=tuple(unit + suffix for unit in made.outputs.units),
        error_bound=found.error,
        band=band if found.error is not None else None,
        controller=controller or "",
        structural="viscous, by mode" if np.any(made.H) else "",
        notices=notices(model, made.q),
    )


def _law(model: Model, text: str, free: bool | None, reduction: str) -> Law:
    """The Law of a controller written in one line, the same for all actuators."""
    if free is not None:
        raise SuppleError("actuators are free, held or under a controller: choose one")
    if reduction == "modal":
        raise SuppleError("under a controller there are no modes to keep; choose reduction balanced")
    name, numbers = gains_of(text)
    if name == "computed_torque":
        raise SuppleError("computed_torque is not linear in what is measured; choose pd or pid")
    count = len(model.active)
    kp, kd, ki = (np.full(count, numbers.get(key, 0.0)) for key in ("kp", "kd", "ki"))
    if name == "pd" and ki.any():
        raise SuppleError("a pd controller has no ki; use pid")
    return Law(kp, kd, ki, numbers.get("delay", 0.0) + 0.5 * numbers.get("sample", 0.0))


def _reduced(
    whole: StateSpace, made: SmallMotions, quantity: str, order: int | None, reduction: str, band: tuple[float, float] | None
) -> StateSpace:  # fmt: skip
    if reduction not in ("balanced", "modal"):
        raise SuppleError(f"there is no reduction {reduction!r}; choose balanced or modal")
    if order is None or order >= len(whole.A):
        return whole
    if order < 1:
        raise SuppleError(f"order {order}: must be at least 1")
    if reduction == "modal":
        return truncated(made, QUANTITIES[quantity], order)
    if band is None:
        return balanced(whole, order)
    if not 0 <= band[0] < band[1] < float("inf"):
        raise SuppleError(f"band {band[0]:g}:{band[1]:g} Hz: must go from zero or more to a higher frequency")
    return balanced_in_band(whole, order, band)
