"""`Tape`: a stored Function run by a small machine in C that is compiled once for all; no compiling per model.

It gives the interpreter's bits but for sines and cosines, takes about a nanosecond for an operation on eight states, and
falls back to the interpreter where there is no compiler and for complex numbers.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.backends import c_source
from supple.backends.compiler import find_compiler, shared_library
from supple.backends.interpreter import Interpreted, broadcast, schedule
from supple.errors import Makeshift, SuppleError
from supple.expr.function import Array, Function
from supple.expr.stored import OPERATIONS, Integers, Shapes, Stored, stored

_WIDE = 8  # states side by side
_WORTH_A_THREAD = 20_000_000  # operations below which a thread costs more than it saves
_WORTH_COMPILING = 100_000  # states for which an operation is run by then
_COMPILER = 1000  # operations that take as long to compile as a compiler takes to begin
_WORTH_A_LOOK = 1_000_000  # operations below which nobody asks whether a tape was compiled before
_PLAIN = [OPERATIONS.index(name) for name in ("add", "sub", "mul", "neg")]
_HELP = (1.0, -1.0, -0.0)  # constants that plain operations need: one, minus, nothing


class _Structure(ctypes.Structure):
    """`Tape` of tape.c."""

    _fields_ = [
        *((name, ctypes.c_longlong) for name in ("registers", "loads", "constants", "stretches", "results")),
        *((name, ctypes.c_void_p) for name in ("load_to", "load_from", "load_at", "constant_to", "constant")),
        *((name, ctypes.c_void_p) for name in ("begin", "plain", "other", "result")),
    ]


@cache
def _library() -> ctypes.CDLL | None:
    """The machine, compiled or from the cache; None without a compiler."""
    if find_compiler() is None:
        return None
    try:
        text = c_source.header() + (Path(__file__).parent / "tape.c").read_text(encoding="ascii")
        made = ctypes.CDLL(str(shared_library(text, (f"-DSUPPLE_LANES={_WIDE}",))))
    except (OSError, SuppleError) as problem:
        warnings.warn(f"models run interpreted, with the same results but slower: {problem}", Makeshift, stacklevel=2)
        return None
    made.supple_registers.restype = ctypes.c_longlong
    made.supple_tape.restype = made.supple_tape_rows.restype = ctypes.c_int
    return made


@dataclass(frozen=True)
class _Loaded:
    """A tape in the form of the machine, and the arrays that it points to."""

    structure: _Structure
    arrays: tuple[Any, ...]


@dataclass
class _Use:
    """How often a tape was run, and what was compiled of it since."""

    states: int = 0
    asked: bool = False
    library: ctypes.CDLL | None = None


@dataclass(frozen=True)
class Tape:
    """A callable Function: arrays with leading batch axes in, arrays with the same batch axes out."""

    stored: Stored
    _use: _Use = field(default_factory=_Use, repr=False, compare=False)

    @property
    def inputs(self) -> Shapes:
        """Shapes of the inputs by name."""
        return self.stored.inputs

    @cached_property
    def _loaded(self) -> _Loaded | None:
        library = _library()
        return None if library is None else _load(self.stored, library)

    @cached_property
    def _interpreted(self) -> Interpreted:
        return Interpreted(self.stored, schedule(self.stored))

    def machine(self) -> tuple[int, int] | None:
        """Addresses of the machine and of this tape, for C that runs it (they live as long as this does); None without a
        compiler."""
        return self._addresses("supple_tape")

    def rows_machine(self, states: int) -> tuple[int, int] | None:
        """The same of what gives rows, for so many states: the machine, or what is compiled of a tape that is run often."""
        compiled = self._compiled(states)
        return self._addresses("supple_tape_rows") if compiled is None else (_address(compiled.supple_evaluate), 0)

    def _addresses(self, name: str) -> tuple[int, int] | None:
        library, loaded = _library(), self._loaded
        if library is None or loaded is None:
            return None
        return _address(library[name]), ctypes.addressof(loaded.structure)

    def _compiled(self, states: int) -> ctypes.CDLL | None:
        """The library of this tape, if it was compiled before or is worth it by now."""
        use, operations = self._use, len(self.stored.code)
        use.states += states
        worth = use.states * operations > _WORTH_COMPILING * (_COMPILER + operations)
        if use.library is None and (worth or not use.asked) and use.states * operations > _WORTH_A_LOOK:
            from supple.backends.compiled_tape import rows_library

            use.library, use.asked = rows_library(self.stored, worth), True
            use.states = 0 if worth else use.states  # not again soon where it cannot be compiled
        return use.library

    @cached_property
    def parts(self) -> list[tuple[str, Any, slice]]:
        """Name, shape and place among the results of every output."""
        ends = np.cumsum([0, *(prod(shape) for shape in self.stored.outputs.values())]).tolist()
        return [(name, x, slice(a, b)) for (name, x), a, b in zip(self.stored.outputs.items(), ends, ends[1:], strict=False)]

    def __call__(self, **inputs: Any) -> dict[str, Array]:
        loaded = self._loaded
        if loaded is None or any(np.iscomplexobj(x) for x in inputs.values()):
            return self._interpreted(**inputs)
        tables, batch = broadcast(self.stored, inputs)
        out = np.empty((prod(batch), len(self.stored.results)))
        self._run(loaded, tables, out, len(out))
        return {name: out[:, part].reshape((*batch, *shape)) for name, shape, part in self.parts}

    def rows(self, out: Sequence[Array], **inputs: Any) -> None:
        """Fill tables (results, states) with the results, a row each, one table after the other."""
        loaded = self._loaded
        if loaded is None:
            found = self._interpreted(**inputs)
            every = np.concatenate([x.reshape(len(x), -1) for x in found.values()], axis=1).T
            for table, first in zip(out, np.cumsum([0, *(len(x) for x in out)]), strict=False):
                table[...] = every[first : first + len(table)]
            return
        tables, (count,) = broadcast(self.stored, inputs)
        where = np.concatenate([row_addresses(x) for x in out])
        assert len(where) == len(self.stored.results) and all(x.shape[1] == count for x in out)
        self._run(loaded, tables, where, count, self._compiled(count))

    def named(self, rows: Array, first: int = 0) -> dict[str, Array]:
        """Outputs (..., states) by name, as far as they are in a table (results, states) whose first result is that one."""
        return {
            name: rows[part.start - first : part.stop - first].reshape(*shape, rows.shape[1])
            for name, shape, part in self.parts
            if first <= part.start and part.stop <= first + len(rows)
        }

    def _run(
        self, loaded: _Loaded, tables: dict[str, Array], out: npt.NDArray[Any], count: int,
        compiled: ctypes.CDLL | None = None,
    ) -> None:  # fmt: skip
        """Fill `out`, an array (states, results) or addresses of rows, from inputs of one state or of all of them."""
        given = pointers(tables)
        library = _library()
        assert library is not None
        in_rows = library.supple_tape_rows if compiled is None else compiled.supple_evaluate
        machine, to = library.supple_tape if out.ndim == 2 else in_rows, ctypes.c_void_p(out.ctypes.data)

        def piece(begin: int, end: int) -> None:
            done = machine(
                ctypes.byref(loaded.structure), given.where, given.step, to, ctypes.c_longlong(begin),
                ctypes.c_longlong(end - begin),
            )  # fmt: skip
            if not done:
                raise MemoryError(f"{self.stored.name}: no memory")

        in_pieces(count, len(self.stored.code), piece)


@dataclass(frozen=True)
class Pointers:
    """Inputs as C has them: where they are, how far from state to state, and the arrays, which live as long as this."""

    where: Any
    step: Any
    arrays: list[Array]


def pointers(tables: dict[str, Array]) -> Pointers:
    """Tables (states, numbers), or of one state that is the same for all, for C."""
    read = [_in_rows(table) for table in tables.values()]
    where = (ctypes.c_void_p * len(read))(*(table.ctypes.data for table in read))
    step = (ctypes.c_longlong * len(read))(*(table.strides[0] // 8 if len(table) > 1 else 0 for table in read))
    return Pointers(where, step, read)


def in_pieces(count: int, operations: int, piece: Callable[[int, int], None]) -> None:
    """All states, from the first to the last of a piece, in threads where so many operations are worth it."""
    shares = count * operations // _WORTH_A_THREAD
    if shares <= 1 or (shares := min(os.cpu_count() or 1, shares)) == 1:
        if count:
            piece(0, count)
        return
    width = -(-count // shares)
    width += -width % _WIDE
    with ThreadPoolExecutor(shares) as pool:
        for made in [pool.submit(piece, i, min(i + width, count)) for i in range(0, count, width)]:
            made.result()


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def row_addresses(x: Array) -> npt.NDArray[np.int64]:
    """Where the rows of a table (rows, states) begin."""
    assert not x.size or x.strides[1] == 8, "the numbers of a row are apart"
    return x.ctypes.data + x.strides[0] * np.arange(len(x))


def _in_rows(table: Array) -> Array:
    """A table of doubles, those of a row close together."""
    fine = table.dtype == np.float64 and table.strides[1] == 8 and table.strides[0] % 8 == 0
    return table if fine else np.ascontiguousarray(table, dtype=np.float64)


def _load(f: Stored, library: ctypes.CDLL) -> _Loaded:
    """f in the form of the machine."""
    shift = len(_HELP)
    given, own = f.given, len(f.constants) + shift  # constants that help stand behind the others
    fixed = given + own
    code, operands, results = _merged(f, fixed)
    values = fixed + len(code)
    making = np.arange(fixed, values, dtype=np.int32)
    last = np.full(values, -1, np.int32)
    for operand in operands.T:
        use = np.full(values, -1, np.int32)
        use[operand] = making  # the last assignment wins
        np.maximum(last, use, out=last)
    last[results] = values
    place = np.empty(values, np.int32)
    sizes = (ctypes.c_longlong(values), ctypes.c_longlong(fixed))
    registers = library.supple_registers(*sizes, *(ctypes.c_void_p(x.ctypes.data) for x in (operands, last, place)))
    if registers < 0:
        raise MemoryError(f"{f.name}: no memory")
    used = np.flatnonzero(last[:given] >= 0).astype(np.int32)
    begins = np.array([part.start for part in f.places.values()], dtype=np.int32)
    source = np.searchsorted(begins, used, side="right").astype(np.int32) - np.int32(1)
    plain, other, begin = _stretches(code, place[fixed:], place[operands])
    arrays = (
        used, source, (used - begins[source]).astype(np.int32), place[given:fixed].copy(),
        np.concatenate([f.constants, _HELP]), begin, plain, other, place[results],
    )  # fmt: skip
    counts = (int(registers), len(used), own, len(begin) - 1, len(results))
    return _Loaded(_Structure(*counts, *(x.ctypes.data for x in arrays)), arrays)


def _merged(f: Stored, fixed: int) -> tuple[Integers, Integers, Integers]:
    """Codes (that of `add` for all plain operations), three operands each, and results; products that only a sum needs are
    within that sum."""
    add, sub, mul, neg = (f.code == k for k in _PLAIN)
    before = f.given + len(f.constants)
    uses = np.bincount(np.concatenate([f.first, f.second[f.second != f.first], f.results]), minlength=before + len(f.code))
    lone = np.zeros(len(uses), dtype=bool)
    lone[before:] = mul & (uses[before:] == 1)
    right = add & lone[f.second] & (f.first != f.second)
    left = add & ~right & lone[f.first] & (f.first != f.second)
    one, minus, nothing = range(fixed - len(_HELP), fixed)
    number = np.arange(len(uses))  # of values, once products are merged
    within = np.concatenate([f.second[right], f.first[left]]) - before
    kept = np.ones(len(f.code), dtype=bool)
    kept[within] = False
    number[before:] = fixed - 1 + np.cumsum(kept)
    first, second = number[f.first], number[f.second]
    # a + b = a * 1 + b;  a - b = b * -1 + a;  a * b = a * b + -0;  -a = a * -1 + -0;  a + m n = m * n + a
    a = np.where(sub, second, first)
    b = np.where(mul, second, np.where(add, one, np.where(sub | neg, minus, second)))
    c = np.where(add, second, np.where(sub, first, np.where(mul | neg, nothing, first)))
    for at, product, rest in ((right, f.second, first), (left, f.first, second)):
        inner = product[at] - before
        a[at], b[at], c[at] = first[inner], second[inner], rest[at]
    operands = np.ascontiguousarray(np.stack([a, b, c], axis=1)[kept], dtype=np.int32)
    code = np.where(add | sub | mul | neg, np.int32(_PLAIN[0]), f.code)[kept]
    return code, operands, number[f.results].astype(np.int32)


def _stretches(code: Integers, o: Integers, operands: Integers) -> tuple[Integers, ...]:
    """Plain operations (o a b c), those between (o a b code), and where stretches of plain ones begin."""
    is_plain = code == _PLAIN[0]
    plain = np.column_stack([o, operands])[is_plain]
    other = np.column_stack([o, operands[:, :2], code])[~is_plain]
    before = np.cumsum(is_plain)[~is_plain]
    begin = np.concatenate([[0], before, [len(plain)]])
    return tuple(np.ascontiguousarray(x, dtype=np.int32) for x in (plain, other, begin))


def tape(f: Function) -> Tape:
    """f, ready to be called on arrays."""
    return Tape(stored(f))
