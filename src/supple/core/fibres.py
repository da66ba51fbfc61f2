"""Stresses of a beam's sections in batches, every parameter free, and their exact derivatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from supple.backends.interpreter import interpret
from supple.core.prepared import Prepared
from supple.core.tangents import slopes
from supple.expr.function import Function, function, symbols
from supple.model.algebra import Array
from supple.model.stresses import von_mises, von_mises_slope
from supple.robot.bodies.record import Fibres
from supple.robot.mechanism import Frame

_NUMBERS = ("area", "Iy", "Iz", "J")


@dataclass(frozen=True)
class FibreStress:
    """The largest stress in a frame's beam, relative to yield if asked for."""

    core: Prepared
    frame: Frame
    relative: bool

    @property
    def _fibres(self) -> Fibres:
        assert self.frame.body.fibres is not None
        return self.frame.body.fibres

    @cached_property
    def _function(self) -> Function:
        """Forces of the sections, and sizes of the section with the yield stress last, of q and p."""
        q, fibres = symbols("q", self.core.structure.nq), self._fibres
        x = q[self.frame.e].copy()
        for t in self.frame.body.stretches:
            own = q[self.frame.e]
            taken = (own @ t.G @ own) / 2
            for k in t.coordinates:
                x[k] = x[k] + taken
        sizes = [*(getattr(fibres, key) for key in _NUMBERS), *fibres.form[1], fibres.limit if self.relative else 1]
        return function(
            "fibres", {"q": q, "p": self.core.parameters.symbols}, {"forces": fibres.forces @ x, "sizes": np.array(sizes)}
        )

    def _section(self, numbers: Array) -> Fibres:
        own = np.moveaxis(numbers, -1, 0)
        return replace(
            self._fibres, **dict(zip(_NUMBERS, own[:4], strict=True)), form=(self._fibres.form[0], tuple(own[4:-1]))
        )

    def _numbers(self, at: Array, p: Array) -> tuple[Array, Array]:
        found = interpret(self._function)(q=at, p=p)
        forces = np.broadcast_to(found["forces"], (len(at), *self._fibres.forces.shape[:2]))
        return forces, np.broadcast_to(found["sizes"], (len(at), self._function.outputs["sizes"].size))

    def __call__(self, at: Array, p: Array) -> Array:
        """(n,) of equilibria (n, nq) and p (n, size)."""
        forces, numbers = self._numbers(at, p)
        made: Array = von_mises(self._section(numbers), forces).max(axis=1) / numbers[:, -1]
        return made

    def slopes(self, at: Array, p: Array, dq: Array, dp: Array) -> Array:
        """(n, directions) derivatives along displacements dq (n, directions, nv) and dp (n, directions, size)."""
        forces, numbers = self._numbers(at, p)
        count, ways = dq.shape[:2]
        f = interpret(slopes(self._function, self.core.parameters.mechanism))
        wide = (np.repeat(x, ways, axis=0) for x in (at, p))
        found = f(
            **dict(zip(("q", "p"), wide, strict=True)), dq=dq.reshape(count * ways, -1), dp=dp.reshape(count * ways, -1)
        )
        dforces = np.broadcast_to(found["forces"], (count * ways, *forces.shape[1:])).reshape(count, ways, *forces.shape[1:])
        dnumbers = np.broadcast_to(found["sizes"], (count * ways, numbers.shape[1])).reshape(count, ways, -1)
        size = von_mises(self._section(numbers), forces)
        worst = size.argmax(axis=1)
        by = von_mises_slope(self._section(numbers[:, None]), self._section(dnumbers), forces[:, None], dforces)
        rows, limit = np.arange(count), numbers[:, -1:]
        made: Array = by[rows, :, worst] / limit - size[rows, worst][:, None] * dnumbers[..., -1] / limit**2
        return made
