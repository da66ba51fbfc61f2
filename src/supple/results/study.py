"""`Study`: numbers of a robot over many poses or designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """One number of every case: a coordinate or parameter that was chosen, or a quantity that was asked for."""

    unit: str
    values: Array
    about: str = ""
    low_is_bad: bool = True


@dataclass(frozen=True)
class Meeting:
    """Two modes that meet between two cases: where, at which frequency and how near (Hz); they cross, or they veer away from
    each other and exchange their shapes."""

    modes: tuple[str, str]
    cases: tuple[int, int]
    at: Mapping[str, float]
    frequency: float
    gap: float
    kind: str  # cross or veer

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {**vars(self), "modes": list(self.modes), "cases": list(self.cases), "at": dict(self.at)}


@dataclass(frozen=True)
class Study:
    """Cases (poses, designs or both) in rows, in the order of a grid of `shape` or of a list; not a number where the robot
    cannot be. chosen: what differs between cases; quantities: what was asked of them."""

    robot: str
    kind: str  # map or sweep
    shape: tuple[int, ...]
    axes: tuple[str, ...]  # what was chosen along the axes of the grid, the slowest first; none: a list
    chosen: Mapping[str, Column]
    quantities: Mapping[str, Column]
    answered: npt.NDArray[np.bool_]
    problems: Mapping[int, str] = field(default_factory=dict)  # case -> why there is no answer, where that is known
    regular: Array | None = None  # distance from a singularity of the loops; its sign changes where one is crossed
    varied: tuple[str, ...] = ()  # parameters among what was chosen
    sensitivities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # quantity -> parameter -> d ln / d ln
    notices: tuple[str, ...] = ()
    followed_from: int | None = None  # the case that modes are numbered at, where they were followed by their shapes
    meetings: tuple[Meeting, ...] = ()  # of followed modes

    def __repr__(self) -> str:
        grid = " x ".join(map(str, self.shape))
        return f"<{self.robot} {self.kind}: {grid} cases, {int(self.answered.sum())} answered, {', '.join(self.quantities)}>"

    def worst(self, quantity: str) -> int | None:
        """The case with the worst value of a quantity (the least, or for loads and deflections the largest)."""
        column = self.quantities[quantity]
        size = column.values if column.low_is_bad else -np.abs(column.values)
        return None if np.isnan(size).all() else int(np.nanargmin(size))

    def quantiles(self, quantity: str, shares: Sequence[float] = (0.05, 0.5, 0.95)) -> list[float]:
        """Values below which these shares of all answered cases lie."""
        known = self.quantities[quantity].values
        known = known[np.isfinite(known)]
        return [float(x) for x in np.quantile(known, shares)] if len(known) else [float("nan")] * len(shares)

    def case(self, row: int) -> dict[str, float]:
        """What was chosen in a case."""
        return {name: float(column.values[row]) for name, column in self.chosen.items()}

    def singular(self) -> list[tuple[int, int]]:
        """Pairs of neighbouring cases of a grid or a line between which a singularity of the loops is crossed."""
        if self.regular is None or self.kind != "map":
            return []
        sign = np.sign(self.regular).reshape(self.shape)
        rows = np.arange(sign.size).reshape(self.shape)
        found: list[tuple[int, int]] = []
        for axis in range(sign.ndim):
            here, there = (np.moveaxis(x, axis, 0) for x in (sign, rows))
            crossed = here[1:] * here[:-1] < 0
            found += zip(there[:-1][crossed].tolist(), there[1:][crossed].tolist(), strict=True)
        return found

    def to_json(self) -> dict[str, Any]:
        """For machines: cases column by column."""
        worst = {name: self.worst(name) for name in self.quantities}
        return {
            "robot": self.robot,
            "kind": self.kind,
            "shape": list(self.shape),
            "axes": list(self.axes),
            "varied": list(self.varied),
            "chosen": {k: {"unit": c.unit, "values": c.values.tolist()} for k, c in self.chosen.items()},
            "quantities": {
                k: {"unit": c.unit, "about": c.about, "values": c.values.tolist()} for k, c in self.quantities.items()
            },
            "answered": self.answered.tolist(),
            "worst": {k: None if i is None else {"case": i, **self.case(i)} for k, i in worst.items()},
            "problems": {str(k): text for k, text in self.problems.items()},
            "singular": self.singular(),
            "quantiles": {k: dict(zip(("5%", "50%", "95%"), self.quantiles(k), strict=True)) for k in self.quantities},
            "sensitivities": {k: dict(v) for k, v in self.sensitivities.items()},
            "notices": list(self.notices),
            "followed_from": self.followed_from,
            "meetings": [m.to_json() for m in self.meetings],
        }
