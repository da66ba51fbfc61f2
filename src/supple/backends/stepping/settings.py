"""`Settings`: how a motion is integrated, and the tolerances that suit each method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, pi

from supple.backends.stepping.layout import METHODS

TIGHTEST = 1e-14  # tolerance; accelerations are known no better
LOOSEST = 0.1  # tolerance: beyond it Radau's steps are longer than half a period, and errors no longer follow the tolerance
LEAST_NEWTON = 1e-12  # tolerance of Newton's method
# method -> tolerance where bodies only bend, and where joints move freely
_TOLERANCES = {
    "radau": (1e-5, 1e-5), "gauss": (1e-8, 1e-8), "dormand_prince": (1e-7, 1e-7), "generalised_alpha": (1e-3, 1e-5),
    "cvode": (1e-8, 1e-8),
}  # fmt: skip
_OTHER = 1e-5


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
    every: float = (
        1e-3  # s between samples; 0: every step; -x: within steps, five in a stretch of x at most, to integrate by
    )
    cutoff: float = 1000.0  # Hz; motions that are faster may die away instead of being followed; 0: none
    scale: float = 1e-3  # m/s^2 or rad/s^2: the least peak acceleration errors are relative to
    newton: float = 0.0  # relative tolerance of Newton's method on accelerations; 0: from `tolerance`

    @property
    def newton_tolerance(self) -> float:
        return self.newton or max(LEAST_NEWTON, newton_share(self.method) * self.tolerance)

    @property
    def most_samples(self) -> int:
        """Of one step."""
        if self.every == 0.0:
            return 1
        return ceil(self.largest / self.every) if self.every > 0.0 else 5 * ceil(-self.largest / self.every)

    def suited(self, joints: bool) -> Settings:
        """The settings with tolerances that suit their method; `joints`: joints move freely, not only bodies bend."""
        made = self
        if made.tolerance == 0.0:
            made = replace(made, tolerance=_TOLERANCES.get(made.method, (_OTHER, _OTHER))[joints])
        if joints and made.newton == 0.0 and made.method == "generalised_alpha":
            made = replace(made, newton=max(LEAST_NEWTON, newton_share(made.method, joints) * made.tolerance))
        return made

    def numbers(self) -> dict[str, float]:
        """The settings by the names that they have in C; a method that is not there stands as the first."""
        return {
            "method": METHODS.index(self.method) if self.method in METHODS else 0,
            "tolerance": self.tolerance,
            "newton_tolerance": self.newton_tolerance,
            "fixed_step": self.step,
            "largest_step": self.largest,
            "smallest_step": self.smallest,
            "spectral_radius": self.rho,
            "sample_interval": self.every,
            "cutoff": 2 * pi * self.cutoff,
        }


def newton_share(method: str, joints: bool = False) -> float:
    """The tolerance of Newton's method, relative to that of the steps: forces out of balance add up in joints that are free,
    while bodies spring back."""
    if method == "generalised_alpha" and joints:
        return 1e-4
    return 1e-3 if method == "dormand_prince" else 3e-2
