"""Functions of a mechanism as tapes, by their names, and what was computed with them: remembered, or made and then
remembered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.backends.tape import Tape
from supple.expr.function import Function
from supple.expr.stored import Stored, stored
from supple.expr.uncollected import uncollected
from supple.formulations import registry
from supple.remembered import Answer, key_of, recalled, remember
from supple.robot.mechanism import Mechanism

_LARGE = 100  # coordinates from which on linear algebra takes longer than a look at what is remembered


@dataclass(frozen=True)
class Memory:
    """Where the Functions of one mechanism in one formulation are kept. Without a question nothing is."""

    question: tuple[str, ...] = ()
    size: int = 0  # coordinates of the mechanism
    loaded: dict[str, Tape] = field(default_factory=dict, compare=False)

    @property
    def known(self) -> bool:
        """Whether these equations were derived before, so that they can be."""
        return bool(self.question) and recalled(key_of("derived", *self.question)) is not None

    def note(self) -> None:
        """Remember that these equations can be derived."""
        if self.question:
            remember(key_of("derived", *self.question), {})

    def tape(self, name: str, make: Callable[[], Function]) -> Tape:
        """The Function of that name, which is always the same for a mechanism and a formulation."""
        if name not in self.loaded:
            self.loaded[name] = Tape(self._stored(name, make))
        return self.loaded[name]

    def kept(self, name: str, details: str, make: Callable[[], Answer]) -> Answer:
        """What was computed about the mechanism, by a name and all else that it depends on; made if it is not remembered."""
        if not self.question:
            return make()
        key = key_of(name, details, *self.question)
        found = recalled(key)
        if found is None:
            found = make()
            remember(key, found.words, found.arrays)
        return found

    def solved(self, name: str, asked: tuple[Any, ...], make: Callable[[], Answer]) -> Answer:
        """What takes long to solve for a large mechanism, by a name and the numbers and words that it depends on."""
        return make() if self.size < _LARGE else self.kept(name, _digits(asked), make)

    def number(self, name: str, make: Callable[[], int | None]) -> int | None:
        """A number that belongs to the mechanism, or None if it has none; made if it is not remembered."""
        found: int | None = self.kept(name, "", lambda: Answer({"number": make()}, {})).words["number"]
        return found

    @uncollected()
    def _stored(self, name: str, make: Callable[[], Function]) -> Stored:
        if not self.question:
            return stored(make())
        key = key_of("function", name, *self.question)
        answer = recalled(key)
        found = None if answer is None else Stored.of(answer.words, answer.arrays)
        if found is None:
            found = stored(make())
            remember(key, found.words(), found.arrays())
        return found


def memory_of(mechanism: Mechanism, digits: str | None, formulation: str) -> Memory:
    """The Memory of a mechanism and its fingerprint; an empty one without one (there are symbols in it), or if the
    formulation is not of this house."""
    own = registry.own(formulation)
    return Memory((formulation, digits), mechanism.nv) if digits is not None and own else Memory()


def _digits(asked: tuple[Any, ...]) -> str:
    """Digits of numbers, to the last bit, and words."""
    made = hashlib.sha256()
    for x in asked:
        word = f"{x.shape} {x.dtype} {x.tobytes().hex()}" if isinstance(x, np.ndarray) else repr(x)
        made.update(word.encode() + b"\0")
    return made.hexdigest()
