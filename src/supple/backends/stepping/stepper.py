"""`Stepper`: a plant's integrators in C, run piece by piece so that a simulation can be watched, stopped and resumed."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from supple.backends import shelf
from supple.backends.assembly import registers
from supple.backends.compiler import macros, shared_libraries, shared_library
from supple.backends.stepping.drive import Drive
from supple.backends.stepping.layout import CONSTANTS, OUTCOMES, SAMPLE
from supple.backends.stepping.plant import Plant
from supple.backends.stepping.plant_text import plant_source, plant_sources
from supple.backends.stepping.settings import Settings
from supple.backends.stepping.state import Layout, State, choice
from supple.errors import BackendError
from supple.expr.function import Array
from supple.expr.uncollected import uncollected

_WIDE = CONSTANTS["SIDE_BY_SIDE"][0]


@uncollected()
def compiled(plant: Plant, lanes: int) -> list[Path]:
    """The libraries of a plant."""
    if lanes > 1 or not plant.free:
        return [shared_library(plant_source(plant, lanes, registers(macros(), lanes)), (f"-DSUPPLE_LANES={lanes}",))]
    texts = plant_sources(plant, _WIDE, registers(macros(), _WIDE))
    return shared_libraries([(text, (f"-DSUPPLE_LANES={n}",)) for text, n in zip(texts, (1, _WIDE), strict=True)])


class Stepper:
    """A compiled plant. Its state is one block of bytes, which is also what a checkpoint holds."""

    def __init__(self, plant: Plant, lanes: int = 1, libraries: Sequence[Path] = ()) -> None:
        """`libraries`: those compiled of the same plant before."""
        self.plant, self.lanes = plant, lanes
        self.paths = list(libraries) or compiled(plant, lanes)
        try:
            self.library, *wide = (ctypes.CDLL(str(path)) for path in self.paths)
        except OSError as problem:
            raise BackendError(f"the compiled {plant.name} cannot be loaded: {problem}; see SUPPLE_CACHE") from problem
        for other in wide:
            self.library.supple_widen(
                other.supple_columns, other.supple_states, other.supple_samples, other.supple_followers
            )  # fmt: skip
        self.layout = Layout.of(self.library, lanes)
        self._blank: tuple[Settings | None, bytes] = (None, b"")  # of the last settings: many runs have the same

    @cached_property
    def sample(self) -> dict[str, slice]:
        """Where the parts of a sample are in its row, after the time."""
        sizes = {"N_Q": self.plant.nq, "N_V": self.plant.nv, "N_TAU": len(self.plant.torque), "N_FREE": len(self.plant.free)}
        ends = np.cumsum([1, *(sizes[size] for _, size in SAMPLE)])
        return {name: slice(int(a), int(b)) for (name, _), a, b in zip(SAMPLE, ends, ends[1:], strict=False)}

    @cached_property
    def _choice(self) -> dict[str, Array]:
        return choice(self.plant.free, self.plant.dependent, self.plant.rows, self.plant.balls)

    @cached_property
    def row(self) -> int:
        """Numbers in one sample."""
        return max(int(part.stop) for part in self.sample.values())

    def start(self, settings: Settings, drive: Drive, t: float, q: Array, v: Array) -> State:
        """The state at a time, near q with rates v (lanes first if there are several); loops are closed."""
        if self._blank[0] != settings:
            self._blank = (settings, self._blank_state(settings))
        state = State(self.layout, self._blank[1])
        state["t"] = state["begin"] = t
        for name, x in (("now.q", q), ("now.v", v)):
            state[name] = x if self.lanes == 1 and x.ndim == 1 else np.broadcast_to(x, (self.lanes, x.shape[-1])).T.ravel()
        return state

    def _blank_state(self, settings: Settings) -> bytes:
        """A state of which only time and motion are not known."""
        state = State(self.layout)
        plant, lanes = self.plant, self.lanes
        state["live"][:lanes] = 1
        for name, value in settings.numbers().items():
            state[f"settings.{name}"] = value
        state.chosen = self._choice
        state["step"] = settings.step or min(1e-4, settings.largest)
        if not plant.free and settings.every > 0:  # nothing but the account of energy asks for steps
            state["settings.largest_step"] = min(settings.largest, settings.every)
        state["rows_ahead"] = settings.most_samples + 2
        state["samples"] = 1 if settings.every else 0
        state["scale"] = settings.scale
        state["reach"] = plant.reach
        if plant.rigid is not None:
            state["rigid_q"] = np.repeat(np.asarray(plant.rigid.start), lanes)
        return state.data

    def begin(self, state: State, drive: Drive, parameters: Array | None = None) -> str:
        """Close the loops and compute the accelerations at the start; how it ended."""
        if drive.given is not None and drive.given.coefficients.shape[1] > len(self.plant.given):
            raise ValueError("the drive leads more coordinates than the plant lets it")
        values = self.plant.parameters if parameters is None else parameters
        if len(self.plant.parameters):
            state["parameters"] = np.broadcast_to(values, (self.lanes, len(self.plant.parameters))).T.ravel()
        return OUTCOMES[self.library.supple_start(state.pointer, ctypes.byref(drive.structure))]

    def again(self, state: State, drive: Drive) -> str:
        return OUTCOMES[self.library.supple_again(state.pointer, ctypes.byref(drive.structure))]

    def run(
        self, state: State, drive: Drive, until: float, steps: int, rows: int, room: Array | None = None
    ) -> tuple[str, Array]:  # fmt: skip
        """How it ended, and the samples (count, lanes, row), which are the first ones of `room` if that is given."""
        out = shelf.array(rows, self.lanes, self.row) if room is None else room
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
        out = shelf.array(count, self.lanes, plant.nq + 2 * plant.nv)
        scratch = State(self.layout, state.data)
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
