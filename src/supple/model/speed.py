"""How long a Function of a robot takes to evaluate once it is compiled."""

from __future__ import annotations

import ctypes
import time
from math import prod

import numpy as np

from supple.backends.c_source import driver, source
from supple.backends.compiler import compiler_mark, find_compiler, library, shared_library
from supple.model.model import Model
from supple.remembered import Answer

MOST_OPERATIONS = 40_000  # compiling more takes longer than a comparison should
_STATES = 256


def seconds_per_evaluation(model: Model, name: str) -> float | None:
    """Seconds of one evaluation of a Function of the equations in compiled code, one state at a time; None without a
    compiler or for huge Functions."""
    tape = model.function(name).stored
    if find_compiler() is None or len(tape.code) > MOST_OPERATIONS:
        return None
    kept = model.memory.kept(f"compiled {name}", compiler_mark(), lambda: Answer({"library": _compiled(model, name)}, {}))
    path = library(kept.words["library"]) or library(_compiled(model, name))
    if path is None:
        return None
    run = ctypes.CDLL(str(path)).supple_batch
    run.restype = None
    rng = np.random.default_rng(1)
    given = [rng.uniform(-1, 1, (_STATES, prod(shape))) for shape in tape.inputs.values()]
    made = [np.empty((_STATES, prod(shape))) for shape in tape.outputs.values()]
    ins, outs = ((ctypes.c_void_p * len(x))(*(table.ctypes.data for table in x)) for x in (given, made))
    steps = (ctypes.c_longlong * len(given))(*(table.shape[1] for table in given))
    best = np.inf
    for _ in range(7):
        start = time.perf_counter()
        run(ctypes.c_longlong(_STATES), ins, steps, outs)
        best = min(best, time.perf_counter() - start)
    return float(best) / _STATES


def _compiled(model: Model, name: str) -> str:
    """The key of the library of a Function of the equations."""
    f = getattr(model.equations, name)
    return shared_library(source(f) + driver(f), ("-DSUPPLE_LANES=1",)).name.partition("-")[0]
