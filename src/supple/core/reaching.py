"""Poses that the straight way from home does not reach: next to a singular pose, around one, out of reach, or untold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supple.core.compiled import ANSWERED, CLOSED_NEAR, WALKED, Compiled, Seeds
from supple.expr.function import Indices
from supple.model.algebra import Array
from supple.model.assembly import SINGULAR_END, detours, out_of_reach, untold
from supple.model.closing import placed
from supple.model.continuation import HeldPostures, Walked, apart
from supple.model.model import Model

_NEAR = 0.1  # m or rad: how far a pose may be from a singular one next to it
_TOLD = 20  # poses out of reach of which it is said which loop stays open
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Stuck:
    """Poses whose straight way ends early: where, after which share, and what they asked for."""

    home: Array  # (n, nq)
    ends: Array  # (n, nq)
    shares: Array
    given: Array
    p: Array
    goals: Array  # (n, held) values of held coordinates

    def of(self, rows: Indices) -> Stuck:
        return Stuck(*(getattr(self, f)[rows] for f in ("home", "ends", "shares", "given", "p", "goals")))


@dataclass(frozen=True)
class Reaching:
    """Ways of a compiled robot with these coordinates held; given: values of held coordinates -> places in q."""

    model: Model
    held: tuple[int, ...]
    compiled: Compiled
    given: Callable[[Array], Array]

    def _run(self, q: Array, given: Array, p: Array, way: int) -> tuple[Array, Mask]:
        none = np.zeros((1, self.model.mechanism.nq))
        load = np.zeros((1, self.compiled.structure.loads))
        found = self.compiled.run(Seeds(q, p, none), given, p, load, stage=0, wanted=("posture",), way=way)
        return found["posture"], np.asarray(found["status"] == ANSWERED)

    def reached(self, stuck: Stuck, *, around: bool = True) -> tuple[Array, Mask, dict[int, str]]:
        """Postures (n, nq), which of them there are, and words for the others. `around`: the Model is that of the designs,
        so that ways around singular poses can be planned by it."""
        ahead, closes = self._run(stuck.ends, stuck.given, stuck.p, CLOSED_NEAR)
        next_to = closes & (1.0 - stuck.shares < SINGULAR_END) & (self._apart(stuck.ends, ahead) < _NEAR)
        _, closes_at_all = self._run(stuck.home, stuck.given, stuck.p, CLOSED_NEAR)
        outside = ~closes & ~closes_at_all
        words = {}
        for row in np.flatnonzero(outside)[: _TOLD if around else 0].tolist():
            held = self._held(stuck, row)
            words[row] = out_of_reach(self.model, placed(self.model, stuck.ends[row], held), held, stuck.shares[row])
        left = np.flatnonzero(~next_to & ~outside)
        if around and left.size:
            found, there = self._around(stuck.of(left))
            ahead[left[there]], next_to[left[there]] = found[there], True
        for row in np.flatnonzero(~next_to).tolist():
            words.setdefault(row, untold(self.model, self._held(stuck, row), stuck.shares[row], outside=bool(outside[row])))
        return ahead, next_to, words

    def _held(self, stuck: Stuck, row: int) -> dict[int, float]:
        return dict(zip(self.held, stuck.goals[row].tolist(), strict=True))

    def _apart(self, first: Array, second: Array) -> Array:
        return np.array([np.abs(apart(self.model, a, b)).max() for a, b in zip(first, second, strict=True)])

    def _around(self, stuck: Stuck) -> tuple[Array, Mask]:
        """Ends of ways around singular poses, and which were found."""
        way = HeldPostures(self.model, self.held)
        listed = [
            list(detours(way, q, goal, Walked(end, float(share))))
            for q, goal, end, share in zip(stuck.home, stuck.goals, stuck.ends, stuck.shares, strict=True)
        ]
        found, there = stuck.ends.copy(), np.zeros(len(listed), dtype=bool)
        for turn in range(max(map(len, listed), default=0)):
            some = np.array([k for k, places in enumerate(listed) if not there[k] and turn < len(places)], dtype=int)
            if not some.size:
                break
            part = stuck.of(some)
            by = self.given(np.array([listed[k][turn] for k in some]))
            corner, got = self._run(part.home, by, part.p, WALKED)
            end, arrived = self._run(corner, part.given, part.p, WALKED)
            good = got & arrived
            found[some[good]], there[some[good]] = end[good], True
        return found, there
