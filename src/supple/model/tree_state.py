"""`Tree`: the equations of a virtual tree at one state, which a coupling solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from supple.expr.function import Indices
from supple.model.algebra import Array


@dataclass(frozen=True)
class TreeEquations:
    """The equations of a virtual tree at one state, and what is known of its coordinates."""

    M: Array
    c: Array  # forces without accelerations
    A: Array
    wanted: Array
    applied: Array
    names: Sequence[str]
    kinds: Sequence[str]
    chains: Sequence[Indices]  # coordinates of every chain; M couples none with another's


SolvedPair = tuple[Array, Array]  # accelerations, multipliers
