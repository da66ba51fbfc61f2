"""`Stepper`: a plant's integrators in C, run piece by piece so that a simulation can be watched, stopped and resumed."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from supple.backends.compiler import shared_library
from supple.backends.stepping.drive import Drive
from supple.backends.stepping.plant import Place, Plant
from supple.backends.stepping.plant_text import columns_source, plant_source
from supple.backends.stepping.settings import Settings
from supple.errors import BackendError
from supple.expr.function import Array

METHODS = {"radau": 0, "gauss": 1, "dormand_prince": 2, "generalised_alpha": 3, "quasi_static": 4}
OUTCOMES = (
    "fine", "done", "full", "yielded", "open_loops", "ill_posed", "diverged", "not_a_number", "too_small", "inaccurate",
)  # fmt: skip


_MANY = 16  # free coordinates from which on derivatives are worth a library of their own
_WIDE = 8  # columns that it computes at once


class Stepper:
    """A compiled plant. Its state is one block of bytes, which is also what a checkpoint holds."""

    def __init__(self, plant: Plant, lanes: int = 1) -> None:
        self.plant, self.lanes = plant, lanes
        sources = [(plant_source(plant), (f"-DSUPPLE_LANES={lanes}",))]
        if lanes == 1 and len(plant.free) >= _MANY:
            sources.append((columns_source(plant), (f"-DSUPPLE_LANES={_WIDE}",)))
        with ThreadPoolExecutor(2) as pool:
            paths = list(pool.map(lambda made: shared_library(*made), sources))
        try:
            self.library, *wide = (ctypes.CDLL(str(path)) for path in paths)
        except OSError as problem:
            raise BackendError(f"the compiled {plant.name} cannot be loaded: {problem}; see SUPPLE_CACHE") from problem
        for other in wide:
            self.library.supple_widen(other.supple_columns)
        self.library.supple_size.restype = ctypes.c_longlong
        self.library.supple_layout.restype = ctypes.c_longlong
        self.size = int(self.library.supple_size())

    def start(self, settings: Settings, drive: Drive, t: float, q: Array, v: Array) -> State:
        """The state at a time, near q with rates v (lanes first if there are several); loops are closed."""
        state = State(self)
        plant, lanes = self.plant, self.lanes
        state["live"][:lanes] = 1
        state["method"] = METHODS.get(settings.method, 0)
        state["settings"] = [
            settings.tolerance, settings.newton_tolerance, settings.step, settings.largest, settings.smallest,
            settings.rho, settings.every, 2 * np.pi * settings.cutoff,
        ]  # fmt: skip
        state.choose(plant.free, plant.dependent, plant.rows, plant.turning)
        state["time"] = [t, settings.step or min(1e-4, settings.largest), 0.0, 0.0, t]
        if not plant.free and settings.every:
            state["settings"][3] = min(settings.largest, settings.every)  # nothing but the account of energy asks for steps
        rows = settings.largest / settings.every if settings.every else 1
        state["rows_ahead"] = int(np.ceil(rows)) + 2
        state["q"] = np.broadcast_to(q, (lanes, plant.nq)).T.ravel()
        state["v"] = np.broadcast_to(v, (lanes, plant.nv)).T.ravel()
        state["samples"] = 1 if settings.every else 0
        state["scale"] = settings.scale
        if plant.rigid is not None:
            state["control_q"] = np.repeat(np.asarray(plant.rigid.start), lanes)
        return state

    def begin(self, state: State, drive: Drive, parameters: Array | None = None) -> str:
        """Close the loops and compute the accelerations at the start; how it ended."""
        values = self.plant.parameters if parameters is None else parameters
        if len(self.plant.parameters):
            state["parameters"] = np.broadcast_to(values, (self.lanes, len(self.plant.parameters))).T.ravel()
        return OUTCOMES[self.library.supple_start(state.pointer, ctypes.byref(drive.structure))]

    def again(self, state: State, drive: Drive) -> str:
        return OUTCOMES[self.library.supple_again(state.pointer, ctypes.byref(drive.structure))]

    def run(self, state: State, drive: Drive, until: float, steps: int, rows: int) -> tuple[str, Array]:
        """How it ended, and the samples (count, lanes, row)."""
        out = np.empty((rows, self.lanes, self.plant.row))
        written = ctypes.c_longlong(0)
        outcome = self.library.supple_run(
            state.pointer, ctypes.byref(drive.structure), ctypes.c_double(until), ctypes.c_longlong(steps),
            ctypes.c_void_p(out.ctypes.data), ctypes.c_longlong(rows), ctypes.byref(written),
        )  # fmt: skip
        return OUTCOMES[outcome], out[: written.value]

    def observe(self, state: State, drive: Drive, samples: Array, sides: Array) -> tuple[Array, Array, Array]:
        """q, v and a of samples, loops closed; `sides` -1 or 1: just before or after a break."""
        plant, count = self.plant, len(samples)
        samples = np.ascontiguousarray(samples)
        sides = np.ascontiguousarray(sides, dtype=float)
        out = np.empty((count, self.lanes, plant.nq + 2 * plant.nv))
        scratch = State(self, state.data)
        self.library.supple_observe(
            scratch.pointer, ctypes.byref(drive.structure), ctypes.c_longlong(count),
            ctypes.c_void_p(samples.ctypes.data), ctypes.c_void_p(sides.ctypes.data), ctypes.c_void_p(out.ctypes.data),
        )  # fmt: skip
        q, v, a = np.split(out, np.cumsum([plant.nq, plant.nv]), axis=2)
        return q, v, a

    def derivatives(self, state: State, drive: Drive, t: float, y: Array) -> tuple[str, Array]:
        """Rates of (displacement from the state, rates of the free coordinates), for integrators outside."""
        y = np.ascontiguousarray(y, dtype=float)
        out = np.empty_like(y)
        outcome = self.library.supple_rhs(
            state.pointer, ctypes.byref(drive.structure), ctypes.c_double(t),
            ctypes.c_void_p(y.ctypes.data), ctypes.c_void_p(out.ctypes.data),
        )  # fmt: skip
        return OUTCOMES[outcome], out

    def move(self, state: State, drive: Drive, t: float, y: Array) -> str:
        """Bring the state to a time, a displacement and rates of its free coordinates."""
        y = np.ascontiguousarray(y, dtype=float)
        structure = ctypes.byref(drive.structure)
        return OUTCOMES[
            self.library.supple_move(state.pointer, structure, ctypes.c_double(t), ctypes.c_void_p(y.ctypes.data))
        ]


# Parts of the state that Python reads and writes: name -> type, number
_FIELDS = ("live", "method", "settings", "tables", "time", "rows_ahead", "q", "v", "f", "samples", "control_q", "parameters",
           "work", "counts", "conditioning", "scale", "effort", "controller", "account", "first_q")  # fmt: skip


class State:
    """The state of a simulation, by named parts."""

    def __init__(self, stepper: Stepper, data: bytes | Array | None = None) -> None:
        space = np.zeros(stepper.size + 64, dtype=np.uint8)
        shift = -space.ctypes.data % 64
        self._block = space[shift : shift + stepper.size]
        if data is not None:
            self._block[:] = np.frombuffer(bytes(data), dtype=np.uint8)
        self.pointer = ctypes.c_void_p(self._block.ctypes.data)
        self._stepper = stepper

    @property
    def data(self) -> bytes:
        """All of it, for a checkpoint."""
        return self._block.tobytes()

    def __getitem__(self, name: str) -> Array:
        number = _FIELDS.index(name)
        size = ctypes.c_longlong(0)
        at = int(self._stepper.library.supple_layout(ctypes.c_longlong(number), ctypes.byref(size)))
        kind = {"live": np.int32, "tables": np.int32, "method": np.int64, "rows_ahead": np.int64, "samples": np.int64,
                "counts": np.int64}.get(name, np.float64)  # fmt: skip
        return self._block[at : at + size.value].view(kind)

    def __setitem__(self, name: str, values: Any) -> None:
        self[name][...] = values

    @property
    def t(self) -> float:
        return float(self["time"][0])

    def lanes(self, name: str) -> Array:
        """A part of the state with one row for each lane."""
        return self[name].reshape(-1, self._stepper.lanes).T.copy()

    def row(self) -> Array:
        """The state as a sample (lanes, row)."""
        t = np.full((self._stepper.lanes, 1), self.t)
        return np.hstack([t, *(self.lanes(part) for part in ("q", "v", "effort", "f"))])

    def choose(
        self,
        free: Sequence[Place],
        dependent: Sequence[Place],
        rows: Sequence[int],
        turning: Sequence[tuple[int, int, int]],
    ) -> None:
        """Which coordinates are free, which follow, and by which closure equations."""
        parts = [
            [p.v for p in free], [p.q for p in free], [p.v for p in dependent], [p.q for p in dependent],
            [int(p.angle) for p in free], list(rows), [x for row in turning for x in row],
        ]  # fmt: skip
        sizes = [len(free), len(free), len(dependent), len(dependent), len(free), len(dependent), 3 * len(turning)]
        flat: list[int] = []
        for part, size in zip(parts, sizes, strict=True):
            least = 3 if part is parts[-1] else 1
            flat += part + [0] * (max(size, least) - size)
        self["tables"] = flat

    def take_over(self, other: State) -> None:
        """Time, account and controller of another state of the same robot, whose plant may be another."""
        for name in ("settings", "method", "time", "samples", "work", "counts", "scale", "controller", "account", "first_q"):
            self[name] = other[name]

    @property
    def cut_off(self) -> tuple[float, float]:
        """Accelerations above the cutoff not followed, relative to those of the moment, and when they were most."""
        return float(self["account"][9]), float(self["account"][10])

    def counts(self) -> dict[str, int]:
        """Steps, rejected steps, evaluations of the model, Newton iterations, Jacobians."""
        names = ("steps", "rejected", "evaluations", "iterations", "jacobians")
        return dict(zip(names, (int(x) for x in self["counts"]), strict=True))
