"""Stored Functions compiled after all, where they are run often: the machine's bits, in a third of its time.

The text is assembly, which a compiler takes as it stands; where there is none for the processor, tapes stay tapes. Libraries
are remembered by the operations that they were made of, so that nothing is printed the second time.
"""

from __future__ import annotations

import ctypes
import hashlib
import warnings
from math import prod
from pathlib import Path

import numpy as np

from supple.backends.assembly import PROLOGUE, assembled, for_lanes, registers
from supple.backends.c_source import header, signature
from supple.backends.compiler import compiler_mark, find_compiler, library, macros, shared_library
from supple.errors import Makeshift, SuppleError
from supple.expr.function import Function
from supple.expr.restored import unfolded
from supple.expr.stored import Stored
from supple.remembered import key_of, recalled, remember

_LANES = (8, 4)  # the first for which there is assembly

_DRIVER = """
/* States first .. first + count, a row of all states for each result; in, step: each input and its distance from state to
 * state. 0: no memory. */
SUPPLE_EXPORT int supple_evaluate(const void *unused, const double *const *in, const long long *step, double *const *rows,
                                  long long first, long long count)
{{
    static const int size[] = {{{sizes}, 0}};
    void *memory = malloc(sizeof(real) * (size_t)({given} + {results} + 1));
    real *given[{inputs} + 1], *out = (real *)(((size_t)memory + sizeof(real) - 1) / sizeof(real) * sizeof(real));
    (void)unused;
    if (!memory) return 0;
    given[0] = out + {results};
    for (int k = 0; k < {inputs}; k++) {{
        given[k + 1] = given[k] + size[k];
        if (!step[k]) supple_gather(given[k], in[k], size[k], 0, 1, 0);
    }}
    for (long long at = first; at < first + count; at += SUPPLE_LANES) {{
        const long long left = first + count - at;
        const int live = left < SUPPLE_LANES ? (int)left : SUPPLE_LANES;
        for (int k = 0; k < {inputs}; k++)
            if (step[k]) supple_gather(given[k], in[k] + at * step[k], size[k], step[k], live, 0);
        {name}({arguments}, out);
        for (int i = 0; i < {results} && live == SUPPLE_LANES; i++)
            memcpy(rows[i] + at, out + i, sizeof *out);
        for (int i = 0; i < {results} && live < SUPPLE_LANES; i++)
            memcpy(rows[i] + at, out + i, sizeof(double) * (size_t)live);
    }}
    free(memory);
    return 1;
}}
"""


def rows_library(f: Stored, make: bool) -> ctypes.CDLL | None:
    """The library whose `supple_evaluate` gives what the machine gives for f; None where there is none, or it was not made
    before and `make` does not ask for it."""
    if find_compiler() is None or not (lanes := _lanes()):
        return None
    key = key_of("compiled tape", compiler_mark(), _digest(f))
    known = recalled(key)
    path = None if known is None else library(known.words["library"])
    if path is None and not make:
        return None
    try:
        if path is None:
            path = shared_library(text(f, lanes), (f"-DSUPPLE_LANES={lanes}",))
            remember(key, {"library": path.name.partition("-")[0]})
        made = ctypes.CDLL(str(path))
    except (OSError, SuppleError) as problem:
        warnings.warn(f"models are not compiled, with the same results but slower: {problem}", Makeshift, stacklevel=2)
        return None
    made.supple_evaluate.restype = ctypes.c_int
    return made


def _lanes() -> int:
    return next((n for n in _LANES if registers(macros(), n)), 0)


def _digest(f: Stored) -> str:
    """What tells Functions apart."""
    made = hashlib.sha256(repr(f.words()).encode())
    for x in f.arrays().values():
        made.update(np.ascontiguousarray(x).tobytes())
    return made.hexdigest()


def text(f: Stored, lanes: int) -> str:
    """f in C around assembly, and what runs it over states."""
    whole = unfolded(f)
    printed = for_lanes(assembled(whole, registers(macros(), lanes)), lanes)
    batch = (Path(__file__).parent / "batch.h").read_text(encoding="ascii")
    return "\n".join([header(), "#include <stdlib.h>", PROLOGUE, printed, batch, _driver(whole)])


def _driver(f: Function) -> str:
    sizes = [prod(x.shape) for x in f.inputs.values()]
    return _DRIVER.format(
        name=signature(f).name, inputs=len(sizes), sizes=", ".join(map(str, sizes)), given=sum(sizes),
        results=sum(x.size for x in f.outputs.values()),
        arguments=", ".join(f"given[{k}]" for k in range(len(sizes))),
    )  # fmt: skip
