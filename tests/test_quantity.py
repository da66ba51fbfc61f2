"""Numbers with units: exact decimals, precedence, dimensions, and refusals in words."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import supple
from supple.robot.quantity import (
    Quantity,
    QuantityError,
    Value,
    dimension_text,
    evaluate,
    names_in,
    parse,
)
from supple.robot.units import DIMENSIONS, NONE, UNITS

SOURCE = Path(supple.__file__).parent
SCOPE = {"L": Value(Fraction(3), DIMENSIONS["length"]), "k": Value(2, None)}


def value(text: Any) -> Value:
    return evaluate(parse(text), SCOPE)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("1.5E2", 150),
        ("-2^2", -4),
        ("(-2)^2", 4),
        ("2^-1", Fraction(1, 2)),
        ("2**3", 8),
        ("2^3^2", 512),
        ("--2", 2),
        ("+2", 2),
        ("2 - -2", 4),
        ("1 - 2 - 3", -4),
        ("12/3/2", 2),
        ("2*3 + 4*5", 26),
        ("2*(3 + 4)*5", 70),
        ("1/2 k", 1),
        ("2 k", 4),
        ("2(3)", 6),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("sqrt(4/9)", Fraction(2, 3)),
        ("sqrt(1e-34)", Fraction(1, 10**17)),
        ("sin(30 deg)", Fraction(1, 2)),
        ("cos(pi/2)", 0),
        ("sin(pi)", 0),
        ("tan(45 deg)", 1),
    ],
)
def test_numbers_are_exact(text: str, number: Any) -> None:
    assert value(text).number == number
    assert value(text).dimension in (None, NONE)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2 pi", 2 * math.pi),
        ("180 deg", math.pi),
        ("sqrt(2)", math.sqrt(2)),
        ("sin(1e-17)", 1e-17),
        ("atan(1)", math.pi / 4),
        ("acos(-1)", math.pi),
    ],
)
def test_rounded_numbers(text: str, number: float) -> None:
    assert float(value(text).number) == pytest.approx(number, rel=4e-16)


@pytest.mark.parametrize(
    ("text", "number", "dimension"),
    [
        ("70 GPa", 70 * 10**9, "pressure"),
        ("0.02 kg*m^2", Fraction(2, 100), "inertia"),
        ("4 mm", Fraction(4, 1000), "length"),
        ("4 mm^2", Fraction(4, 10**6), "area"),
        ("7850 kg/m^3", 7850, "density"),
        ("9.81 m/s^2", Fraction(981, 100), "acceleration"),
        ("2 N m", 2, "torque"),
        ("2 Nm", 2, "torque"),
        ("3 N/m", 3, "translational stiffness"),
        ("1 in", Fraction(254, 10000), "length"),
        ("2*L + 10 cm", Fraction(61, 10), "length"),
        ("L + 1", 4, "length"),  # a bare number takes the units beside it
        ("L/(3 s)", 1, "velocity"),
        ("L*L", 9, "area"),
        ("L^-1*L", 1, "number"),
        ("sqrt(L^2)", 3, "length"),
        ("3 rad/s", 3, "rate"),
        ("3 Hz", 3, "frequency"),
        ("-L", -3, "length"),
        ("5 percent", Fraction(5, 100), "number"),
    ],
)
def test_units_and_dimensions(text: str, number: Any, dimension: str) -> None:
    assert value(text).number == number
    assert value(text).dimension == DIMENSIONS[dimension]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("1 +", "ends too early"),
        ("(1", "parenthesis"),
        ("1)", "does not expect"),
        ("* 2", "does not expect"),
        ("1 $ 2", "cannot read"),
        ("70 Gpa", "did you mean 'GPa'"),
        ("2 furlong", "does not know 'furlong'"),
        ("1 m + 1 kg", "adds a length and a mass"),
        ("0 kg + 1 m", "adds a mass and a length"),
        ("1 Hz + 1 rad/s", "adds a frequency and a rate"),
        ("1/0", "divides by zero"),
        ("0^-1", "divides by zero"),
        ("1/(2 - 2)", "divides by zero"),
        ("2^0.5", "whole exponent"),
        ("2^13", "whole exponent"),
        ("2^(1 m)", "whole exponent"),
        ("sin(1 m)", "needs a plain number"),
        ("sqrt(-1)", "has no value"),
        ("acos(2)", "has no value"),
        ("1e999", "out of range"),
        ("1e-999", "out of range"),
        ("(((1e100^12)^12)^12)^12", "out of range"),
        ("((((3^12)^12)^12)^12)^12", "out of range"),
        ("9" * 400, "longer than"),
        ("(" * 60 + "1" + ")" * 60, "nested too deeply"),
        ("-" * 100 + "1", "nested too deeply"),
        ("1^" * 100 + "1", "nested too deeply"),
        (".nan", "finite"),
        ("-.inf", "finite"),
        ("nan", "finite"),
        ("__import__('os')", "cannot read"),
        ("٣", "cannot read"),  # an Arabic three: digits are 0 to 9
        ("1_000", "does not know"),
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (True, "needs a number"),
        (None, "needs a number"),
        ([1], "needs a number"),
    ],
)
def test_refusals_say_why(text: Any, word: str) -> None:
    with pytest.raises(QuantityError, match=re.escape(word)):
        value(text)


@pytest.mark.parametrize("raw", [3, 0.25, Fraction(1, 3), np.int64(3), np.float64(0.1), np.float32(0.5)])
def test_numbers_of_python_and_numpy(raw: Any) -> None:
    number = value(raw).number
    assert number == (raw if isinstance(raw, Fraction) else Fraction(str(raw)))
    assert isinstance(number, (int, Fraction))


@given(st.decimals(-(10**6), 10**6, allow_nan=False, places=6))
def test_decimals_are_never_rounded(number: Any) -> None:
    assert value(str(number)).number == Fraction(number)


@given(st.text(max_size=40) | st.text("0123456789.eE+-*/^() mkgLpi", max_size=40))
def test_any_text_is_a_value_or_a_refusal(text: str) -> None:
    try:
        found = value(text)
    except QuantityError as error:
        assert str(error).isprintable() and len(str(error)) < 200
    else:
        assert math.isfinite(found.number)


def test_a_quantity_is_read_once_and_knows_its_names() -> None:
    quantity = parse("2*L + k*rod - 3 mm*pi")
    assert isinstance(quantity, Quantity) and parse(quantity) is quantity
    assert names_in(quantity) == {"L", "k", "rod"}


def test_every_unit_has_a_dimension_in_words() -> None:
    for _, dimension in UNITS.values():
        assert re.fullmatch(r"an? [a-z ]+", dimension_text(dimension)), dimension
    assert dimension_text(value("1 kg*m/s^3").dimension) == "m kg s^-3"


FORBIDDEN = r"(?<![\w.])(eval|exec|__import__)\(|(import|from) pickle|pickle\.|shell=True|os\.system|yaml\.load\("


def test_nothing_in_the_source_runs_text() -> None:
    """No value of a robot file can reach Python or a shell: the ways there do not occur in the source."""
    found = [
        f"{file.relative_to(SOURCE)}:{number}: {line.strip()}"
        for file in SOURCE.rglob("*.py")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(FORBIDDEN, line)
    ]
    assert not found
