"""What tells two mechanisms apart: all their numbers and words, exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from supple.robot.mechanism import Mechanism

_LEFT_OUT = ("about", "source", "pieces")  # words for readers, and what is drawn


def fingerprint(mechanism: Mechanism) -> str | None:
    """Digits that two mechanisms share only if everything derived from them is the same; None with symbols in them."""
    made = hashlib.sha256()
    try:
        for part in _parts(mechanism):
            made.update(part.encode())
            made.update(b"\0")
    except TypeError:
        return None
    return made.hexdigest()


def _parts(x: Any) -> Iterator[str]:
    """Words of which the same sequence comes of the same record only."""
    if isinstance(x, np.ndarray):
        yield f"array {x.shape}"
        if x.dtype == object:
            for entry in x.ravel():
                yield _word(entry)
        else:
            yield f"{x.dtype} {x.tobytes().hex()}"
    elif is_dataclass(x):
        yield type(x).__name__
        for field in fields(x):
            if not (isinstance(x, Mechanism) and field.name in _LEFT_OUT):
                yield from _parts(getattr(x, field.name))
    elif isinstance(x, Mapping):
        yield f"mapping {len(x)}"
        for key, value in x.items():
            yield f"key {key}"
            yield from _parts(value)
    elif isinstance(x, (tuple, list)):
        yield f"list {len(x)}"
        for value in x:
            yield from _parts(value)
    else:
        yield _word(x)


def _word(x: Any) -> str:
    """A number or a word, with its kind; raises TypeError for anything else."""
    if isinstance(x, (bool, int, str, Fraction, slice)) or x is None:
        return f"{type(x).__name__} {x}"
    if isinstance(x, (float, np.floating)):
        return f"float {float(x)!r}"
    if isinstance(x, np.integer):
        return f"int {x}"
    raise TypeError(f"{type(x).__name__} is no number")
