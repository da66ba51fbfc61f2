"""`Question`: what is asked of every case of a study; and `Part`, the answers to some cases."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from supple.core.compiled import ANSWERED, EQUILIBRIA, NOT_REACHED
from supple.core.core import Answers, Core
from supple.core.quantities import Quantity, evaluated, quantity
from supple.machine import Machine
from supple.model.algebra import Array, one_thread, row_scaled
from supple.model.limits import strokes

_MOST = 4096  # cases of one part
_BYTES = 64_000_000  # of what the core answers to one part
_CORES: OrderedDict[str, Core] = OrderedDict()  # of this process, by the fingerprint of their question
_KEPT = 4
_MORE = 3  # modes beyond those that are followed


@dataclass(frozen=True)
class Cases:
    """Poses (n, names) of designs p (n rows of values of the kept parameters; None: the robot's own)."""

    poses: Array
    p: Array | None = None

    def __len__(self) -> int:
        return len(self.poses)

    def taken(self, rows: Any) -> Cases:
        return Cases(self.poses[rows], None if self.p is None else self.p[rows])


@dataclass(frozen=True)
class Part:
    """Answers to some cases: their status, the quantities (n, asked), how far they are from a singularity, reasons, and how
    far from the pose they come to rest (m or rad)."""

    status: Array
    values: Array
    regular: Array
    problems: Mapping[int, str] = field(default_factory=dict)
    away: Array = field(default_factory=lambda: np.zeros(0))
    squares: Array = field(default_factory=lambda: np.zeros((0, 0)))  # of modes that are followed, with shapes and momenta
    shapes: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    momenta: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))

    @property
    def answered(self) -> Any:
        return self.status == ANSWERED


@dataclass(frozen=True, eq=False)
class Question:
    """Quantities asked of a robot whose poses are given by some coordinates, under wrenches at its points."""

    robot: Machine
    names: tuple[str, ...]
    asked: tuple[str, ...]
    wrenches: Array
    free: bool = False
    assembly: str | None = None
    follow: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """What other processes need: the robot as it was read, without what was derived from it here."""
        plain = Machine(self.robot.source, dict(self.robot.settings), self.robot.keep)
        fields = ("names", "asked", "wrenches", "free", "assembly", "follow")
        return {"robot": plain, **{k: getattr(self, k) for k in fields}, "fingerprint": self.fingerprint}

    @cached_property
    def core(self) -> Core:
        return Core(self.robot, self.names, free=self.free, assembly=self.assembly)

    @cached_property
    def quantities(self) -> list[Quantity]:
        return [quantity(self.core, text) for text in self.asked]

    @cached_property
    def fingerprint(self) -> str:
        """What must be the same for answers to be the same to the last bit."""
        source = self.robot.source
        about = [
            version("supple"), Path(str(self.core.compiled.library._name)).name, source.sha256,
            {k: str(v) for k, v in self.robot.settings.items()}, self.robot.keep, self.names, self.asked, self.free,
            self.assembly, self.follow,
        ]  # fmt: skip
        made = hashlib.sha256(json.dumps(about).encode())
        for table in (self.wrenches, self.core.home):
            made.update(np.ascontiguousarray(table).tobytes())
        return made.hexdigest()

    @cached_property
    def size(self) -> int:
        """How many cases make a part: as many as keep the answers in memory, and never a matter of who works on them."""
        names = self._needed | self._also | frozenset(x for q in self.quantities for x in q.wanted)
        shapes = self.core.compiled.shapes(max(self.tracked, *(q.modes for q in self.quantities), 0))
        bytes_each = 8 * sum(int(np.prod(shape)) for name, shape in shapes.items() if name in names)
        bytes_each += 8 * self.core.structure.nv * len(self.core.structure.linear.independent) * ("T" in names)
        return max(64, min(_MOST, 1 << int(np.log2(max(1.0, _BYTES / bytes_each)))))

    _needed = frozenset({"posture", "q", "lam", "J"})

    @property
    def followed(self) -> list[int]:
        """Modes (from 0) that are followed by their shapes."""
        return sorted({q.index for q in self.quantities if q.kind == "f"}) if self.follow else []

    @property
    def tracked(self) -> int:
        """How many modes are looked at for those that are followed: some more, which they may change places with."""
        most = len(self.core.structure.linear.independent)
        return min(most, max(self.followed) + 1 + _MORE) if self.followed else 0

    @property
    def _also(self) -> frozenset[str]:
        return frozenset({"J", "posture"}) | (frozenset({"M", "shapes"}) if self.follow else frozenset())

    @one_thread
    def part(self, cases: Cases, threads: int = 1) -> Part:
        """The Part of some cases, the same to the last bit wherever and by how many threads it is computed."""
        answers, found = evaluated(
            self.core, self.quantities, cases.poses, cases.p, self.wrenches, threads, also=self._also, modes=self.tracked
        )  # fmt: skip
        values = np.column_stack(found) if found else np.zeros((len(cases), 0))
        regular, status, problems = _regular(self.core, answers), answers.status.copy(), dict(answers.problems)
        for row, words in self._beyond(answers).items():
            status[row], problems[row] = NOT_REACHED, words
            values[row], regular[row] = np.nan, np.nan
        away, tracks = self._away(answers, status), self._tracks(answers, status) if self.follow else ()
        return Part(status, values, regular, problems, away, *tracks)

    def _tracks(self, answers: Answers, status: Array) -> tuple[Array, Array, Array]:
        """Squares (n, modes), shapes and momenta (n, independent motions, modes) of the modes that are looked at."""
        shapes = answers["shapes"][:, list(self.core.structure.linear.independent), : self.tracked]
        made = answers["squares"][:, : self.tracked].copy(), shapes, answers["M"] @ shapes
        for table in made:
            table[status != ANSWERED] = np.nan
        return made

    def _away(self, answers: Answers, status: Array) -> Array:
        """How far weight and loads push the joints from where the pose has them at most: m or rad, 0 where not asked."""
        frames = self.core.model.mechanism.frames
        joints = [f.q.start for f in frames if f.motion in ("revolute", "prismatic")]
        if not joints or max((q.stage for q in self.quantities), default=0) < EQUILIBRIA:
            return np.zeros(len(status))
        moved = np.abs(answers["q"][:, joints] - answers["posture"][:, joints]).max(axis=1)
        return np.where(status == ANSWERED, moved, 0.0)

    def squares(self, poses: Array, p: Array | None, modes: int) -> Array:
        """(n, modes) squares of angular frequencies of further cases."""
        return self.core.answer(poses, p, loads=self.wrenches, modes=modes)["squares"]

    def _beyond(self, answers: Answers) -> dict[int, str]:
        """Poses in which a joint is beyond its limits, with words."""
        made: dict[int, str] = {}
        for name, place, low, high, unit in strokes(self.robot.mechanism()) if len(answers.status) else ():
            x = answers["posture"][:, place]
            for row in np.flatnonzero(answers.answered & ((x < low) | (x > high))).tolist():
                made.setdefault(
                    row, f"{name} would be at {x[row]:.4g} {unit}, beyond its limits of {low:.4g} and {high:.4g}"
                )
        return made


def _regular(core: Core, answers: Answers) -> Array:
    """How far from losing hold of the platform with locked actuators: the least singular value of the loops' Jacobian by
    what follows the actuators, rows of unit length; with the sign of its determinant, which changes where it is crossed."""
    kinds = [c.kind for c in core.model.mechanism.coordinates]
    follow = [i for i, kind in enumerate(kinds) if kind not in ("active", "elastic")]
    made = np.full(len(answers.status), np.nan)
    J = answers["J"]
    good = np.flatnonzero(answers.answered & np.isfinite(J).all(axis=(1, 2)))
    if not len(good) or not follow or J.shape[1] < len(follow):
        return made
    own = np.array([row_scaled(x) for x in J[good][:, :, follow]])
    made[good] = np.linalg.svd(own, compute_uv=False)[:, -1]
    if own.shape[1] == own.shape[2]:
        made[good] *= np.linalg.slogdet(own)[0]
    return made


def part_elsewhere(question: Question, cases: Cases) -> Part:
    """The Part of some cases in a process that may know the question's core already."""
    key = question.fingerprint
    if key not in _CORES:
        _CORES[key] = question.core
        while len(_CORES) > _KEPT:
            _CORES.popitem(last=False)
    question.__dict__["core"] = _CORES[key]
    return question.part(cases)
