"""From a robot file to a `Description`: every problem of the file in one go, each with its line."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from supple.errors import RobotFileError, SuppleError, UnlikelyValue
from supple.robot.description import STIFFENING, Robot
from supple.robot.named_files import is_outside_allowed
from supple.robot.quantity import Value
from supple.robot.references import reference_problems
from supple.robot.structure import structure_problems, well_formed
from supple.robot.values import Scope, check_values, parameter_values
from supple.robot.yaml_tree import Tree, read_text, read_tree, shown


@dataclass(frozen=True)
class Description:
    """A robot file that is well-formed: its records, its parameters, and where each part stands."""

    robot: Robot
    parameters: Mapping[str, Value]
    tree: Tree
    folder: Path | None = None  # in which files that the robot file names are looked for
    outside: bool = False  # whether they may lie outside of it


def read(path: Path, settings: Mapping[str, Any] | None = None, *, allow_outside: bool = False) -> Description:
    """The Description of a robot file, with parameters replaced by `settings` (text, numbers or symbols).

    `allow_outside`: files that it names may lie outside its folder."""
    made = describe_text(read_text(path), shown(str(path), most=1000), settings, path.stem, path.parent)
    return replace(made, outside=allow_outside or is_outside_allowed())


def describe_text(
    text: str,
    file: str,
    settings: Mapping[str, Any] | None = None,
    name: str = "robot",
    folder: Path | None = None,
) -> Description:
    """The Description of a robot file's text: structure, values and references judged together.

    Values that are allowed but that no robot has are warned of (`UnlikelyValue`)."""
    tree = read_tree(text, file)
    if not isinstance(tree.value, dict):
        raise RobotFileError([f"{file}:1: must hold keys such as space, links and bodies, not {_kind(tree.value)}"])
    structure = list(tree.problems)
    robot: Robot | None
    try:
        robot = Robot.model_validate(tree.value)
    except ValidationError as error:
        structure += structure_problems(error, tree)
        robot = well_formed(tree, error)
        if robot is None:
            raise RobotFileError(structure) from error
    if not robot.name:
        robot = robot.model_copy(update={"name": name})
    robot, settings = _stiffening(robot, settings or {}, file)
    scope = Scope(tree)
    parameters = parameter_values(robot, scope, settings)
    check_values(robot, parameters, scope)
    problems = [*structure, *scope.problems, *reference_problems(robot, tree, whole=not structure)]
    if problems:
        raise RobotFileError(problems)
    for said in dict.fromkeys(scope.remarks):
        warnings.warn(said, UnlikelyValue, stacklevel=3)
    return Description(robot, parameters, tree, folder)


def _stiffening(robot: Robot, settings: Mapping[str, Any], file: str) -> tuple[Robot, Mapping[str, Any]]:
    """The robot with `stiffening` as the settings say, and the settings of its parameters."""
    if "stiffening" not in settings or "stiffening" in robot.parameters:
        return robot, settings
    wanted = settings["stiffening"]
    if wanted not in (*STIFFENING, None):
        raise SuppleError(f"{file}: stiffening={wanted} must be {' or '.join(STIFFENING)}")
    rest = {name: value for name, value in settings.items() if name != "stiffening"}
    return (robot if wanted is None else robot.model_copy(update={"stiffening": wanted})), rest


def _kind(value: Any) -> str:
    return {list: "a list", str: "text", type(None): "nothing"}.get(type(value), "a single value")
