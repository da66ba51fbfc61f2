"""Universal files of measurements (UFF): datasets found, their texts and bytes; units of datasets 164 and 151.

Nothing is allocated or skipped because a header says so: what a header announces is compared with what the file holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.named_files import checked_file

LARGEST = 1_000_000_000  # bytes of a file of measurements
_MARK = re.compile(rb"^[ \t]*-1[ \t\r]*$", re.MULTILINE)
_AFTER = re.compile(rb"\s*-1[ \t\r]*(?:\n|$)")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")
_NO_BEGIN = "a dataset must begin with -1; this is no universal file, or a broken one"
_NOT_A_NUMBER = re.compile(r"(?i)nan|inf|\*{3}|#")


class Fault(ValueError):
    """What is wrong with a dataset, in words that hold nothing of the file."""


@dataclass(frozen=True)
class Dataset:
    """A dataset: its number, its lines of text, and its bytes if it is binary (58b)."""

    kind: int
    lines: list[str]
    data: bytes | None
    first: int  # line of the file on which lines[0] stands
    little: bool = True
    notice: str = ""


@dataclass(frozen=True)
class Units:
    """What one unit of length and of force of a file is in SI; `said`: whether the file says so."""

    length: float = 1.0
    force: float = 1.0
    said: bool = False


def datasets(path: Path) -> Iterator[Dataset]:
    """The datasets of a file, in order."""
    checked_file(path, LARGEST)
    content = path.read_bytes()
    at, line = 0, 1
    while (begin := _MARK.search(content, at)) is not None:
        if content[at : begin.start()].strip():
            raise SuppleError(f"{path.name}:{line}: {_NO_BEGIN}")
        line += content.count(b"\n", at, begin.end()) + 1
        start = _next_line(content, begin.end())
        stop = _next_line(content, start)
        head = content[start:stop].decode("latin-1")
        number = re.match(r"\s*(\d{1,6})(b?)", head)
        if number is None:
            raise SuppleError(f"{path.name}:{line}: the number of a dataset is missing; the file is cut off or broken")
        where = f"{path.name}:{line}: dataset {number[1]}{number[2]}"
        if number[2]:
            made, at = _binary(content, stop, head, line + 1, where)
        else:
            made, at = _text(content, stop, int(number[1]), line + 1, where)
        yield made
        line += content.count(b"\n", start, at)
    if content[at:].strip(b"\x00\x1a \t\r\n"):
        raise SuppleError(f"{path.name}:{line}: {_NO_BEGIN}")


def _next_line(content: bytes, at: int) -> int:
    found = content.find(b"\n", at)
    return len(content) if found < 0 else found + 1


def _text(content: bytes, start: int, kind: int, line: int, where: str) -> tuple[Dataset, int]:
    end = _MARK.search(content, start)
    if end is None:
        raise SuppleError(f"{where}: has no end (-1); the file is cut off")
    text = content[start : end.start()].decode("latin-1").rstrip()
    return Dataset(kind, [x.rstrip() for x in text.split("\n")], None, line), min(end.end() + 1, len(content))


def _binary(content: bytes, start: int, head: str, line: int, where: str) -> tuple[Dataset, int]:
    """A dataset 58b: lines of text, then bytes, as many as its own seventh line makes; the header's count is checked."""
    fields = [int(x) for x in re.findall(r"\d+", head.partition("b")[2])]
    if len(fields) < 4:
        raise SuppleError(f"{where}: does not say how long it is; write the file as text (58)")
    order, form, texts, announced = fields[:4]
    if order not in (1, 2) or form not in (1, 2) or texts != 11:
        raise SuppleError(f"{where}: its header is not that of IEEE numbers behind 11 lines; write the file as text (58)")
    if form != 2:
        raise SuppleError(f"{where}: holds DEC VMS numbers, which are not read; write IEEE or text (58)")
    lines, at = [], start
    for _ in range(texts):
        stop = _next_line(content, at)
        lines.append(content[at:stop].decode("latin-1").rstrip())
        at = stop
    try:
        size = announced_size(lines)
    except (Fault, IndexError, ValueError) as error:
        raise SuppleError(f"{where}: is broken: its lines of text do not say what the bytes are") from error
    notice = ""
    for true in dict.fromkeys((size, announced)):
        after = _AFTER.match(content, at + true) if at + true <= len(content) else None
        if after is not None:
            if true != size:
                raise SuppleError(f"{where}: holds {true} bytes, but its values need {size}; the file is broken")
            if announced != size:
                notice = f"{where}: its header announces {announced} bytes, its values have {size}; read by its values"
            return Dataset(58, lines, content[at : at + true], line, order == 1, notice), after.end()
    held = len(content) - at
    raise SuppleError(f"{where}: its header announces {size} bytes of values; the file holds {held} and no end behind them")


def announced_size(lines: list[str]) -> int:
    """Bytes of the values that the seventh line of a dataset 58 announces."""
    kind, count, spacing = integers(lines[6])[:3]
    widths = {2: 4, 4: 8, 5: 8, 6: 16}
    if kind not in widths or count < 0:
        raise Fault(f"values of type {kind}")
    abscissa = 0 if spacing == 1 else {2: 4, 4: 4, 5: 4, 6: 4}[kind]
    return count * (widths[kind] + abscissa)


def integers(line: str) -> list[int]:
    """Whole numbers at the beginning of a line."""
    made = []
    for word in line.split():
        if not re.fullmatch(r"[-+]?\d+", word):
            break
        made.append(int(word))
    return made


def floats(line: str) -> list[float]:
    """The numbers of a line, those that stand close together too."""
    if _NOT_A_NUMBER.search(line):
        raise Fault("a value is not a number (NaN, infinite or overflowed)")
    return [float(x.replace("D", "E").replace("d", "e")) for x in _NUMBER.findall(line)]


def numbers(lines: list[str]) -> Array:
    """All numbers of lines."""
    text = " ".join(lines)
    if _NOT_A_NUMBER.search(text):
        raise Fault("a value is not a number (NaN, infinite or overflowed)")
    words = _NUMBER.findall(text)
    if "D" in text or "d" in text:
        words = [w.replace("D", "E").replace("d", "e") for w in words]
    return np.array(words, dtype=float)


def units_of(dataset: Dataset) -> Units:
    """Units by dataset 164: the factors are units of the file per unit of SI."""
    factors = floats(dataset.lines[1])
    if len(factors) < 2 or not (1e-6 < factors[0] < 1e6 and 1e-9 < factors[1] < 1e9):
        raise Fault("no factors of length and force")
    return Units(1 / factors[0], 1 / factors[1], True)
