"""Plants as plain records, to be kept in files: all but their Functions, which compiled integrators have inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.backends.compiler import compiler_mark, library
from supple.backends.stepping import plant as records
from supple.backends.stepping.plant import Plant
from supple.backends.stepping.stepper import Stepper
from supple.expr.function import Function
from supple.expr.program import Program
from supple.remembered import Array, key_of, recalled, remember

_FUNCTION, _RECORD, _TUPLE, _ARRAY = "function", "record", "tuple", "array"


def stepper_of(question: tuple[str, ...], make: Callable[[], Plant], lanes: int) -> Stepper:
    """The Stepper of the plant that answers a question; made only if it is not remembered. Without a question it is made."""
    if not question:
        return Stepper(make(), lanes)
    key = key_of("stepper", str(lanes), compiler_mark(), *question)
    answer = recalled(key)
    if answer is not None:
        paths = [library(name) for name in answer.words["libraries"]]
        plant = unsealed(answer.words["plant"], answer.arrays)
        if isinstance(plant, Plant) and None not in paths:
            return Stepper(plant, lanes, [path for path in paths if path is not None])
    made = Stepper(make(), lanes)
    arrays: dict[str, Array] = {}
    with suppress(TypeError):  # a record that is not known here is not kept
        words = {"plant": sealed(made.plant, arrays), "libraries": [_key(path) for path in made.paths]}
        remember(key, words, arrays)
    return made


def _key(path: Path) -> str:
    return path.name.partition("-")[0]


def sealed(x: Any, arrays: dict[str, Array]) -> Any:
    """A record of `plant.py` as JSON has it; arrays are added to `arrays`, Functions only leave their names."""
    if isinstance(x, (Function, Program)):
        return {_FUNCTION: x.name}
    if isinstance(x, np.ndarray):
        name = f"{_ARRAY}{len(arrays)}"
        arrays[name] = x.astype(float) if x.dtype == object else x
        return {_ARRAY: name}
    if is_dataclass(x) and not isinstance(x, type):
        return {_RECORD: type(x).__name__, **{f.name: sealed(getattr(x, f.name), arrays) for f in fields(x)}}
    if isinstance(x, tuple) and (names := getattr(x, "_fields", ())):
        return {_RECORD: type(x).__name__, **{name: sealed(getattr(x, name), arrays) for name in names}}
    if isinstance(x, (tuple, list)):
        return {_TUPLE: [sealed(value, arrays) for value in x]}
    if isinstance(x, np.generic):
        return x.item()
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    raise TypeError(f"a plant with a {type(x).__name__} in it cannot be kept")


def unsealed(x: Any, arrays: Mapping[str, Array]) -> Any:
    """What `sealed` was given; in place of Functions, ones of the same name that compute nothing."""
    if not isinstance(x, dict):
        return x
    if _FUNCTION in x:
        return Function(x[_FUNCTION], {}, {})
    if _ARRAY in x:
        return arrays[x[_ARRAY]]
    if _TUPLE in x:
        return tuple(unsealed(value, arrays) for value in x[_TUPLE])
    kind = getattr(records, x[_RECORD])
    return kind(**{name: unsealed(value, arrays) for name, value in x.items() if name != _RECORD})
