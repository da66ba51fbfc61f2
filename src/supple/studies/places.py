"""Poses of a study: over a grid, from a table, along a motion."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.follow import follow
from supple.robot.written import Written, pose_of, si, values_of
from supple.robot.yaml_tree import printable

Range = str | Sequence[float]
_MOST = 20_000_000  # cases of one study
_BYTES = 50_000_000  # of a file of poses


@dataclass(frozen=True)
class Places:
    """Coordinates of poses by name, in the order of a grid of `shape` or of a list; fixed ones are the same in all."""

    chosen: Mapping[str, Array]
    shape: tuple[int, ...]
    fixed: Mapping[str, float]
    times: Array | None = None
    gridded: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.chosen, *self.fixed)

    @property
    def axes(self) -> tuple[str, ...]:
        """Coordinates that span a grid, or time; none of a list."""
        return ("time",) if self.times is not None else tuple(self.chosen) if self.gridded else ()

    @property
    def table(self) -> Array:
        """(n, names) poses."""
        count = int(np.prod(self.shape))
        columns = [*self.chosen.values(), *(np.full(count, x) for x in self.fixed.values())]
        return np.column_stack(columns) if columns else np.zeros((count, 0))


def places(
    robot: Machine, over: Mapping[str, Range] | None, poses: str | Path | None, along: str | None, samples: int,
    at: Mapping[str, Written] | None,
) -> Places:  # fmt: skip
    """The Places that a grid, a table or a motion says; of none of them the pose `at` alone."""
    if sum(x is not None for x in (over or None, poses, along)) > 1:
        raise SuppleError("give one of --over NAME=FIRST:LAST:COUNT, --poses FILE and --along MOTION")
    fixed = pose_of(robot.mechanism(), at)
    if over:
        made = Places(*_grid(robot, over), fixed, gridded=True)
    elif poses is not None:
        made = Places(*_table(robot, Path(poses)), fixed)
    elif along is not None:
        made = _motion(robot, along, samples, fixed)
    else:
        made = Places({}, (1,), fixed)
    for name in fixed:
        if name in made.chosen:
            raise SuppleError(f"{name} is both fixed by --at and varied; give it once")
    return made


def checked_count(shape: Sequence[int]) -> int:
    """How many cases a grid has, unless they are too many."""
    count = int(np.prod(shape, dtype=float))
    if count > _MOST:
        raise SuppleError(f"{' x '.join(str(n) for n in shape)} cases are more than the {_MOST:,} of one study")
    return count


def _dimension(robot: Machine, name: str) -> str:
    for c in robot.mechanism().coordinates:
        if c.name == name:
            return "length" if c.unit == "m" else "angle"
    return "angle or length"  # the Core says that it does not know the name


def _grid(robot: Machine, over: Mapping[str, Range]) -> tuple[dict[str, Array], tuple[int, ...]]:
    axes = {name: np.array(values_of(text, _dimension(robot, name), f"--over {name}")) for name, text in over.items()}
    shape = tuple(len(x) for x in axes.values())
    checked_count(shape)
    mesh = np.meshgrid(*axes.values(), indexing="ij")
    return {name: x.ravel() for name, x in zip(axes, mesh, strict=True)}, shape


def _table(robot: Machine, file: Path) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Poses of a table whose first row has the names of coordinates, units behind them: x [mm], q1 (deg)."""
    rows = _rows(file)
    if len(rows) < 2:
        raise SuppleError(f"{file}: needs a row of names and rows of numbers below it")
    heads = [_head(text) for text in rows[0]]
    made = {name: np.zeros(len(rows) - 1) for name, _ in heads}
    if len(made) < len(heads):
        raise SuppleError(f"{file}: a name stands twice in the first row")
    for i, row in enumerate(rows[1:]):
        if len(row) != len(heads):
            raise SuppleError(f"{file}: row {i + 2} has {len(row)} cells, the first has {len(heads)}")
        for (name, unit), cell in zip(heads, row, strict=True):
            written = f"{cell} {unit}".strip()
            made[name][i] = si(written, _dimension(robot, name), f"{file}: row {i + 2}: {printable(name)}")
    return made, (len(rows) - 1,)


def _rows(file: Path) -> list[list[str]]:
    try:
        if not file.is_file():
            raise SuppleError(f"{file}: there is no such file")
        if file.stat().st_size > _BYTES:
            raise SuppleError(f"{file}: is larger than the {_BYTES // 1_000_000} MB of a table of poses")
        rows = list(csv.reader(file.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise SuppleError(f"{file}: cannot be read as a table: {problem}") from problem
    return [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]


def _head(text: str) -> tuple[str, str]:
    for left, right in ("[]", "()"):
        if text.endswith(right) and left in text:
            name, unit = text[:-1].rsplit(left, 1)
            return name.strip(), unit.strip()
    return text, ""


def _motion(robot: Machine, name: str, samples: int, fixed: Mapping[str, float]) -> Places:
    motion = robot.motion(name)
    if not 2 <= samples <= 100_000:
        raise SuppleError(f"{samples} samples along a motion: must be 2 to 100000")
    followed = follow(robot.model(rigid=True), motion)
    if followed.trajectory is None:
        raise SuppleError(f"{robot.name}: {name} prescribes no actuator; a study goes along prescribed motions")
    times = np.linspace(0.0, min(motion.duration, float(followed.trajectory.end)), samples)
    values = followed.trajectory(times)[0]
    made = {channel: values[:, k] for k, channel in enumerate(followed.trajectory.names)}
    return Places(made, (samples,), fixed, times)
