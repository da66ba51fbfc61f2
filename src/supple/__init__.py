"""supple: elastodynamics of flexible parallel robots.

    import supple

    robot = supple.Robot("dualemps", E="72 GPa")  # a name of supple.gallery(), or the path of a robot file
    robot.modes({"q11": 0.05}, count=6)
    robot.simulate("square").plot()

Everything here is loaded when it is first used, so that `import supple` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supple.api import Robot, compare
    from supple.errors import PoseError, RobotFileError, SuppleError
    from supple.machine import gallery

__all__ = ["PoseError", "Robot", "RobotFileError", "SuppleError", "compare", "gallery"]

_HOMES = {
    "Robot": "api",
    "compare": "api",
    "gallery": "machine",
    "PoseError": "errors",
    "RobotFileError": "errors",
    "SuppleError": "errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'supple' has no attribute {name!r}")
    return getattr(import_module(f"supple.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
