"""`Sizing`: the best values of parameters under wants, and what holds them back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Met:
    """A want at the best design: its worst value over all poses (numbered from one), and whether it holds the design back.

    price: change of the objective in per cent for one per cent of the limit."""

    text: str
    quantity: str
    unit: str
    relation: str
    limit: float
    value: float
    pose: int
    active: bool
    price: float


@dataclass(frozen=True)
class Start:
    """One run from one start: where it ended, and how its objective went there (designs that broke a want included)."""

    values: dict[str, float]
    objective: float
    violation: float  # of the worst want, relative to its limit; zero: all are met
    evaluations: int
    outcome: str
    history: tuple[float, ...]


@dataclass(frozen=True)
class Trade:
    """One point of a trade-off: the least objective for a value of the second quantity."""

    values: dict[str, float]
    objective: float
    other: float


@dataclass(frozen=True)
class Sizing:
    """The best design of several runs, and the runs; `met` says whether it keeps all wants."""

    robot: str
    objective: str  # as asked for: least mass, most f1
    unit: str
    values: dict[str, float]
    units: dict[str, str]
    limits: dict[str, tuple[float, float]]
    value: float
    met: bool
    wants: tuple[Met, ...]
    at_limit: tuple[str, ...]  # parameters at an end of their range
    poses: tuple[dict[str, float], ...]
    evaluations: int  # designs that were looked at, each in all poses, with derivatives
    starts: tuple[Start, ...]
    trade: tuple[Trade, ...] = ()
    trade_of: str = ""
    trade_unit: str = ""

    def __repr__(self) -> str:
        found = ", ".join(f"{name} = {x:.5g} {self.units[name]}" for name, x in self.values.items())
        broken = "" if self.met else ", wants not met"
        return f"<{self.robot} {self.objective}: {self.value:.5g} {self.unit} at {found}{broken}>"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
