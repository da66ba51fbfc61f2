"""Habits of the C text that is written by hand: functions that fit on a screen, found by counting braces."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from supple.backends.assembly import registers
from supple.backends.compiler import find_compiler, macros
from supple.backends.stepping.plant_text import plant_source
from supple.machine import Machine
from supple.model.posture import posture
from supple.simulation.plants import plant

SOURCE = Path(__file__).parents[1] / "src" / "supple"
BACKENDS = SOURCE / "backends"
LONGEST = 60  # lines of a function, from its first word to its closing brace
FILES = sorted([*SOURCE.rglob("*.h"), *SOURCE.rglob("*.c")])

_UNSEEN = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)


def functions(text: str) -> dict[str, int]:
    """Names of the functions of a C text, and how many lines each has; comments, strings and directives hide no brace."""
    bare = _UNSEEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    found: dict[str, int] = {}
    depth, begin, after = 0, 0, 0  # `after`: where the text between functions begins
    for i, c in enumerate(bare):
        if c == "{":
            if depth == 0:
                begin = i
            depth += 1
        elif c == "}":
            depth -= 1
            assert depth >= 0, "a brace closes what was not opened"
            if depth == 0:
                head = re.split(r"\n[ \t]*\n", bare[after:begin])[-1].lstrip()  # what stands before an empty line is apart
                if head.rstrip().endswith(")"):
                    found[name_of(head)] = bare.count("\n", begin - len(head), i) + 1
                after = i + 1
        elif c == ";" and depth == 0:
            after = i + 1
    assert depth == 0, "a brace is left open"
    return found


def name_of(head: str) -> str:
    """The word before the parameters of a function, which may be the argument of a macro, as in STATUS(name)(...)."""
    level, i = 0, len(head.rstrip()) - 1
    while True:
        level += {")": 1, "(": -1}.get(head[i], 0)
        if level == 0:
            break
        i -= 1
    found = re.search(r"(\w+)\s*\)?\s*$", head[:i])
    assert found is not None, head
    return found[1]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_functions_fit_on_a_screen(path: Path) -> None:
    long = {name: n for name, n in functions(path.read_text(encoding="ascii")).items() if n > LONGEST}
    assert not long, f"functions above {LONGEST} lines: {long}"


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("count", [0, min(16, registers(macros(), 1))])
@pytest.mark.parametrize("robot", ["cantilever", "five_bar", "pacdrive"])
def test_integrators_compile_without_a_warning(robot: str, count: int, tmp_path: Path) -> None:
    """A macro that the equations define and a header defines anew would be one: the last one holds, silently otherwise."""
    model = Machine.read(robot).model()
    made = plant(model, posture(model), [model.names[i] for i in model.active])
    found, path = find_compiler(), tmp_path / "plant.c"
    path.write_text(plant_source(made, registers=count), encoding="ascii")
    flags = ["-std=c99", "-Wall", "-Werror", "-Wno-unused-function", "-DSUPPLE_LANES=1", "-fsyntax-only"]
    done = subprocess.run([*(found or ()), *flags, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_count_sees_what_braces_enclose() -> None:
    """Counted by hand: comments, strings, directives and initialisers are no functions and hide none."""
    text = (
        "static const int A[2] = {1, 2}; /* { */\n#define OPEN {\n"
        "static int one(int x)\n{\n    return x + '{' + *\"}\";\n}\n"
        "/* } */\nSTATUS(two)(\n    int x)\n{\n    if (x) {\n        x = 1;\n    }\n    return x;\n}\n"
        "int three(void) { return 3; }\n"
    )
    assert functions(text) == {"one": 4, "two": 8, "three": 1}


def test_there_is_something_to_count() -> None:
    names = {path.name for path in FILES}
    assert {"run.h", "recording.h", "robot.h", "fmi2.c", "real.h"} <= names
    assert "supple_run" in functions((BACKENDS / "stepping" / "run.h").read_text(encoding="ascii"))
