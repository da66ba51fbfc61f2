"""Inertial and friction parameters from motions: what actuator forces along a motion say of them.

Forces are linear in the parameters, f = Y(q, q', q'') theta (Briot & Khalil 2014), and those of the actuators are what
virtual power takes of them: tau = G^T Y theta, where G moves an actuator, loops stay closed and bodies do not bend further;
how the bodies bend along the motion is in q. Columns of W = G^T Y that depend on others are regrouped (base parameters,
Gautier 1991); W and tau pass the same low-pass and are thinned out, so that what is left of noise is independent from sample
to sample, and weighted least squares give values with deviations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from supple.backends.interpreter import interpret
from supple.errors import SuppleError
from supple.formulations.newton_euler import regressor_model
from supple.formulations.tree.parametrised import parameter_values
from supple.machine import Machine
from supple.measurements import Identified
from supple.model.algebra import one_thread
from supple.model.followers import moved_by
from supple.model.model import Model
from supple.motion.filtering import low_passed
from supple.robot.bodies.record import Array

_BLOCK = 2048
_TOLD = 0.3  # standard deviation of a parameter relative to its size: those that are told worse are counted to others
_SHOWN = 1e-3  # of a base parameter: terms smaller than that are not named
_LOWER = 3.0  # times lower than the filter of the motion is that of forces and regressor


@dataclass(frozen=True)
class BaseFit:
    """Base parameters: values, deviations, what they are by the robot's file, and how they are made of all parameters.

    combination (base, all): value = combination @ parameters; residual: standard deviation of each actuator's forces."""

    labels: tuple[str, ...]
    values: Array
    covariance: Array
    nominal: Array
    combination: Array
    parameters: tuple[str, ...]
    residual: Array
    chi_squared: float
    freedom: int

    @property
    def deviations(self) -> Array:
        made: Array = np.sqrt(np.diag(self.covariance))
        return made


@one_thread
def actuator_regressor(robot: Machine, model: Model, q: Array, v: Array, a: Array) -> tuple[Array, dict[str, float]]:
    """W (samples, actuators, parameters) of tau = W theta, and the parameters of the robot's file."""
    made = regressor_model(robot.mechanism())
    if "Y" not in made.outputs:
        raise SuppleError(f"{robot.name}: has too many parameters for a regressor of its forces")
    Y = interpret(made)
    given = [int(i) for i in model.active]
    parts = []
    for start in range(0, len(q), _BLOCK):
        part = slice(start, start + _BLOCK)
        found = Y(q=q[part], v=v[part], a=a[part], g=model.gravity)["Y"]
        parts.append(np.einsum("bik,bip->bkp", moved_by(model, q[part], given), found))
    return np.concatenate(parts), parameter_values(robot.mechanism())


def lower_cutoff(rate: float, cutoff: float, count: int) -> tuple[float, int]:
    """The cutoff (Hz) of forces along a motion that was filtered at another, and every how many samples are independent."""
    low = cutoff / _LOWER
    if not 4.99e-3 * rate <= low < rate / 4:
        raise SuppleError(
            f"a filter of {cutoff:g} Hz does not suit samples at {rate:g} Hz; take {0.015 * rate:g} to {0.7 * rate:g} Hz"
        )
    every = max(1, int(rate / (2 * low)))
    if count < 10 * every:
        raise SuppleError(f"{count} samples are too few for a filter of {cutoff:g} Hz at {rate:g} Hz")
    return low, every


@dataclass(frozen=True)
class Observed:
    """Forces tau (samples, actuators) and their regressor W, sampled at `rate` Hz along a motion filtered at `cutoff` Hz."""

    W: Array
    tau: Array
    rate: float
    cutoff: float

    def thinned(self) -> tuple[Array, Array]:
        """W and tau below a third of the motion's cutoff, as many samples as are independent; ends left out."""
        n = len(self.W)
        low, every = lower_cutoff(self.rate, self.cutoff, n)
        kept = slice(every, n - every, every)
        W, tau = (low_passed(x.reshape(n, -1), low / self.rate)[kept] for x in (self.W, self.tau))
        return W.reshape(-1, *self.W.shape[1:]), tau


def base_fit(motions: Sequence[Observed], theta: dict[str, float]) -> BaseFit:
    """The BaseFit of what was observed along motions; theta: the parameters of the robot's file."""
    each = [m.thinned() for m in motions]
    W, y = (np.concatenate(x) for x in zip(*each, strict=True))
    names, nominal = list(theta), np.array(list(theta.values()))
    size = np.abs(nominal)
    first, B, order = _regrouped(W / _noise(W, y)[:, None] * size)
    combination = np.zeros((len(first), len(names)))
    combination[:, first] = np.eye(len(first))
    combination[:, order[len(first) :]] = B * size[first, None] / size[order[len(first) :]]
    values, covariance, residual, chi = _weighted(W[:, :, first], y)
    labels = tuple(_label(row, k, names, nominal.tolist()) for row, k in zip(combination, first, strict=True))
    return BaseFit(
        labels, values, covariance, combination @ nominal, combination, tuple(names), residual, chi, y.size - len(first)
    )


def identified_base(robot: str, test: str, actuators: Sequence[str], found: BaseFit, notices: Sequence[str]) -> Identified:
    """Base parameters as what a fit has found."""
    spread = found.deviations
    correlation = found.covariance / np.outer(spread, spread)
    share, weights = np.linalg.eigh(found.covariance / np.outer(found.values, found.values))
    combinations = tuple((float(np.sqrt(max(s, 0.0))), w) for s, w in zip(share, weights.T, strict=True))
    left = len(found.parameters) - len(found.labels)
    words = [
        f"The motions hold {len(found.labels)} base parameters of {len(found.parameters)} inertial and friction parameters; "
        f"the other {left} are counted to these, or move nothing here.",
        *(f"Forces of {a} keep {s:.3g} (RMS, SI) unexplained." for a, s in zip(actuators, found.residual, strict=True)),
    ]
    return Identified(
        robot, test, found.labels, found.labels, found.nominal, found.values, spread, correlation, combinations,
        len(found.labels), (), (), tuple(words), 1, 0, found.chi_squared, found.freedom, notices=tuple(notices),
    )  # fmt: skip


def _noise(W: Array, y: Array) -> Array:
    """Standard deviation of what no parameter explains of each actuator's forces."""
    A = W.reshape(-1, W.shape[2])
    size = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    left = y - np.einsum("tap,p->ta", W / size, np.linalg.lstsq(A / size, y.ravel(), rcond=None)[0])
    made: Array = np.maximum(np.sqrt((left**2).mean(axis=0)), 1e-9 * np.abs(y).max())
    return made


def _regrouped(W: Array) -> tuple[Array, Array, Array]:
    """Columns that carry the others, how the others depend on them, and the order of both, the most telling first.

    W: forces in standard deviations when a parameter changes by its own size. A column that says less of its parameter than
    _TOLD, beside those before it, is counted to these: exactly where it depends on them, and as well as the data can tell
    where it nearly does (what is estimated is then the combination that this motion sees, without bias)."""
    R, order = qr(W.reshape(-1, W.shape[2]), mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = max(1, int(np.sum(diagonal > 1.0 / _TOLD)))
    B = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    return order[:rank], np.where(np.abs(B) > 1e-9 * np.abs(B).max(initial=0.0), B, 0.0), order


def _weighted(W: Array, y: Array) -> tuple[Array, Array, Array, float]:
    """Values, covariance, deviation of each actuator's residuals, and the sum of squares by them."""
    weight = np.ones(y.shape[1])
    for _ in range(3):
        A, b = (W / weight[:, None]).reshape(-1, W.shape[2]), (y / weight).ravel()
        size = np.linalg.norm(A, axis=0)
        values = np.linalg.lstsq(A / size, b, rcond=None)[0] / size
        left = y - np.einsum("tap,p->ta", W, values)
        weight = np.sqrt((left**2).sum(axis=0) / max(len(y) - W.shape[2] / y.shape[1], 1))
    inverse = np.linalg.inv((A / size).T @ (A / size)) / np.outer(size, size)
    return values, inverse, weight, float(((left / weight) ** 2).sum())


def _label(row: Array, own: int, names: list[str], values: list[float]) -> str:
    """A base parameter as the sum that it is, its own term first."""
    whole = max(float(np.abs(row * values).max()), 1e-300)
    more = [k for k in np.argsort(-np.abs(row * values)) if k != own and abs(row[k] * values[k]) > _SHOWN * whole]
    terms = "".join(f" {'-' if row[k] < 0 else '+'} {abs(row[k]):.4g} ({names[k]})" for k in more[:6])
    return names[own] + terms + (" + ..." if len(more) > 6 else "")
