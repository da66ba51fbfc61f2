"""`Led`: the small motions of a robot along a path, as a linear system from its actuators' jerk to an output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from supple.model.algebra import Array, eigh
from supple.model.equilibrium import equilibrium, linearise
from supple.model.model import Model
from supple.model.posture import posture
from supple.motion.trajectory import Trajectory
from supple.simulation.partition import partition
from supple.simulation.preview import Preview, held, preview

_POSES = 9  # at most
_APART = 0.05  # m or rad between two of them
_WEIGHT = 1.0  # of an output against the jerk that makes it in a step: corrections above 1/step rad/s are left out


@dataclass(frozen=True)
class _Pose:
    """M, D, K on independent coordinates, actuators first; rows of the output, and of coordinates with friction."""

    M: Array
    D: Array
    K: Array
    C: Array
    rubbing: Array


@dataclass(frozen=True)
class Led:
    """Small motions at times of a path; `drives`: how many of the coordinates are actuators."""

    times: Array
    poses: tuple[_Pose, ...]
    drives: int
    friction: Mapping[str, tuple[float, float]]  # by coordinate: Coulomb friction and its width
    slowest: float  # Hz, of the vibrations with actuators held

    def static(self, times: Array) -> Array:
        """How the actuators move for outputs while the robot bends without vibrating (times, actuators, outputs)."""
        m = self.drives
        made = [np.asarray(np.linalg.inv(p.C[:, :m] + p.C[:, m:] @ self._bent(p)), dtype=float) for p in self.poses]
        return self._between(times, made)

    def resting(self, output: Array) -> Array:
        """The state at rest at the first pose with this output."""
        m, p = self.drives, self.poses[0]
        state = np.zeros(len(self._jerk()))
        state[:m] = self.static(self.times[:1])[0] @ output
        state[3 * m : 2 * m + len(p.M)] = self._bent(p) @ state[:m]
        return state

    def _bent(self, p: _Pose) -> Array:
        """How the other coordinates follow the actuators at rest."""
        m = self.drives
        return np.asarray(-np.linalg.solve(p.K[m:, m:], p.K[m:, :m]), dtype=float)

    def preview(self, times: Array, speeds: Mapping[str, Array]) -> Preview:
        """The tracker of outputs at times; `speeds` (times,) of coordinates say how their friction resists."""
        step = float(times[1] - times[0])
        middle = 0.5 * (times[1:] + times[:-1])
        outputs = self._between(times, [self._output(p) for p in self.poses])
        if self.friction:
            resisted = self._slopes(middle, times, speeds)
            F = self._between(middle, [self._system(p) for p in self.poses])
            rub = self._between(middle, [p.rubbing for p in self.poses])
            masses = self._between(middle, [p.M for p in self.poses])
            A, B = held(self._rubbed(F, masses, rub, resisted), self._jerk(), step)
        else:
            pairs = [held(self._system(p), self._jerk(), step) for p in self.poses]
            A, B = (self._between(middle, [x[k] for x in pairs]) for k in range(2))
        return preview(A, B, outputs, (_WEIGHT * step**3) ** 2)

    def actuators(self, states: Array) -> Array:
        return states[:, : self.drives]

    def _between(self, times: Array, parts: list[Array]) -> Array:
        """Matrices between those of the poses, by hats."""
        if len(parts) == 1:
            return np.broadcast_to(parts[0], (len(times), *parts[0].shape))
        share = np.array([np.interp(times, self.times, row) for row in np.eye(len(parts))])
        made: Array = np.einsum("kt,k...->t...", share, np.array(parts))
        return made

    # states: places, rates, accelerations of the actuators; the others' displacements and rates

    def _jerk(self) -> Array:
        m, n = self.drives, len(self.poses[0].M)
        G = np.zeros((m + 2 * n, m))
        G[2 * m : 3 * m] = np.eye(m)
        return G

    def _output(self, p: _Pose) -> Array:
        m, n = self.drives, len(p.M)
        C = np.zeros((len(p.C), m + 2 * n))
        C[:, :m], C[:, 3 * m : 2 * m + n] = p.C[:, :m], p.C[:, m:]
        return C

    def _system(self, p: _Pose) -> Array:
        m, n = self.drives, len(p.M)
        e, r = slice(3 * m, 2 * m + n), slice(2 * m + n, m + 2 * n)
        F = np.zeros((m + 2 * n, m + 2 * n))
        F[: 2 * m, m : 3 * m] = np.eye(2 * m)
        F[e, r] = np.eye(n - m)
        forces = np.hstack([p.K[m:, :m], p.D[m:, :m], p.M[m:, :m], p.K[m:, m:], p.D[m:, m:]])
        F[r] = -np.linalg.solve(p.M[m:, m:], forces)
        return F

    def _rubbed(self, F: Array, masses: Array, rub: Array, slopes: Array) -> Array:
        """The systems with friction that resists by `slopes` (times, coordinates)."""
        m, n = self.drives, masses.shape[-1]
        more = np.einsum("tki,tk,tkj->tij", rub, slopes, rub)[:, m:]
        more = np.linalg.solve(masses[:, m:, m:], more)
        made = np.array(F)
        made[:, 2 * m + n :, m : 2 * m] -= more[..., :m]
        made[:, 2 * m + n :, 2 * m + n :] -= more[..., m:]
        return made

    def _slopes(self, middle: Array, times: Array, speeds: Mapping[str, Array]) -> Array:
        """Derivatives of smoothed Coulomb friction by the speed."""
        made = []
        for name, (force, width) in self.friction.items():
            v = np.interp(middle, times, speeds[name]) if name in speeds else np.zeros(len(middle))
            made.append(force * width**2 / (v**2 + width**2) ** 1.5)
        return np.array(made).T


def led_along(model: Model, path: Trajectory, assembly: str | None, rows: Callable[[Model, Array], Array]) -> Led:
    """The small motions of a robot along the path of its actuators; `rows` of an output over v at a posture."""
    times = np.linspace(path.start, path.end, 401)
    gone = np.concatenate([[0.0], np.abs(np.diff(path(times)[0], axis=0)).sum(axis=1).cumsum()])
    count = int(np.clip(np.ceil(gone[-1] / _APART) + 1, 1, _POSES))
    wanted = np.linspace(0.0, gone[-1], count) if count > 1 else np.zeros(1)
    chosen = times[np.unique(np.searchsorted(gone, wanted - 1e-12))]
    coordinates = model.mechanism.coordinates
    friction = {c.name: (float(c.coulomb), float(c.width)) for c in coordinates if float(c.coulomb) and float(c.width)}
    poses: list[_Pose] = []
    independent: list[int] = []
    for t in chosen:
        at = dict(zip(path.names, path(t)[0].tolist(), strict=True))
        rest = equilibrium(model, posture(model, at, assembly))
        if not independent:
            parts = partition(model, rest.q, [model.names[i] for i in model.active])
            independent = [*model.active.tolist(), *parts.free]
        linear, T = linearise(model, rest, free=True), model.expansion(rest.q, independent)
        D = T.T @ model.damping(rest.q) @ T
        rubbing = model.held([model.index(n) for n in friction]) @ T
        poses.append(_Pose(T.T @ linear.M_tree @ T, D, T.T @ linear.K_tree @ T, rows(model, rest.q) @ T, rubbing))
    m = len(model.active)
    return Led(chosen, tuple(poses), m, friction, _slowest(poses, m))


def _slowest(poses: list[_Pose], m: int) -> float:
    """The lowest frequency with the actuators held, in Hz."""
    found = [eigh(0.5 * (p.K + p.K.T)[m:, m:], p.M[m:, m:], 1)[0][0] for p in poses]
    return float(np.sqrt(max(min(found), 1e-6))) / (2 * np.pi)
