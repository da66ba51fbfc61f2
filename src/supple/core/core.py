"""`Core`: poses and designs of a robot answered in batches, by compiled C where it can, by the Model where it cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from supple.core.batch import Batch
from supple.core.compiled import ANSWERED, LINEAR
from supple.core.derivatives import along, directions
from supple.core.prepared import Prepared
from supple.model.algebra import Array


@dataclass(frozen=True)
class Answers:
    """What was asked of n poses, by name, not a number where there is no answer; and why not, for every one of those.

    T: (n, nv, m) motions of all coordinates for the m independent ones that M, K, D and H are of; squares: of angular
    frequencies, lowest first; shapes: (n, nv, modes), of unit modal mass; loads: (n or 1, 6 points) wrenches."""

    status: Array
    found: Mapping[str, Array]
    problems: Mapping[int, str] = field(default_factory=dict)
    loads: Array = field(default_factory=lambda: np.zeros((1, 0)))

    def __getitem__(self, name: str) -> Array:
        return self.found[name]

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        made: npt.NDArray[np.bool_] = self.status == ANSWERED
        return made


@dataclass(frozen=True)
class Derivatives:
    """Answers to n poses, and derivatives (n, names, ...) of what was wanted of them, in the shapes of the answers; of q as
    displacements, one number per velocity. Not numbers where there is no answer."""

    names: tuple[str, ...]
    answers: Answers
    found: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.found[name]


class Core(Prepared):
    """A robot whose poses are given by some coordinates, with its kept parameters as further inputs.

    Postures are those of `posture`: the straight way from home, in steps each of which is certain to stay on its branch, or
    a way around singular poses. An answer does not depend on what else is asked in the same batch."""

    def derivatives(
        self, poses: Array, p: Array | None = None, *, by: Sequence[str] | None = None, loads: Array | None = None,
        modes: int = 0, wanted: Collection[str] = ("M", "K"), threads: int = 1,
    ) -> Derivatives:  # fmt: skip
        """Answers to poses of designs with the derivatives of what is wanted of them by coordinates of the pose and kept
        parameters, all of them if `by` names none; the shift of the equilibrium included."""
        poses = np.atleast_2d(np.asarray(poses, dtype=float))
        values = np.array([self.robot.values]) if p is None else np.atleast_2d(np.asarray(p, dtype=float))
        count = max(len(poses), len(values))
        answers = self.answer(
            poses, values, loads=loads, modes=modes, wanted={*wanted, *(("shapes", "T") if modes else ())}, threads=threads
        )
        poses, values = (np.broadcast_to(x, (count, x.shape[1])) for x in (poses, values))
        inner = self.parameters.inputs(values)
        at = directions(self, poses, values, inner, by)
        made, good = along(self, at, dict(answers.found), inner, self._loads(loads), wanted)
        for value in made.values():
            value[(good == 0) | ~answers.answered] = np.nan
        return Derivatives(at.names, answers, made)

    def _loads(self, loads: Array | None) -> Array:
        """(n or 1, 6 points) wrenches at the named points."""
        none = np.zeros((1, 6 * len(self.model.mechanism.points)))
        return none if loads is None or not none.size else np.asarray(loads, dtype=float).reshape(-1, none.shape[1])

    def answer(
        self, poses: Array, p: Array | None = None, *, loads: Array | None = None, stage: int = LINEAR, modes: int = 0,
        wanted: Collection[str] = (), threads: int = 1,
    ) -> Answers:  # fmt: skip
        """Answers to poses (n, names) of designs p (n or 1 rows of values of the kept parameters; None: the robot's own)
        under wrenches at its points."""
        poses = np.atleast_2d(np.asarray(poses, dtype=float))
        p = np.array([self.robot.values]) if p is None else np.atleast_2d(np.asarray(p, dtype=float))
        modes = min(modes, len(self.structure.linear.independent))
        count = max(len(poses), len(p))
        poses = np.broadcast_to(poses, (count, poses.shape[1]))
        if len(p) > 1 and (p == p[:1]).all():
            p = p[:1]
        load = self._loads(loads)
        inner = self.parameters.inputs(p)
        held = self.held(poses, np.broadcast_to(inner, (count, inner.shape[1])))
        seeds, certain = self.seeds(inner)
        batch = Batch(self, poses, p, inner, held, seeds, load, stage, modes, frozenset(wanted), threads)
        return Answers(*batch.answered(np.broadcast_to(certain, count)), load)
