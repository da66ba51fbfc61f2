"""`Free`: parameters that a fit may change, by factors exp(x): tied ones share a factor, those of legs have one each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.measured.test_file import Prior
from supple.measured.written_robot import with_legs_apart
from supple.robot.bodies.record import Array
from supple.robot.reader import parse_robot
from supple.robot.yaml_tree import read_text

REACH = 20.0  # times up and down a parameter may move that has no bounds of its own
_ENTRY = re.compile(r"[A-Za-z_]\w*(@[A-Za-z_]\w*|(=[A-Za-z_]\w*)+)?", re.ASCII)


@dataclass(frozen=True)
class Free:
    """Groups of parameters with a common factor; start values (SI), bounds of the logarithms of factors, and deviations of
    priors on them (infinite: none)."""

    groups: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    start: Array
    least: Array
    most: Array
    prior: Array

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple("=".join(g) for g in self.groups)

    @property
    def gathering(self) -> Array:
        """Which group (column) each parameter (row) belongs to, as ones."""
        return np.array([[float(n in g) for g in self.groups] for n in self.names])

    def values(self, x: Array) -> Array:
        """Parameters at logarithms of the factors."""
        made: Array = self.start * np.exp(self.gathering @ x)
        return made

    def directions(self, p: Array) -> Array:
        """How parameters (columns) move with the logarithm of each group's factor (rows)."""
        made: Array = (self.gathering * p[:, None]).T
        return made


def free_robot(robot: Machine, entries: Sequence[str]) -> tuple[Machine, tuple[tuple[str, ...], ...], str | None]:
    """The robot with groups of entries ("k", "k1=k2" tied, "k@leg" one for every leg), and its text where legs differ."""
    groups: list[tuple[str, ...]] = []
    apart: dict[str, list[str]] = {}
    for entry in entries:
        if not _ENTRY.fullmatch(entry):
            raise SuppleError(
                f"free {entry[:60]!r}: write a parameter (k1), tied ones (k1=k2), or one for every leg (k1@leg)"
            )
        if "@" in entry:
            name, _, leg = entry.partition("@")
            apart.setdefault(leg, []).append(name)
        else:
            groups.append(tuple(entry.split("=")))
    text = None
    if apart:
        text, names = with_legs_apart(robot, apart)
        source = parse_robot(text, robot.source.tree.file, robot.name)
        robot = Machine(replace(source, folder=robot.source.folder, outside=robot.source.outside), robot.settings)
        groups += [(n,) for n in names]
    _check(robot, groups)
    return robot, tuple(groups), text


def _check(robot: Machine, groups: Sequence[tuple[str, ...]]) -> None:
    known = robot.description.parameters
    every = [n for g in groups for n in g]
    if not every:
        raise SuppleError("nothing is free; name the parameters to fit, as in --free k1,E,eta")
    for name in every:
        if name not in known:
            close = get_close_matches(name, list(known), n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has: {', '.join(known) or 'none'}"
            raise SuppleError(f"{robot.name} has no parameter {name!r} to free; {hint}")
        if every.count(name) > 1:
            raise SuppleError(f"free {name}: is named twice")
        if float(known[name].number) == 0:
            raise SuppleError(f"free {name}: is zero, and no factor changes that; --set it to a first guess")


def free_parameters(robot: Machine, groups: tuple[tuple[str, ...], ...], priors: Mapping[str, Prior]) -> Free:
    """The Free of groups, with the priors and bounds of a test file."""
    names = tuple(n for g in groups for n in g)
    start = np.array([float(robot.description.parameters[n].number) for n in names])
    value = dict(zip(names, start, strict=True))
    least, most = np.full(len(groups), -np.log(REACH)), np.full(len(groups), np.log(REACH))
    prior = np.full(len(groups), np.inf)
    for k, group in enumerate(groups):
        for name in group:
            said = priors.get(name) or priors.get(name.rpartition("_")[0])
            if said is None:
                continue
            if said.deviation is not None:
                prior[k] = min(prior[k], np.log1p(float(said.deviation)))
            for bound, side in ((said.least, least), (said.most, most)):
                if bound is not None:
                    side[k] = _bounded(name, float(bound), value[name])
    bad = np.flatnonzero((least >= 0) | (most <= 0))
    if bad.size:
        raise SuppleError(f"priors: {groups[bad[0]][0]} starts at or outside its bounds; --set it to a value inside them")
    return Free(groups, names, start, least, most, prior)


def _bounded(name: str, bound: float, start: float) -> float:
    if bound / start <= 0:
        raise SuppleError(f"priors: a bound of {name} must have the sign of its value, {start:.4g}, and not be zero")
    return float(np.log(bound / start))


def source_text(robot: Machine) -> str:
    """The text of the robot file that a robot was read from."""
    return read_text(Path(robot.source.tree.file))
