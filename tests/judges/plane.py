"""Plane frames of corotational beams in motion: large rotations, pins without constraints, Radau's method in time.

Coordinates are places of points (shared by what is pinned there) and angles (shared by what is clamped to each other), so
robots whose joints are all pins have no constraints. An element's strain energy is that of frame.py, in closed form here.
Its kinetic energy is that of the velocities interpolated in the frame of its chord, T = 1/2 q'^T M(beta) q', with all terms
of the chord's rotation: d/dt (M q') - 1/2 grad (q'^T M q') = M q'' + beta' M' q' - 1/2 (q'^T M' q') grad beta.
Damping is that of the strains: the local stiffness times a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import eigh, lu_factor, lu_solve

from judges.elements import Beam, Element, _bending, _local_mass, _slope_forms

Array = np.ndarray
IN_PLANE = np.array([0, 1, 5, 6, 7, 11])


@dataclass(frozen=True)
class Bar:
    """A beam between coordinates: (x, y, angle) of either end, and what the beam's direction adds to the angles."""

    ends: tuple[int, int, int, int, int, int]
    offsets: tuple[float, float]
    length: float
    beam: Beam


class Plane:
    """A frame of bars; `moving` coordinates are integrated, the others stay or follow `given`."""

    def __init__(
        self, start: Array, moving: Array, bars: list[Bar], gravity: tuple[float, float] = (0, 0), damping: float = 0.0
    ) -> None:
        self.start, self.moving, self.damping = np.asarray(start, float), np.asarray(moving), damping
        self.where = np.array([bar.ends for bar in bars])
        self.offsets = np.array([bar.offsets for bar in bars])
        self.L = np.array([bar.length for bar in bars])
        self.EA = np.array([bar.beam.E * bar.beam.area for bar in bars])
        elements = [Element((0, 1), (np.zeros(3), np.zeros(3)), (np.eye(3), np.eye(3)), b.length, b.beam) for b in bars]
        self.K = _bending(elements, 0)
        self.G = np.array([_slope_forms(e.shear()[0])[0] for e in elements])
        self.M = np.array([_local_mass(e)[np.ix_(IN_PLANE, IN_PLANE)] for e in elements])
        self.pull = np.zeros(len(self.start))  # gravity as an acceleration of the coordinates
        self.pull[self.where[:, [0, 3]]] = gravity[0]
        self.pull[self.where[:, [1, 4]]] = gravity[1]

    def _chord(self, q: Array) -> tuple[Array, ...]:
        """Length, rows r = grad length and b = grad angle, local rotations, rotation T of the chord and dT/dbeta."""
        u = q[self.where]
        dx, dy = u[:, 3] - u[:, 0], u[:, 4] - u[:, 1]
        now = np.hypot(dx, dy)
        c, s, o = dx / now, dy / now, np.zeros_like(now)
        r, z = np.stack([-c, -s, o, c, s, o], 1), np.stack([s, -c, o, -s, c, o], 1)
        raw = u[:, [2, 5]] + self.offsets - np.arctan2(dy, dx)[:, None]
        theta = np.arctan2(np.sin(raw), np.cos(raw))
        T, dT = np.zeros((len(now), 6, 6)), np.zeros((len(now), 6, 6))
        for k in (0, 3):
            T[:, k, k], T[:, k, k + 1], T[:, k + 1, k], T[:, k + 1, k + 1], T[:, k + 2, k + 2] = c, s, -s, c, 1.0
            dT[:, k, k], dT[:, k, k + 1], dT[:, k + 1, k], dT[:, k + 1, k + 1] = -s, c, -c, -s
        return now, r, z, theta, T, dT

    def _strain(self, chord: tuple[Array, ...], tangent: bool) -> tuple[Array, Array, Array]:
        """Forces, their tangent (if asked for) and the linear damping matrix of the elements."""
        now, r, z, theta, _, _ = chord
        b = z / now[:, None]
        B = np.zeros((len(now), 3, 6))
        B[:, 0], B[:, 1], B[:, 2] = r, -b, -b
        B[:, 1, 2] += 1.0
        B[:, 2, 5] += 1.0
        Gt = np.einsum("eij,ej->ei", self.G, theta)
        N = self.EA * ((now - self.L) / self.L + 0.5 * np.einsum("ei,ei->e", theta, Gt))
        moments = np.einsum("eij,ej->ei", self.K, theta) + (N * self.L)[:, None] * Gt
        force = np.einsum("eji,ej->ei", B, np.concatenate([N[:, None], moments], 1))
        linear = np.zeros((len(now), 3, 3))
        linear[:, 0, 0], linear[:, 1:, 1:] = self.EA / self.L, self.K
        D = self.damping * np.einsum("eji,ejk,ekl->eil", B, linear, B)
        if not tangent:
            return force, D, D
        local = linear.copy()
        local[:, 0, 1:] = local[:, 1:, 0] = self.EA[:, None] * Gt
        local[:, 1:, 1:] += (N * self.L)[:, None, None] * self.G + (self.EA * self.L)[:, None, None] * Gt[:, :, None] * Gt[
            :, None, :
        ]
        K = np.einsum("eji,ejk,ekl->eil", B, local, B) + (N / now)[:, None, None] * z[:, :, None] * z[:, None, :]
        turn = (moments.sum(1) / now**2)[:, None, None]
        return force, K + turn * (r[:, :, None] * z[:, None, :] + z[:, :, None] * r[:, None, :]), D

    def _gather(self, vectors: Array) -> Array:
        out = np.zeros(len(self.start))
        np.add.at(out, self.where, vectors)
        return out

    def _matrix(self, blocks: Array) -> Array:
        out = np.zeros((len(self.start), len(self.start)))
        np.add.at(out, (self.where[:, :, None], self.where[:, None, :]), blocks)
        return out

    def system(self, q: Array, v: Array) -> tuple[Array, Array]:
        """M(q) and all forces but the motors' (to the right), gravity included."""
        chord = self._chord(q)
        now, _, z, _, T, dT = chord
        force, D, _ = self._strain(chord, tangent=False)
        ve = v[self.where]
        M = T.transpose(0, 2, 1) @ self.M @ T
        half = dT.transpose(0, 2, 1) @ self.M @ T
        dM_v = np.einsum("eij,ej->ei", half + half.transpose(0, 2, 1), ve)
        b = z / now[:, None]
        rate = np.einsum("ei,ei->e", b, ve)
        inertia = rate[:, None] * dM_v - 0.5 * np.einsum("ei,ei->e", ve, dM_v)[:, None] * b
        pulled = np.einsum("eij,ej->ei", M, self.pull[self.where])
        return self._matrix(M), self._gather(pulled - inertia - force - np.einsum("eij,ej->ei", D, ve))

    def tangents(self, q: Array) -> tuple[Array, Array, Array]:
        """M, K and D of the moving coordinates, at rest."""
        chord = self._chord(q)
        _, K, D = self._strain(chord, tangent=True)
        M = chord[4].transpose(0, 2, 1) @ self.M @ chord[4]
        at = np.ix_(self.moving, self.moving)
        return self._matrix(M)[at], self._matrix(K)[at], self._matrix(D)[at]

    def equilibrium(self, held: Array) -> Array:
        """Coordinates at rest under gravity, with `held` coordinates (and all that do not move) where they start."""
        q, free = self.start.copy(), np.setdiff1d(self.moving, held)
        for _ in range(50):
            chord = self._chord(q)
            K = self._matrix(self._strain(chord, tangent=True)[1])
            _, f = self.system(q, np.zeros_like(q))
            step = np.linalg.solve(K[np.ix_(free, free)], f[free])
            q[free] += step * min(1.0, 0.1 / np.abs(step).max())
            if np.abs(step).max() < 1e-12:
                return q
        raise ArithmeticError("no equilibrium")

    def frequencies(self, q: Array, held: Array, count: int) -> Array:
        """Hz, with coordinates held; without the curvature of gravity on bowed elements, which is small."""
        M, K, _ = self.tangents(q)
        keep = np.isin(self.moving, held, invert=True)
        squares = eigh(K[np.ix_(keep, keep)], M[np.ix_(keep, keep)], eigvals_only=True)[:count]
        return np.sqrt(squares) / (2 * np.pi)

    def acceleration(self, q: Array, v: Array, drive: Array, given: Array | None = None) -> Array:
        """Accelerations of all coordinates under motor forces `drive`; `given` are those of coordinates that do not move."""
        M, f = self.system(q, v)
        a = np.zeros(len(q)) if given is None else given.copy()
        rows = self.moving
        a[rows] = 0.0
        a[rows] = np.linalg.solve(M[np.ix_(rows, rows)], (f + drive - M @ a)[rows])
        return a

    def move(
        self, q: Array, v: Array, span: tuple[float, float], times: Array, drive: Callable[[float], Array],
        given: Callable[[float], tuple[Array, Array, Array]] | None = None, rtol: float = 1e-6, max_step: float = np.inf,
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """Coordinates, velocities and accelerations at times within a span in which the drive is smooth."""
        n, rows = len(self.moving), self.moving

        def whole(t: float, y: Array) -> tuple[Array, Array, Array | None]:
            Q, V, A = (q.copy(), v.copy(), None) if given is None else given(t)
            Q[rows], V[rows] = y[:n], y[n:]
            return Q, V, A

        def rate(t: float, y: Array) -> Array:
            Q, V, A = whole(t, y)
            return np.concatenate([y[n:], self.acceleration(Q, V, drive(t), A)[rows]])

        def jacobian(t: float, y: Array) -> Array:
            M, K, D = self.tangents(whole(t, y)[0])
            factors = lu_factor(M)
            lower = -lu_solve(factors, np.concatenate([K, D], 1))
            return np.block([[np.zeros((n, n)), np.eye(n)], [lower[:, :n], lower[:, n:]]])

        scale = np.concatenate([np.full(n, 1e-3 * rtol), np.full(n, rtol)])
        y0 = np.concatenate([q[rows], v[rows]])
        found = solve_ivp(rate, span, y0, "Radau", t_eval=times, jac=jacobian, rtol=rtol, atol=scale, max_step=max_step)
        if not found.success:
            raise ArithmeticError(found.message)
        states = [whole(t, y) for t, y in zip(times, found.y.T, strict=True)]
        accelerations = [self.acceleration(Q, V, drive(t), A) for t, (Q, V, A) in zip(times, states, strict=True)]
        return np.array([s[0] for s in states]), np.array([s[1] for s in states]), np.array(accelerations)
