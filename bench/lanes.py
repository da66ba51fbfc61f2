"""Operations a second of generated models in lanes, beside what one core of this machine reaches in the same run.

    python bench/lanes.py

Two peaks, in the same vector type, twelve independent chains each: multiplications and additions as they are generated (no
fusing, as the flags of the models say), and the same fused, which counts two operations an instruction. Operations of models
are the generated + - * / and negations; sines, cosines and roots are not counted, though their time is. As many
states as stay in a core's own cache: stored in lanes; and one after the other, turned into lanes and back within the time.
Contestants take turns, times are those of the processor, of compiled code called from Python.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import show

from supple.backends.c_source import header
from supple.backends.compiler import shared_library
from supple.backends.native import native, to_lanes
from supple.expr.function import Function
from supple.expr.passes import optimise
from supple.machine import Machine
from supple.models import forward, inverse

CACHE, ROUNDS, LOOPS, CHAINS = 256_000, 200, 20_000, 12  # CACHE: bytes of states and results
WIDTHS = ((4, False), (8, False), (8, True), (16, True))
QUICK = ("fold", "signs")  # passes of models too large for the others to be waited for
_PEAK = """
__attribute__((visibility("default"))) double supple_peak(long long loops)
{{
    real x[{n}], total = fill(0);
    const real a = fill(0.999), b = fill(1e-3);
    for (int i = 0; i < {n}; i++)
        x[i] = fill(i);
    for (long long k = 0; k < loops; k++)
        for (int i = 0; i < {n}; i++)
            x[i] = x[i] * a + b;
    for (int i = 0; i < {n}; i++)
        total = total + x[i];
    return (double)SUPPLE_LANE(total, 0);
}}
"""


def flags(lanes: int, single: bool) -> tuple[str, ...]:
    return (f"-DSUPPLE_LANES={lanes}", *(("-DSUPPLE_SINGLE",) if single else ()))


def peak(lanes: int, single: bool, fused: bool) -> tuple[Callable[[], Any], float]:
    """A loop of multiplications and additions, and how many operations it makes."""
    more = ("-O3", "-ffp-contract=fast") if fused else ("-O3",)
    library = ctypes.CDLL(str(shared_library(header() + _PEAK.format(n=CHAINS), (*flags(lanes, single), *more))))
    library.supple_peak.restype = ctypes.c_double
    return lambda: library.supple_peak(ctypes.c_longlong(LOOPS)), 2.0 * CHAINS * lanes * LOOPS


def batches(f: Function, lanes: int, single: bool) -> list[tuple[Callable[[], Any], float]]:
    """A model over states near nothing, in lanes and one after the other, and how many operations it makes."""
    model, draw = native(f, lanes=lanes, single=single), np.random.default_rng(0)
    numbers = sum(x.size for x in (*f.inputs.values(), *f.outputs.values()))
    blocks = CACHE // (numbers * lanes * model.kind.itemsize)
    states = [draw.uniform(0.2, 0.4, (blocks * lanes, x.size)).astype(model.kind) for x in f.inputs.values()]
    rows = [np.empty((blocks * lanes, x.size), model.kind) for x in f.outputs.values()]
    turned = [to_lanes(x, lanes).reshape(blocks, -1) for x in states]
    operations = float(f.operations) * blocks * lanes
    results = dict(zip(f.outputs, rows, strict=True))
    turned_results = {k: to_lanes(x, lanes).reshape(blocks, -1) for k, x in results.items()}
    return [
        (model.call(turned, turned_results, 0, blocks, blocks=True), operations),
        (model.call(states, results, 0, blocks * lanes), operations),
    ]


def rates(contestants: dict[Any, tuple[Callable[[], Any], float]]) -> dict[Any, float]:
    """Operations a nanosecond, the best of some rounds in turns."""
    best = dict.fromkeys(contestants, 0.0)
    for _ in range(ROUNDS):
        for name, (run, operations) in contestants.items():
            begun = time.thread_time()
            run()
            best[name] = max(best[name], 1e-9 * operations / (time.thread_time() - begun))
    return best


def main() -> None:
    dualemps, hexapod = (Machine.read(name).mechanism() for name in ("dualemps", "gough_stewart_flexible"))
    models = {
        "dualemps inverse": optimise(inverse(dualemps)).function,
        "dualemps forward": optimise(forward(dualemps)).function,
        "gough_stewart_flexible inverse": optimise(inverse(hexapod), QUICK).function,
    }
    rows = []
    for lanes, single in WIDTHS:
        contestants: dict[Any, Any] = {fused: peak(lanes, single, fused) for fused in (False, True)}
        for name, f in models.items():
            contestants[name], contestants[name, "turned"] = batches(f, lanes, single)
        found = rates(contestants)
        for name, f in models.items():
            calls = sum(f.counts[op] for op in ("sin", "cos", "sqrt"))
            shares = [f"{100 * found[name] / found[fused]:.0f}" for fused in (False, True)]
            turned = [f"{found[name, 'turned']:.1f}", f"{100 * found[name, 'turned'] / found[False]:.0f}"]
            kind = f"{lanes} {'floats' if single else 'doubles'}"
            counts = [f.operations, f.counts["div"], calls]
            rows.append([name, kind, *counts, f"{found[False]:.1f}", f"{found[name]:.1f}", *shares, *turned])
    heads = ["", "lanes", "operations", "divisions", "sines, roots", "peak", "per ns", "%", "% of fused", "turned", "%"]
    show("operations a nanosecond, one core", heads, rows)


if __name__ == "__main__":
    main()
