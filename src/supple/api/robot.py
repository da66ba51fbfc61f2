"""`Robot`, whose methods are the verbs of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.api.code import Code
from supple.api.pages import Pages
from supple.api.words import At
from supple.machine import Machine, locate
from supple.robot.reader import read_source

if TYPE_CHECKING:  # what only some calls need is loaded when they are made
    from supple.shown import ComparisonShown, DifferenceShown


class Robot(Pages, Code):
    """A robot of the gallery or of a robot file, read once; its methods answer questions about it.

    Parameters of the file are changed by name, with a unit or as numbers in SI; those whose names Python does not allow, or
    that are called like an option here, are given in `settings`. Files that the robot file names must lie in its folder
    unless `allow_outside`. The robot itself never changes: `changed` and `keeping` return others.

    >>> import supple
    >>> robot = supple.Robot("dualemps", E="72 GPa")
    >>> robot
    Robot('dualemps', E='72 GPa')
    >>> robot.modes({"q11": "50 mm", "q21": 0.05}, count=2).frequencies_hz.round(2)
    array([14.02, 24.75])
    """

    def __init__(
        self,
        robot: str | Path,
        settings: Mapping[str, Any] | None = None,
        *,
        allow_outside: bool = False,
        **parameters: Any,
    ) -> None:
        source = read_source(locate(robot), allow_outside=allow_outside)
        Machine.__init__(self, source, {**(settings or {}), **parameters})

    def __repr__(self) -> str:
        changes = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        kept = f".keeping({list(self.keep)!r})" if self.keep else ""
        return f"Robot({self.name!r}{changes}){kept}"

    def _repr_html_(self) -> str:
        return self.check()._repr_html_()

    def __getattr__(self, name: str) -> Any:
        """An analysis that has no method of its own here."""
        if name.startswith("_") or find_spec(f"supple.analyses.{name}") is None:
            raise AttributeError(f"a Robot has no {name!r}")
        return partial(getattr(import_module(f"supple.analyses.{name}"), name), self)

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of the robot file and their values in SI."""
        return {name: float(value.number) for name, value in self.description.parameters.items()}

    @property
    def motions(self) -> list[str]:
        """Names of the motions that the robot file has."""
        return list(self.description.robot.motions)


def compare(robot: Robot, at: At | None = None, **options: Any) -> ComparisonShown:
    """Formulations of a robot side by side; options as of `Robot.compare`."""
    return robot.compare(at, **options)


def differences(old: str | Path, new: str | Path) -> DifferenceShown:
    """Two results in .nc files, quantity by quantity; `save` writes a page with what changed."""
    from supple.shown import read_differences

    return read_differences(Path(old), Path(new))
