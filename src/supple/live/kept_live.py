"""Code of pages kept by question, so that a page is written again without deriving and printing its code."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.remembered import Answer, key_of, recalled, remember
from supple.results.scene import LiveModule, SceneLive

_MODULES = ("core", "hammer")


def kept_live(question: tuple[str, ...], asked: Any, make: Callable[[], SceneLive]) -> SceneLive:
    """The SceneLive that answers a question of a robot and what is asked of it; made if it is not remembered. Without a
    question, or without the compiler of pages, it is made."""
    if not question or importlib.util.find_spec("ziglang") is None:
        return make()
    key = key_of("live", importlib.metadata.version("ziglang"), json.dumps(asked), *question)
    answer = recalled(key)
    if answer is not None:
        return _read(answer)
    made = make()
    remember(key, *_written(made))
    return made


def _written(made: SceneLive) -> tuple[dict[str, Any], dict[str, Any]]:
    arrays: dict[str, Any] = {}
    for name in _MODULES:
        module = getattr(made, name)
        if module is not None:
            arrays[name] = np.frombuffer(module.code, np.uint8)
            arrays |= {f"{name} {key}": x for key, x in module.arrays.items()}
    return {"about": made.about, "notices": made.notices}, arrays


def _read(answer: Answer) -> SceneLive:
    core, hammer = (_module(answer, name) for name in _MODULES)
    assert core is not None
    return SceneLive(core, hammer, answer.words["about"], tuple(answer.words["notices"]))


def _module(answer: Answer, name: str) -> LiveModule | None:
    if name not in answer.arrays:
        return None
    own = {key.removeprefix(f"{name} "): x for key, x in answer.arrays.items() if key.startswith(f"{name} ")}
    return LiveModule(answer.arrays[name].tobytes(), own)
