"""The layout that C and Python share: places of fields as a compiler has them, against ctypes and the rule of alignment."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from pathlib import Path

import pytest

from supple.backends import c_source
from supple.backends.compiler import find_compiler, shared_library
from supple.backends.stepping import layout, plant_text
from supple.backends.stepping.state import Layout, State

BACKENDS = Path(layout.__file__).parents[1]
SIZES = dict(zip(("N_Q", "N_V", "N_FREE", "N_GIVEN", "N_DEP", "N_TAU", "N_BALLS"), (9, 8, 5, 2, 3, 4, 1), strict=True))
SIZES |= {"N_P": 0, "N_CQ": 0, "N_CDEP": 0, "N_LATE": 0, "STAGES": 3, "PAIRS": 1, "STIFF_ENTRIES": 8}
SIZES |= {"LIMBED": 1, "REACH_SIZE": 5, "LIMB_SIZE": 7, "PACKED_SIZE": 4, "N_LOOPED": 3, "TEAM_FACTORS": 6, "TEAM_RATES": 5}
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")


@cache
def library(lanes: int = 1) -> ctypes.CDLL:
    """The layout alone, compiled for made-up sizes, with what C says of enums and of the drive."""
    words = [word.upper() for enum in layout.ENUMS.values() for word in enum]
    fields = [f"offsetof(Drive, {f.name})" for f in layout.DRIVE.fields]
    text = [c_source.header(), *(f"#define {k} {n}" for k, n in SIZES.items())]
    text += layout.struct_text(layout.BALL)
    text += [(BACKENDS / "stepping" / "plant.h").read_text(encoding="ascii"), layout.layout_text(), layout.table_text()]
    text += [
        "SUPPLE_EXPORT long long supple_size(void) { return (long long)sizeof(Sim); }",
        f"SUPPLE_EXPORT const long long words[] = {{{', '.join(words)}}};",
        f"SUPPLE_EXPORT const long long drive[] = {{sizeof(Drive), {', '.join(fields)}}};",
        "SUPPLE_EXPORT const long long row = ROW;",
        "SUPPLE_EXPORT const Chosen chosen = " + layout.initialiser(layout.CHOSEN, CHOSEN) + ";",
    ]
    return ctypes.CDLL(str(shared_library("\n".join(text) + "\n", (f"-DSUPPLE_LANES={lanes}",))))


CHOSEN = {"free_v": [7, 6, 5, 4, 3], "closure_row": (2, 1, 0), "balls": [(5, -1, 2)]}


def numbers(name: str, count: int) -> list[int]:
    return list((ctypes.c_longlong * count).in_dll(library(), name))


def aligned(lanes: int) -> dict[str, tuple[int, int]]:
    """First byte and length of every field by the rule that a field begins at a multiple of its alignment."""
    scalars = {"int": 4, "long long": 8, "double": 8, "real": 8 * lanes}
    made: dict[str, tuple[int, int]] = {}

    def count(words: tuple[str, ...], least: int) -> int:
        known = {**SIZES, **{k: v for k, (v, _) in layout.CONSTANTS.items()}, "N_UNKNOWN": SIZES["N_FREE"]}
        product = 1
        for word in words:
            product *= max(least, eval(re.sub(r"[A-Z_]+", lambda m: str(known[m[0]]), word)))
        return product

    def place(struct: layout.Struct, at: int, prefix: str) -> tuple[int, int]:
        begin, widest = at, 1
        for f in struct.fields:
            inner = layout.STRUCTS.get(f.kind)
            size, width = (scalars[f.kind],) * 2 if inner is None else extent(inner)
            at += -at % width
            if inner is None or f.size:
                made[prefix + f.name] = (at, count(f.size, 0) * size)
            else:
                place(inner, at, f"{prefix}{f.name}.")
            at, widest = at + count(f.size, 1) * size, max(widest, width)
        return at + -at % widest - begin, widest

    def extent(struct: layout.Struct) -> tuple[int, int]:
        kept = dict(made)
        found = place(struct, 0, "")
        made.clear()
        made.update(kept)
        return found

    made[""] = (0, place(layout.SIM, 0, "")[0])
    return made


@needs_compiler
@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_fields_are_where_the_rule_of_alignment_puts_them(lanes: int) -> None:
    found, wanted = Layout.of(library(lanes), lanes), aligned(lanes)
    assert found.size == wanted.pop("")[1]
    assert {k: (p.start, p.stop - p.start) for k, (p, _) in found.places.items()} == wanted


@needs_compiler
def test_ctypes_sees_the_drive_as_c_does() -> None:
    made = layout.ctypes_class(layout.DRIVE)
    fields = [getattr(made, f.name).offset for f in layout.DRIVE.fields]
    assert numbers("drive", 1 + len(fields)) == [ctypes.sizeof(made), *fields]


@needs_compiler
def test_words_of_enums_count_from_zero_and_rows_are_whole() -> None:
    counted = [i for enum in layout.ENUMS.values() for i in range(len(enum))]
    assert numbers("words", len(counted)) == counted
    assert numbers("row", 1) == [1 + SIZES["N_Q"] + SIZES["N_V"] + SIZES["N_TAU"] + SIZES["N_FREE"]]


@needs_compiler
def test_values_written_by_name_in_c_are_read_by_name_in_python() -> None:
    state = State(Layout.of(library(), 1))
    first = state._layout.places["chosen.free_v"][0].start
    last = state._layout.places["chosen.balls"][0].stop
    there = (ctypes.c_char * (last - first)).in_dll(library(), "chosen")
    state._bytes[first:last] = list(bytes(there))
    assert state["chosen.free_v"].tolist() == CHOSEN["free_v"]
    assert state["chosen.closure_row"].tolist() == [2, 1, 0] and state["chosen.balls"].tolist() == [5, -1, 2]
    assert not state["chosen.dependent_v"].any()


def test_every_field_of_the_state_is_used_in_c() -> None:
    text = "".join(p.read_text(encoding="ascii") for p in [*BACKENDS.glob("stepping/*.h"), *BACKENDS.rglob("robot.h")])
    unused = [f.name for s in layout.STRUCTS.values() for f in s.fields if not re.search(rf"(->|\.){f.name}\b", text)]
    assert not unused


def test_no_header_defines_what_is_generated() -> None:
    text = "".join(p.read_text(encoding="ascii") for p in BACKENDS.glob("stepping/*.h"))
    assert not set(re.findall(r"^} (\w+);", text, flags=re.M)) & set(layout.STRUCTS)
    words = {word.upper() for enum in layout.ENUMS.values() for word in enum} | set(layout.CONSTANTS)
    defined = re.findall(r"#define (\w+)", text) + re.findall(
        r"\w+", " ".join(re.findall(r"^enum \{(.*?)\}", text, re.M | re.S))
    )
    assert not words & set(defined)
    assert layout.layout_text() in plant_text.stepping_source(3)
