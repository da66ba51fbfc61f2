"""The linear model of a robot about a pose: A, B, C, D."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array, one_thread
from supple.model.closed_loop import Law, differentiated, under
from supple.model.equilibrium import equilibrium, linearise
from supple.model.limits import notices
from supple.model.ports import wrenches_of
from supple.model.posture import posture
from supple.model.small_motions import QUANTITIES, SmallMotions, small_motions
from supple.model.state_space import StateSpace, balanced, balanced_in_band, first_order, truncated
from supple.motion.controllers import LAWS, gains_of
from supple.motion.description import Controller
from supple.results import LinearModel
from supple.robot.written import Band, Written, band_of, pose_of


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
    band: Band | None = None,
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
        if made.reacting is not None:
            raise SuppleError("forces of joints are not told under a controller; simulate tells them")
        if free is not None:
            raise SuppleError("actuators are free, held or under a controller: choose one")
        if reduction == "modal":
            raise SuppleError("under a controller there are no modes to keep; choose reduction balanced")
        law = _law(robot, controller, pose_of(model.mechanism, at), assembly)
        driven = small_motions(model, straight, ["tau"], ["q"], free=True, w=w)
        both = replace(made, B=np.hstack([made.B, driven.B]), C=np.vstack([made.C, driven.C]))
        joints = [model.names[i] for i in model.active]
        whole = differentiated(under(first_order(both), law, made.B.shape[1], joints), QUANTITIES[quantity])
    within = None if band is None else band_of(band)
    found = _reduced(whole, made, quantity, order, reduction, within)
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
        band=within if found.error is not None else None,
        controller=controller or "",
        structural="viscous, by mode" if np.any(made.H) else "",
        notices=notices(model, made.q),
    )


def _law(robot: Machine, text: str, at: Mapping[str, float], assembly: str | None) -> Law:
    """The Law of a controller in one line, the same for all actuators, or of a motion's, with gains for each."""
    model = robot.model()
    names = [model.names[i] for i in model.active]
    if text.partition(":")[0] in LAWS:
        law, numbers = gains_of(text)
        gains = {key: np.full(len(names), numbers.get(key, 0.0)) for key in ("kp", "kd", "ki")}
        late = numbers.get("delay", 0.0) + 0.5 * numbers.get("sample", 0.0)
    else:
        own = _controller_of(robot, text)
        law, late = own.law, own.delay + 0.5 * own.sample
        gains = {key: np.array([getattr(own, key).get(n, 0.0) for n in names]) for key in ("kp", "kd", "ki")}
    kp, kd, ki = (np.diag(x) for x in gains.values())
    if law == "pd" and ki.any():
        raise SuppleError("a pd controller has no ki; use pid")
    if law == "computed_torque":
        M, G = _rigid(robot, at, assembly)
        kp, kd, ki = M @ kp - G, M @ kd, M @ ki
    return Law(kp, kd, ki, late)


def _controller_of(robot: Machine, motion: str) -> Controller:
    """The controller of a motion of the robot file, or of a motion file."""
    found = robot.motion(motion)
    if found.controller is None:
        raise SuppleError(f"the motion {motion!r} has no controller; choose another, or write one as in pd:kp=1e4,kd=200")
    if found.controller.law == "state_space":
        raise SuppleError("laws in state space are judged by supple control")
    for name, drive in found.drives.items():
        if drive == "prescribed":
            raise SuppleError(f"{motion!r} prescribes {name}, which no controller moves; a loop is closed by controllers")
    return found.controller


def _rigid(robot: Machine, at: Mapping[str, float], assembly: str | None) -> tuple[Array, Array]:
    """Inertia of the rigid robot at its actuators, and how its holding forces change with them."""
    rigid = robot.model(rigid=True)
    linear = linearise(rigid, equilibrium(rigid, posture(rigid, at, assembly)), True)
    base = linear.Z[list(rigid.active)]
    if base.shape[0] != base.shape[1] or np.linalg.cond(base) > 1e10:
        raise SuppleError(f"{robot.name}: its actuators do not make up its motions here: computed_torque moves nothing else")
    turn = np.linalg.inv(base)
    return turn.T @ linear.M @ turn, turn.T @ linear.K @ turn


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
    return balanced_in_band(whole, order, band)
