"""How long a Function of a robot takes to evaluate once it is compiled."""

from __future__ import annotations

import time

import numpy as np

from supple.backends.compiler import find_compiler
from supple.backends.native import native
from supple.expr.function import Function

MOST_NODES = 40_000  # nodes; compiling more takes longer than a comparison should
_STATES = 256


def seconds_per_evaluation(f: Function) -> float | None:
    """Seconds of one evaluation in compiled code, one state at a time; None without a compiler or for huge Functions."""
    if find_compiler() is None or len(f.nodes) > MOST_NODES:
        return None
    rng = np.random.default_rng(1)
    compiled = native(f)
    inputs = {name: rng.uniform(-1, 1, (_STATES, *array.shape)) for name, array in f.inputs.items()}
    best = np.inf
    for _ in range(7):
        start = time.perf_counter()
        compiled(**inputs)
        best = min(best, time.perf_counter() - start)
    return float(best) / _STATES
