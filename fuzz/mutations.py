"""Mutations of texts and bytes: what is left is often wrong, sometimes right, and always the same for the same chance.

Each takes a `random.Random`, the content, and other contents of the same format to take pieces from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

Mutation = Callable[[Random, bytes, Sequence[bytes]], bytes]

VALUES = tuple(
    str(json.loads(line)) for line in (Path(__file__).parent / "values.jsonl").read_text(encoding="utf-8").splitlines()
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_SHARP = tuple(bytes.fromhex(x) for x in ("00", "ff", "7f", "80", "0a", "0d", "2d", "00000000", "ffffffff", "ffffff7f"))


def text(chance: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One to three mutations of lines, words and numbers."""
    made = content.decode("utf-8", "surrogateescape")
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        made = chance.choice(_TEXT)(chance, made, others)
    return made.encode("utf-8", "surrogateescape")


def noise(chance: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One to eight mutations of bytes: flipped, overwritten, cut, doubled, moved."""
    made = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 1, 2, 4, 8))):
        if made:
            made = chance.choice(_BYTES)(chance, made)
    return bytes(made)


def _of_lines(change: Callable[[Random, list[str], Sequence[bytes]], None]) -> Callable[[Random, str, Sequence[bytes]], str]:
    def changed(chance: Random, made: str, others: Sequence[bytes]) -> str:
        lines = made.splitlines()
        if lines:
            change(chance, lines, others)
        return "\n".join(lines) + "\n"

    return changed


def _delete(chance: Random, lines: list[str], others: Sequence[bytes]) -> None:
    at = chance.randrange(len(lines))
    del lines[at : at + chance.choice((1, 1, 1, 2, 5))]


def _double(chance: Random, lines: list[str], others: Sequence[bytes]) -> None:
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))


def _swap(chance: Random, lines: list[str], others: Sequence[bytes]) -> None:
    i, j = (chance.randrange(len(lines)) for _ in range(2))
    lines[i], lines[j] = lines[j], lines[i]


def _value(chance: Random, lines: list[str], others: Sequence[bytes]) -> None:
    i = chance.randrange(len(lines))
    lines[i] = f"{lines[i].partition(':')[0]}: {chance.choice(VALUES)}"


def _part(chance: Random, lines: list[str], others: Sequence[bytes]) -> None:
    """One of the values of a line, which stands behind a colon, comma or bracket."""
    i = chance.randrange(len(lines))
    marks = [k for k, c in enumerate(lines[i]) if c in ":,[{"]
    if marks:
        start = chance.choice(marks) + 1
        stop = min((k for k in range(start, len(lines[i])) if lines[i][k] in ",]}"), default=len(lines[i]))
        lines[i] = f"{lines[i][:start]} {chance.choice(VALUES)}{lines[i][stop:]}"


def _indent(chance: Random, lines: list[str], others: Sequence[bytes]) -> None:
    i = chance.randrange(len(lines))
    lines[i] = " " * chance.randrange(9) + lines[i].lstrip()


def _borrowed(chance: Random, lines: list[str], others: Sequence[bytes]) -> None:
    """Lines of another file of the format."""
    foreign = chance.choice(others).decode("utf-8", "replace").splitlines() or [""]
    at = chance.randrange(len(foreign))
    lines[(i := chance.randrange(len(lines) + 1)) : i] = foreign[at : at + chance.choice((1, 2, 6))]


def _number(chance: Random, made: str, others: Sequence[bytes]) -> str:
    spots = list(_NUMBER.finditer(made))
    if not spots:
        return made
    spot = chance.choice(spots)
    new = chance.choice(
        ("0", "-1", "1", "2", "1e3", "1e-3", "1e12", "1e-12", "-" + spot[0].lstrip("-"), spot[0] + "0", "1e308")
    )
    return made[: spot.start()] + new + made[spot.end() :]


def _word(chance: Random, made: str, others: Sequence[bytes]) -> str:
    """A word takes the place of another."""
    words = list(_WORD.finditer(made))
    if not words:
        return made
    spot = chance.choice(words)
    return made[: spot.start()] + chance.choice(words)[0] + made[spot.end() :]


def _cut(chance: Random, made: str, others: Sequence[bytes]) -> str:
    return made[: chance.randrange(len(made) + 1)]


def _stray(chance: Random, made: str, others: Sequence[bytes]) -> str:
    at = chance.randrange(len(made) + 1)
    width = chance.choice((0, 0, 1, 3))
    return (
        made[:at] + chance.choice((*VALUES, ":", "-", "[", "}", '"', "#", "\t", "\r", "\ufeff", "\x00")) + made[at + width :]
    )


_TEXT: tuple[Callable[[Random, str, Sequence[bytes]], str], ...] = (
    *map(_of_lines, (_delete, _double, _swap, _value, _part, _part, _indent, _borrowed)),
    _number, _number, _word, _cut, _stray,
)  # fmt: skip


def _flip(chance: Random, made: bytearray) -> bytearray:
    made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return made


def _overwrite(chance: Random, made: bytearray) -> bytearray:
    new, at = chance.choice(_SHARP), chance.randrange(len(made))
    made[at : at + len(new)] = new
    return made


def _word_of_four(chance: Random, made: bytearray) -> bytearray:
    """A whole number at a multiple of four, where binary files have theirs."""
    at = chance.randrange(0, len(made), 4)
    value = chance.choice((0, 1, -1, 2**31 - 1, -(2**31), 7, 255, 65536, chance.randrange(2**31)))
    made[at : at + 4] = value.to_bytes(4, chance.choice(("little", "big")), signed=True)
    return made


def _shorten(chance: Random, made: bytearray) -> bytearray:
    return made[: chance.randrange(len(made))]


def _take_out(chance: Random, made: bytearray) -> bytearray:
    at = chance.randrange(len(made))
    del made[at : at + chance.choice((1, 4, 8, 80, 1000))]
    return made


def _repeat(chance: Random, made: bytearray) -> bytearray:
    at, to = chance.randrange(len(made)), chance.randrange(len(made) + 1)
    made[to:to] = made[at : at + chance.choice((1, 4, 8, 80, 1000))]
    return made


_BYTES: tuple[Callable[[Random, bytearray], bytearray], ...] = (
    _flip, _flip, _overwrite, _word_of_four, _shorten, _take_out, _repeat,
)  # fmt: skip
