"""What bending changes of a body's matrices, for bent.h: `bend_terms` of its inertia, `stretched` of its strains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.expr.function import Array
from supple.robot.bodies.record import Body, Stretch

_I, _BETA, _TWIST = 21, 39, 36  # in M of a twist (6 x 6) the first moment of inertia; behind that beta; what M is in all


class Term(NamedTuple):
    """Something added to a number of a body's inertia (as `limbs.rigid` has them), times one or two elastic coordinates."""

    to: int
    first: int
    second: int  # -1: none
    by: float


def bend_terms(body: Body, twists: Sequence[int]) -> list[Term]:
    """MS_de e, lam e, and I_re e and e I_ee e of I, by the numbers that they change; `twists`: parts of twists there are."""
    found = [x for k in range(len(body.coordinates)) for x in _linear(body, k)] + _quadratic(body)
    kept = {k: i for i, k in enumerate(twists)}
    return [x._replace(to=_place(x.to, kept)) for x in found if _parts(x.to) <= set(kept)]


def _parts(to: int) -> set[int]:
    """Parts of twists that a number is about."""
    return {to // 6, to % 6} if to < _TWIST else {to % 6}


def _place(to: int, kept: dict[int, int]) -> int:
    """Its place where only some parts are kept."""
    n = len(kept)
    return n * kept[to // 6] + kept[to % 6] if to < _TWIST else n * n + n * ((to - _TWIST) // 6) + kept[to % 6]


def _linear(body: Body, k: int) -> list[Term]:
    """What a coordinate changes by itself."""
    S = _hat(body.MS_de[:, k].astype(float))
    turned = body.I_re[k].astype(float) if len(body.I_re) else np.zeros((3, 3))
    M = np.block([[np.zeros((3, 3)), -S], [S, turned + turned.T]])
    found = [Term(int(to), k, -1, float(M.flat[to])) for to in np.flatnonzero(M)]
    lam = body.lam[k].astype(float) if len(body.lam) else np.zeros((len(body.coordinates), 3))
    return found + [Term(_BETA + 6 * int(i) + int(c), k, -1, float(lam[i, c])) for i, c in np.argwhere(lam)]


def _quadratic(body: Body) -> list[Term]:
    """What two coordinates change of the moments of inertia; equal pairs together."""
    if not len(body.I_ee):
        return []
    pairs, found = np.argwhere(body.turning | body.turning.T), list[Term]()
    for i, k in ((int(i), int(k)) for i, k in pairs if i <= k):
        both = (body.I_ee[i, k] + (body.I_ee[k, i] if i < k else 0)).astype(float)
        both = 0.5 * (both + both.T)
        found += [Term(_I + 6 * int(r) + int(c), i, k, float(both[r, c])) for r, c in np.argwhere(both)]
    return found


def _hat(x: Array) -> Array:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


class Window(NamedTuple):
    """A stretch beside its element: elastic coordinates from `first` on, as many as `numbers` are for.

    G of what bending takes off, K a and D a of the coordinates a that it stretches, and a.K a, a.D a."""

    first: int
    G: Array
    pulled: Array
    damped: Array
    whole: tuple[float, float]

    def numbers(self) -> Array:
        return np.concatenate([self.G.ravel(), self.pulled, self.damped, self.whole])


def stretched(body: Body, D: Array) -> list[Window]:
    """The stretches of a body's elements; D: what it is damped by nearby."""
    K = body.K_ee.astype(float)
    return [_window(K, D, t) for t in body.stretches]


def _window(K: Array, D: Array, t: Stretch) -> Window:
    """Forces of a stretch reach the nodes of its element only; those of damping elsewhere are left out."""
    a = np.zeros(len(K))
    a[list(t.coordinates)] = 1
    pulled, damped = K @ a, D @ a
    reached = [*t.bending.tolist(), *np.flatnonzero(pulled).tolist()]
    first, last = min(reached), max(reached) + 1
    G, own, bending = np.zeros((last - first, last - first)), slice(first, last), t.bending - first
    G[np.ix_(bending, bending)] = t.numbers
    return Window(first, G, pulled[own], damped[own], (float(a @ pulled), float(a[own] @ damped[own])))
