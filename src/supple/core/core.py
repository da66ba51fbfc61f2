"""`Core`: poses and designs of a robot answered in batches, by compiled C where it can, by the Model where it cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from supple.core.batch import Batch
from supple.core.compiled import ANSWERED, LINEAR
from supple.core.prepared import Prepared
from supple.model.algebra import Array


@dataclass(frozen=True)
class Answers:
    """What was asked of n poses, by name, not a number where there is no answer; and why not, for every one of those.

    T: (n, nv, m) motions of all coordinates for the m independent ones that M, K, D and H are of; squares: of angular
    frequencies, lowest first; shapes: (n, nv, modes), of unit modal mass."""

    status: Array
    found: Mapping[str, Array]
    problems: Mapping[int, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        return self.found[name]

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        made: npt.NDArray[np.bool_] = self.status == ANSWERED
        return made


class Core(Prepared):
    """A robot whose poses are given by some coordinates, with its kept parameters as further inputs.

    Postures are those of `posture`: the straight way from home, in steps each of which is certain to stay on its branch, or
    a way around singular poses. An answer does not depend on what else is asked in the same batch."""

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
        load = np.zeros((1, 6 * len(self.model.mechanism.points)))
        if loads is not None:
            load = np.asarray(loads, dtype=float).reshape(-1, load.shape[1])
        inner = self.parameters.inputs(p)
        held = self.held(poses, np.broadcast_to(inner, (count, inner.shape[1])))
        seeds, certain = self.seeds(inner)
        batch = Batch(self, poses, p, inner, held, seeds, load, stage, modes, frozenset(wanted), threads)
        return Answers(*batch.answered(np.broadcast_to(certain, count)))
