"""Exact derivatives of quantities by the kept parameters of a robot.

A case is a solution of equations: loops closed at a pose, then equilibrium under weight and loads. Its tangent along a
parameter solves their linearisation; matrices change along that tangent by a step along the imaginary axis (Squire & Trapp
1998), which loses no digits. What follows from a matrix at its stationary value (a frequency from K and M, a compliance
from K) needs no derivative of shapes: d lambda = phi^T (dK - lambda dM) phi, and the loops' part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.backends.interpreter import Interpreted, interpret
from supple.core.compiled import LINEAR
from supple.core.core import Answers, Core
from supple.core.quantities import Quantity, evaluated, mass_function
from supple.errors import SuppleError
from supple.model.algebra import Array, one_thread
from supple.model.ports import in_plane

_STEP = 1e-30  # of the imaginary parts: their squares vanish
_NEAR = 2.0**-12  # of a parameter: a step that its derivatives must foretell
_SAME = 1e-5  # relative: squares of frequencies that count as one
_WANTED = frozenset({"posture", "q", "lam", "places", "bent_places", "tau", "shapes", "points", "T", "K"})


class Gradients:
    """Values and derivatives of quantities at poses of one design after another."""

    def __init__(self, core: Core, asked: Sequence[Quantity]) -> None:
        for q in asked:
            if q.kind not in SLOPES:
                raise SuppleError(f"{q.name} has no derivatives by parameters here; those that have: {', '.join(SLOPES)}")
        self.core, self.asked = core, list(asked)
        f = core.structure.functions
        self.gaps, self.forces, self.places, self.servo = map(interpret, (f.gaps, f.forces, f.places, f.servo))
        self.opening, self.loops, self.stiffness, self.inertia, self.points = (
            interpret(x.function) for x in (f.opening, f.loops, f.stiffness, f.inertia, f.points)
        )
        self.mass = mass_function(core)

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
        modes = max((q.modes for q in self.asked), default=0)
        more = min(modes + 1, len(self.core.structure.linear.independent)) if modes else 0
        extra = Quantity("", "", "", LINEAR, _WANTED, more, lambda core, answers, p: np.zeros(len(answers.status)))
        answers, found = evaluated(self.core, [*self.asked, extra], poses, values[None], wrenches, threads)
        numbers = np.column_stack(found[:-1])
        slopes = np.full((len(poses), len(self.asked), len(values)), np.nan)
        inner = self.core.parameters.inputs(values[None])[0]
        directions = self.core.parameters.tangents(values)
        for i in np.flatnonzero(answers.answered):
            tangent = _Tangent(self, answers, int(i), poses[i], inner, directions, wrenches.reshape(-1, 6))
            for k, q in enumerate(self.asked):
                slopes[i, k] = SLOPES[q.kind](tangent, q)
        return numbers, slopes


@dataclass(frozen=True, eq=False)
class _Tangent:
    """How a case changes along the parameters: rows are parameters."""

    of: Gradients
    answers: Answers
    row: int
    pose: Array
    inner: Array
    directions: Array
    w: Array

    def _answer(self, name: str) -> Array:
        made: Array = self.answers[name][self.row]
        return made

    @cached_property
    def p(self) -> Any:
        return self.inner + 1j * _STEP * self.directions

    def _matrix(self, f: Interpreted, q: Array) -> Array:
        """All columns of a matrix that is applied to directions."""
        made: Array = self._applied(f, q, self.inner, self._answer("lam"), np.eye(self.of.core.structure.nv)).T
        return made

    def _applied(self, f: Interpreted, q: Any, p: Any, lam: Any, direction: Array) -> Any:
        known = {"q": q, "p": p, "lam": lam, "w": self.w, "direction": direction}
        return f(**{k: x for k, x in known.items() if k in f.inputs})["column"]

    def _change(self, f: Interpreted, direction: Array) -> Array:
        """(parameters, rows) derivatives of a matrix times a direction, along the path of equilibria."""
        return _imaginary(self._applied(f, self.q, self.p, self.lam, direction), len(self.directions))

    def _gaps(self, q: Array) -> Array:
        return _imaginary(self.of.gaps(q=q, p=self.p)["residual"], len(self.directions))

    # The case along the parameters ------------------------------------------------------------------------------------

    @cached_property
    def straight(self) -> Array:
        """(parameters, nv) of the undeformed robot in the pose that is asked for."""
        s = self.of.core.structure
        made = np.zeros((len(self.directions), s.nv))
        moved = _imaginary(self.of.core.given(self.pose[None], self.p), len(made))
        by_place = {place: v for v, place in enumerate(s.places) if place >= 0}
        for k, place in enumerate(s.given):
            if place in by_place:
                made[:, by_place[place]] = moved[:, k]
            elif moved[:, k].any():
                raise SuppleError("home of a ball joint depends on a parameter; its derivatives are not known here")
        rows, follow = list(s.closing.rows), list(s.closing.dependent)
        if rows:
            q = self._answer("posture")
            G = self._matrix(self.of.opening, q)[rows]
            made[:, follow] = _solved(G[:, follow], -(self._gaps(q)[:, rows] + made @ G.T).T).T
        return made

    @cached_property
    def matrices(self) -> tuple[Array, Array, Array]:
        """Stiffness (of tree and loads), J and the gradient of the gaps, bent."""
        q = self._answer("q")
        return self._matrix(self.of.stiffness, q), self._matrix(self.of.loops, q), self._matrix(self.of.opening, q)

    @cached_property
    def bent(self) -> tuple[Array, Array, Array]:
        """(parameters, ...) of q (as nv), of the reactions, and of the forces that actuators hold."""
        s, q, lam = self.of.core.structure, self._answer("q"), self._answer("lam")
        K, J, G = self.matrices
        moving, rows = sorted({*s.held.independent, *s.held.dependent}), list(s.held.rows)
        dq, dlam = np.zeros((len(self.directions), s.nv)), np.zeros((len(self.directions), len(lam)))
        dq[:, list(s.active)] = self.straight[:, list(s.active)]
        known = {"q": q, "p": self.p, "lam": lam, "w": self.w}
        inputs = self.of.forces.inputs
        df = _imaginary(self.of.forces(**{k: x for k, x in known.items() if k in inputs})["f"], len(dq))
        n, r = len(moving), len(rows)
        A = np.zeros((n + r, n + r))
        A[:n, :n], A[:n, n:], A[n:, :n] = K[np.ix_(moving, moving)], -J[np.ix_(rows, moving)].T, G[np.ix_(rows, moving)]
        gaps = self._gaps(q)[:, rows] + dq @ G[rows].T if r else np.zeros((len(dq), 0))
        found = _solved(A, -np.concatenate([(df + dq @ K.T)[:, moving], gaps], axis=1).T).T
        dq[:, moving], dlam[:, rows] = found[:, :n], found[:, n:]
        forces = df + dq @ K.T - dlam @ J
        return dq, dlam, forces[:, list(s.active)]

    def _moved(self, q: Array, dq: Array) -> Any:
        s = self.of.core.structure
        made = np.repeat(q[None].astype(complex), len(dq), axis=0)
        for v, place in enumerate(s.places):
            if place >= 0:
                made[:, place] += 1j * _STEP * dq[:, v]
        for ball, v in s.balls:
            a, u, turn = q[ball], q[ball + 1 : ball + 4], dq[:, v : v + 3]
            made[:, ball] -= 0.5j * _STEP * (turn @ u)
            made[:, ball + 1 : ball + 4] += 0.5j * _STEP * (a * turn + np.cross(u, turn))
        return made

    @cached_property
    def q(self) -> Any:
        return self._moved(self._answer("q"), self.bent[0])

    @cached_property
    def lam(self) -> Any:
        return self._answer("lam") + 1j * _STEP * self.bent[1]

    # What follows from it ---------------------------------------------------------------------------------------------

    @cached_property
    def servo(self) -> tuple[Array, Array]:
        """Stiffness of servos that the linear model sees, and its derivatives."""
        size = len(self.directions)
        if self.of.core.free:
            return np.zeros(self.of.core.structure.nv), np.zeros((size, self.of.core.structure.nv))
        found = np.asarray(self.of.servo(p=self.p)["k"])
        rows = np.broadcast_to(found, (size, found.shape[-1]))
        return np.real(rows[0]) if size else np.real(found), np.imag(rows) / _STEP

    def stiff(self, u: Array) -> Array:
        """Half of (K + K^T) u of the linear model."""
        K = self.matrices[0]
        made: Array = 0.5 * (K + K.T) @ u + self.servo[0] * u
        return made

    def changes(self, u: Array) -> tuple[Array, Array, Array]:
        """(parameters, nv) of K u, of M u, and of a motion u that keeps its independent part while its loops change."""
        way = self.of.core.structure.linear
        rows, follow = list(way.rows), list(way.dependent)
        turned = np.zeros((len(self.directions), len(u)))
        if rows:
            J = self.matrices[1][np.ix_(rows, follow)]
            turned[:, follow] = -_solved(J, self._change(self.of.loops, u)[:, rows].T).T
        return self._change(self.of.stiffness, u) + self.servo[1] * u, self._change(self.of.inertia, u), turned

    def place(self, point: int, bent: bool) -> Array:
        """(parameters, 3) of a point's place."""
        q = self.q if bent else self._moved(self._answer("posture"), self.straight)
        found = _imaginary(self.of.places(q=q, p=self.p)["position"].reshape(len(self.directions), -1), len(self.directions))
        return found[:, 3 * point : 3 * point + 3]


def _imaginary(found: Any, count: int) -> Array:
    made = np.imag(np.asarray(found)) / _STEP
    return np.broadcast_to(made, (count, made.shape[-1])) if made.ndim < 2 or len(made) != count else made


def _solved(A: Array, b: Array) -> Array:
    """A^-1 b; where motions are idle, the least answer."""
    try:
        found = np.asarray(np.linalg.solve(A, b), dtype=float)
        size = np.abs(A).max(initial=0.0) * np.abs(found).max(initial=0.0)
        if np.abs(A @ found - b).max(initial=0.0) <= 1e-9 * size + 1e-300:
            return found
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(A, b, rcond=1e-12)[0])


def _frequency(t: _Tangent, q: Quantity) -> Array:
    """Of a mode, or of one among equal ones: by its place among the derivatives within their subspace."""
    squares, shapes = t._answer("squares"), t._answer("shapes")
    own = squares[q.index]
    same = [k for k in range(len(squares)) if abs(squares[k] - own) <= _SAME * abs(own)]
    changes = [t.changes(shapes[:, k]) for k in same]
    M = [t._applied(t.of.inertia, t._answer("q"), t.inner, t._answer("lam"), shapes[:, k]) for k in same]
    pulls = [t.stiff(shapes[:, k]) - own * m for k, m in zip(same, M, strict=True)]
    D = np.zeros((len(t.directions), len(same), len(same)))
    for a in range(len(same)):
        for b, (dK, dM, turned) in enumerate(changes):
            D[:, a, b] = (dK - own * dM) @ shapes[:, same[a]] + turned @ pulls[a] + changes[a][2] @ pulls[b]
    slopes = np.linalg.eigvalsh(0.5 * (D + np.swapaxes(D, 1, 2)))[:, same.index(q.index)]
    made: Array = slopes / (4 * np.pi * np.sqrt(abs(own)))
    return made


def _stiffness(t: _Tangent, q: Quantity) -> Array:
    """Of 1 / (e^T P u) with K u = P^T e: stationary in u, so only P, K and the loops change."""
    P, T, K = t._answer("points")[6 * q.index : 6 * q.index + 6], t._answer("T"), t._answer("K")
    A = P @ T
    flow = np.linalg.solve(0.5 * (K + K.T), A.T)
    e = np.zeros(6)
    if q.part is not None:
        e[q.part] = 1.0
    else:
        used = [k for k in in_plane(t.of.core.model) if k < 3]
        e[used] = np.linalg.eigh((A @ flow)[np.ix_(used, used)])[1][:, -1]
    u = T @ (flow @ e)
    dK, _, turned = t.changes(u)
    dP = t._change(t.of.points, u)[:, 6 * q.index : 6 * q.index + 6]
    change = 2 * dP @ e + 2 * turned @ (P.T @ e - t.stiff(u)) - dK @ u
    made: Array = -change / float(e @ P @ u) ** 2
    return made


def _deflection(t: _Tangent, q: Quantity) -> Array:
    change = t.place(q.index, True) - t.place(q.index, False)
    if q.part is not None:
        return change[:, q.part]
    moved = t._answer("bent_places")[q.index] - t._answer("places")[q.index]
    made: Array = change @ moved / max(float(np.linalg.norm(moved)), 1e-300)
    return made


def _place(t: _Tangent, q: Quantity) -> Array:
    return t.place(q.index, False)[:, q.part or 0]


def _torque(t: _Tangent, q: Quantity) -> Array:
    tau = t._answer("tau")
    if q.part is not None:
        return t.bent[2][:, q.part]
    k = int(np.abs(tau).argmax())
    return t.bent[2][:, k] * float(np.sign(tau[k]))


def _mass(t: _Tangent, q: Quantity) -> Array:
    return _imaginary(t.of.mass(p=t.p)["mass"], len(t.directions))[:, 0]


SLOPES: dict[str, Callable[[_Tangent, Quantity], Array]] = {
    "f": _frequency, "stiffness": _stiffness, "deflection": _deflection, "place": _place, "torque": _torque, "mass": _mass,
}  # fmt: skip
