"""`State`: a simulation at one moment, as one block of bytes that C works on and a checkpoint holds, by named fields."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.backends.stepping.layout import SAMPLE, leaves
from supple.backends.stepping.plant import Ball, Place
from supple.expr.function import Array

_KINDS: dict[str, Any] = {"double": np.float64, "real": np.float64, "long long": np.int64}  # all others are of int
_ALIGNED = 64  # bytes
COUNTS = ("steps", "rejected", "evaluations", "newton_iterations", "jacobians")


@dataclass(frozen=True)
class Layout:
    """Where the fields of a state are: its size, its lanes, and first and last byte and type of every field."""

    size: int
    lanes: int
    places: Mapping[str, tuple[slice, Any]]
    matrices: tuple[slice, ...]  # whole ones, in which nothing stands where bodies are eliminated one by one

    @cached_property
    def rest(self) -> tuple[slice, ...]:
        """All bytes beside those of whole matrices."""
        cuts = [0, *(x for part in self.matrices for x in (part.start, part.stop)), self.size]
        return tuple(slice(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=True))

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Bytes of a state, with whole matrices and without."""
        return self.size, sum(part.stop - part.start for part in self.rest)

    @classmethod
    def of(cls, library: ctypes.CDLL, lanes: int) -> Layout:
        """The layout as the compiled plant has it."""
        library.supple_size.restype = ctypes.c_longlong
        library.supple_layout.restype = ctypes.POINTER(ctypes.c_longlong)
        table = library.supple_layout()
        places, matrices = {}, []
        for k, x in enumerate(leaves()):
            first, size = table[2 * k], table[2 * k + 1]
            places[x.name] = (slice(first, first + size), _KINDS.get(x.kind, np.int32))
            matrices += [places[x.name][0]] if x.whole else []
        return cls(int(library.supple_size()), lanes, places, tuple(sorted(matrices, key=lambda part: part.start)))


def choice(
    free: Sequence[Place], dependent: Sequence[Place], rows: Sequence[int], balls: Sequence[Ball]
) -> dict[str, Array]:  # fmt: skip
    """Which coordinates are free, which follow, and by which closure equations, as `State.chosen` takes it."""
    numbers = {
        "free_v": [p.v for p in free],
        "free_q": [p.q for p in free],
        "free_unit": [int(p.angle) for p in free],
        "dependent_unit": [int(p.angle) for p in dependent],
        "dependent_v": [p.v for p in dependent],
        "dependent_q": [p.q for p in dependent],
        "closure_row": list(rows),
        "balls": [x for ball in balls for x in ball],
    }
    return {f"chosen.{name}": np.array(x, dtype=np.int32) for name, x in numbers.items()}


class State:
    """The state of a simulation: fields as in `layout.SIM`, those of structs in it as in "now.q"."""

    def __init__(self, layout: Layout, data: bytes | Array | None = None) -> None:
        space = np.zeros(layout.size + _ALIGNED, dtype=np.uint8)
        shift = -space.ctypes.data % _ALIGNED
        self._bytes = space[shift : shift + layout.size]
        if data is not None:
            given, first = np.frombuffer(bytes(data), dtype=np.uint8), 0
            for part in (slice(0, layout.size),) if len(given) == layout.size else layout.rest:
                self._bytes[part] = given[first : first + part.stop - part.start]
                first += part.stop - part.start
        self.pointer = ctypes.c_void_p(self._bytes.ctypes.data)
        self._layout = layout

    @property
    def data(self) -> bytes:
        """All of it, for a checkpoint; whole matrices are left out if nothing stands in any."""
        if any(self._bytes[part].any() for part in self._layout.matrices):
            return self._bytes.tobytes()
        return b"".join(self._bytes[part].tobytes() for part in self._layout.rest)

    def __getitem__(self, name: str) -> Array:
        place, kind = self._layout.places[name]
        return self._bytes[place].view(kind)

    def __setitem__(self, name: str, values: Any) -> None:
        self[name][...] = values

    @property
    def t(self) -> float:
        return float(self["t"][0])

    def lanes(self, name: str) -> Array:
        """A field of the state with one row for each lane."""
        return self[name].reshape(-1, self._layout.lanes).T.copy()

    def row(self) -> Array:
        """The state as a sample (lanes, row)."""
        t = np.full((self._layout.lanes, 1), self.t)
        return np.hstack([t, *(self.lanes(f"now.{name}") for name, _ in SAMPLE)])

    @property
    def chosen(self) -> dict[str, list[int]]:
        """Which coordinates are free, which follow, and by which closure equations."""
        return {x.name: self[x.name].tolist() for x in leaves() if x.name.startswith("chosen.")}

    @chosen.setter
    def chosen(self, values: Mapping[str, Sequence[int] | Array]) -> None:
        for name, numbers in values.items():
            self[name] = numbers

    def take_over(self, other: State) -> None:
        """Time, account and controller of another state of the same robot, whose plant may be another."""
        for x in leaves():
            if x.carried:
                self[x.name] = other[x.name]

    @property
    def cut_off(self) -> tuple[float, float]:
        """Accelerations above the cutoff not followed, relative to those of the moment, and when they were most."""
        return float(self["most_cut_off"][0]), float(self["most_cut_off_time"][0])

    def counts(self) -> dict[str, int]:
        """Steps, rejected steps, evaluations of the model, Newton iterations, Jacobians."""
        return {name: int(self[name][0]) for name in COUNTS}
