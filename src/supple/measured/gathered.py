"""What was measured in a pose, in the channels of the test: responses from files of them or of records, modes, tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.measured.functions import Measured, read_functions
from supple.measured.hammer import Blow, Processing, responses_of
from supple.measured.mode_sets import read_modes
from supple.measured.tables import read_modal_table
from supple.measured.test import Channel, Pose, Test
from supple.measurements import MeasuredModes, Responses
from supple.robot.bodies.record import Array
from supple.robot.named_files import files_below, is_outside_allowed
from supple.storage.universal import COHERENCE, RESPONSE, TIME, Function58

_LEAST_COHERENCE = 1e-6


@dataclass(frozen=True)
class Table:
    """Frequencies (Hz) and ratios of a pose (not a number: not known), and their standard deviations."""

    frequencies_hz: Array
    ratios: Array
    frequency_deviation: Array
    ratio_deviation: Array


def file_of(test: Test, name: str) -> Path:
    """The path of a file that the test file names."""
    return test.folder / name


def table_of(test: Test, pose: Pose) -> Table | None:
    """The table of frequencies of a pose; None if it has none."""
    written = pose.written
    if written.table is not None:
        with files_below(test.folder, is_outside_allowed()):
            found = read_modal_table(file_of(test, written.table))
    elif written.frequencies is not None:
        given: dict[str, Any] = {"frequency": np.array([float(x) for x in written.frequencies])}
        if written.damping is not None:
            given["damping"] = np.array([float(x) for x in written.damping])
        order = np.argsort(given["frequency"])
        found = {k: x[order] for k, x in given.items()}
    else:
        return None
    f = found["frequency"]
    ratios = found.get("damping", np.full(len(f), np.nan))
    spread = found.get("frequency_deviation", np.full(len(f), float(written.frequency_deviation)))
    loose = found.get("damping_deviation", np.full(len(f), float(written.damping_deviation)))
    return Table(f, ratios, spread * f, loose * ratios)


def responses_in(test: Test, pose: Pose) -> Responses | None:
    """The responses of a pose, from `responses` or from `records`; None if it has neither."""
    written = pose.written
    name = written.responses or written.records
    if name is None:
        return None
    with files_below(test.folder, is_outside_allowed()):
        content = read_functions(file_of(test, name), written.units)
    made = _from_records(test, content) if written.records and not written.responses else _from_responses(test, content)
    return Responses(
        made.frequencies_hz, made.values, made.outputs, made.inputs, made.orders, made.coherence, made.deviation, made.decay,
        (*content.notices, *made.notices),
    )  # fmt: skip


def modes_in(test: Test, pose: Pose) -> MeasuredModes | None:
    """The modes of a pose, as another program extracted them; None if it has none."""
    if pose.written.modes is None:
        return None
    with files_below(test.folder, is_outside_allowed()):
        found = read_modes(file_of(test, pose.written.modes))
    outputs = [c for c in test.outputs if c.joint is None]
    known = {c.node for c in outputs}
    stray = sorted({n for m in found for n in m.shape} - known)
    present = [c for c in outputs if all(c.node in m.shape for m in found)]
    if not present:
        raise _stray(test, pose.written.modes, stray[0] if stray else 0, "modes", outputs)
    shapes = np.array([[_sign(c) * m.shape[c.node][abs(c.code) - 1] for m in found] for c in present])
    poles = np.array([m.pole for m in found])
    nothing = np.full(len(poles), np.nan)
    notices = [f"{pose.written.modes}: node {n} belongs to no sensor; it is left out" for n in stray[:5]]
    return MeasuredModes(
        poles, shapes, np.zeros((len(poles), 0)), tuple(c.name for c in present), (), nothing, nothing, tuple(notices)
    )  # fmt: skip


def _sign(channel: Channel) -> int:
    return -1 if channel.code < 0 else 1


def _stray(test: Test, file: str, node: int, what: str, channels: list[Channel]) -> SuppleError:
    known = ", ".join(str(n) for n in sorted({c.node for c in channels if c.node})[:20]) or "none"
    return SuppleError(
        f"{file}: {what} at node {node} belong to no channel of {test.file}, whose nodes are {known}; "
        "give the sensor or exciter its node:"
    )


def _matched(node: int, direction: int, channels: tuple[Channel, ...]) -> tuple[int, int] | None:
    """The channel of a node and direction, and its sign; None if there is none."""
    for k, c in enumerate(channels):
        if c.node == node and (abs(c.code) == abs(direction) or c.code == 0):
            return k, (1 if direction >= 0 else -1) * _sign(c)
    return None


def _from_responses(test: Test, content: Measured) -> Responses:
    functions = content.of_kind(RESPONSE)
    if not functions:
        raise SuppleError(
            f"{content.file}: holds no frequency responses (function type 4); name records: for time histories"
        )
    table, orders = _by_channel(test, functions, content.file)
    coherence = {(*_place(test, f, content.file)[:2],): f.y.real for f in content.of_kind(COHERENCE)}
    outs, ins = sorted({o for o, _ in table}), sorted({i for _, i in table})
    missing = next(((o, i) for o in outs for i in ins if (o, i) not in table), None)
    if missing is not None:
        lost = f"{test.outputs[missing[0]].name} to {test.inputs[missing[1]].name}"
        raise SuppleError(f"{content.file}: the response of {lost} is missing")
    known = all((o, i) in coherence for o in outs for i in ins)
    return Responses(
        functions[0].x, _stacked(table, outs, ins).astype(complex), tuple(test.outputs[o].name for o in outs),
        tuple(test.inputs[i].name for i in ins), tuple(orders[o] for o in outs),
        _stacked(coherence, outs, ins) if known else None,
    )  # fmt: skip


def _by_channel(test: Test, functions: list[Function58], file: str) -> tuple[dict[tuple[int, int], Array], dict[int, int]]:
    """Responses by (output, input), and per output how often displacement is differentiated."""
    x = functions[0].x
    table: dict[tuple[int, int], Array] = {}
    orders: dict[int, int] = {}
    for f in functions:
        if len(f.x) != len(x) or np.abs(f.x - x).max() > 1e-4 * (x[1] - x[0]):
            raise SuppleError(f"{file}:{f.first}: its frequencies differ from those of the first response")
        o, i, sign = _place(test, f, file)
        order = f.order if f.order is not None else test.outputs[o].order
        if orders.setdefault(o, order) != order:
            raise SuppleError(f"{file}:{f.first}: {test.outputs[o].name} is given as different quantities")
        if (o, i) in table:
            raise SuppleError(f"{file}:{f.first}: the response of {test.outputs[o].name} is given twice")
        table[o, i] = sign * f.y
    return table, orders


def _stacked(table: dict[tuple[int, int], Array], outs: list[int], ins: list[int]) -> Array:
    """(lines, outputs, inputs) of a table of columns."""
    return np.array([[table[o, i] for i in ins] for o in outs]).transpose(2, 0, 1)


def _place(test: Test, f: Function58, file: str) -> tuple[int, int, int]:
    out = _matched(f.node, f.direction, test.outputs)
    if out is None:
        raise _stray(test, f"{file}:{f.first}", f.node, f"direction {f.direction}", list(test.outputs))
    given = _matched(f.reference, f.reference_direction, test.inputs)
    if given is None:
        raise _stray(test, f"{file}:{f.first}", f.reference, "a reference", list(test.inputs))
    return out[0], given[0], out[1] * given[1]


def _from_records(test: Test, content: Measured) -> Responses:
    """Records grouped by exciter and blow (load case); forces are those of data type 13."""
    records = content.of_kind(TIME)
    if not any(f.force for f in records):
        raise SuppleError(f"{content.file}: holds no record of a force (data type 13) beside its time histories")
    parts = [part for exciter in test.inputs if (part := _of_exciter(test, records, exciter, content.file)) is not None]
    if not parts:
        raise SuppleError(f"{content.file}: no force record stands at the node of an exciter of {test.file}")
    return joined(parts)


def _of_exciter(test: Test, records: list[Function58], exciter: Channel, file: str) -> Responses | None:
    """Responses to the blows of an exciter; None if it has none."""
    forces = [(f, place[1]) for f in records if f.force and (place := _matched(f.node, f.direction, (exciter,)))]
    if not forces:
        return None
    blows, present, step = [], None, 0.0
    for force, sign in sorted(forces, key=lambda pair: pair[0].case):
        own = [f for f in records if f.case == force.case]
        found, names, step = _blow(test, own, force, file)
        if present is not None and names != present:
            raise SuppleError(f"{file}: blow {force.case} has other sensors than the blows before it")
        present = names
        blows.append(Blow(sign * force.y, found, f"blow {force.case}"))
    written = test.written.record
    scale = None if written.full_scale is None else float(written.full_scale)
    how = Processing(step, float(written.force_window), float(written.exponential), written.estimator, scale)
    outs = [test.outputs[k] for k in present or []]
    return responses_of(blows, how, tuple(c.name for c in outs), exciter.name, tuple(c.order for c in outs))


def _blow(test: Test, own: list[Function58], force: Function58, file: str) -> tuple[Array, list[int], float]:
    columns: dict[int, Array] = {}
    for f in own:
        if f.force and _matched(f.node, f.direction, test.inputs):
            continue
        out = _matched(f.node, f.direction, test.outputs)
        if out is None:
            raise _stray(test, f"{file}:{f.first}", f.node, f"direction {f.direction}", list(test.outputs))
        if len(f.y) != len(force.y):
            raise SuppleError(f"{file}:{f.first}: its record is not as long as that of the force")
        columns[out[0]] = out[1] * f.y
    if not columns:
        raise SuppleError(f"{file}: blow {force.case} has a force and no responses")
    step = float(np.diff(force.x).mean())
    return np.column_stack([columns[k] for k in sorted(columns)]), sorted(columns), step


def joined(parts: list[Responses]) -> Responses:
    """Responses to several exciters as one record."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if any(p.outputs != first.outputs or len(p.frequencies_hz) != len(first.frequencies_hz) for p in parts):
        raise SuppleError("exciters were recorded with different sensors or lengths; give them in files of their own")
    known = all(p.coherence is not None for p in parts)
    return Responses(
        first.frequencies_hz, np.concatenate([p.values for p in parts], axis=2), first.outputs,
        tuple(n for p in parts for n in p.inputs), first.orders,
        np.concatenate([p.coherence for p in parts if p.coherence is not None], axis=2) if known else None,
        np.concatenate([p.deviation for p in parts if p.deviation is not None], axis=2) if known else None,
        first.decay, tuple(n for p in parts for n in p.notices),
    )  # fmt: skip
