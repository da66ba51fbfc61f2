"""Stresses of a beam's sections in batches, every parameter free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from supple.backends.interpreter import interpret
from supple.core.prepared import Prepared
from supple.expr.function import function, symbols
from supple.model.algebra import Array
from supple.model.stresses import von_mises
from supple.robot.mechanism import Frame

_NUMBERS = ("area", "Iy", "Iz", "J")


def fibre_stress(core: Prepared, frame: Frame, relative: bool) -> Callable[[Array, Array], Array]:
    """Of equilibria (n, nq) and p (n, size): the largest stress (n,) in a frame's beam, relative to yield if asked for."""
    body = frame.body
    fibres = body.fibres
    assert fibres is not None
    q = symbols("q", core.structure.nq)
    x = q[frame.e].copy()
    for t in body.stretches:
        own = q[frame.e]
        taken = (own @ t.G @ own) / 2
        for k in t.coordinates:
            x[k] = x[k] + taken
    sizes = [*(getattr(fibres, key) for key in _NUMBERS), *fibres.form[1], fibres.limit if relative else 1]
    f = interpret(
        function("fibres", {"q": q, "p": core.parameters.symbols}, {"forces": fibres.forces @ x, "sizes": np.array(sizes)})
    )

    def of(at: Array, p: Array) -> Array:
        found = f(q=at, p=p)
        forces = np.broadcast_to(found["forces"], (len(at), *fibres.forces.shape[:2]))
        numbers = np.broadcast_to(found["sizes"], (len(at), len(sizes)))
        own = dict(zip(_NUMBERS, numbers.T[:4], strict=True))
        section = replace(fibres, **own, form=(fibres.form[0], tuple(numbers.T[4:-1])))
        made: Array = von_mises(section, forces).max(axis=1) / numbers[:, -1]
        return made

    return of
