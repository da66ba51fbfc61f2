"""From a robot file to a model, every stage on one screen.

file --read--> Description --assemble--> Mechanism --formulate--> Equations --load--> Model
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from supple.errors import SuppleError
from supple.formulations.erls import erls
from supple.formulations.erls_compatible import erls_compatible
from supple.formulations.lagrange import lagrange
from supple.formulations.lagrange_dalembert import lagrange_dalembert
from supple.formulations.newton_euler import newton_euler
from supple.formulations.platform_eliminated import platform_eliminated
from supple.formulations.record import Unsupported
from supple.formulations.scdd import scdd
from supple.model.model import Model
from supple.model.posture import posture
from supple.robot.assemble import assemble
from supple.robot.reader import Description, read

GALLERY = Path(__file__).parent / "gallery"
FORMULATIONS = {
    "newton_euler": newton_euler,
    "lagrange": lagrange,
    "lagrange_dalembert": lagrange_dalembert,
    "scdd": scdd,
    "platform_eliminated": platform_eliminated,
    "erls": erls,
    "erls_compatible": erls_compatible,
}


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


def describe(robot: str | Path, settings: Mapping[str, Any] | None = None, *, allow_outside: bool = False) -> Description:
    """The Description of a gallery robot or a robot file; files that it names lie in its folder unless `allow_outside`."""
    return read(locate(robot), settings, allow_outside=allow_outside)


def point_at_home(description: Description) -> Callable[[str, str | None], tuple[float, ...]]:
    """Where a named point of the robot that does not bend is at home, by its name and an assembly mode."""

    @cache
    def rigid() -> Model:
        return Model(newton_euler(assemble(description, rigid=True)))

    def place(point: str, assembly: str | None) -> tuple[float, ...]:
        found = rigid().call("points", q=posture(rigid(), None, assembly))["position"]
        return tuple(float(x) for x in found[list(rigid().mechanism.points).index(point)])

    return place


def load(
    robot: str | Path,
    settings: Mapping[str, Any] | None = None,
    *,
    rigid: bool = False,
    formulation: str = "newton_euler",
    allow_outside: bool = False,
) -> Model:
    """The Model of a gallery robot or a robot file, with parameters changed by `settings`."""
    mechanism = assemble(describe(robot, settings, allow_outside=allow_outside), rigid)
    if formulation not in FORMULATIONS:
        raise SuppleError(f"there is no formulation {formulation!r}; choose one of {', '.join(FORMULATIONS)}")
    try:
        return Model(FORMULATIONS[formulation](mechanism))
    except Unsupported as reason:
        raise SuppleError(
            f"{mechanism.name}: the formulation {formulation!r} does not take this robot, because of {reason}"
        ) from reason
