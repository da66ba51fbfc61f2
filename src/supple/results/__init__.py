"""Result records: what analyses return, views show and files keep."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Drawing:
    """A robot as lines: one row of points per body (P x 3), and how each mode moves them (modes x P x 3)."""

    names: tuple[str, ...]
    flexible: tuple[bool, ...]
    points: tuple[Array, ...]
    displacements: tuple[Array, ...]
    planar: bool
    breaks: tuple[tuple[int, ...], ...] = ()  # per body the points at which a new line begins
    joints: Array | None = None  # J x 3: where bodies turn or slide on each other
    joint_moves: Array | None = None  # modes x J x 3
    base: Array | None = None  # B x 3: where the robot stands


@dataclass(frozen=True)
class Modes:
    """Natural modes about a static equilibrium.

    shapes are mass-normalised, one column per mode over `coordinates`, and satisfy the linearised loops.
    kinetic and elastic are shares per body (rows) and mode (columns), each column adding up to one; elastic_by_kind sums
    the elastic ones over legs, joints (springs), the platform and other links.
    effective_mass maps a direction of the base (x, y, z) or an actuator to the modal mass it excites, per mode."""

    robot: str
    free: bool
    frequencies_hz: Array
    damping_ratios: Array
    poles: Array
    coordinates: tuple[str, ...]
    kinds: tuple[str, ...]
    units: tuple[str, ...]
    shapes: Array
    pose: dict[str, float]
    tau: dict[str, float]
    bodies: tuple[str, ...]
    kinetic: Array
    elastic: Array
    elastic_by_kind: dict[str, Array]
    effective_mass: dict[str, Array]
    total_mass: float
    drawing: Drawing
    notices: tuple[str, ...] = ()  # where the theory of the bodies is left

    def __repr__(self) -> str:
        shown = ", ".join(f"{f:.4g}" for f in self.frequencies_hz[:4]) + (", ..." if len(self.frequencies_hz) > 4 else "")
        return f"<{self.robot}: {len(self.frequencies_hz)} modes, {shown} Hz>"

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "robot": self.robot,
            "actuators": "free" if self.free else "held",
            "frequencies_hz": _plain(self.frequencies_hz),
            "damping_ratios": _plain(self.damping_ratios),
            "poles": [[float(p.real), float(p.imag)] for p in self.poles],
            "coordinates": list(self.coordinates),
            "kinds": list(self.kinds),
            "units": list(self.units),
            "pose": self.pose,
            "actuator_forces": self.tau,
            "shapes": [_plain(column) for column in self.shapes.T],
            "bodies": list(self.bodies),
            "kinetic_energy_share": [_plain(column) for column in self.kinetic.T],
            "elastic_energy_share": [_plain(column) for column in self.elastic.T],
            "elastic_energy_share_by_kind": {k: _plain(v) for k, v in self.elastic_by_kind.items()},
            "effective_mass": {k: _plain(v) for k, v in self.effective_mass.items()},
            "total_mass_kg": self.total_mass,
            "notices": list(self.notices),
        }


def _plain(x: Array) -> list[float | None]:
    """Numbers as JSON knows them: what is not finite becomes null."""
    return [float(v) if np.isfinite(v) else None for v in x]


@dataclass(frozen=True)
class Rest:
    """An equilibrium under weight and loads, actuators held: how far points move (m), what actuators and loops carry."""

    loads: dict[str, tuple[float, ...]]
    deflections: dict[str, tuple[float, ...]]
    actuator_forces: dict[str, float]
    reactions: dict[str, tuple[float, ...]]  # one for each equation of a closure


@dataclass(frozen=True)
class Check:
    """What a robot is made of, and how it can move at a pose."""

    robot: str
    about: str
    source: str
    space: str
    links: int
    flexible: int
    springs: int  # elastic joints
    legs: int
    mass: float
    masses: dict[str, float]  # body -> kg
    coordinates: dict[str, int]  # kind -> how many
    closures: dict[str, tuple[str, int]]  # name -> joint, equations
    mobility: tuple[str, ...]
    freedom: int
    overconstraint: int
    rule: str
    independent: tuple[str, ...]
    pose: dict[str, float]
    units: dict[str, str]
    active: tuple[str, ...]
    points: dict[str, tuple[float, ...]]
    closure_error: float
    assemblies: tuple[str, ...]
    rest: Rest | None = None  # under loads, if any were given

    def __repr__(self) -> str:
        return f"<{self.robot} ({self.space}): {self.links} links, {sum(self.coordinates.values())} coordinates>"

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return asdict(self)


@dataclass(frozen=True)
class Stiffness:
    """How a named point gives way about an equilibrium: forces then moments against displacements then rotations, in base
    axes at the point, SI.

    stiffness is not a number in rows and columns of directions in `rigid`; principal holds stiffness (N/m) and direction,
    softest first; deflection is what weight and loads do (m, rad); links and kinds are shares of the energy that a force or
    moment in each of the six directions leaves in links, and in legs, joints, platform and drives."""

    robot: str
    point: str
    compliance: Array
    stiffness: Array
    rigid: tuple[str, ...]
    principal: tuple[tuple[float, tuple[float, ...]], ...]
    deflection: Array
    links: dict[str, Array]
    kinds: dict[str, Array]
    pose: dict[str, float]
    tau: dict[str, float]
    reactions: dict[str, Array]
    stresses: tuple[Any, ...] = ()  # worst section of every link of beams, worst link first: model.stresses.Stress
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        shown = ", ".join(f"{k:.4g}" for k, _ in self.principal)
        return f"<{self.robot} at {self.point!r}: principal stiffness {shown} N/m>"

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "robot": self.robot,
            "point": self.point,
            "stiffness": [_plain(row) for row in self.stiffness],
            "compliance": [_plain(row) for row in self.compliance],
            "rigid": list(self.rigid),
            "principal_stiffness": [{"stiffness": k, "direction": list(axis)} for k, axis in self.principal],
            "deflection": _plain(self.deflection),
            "shares": {k: _plain(x) for k, x in self.kinds.items()},
            "link_shares": {k: _plain(x) for k, x in self.links.items()},
            "pose": self.pose,
            "actuator_forces": self.tau,
            "reactions": {k: _plain(x) for k, x in self.reactions.items()},
            "stresses": [_stress(s) for s in self.stresses],
            "notices": list(self.notices),
        }


def _stress(s: Any) -> dict[str, Any]:
    limit = None if s.limit != s.limit else s.limit
    return {
        "link": s.link, "von_mises": s.stress, "yield": limit, "utilisation": None if limit is None else s.stress / limit,
        "place": s.place, "axial_force": s.axial, "torque": s.torque, "bending_moments": list(s.bending),
    }  # fmt: skip


@dataclass(frozen=True)
class Frf:
    """Frequency response functions: complex values (frequencies, outputs, inputs) per unit of every input."""

    robot: str
    free: bool  # actuators; else held
    quantity: str  # displacement, velocity or acceleration
    frequencies_hz: Array
    values: Array
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    notices: tuple[str, ...] = ()
    between_hz: Array = field(default_factory=lambda: np.zeros(0))  # where resonances are, between the frequencies
    between: Array | None = None  # values there

    @property
    def drawn(self) -> tuple[Array, Array]:
        """Frequencies and values, with those at resonances between the frequencies asked for."""
        if self.between is None or not len(self.between_hz):
            return self.frequencies_hz, self.values
        f = np.concatenate([self.frequencies_hz, self.between_hz])
        rank = np.argsort(f)
        return f[rank], np.concatenate([self.values, self.between])[rank]

    def peak(self, output: str, given: str) -> tuple[float, float]:
        """Where (Hz) the response of an output to an input is largest in the band, and how large it is; not only of the
        frequencies asked for, which resonances fall between."""
        f, values = self.drawn
        size = np.nan_to_num(np.abs(values[:, self.outputs.index(output), self.inputs.index(given)]))
        k = int(np.argmax(size))
        return float(f[k]), float(size[k])

    def __getitem__(self, names: tuple[str, str]) -> Array:
        """The response of an output to an input, as in frf["tool.z", "tool.fz"]."""
        return self.values[:, self.outputs.index(names[0]), self.inputs.index(names[1])]

    def __repr__(self) -> str:
        first, last = self.frequencies_hz[0], self.frequencies_hz[-1]
        return (
            f"<{self.robot}: {self.quantity} of {len(self.outputs)} outputs by {len(self.inputs)} inputs, "
            f"{first:g} to {last:g} Hz>"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines; `real` and `imaginary` are lists over frequencies, outputs, inputs."""
        return {
            "robot": self.robot,
            "actuators": "free" if self.free else "held",
            "quantity": self.quantity,
            "frequencies_hz": _plain(self.frequencies_hz),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "input_units": list(self.input_units),
            "output_units": list(self.output_units),
            "real": self.values.real.tolist(),
            "imaginary": self.values.imag.tolist(),
            "peaks": [
                {"output": o, "input": i, "frequency_hz": hz, "size": size}
                for o in self.outputs for i in self.inputs for hz, size in (self.peak(o, i),)
            ],
            "notices": list(self.notices),
        }  # fmt: skip


@dataclass(frozen=True)
class LinearModel:
    """x' = A x + B u, y = C x + D u about an equilibrium, with names and units of inputs and outputs.

    error_bound: what a reduction loses at most, relative to the largest gain, within `band` (Hz) if there is one; None where
    none is known. controller: in words, where actuators are neither held nor free."""

    robot: str
    free: bool  # actuators; else held
    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    error_bound: float | None = None
    structural: str = ""  # what became of structural damping
    band: tuple[float, float] | None = None
    controller: str = ""
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.robot}: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"

    def response(self, frequencies_hz: Array) -> Array:
        """Complex response (frequencies, outputs, inputs)."""
        s = 2j * np.pi * np.asarray(frequencies_hz, dtype=float)[:, None, None]
        made: Array = self.C @ np.linalg.solve(s * np.eye(len(self.A)) - self.A, self.B[None]) + self.D
        return made

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        matrices = {name: getattr(self, name).tolist() for name in "ABCD"}
        return {
            "robot": self.robot,
            "actuators": self.controller or ("free" if self.free else "held"),
            **matrices,
            "states": list(self.states),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "input_units": list(self.input_units),
            "output_units": list(self.output_units),
            "error_bound": self.error_bound,
            "band": None if self.band is None else list(self.band),
            "structural_damping": self.structural,
            "notices": list(self.notices),
        }


@dataclass(frozen=True)
class Counted:
    """What one evaluation of a generated model costs."""

    robot: str
    model: str
    counts: dict[str, Any]  # operations (add, mul, div, neg, total), functions, intermediates
    stages: dict[str, dict[str, Any]]  # "as derived" and optimiser pass -> operations, counts, intermediates
    compiled: tuple[float, int] | None  # seconds to compile, bytes of machine code; None if not measured
    legs: tuple[int, int] | None  # how many share one leg's code, operations then; None where they do not

    @property
    def operations(self) -> int:
        """Additions, subtractions, multiplications, divisions and negations."""
        return int(self.counts["operations"]["total"])

    def __repr__(self) -> str:
        return f"<{self.robot} {self.model}: {self.operations} operations>"

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {"robot": self.robot, "model": self.model, **self.counts}


@dataclass(frozen=True)
class Exported:
    """A model written as source code: its files, and what one evaluation costs."""

    robot: str
    model: str
    target: str
    files: tuple[Path, ...]
    counts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        about = {"robot": self.robot, "model": self.model, "target": self.target}
        return about | {"files": [str(f) for f in self.files]} | self.counts


@dataclass(frozen=True)
class Signal:
    """A quantity over time: values whose first axis is time; names of the others and of their entries; units; words."""

    values: Array
    dims: tuple[str, ...]  # names of the axes after time: "coordinate", "point", "axis", ...
    unit: str | tuple[str, ...]  # one, or one for each entry of the first axis after time
    about: str

    def extremes(self) -> tuple[float, float] | None:
        """The least and the most of its finite values, if there are any."""
        finite = self.values[np.isfinite(self.values)]
        return (float(finite.min()), float(finite.max())) if finite.size else None


DOUBTFUL = "doubtful: "


@dataclass(frozen=True)
class Simulation:
    """A motion over time: named signals, the entries of their axes, how it was computed, and where it comes from."""

    robot: str
    motion: str
    time: Array
    signals: dict[str, Signal]
    axes: dict[str, tuple[str, ...]]
    kinds: tuple[str, ...]  # of the coordinates: active, passive, elastic, platform
    outcome: str  # "complete", why it ended early, or "doubtful: " and why it is not to be trusted
    summary: dict[str, Any]  # wall time, steps, evaluations, ...
    varied: dict[str, tuple[float, ...]]  # what differs from run to run
    provenance: dict[str, str]
    measured: dict[str, tuple[Array, Array]] = field(default_factory=dict)  # column -> times and values of a measured table

    def __getitem__(self, name: str) -> Array:
        """Values of a signal; "signal:entry" picks an entry of its first axis after time, as in "tau:q11"."""
        key, _, entry = name.partition(":")
        signal = self.signals[key]
        if not entry:
            return signal.values
        axis = next(d for d in signal.dims if d != "run")
        made: Array = np.take(signal.values, self.axes[axis].index(entry), axis=1 + signal.dims.index(axis))
        return made

    def __repr__(self) -> str:
        state = "" if self.complete else f", {'' if self.doubtful else 'stopped early: '}{self.outcome}"
        end = f" to {self.time[-1]:.6g} s" if len(self.time) else ""
        return f"<{self.robot} {self.motion}: {len(self.time)} samples{end}, {len(self.signals)} signals{state}>"

    @property
    def complete(self) -> bool:
        return self.outcome == "complete"

    @property
    def doubtful(self) -> bool:
        """It came to its end, but accuracy was lost, or bodies bent far beyond what their theory carries."""
        return self.outcome.startswith(DOUBTFUL)

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines: the summary and the extremes of every signal, not the signals themselves."""
        found = {name: s.extremes() or (None, None) for name, s in self.signals.items()}
        extremes = {name: {"least": least, "most": most} for name, (least, most) in found.items()}
        return {
            "robot": self.robot,
            "motion": self.motion,
            "outcome": self.outcome,
            **self.summary,
            "samples": len(self.time),
            "first_time_s": float(self.time[0]) if len(self.time) else None,
            "last_time_s": float(self.time[-1]) if len(self.time) else None,
            "signals": extremes,
            "axes": {k: list(x) for k, x in self.axes.items()},
            "provenance": self.provenance,
        }


@dataclass(frozen=True)
class Moved:
    """A motion by one formulation at one tolerance, beside the reference at the same tolerance."""

    tolerance: float
    steps: int
    evaluations: int
    closure: float  # largest opening of any loop, m or rad
    differences: dict[str, float]  # signal -> its largest difference, relative to the signal's largest value


@dataclass(frozen=True)
class Compared:
    """One formulation beside the reference. Differences are relative to the largest entry; an order is the power of the
    deformation with which a difference shrinks, None where it is rounding."""

    formulation: str
    expected: str
    reason: str  # why it does not take the robot, if it does not
    mass_difference: float | None = None
    force_difference: float | None = None
    mass_order: float | None = None
    force_order: float | None = None
    frequencies_hz: tuple[float, ...] = ()
    frequency_difference: float | None = None
    operations: int | None = None  # of the tree's forces, as derived
    forward_operations: int | None = None  # of its own forward model, as derived
    microseconds: float | None = None  # of the tree's forces, compiled
    integrated: str = ""  # which coordinates a motion is integrated in, and what solves the loops; or why it is not
    moved: tuple[Moved, ...] = ()  # a motion, at one tolerance after the other


@dataclass(frozen=True)
class Comparison:
    """Formulations of one robot at one pose."""

    robot: str
    reference: str
    pose: dict[str, float]
    rows: tuple[Compared, ...]

    def __repr__(self) -> str:
        taken = sum(not row.reason for row in self.rows)
        return f"<{self.robot}: {taken} of {len(self.rows)} formulations compared with {self.reference}>"

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return asdict(self)
