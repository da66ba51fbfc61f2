"""Languages a model is exported to: each module writes a Package to a folder and returns the paths it wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from supple.backends.package import Package
from supple.backends.targets import c, matlab, python, rust, simulink

Target = Callable[[Package, Path], list[Path]]

TARGETS: dict[str, Target] = {
    "c": c.write,
    "python": python.write,
    "matlab": matlab.write,
    "simulink": simulink.write,
    "rust": rust.write,
}

__all__ = ["TARGETS", "Target"]
