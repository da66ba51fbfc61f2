"""Optimised models kept by question, so that they are counted and printed without deriving them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from supple.expr.function import Array, Function
from supple.expr.passes import Optimised, Stage
from supple.expr.program import Program
from supple.expr.restored import restored, written
from supple.remembered import Answer, key_of, recalled, remember

Made = tuple[Optimised, Program | None]
Texts = Mapping[str, bytes]
_PARTS = ("prepare", "gather", "meet", "spread")
_PLACES = ("take", "put", "platform")


@dataclass(frozen=True)
class Kept:
    """What an optimised model costs, and itself once it is asked for: reading it takes longer than counting."""

    stages: tuple[Stage, ...]
    counts: Counter[str]
    legs: tuple[int, int] | None  # how many share one leg's code, operations then
    read: Callable[[], Made] = field(repr=False)

    @cached_property
    def made(self) -> Made:
        """The model, and the same with one leg's code for all legs, if it has one."""
        return self.read()


def kept_model(question: tuple[str, ...], make: Callable[[], Made]) -> Kept:
    """The optimised model that answers a question; made if it is not remembered. Without a question it is made."""
    key = key_of("model", *question) if question else ""
    answer = recalled(key) if key else None
    if answer is not None:
        words, known = answer.words, answer
        stages = tuple(Stage(name, Counter(counts), *sizes) for name, counts, *sizes in words["stages"])
        legs = tuple(words["legs"]) if words["legs"] else None
        return Kept(stages, Counter(words["counts"]), legs, lambda: _read(known) or make())
    made, program = make()
    if key:
        remember(key, *_written(made, program))
    return Kept(made.stages, made.function.counts, _legs(program), lambda: (made, program))


def kept_texts(question: tuple[str, ...], make: Callable[[], Texts]) -> Texts:
    """Printed files, by their names, that answer a question; made if they are not remembered."""
    key = key_of("texts", *question) if question else ""
    answer = recalled(key) if key else None
    if answer is not None:
        return {name: x.tobytes() for name, x in answer.arrays.items()}
    made = make()
    if key:
        remember(key, {}, {name: np.frombuffer(text, np.uint8) for name, text in made.items()})
    return made


def _legs(program: Program | None) -> tuple[int, int] | None:
    return None if program is None else (program.legs, program.operations)


def _written(made: Optimised, program: Program | None) -> tuple[dict[str, Any], dict[str, Array]]:
    functions: dict[str, Function] = {"model": made.function}
    words: dict[str, Any] = {
        "stages": [[s.name, dict(s.counts), s.operations, s.intermediates] for s in made.stages],
        "counts": dict(made.function.counts),
        "legs": _legs(program),
        "functions": {},
    }
    arrays: dict[str, Array] = {}
    if program is not None:
        functions |= {name: getattr(program, name) for name in _PARTS}
        words["program"] = [program.name, list(program.inputs.items()), list(program.outputs.items())]
        arrays["legs"] = program.constants
        for kind in _PLACES:
            words[kind] = list(getattr(program, kind))
            arrays |= {f"{kind} {name}": index for name, index in getattr(program, kind).items()}
    for name, f in functions.items():
        words["functions"][name], own = written(f)
        arrays |= {f"{name} {key}": x for key, x in own.items()}
    return words, arrays


def _read(answer: Answer) -> Made | None:
    words, arrays = answer.words, answer.arrays
    functions: dict[str, Any] = {}
    for name, own in words["functions"].items():
        f = restored(own, _beginning(arrays, name))
        if f is None:
            return None
        functions[name] = f
    stages = tuple(Stage(name, Counter(counts), *sizes) for name, counts, *sizes in words["stages"])
    made = Optimised(functions.pop("model"), stages)
    if "program" not in words:
        return made, None
    name, inputs, outputs = words["program"]
    parts: dict[str, Any] = {kind: {key: arrays[f"{kind} {key}"] for key in words[kind]} for kind in _PLACES}
    return made, Program(name, dict(inputs), dict(outputs), **functions, **parts, constants=arrays["legs"])


def _beginning(arrays: Mapping[str, Array], name: str) -> dict[str, Array]:
    return {key.removeprefix(f"{name} "): x for key, x in arrays.items() if key.startswith(f"{name} ")}
