"""`Tuned`: shapers or gains tried on several motions and robots, and the one that is best where it is worst."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """One simulation. value: what it is judged by (None: it failed, and `why`); longer: s that its path takes more than
    without the choice; used: largest share of a limit; saturated: largest share of the time that a force is at its limit."""

    motion: str
    varied: Mapping[str, float]
    value: float | None
    why: str = ""
    longer: float = 0.0
    used: float = 0.0
    saturated: float = 0.0

    @property
    def where(self) -> str:
        return ", ".join([self.motion, *(f"{n} {x:.4g}" for n, x in self.varied.items())])


@dataclass(frozen=True)
class Tried:
    """A choice, as the options of `simulate` take it, and what became of it in every case. allowed: most saturated share."""

    about: str
    cases: tuple[Outcome, ...]
    allowed: float = 0.0

    @property
    def failed(self) -> Outcome | None:
        """The first case that failed."""
        return next((c for c in self.cases if c.value is None), None)

    @property
    def worst(self) -> Outcome:
        """The case with the largest value; one that failed, if there is one."""
        return self.failed or max(self.cases, key=lambda c: c.value or 0.0)

    @property
    def spread(self) -> float | None:
        """Largest less least value."""
        values = [c.value for c in self.cases if c.value is not None]
        return max(values) - min(values) if len(values) == len(self.cases) else None

    @property
    def longer(self) -> float:
        return max(c.longer for c in self.cases)

    @property
    def used(self) -> float:
        return max(c.used for c in self.cases)

    @property
    def saturated(self) -> float:
        return max(c.saturated for c in self.cases)

    @property
    def beyond(self) -> float:
        """By how much limits are left, as a share; 0 where they are kept."""
        over = self.used - 1.0
        return max(over if over > 1e-6 else 0.0, self.saturated - self.allowed, 0.0)

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """Smaller is better: whether cases fail, whether limits are left, the worst value."""
        return self.failed is not None, self.beyond > 0, self.worst.value or 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "choice": self.about, "worst": self.worst.value, "worst_case": self.worst.where, "spread": self.spread,
            "longer_s": self.longer, "limit_used": self.used, "saturated_share": self.saturated,
            "failed": self.failed.why if self.failed else None,
            "cases": [asdict(c) | {"varied": dict(c.varied)} for c in self.cases],
        }  # fmt: skip


@dataclass(frozen=True)
class Tuned:
    """What was tried, best first; `before`: without a shaper, or with the gains as given. text: the best one for a motion
    file; unit: of what they are judged `by`."""

    robot: str
    of: str
    by: str
    unit: str
    before: Tried
    tried: tuple[Tried, ...]
    best: Tried
    text: str
    simulations: int
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.robot}: {self.best.about}, best of {len(self.tried)} by {self.by}>"

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "robot": self.robot, "of": self.of, "by": self.by, "unit": self.unit, "simulations": self.simulations,
            "best": self.best.to_json(), "before": self.before.to_json(), "tried": [t.to_json() for t in self.tried],
            "motion_file": self.text, "notices": list(self.notices),
        }  # fmt: skip
