"""`Report`: what a robot is and does, gathered; `Difference`: two results beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from supple.results import Array, Check, Modes, Simulation, Stiffness
from supple.results.scene import Scene
from supple.results.study import Study


@dataclass(frozen=True)
class Posed:
    """A robot at a pose: how it was asked for, how it looks, its modes, and how its points give way."""

    options: tuple[str, ...]  # of the command line
    scene: Scene
    modes: Modes | None
    stiffness: tuple[Stiffness, ...]


@dataclass(frozen=True)
class Report:
    """A robot, its poses, a motion, a map, and where all of it comes from."""

    asked: tuple[str, ...]  # the words of the command line that name the robot and its settings
    check: Check
    parameters: Mapping[str, tuple[str, str]]  # name -> value, what it is
    posed: tuple[Posed, ...]
    run: Simulation | None
    study: tuple[Study, tuple[str, ...]] | None  # with the words of the command line that make it
    provenance: Mapping[str, str]
    notices: tuple[str, ...]
    moved: str = ""  # what names the motion on the command line

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "robot": self.check.robot,
            "check": self.check.to_json(),
            "parameters": {k: v[0] for k, v in self.parameters.items()},
            "poses": [
                {
                    "options": list(p.options),
                    "modes": None if p.modes is None else p.modes.to_json(),
                    "stiffness": [s.to_json() for s in p.stiffness],
                }
                for p in self.posed
            ],
            "map": None if self.study is None else self.study[0].to_json(),
            "motion": None if self.run is None else self.run.summary,
            "provenance": dict(self.provenance),
            "notices": list(self.notices),
        }


@dataclass(frozen=True)
class Changed:
    """A quantity in two results: its largest size in both, and how far they are apart at most; lines to draw, if any."""

    unit: str
    old: float
    new: float
    apart: float
    lines: tuple[Array, Array, Array] | None = None  # where, old, new
    along: str = ""

    @property
    def relative(self) -> float:
        """The difference, of the larger one; not a number where both are zero."""
        most = max(self.old, self.new)
        return self.apart / most if most > 0 else float("nan")


@dataclass(frozen=True)
class Difference:
    """Two results of the same kind: quantities of both, what only one has, and words about them that differ."""

    files: tuple[str, str]
    quantities: Mapping[str, Changed]
    alone: tuple[str, ...]
    words: Mapping[str, tuple[str, str]]

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "files": list(self.files),
            "quantities": {
                k: {"unit": c.unit, "old": c.old, "new": c.new, "apart": c.apart} for k, c in self.quantities.items()
            },
            "alone": list(self.alone),
            "words": {k: list(v) for k, v in self.words.items()},
        }
