"""Numbers of a robot over its workspace."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from supple.core.cases import study
from supple.core.core import Core
from supple.core.quantities import quantity
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.follow import follow
from supple.model.ports import wrenches_of
from supple.results.study import Column, Study
from supple.robot.written import Written, pose_of, si, values_of

Range = str | Sequence[float]
_MOST = 20_000_000  # cases of one map
_ROWS = 5_000_000  # bytes of a file of poses


def map(
    robot: Machine,
    over: Mapping[str, Range] | None = None,
    of: Sequence[str] = ("f1",),
    at: Mapping[str, Written] | None = None,
    *,
    poses: str | Path | None = None,
    along: str | None = None,
    samples: int = 201,
    free: bool = False,
    loads: Mapping[str, Sequence[float]] | None = None,
    assembly: str | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Study:
    """Quantities over a grid of poses, over the poses of a table, or along a motion; options as of `api.Robot.map`."""
    if sum(x is not None for x in (over or None, poses, along)) != 1:
        raise SuppleError("say where: --over NAME=FIRST:LAST:COUNT, or --poses FILE, or --along MOTION")
    fixed = pose_of(robot.mechanism(), at)
    if over:
        chosen, shape = _grid(robot, over)
    elif poses is not None:
        chosen, shape = _table(robot, Path(poses))
    else:
        chosen, shape = _motion(robot, along or "", samples)
    names = [n for n in chosen if n != "time"]
    for name in fixed:
        if name in names:
            raise SuppleError(f"{name} is both fixed by --at and varied; give it once")
    core = Core(robot, [*names, *fixed], free=free, assembly=assembly)
    asked = [quantity(core, text) for text in of]
    count = int(np.prod(shape))
    table = np.column_stack([*(chosen[n] for n in names), *(np.full(count, x) for x in fixed.values())]).reshape(count, -1)
    wrenches = wrenches_of(core.model, loads or {}).ravel()[None]
    units = {c.name: c.unit for c in core.model.mechanism.coordinates}
    listed = {n: Column("s" if n == "time" else units[n], x) for n, x in chosen.items()}
    return study(core, "map", shape, listed, table, None, asked, wrenches, threads=threads, progress=progress)


def _dimension(robot: Machine, name: str) -> str:
    for c in robot.mechanism().coordinates:
        if c.name == name:
            return "length" if c.unit == "m" else "angle"
    return "angle or length"  # the Core says that it does not know the name


def _grid(robot: Machine, over: Mapping[str, Range]) -> tuple[dict[str, Array], tuple[int, ...]]:
    axes = {name: np.array(values_of(text, _dimension(robot, name), f"--over {name}")) for name, text in over.items()}
    shape = tuple(len(x) for x in axes.values())
    if int(np.prod(shape, dtype=float)) > _MOST:
        raise SuppleError(f"{' x '.join(str(n) for n in shape)} poses are more than the {_MOST:,} of one map")
    mesh = np.meshgrid(*axes.values(), indexing="ij")
    return {name: x.ravel() for name, x in zip(axes, mesh, strict=True)}, shape


def _table(robot: Machine, file: Path) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Poses of a table whose first row has the names of coordinates, units behind them: x [mm], q1 (deg)."""
    try:
        if not file.is_file():
            raise SuppleError(f"{file}: there is no such file")
        if file.stat().st_size > _ROWS:
            raise SuppleError(f"{file}: is larger than the {_ROWS // 1_000_000} MB of a table of poses")
        rows = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise SuppleError(f"{file}: cannot be read as a table: {problem}") from problem
    rows = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
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
            made[name][i] = si(written, _dimension(robot, name), f"{file}: row {i + 2}: {name}")
    return made, (len(rows) - 1,)


def _head(text: str) -> tuple[str, str]:
    for left, right in ("[]", "()"):
        if text.endswith(right) and left in text:
            name, unit = text[:-1].rsplit(left, 1)
            return name.strip(), unit.strip()
    return text, ""


def _motion(robot: Machine, name: str, samples: int) -> tuple[dict[str, Array], tuple[int, ...]]:
    motion = robot.motion(name)
    if not 2 <= samples <= 100_000:
        raise SuppleError(f"{samples} samples along a motion: must be 2 to 100000")
    followed = follow(robot.model(rigid=True), motion)
    if followed.trajectory is None:
        raise SuppleError(f"{robot.name}: {name} prescribes no actuator; a map goes along prescribed motions")
    times = np.linspace(0.0, min(motion.duration, float(followed.trajectory.end)), samples)
    values = followed.trajectory(times)[0]
    made = {channel: values[:, k] for k, channel in enumerate(followed.trajectory.names)}
    return {"time": times, **made}, (samples,)
