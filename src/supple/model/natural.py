"""`Natural`: the modes of a robot at rest, with numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.model.algebra import Array, eigh, least_squares, symmetric
from supple.model.damped import damped
from supple.model.equilibrium import Equilibrium, Linear, linearise
from supple.model.model import Model
from supple.remembered import Answer

_BLURRED = 1e11  # times the rounding: squares below it are told from their shapes
_MASS = "mass "


@dataclass(frozen=True)
class Natural:
    """Angular frequencies, below zero where the robot falls; damping ratios and poles; shapes (nv, modes) of unit modal
    mass, their largest number above zero; modal masses excited by what shakes or drives the robot, by its name."""

    omega: Array
    ratios: Array
    poles: Array
    shapes: Array
    effective_mass: Mapping[str, Array]


def natural(model: Model, rest: Equilibrium, free: bool, count: int | None, w: Array) -> Natural:
    """The lowest modes about an equilibrium under wrenches w, all if `count` is None; remembered of large robots."""
    asked = (rest.q, rest.reactions, w, free, count, model.viscous)
    made = model.memory.solved("modes", asked, lambda: _solved(model, rest, free, count, w)).arrays
    masses = {name.removeprefix(_MASS): x for name, x in made.items() if name.startswith(_MASS)}
    return Natural(made["omega"], made["ratios"], made["poles"], made["shapes"], masses)


def _solved(model: Model, rest: Equilibrium, free: bool, count: int | None, w: Array) -> Answer:
    linear = linearise(model, rest, free, w=w)
    size = linear.M.shape[0]
    if size == 0:
        raise SuppleError(f"{model.mechanism.name} has nothing that vibrates with its actuators held; try free actuators")
    kept = size if count is None else max(1, min(count, size))
    squares, vectors = _undamped(model, linear)
    omega = np.sign(squares) * np.sqrt(np.abs(squares))
    ratios, poles = damped(omega, vectors.T @ linear.D @ vectors, vectors.T @ linear.H @ vectors, kept)
    shapes = linear.Z @ vectors[:, :kept]
    shapes = shapes * np.where(shapes[np.abs(shapes).argmax(axis=0), np.arange(kept)] < 0, -1.0, 1.0)
    masses = {_MASS + name: x for name, x in _effective_mass(model, rest.q, linear, shapes).items()}
    return Answer({}, {"omega": omega[:kept], "ratios": ratios, "poles": poles, "shapes": shapes, **masses})


def _undamped(model: Model, linear: Linear) -> tuple[Array, Array]:
    """Squared angular frequencies and mass-normalised shapes; zero where nothing resists a motion.

    Rounding leaves eps times the largest square in all of them; Rayleigh's quotients of the low ones, in the coordinates of
    the bodies, where a rigid motion meets no stiffness at all, are free of it."""
    try:
        squares, vectors = eigh(symmetric(linear.K), linear.M)
    except np.linalg.LinAlgError as error:
        raise SuppleError(model.massless(linear.M, linear.Z)) from error
    blurred = np.finfo(float).eps * float(np.abs(squares).max())
    low = np.abs(squares) < 1e6 * blurred
    for some in (low, ~low & (np.abs(squares) < _BLURRED * blurred)):
        if some.any() and not some.all():
            basis = vectors[:, some]
            shapes = linear.Z @ basis
            squares[some], turn = eigh(symmetric(shapes.T @ linear.K_tree @ shapes), basis.T @ linear.M @ basis)
            vectors[:, some] = basis @ turn
    if not low.all():
        squares[low & (np.abs(squares) < 1e-6 * blurred)] = 0.0
    return squares, vectors


def _effective_mass(model: Model, q: Array, linear: Linear, shapes: Array) -> dict[str, Array]:
    """Modal mass excited by shaking the base along x, y, z, or by driving an actuator of the undeformed robot."""
    weight = model.call("forces", q=q, g=np.vstack([np.zeros(3), np.eye(3)]))["f"]
    found = {axis: (shapes.T @ (weight[0] - weight[k + 1])) ** 2 for k, axis in enumerate("xyz")}
    elastic = model.mechanism.indices("elastic")
    if len(model.active):
        A = np.vstack([model.jacobian(q), model.held(model.active), model.held(elastic)])
        unit = np.zeros((A.shape[0], len(model.active)))
        first = model.mechanism.equations
        unit[first : first + len(model.active)] = np.eye(len(model.active))
        driven = least_squares(A, unit)
        factors = shapes.T @ linear.M_tree @ driven
        found |= {model.names[i]: factors[:, k] ** 2 for k, i in enumerate(model.active)}
    return found
