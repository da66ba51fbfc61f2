"""`Settings`: how a motion is integrated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How to integrate: steps are chosen for `tolerance` (0: what suits the method) unless `step` fixes them. For radau and
    gauss it is the error made in a radian of a vibration, for the others that of a step; relative to accelerations."""

    method: str = "radau"
    tolerance: float = 0.0
    step: float = 0.0
    largest: float = 0.05
    smallest: float = 1e-10
    rho: float = 0.8
    every: float = 1e-3  # s between samples; 0: every step
    cutoff: float = 1000.0  # Hz; motions that are faster may die away instead of being followed; 0: none
    scale: float = 1e-3  # m/s^2 or rad/s^2: the least peak acceleration errors are relative to
    newton: float = 0.0  # relative tolerance of Newton's method on accelerations; 0: from `tolerance`

    @property
    def newton_tolerance(self) -> float:
        return self.newton or max(1e-12, (1e-3 if self.method == "dormand_prince" else 3e-2) * self.tolerance)
