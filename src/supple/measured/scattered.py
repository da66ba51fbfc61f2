"""A robot whose parts differ: the stiffness of every flexible body and of every elastic joint by a factor of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.robot.mechanism import Frame, Mechanism

_MOST = 1.0


@dataclass(frozen=True, eq=False)
class Scattered(Machine):
    """A Machine whose stiffnesses are multiplied by exp(scatter x), x drawn from the normal distribution for every part."""

    scatter: float = 0.0
    seed: int = 0

    def mechanism(self, *, rigid: bool = False) -> Mechanism:
        plain = super().mechanism(rigid=rigid)
        return self._once(("scattered", rigid), lambda: self._differing(plain))

    def _differing(self, mechanism: Mechanism) -> Mechanism:
        factors = self.factors(mechanism)
        frames = tuple(_stiffened(f, factors[f.part]) if f.body.flexible else f for f in mechanism.frames)
        return replace(mechanism, frames=frames)

    def factors(self, mechanism: Mechanism) -> dict[str, float]:
        """The factor of every part of the mechanism that bends; segments of a beam share theirs."""
        parts = list(dict.fromkeys(f.part for f in mechanism.frames if f.body.flexible))
        drawn = np.random.default_rng(self.seed).standard_normal(len(parts))
        return {part: float(np.exp(self.scatter * x)) for part, x in zip(parts, drawn, strict=True)}


def scattered(robot: Machine, scatter: float, seed: int) -> Machine:
    """The robot with stiffnesses that differ by a relative standard deviation; the robot itself if that is zero."""
    if not 0 <= scatter <= _MOST:
        raise SuppleError(f"scatter {scatter:g}: is a relative standard deviation; give 0 to {_MOST:g}")
    return Scattered(robot.source, robot.settings, robot.keep, scatter=scatter, seed=seed) if scatter else robot


def _stiffened(frame: Frame, factor: float) -> Frame:
    body = frame.body
    return replace(frame, body=replace(body, K_ee=body.K_ee * factor, H_ee=body.H_ee * factor))
