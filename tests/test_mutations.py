"""Robot files of the gallery, damaged at random: read, or refused in words. Never a traceback, never a hang."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from limits import limited

from supple.analyses.modes import modes
from supple.errors import RobotFileError, SuppleError
from supple.formulations.newton_euler import newton_euler
from supple.machine import GALLERY, gallery
from supple.model.model import Model
from supple.robot.assemble import assemble
from supple.robot.mechanism import Mechanism
from supple.robot.reader import describe_text

SMALL = ("bricard", "cantilever", "dualemps", "five_bar")
SECONDS = 60  # of computing for a single file, pose and modes included
LARGEST = 60  # coordinates of a robot whose modes are computed here

PLAIN = "0 -1 1 2.5 1e5 -1e-9 1e999 .inf .nan true null ~ base platform x -z revolute spherical E L q1 i n"
UNITS = "70 GPa|3 kg|-2 mm|5 Hz|30 deg|1/0|2*pi|sqrt(-1)|E*E|((|''|'a b'"
PARTS = "[]|{}|[1, 2]|[1, 2, 3]|[x, y]|{x: 1}|[[1, 0], [0, 1]]|{mass: 1}|&a [*a]"
WORDS = "mass body parent a joint count links legs platform q at axis elements value space vary"
SIZES = "0 1 2 1e-3 1e3 1e6 1e12 1e-12 1e29 1e-29 -1 0.5 pi/2 -pi/2 30 3"

SCALARS = st.one_of(
    st.sampled_from(PLAIN.split()),
    st.sampled_from(UNITS.split("|")),
    st.sampled_from(PARTS.split("|")),
    st.integers(-3, 12).map(str),
    st.floats(width=32).map(repr),
    st.text(max_size=8),
)
KEYS = st.one_of(st.sampled_from(WORDS.split()), st.text("abcxyz_/[]*&!", min_size=1, max_size=6))
NUMBERS = st.one_of(st.sampled_from(SIZES.split()), st.floats(-10, 10, width=16).map(repr))
WAYS = ("delete", "double", "swap", "value", "word", "key", "cut", "indent", "noise")


@st.composite
def damaged(draw: st.DrawFn, names: tuple[str, ...], ways: tuple[str, ...] = WAYS) -> str:
    """The text of a gallery file after one to three mutations."""
    text = (GALLERY / f"{draw(st.sampled_from(names))}.yaml").read_text(encoding="utf-8")
    for _ in range(draw(st.integers(1, 3))):
        text = mutated(draw, text, draw(st.sampled_from(ways)))
    return text


def mutated(draw: st.DrawFn, text: str, way: str) -> str:
    lines = text.splitlines()
    if not lines:
        return text
    i, j = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
    if way == "delete":
        del lines[i]
    elif way == "double":
        lines.insert(j, lines[i])
    elif way == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    elif way == "value":
        lines[i] = f"{lines[i].partition(':')[0]}: {draw(SCALARS)}"
    elif way == "word":
        lines[i] = replaced_word(draw, lines[i], draw(SCALARS))
    elif way == "number":
        spots = [m for m in re.finditer(r"(?<![\w.])\d+\.?\d*", text) if text[: m.start()].count("\n") > 5]
        spot = draw(st.sampled_from(spots)) if spots else None
        return f"{text[: spot.start()]}{draw(NUMBERS)}{text[spot.end() :]}" if spot else text
    elif way == "key":
        head, colon, tail = lines[i].partition(":")
        lines[i] = head[: len(head) - len(head.lstrip())] + draw(KEYS) + colon + tail
    elif way == "cut":
        return text[: draw(st.integers(0, len(text)))]
    elif way == "indent":
        lines[i] = " " * draw(st.integers(0, 6)) + lines[i].lstrip()
    else:
        at = draw(st.integers(0, len(text)))
        return text[:at] + draw(st.text(max_size=4)) + text[at:]
    return "\n".join(lines) + "\n"


def replaced_word(draw: st.DrawFn, line: str, value: str) -> str:
    """The line with one of its values (after a colon, comma or bracket) replaced."""
    marks = [k for k, c in enumerate(line) if c in ":,[{"]
    if not marks:
        return line
    start = draw(st.sampled_from(marks)) + 1
    stop = min((k for k in range(start, len(line)) if line[k] in ",]}"), default=len(line))
    return f"{line[:start]} {value}{line[stop:]}"


def mechanism_of(text: str) -> Mechanism | None:
    """The mechanism of a text, or None if it is refused as a user can understand."""
    try:
        return assemble(describe_text(text, "robot.yaml"))
    except RobotFileError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.startswith("robot.yaml:"), problem
            assert int(problem.split(":")[1]) >= 1
            assert len(problem.splitlines()) == 1 and problem.isprintable(), problem
    except SuppleError as error:
        assert str(error)
    return None


@pytest.mark.parametrize("part", range(4))
def test_a_damaged_file_is_read_or_refused(part: int) -> None:
    names = tuple(n for k, n in enumerate(gallery()) if k % 4 == part)

    @settings(
        max_examples=110,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(names))
    def run(text: str) -> None:
        with limited(SECONDS):
            mechanism_of(text)

    run()


@settings(max_examples=120, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(damaged(SMALL, ("number", "number", "number", "word", "delete")))
def test_a_damaged_robot_vibrates_or_says_why_not(text: str) -> None:
    with limited(SECONDS), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        mechanism = mechanism_of(text)
        if mechanism is None or mechanism.nv > LARGEST:
            return
        try:
            modes(Model(newton_euler(mechanism)), count=3)
        except SuppleError as error:
            assert len(str(error).splitlines()) == 1
