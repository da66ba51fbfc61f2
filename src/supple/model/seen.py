"""What a robot shows along a motion, all of it in one evaluation of one Function.

Within, samples are the last axis, so that the numbers of one name lie close together; what comes back are views of that with
the samples first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.backends import shelf
from supple.backends.sampled import Driven, drives, turning
from supple.backends.tape import Tape
from supple.expr.function import Array as Graph
from supple.expr.function import Function, function
from supple.expr.node import add
from supple.expr.substitution import substituted
from supple.expr.vector import matvec
from supple.formulations import registry
from supple.model.algebra import Array
from supple.model.attachments import attachment_positions
from supple.model.followers import driven, followers, undeformed_places
from supple.model.model import Model
from supple.model.observe import coordinate_values, turning_vectors

_POINTS = ("position", "velocity", "acceleration", "spin", "rotation")
_DRIVES = ("force", "passive", "active")  # of which actuator forces are made; the last outputs


@dataclass(frozen=True)
class _Asked:
    """What is evaluated beside energies and gaps: of points, attachments, forces of prescribed actuators, under loads."""

    points: bool
    attachments: bool
    drives: bool
    loads: bool

    @property
    def name(self) -> str:
        return "seen: " + ", ".join(name for name, wanted in vars(self).items() if wanted)


def seen(
    model: Model, q: Array, v: Array, a: Array, *, w: Array | None = None, given: Sequence[int] = (),
    wanted: Collection[str] | None = None,
) -> dict[str, Array]:  # fmt: skip
    """Signals of a motion that follow from its coordinates and loads w, by name: all, or those of coordinates,
    energies and actuators, which judge a motion, and what is `wanted` of points and attachments.

    `tau` are the forces of all actuators in which those of `given` make the motion, zero for the others."""

    def asks(begin: str) -> bool:
        return wanted is None or any(name.startswith(begin) for name in wanted)

    mechanism = model.mechanism
    elastic = any(c.kind == "elastic" for c in mechanism.coordinates)
    finite = not registry.formulation(model.formulation).linear_places
    asked = _Asked(
        points=bool(mechanism.points) and asks("point_"),
        attachments=bool(mechanism.closures) and elastic and finite and asks("attachment_"),
        drives=bool(given), loads=w is not None and bool(given),
    )  # fmt: skip
    out = _evaluated(model, asked, q, v, a, w, given)
    gaps = out.pop("residual")
    out["closure"] = np.abs(gaps, out=gaps).max(axis=0, initial=0.0)
    if asked.points:
        out["point_orientation"] = _orientations(out.pop("point_rotation"))
    if elastic and ((asked.points and asks("point_d")) or (asked.attachments and asks("attachment_d"))):
        points, attachments = undeformed_places(model, q)
        if asked.points and asks("point_d"):
            out["point_deformation"] = np.subtract(out["point_position"], points, out=points)
        if asked.attachments and asks("attachment_d"):
            out["attachment_deformation"] = np.subtract(out["attachment_position"], attachments, out=attachments)
    found = {"position": coordinate_values(model, q), "velocity": v, "acceleration": a}
    return found | {name: x.transpose(-1, *range(x.ndim - 1)) for name, x in out.items()}


def _orientations(R: Array) -> Array:
    """Rotation vectors (points, 3, samples) of the axes of points (points, 3, 3, samples)."""
    made = [x for x in map(turning, R) if x is not None]
    if not made:
        return np.moveaxis(turning_vectors(np.moveaxis(R, -1, 0)), 0, -1)
    return np.array(made) if len(made) > 1 else made[0][None]


def _evaluated(
    model: Model, asked: _Asked, q: Array, v: Array, a: Array, w: Array | None, given: Sequence[int]
) -> dict[str, Array]:
    """Outputs of the Function (..., samples), with `tau` in place of what that is made of."""
    f, count = model.own(asked.name, lambda: _seen(model, asked)), len(q)
    first = min((part.start for name, _, part in f.parts if name in _DRIVES), default=len(f.stored.results))
    kept, tau = shelf.array(first, count), np.zeros((len(model.active), count))
    every: dict[str, Any] = {"q": q, "v": v, "a": a, "w": w, "g": model.gravity}
    inputs = {k: every[k] for k in f.inputs}
    damping = model.further_damping(q, v)
    if asked.drives:
        tau[np.searchsorted(model.active, given)] = _drives(model, f, inputs, kept, damping, list(given))
    else:
        f.rows((kept,), **inputs)
    out = f.named(kept) | {"tau": tau}
    if damping is not None:
        out["power_lost"] += (damping * v).sum(axis=-1)
    return out


def _drives(
    model: Model, f: Tape, inputs: dict[str, Any], kept: Array, damping: Array | None, given: list[int]
) -> Array:  # fmt: skip
    """Forces (given, samples) of actuators that make the motion; results of f before them go to `kept`.

    By virtual power: an actuator moves by itself, passive joints and platform follow, bodies do not bend further; so
    forces of deformation, which are stiff, do not enter."""
    follow = model.mechanism.indices("passive", "platform") if model.mechanism.closures else []
    columns = np.searchsorted(model.active, given).tolist()
    tau = np.empty((len(given), kept.shape[1]))
    poor = drives(f, Driven(follow, given, columns), inputs, kept, None if damping is None else damping.T, tau)
    if poor.any():
        made = f(**{k: x if k == "g" else x[poor] for k, x in inputs.items()})
        force = made["force"] if damping is None else made["force"] + damping[poor]
        tau[:, poor] = force[:, given].T
        if follow:
            passive, active = (np.moveaxis(made[k], 0, -1) for k in ("passive", "active"))
            tau[:, poor] += np.einsum("ikn,ni->kn", driven(passive, active[:, columns]), force[:, follow])
    return tau


def _seen(model: Model, asked: _Asked) -> Function:
    """The Function of all that is asked; what several Functions need is in it once."""
    e = model.equations
    inputs: dict[str, Graph] = {}
    merged = _merging(inputs, {"lam"} if asked.loads else {"lam", "w"})
    energy: dict[str, Any] = merged(e.energy)
    outputs: dict[str, Any] = {"residual": merged(e.closure)["residual"]}
    for name in ("kinetic", "elastic", "gravity"):
        outputs[f"energy_{name}"] = _sum(energy[name])
    outputs["energy_kinetic"] = add(outputs["energy_kinetic"], energy["motors"][()])
    outputs["power_lost"] = energy["dissipation"]
    if asked.points:
        points = merged(e.points)
        outputs |= {f"point_{k}": points[k] for k in _POINTS}
        own = [matvec(R.T, x) for R, x in zip(points["rotation"], points["acceleration"], strict=True)]
        outputs["point_acceleration_own"] = np.array(own, dtype=object)
    if asked.attachments:
        outputs["attachment_position"] = merged(attachment_positions(model))["position"]
    if asked.drives:
        forces = merged(e.forces)
        outputs["force"] = np.array([add(x, y) for x, y in zip(forces["f"], forces["coulomb"], strict=True)], dtype=object)
        outputs |= merged(followers(model))
    return function("seen", inputs, outputs)


def _merging(inputs: dict[str, Graph], none: Collection[str]) -> Callable[[Function], dict[str, Graph]]:
    """What gives the outputs of a Function in terms of common `inputs`, which it fills; those of `none` are zero."""

    def merged(f: Function) -> dict[str, Graph]:
        known: dict[Any, Any] = {}
        for name, symbols in f.inputs.items():
            if name in none:
                known |= dict.fromkeys(symbols.ravel(), 0)
            else:
                known |= dict(zip(symbols.ravel(), inputs.setdefault(name, symbols).ravel(), strict=True))
        return {name: substituted(x, known) for name, x in f.outputs.items()}

    return merged


def _sum(terms: Graph) -> Any:
    total: Any = 0
    for x in terms.ravel():
        total = add(total, x)
    return total
