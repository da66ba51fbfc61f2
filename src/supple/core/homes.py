"""Home postures of designs whose loops depend on parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.backends.interpreter import interpret
from supple.core.compiled import ANSWERED, CARRIED_OVER, CLOSED_NEAR, Compiled, Seeds
from supple.core.free_parameters import FreeParameters
from supple.core.structure import Structure
from supple.expr.function import Function, function
from supple.expr.node import Expr
from supple.model.algebra import Array
from supple.model.closing import placed
from supple.model.model import Model
from supple.model.posture import idle_home, start

_SAME = 1e-8  # m or rad
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Homes:
    """The home posture of every design: of the branch that Newton's method finds from the assembly guess, as for a robot of
    its own. The robot's own home, carried over to the design in stages, has to end there too."""

    model: Model
    parameters: FreeParameters
    structure: Structure
    compiled: Compiled
    own: Array  # (nq,) the robot's own home
    own_p: Array
    assembly: str | None

    @property
    def alike(self) -> bool:
        """Whether all designs have the same loops."""
        own = self.parameters.symbols
        return not own.size or not depends(self.structure.functions.gaps, own)

    @cached_property
    def _guess(self) -> Function:
        """The assembly guess, which may depend on parameters."""
        numbers = placed(self.model, start(self.model, self.assembly), idle_home(self.model))
        made: list[Any] = numbers.tolist()
        mechanism = self.parameters.mechanism
        guess = mechanism.start[self.assembly or next(iter(mechanism.start))]
        for frame in mechanism.frames:
            if frame.motion != "spherical":
                for place, c in zip(range(frame.q.start, frame.q.stop), mechanism.coordinates[frame.v], strict=True):
                    x = guess.get(c.name, 0)
                    made[place] = x if isinstance(x, Expr) else made[place]
        return function("guess", {"p": self.parameters.symbols}, {"q": made})

    def of(self, p: Array, given: Array) -> tuple[Array, Mask]:
        """Home postures (n, nq) of designs p with what is given there, and which of them are certain."""
        rows, first, which = np.unique(p, axis=0, return_index=True, return_inverse=True)
        there, which = given[first], which.reshape(-1)
        carried, reached = self._run(self.own[None], self.own_p, there, rows, CARRIED_OVER)
        guess = np.broadcast_to(interpret(self._guess)(p=rows)["q"], (len(rows), len(self.own)))
        found, closes = self._run(np.ascontiguousarray(guess), rows, there, rows, CLOSED_NEAR)
        good = reached & closes & (self._apart(carried, found) < _SAME)
        return carried[which], good[which]

    def _run(self, q: Array, p: Array, given: Array, asked: Array, way: int) -> tuple[Array, Mask]:
        none, load = np.zeros((1, q.shape[1])), np.zeros((1, self.structure.loads))
        found = self.compiled.run(Seeds(q, p, none), given, asked, load, stage=0, wanted=("posture",), way=way)
        return found["posture"], np.asarray(found["status"] == ANSWERED)

    def _apart(self, first: Array, second: Array) -> Array:
        off = np.abs(first - second)
        for q, _ in self.structure.balls:
            ball = slice(q, q + 4)
            off[:, ball] = np.minimum(off[:, ball], np.abs(first[:, ball] + second[:, ball]))
        made: Array = off.max(axis=1, initial=0.0)
        return made


def depends(f: Function, p: Array) -> bool:
    """Whether outputs of a Function depend on parameters."""
    return not {id(x) for x in p.ravel()}.isdisjoint(id(x) for x in f.nodes)
