"""Functions compiled to machine code and called on whole batches of states, outside Python's lock."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from supple.backends.assembly import PROLOGUE, assembled, for_lanes, registers
from supple.backends.c_source import driver, header, source
from supple.backends.compiler import find_compiler, macros, shared_library
from supple.backends.interpreter import Interpreted, interpret
from supple.errors import BackendError, Makeshift
from supple.expr.function import Array, Function

LANES = (1, 4, 8, 16)
_ALIGNMENT = 128  # bytes of the widest vector
_WORTH_A_THREAD = 2_000_000  # operations below which a thread costs more than it saves

_notice_given = False


@dataclass(frozen=True)
class Native:
    """A compiled Function: arrays with leading batch axes in, arrays with the same batch axes out."""

    function: Function
    lanes: int
    single: bool
    threads: int
    library: ctypes.CDLL

    @property
    def kind(self) -> np.dtype[Any]:
        """The type of number it computes with and returns."""
        return np.dtype(np.float32 if self.single else np.float64)

    def __call__(self, **inputs: Any) -> dict[str, Array]:
        tables, batch = self._tables(inputs)
        count = int(np.prod(batch)) if batch else 1
        outputs = {name: np.empty((count, array.size), self.kind) for name, array in self.function.outputs.items()}
        self._share([self.call(tables, outputs, *piece) for piece in self._pieces(count, self.lanes)])
        return {name: outputs[name].reshape((*batch, *array.shape)) for name, array in self.function.outputs.items()}

    def in_lanes(self, **inputs: Any) -> dict[str, Array]:
        """Outputs of states that are stored in lanes, (blocks, ..., lanes) as `to_lanes` makes it, stored likewise.

        Nothing is turned on the way in or out. An input without the first and last axis is that of all states."""
        self._check_names(inputs)
        tables = [self._blocks(name, np.asarray(inputs[name], self.kind)) for name in self.function.inputs]
        counts = {len(table) for table in tables} - {1} or {1}
        if len(counts) > 1:
            raise ValueError(f"{self.function.name}: inputs have {sorted(counts)} blocks")
        count = counts.pop()
        sizes = {name: array.size for name, array in self.function.outputs.items()}
        outputs = {name: _aligned((count, size * self.lanes), self.kind) for name, size in sizes.items()}
        self._share([self.call(tables, outputs, *piece, blocks=True) for piece in self._pieces(count, 1)])
        return {n: outputs[n].reshape(count, *array.shape, self.lanes) for n, array in self.function.outputs.items()}

    def _share(self, calls: Sequence[Callable[[], None]]) -> None:
        """Each call in a thread of its own."""
        if len(calls) == 1:
            calls[0]()
        elif calls:
            with ThreadPoolExecutor(len(calls)) as pool:
                for done in [pool.submit(call) for call in calls]:
                    done.result()

    def _pieces(self, count: int, unit: int) -> list[tuple[int, int]]:
        """Start and end of each thread's share, whole blocks of lanes."""
        states = count * self.lanes // unit
        shares = max(1, min(self.threads, states * len(self.function.nodes) // _WORTH_A_THREAD))
        width = -(-count // shares)
        width += -width % unit
        return [(start, min(start + width, count)) for start in range(0, count, width)] if count else []

    def call(
        self, tables: list[Array], outputs: dict[str, Array], start: int, stop: int, blocks: bool = False
    ) -> Callable[[], None]:
        """What computes rows of tables, a row a state, or a block of them in lanes."""
        size, unit = self.kind.itemsize, self.lanes if blocks else 1
        steps = [table.shape[1] if table.shape[0] > 1 else 0 for table in tables]
        ins = [table.ctypes.data + start * step * size for table, step in zip(tables, steps, strict=True)]
        outs = [table.ctypes.data + start * table.shape[1] * size for table in outputs.values()]
        return partial(
            _compute,
            (tables, outputs),
            self.library.supple_blocks if blocks else self.library.supple_batch,
            ctypes.c_longlong(stop - start),
            (ctypes.c_void_p * len(ins))(*ins),
            (ctypes.c_longlong * len(steps))(*(step // unit for step in steps)),
            (ctypes.c_void_p * len(outs))(*outs),
        )

    def _check_names(self, inputs: dict[str, Any]) -> None:
        f = self.function
        unknown, missing = set(inputs) - set(f.inputs), set(f.inputs) - set(inputs)
        if unknown or missing:
            raise TypeError(f"{f.name}: missing inputs {sorted(missing)}, unknown inputs {sorted(unknown)}")

    def _blocks(self, name: str, array: Array) -> Array:
        """An input in lanes as an aligned table, a row a block; one row if all states share it."""
        shape = self.function.inputs[name].shape
        if array.shape == shape:
            array = np.repeat(array[None, ..., None], self.lanes, axis=-1)
        if array.ndim != len(shape) + 2 or array.shape[1:] != (*shape, self.lanes):
            expected = (*shape, self.lanes)
            raise ValueError(f"{self.function.name}: input {name} has shape {array.shape}, expected (blocks, *{expected})")
        if array.flags.c_contiguous and array.ctypes.data % _ALIGNMENT == 0:
            return array.reshape(len(array), -1)
        made = _aligned((len(array), array[:1].size), self.kind)
        made[:] = array.reshape(made.shape)
        return made

    def _tables(self, inputs: dict[str, Any]) -> tuple[list[Array], tuple[int, ...]]:
        """Inputs as (states, elements) tables, one row if all states share it, and the batch shape."""
        f = self.function
        self._check_names(inputs)
        rows: list[Array] = []
        for name, symbols in f.inputs.items():
            array = np.asarray(inputs[name])
            if array.dtype.kind == "c":
                raise TypeError(f"{f.name}: input {name} is complex; compiled functions are real, use interpret(f)")
            lead = array.ndim - symbols.ndim
            if lead < 0 or array.shape[lead:] != symbols.shape:
                raise ValueError(f"{f.name}: input {name} has shape {array.shape}, expected (..., {symbols.shape})")
            rows.append(array.astype(self.kind, copy=False).reshape(*array.shape[:lead], symbols.size))
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in rows)) if rows else ()
        count = int(np.prod(batch)) if batch else 1
        tables = []
        for array in rows:
            shared = array.size == array.shape[-1]
            full = array if shared else np.broadcast_to(array, (*batch, array.shape[-1]))
            tables.append(np.ascontiguousarray(full.reshape(1 if shared else count, array.shape[-1])))
        return tables, batch


def _compute(_held: Any, function: Callable[..., None], *pointers: Any) -> None:
    """function(*pointers), which do not hold what they point to."""
    function(*pointers)


def to_lanes(states: Any, lanes: int) -> Array:
    """States (n, ...) as blocks (blocks, ..., lanes): state k is [k // lanes, ..., k % lanes]; the last fills the rest."""
    given = np.asarray(states)
    padded = np.concatenate([given, np.repeat(given[-1:], -len(given) % lanes, axis=0)])
    turned = np.moveaxis(padded.reshape(-1, lanes, *given.shape[1:]), 1, -1)
    made = _aligned(turned.shape, given.dtype)
    made[...] = turned
    return made


def from_lanes(blocks: Array, count: int) -> Array:
    """The first `count` states of blocks (blocks, ..., lanes), one after the other: (count, ...)."""
    return np.moveaxis(blocks, -1, 1).reshape(-1, *blocks.shape[1:-1])[:count]


def _aligned(shape: tuple[int, ...], kind: np.dtype[Any]) -> Array:
    """An array without values that begins where vectors can be loaded."""
    size = int(np.prod(shape)) * kind.itemsize
    room = np.empty(size + _ALIGNMENT, np.uint8)
    begin = -room.ctypes.data % _ALIGNMENT
    return room[begin : begin + size].view(kind).reshape(shape)


def native(f: Function, *, lanes: int = 1, single: bool = False, threads: int = 1) -> Native:
    """f compiled, ready to be called on arrays like `interpret(f)`.

    Each of `threads` computes `lanes` states at once; the results do not depend on either. `single`
    computes in and returns float32.
    """
    if lanes not in LANES:
        raise ValueError(f"lanes is {lanes}, expected one of {LANES}")
    if threads < 1:
        raise ValueError(f"threads is {threads}, expected 1 or more")
    flags = (f"-DSUPPLE_LANES={lanes}", *(("-DSUPPLE_SINGLE",) if single else ()))
    path = shared_library(printed(f, lanes, single) + driver(f), flags)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as problem:
        raise BackendError(f"the compiled {f.name} cannot be loaded: {problem}; see SUPPLE_CACHE") from problem
    library.supple_batch.restype = library.supple_blocks.restype = None
    return Native(f, lanes, single, threads, library)


def printed(f: Function, lanes: int, single: bool) -> str:
    """The C text of f; for several lanes around assembly, where there is one: compilers order and place values worse."""
    count = registers(macros(), lanes, single) if lanes > 1 else 0
    return header() + PROLOGUE + for_lanes(assembled(f, count, ordered=True), lanes, single) if count else source(f)


def load(f: Function, **options: Any) -> Native | Interpreted:
    """f compiled with the options of `native`, or interpreted (said once) where there is no C compiler."""
    if find_compiler() is not None:
        return native(f, **options)
    _say_once()
    return interpret(f)


def _say_once() -> None:
    global _notice_given
    if not _notice_given:
        _notice_given = True
        warnings.warn(
            "no C compiler found: models run interpreted, with the same results but slower. "
            "Install gcc or clang, or `pip install 'supple[cc]'`, for native speed.",
            Makeshift,
            stacklevel=3,
        )
