"""Exact derivatives of quantities by the kept parameters of a robot, from those of the core's answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from supple.backends.interpreter import interpret
from supple.core.core import Core, Derivatives
from supple.core.drives import NEEDED, drive_slopes, moved_by_drives
from supple.core.gradients import compliance_derivatives, square_slopes
from supple.core.quantities import Quantity, evaluated, mass_function
from supple.core.tangents import by_parameters
from supple.errors import SuppleError
from supple.model.algebra import Array, one_thread
from supple.model.ports import in_plane

_NEAR = 2.0**-12  # of a parameter: a step that its derivatives must foretell
_SAME = 1e-5  # relative: squares of frequencies that count as one


class Gradients:
    """Values and derivatives of quantities at poses of one design after another."""

    def __init__(self, core: Core, asked: Sequence[Quantity]) -> None:
        for q in asked:
            if q.kind not in SLOPES:
                raise SuppleError(f"{q.name} has no derivatives by parameters here; those that have: {', '.join(SLOPES)}")
        self.core, self.asked = core, list(asked)

    def smooth(self, values: Array) -> bool:
        """Whether what the equations have for parameters changes smoothly with them: modes of a reduced body may turn
        among each other, or change their sign, from one value to the next."""
        own = self.core.parameters
        if own.exact:
            return True
        h = _NEAR * np.where(values == 0, 1.0, np.abs(values))
        here, tangents = own.inputs(values[None])[0], own.tangents(values)
        steps = own.inputs(values + np.diag(h)) - here
        told = h[:, None] * tangents
        return bool((np.abs(steps - told) <= 0.1 * np.abs(told) + 1e-9 * np.abs(here) + 1e-14).all())

    @one_thread
    def at(self, values: Array, poses: Array, wrenches: Array, threads: int = 1) -> tuple[Array, Array]:
        """(poses, asked) quantities of a design and (poses, asked, parameters) derivatives; not numbers out of reach."""
        core = self.core
        numbers = np.column_stack(evaluated(core, self.asked, poses, values[None], wrenches, threads)[1])
        slopes = np.full((len(poses), len(self.asked), len(values)), np.nan)
        modes = max((q.modes for q in self.asked), default=0)
        wanted = frozenset[str]().union(*(SLOPES[q.kind][0] for q in self.asked))
        d = core.derivatives(
            poses, values[None], by=core.robot.keep, loads=wrenches, wanted=wanted, threads=threads,
            modes=min(modes + 1, len(core.structure.linear.independent)) if modes else 0,
        )  # fmt: skip
        for k, q in enumerate(self.asked):
            found = SLOPES[q.kind][1](core, d, q, values)
            slopes[:, k] = np.where(d.answers.answered[:, None], found, np.nan)
        return numbers, slopes


def _frequency(core: Core, d: Derivatives, q: Quantity, values: Array) -> Array:
    made = np.full((len(d.answers.status), len(d.names)), np.nan)
    for n in np.flatnonzero(np.isfinite(d["M"]).all(axis=(1, 2, 3))):
        root = np.sqrt(abs(d.answers["squares"][n, q.index]))
        made[n] = square_slopes(d, int(n), q.index, core.structure.linear.independent, _SAME) / (4 * np.pi * root)
    return made


def _stiffness(core: Core, d: Derivatives, q: Quantity, values: Array) -> Array:
    """Of 1 / (e^T C e), e being stationary."""
    C, by = compliance_derivatives(d, 6 * q.index)
    if q.part is not None:
        made: Array = -by[:, :, q.part, q.part] / C[:, None, q.part, q.part] ** 2
        return made
    used = [k for k in in_plane(core.model) if k < 3]
    good = np.isfinite(C).all(axis=(1, 2))
    made = np.full(by.shape[:2], np.nan)
    sizes, axes = np.linalg.eigh(C[good][:, used][:, :, used])
    e = axes[:, :, -1]
    made[good] = -np.einsum("ni,nkij,nj->nk", e, by[good][:, :, used][:, :, :, used], e) / sizes[:, -1:] ** 2
    return made


def _deflection(core: Core, d: Derivatives, q: Quantity, values: Array) -> Array:
    change = d["bent_places"][:, :, q.index] - d["places"][:, :, q.index]
    moved = d.answers["bent_places"][:, q.index] - d.answers["places"][:, q.index]
    servos = list(core.model.servos)
    if servos and d.answers.loads.any():
        change = change + drive_slopes(d, servos, 6 * q.index)[..., :3]
        moved = moved + moved_by_drives(d.answers, servos, 6 * q.index)[:, :3]
    if q.part is not None:
        return change[:, :, q.part]
    made: Array = np.einsum("nki,ni->nk", change, moved) / np.maximum(np.linalg.norm(moved, axis=1), 1e-300)[:, None]
    return made


def _place(core: Core, d: Derivatives, q: Quantity, values: Array) -> Array:
    made: Array = d["places"][:, :, q.index, q.part or 0]
    return made


def _torque(core: Core, d: Derivatives, q: Quantity, values: Array) -> Array:
    if q.part is not None:
        return d["tau"][:, :, q.part]
    tau = d.answers["tau"]
    rows, k = np.arange(len(tau)), np.nan_to_num(np.abs(tau)).argmax(axis=1)
    made: Array = d["tau"][rows, :, k] * np.sign(tau[rows, k])[:, None]
    return made


def _stress(core: Core, d: Derivatives, q: Quantity, values: Array) -> Array:
    """Of the section in which it is largest."""
    at, count = d.answers["q"], len(d.answers.status)
    p = np.broadcast_to(core.parameters.inputs(values[None]), (count, core.parameters.symbols.size))
    dp = np.broadcast_to(core.parameters.tangents(values), (count, len(values), p.shape[1]))
    made = np.full((count, len(values)), np.nan)
    good = np.flatnonzero(np.isfinite(d["q"]).all(axis=(1, 2)))
    worst = np.array([one(at[good], p[good]) for one in q.fibres]).argmax(axis=0)
    for k, one in enumerate(q.fibres):
        own = good[worst == k]
        if len(own):
            made[own] = one.slopes(at[own], p[own], d["q"][own], dp[own])
    return made


def _mass(core: Core, d: Derivatives, q: Quantity, values: Array) -> Array:
    p, dp = core.parameters.inputs(values[None]), core.parameters.tangents(values)
    found = interpret(by_parameters(mass_function(core)))(p=np.broadcast_to(p, dp.shape), dp=dp)["mass"]
    made: Array = np.broadcast_to(found[..., 0], (len(d.answers.status), len(dp)))
    return made


Slope = Callable[[Core, Derivatives, Quantity, Array], Array]
SLOPES: dict[str, tuple[frozenset[str], Slope]] = {
    "f": (frozenset({"M", "K"}), _frequency),
    "stiffness": (frozenset({"K", "T", "points"}), _stiffness),
    "deflection": (frozenset({"places", "bent_places"}) | NEEDED, _deflection),
    "place": (frozenset({"places"}), _place),
    "torque": (frozenset({"tau"}), _torque),
    "mass": (frozenset(), _mass),
    "stress": (frozenset({"q"}), _stress),
}  # what the core has to differentiate for a kind of quantity, and how its derivatives (poses, parameters) follow
