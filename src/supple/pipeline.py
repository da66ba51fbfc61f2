"""From a robot file to a model, every stage on one screen.

file --read--> Description --assemble--> Mechanism --formulate--> Equations --load--> Model
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from supple.errors import SuppleError
from supple.formulations.newton_euler import newton_euler
from supple.model.model import Model
from supple.robot.assemble import assemble
from supple.robot.reader import Description, read

GALLERY = Path(__file__).parent / "gallery"
FORMULATIONS = {"newton_euler": newton_euler}


def gallery() -> list[str]:
    """Names of the robots that ship with supple."""
    return sorted(p.stem for p in GALLERY.glob("*.yaml"))


def locate(robot: str | Path) -> Path:
    """The file of a gallery name or a path."""
    if isinstance(robot, str) and robot in gallery():
        return GALLERY / f"{robot}.yaml"
    path = Path(robot)
    try:
        there = path.exists()
    except OSError:
        there = False
    if not there and path.suffix not in (".yaml", ".yml"):
        from difflib import get_close_matches

        close = get_close_matches(str(robot), gallery(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the gallery has: {', '.join(gallery())}"
        raise SuppleError(f"there is no robot {str(robot)!r}; {hint}")
    return path


def describe(robot: str | Path, settings: Mapping[str, Any] | None = None) -> Description:
    """The Description of a gallery robot or a robot file."""
    return read(locate(robot), settings)


def load(
    robot: str | Path,
    settings: Mapping[str, Any] | None = None,
    *,
    rigid: bool = False,
    formulation: str = "newton_euler",
) -> Model:
    """The Model of a gallery robot or a robot file, with parameters changed by `settings`."""
    mechanism = assemble(describe(robot, settings), rigid)
    return Model(FORMULATIONS[formulation](mechanism))
