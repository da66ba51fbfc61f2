"""`Compiled`: the C core of a robot, called on batches of poses and designs outside Python's lock."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from supple.backends.compiler import compiler_mark, library, shared_library
from supple.core.structure import Structure
from supple.core.tangents import Tangents
from supple.core.text import core_source, tangent_source
from supple.errors import BackendError
from supple.model.algebra import Array
from supple.remembered import key_of, recalled, remember

POSTURES, EQUILIBRIA, LINEAR = 0, 1, 2  # how far to go
WALKED, CARRIED_OVER, CLOSED_NEAR = range(3)  # how poses are reached from their seeds
ANSWERED, NOT_REACHED, POOR_CHOICE, NO_REST, NO_MODES = range(5)
OUTPUTS = (
    "status", "share", "posture", "places", "J", "straight_points", "q", "lam", "tau", "bent_places", "mu", "shapes",
    "M", "K", "D", "H", "S", "points",
)  # fmt: skip
_TANGENTS = ("q", "lam", "tau", "places", "bent_places", "M", "K", "D", "H", "S", "points")
_ALIGNED = 64
_PIECE = 64  # blocks of lanes between looks at the clock and the keyboard


class Seeds(NamedTuple):
    """Postures that poses are reached from: q with closed loops, its parameters, and how weight shifts q about there, where
    the search for equilibrium starts. One row for every pose, or one for all."""

    q: Array
    p: Array
    shift: Array

    def taken(self, rows: Any) -> Seeds:
        return Seeds(*(part if len(part) == 1 else part[rows] for part in self))


def lanes_of(structure: Structure) -> int:
    """Poses side by side: as many as keep the matrices of a block near the processor."""
    return 8 if len(structure.linear.independent) <= 128 else 1


def output_shapes(s: Structure, modes: int) -> dict[str, tuple[int, ...]]:
    """Shapes of what a core gives, by name; of `status` none."""
    n, twists, places = len(s.linear.independent), (s.loads, s.nv), (s.points, 3)
    return {
        "share": (), "posture": (s.nq,), "places": places, "J": (s.loops, s.nv), "q": (s.nq,), "lam": (s.loops,),
        "tau": (len(s.active),), "bent_places": places,
        "mu": (modes,), "shapes": (s.nv, modes), "M": (n, n), "K": (n, n), "D": (n, n), "H": (n, n),
        "S": (len(s.linear.rows), n), "points": twists, "straight_points": twists,
    }  # fmt: skip


@dataclass(frozen=True)
class Compiled:
    """The library of a core and how many poses it works on side by side."""

    structure: Structure
    library: ctypes.CDLL
    lanes: int

    @cached_property
    def _size(self) -> int:
        self.library.supple_workspace.restype = ctypes.c_longlong
        return int(self.library.supple_workspace())

    def run(
        self, seeds: Seeds, given: Array, p: Array, load: Array, *, stage: int, modes: int = 0, wanted: Collection[str] = (),
        threads: int = 1, way: int = WALKED,
    ) -> dict[str, Array]:  # fmt: skip
        """Outputs by name for n poses, each input (n, size) or (1, size). `status` is always among them."""
        tables = [np.ascontiguousarray(x, dtype=float) for x in (*seeds, given, p, load)]
        count = max(len(x) for x in tables)
        outputs = {key: np.full((count, *shape), np.nan) for key, shape in self.shapes(modes).items() if key in wanted}
        outputs["status"] = np.zeros(count)
        pieces = self._pieces(count, threads)
        stop = ctypes.c_int(0)
        try:
            if len(pieces) == 1:
                self._work(tables, outputs, (stage, modes, way), 0, count, stop)
            else:
                with ThreadPoolExecutor(len(pieces)) as pool:
                    jobs = [pool.submit(self._work, tables, outputs, (stage, modes, way), *piece, stop) for piece in pieces]
                    for job in jobs:
                        job.result()
        except BaseException:
            stop.value = 1
            raise
        return outputs

    def shapes(self, modes: int) -> dict[str, tuple[int, ...]]:
        return output_shapes(self.structure, modes)

    def _pieces(self, count: int, threads: int) -> list[tuple[int, int]]:
        width = -(-count // max(1, threads))
        width = max(self.lanes, width + -width % self.lanes)
        return [(begin, min(begin + width, count)) for begin in range(0, count, width)]

    def _work(
        self, tables: list[Array], outputs: dict[str, Array], options: tuple[int, int, int], begin: int,
        end: int, stop: ctypes.c_int,
    ) -> None:  # fmt: skip
        room = np.zeros(self._size + _ALIGNED, dtype=np.uint8)
        place = room.ctypes.data + -room.ctypes.data % _ALIGNED
        steps = [table.shape[1] if len(table) > 1 else 0 for table in tables]
        piece = _PIECE * self.lanes
        for first in range(begin, end, piece):
            ins = [t.ctypes.data + first * step * 8 for t, step in zip(tables, steps, strict=True)]
            outs = [
                outputs[key].ctypes.data + first * (outputs[key].size // len(outputs[key])) * 8 if key in outputs else None
                for key in OUTPUTS
            ]
            self.library.supple_core(
                ctypes.c_longlong(min(piece, end - first)),
                (ctypes.c_void_p * len(ins))(*ins),
                (ctypes.c_longlong * len(steps))(*steps),
                (ctypes.c_void_p * len(outs))(*outs),
                (ctypes.c_int * 3)(*options),
                ctypes.c_void_p(place),
                ctypes.byref(stop),
            )
            if stop.value:
                return


def compiled(structure: Structure, lanes: int | None = None, question: tuple[str, ...] = ()) -> Compiled:
    """The core of a Structure, compiled now or taken from the cache; nothing is derived where the question of what it was
    derived from has been answered before."""
    lanes = lanes_of(structure) if lanes is None else lanes
    path = _kept(structure, lanes, question) if question else _made(structure, lanes)
    made = _loaded(path)
    made.supple_core.restype = ctypes.c_longlong
    return Compiled(structure, made, lanes)


def _kept(structure: Structure, lanes: int, question: tuple[str, ...]) -> Path:
    key = key_of("core", repr(structure), str(lanes), compiler_mark(), *question)
    known = recalled(key)
    path = None if known is None else library(known.words["library"])
    if path is None:
        path = _made(structure, lanes)
        remember(key, {"library": path.name.partition("-")[0]})
    return path


def _made(structure: Structure, lanes: int) -> Path:
    return shared_library(core_source(structure), (f"-DSUPPLE_LANES={lanes}", "-O3"))


def _loaded(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as problem:
        raise BackendError(f"the compiled core cannot be loaded: {problem}; see SUPPLE_CACHE") from problem


@dataclass(frozen=True)
class CompiledTangents:
    """The library of a core's derivatives."""

    compiled: Compiled
    library: ctypes.CDLL

    def run(self, at: Sequence[Array], by: Sequence[Array], wanted: Collection[str]) -> tuple[dict[str, Array], Array]:
        """Derivatives by name (n, directions, ...), and 1 where there are any.

        at: postures, equilibria, reactions, parameters, loads of n poses; by: directions (n, directions, ...) of what is
        given and of the parameters."""
        s = self.compiled.structure
        count, directions = by[0].shape[:2]
        shapes = self.compiled.shapes(0) | {"q": (s.nv,)}
        outputs = {key: np.full((count, directions, *shapes[key]), np.nan) for key in _TANGENTS if key in wanted}
        good = np.zeros(count)
        room = np.zeros(int(self.library.supple_tangent_workspace()) + _ALIGNED, dtype=np.uint8)
        place = room.ctypes.data + -room.ctypes.data % _ALIGNED
        tables = [[np.ascontiguousarray(x, dtype=float) for x in part] for part in (at, by)]
        self.library.supple_tangents(
            ctypes.c_longlong(count), ctypes.c_int(directions),
            *((ctypes.c_void_p * len(part))(*(x.ctypes.data for x in part)) for part in tables),
            (ctypes.c_void_p * len(_TANGENTS))(*(outputs[k].ctypes.data if k in outputs else None for k in _TANGENTS)),
            ctypes.c_void_p(good.ctypes.data), ctypes.c_void_p(place),
        )  # fmt: skip
        return outputs, good


def compiled_tangents(core: Compiled, functions: Tangents) -> CompiledTangents:
    """The derivatives of a core, compiled now or taken from the cache."""
    flags = (f"-DSUPPLE_LANES={core.lanes}", "-O2")
    made = _loaded(shared_library(tangent_source(core.structure, functions), flags))
    made.supple_tangent_workspace.restype = ctypes.c_longlong
    made.supple_tangents.restype = None
    return CompiledTangents(core, made)
