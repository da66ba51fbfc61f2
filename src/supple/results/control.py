"""`Control`: a control law, and what it does to the whole linear robot in every pose that was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Judged:
    """A closed loop in one pose. poles: 1/s, slowest decay first, those faster than the sampling folded down; damping ratio
    and frequency (Hz) of the least damped of those below half the sampling rate; factors by which all forces may shrink and
    grow and how much later (s) they may come until motions grow (None: they do)."""

    at: Mapping[str, float]
    stable: bool
    poles: Array
    damping: float
    frequency_hz: float
    least_gain: float | None
    most_gain: float | None
    delay_margin: float | None
    open_loop: Array  # poles without the law

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "at": dict(self.at), "stable": self.stable, "least_damping": self.damping, "frequency_Hz": self.frequency_hz,
            "poles": [[float(s.real), float(s.imag)] for s in self.poles],
            "least_gain": self.least_gain,
            "most_gain": None if self.most_gain is None or not np.isfinite(self.most_gain) else self.most_gain,
            "delay_margin_s": None if self.delay_margin is None or not np.isfinite(self.delay_margin) else self.delay_margin,
        }  # fmt: skip


@dataclass(frozen=True)
class Control:
    """A law (as `simulate` takes it), its text for a file, and closed loops. Curves are of the pose with the least damping:
    root locus (gains, poles), Nyquist (frequencies, forces)."""

    robot: str
    about: str
    law: Any
    text: str
    sensors: tuple[str, ...]
    forces: tuple[str, ...]
    states: int
    parts: int
    sample: float
    delay: float
    sigma: Mapping[str, tuple[float, str]]
    poses: tuple[Judged, ...]
    gains: Array
    locus: Array
    frequencies_hz: Array
    nyquist: Array
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.robot}: {self.about}, {self.parts} x {self.states} states, {len(self.poses)} poses>"

    @property
    def stable(self) -> bool:
        return all(p.stable for p in self.poses)

    @property
    def worst(self) -> Judged:
        """The pose with the least damping."""
        return min(self.poses, key=lambda p: p.damping)

    def unsteady(self) -> str:
        """Where motions grow, in words."""
        grown = [p for p in self.poses if not p.stable]
        if not grown:
            return ""
        worst = max(grown, key=lambda p: float(p.poles.real.max()))
        where = ", ".join(f"{n} = {x:.4g}" for n, x in worst.at.items())
        pole = complex(worst.poles[int(np.argmax(worst.poles.real))])
        return (
            f"{len(grown)} of {len(self.poses)} poses, worst at {where}: {abs(pole.imag) / (2 * np.pi):.4g} Hz, "
            f"{pole.real:+.3g} 1/s"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "robot": self.robot, "law": self.about, "sensors": list(self.sensors), "forces": list(self.forces),
            "states": self.states, "parts": self.parts, "sample_s": self.sample, "delay_s": self.delay,
            "stable": self.stable, "sigma": {k: {"value": x, "unit": unit} for k, (x, unit) in self.sigma.items()},
            "poses": [p.to_json() for p in self.poses], "notices": list(self.notices),
        }  # fmt: skip
