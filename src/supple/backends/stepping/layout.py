"""The layout that C and Python share, as one list: enums, constants, structs and samples.

The text in C (`layout_text`), the ctypes classes (`ctypes_class`) and the places of fields in the state of a simulation
(`leaves`, with the table that C exports) all come from it.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from supple.backends.c_source import literal
from supple.backends.stepping.plant import Ball, Bend, Limb, Meeting, Team, TeamLimb, Tie, Window

METHODS = ("radau", "gauss", "dormand_prince", "generalised_alpha", "quasi_static")
OUTCOMES = (
    "fine", "done", "full", "yielded", "open_loops", "ill_posed", "diverged", "not_a_number", "too_small",
)  # fmt: skip
CONTROLLERS = ("no_controller", "pid", "computed_torque", "state_space")
ENUMS = {"Method": METHODS, "Outcome": OUTCOMES, "Controller": CONTROLLERS}
CONSTANTS = {
    "MOST_LANES": (8, "runs in one state"),
    "STEP_LANES": (4, "numbers of a step's matrices that stand side by side, see limb_numbers.h"),
    "SIDE_BY_SIDE": (4, "columns of the Jacobian, or stages, that a library with more lanes computes at once"),
    "BROYDEN_PAIRS": (30, "updates of Newton's matrix that are kept"),
    "MOST_WAITING": (64, "efforts of a sampled controller that wait for their delay"),
    "MOST_LAW_STATES": (512, "states of a controller in state space, all its parts together"),
    "MOST_SENSORS": (64, "that it reads"),
    "MOST_LEARNT": (8, "parameters that it learns"),
    "MOST_PUSHES": (8, "loads at points that it commands beside the actuators"),
}
# one sample of a run, after its time: field of the posture, how many numbers
SAMPLE = (("q", "N_Q"), ("v", "N_V"), ("effort", "N_TAU"), ("free_a", "N_FREE"))


@dataclass(frozen=True)
class Field:
    """A field of a struct: its type in C, and how many (in words of C, row by row); `carried`: a simulation takes it along
    when it chooses other free coordinates."""

    name: str
    kind: str
    size: tuple[str, ...] = ()
    about: str = ""
    carried: bool = False

    @property
    def whole(self) -> bool:
        """Whether matrices of all unknowns stand in it."""
        return "N_UNKNOWN * N_UNKNOWN" in self.size


@dataclass(frozen=True)
class Struct:
    """A struct in C, and what it is."""

    name: str
    about: str
    fields: tuple[Field, ...]


def _ints(names: Sequence[str]) -> tuple[Field, ...]:
    return tuple(Field(name, "int") for name in names)


_NUMBERS, _WORDS = "const double *", "long long"
BALL = Struct(
    "Ball", "A ball joint: its first place in q, among the free and among the dependent ones, or -1", _ints(Ball._fields)
)
LIMB_STRUCTS = tuple(
    Struct(kind.__name__, about, _ints(kind._fields))
    for kind, about in (
        (Limb, "A frame with its body, see limbs.h"),
        (Bend, "A term of a bent body's inertia, see bent.h"),
        (Window, "A stretched element, see bent.h"),
        (Tie, "An anchor of a loop, see limbs.h"),
        (Meeting, "Closure equations that are solved together, see limbs.h"),
        (TeamLimb, "A limb of legs that are alike, see limb_teams.h"),
        (Team, "Legs that are solved side by side, see limb_teams.h"),
    )
)
SIGNALS = Struct("Signals", "Signals over time: piecewise quintic polynomials on common knots", (
    Field("pieces", _WORDS), Field("channels", _WORDS),
    Field("knots", _NUMBERS, about="pieces + 1"), Field("coefficients", _NUMBERS, about="pieces x channels x 6"),
))  # fmt: skip
LAW = Struct("Law", "A sampled controller in state space, see state_space.h", (
    Field("parts", _WORDS, about="laws that are weighted"), Field("states", _WORDS, about="of each part"),
    Field("sensors", _WORDS), Field("pushes", _WORDS, about="loads that it commands, behind the actuators"),
    Field("matrices", _NUMBERS, about="A, B, E, C, D of every part, row by row"),
    Field("weights", "Signals", about="of the parts"), Field("rest", "Signals", about="what sensors should read"),
    Field("rough", _NUMBERS, about="noise and resolution of each sensor, noise of each effort and push"),
    Field("most", _NUMBERS, about="limit of each push; 0: none"),
    Field("pushed", _NUMBERS, about="wrenches of unit pushes: N_W x pushes"),
    Field("seed", _WORDS, about="of the noise"),
    Field("sense", "Sense"), Field("tape", "const void *", about="of the sensors"),
))  # fmt: skip
LEARNT = Struct("Learnt", "What a computed torque learns of parameters from its sensors, see state_space.h", (
    Field("parameters", _WORDS),
    Field("slopes", "Signals", about="weighted, of readings: parameters x sensors"),
    Field("trust", "Signals", about="covariance of what is known by then: parameters x parameters"),
    Field("path", "Signals", about="by which positions change with parameters: parameters x N_TAU"),
    Field("forces", "Signals", about="by which forces do"),
))  # fmt: skip
DRIVE = Struct("Drive", "What moves the robot", (
    Field("given", "Signals", about="positions of prescribed actuators"),
    Field("reference", "Signals", about="positions that the controller is to reach"),
    Field("torque", "Signals", about="forces of the other actuators"),
    Field("load", "Signals", about="forces and moments at points"),
    Field("gravity", _NUMBERS, about="3"),
    Field("breaks", _NUMBERS, about="times at which steps end and start anew"),
    Field("n_breaks", _WORDS),
    Field("gains", _NUMBERS, about="kp, kd, ki, limit of each actuator that is not prescribed"),
    Field("sample_time", "double", about="s, of the controller; 0: continuous"),
    Field("delay", "double", about="s, from a sample to its effort"),
    Field("controller", _WORDS, about="Controller"),
    Field("law", "Law"), Field("learnt", "Learnt"),
))  # fmt: skip
POSTURE = Struct("Posture", "A posture in motion", (
    Field("q", "real", ("N_Q",)), Field("v", "real", ("N_V",)),
    Field("free_a", "real", ("N_FREE",), "accelerations of the free coordinates"),
    Field("free_rate", "real", ("N_FREE",), "of their displacements: v itself but for ball joints"),
    Field("given_effort", "real", ("N_GIVEN",), "forces of prescribed actuators"),
    Field("effort", "real", ("N_TAU",), "forces of the others"),
))  # fmt: skip
SETTINGS = Struct("Settings", "How a motion is integrated", (
    Field("method", _WORDS, about="Method"),
    Field("tolerance", "double"), Field("newton_tolerance", "double"),
    Field("fixed_step", "double", about="s; 0: steps are chosen"),
    Field("largest_step", "double", about="s"), Field("smallest_step", "double", about="s"),
    Field("spectral_radius", "double", about="of generalised-alpha at infinity"),
    Field("sample_interval", "double", about="s; 0: every step; below 0: see `record_within`"),
    Field("cutoff", "double", about="rad/s; 0: none"),
))  # fmt: skip
CHOSEN = Struct("Chosen", "Which coordinates are free, which follow, and by which closure equations", (
    Field("free_v", "int", ("N_FREE",), "places in v"),
    Field("free_q", "int", ("N_FREE",), "places in q, -1 for parts of a quaternion"),
    Field("dependent_v", "int", ("N_DEP",)), Field("dependent_q", "int", ("N_DEP",)),
    Field("free_unit", "int", ("N_FREE",), "0 a length, 1 an angle"), Field("dependent_unit", "int", ("N_DEP",)),
    Field("closure_row", "int", ("N_DEP",), "equations by which the dependent ones follow"),
    Field("balls", "Ball", ("N_BALLS",)),
))  # fmt: skip
_FREE, _SQUARE, _BY_UNIT = ("N_FREE",), ("N_UNKNOWN * N_UNKNOWN",), ("2",)
SIM = Struct("Sim", "The state of a simulation; [2]: of lengths and of angles", (
    Field("live", "int", ("MOST_LANES",), "lanes that hold a run"),
    Field("settings", "Settings", carried=True),
    Field("chosen", "Chosen"),
    # time
    Field("t", "double", about="s", carried=True),
    Field("step", "double", about="s, to try next", carried=True),
    Field("last_step", "double", about="s, that was taken", carried=True),
    Field("look", "double", about="s; below zero: what holds just before a knot, above: just after", carried=True),
    Field("begin", "double", about="s, where it began", carried=True),
    Field("samples", _WORDS, about="recorded so far", carried=True),
    Field("rows_ahead", _WORDS, about="of the recorder that must be free before a step is tried"),
    # what errors are relative to
    Field("reach", "double", about="m, at whose end angles show as lengths"),
    Field("scale", "double", _BY_UNIT, "accelerations of late", carried=True),
    Field("rate_scale", "double", _BY_UNIT, "rates of late", carried=True),
    Field("travel", "double", _BY_UNIT, "displacements so far", carried=True),
    Field("peak", "double", _BY_UNIT, "accelerations so far", carried=True),
    Field("rounding", "double", _BY_UNIT, "what rounding makes of accelerations", carried=True),
    Field("noise", "double", _BY_UNIT, "rounding of the accelerations, as measured with the derivatives"),
    Field("error_of_late", "double"),
    Field("kept_error", "double", about="share of it that a step leaves; 0: not known yet"),
    Field("step_cut_off", "double", about="accelerations above the cutoff, of the step tried", carried=True),
    Field("most_cut_off", "double", about="the most so far", carried=True),
    Field("most_cut_off_time", "double", about="s, when that was", carried=True),
    # where it stands
    Field("starts_anew", "int"), Field("has_last_step", "int", about="of generalised-alpha"),
    Field("steps_since_rejection", "int"),
    Field("tried_new_jacobian", "int"), Field("has_guess", "int"),
    Field("now", "Posture"), Field("guess", "Posture"),
    Field("is_rough", "int", about="now: only free and given coordinates are exact, see `settle_start`"),
    Field("ends_roughly", "int", about="the step tried: so may be its end"),
    Field("sees_free", "int", about="a controller measures free and given coordinates only"),
    Field("a", "real", ("N_V",), "accelerations of all coordinates"),
    Field("alpha_a", "real", _FREE, "A of generalised-alpha"),
    Field("next_alpha_a", "real", _FREE, "the same at the end of the step tried"),
    Field("jerk", "real", _FREE),
    Field("bend", "real", _FREE, "second divided difference of the accelerations"),
    Field("parameters", "real", ("N_P",)),
    Field("start_q", "real", ("N_Q",), "where it began", carried=True),
    Field("jacobian_q", "real", ("N_Q",), "where derivatives were taken"),
    Field("work", "real", about="J, done on the robot less what it dissipated", carried=True),
    Field("power", "real", about="W, its rate"), Field("last_power", "real", about="W, a step before"),
    Field("step_work", "real", about="J, of the step tried"),
    Field("most_power", "double", about="W, so far", carried=True),
    Field("power_bend", "real", about="second divided difference of the power"), Field("has_power_bend", "int"),
    # controller
    Field("held_effort", "real", ("N_TAU",), "as a sampled controller set it last", carried=True),
    Field("error_integral", "real", ("N_TAU",), carried=True),
    Field("waiting_effort", "real", ("MOST_WAITING", "N_TAU"), carried=True),
    Field("waiting_until", "double", ("MOST_WAITING",), "s", carried=True),
    Field("next_tick", "double", about="s", carried=True),
    Field("ticks", _WORDS, carried=True), Field("n_waiting", "int", carried=True),
    Field("law_state", "real", ("MOST_LAW_STATES",), "of a controller in state space", carried=True),
    Field("held_push", "real", ("MOST_PUSHES",), "as it set them last", carried=True),
    Field("waiting_push", "real", ("MOST_WAITING", "MOST_PUSHES"), carried=True),
    Field("rigid_q", "real", ("N_CQ",), "of the rigid robot of a computed torque"),
    Field("rigid_rate", "real", ("N_CDEP",), "of its dependent coordinates"), Field("rigid_t", "double", about="s, when"),
    # loop forces of SCDD as printed
    Field("late_force", "real", ("N_LATE",), "of the evaluation before"), Field("has_late_force", "int"),
    # Newton's method; derivatives of the accelerations, column by column
    Field("a_by_x", "real", _SQUARE), Field("a_by_v", "real", _SQUARE),
    Field("has_jacobian", "int"), Field("jacobian_is_fresh", "int"), Field("wasted_evaluations", "int"),
    Field("broyden", "real", ("BROYDEN_PAIRS", "2", "STAGES * N_UNKNOWN"), "updates of the factorised matrix"),
    Field("n_broyden", "int"),
    Field("sieve", "real", _SQUARE, "I - a_by_x / cutoff^2, factorised"), Field("sieve_pivot", "int", _FREE),
    Field("factorised_step", "double", about="s"), Field("factorised_method", "int"),
    Field("factors_used", "int", about="solutions by the factors of collocation; inverted after many"),
    Field("contraction", "double", about="of a correction by the next one"),
    Field("contracted_size", "double", about="of that correction"),
    Field("stages", "real", ("STAGES * N_FREE",), "their accelerations"), Field("has_stages", "int"),
    Field("missed", "real", ("STAGES * N_FREE",), "what the linear equations left out of them, in the last new start"),
    Field("missed_step", _WORDS, about="the step that was, counted from 1"),
    Field("missed_rough", "int", about="whether its start was rough"),
    Field("start_is_passed", "int", about="by their polynomial, as vibrations there were too fast for the step"),
    Field("newton_pivot", "int", _FREE), Field("complex_pivot", "int", ("PAIRS * N_FREE",)),
    Field("newton_matrix", "real", _SQUARE, "factorised, or inverted where small"),
    Field("complex_matrix", "real", ("PAIRS", "2", "N_UNKNOWN * N_UNKNOWN"), "real and imaginary part of each"),
    # Newton's matrices body by body, see limbs.h
    Field("limb_reach", "double", ("2", "REACH_SIZE"), "what twists are made of: of the step, of the mass"),
    Field("limb_factor", "double", ("2", "LIMB_SIZE"), "factors of the mass, of the sieve"),
    Field("limb_step", "double", ("STEP_LANES * LIMB_SIZE",), "of the step, see limb_numbers.h"),
    Field("limb_packed", "double", ("2", "PACKED_SIZE"), "of elastic columns what is not zero"),
    Field("limb_packed_step", "double", ("STEP_LANES * PACKED_SIZE",)),
    Field("limb_loops", "double", ("2", "N_LOOPED * N_LOOPED"), "factors of forces in loops"),
    Field("limb_loops_step", "double", ("STEP_LANES * N_LOOPED * N_LOOPED",)),
    Field("limb_stiff", "double", ("STIFF_ENTRIES",), "stiffness of bodies as bent"),
    Field("limb_stiff_step", "double", ("STEP_LANES * STIFF_ENTRIES",), "with damping, of the step"),
    Field("limb_pivot", "int", ("5", "N_LOOPED"), "of their forces in loops, see limbs.h"),
    Field("team_factor", "double", ("6", "4 * TEAM_FACTORS"), "the same of legs that are alike, lane by lane"),
    Field("team_rate", "double", ("2", "4 * TEAM_RATES"), "what is real: axes, what twists are made of, rates of loops"),
    Field("joint_gain", "double", ("2", "N_V * LIMBED"), "stiffness and damping that a controller gives to joints"),
    Field("loop_forces", "real", ("STAGES * N_LOOPED",), "of the stages"),
    Field("stage_lost", "double", ("STAGES",), "W, by further damping"),
    Field("has_mass", "int"), Field("mass_q", "double", ("N_Q * LIMBED",), "where mass and sieve are of"),
    Field("limb_trouble", "int", about="steps that did not converge with them"),
    # account
    Field("steps", _WORDS, carried=True), Field("rejected", _WORDS, carried=True),
    Field("evaluations", _WORDS, carried=True), Field("newton_iterations", _WORDS, carried=True),
    Field("jacobians", _WORDS, carried=True),
    Field("conditioning", "double", about="smallest by largest pivot of the loops"),
    Field("start_conditioning", "double", about="at the start of the step"),
    Field("worst_conditioning", "double"), Field("least_conditioning", "double", about="at which it stops; 0: not at any"),
    Field("side", "int", about="of a singular pose of theirs, see `side_of`"), Field("start_side", "int"),
))  # fmt: skip
STRUCTS = {s.name: s for s in (BALL, SIGNALS, LAW, LEARNT, DRIVE, POSTURE, SETTINGS, CHOSEN, SIM)}
_PLAIN = {"int": ctypes.c_int, _WORDS: ctypes.c_longlong, "double": ctypes.c_double}
_PLAIN |= dict.fromkeys((_NUMBERS, "const void *", "Sense"), ctypes.c_void_p)


# Text in C ---------------------------------------------------------------------------------------------------------------


@cache
def layout_text() -> str:
    """Enums, constants and structs in C, and the table of the places of all fields of the state."""
    lines = [
        "/* Generated from the list that Python reads, too: layout.py of supple. Do not edit. */",
        "#include <stddef.h>",
    ]
    lines += [f"enum {{ {', '.join(x.upper() for x in words)} }}; /* {name} */" for name, words in ENUMS.items()]
    lines += [f"#define {name} {value} /* {about} */" for name, (value, about) in CONSTANTS.items()]
    lines += _sample_text()
    for struct in STRUCTS.values():
        lines += [] if struct is BALL else ["", *struct_text(struct)]  # it stands before tables of the plant
    return "\n".join([*lines, ""])


def struct_text(struct: Struct) -> list[str]:
    """Lines of C that define a struct."""
    fields = [f"    {_declared(f)};{f' /* {f.about} */' if f.about else ''}" for f in struct.fields]
    return [f"/* {struct.about} */", "typedef struct {", *fields, f"}} {struct.name};"]


def layout_mark() -> str:
    """What tells this layout from others, for checkpoints."""
    return hashlib.sha256(layout_text().encode()).hexdigest()[:16]


def table_text() -> str:
    """Where the fields of the state are and how long, in bytes, in the order of `leaves`; to stand after the structs."""
    rows = ",\n".join(f"    {{offsetof(Sim, {x.name}), {_bytes(x)}}}" for x in leaves())
    return (
        f"static const long long LAYOUT[][2] = {{\n{rows},\n}};\n"
        "SUPPLE_EXPORT const long long *supple_layout(void) { return LAYOUT[0]; }"
    )


def _sample_text() -> list[str]:
    """Places in a row of numbers that holds one sample."""
    lines, before = ["enum {", "    SAMPLE_T,"], "SAMPLE_T + 1"
    for name, size in SAMPLE:
        lines.append(f"    SAMPLE_{name.upper()} = {before},")
        before = f"SAMPLE_{name.upper()} + {size}"
    return [*lines, f"    ROW = {before}", "}; /* one sample of a run */"]


def _declared(x: Field) -> str:
    """A declaration; arrays that may be empty have one place at least, which C asks for."""
    sizes = "".join(f"[{n}]" if n.isdigit() or n in CONSTANTS else f"[AT_LEAST_ONE({n})]" for n in x.size)
    return f"{x.kind}{'' if x.kind.endswith('*') else ' '}{x.name}{sizes}"


def _bytes(x: Field) -> str:
    return " * ".join([*(n if n.isidentifier() or n.isdigit() else f"({n})" for n in x.size), f"sizeof({x.kind})"])


def initialiser(struct: Struct, values: Mapping[str, Any]) -> str:
    """The values of a struct in C, by the names of its fields; what is not among them is zero."""
    known = {f.name: f for f in struct.fields}
    assert set(values) <= set(known), set(values) - set(known)
    told = [name for name in known if name in values and values[name] not in ((), [])]  # C warns of an empty list of structs
    return "{" + ", ".join(f".{name} = {_shown(values[name])}" for name in told) + "}"


def _shown(x: Any) -> str:
    if isinstance(x, (tuple, list)):
        return "{" + (", ".join(_shown(y) for y in x) or "0") + "}"
    return literal(x) if isinstance(x, float) else str(int(x))


# For Python ----------------------------------------------------------------------------------------------------------------


@cache
def ctypes_class(struct: Struct) -> type[ctypes.Structure]:
    """The struct as ctypes has it."""
    fields = [(f.name, _PLAIN[f.kind] if f.kind in _PLAIN else ctypes_class(STRUCTS[f.kind])) for f in struct.fields]
    return type(struct.name, (ctypes.Structure,), {"_fields_": fields})


@cache
def leaves() -> tuple[Field, ...]:
    """All fields of the state that are no structs themselves, named as in "now.q"; lists of structs are lists of numbers."""
    return tuple(_leaves(SIM))


def _leaves(struct: Struct) -> Iterator[Field]:
    for f in struct.fields:
        inner = STRUCTS.get(f.kind)
        if inner is None or f.size:
            yield f
        else:
            for x in _leaves(inner):
                yield Field(f"{f.name}.{x.name}", x.kind, x.size, x.about, f.carried or x.carried)
