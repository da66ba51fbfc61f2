"""Arrays in memory that is used again when nobody holds them any more: fresh pages of the operating system take longer than
most numbers that are written to them."""

from __future__ import annotations

import weakref
from math import prod

import numpy as np
import numpy.typing as npt

Memory = npt.NDArray[np.uint8]

_LEAST = 1 << 18  # bytes: less than that is near at hand anyway
_MOST = 1 << 25  # bytes on the shelf
_shelf: dict[int, Memory] = {}  # by identity, so that threads take each once


def array(*shape: int) -> npt.NDArray[np.float64]:
    """An array of doubles, with any numbers in it."""
    count = prod(shape)
    if 8 * count < _LEAST:
        return np.empty(shape)
    memory = _taken(8 * count)
    whole = np.frombuffer(memory.data, dtype=np.float64)  # which all views hold, for it is of no array
    weakref.finalize(whole, _give_back, memory).atexit = False
    return whole[:count].reshape(shape)


def _taken(size: int) -> Memory:
    """The smallest memory on the shelf that is large enough, if it is not wasted, or else fresh."""
    for key, memory in sorted(_shelf.copy().items(), key=lambda x: len(x[1])):
        if size <= len(memory) <= 2 * size and _shelf.pop(key, None) is not None:
            return memory
    return np.empty(-(-size // _LEAST) * _LEAST, dtype=np.uint8)


def _give_back(memory: Memory) -> None:
    if sum(map(len, _shelf.copy().values())) + len(memory) <= _MOST:
        _shelf[id(memory)] = memory
