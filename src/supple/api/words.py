"""What calls of a Robot share: how poses and lists of names are written, and listeners that hear nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from supple.robot.written import Written

if TYPE_CHECKING:
    from supple.expr.passes import Stage

Report = Callable[["Stage"], None]
At = Mapping[str, Written]  # joint or platform coordinate -> number in SI, or text with a unit


def names(given: str | Sequence[str]) -> list[str]:
    """Names of a list, or of one text that separates them by commas."""
    return [x.strip() for x in given.split(",") if x.strip()] if isinstance(given, str) else list(given)


def silent(stage: Stage) -> None:
    """Hears of a stage of the optimiser and says nothing."""


def unheard(text: str) -> None:
    """Hears of a step in words and says nothing."""
