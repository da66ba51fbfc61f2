"""Functions compiled to machine code and called on whole batches of states, outside Python's lock."""

from __future__ import annotations

import ctypes
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.backends.c_source import driver, source
from supple.backends.compiler import find_compiler, shared_library
from supple.backends.interpreter import Interpreted, interpret
from supple.errors import BackendError, Makeshift
from supple.expr.function import Array, Function

LANES = (1, 4, 8, 16)
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
        pieces = self._pieces(count)
        if len(pieces) == 1:
            self._run(tables, outputs, 0, count)
        elif pieces:
            with ThreadPoolExecutor(len(pieces)) as pool:
                for done in [pool.submit(self._run, tables, outputs, *piece) for piece in pieces]:
                    done.result()
        return {name: outputs[name].reshape((*batch, *array.shape)) for name, array in self.function.outputs.items()}

    def _pieces(self, count: int) -> list[tuple[int, int]]:
        """Start and end of each thread's share, whole blocks of lanes."""
        shares = max(1, min(self.threads, count * len(self.function.nodes) // _WORTH_A_THREAD))
        width = -(-count // shares)
        width += -width % self.lanes
        return [(start, min(start + width, count)) for start in range(0, count, width)] if count else []

    def _run(self, tables: list[Array], outputs: dict[str, Array], start: int, stop: int) -> None:
        size = self.kind.itemsize
        ins, steps = [], []
        for table in tables:
            step = table.shape[1] if table.shape[0] > 1 else 0
            ins.append(table.ctypes.data + start * step * size)
            steps.append(step)
        outs = [table.ctypes.data + start * table.shape[1] * size for table in outputs.values()]
        self.library.supple_batch(
            ctypes.c_longlong(stop - start),
            (ctypes.c_void_p * len(ins))(*ins),
            (ctypes.c_longlong * len(steps))(*steps),
            (ctypes.c_void_p * len(outs))(*outs),
        )

    def _tables(self, inputs: dict[str, Any]) -> tuple[list[Array], tuple[int, ...]]:
        """Inputs as (states, elements) tables, one row if all states share it, and the batch shape."""
        f = self.function
        unknown, missing = set(inputs) - set(f.inputs), set(f.inputs) - set(inputs)
        if unknown or missing:
            raise TypeError(f"{f.name}: missing inputs {sorted(missing)}, unknown inputs {sorted(unknown)}")
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
    path = shared_library(source(f) + driver(f), flags)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as problem:
        raise BackendError(f"the compiled {f.name} cannot be loaded: {problem}; see SUPPLE_CACHE") from problem
    library.supple_batch.restype = None
    return Native(f, lanes, single, threads, library)


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
