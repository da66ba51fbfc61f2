"""Optimised models kept by question, so that they are counted and printed without deriving them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from supple.expr.function import Array, Function
from supple.expr.passes import Optimised, Stage
from supple.expr.program import Program
from supple.expr.restored import restored, written
from supple.remembered import Answer, key_of, recalled, remember

Made = tuple[Optimised, Program | None]
_PARTS = ("prepare", "gather", "meet", "spread")
_PLACES = ("take", "put", "platform")


def kept_model(question: tuple[str, ...], make: Callable[[], Made]) -> Made:
    """The optimised model that answers a question, and the same with one leg's code for all legs, if it has one; made if it
    is not remembered. Without a question it is made."""
    if not question:
        return make()
    key = key_of("model", *question)
    answer = recalled(key)
    found = None if answer is None else _read(answer)
    if found is None:
        found = make()
        remember(key, *_written(*found))
    return found


def _written(made: Optimised, program: Program | None) -> tuple[dict[str, Any], dict[str, Array]]:
    functions: dict[str, Function] = {"model": made.function}
    words: dict[str, Any] = {
        "stages": [[s.name, dict(s.counts), s.operations, s.intermediates] for s in made.stages],
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
