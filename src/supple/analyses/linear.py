"""The linear model of a robot about a pose: A, B, C, D."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import one_thread
from supple.model.limits import notices
from supple.model.ports import wrenches_of
from supple.model.posture import posture
from supple.model.small_motions import QUANTITIES, SmallMotions, small_motions
from supple.model.state_space import StateSpace, balanced, first_order, truncated
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
    free: bool | None = None,
    loads: Mapping[str, Sequence[float]] | None = None,
    assembly: str | None = None,
) -> LinearModel:
    """x' = A x + B u, y = C x + D u about a pose; options as of `api.Robot.linear`."""
    if quantity not in QUANTITIES:
        raise SuppleError(f"there is no quantity {quantity!r}; choose one of {', '.join(QUANTITIES)}")
    model = robot.model()
    loose = free if free is not None else any(name.partition(".")[0] == "tau" for name in inputs)
    straight = posture(model, pose_of(model.mechanism, at), assembly)
    made = small_motions(
        model, straight, list(inputs), list(outputs), free=loose, w=wrenches_of(model, loads or {})
    )  # fmt: skip
    found = _reduced(made, quantity, order, reduction)
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
        structural="viscous, by mode" if np.any(made.H) else "",
        notices=notices(model, made.q),
    )


def _reduced(made: SmallMotions, quantity: str, order: int | None, reduction: str) -> StateSpace:
    if reduction not in ("balanced", "modal"):
        raise SuppleError(f"there is no reduction {reduction!r}; choose balanced or modal")
    whole = first_order(made, QUANTITIES[quantity])
    if order is None or order >= len(whole.A):
        return whole
    if order < 1:
        raise SuppleError(f"order {order}: must be at least 1")
    return balanced(whole, order) if reduction == "balanced" else truncated(made, QUANTITIES[quantity], order)
