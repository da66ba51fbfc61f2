"""What tells two mechanisms apart: all their numbers and words, exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from supple.robot.mechanism import Mechanism

_PLAIN = {bool, int, float, Fraction}
_LARGE = 1000  # numbers of an array of which those that are not zero count, with their places
_LEFT_OUT = ("about", "source", "pieces")  # words for readers, and what is drawn


def fingerprint(mechanism: Mechanism) -> str | None:
    """Digits that two mechanisms share only if everything derived from them is the same; None with symbols in them."""
    try:
        return _digest(mechanism, {})
    except TypeError:
        return None


def _digest(x: Any, known: dict[int, str]) -> str:
    """Digits of a record; those of one that stands in several places are computed once."""
    if id(x) not in known:
        made = hashlib.sha256(type(x).__name__.encode())
        for field in fields(x):
            if not (isinstance(x, Mechanism) and field.name in _LEFT_OUT):
                for part in _parts(getattr(x, field.name), known):
                    made.update(part.encode())
                    made.update(b"\0")
        known[id(x)] = made.hexdigest()
    return known[id(x)]


def _parts(x: Any, known: dict[int, str]) -> Iterator[str]:
    """Words of which the same sequence comes of the same content only."""
    if isinstance(x, np.ndarray):
        yield f"array {x.shape}"
        entries = x.ravel()
        if entries.size > _LARGE:  # bodies of many elements are zero nearly everywhere
            at = np.flatnonzero(entries != 0)
            yield repr(at.tolist())
            entries = entries[at]
        flat = entries.tolist()
        yield repr(flat) if {*map(type, flat)} <= _PLAIN else " ".join(_word(entry) for entry in flat)
    elif is_dataclass(x):
        yield _digest(x, known)
    elif isinstance(x, Mapping):
        yield f"mapping {len(x)}"
        for key, value in x.items():
            yield f"key {key}"
            yield from _parts(value, known)
    elif isinstance(x, (tuple, list)):
        yield f"list {len(x)}"
        for value in x:
            yield from _parts(value, known)
    else:
        yield _word(x)


def _word(x: Any) -> str:
    """A number or a word, with its kind; raises TypeError for anything else."""
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, (bool, int, float, str, Fraction, slice)) or x is None:
        return repr(x)
    raise TypeError(f"{type(x).__name__} is no number")
