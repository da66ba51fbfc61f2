"""Many postures at once, in C that is compiled once for all: least squares, loops closed, rotation vectors. Samples are the
last axis; where there is no compiler, and in samples that C gives up, others have to help."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.backends import c_source, shelf
from supple.backends.compiler import find_compiler, shared_library
from supple.backends.interpreter import broadcast
from supple.backends.tape import Tape, in_pieces, pointers, row_addresses
from supple.errors import Makeshift, SuppleError
from supple.expr.function import Array

_WIDE = 8  # samples side by side
_NEAR, _CLOSED = 1e-13, 1e-8  # m or rad
_MOST = 12  # steps
_TURNS = 3  # evaluations that most postures take

Bools = npt.NDArray[np.bool_]


class _Loops(ctypes.Structure):
    """`Loops` of sampled.c."""

    _fields_ = [
        *((name, ctypes.c_longlong) for name in ("nq", "equations", "follow", "plain", "balls", "places", "held")),
        *((name, ctypes.c_void_p) for name in ("plain_q", "plain_v", "ball_q", "ball_v", "held_q")),
        ("near", ctypes.c_double), ("closed", ctypes.c_double), ("most", ctypes.c_int),
    ]  # fmt: skip


@dataclass(frozen=True)
class Followers:
    """The joints that close loops: places in q, and which of those that follow they are; of balls where they begin. `held`:
    places in q that are taken for zero."""

    plain: Sequence[tuple[int, int]]
    balls: Sequence[tuple[int, int]]
    held: Sequence[int]


class _Drives(ctypes.Structure):
    """`Drives` of drives.c."""

    _fields_ = [
        *((name, ctypes.c_longlong) for name in ("inputs", "kept", "forces", "equations", "follow", "actuators", "given")),
        *((name, ctypes.c_void_p) for name in ("follow_at", "given_at", "column", "added")),
        ("apart", ctypes.c_longlong),
    ]  # fmt: skip


@dataclass(frozen=True)
class Driven:
    """Actuators whose forces are asked for, and the joints that follow them: places among all forces; and which of the
    actuators they are."""

    follow: Sequence[int]
    given: Sequence[int]
    column: Sequence[int]


@cache
def _library() -> ctypes.CDLL | None:
    if find_compiler() is None:
        return None
    try:
        own = [(Path(__file__).parent / name).read_text(encoding="ascii") for name in ("sampled.c", "drives.c")]
        return ctypes.CDLL(str(shared_library("\n".join([c_source.header(), *own]), (f"-DSUPPLE_LANES={_WIDE}",))))
    except (OSError, SuppleError) as problem:
        warnings.warn(f"loops are closed with numpy, with the same results but slower: {problem}", Makeshift, stacklevel=2)
        return None


def least(A: Array, b: Array) -> tuple[Array, Bools]:
    """x (n, k, samples) with A (m, n, samples) x nearest to b (m, k, samples), and in which samples it is not known: where A
    is singular, or in all if there are more columns than rows."""
    m, n, count = A.shape
    x, poor = shelf.array(n, b.shape[1], count), np.ones(count, dtype=bool)
    library = _library()
    if library is None or m < n:
        return x, poor
    A, b = _even(A), _even(b)
    apart = (ctypes.c_longlong * 6)(*(s // 8 for y in (A, b, x) for s in (y.strides[2], y.strides[1])))
    done = library.supple_least(
        *(ctypes.c_longlong(i) for i in (count, m, n, b.shape[1])), *(ctypes.c_void_p(y.ctypes.data) for y in (A, b, x)),
        apart, ctypes.c_void_p(poor.ctypes.data),
    )  # fmt: skip
    if not done:
        raise MemoryError("least squares: no memory")
    return x, poor


def _even(A: Array) -> Array:
    """A matrix of every sample, the entries of each at equal distances."""
    fine = A.dtype == np.float64 and A.strides[0] == A.shape[1] * A.strides[1] and not any(s % 8 for s in A.strides)
    return A if fine else np.ascontiguousarray(A, dtype=float)


def close(gaps: Tape, followers: Followers, q: Array, closed: Array | None, places: Array) -> Bools:
    """Closes loops of postures q (samples, nq) by the joints that follow; in which samples they are not closed. `gaps` tells
    the residual, its gradient and then places, which are filled in (numbers, samples), as are the `closed` postures."""
    poor = np.ones(len(q), dtype=bool)
    library, tape = _library(), gaps.rows_machine(_TURNS * len(q))
    if library is None or tape is None:
        return poor
    q = q if q.dtype == np.float64 and q.strides[1] == 8 and q.strides[0] % 8 == 0 else np.ascontiguousarray(q, dtype=float)
    assert places.flags.c_contiguous and (closed is None or closed.flags.c_contiguous)
    plain, balls = (np.array(x, dtype=np.int32).reshape(-1, 2).T.copy() for x in (followers.plain, followers.balls))
    held = np.array(followers.held, dtype=np.int32)
    rows, columns = gaps.stored.outputs["gradient"]
    if rows < columns:
        return poor
    loops = _Loops(
        q.shape[1], rows, columns, plain.shape[1], balls.shape[1], len(places), len(held),
        *(x.ctypes.data for x in (*plain, *balls, held)), _NEAR, _CLOSED, _MOST,
    )  # fmt: skip
    done = library.supple_close(
        ctypes.byref(loops), *(ctypes.c_void_p(x) for x in tape), ctypes.c_longlong(len(q)),
        ctypes.c_void_p(q.ctypes.data), ctypes.c_longlong(q.strides[0] // 8),
        *(ctypes.c_void_p(None if x is None else x.ctypes.data) for x in (closed, places, poor)),
    )  # fmt: skip
    if not done:
        raise MemoryError(f"{gaps.stored.name}: no memory")
    return poor


def drives(
    f: Tape, who: Driven, inputs: dict[str, Any], kept: Array, added: Array | None, tau: Array
) -> Bools:  # fmt: skip
    """In which samples the forces of actuators that make a motion, `tau` (given, samples), are not known; all others are
    filled in, as are the results of f, a row each, that are `kept`.

    Behind those f tells `force`, of every coordinate, to which `added` (coordinates, samples) comes, and columns of J of the
    joints that follow (`passive`) and of the actuators (`active`)."""
    tables, (count,) = broadcast(f.stored, inputs)
    poor = np.ones(count, dtype=bool)
    library, machine = _library(), f.rows_machine(count)
    if library is None or machine is None:
        f.rows((kept, np.empty((len(f.stored.results) - len(kept), count))), **inputs)
        return poor
    where = [np.array(x, dtype=np.int32) for x in (who.follow, who.given, who.column)]
    added = None if added is None else np.ascontiguousarray(added, dtype=float)
    rows, columns = f.stored.outputs["passive"] if who.follow else (0, 0)
    structure = _Drives(
        len(tables), len(kept), *f.stored.outputs["force"], rows, columns, f.stored.outputs["active"][1], len(where[1]),
        *(x.ctypes.data for x in where), None if added is None else added.ctypes.data, count,
    )  # fmt: skip
    given, to = pointers(tables), [row_addresses(x) for x in (kept, tau)]

    def piece(begin: int, end: int) -> None:
        done = library.supple_drives(
            ctypes.byref(structure), *(ctypes.c_void_p(x) for x in machine), given.where, given.step,
            *(ctypes.c_void_p(x.ctypes.data) for x in to), ctypes.c_longlong(begin), ctypes.c_longlong(end - begin),
            ctypes.c_void_p(poor.ctypes.data),
        )  # fmt: skip
        if not done:
            raise MemoryError(f"{f.stored.name}: no memory")

    in_pieces(count, len(f.stored.code), piece)
    return poor


def largest(x: Array) -> Array:
    """The largest sizes (numbers,) in many samples (samples, numbers), those that are no numbers left out."""
    library, made = _library(), np.zeros(x.shape[1])
    if library is None:
        return np.asarray(np.fmax.reduce(np.abs(x), axis=0, initial=0.0))
    x = x if x.dtype == np.float64 and x.strides[1] == 8 and x.strides[0] % 8 == 0 else np.ascontiguousarray(x, dtype=float)
    done = library.supple_largest(
        *(ctypes.c_longlong(i) for i in x.shape), ctypes.c_void_p(x.ctypes.data), ctypes.c_longlong(x.strides[0] // 8),
        ctypes.c_void_p(made.ctypes.data),
    )  # fmt: skip
    if not done:
        raise MemoryError("the largest of many: no memory")
    return made


def turning(R: Array) -> Array | None:
    """Rotation vectors (3, samples) of rotation matrices (3, 3, samples); None without a compiler."""
    library = _library()
    if library is None:
        return None
    R, made = np.ascontiguousarray(R), shelf.array(3, R.shape[2])
    library.supple_turning(ctypes.c_longlong(R.shape[2]), *(ctypes.c_void_p(x.ctypes.data) for x in (R, made)))
    return made
