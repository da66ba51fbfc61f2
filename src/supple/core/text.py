"""The C text of a robot's core: its Functions, the tables of their entries, and the algorithms of the headers beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from supple.backends import c_source
from supple.core.chains import chain_sizes, chain_tables, table
from supple.core.functions import Sparse
from supple.core.structure import Structure, Way
from supple.core.tangents import Tangents
from supple.expr.function import Function

_LARGE = 20_000  # operations above which the compiler's time matters more than the last bit of speed
_MANY = 100  # independent motions above which the lowest modes are found on their own
_QUICKLY = '#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC push_options\n#pragma GCC optimize ("O1")\n#endif'
_THOROUGHLY = "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC pop_options\n#endif"
_RENAMED = (
    "real", "supple_scalar", "supple_word", "supple_wide", "supple_bits", "supple_wide_bits", "supple_sqrt", "supple_sign",
    "supple_sincos_far", "supple_kernel", "supple_reduced", "supple_sincos_of", "supple_sincos", "supple_sin", "supple_cos",
    "supple_fused", "supple_piece",
)  # fmt: skip
_UNDONE = (
    "fill", "num", "SUPPLE_CONVERT", "SUPPLE_MASK", "SUPPLE_LANE", "supple_to_bits", "supple_from_bits",
    "supple_wide_to_bits", "SUPPLE_LANES", "SUPPLE_AT_ONCE", "SUPPLE_WIDTH", "SUPPLE_PIECE", "SUPPLE_PIECES", "SUPPLE_FMA",
    "SUPPLE_FUSED", "SUPPLE_C", "SUPPLE_NEAR_BITS",
)  # fmt: skip
_WIDE = 8  # directions side by side where poses come one by one
_EXPORT = """#ifdef _WIN32
#define SUPPLE_EXPORT __declspec(dllexport)
#else
#define SUPPLE_EXPORT __attribute__((visibility("default")))
#endif"""


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / f"{name}.h").read_text(encoding="ascii")


def core_source(structure: Structure, also: Sequence[Function] = ()) -> str:
    """The C text of a core, and of further Functions."""
    return _source(structure, also, {}, [])


def tangent_source(structure: Structure, tangents: Tangents) -> str:
    """The C text of a core and of its derivatives."""
    own = [tangents.gaps, tangents.forces, tangents.servo, tangents.places]
    known = matrices_of(structure)
    matrices = {name: replace(known[name], function=f) for name, f in tangents.matrices.items()}
    chosen = ["#define N_CHOSEN " + str(len(structure.chosen)), table("CHOSEN_V", structure.chosen), _file("tangents")]
    return _source(structure, own, matrices, chosen)


def _source(structure: Structure, more: Sequence[Function], tangents: Mapping[str, Sparse], last: Sequence[str]) -> str:
    f = structure.functions
    matrices = matrices_of(structure)
    bodies = [f.gaps, f.forces, f.servo, f.places, f.lengths, *more]
    applied = [m.function for m in (*matrices.values(), *tangents.values())]
    large = sum(x.operations for x in (*bodies, *applied)) > _LARGE
    quickly, thoroughly = ([_QUICKLY], [_THOROUGHLY]) if large else ([], [])
    return "\n".join([
        *_side_by_side([*quickly, *(c_source.body(x) for x in applied), *thoroughly]), _EXPORT,
        *quickly, *(c_source.body(x) for x in bodies), *thoroughly,
        *_sizes(structure), _file("lanes"), _file("workspace"), *_tables(structure),
        *(_pattern(name, m) for name, m in matrices.items()), *(_entries(name, m) for name, m in matrices.items()),
        *(_entries(name, m, tangents=True) for name, m in tangents.items()),
        *chain_tables(structure), _file("loops"),
        _way("CLOSING", structure.closing), _way("HELD", structure.held), _way("LINEAR", structure.linear),
        *(_file(name) for name in ("pencil", "lowest", "closing", "bounds", "walk", "statics", "answers")), *last,
    ])  # fmt: skip


def _side_by_side(applied: Sequence[str]) -> list[str]:
    """Functions that are applied to directions: poses side by side as everything else, or, where poses come one by one,
    directions side by side. Then real.h stands twice in the text, the first time under other names."""
    renamed = [f"#define {word} {word}_of_directions" for word in _RENAMED]
    undone = [f"#undef {word}" for word in (*_RENAMED, *_UNDONE)]
    return [
        "#if SUPPLE_LANES == 1", "#define DIRECTIONS " + str(_WIDE), "#undef SUPPLE_LANES",
        f"#define SUPPLE_LANES {_WIDE}", *renamed, "#endif", c_source.header(), *applied,
        "#ifdef DIRECTIONS", "typedef real wide;", *undone, "#define SUPPLE_LANES 1", c_source.header(), "#endif",
    ]  # fmt: skip


def matrices_of(structure: Structure) -> dict[str, Sparse]:
    """Pattern name -> matrix."""
    f = structure.functions
    return {
        "OPENING": f.opening, "LOOPS": f.loops, "STIFFNESS": f.stiffness, "INERTIA": f.inertia, "DAMPING": f.damping,
        "LOSS": f.loss, "POINTS": f.points,
    }  # fmt: skip


_ENTRIES = {  # pattern -> (C function, where its entries go)
    "OPENING": ("open_entries", "J"), "LOOPS": ("loop_entries", "J"), "STIFFNESS": ("stiffness_entries", "K"),
    "INERTIA": ("inertia_entries", "M"), "DAMPING": ("damping_entries", "D"), "LOSS": ("loss_entries", "D"),
    "POINTS": ("point_entries", "D"),
}  # fmt: skip
_ARGUMENTS = {
    "q": "w->q", "p": "w->p", "lam": "w->lam", "w": "w->load", "direction": "w->direction",
    "dq": "w->dq", "dp": "w->dp", "dlam": "w->dlam",
}  # fmt: skip


_LENGTHS = {
    "w->q": "N_Q", "w->p": "N_P", "w->lam": "N_C", "w->load": "N_W", "w->dq": "N_V", "w->dp": "N_P", "w->dlam": "N_C",
}  # fmt: skip


def _sizes(structure: Structure) -> list[str]:
    f, s = structure.functions, structure
    ways = (s.closing, s.held, s.linear)
    rows, free = max(len(w.rows) for w in ways), max(len(w.independent) for w in ways)
    matrices = matrices_of(s).values()
    sizes = {
        "N_Q": s.nq, "N_V": s.nv, "N_C": f.gaps.outputs["residual"].size, "N_P": f.servo.inputs["p"].size,
        "N_W": f.forces.inputs["w"].size, "N_GIVEN": len(s.given), "N_ACTIVE": len(s.active), "N_BALLS": len(s.balls),
        "N_ALIGNED": f.gaps.outputs["alignment"].size, "MOST_ROWS": max(1, rows), "MOST_FREE": max(1, free),
        "N_COLUMN": max(1, f.places.outputs["position"].size, *(m.function.outputs["column"].size for m in matrices)),
        "MOST_J": max(1, len(f.opening.rows), len(f.loops.rows)), "MOST_K": max(1, len(f.stiffness.rows)),
        "MOST_M": max(1, len(f.inertia.rows)), "MOST_A": max(1, *(len(m.rows) for m in matrices)),
        "MOST_D": max(1, len(f.damping.rows), len(f.loss.rows), len(f.points.rows)),
        "INVERTED": int(not s.free), "N_LARGE": _large(s), "FREE": int(s.free), **chain_sizes(s),
    }  # fmt: skip
    return [f"#define {name} {value}" for name, value in sizes.items()]


def _large(structure: Structure) -> int:
    """How many independent motions there are if a few of its modes are better found on their own."""
    count = len(structure.linear.independent)
    return count if count >= _MANY and not structure.free else 0


def _tables(structure: Structure) -> list[str]:
    s = structure
    return [
        table("PLACE", s.places), table("ELASTIC", s.elastic), table("GIVEN", s.given), table("ACTIVE", s.active),
        table("BALL_Q", [q for q, _ in s.balls]), table("BALL_V", [v for _, v in s.balls]),
    ]  # fmt: skip


def _pattern(name: str, matrix: Sparse) -> str:
    begins = np.searchsorted(matrix.colours[matrix.columns], np.arange(matrix.rounds + 1))
    listed = ", ".join(str(int(x)) for x in begins)
    return "\n".join([
        table(f"{name}_ROW", matrix.rows), table(f"{name}_COLUMN", matrix.columns),
        table(f"{name}_COLOUR", matrix.colours),
        f"static const int {name}_BEGIN[] = {{{listed}}};",
        f"static const Pattern {name} = {{{len(matrix.rows)}, {name}_ROW, {name}_COLUMN}};",
    ])  # fmt: skip


def _entries(name: str, matrix: Sparse, *, tangents: bool = False) -> str:
    """The C function that computes the entries of a matrix, or their derivatives, one direction after the other."""
    function, to = _ENTRIES[name]
    if tangents:
        function, to = function.replace("entries", "tangents"), "dA"
    arguments = ", ".join(_ARGUMENTS[key] for key in matrix.function.inputs)
    spread = [f"    widen(w->wide_{x[3:]}, {x}, {_LENGTHS[x]});" for x in arguments.split(", ") if x != "w->direction"]
    call = c_source.signature(matrix.function).name
    return "\n".join([
        f"static void {function}(Work *w)", "{", "#ifdef DIRECTIONS", *spread,
        f"    for (int c = 0; c < {matrix.rounds}; c += DIRECTIONS) {{",
        f"        choose(w->wide_direction, {name}_COLOUR, c);",
        f"        {call}({arguments.replace('w->', 'w->wide_')}, w->wide_column);",
        f"        for (int d = 0; d < DIRECTIONS && c + d < {matrix.rounds}; d++)",
        f"            for (int k = {name}_BEGIN[c + d]; k < {name}_BEGIN[c + d + 1]; k++)",
        f"                w->{to}[k] = w->wide_column[{name}_ROW[k]][d];", "    }",
        "#else", f"    for (int c = 0; c < {matrix.rounds}; c++) {{",
        "        for (int j = 0; j < N_V; j++)",
        f"            w->direction[j] = fill({name}_COLOUR[j] == c);",
        f"        {call}({arguments}, w->column);",
        f"        for (int k = {name}_BEGIN[c]; k < {name}_BEGIN[c + 1]; k++)",
        f"            w->{to}[k] = w->column[{name}_ROW[k]];", "    }", "#endif", "}",
    ])  # fmt: skip


def _way(name: str, way: Way) -> str:
    return "\n".join([
        table(f"{name}_ROWS", way.row_places), table(f"{name}_COLUMNS", way.column_places),
        f"static const Way {name} = {{{len(way.rows)}, {len(way.independent)}, {name}_ROWS, {name}_COLUMNS}};",
    ])  # fmt: skip
