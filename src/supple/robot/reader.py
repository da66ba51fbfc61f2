"""From a robot file to a `Source`, and with values for its parameters to a `Description`.

Every problem of the file is told in one go, each with its line.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from supple.errors import RobotFileError, SuppleError, UnlikelyValue
from supple.robot.description import STIFFENING, RobotFile
from supple.robot.named_files import is_outside_allowed
from supple.robot.quantity import Value
from supple.robot.references import reference_problems
from supple.robot.structure import structure_problems, well_formed
from supple.robot.values import Scope, check_values, parameter_values
from supple.robot.yaml_tree import FileTree, printable, read_text, read_tree


@dataclass(frozen=True)
class Source:
    """A robot file as it was read: its records, where each part stands, and its faults of structure."""

    robot: RobotFile
    tree: FileTree
    faults: tuple[str, ...] = ()
    folder: Path | None = None  # in which files that the robot file names are looked for
    outside: bool = False  # whether they may lie outside of it
    sha256: str = ""


@dataclass(frozen=True)
class Description:
    """A robot file that is well-formed: its records, its parameters, and where each part stands."""

    robot: RobotFile
    parameters: Mapping[str, Value]
    tree: FileTree
    folder: Path | None = None
    outside: bool = False


def read_source(path: Path, *, allow_outside: bool = False) -> Source:
    """The Source of a robot file; `allow_outside`: files that it names may lie outside its folder."""
    made = parse_robot(read_text(path), printable(str(path), most=1000), path.stem)
    return replace(made, folder=path.parent, outside=allow_outside or is_outside_allowed())


def parse_robot(text: str, file: str, name: str = "robot") -> Source:
    """The Source of a robot file's text."""
    tree = read_tree(text, file)
    if not isinstance(tree.value, dict):
        raise RobotFileError([f"{file}:1: must hold keys such as space, links and bodies, not {_kind(tree.value)}"])
    faults = list(tree.problems)
    robot: RobotFile | None
    try:
        robot = RobotFile.model_validate(tree.value)
    except ValidationError as error:
        faults += structure_problems(error, tree)
        robot = well_formed(tree, error)
        if robot is None:
            raise RobotFileError(faults) from error
    if not robot.name:
        robot = robot.model_copy(update={"name": name})
    return Source(robot, tree, tuple(faults), sha256=hashlib.sha256(text.encode()).hexdigest())


def describe(source: Source, settings: Mapping[str, Any] | None = None) -> Description:
    """The Description of a robot file with parameters replaced by `settings` (text, numbers or symbols).

    Structure, values and references are judged together. Values that are allowed but that no robot has are warned of
    (`UnlikelyValue`)."""
    tree, faults = source.tree, source.faults
    robot, settings = _stiffening(source.robot, settings or {}, tree.file)
    scope = Scope(tree)
    parameters = parameter_values(robot, scope, settings)
    check_values(robot, parameters, scope)
    problems = [*faults, *scope.problems, *reference_problems(robot, tree, whole=not faults)]
    if problems:
        raise RobotFileError(problems)
    for said in dict.fromkeys(scope.remarks):
        warnings.warn(said, UnlikelyValue, stacklevel=3)
    return Description(robot, parameters, tree, source.folder, source.outside)


def describe_text(text: str, file: str, settings: Mapping[str, Any] | None = None) -> Description:
    """The Description of a robot file's text."""
    return describe(parse_robot(text, file), settings)


def _stiffening(robot: RobotFile, settings: Mapping[str, Any], file: str) -> tuple[RobotFile, Mapping[str, Any]]:
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
