"""How far drives give way to loads, in batches, and the derivatives of that; `model/drives.py` says how it is meant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supple.core.core import Answers, Derivatives
from supple.model.algebra import Array, symmetric

NEEDED = frozenset({"points", "T", "K"})


@dataclass(frozen=True)
class _Compliant:
    """Of n poses: K, rows S of the servos' coordinates and A of a point's twist, loads f, and what follows from them."""

    K: Array
    S: Array
    A: Array
    f: Array

    @classmethod
    def of(cls, answers: Answers, servos: list[int], row: int) -> _Compliant:
        T, points = answers["T"], answers["points"]
        f = np.swapaxes(points @ T, 1, 2) @ _loads(answers)[..., None]
        return cls(symmetric(answers["K"]), T[:, servos], points[:, row : row + 6] @ T, f)

    def solved(self) -> tuple[Array, Array]:
        """V = K^-1 S^T and g = C^-1 V^T f: motions by servos, and forces that would hold them."""
        V: Array = np.linalg.solve(self.K, np.swapaxes(self.S, 1, 2)).astype(float)
        g: Array = np.linalg.solve(self.S @ V, np.swapaxes(V, 1, 2) @ self.f).astype(float)
        return V, g


def moved_by_drives(answers: Answers, servos: list[int], row: int) -> Array:
    """(n, 6) displacement and turn that drives add at the point whose twist begins at this row of `points`."""
    made = np.full((len(answers.status), 6), np.nan)
    good = answers.answered
    own = _Compliant.of(_taken(answers, good), servos, row)
    V, g = own.solved()
    made[good] = (own.A @ V @ g)[..., 0]
    return made


def drive_slopes(d: Derivatives, servos: list[int], row: int) -> Array:
    """(n, names, 6) derivatives of `moved_by_drives`; K, T and points have to be among the derivatives."""
    good = d.answers.answered & np.isfinite(d["K"]).all(axis=(1, 2, 3))
    made = np.full((*d["K"].shape[:2], 6), np.nan)
    answers = _taken(d.answers, good)
    own, rows = _Compliant.of(answers, servos, row), slice(row, row + 6)
    V, g = (x[:, None] for x in own.solved())
    T, points, load = answers["T"][:, None], answers["points"][:, None], _loads(answers)[:, None, :, None]
    dT, dpoints, dK = d["T"][good], d["points"][good], symmetric(d["K"][good])
    dS, dA = dT[:, :, servos], dpoints[:, :, rows] @ T + points[:, :, rows] @ dT
    df = np.swapaxes(dpoints @ T + points @ dT, 2, 3) @ load
    dV = np.linalg.solve(own.K[:, None], np.swapaxes(dS, 2, 3) - dK @ V)
    pushed = np.swapaxes(dV, 2, 3) @ own.f[:, None] + np.swapaxes(V, 2, 3) @ df
    S = own.S[:, None]
    dg = np.linalg.solve(S @ V, pushed - (dS @ V + S @ dV) @ g)
    made[good] = (dA @ V @ g + own.A[:, None] @ (dV @ g + V @ dg))[..., 0]
    return made


def _taken(answers: Answers, good: npt.NDArray[np.bool_]) -> Answers:
    found = {key: answers[key][good] for key in NEEDED}
    loads = answers.loads if len(answers.loads) == 1 else answers.loads[good]
    return Answers(answers.status[good], found, loads=loads)


def _loads(answers: Answers) -> Array:
    made: Array = np.broadcast_to(answers.loads, (len(answers.status), answers.loads.shape[1]))
    return made
