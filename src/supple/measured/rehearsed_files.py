"""What a rehearsed test writes: universal files of responses or records, tables, and a test file that names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from supple.delivery import written_whole
from supple.measured.hammer import Blow
from supple.measured.test import Channel, Test
from supple.measurements import Responses
from supple.robot.bodies.record import Array
from supple.storage.universal import COHERENCE, RESPONSE, TIME, Function58, write_functions

MEASURED = ("frequencies", "damping", "table", "responses", "records", "modes", "units")


def numbered(test: Test) -> dict[str, int]:
    """Node numbers of sensors and exciters; those without one get the next that are free."""
    parts = {**test.written.sensors, **test.written.exciters}
    made = {name: part.node for name, part in parts.items() if part.node is not None}
    unused = (n for n in range(1, len(parts) + len(made) + 2) if n not in made.values())
    return {name: made[name] if name in made else next(unused) for name in parts}


def response_functions(
    found: Responses, outputs: Sequence[Channel], inputs: Sequence[Channel], nodes: Mapping[str, int]
) -> list[Function58]:
    """Responses and their coherences as functions at nodes."""
    made = []
    for i, given in enumerate(inputs):
        for o, out in enumerate(outputs):
            place = (nodes[out.place], out.code, nodes[given.place], given.code)
            name = f"{out.name} / {given.name}"
            y = found.values[:, o, i]
            made.append(
                Function58(RESPONSE, found.frequencies_hz, y, *place, out.order, out.force, name, strain=out.gauge > 0)
            )
            if found.coherence is not None:
                y = found.coherence[:, o, i]
                made.append(Function58(COHERENCE, found.frequencies_hz, y, *place, out.order, False, name))
    return made


def record_functions(
    blows: Sequence[Blow], outputs: Sequence[Channel], given: Channel, nodes: Mapping[str, int], step: float, first: int
) -> list[Function58]:
    """Force and responses of an exciter's blows as functions of time; `first`: the number of the first blow."""
    made = []
    at = (nodes[given.place], given.code)
    for case, blow in enumerate(blows, first):
        t = np.arange(len(blow.force)) * step
        made.append(Function58(TIME, t, blow.force, *at, 0, 0, None, True, given.name, case=case))
        made += [
            Function58(TIME, t, y, nodes[c.place], c.code, *at, c.order, c.force, c.name, case=case, strain=c.gauge > 0)
            for c, y in zip(outputs, blow.responses.T, strict=True)
        ]
    return made


def write_pose(
    path: Path, functions: Sequence[Function58], places: Mapping[str, Sequence[float]], nodes: Mapping[str, int]
) -> None:
    """The universal file of a pose."""
    write_functions(
        path, functions, {nodes[name]: place for name, place in sorted(places.items(), key=lambda x: nodes[x[0]])}
    )


def write_table(path: Path, columns: Mapping[str, Array]) -> None:
    """A table in SI."""
    rows = np.column_stack(list(columns.values()))
    lines = [",".join(columns), *(",".join(f"{x:.12g}" for x in row) for row in rows)]
    write_text(path, "\n".join(lines) + "\n")


def write_text(path: Path, text: str) -> None:
    """A file of text, whole or not at all."""
    written_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def filled_in(
    text: str, nodes: Mapping[str, int], poses: Mapping[str, Mapping[str, str]], tables: Mapping[tuple[str, str], str]
) -> str:  # fmt: skip
    """The text of a test file with nodes, with what was measured in every pose, and with tables (by section and entry)."""
    written = YAML(typ="rt", pure=True)  # keeps comments; makes no objects but texts, numbers, lists and maps
    written.preserve_quotes, written.width = True, 120
    root: Any = written.load(text)
    for section in ("sensors", "exciters"):
        for name, part in (root.get(section) or {}).items():
            part["node"] = nodes[str(name)]
    for name, given in poses.items():
        pose = root["poses"][name]
        for key in MEASURED:
            pose.pop(key, None)
        pose.update(given)
    for (section, name), table in tables.items():
        root[section][name]["table"] = table
    stream = StringIO()
    written.dump(root, stream)
    return stream.getvalue()
