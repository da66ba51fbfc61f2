"""`Tape`: a stored Function run by a small machine in C that is compiled once for all; no compiling per model.

It gives the interpreter's bits but for sines and cosines, takes about a nanosecond for an operation on eight states, and
falls back to the interpreter where there is no compiler and for complex numbers.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from supple.backends import c_source
from supple.backends.compiler import find_compiler, shared_library
from supple.backends.interpreter import Interpreted, broadcast, schedule
from supple.errors import Makeshift, SuppleError
from supple.expr.function import Array, Function
from supple.expr.stored import OPERATIONS, Integers, Shapes, Stored, stored

_WIDE = 8  # states side by side
_WORTH_A_THREAD = 20_000_000  # operations below which a thread costs more than it saves
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
    made.supple_tape.restype = ctypes.c_int
    return made


@dataclass(frozen=True)
class _Loaded:
    """A tape in the form of the machine, and the arrays that it points to."""

    structure: _Structure
    arrays: tuple[Any, ...]


@dataclass(frozen=True)
class Tape:
    """A callable Function: arrays with leading batch axes in, arrays with the same batch axes out."""

    stored: Stored

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
        library, loaded = _library(), self._loaded
        if library is None or loaded is None:
            return None
        run = ctypes.cast(library.supple_tape, ctypes.c_void_p).value
        return run or 0, ctypes.addressof(loaded.structure)

    @cached_property
    def _parts(self) -> list[tuple[str, Any, slice]]:
        """Name, shape and place among the results of every output."""
        ends = np.cumsum([0, *(prod(shape) for shape in self.stored.outputs.values())]).tolist()
        return [(name, x, slice(a, b)) for (name, x), a, b in zip(self.stored.outputs.items(), ends, ends[1:], strict=False)]

    def __call__(self, **inputs: Any) -> dict[str, Array]:
        loaded = self._loaded
        if loaded is None or any(np.iscomplexobj(x) for x in inputs.values()):
            return self._interpreted(**inputs)
        tables, batch = broadcast(self.stored, inputs)
        out = np.empty((prod(batch), len(self.stored.results)))
        self._run(loaded, tables, out)
        return {name: out[:, part].reshape((*batch, *shape)) for name, shape, part in self._parts}

    def _run(self, loaded: _Loaded, tables: dict[str, Array], out: Array) -> None:
        """Fill `out` (states, results) from inputs of one state or of all of them."""
        read = [np.ascontiguousarray(table, dtype=np.float64) for table in tables.values()]
        where = (ctypes.c_void_p * len(read))(*(table.ctypes.data for table in read))
        step = (ctypes.c_longlong * len(read))(*(table.shape[1] if len(table) > 1 else 0 for table in read))
        library = _library()
        assert library is not None

        def piece(begin: int, end: int) -> None:
            done = library.supple_tape(
                ctypes.byref(loaded.structure), where, step, ctypes.c_void_p(out.ctypes.data),
                ctypes.c_longlong(begin), ctypes.c_longlong(end - begin),
            )  # fmt: skip
            if not done:
                raise MemoryError(f"{self.stored.name}: no memory")

        shares = len(out) * len(self.stored.code) // _WORTH_A_THREAD
        if shares <= 1 or (shares := min(os.cpu_count() or 1, shares)) == 1:
            if len(out):
                piece(0, len(out))
            return
        width = -(-len(out) // shares)
        width += -width % _WIDE
        with ThreadPoolExecutor(shares) as pool:
            for made in [pool.submit(piece, i, min(i + width, len(out))) for i in range(0, len(out), width)]:
                made.result()


def _load(f: Stored, library: ctypes.CDLL) -> _Loaded:
    """f in the form of the machine."""
    shift = len(_HELP)
    given, own = f.given, len(f.constants) + shift  # constants that help stand behind the others
    fixed = given + own

    def moved(values: Integers) -> Integers:  # room for the constants that help
        return np.where(values >= given + len(f.constants), values + shift, values).astype(np.int32)

    first, second, results = moved(f.first), moved(f.second), moved(f.results)
    values = fixed + len(f.code)
    last = np.full(values, -1, np.int32)
    making = np.arange(fixed, values, dtype=np.int32)
    last[first] = making  # the last assignment wins
    np.maximum.at(last, second, making)
    last[results] = values
    place = np.empty(values, np.int32)
    registers = library.supple_registers(
        ctypes.c_longlong(values), ctypes.c_longlong(fixed),
        *(ctypes.c_void_p(x.ctypes.data) for x in (first, second, last, place)),
    )  # fmt: skip
    if registers < 0:
        raise MemoryError(f"{f.name}: no memory")
    used = np.flatnonzero(last[:given] >= 0).astype(np.int32)
    begins = np.array([part.start for part in f.places.values()], dtype=np.int32)
    source = np.searchsorted(begins, used, side="right").astype(np.int32) - np.int32(1)
    helping = place[fixed - shift : fixed]
    plain, other, begin = _stretches(f.code, place[fixed:], place[first], place[second], helping)
    arrays = (
        used, source, (used - begins[source]).astype(np.int32), place[given:fixed].copy(),
        np.concatenate([f.constants, _HELP]), begin, plain, other, place[results],
    )  # fmt: skip
    sizes = (int(registers), len(used), own, len(begin) - 1, len(results))
    return _Loaded(_Structure(*sizes, *(x.ctypes.data for x in arrays)), arrays)


def _stretches(code: Integers, o: Integers, a: Integers, b: Integers, helping: Integers) -> tuple[Integers, ...]:
    """Plain operations (o a b c), those between (o a b code), and where stretches of plain ones begin."""
    one, minus, nothing = helping
    add, sub, mul, neg = (code == k for k in _PLAIN)
    is_plain = add | sub | mul | neg
    # a + b = a * 1 + b;  a - b = b * -1 + a;  a * b = a * b + -0;  -a = a * -1 + -0
    left = np.where(sub, b, a)
    right = np.where(mul, b, np.where(add, one, minus))
    third = np.where(add, b, np.where(sub, a, nothing))
    plain = np.stack([o, left, right, third], axis=1)[is_plain]
    other = np.stack([o, a, b, code], axis=1)[~is_plain]
    before = np.cumsum(is_plain)[~is_plain]
    begin = np.concatenate([[0], before, [len(plain)]])
    return tuple(np.ascontiguousarray(x, dtype=np.int32) for x in (plain, other, begin))


def tape(f: Function) -> Tape:
    """f, ready to be called on arrays."""
    return Tape(stored(f))
