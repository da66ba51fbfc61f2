"""`Program`: a model of identical legs and a platform, written once for all legs.

    common  = prepare(platform state)
    for each leg: part, carried = gather(leg state, leg constants, common); total += part
    slots   = meet(total, common)
    for each leg: outputs = spread(carried, slots)

Its code does not grow with the number of legs, its operations grow linearly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supple.expr.function import Function, Indices
from supple.expr.node import ARITHMETIC


@dataclass(frozen=True)
class Program:
    name: str
    inputs: Mapping[str, int]  # sizes of the model's arrays
    outputs: Mapping[str, int]
    prepare: Function
    gather: Function
    meet: Function
    spread: Function
    take: Mapping[str, Indices]  # input -> (legs, k): where a leg's array stands in the model's
    put: Mapping[str, Indices]  # output -> (legs, k)
    platform: Mapping[str, Indices]  # input -> where the platform's part stands
    constants: npt.NDArray[np.float64]  # (legs, m): numbers that differ between legs

    @property
    def legs(self) -> int:
        return len(self.constants)

    @property
    def counts(self) -> Counter[str]:
        """Operations of each kind of one evaluation, the sums over the legs included."""
        total = self.prepare.counts + self.meet.counts
        for name, count in (self.gather.counts + self.spread.counts).items():
            total[name] += self.legs * count
        total["add"] += (self.legs - 1) * self.gather.outputs["part"].size
        return total

    @property
    def operations(self) -> int:
        return sum(self.counts[op] for op in ARITHMETIC)

    def functions(self) -> tuple[Function, ...]:
        return (self.prepare, self.gather, self.meet, self.spread)
