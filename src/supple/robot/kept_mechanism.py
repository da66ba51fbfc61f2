"""Mechanisms whose bodies take long to make (plates, refined until they stand still), kept by question."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from supple.remembered import Answer, key_of, recalled, remember
from supple.robot import mechanism as tree
from supple.robot.bodies import record as bodies
from supple.robot.link_bodies import Piece
from supple.robot.mechanism import Mechanism
from supple.robot.named_files import files_noted, note_files

_RECORDS: dict[str, Any] = {
    name: kind
    for room in (tree, bodies)
    for name, kind in vars(room).items()
    if isinstance(kind, type) and is_dataclass(kind)
}
_LEFT_OUT = "pieces"  # what bodies are made of; made again where somebody draws them


class _Later(Mapping[int, Piece]):
    """Pieces of a mechanism that is assembled when one of them is asked for."""

    def __init__(self, make: Callable[[], Mechanism]) -> None:
        self._make = make
        self._made: Mapping[int, Piece] | None = None

    def _all(self) -> Mapping[int, Piece]:
        if self._made is None:
            self._made = self._make().pieces
        return self._made

    def __getitem__(self, frame: int) -> Piece:
        return self._all()[frame]

    def __iter__(self) -> Iterator[int]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def kept_mechanism(question: tuple[str, ...], make: Callable[[], Mechanism]) -> Mechanism:
    """The mechanism that answers a question, made if it is not remembered; so are those whose files have changed."""
    key = key_of("mechanism", *question)
    answer = recalled(key)
    if answer is not None and all(file_digest(Path(path)) == known for path, known in answer.words["files"]):
        note_files(Path(path) for path, _ in answer.words["files"])
        return _restored(answer, make)
    with files_noted() as seen:
        made = make()
    with suppress(TypeError):  # a record that is not known here is not kept
        words = _packed(made)
        remember(key, {"files": [[str(path), file_digest(path)] for path in dict.fromkeys(seen)], "mechanism": words})
    return made


def file_digest(path: Path) -> str:
    """Digits of a file's content; none if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _restored(answer: Answer, make: Callable[[], Mechanism]) -> Mechanism:
    made = _unpacked({**answer.words["mechanism"], _LEFT_OUT: None})
    assert isinstance(made, Mechanism)
    object.__setattr__(made, _LEFT_OUT, _Later(make))
    return made


def _packed(x: Any) -> Any:
    """Records, arrays and numbers as JSON has them, exactly; fractions stay fractions."""
    if isinstance(x, np.ndarray):
        kind = "object" if x.dtype == object else x.dtype.str
        return {"array": [_packed(e) for e in x.ravel().tolist()], "shape": list(x.shape), "kind": kind}
    if is_dataclass(x) and type(x).__name__ in _RECORDS:
        named = {f.name: getattr(x, f.name) for f in fields(x) if f.name != _LEFT_OUT}
        return {"record": type(x).__name__, **{name: _packed(value) for name, value in named.items()}}
    if isinstance(x, Mapping):
        return {"mapping": [[_packed(k), _packed(v)] for k, v in x.items()]}
    if isinstance(x, tuple):
        return {"tuple": [_packed(value) for value in x]}
    if isinstance(x, slice):
        return {"slice": [x.start, x.stop]}
    if isinstance(x, Fraction):
        return {"fraction": str(x)}
    if isinstance(x, np.generic):
        return x.item()
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    raise TypeError(f"a mechanism with a {type(x).__name__} in it cannot be kept")


def _unpacked(x: Any) -> Any:
    if not isinstance(x, dict):
        return x
    if "array" in x:
        made = np.empty(len(x["array"]), dtype=np.dtype(x["kind"]))
        made[:] = [_unpacked(e) for e in x["array"]]
        return made.reshape(x["shape"])
    if "record" in x:
        return _RECORDS[x["record"]](**{name: _unpacked(value) for name, value in x.items() if name != "record"})
    if "mapping" in x:
        return {_unpacked(k): _unpacked(v) for k, v in x["mapping"]}
    if "tuple" in x:
        return tuple(_unpacked(value) for value in x["tuple"])
    if "slice" in x:
        return slice(*x["slice"])
    return Fraction(x["fraction"])
