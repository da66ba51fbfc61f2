"""`Tree`: the equations of a virtual tree at one state, which a coupling solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supple.model.algebra import Array

Indices = npt.NDArray[np.int_]


@dataclass(frozen=True)
class Tree:
    """The equations of a virtual tree at one state, and what is known of its coordinates."""

    M: Array
    c: Array  # forces without accelerations
    A: Array
    wanted: Array
    applied: Array
    names: Sequence[str]
    kinds: Sequence[str]
    chains: Sequence[Indices]  # coordinates of every chain; M couples none with another's


Solved = tuple[Array, Array]  # accelerations, multipliers
