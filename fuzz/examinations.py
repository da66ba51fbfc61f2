"""What is done with a file that may be damaged: it is read as the verbs read it, and what comes out is judged.

Each raises SuppleError if the file is refused, and Wrong if it is taken for something that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from fuzz.judges import Wrong, bodies, finite

LARGEST = 40  # coordinates of a robot whose modes are asked for


@cache
def _gallery(name: str) -> Any:
    from supple.machine import Machine

    return Machine.read(name)


def robot(path: Path, deep: bool) -> None:
    """A robot file, read and described; one in four is assembled (with plates, which take long, one in ten), one in ten is
    asked for its mobility, modes and motions."""
    from supple.machine import Machine

    made, content = Machine.read(path), path.read_bytes()
    plates = any(b.plate is not None for b in made.source.robot.bodies.values())
    if not deep and (plates or crc32(content) % 4):
        return
    mechanism = made.mechanism()
    bodies(mechanism.frames, unphysical=b"unphysical" in content)
    if deep and mechanism.nv <= LARGEST:
        _asked(made)


def _asked(made: Any) -> None:
    from supple.analyses.check import check
    from supple.analyses.modes import modes
    from supple.errors import SuppleError

    for name in list(made.description.robot.motions)[:2]:
        try:
            _motion(made.motion(name))
        except SuppleError:  # a motion that is refused says nothing about the modes
            continue
    model = made.model()
    check(model)
    found = modes(model, count=3)
    finite("frequencies", found.frequencies_hz)
    finite("shapes", found.shapes)


def motion_of(name: str) -> Callable[[Path, bool], None]:
    """Motion files and tables of a robot of the gallery."""

    def motion(path: Path, deep: bool) -> None:
        _motion(_gallery(name).motion(path))

    return motion


def _motion(made: Any) -> None:
    """All that moves, at 20 times."""
    finite("duration", made.duration)
    for trajectory in (made.path, made.torques, made.loads):
        if trajectory is not None:
            for part in trajectory(np.linspace(trajectory.start, trajectory.end, 20)):
                finite("motion", part)


def test(path: Path, deep: bool) -> None:
    """A test file and what it names; one in ten is put on the robot."""
    from supple.measured.gathered import modes_in, responses_in, table_of
    from supple.measured.instrumented import instrumented
    from supple.measured.test import read_test

    robot = _gallery("dualemps")
    made = read_test(path, robot.description, robot.mechanism())
    for channel in (*made.outputs, *made.inputs):
        finite("direction", channel.vector)
    for pose in made.poses:
        table = table_of(made, pose)
        if table is not None:
            finite("frequencies", table.frequencies_hz)
        responses = responses_in(made, pose)
        if responses is not None:
            finite("responses", responses.values)
        modes = modes_in(made, pose)
        if modes is not None:
            finite("modes", modes.poles)
    if deep:
        bodies(instrumented(robot, made).mechanism().frames, unphysical=False)


def modal_table(path: Path, deep: bool) -> None:
    from supple.measured.tables import read_modal_table

    for name, column in read_modal_table(path).items():
        finite(name, column)


def static_table(path: Path, deep: bool) -> None:
    from supple.measured.tables import read_static_table

    poses, moved, _ = read_static_table(path, {"q11": "length", "q21": "length"})
    finite("poses", [list(p.values()) for p in poses])
    finite("displacements", moved)


def poses(path: Path, deep: bool) -> None:
    """A table of poses, as maps take it."""
    from supple.studies.places import places

    finite("poses", places(_gallery("dualemps"), None, path, None, 2, None).table)


def node_table(path: Path, deep: bool) -> None:
    from supple.robot.finite_elements.matrix_files import read_node_table

    finite("nodes", read_node_table(path))


def responses(path: Path, deep: bool) -> None:
    """Measured functions; one in ten is searched for modes."""
    from supple.analyses.extract import extract, responses_of_file

    found = responses_of_file(path, None)
    finite("responses", found.values)
    if deep and found.values.size <= 2000:
        made = extract(path, orders=6)
        finite("poles", made.modes.poles)


def nodal_modes(path: Path, deep: bool) -> None:
    from supple.measured.mode_sets import read_modes

    for mode in read_modes(path):
        finite("pole", mode.pole)
        finite("shape", list(mode.shape.values()))


def difference(path: Path, deep: bool) -> None:
    """A result beside the whole one."""
    from supple.storage.differences import differences

    for changed in differences(path, path.with_name("whole.nc")).quantities.values():
        finite("what changed", [changed.old, changed.new, changed.apart])


def study(path: Path, deep: bool) -> None:
    """A map, as reports take it; what was not answered is not a number."""
    from supple.storage.studies import read_study

    found = read_study(path)
    if any(len(c.values) != len(found.answered) for c in (*found.chosen.values(), *found.quantities.values())):
        raise Wrong("columns of a map: of different lengths")


def controller(path: Path, deep: bool) -> None:
    """A controller of a file, and how its parts are weighted along a path."""
    from supple.motion.laws import read_law

    law = read_law(path)
    for part in law.parts:
        for key in ("A", "B", "C", "D", "E"):
            finite(key, getattr(part, key))
    finite("times", [law.sample, law.delay])
    finite("noise", law.noise)
    names = list(law.parts[0].at)
    finite("weights", law.weights(names, np.zeros((3, len(names)))))


def brought(path: Path, deep: bool) -> None:
    """A robot of another program, brought over; one in ten is assembled and its bodies judged."""
    from supple.beginnings.bring import bring
    from supple.machine import Machine

    tables = path.with_name("table_3a.csv")
    if tables.exists():
        loops = path.with_name("table_3_loops.yaml")
        text, _ = bring(tables, beams=path.with_name("table_3b.csv"), loops=loops, count=3, settings=TABLES)
    else:
        text, _ = bring(path)
    made = Machine.parse(text)
    if deep:
        bodies(made.mechanism().frames, unphysical=True)


TABLES = {"Lb": "0.75", "Lc": "0.125", "Lp": "0.95", "Rb": "0.25", "Rn": "0.1"}


def fe_body(robot_file: Path) -> Callable[[Path, bool], None]:
    """A file of a body, as the robot file beside it takes it: read, reduced, its inertia judged."""
    from supple.robot.reader import read_source

    source = read_source(robot_file)

    def read(path: Path, deep: bool) -> None:
        from supple.machine import Machine

        bodies(Machine(source).mechanism().frames, unphysical=False)

    return read


def mesh(robot_file: Path) -> Callable[[Path, bool], None]:
    """A mesh of a body: its cells; of one in four, as above, the body."""
    from supple.robot.finite_elements.solid_mesh import read_solid

    whole = fe_body(robot_file)

    def read(path: Path, deep: bool) -> None:
        if not deep and crc32(path.read_bytes()) % 4:
            finite("nodes", read_solid(path).points)
        else:
            whole(path, deep)

    return read


# Checkpoints -----------------------------------------------------------------------------------------------------------

_STATE = bytes(range(256)) * 2
_SAMPLES = np.arange(120.0).reshape(20, 1, 6)
_FINGERPRINT = "of a simulation"


def checkpoint(result: Path) -> Path:
    """The folder of a checkpoint that belongs to a result."""
    from supple.checkpoints import Checkpoints

    made = Checkpoints(result, _FINGERPRINT)
    made.keep(0, _STATE, 0, _SAMPLES[:12], {"note": 1})
    made.keep(0, _STATE, 12, _SAMPLES[12:], {"note": 1})
    return made.folder


def resumed(path: Path, deep: bool) -> None:
    """A checkpoint with a damaged file is refused, or what it holds is what was kept."""
    from supple.checkpoints import Checkpoints
    from supple.errors import SuppleError

    kept = Checkpoints(path.parent.with_name(path.parent.name.removesuffix(".part")), _FINGERPRINT).kept(0)
    if kept is None:
        raise SuppleError("there is no checkpoint")
    state, samples, notes = kept
    if state != _STATE or not np.array_equal(samples, _SAMPLES) or notes != {"note": 1}:
        raise Wrong("a damaged checkpoint is taken for whole")


_PART = {"status": np.arange(8), "values": np.linspace(0, 1, 24).reshape(8, 3), "regular": np.ones(8, dtype=bool)}


def part(result: Path) -> Path:
    """The file of a part of a study under way."""
    from supple.storage.studies import Parts

    made = Parts(result)
    made.keep("part", {**_PART, "problems": {3: "out of reach"}})
    return made.folder / "part.bin"


def part_resumed(path: Path, deep: bool) -> None:
    """A damaged part is computed anew, or what it holds is what was kept."""
    from supple.errors import SuppleError
    from supple.storage.studies import Parts

    kept = Parts(path.parent.with_name(path.parent.name.removesuffix(".part"))).kept("part")
    if kept is None:
        raise SuppleError("there is no such part")
    same = all(np.array_equal(kept[k], x) for k, x in _PART.items()) and kept["problems"] == {3: "out of reach"}
    if not same:
        raise Wrong("a damaged part of a study is taken for whole")
