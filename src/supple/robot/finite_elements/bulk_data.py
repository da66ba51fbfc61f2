"""Nastran's bulk data (.bdf): its GRIDs, coordinate systems and solid elements, in narrow, wide or free fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from supple.errors import SuppleError
from supple.robot.finite_elements.coordinate_systems import Definition, Grid, Systems
from supple.robot.named_files import checked_file

_INCLUDES = 8  # files within files within files
_CARDS = re.compile(r"(GRID|GRDSET|CORD[12][RCS])(?=[\s,*]|$)|BEGIN\s+(?:BULK\s+)?SUPER|CORD3G", re.IGNORECASE)
_SOLIDS = re.compile(r"(CTETRA|CHEXA|CPENTA|CPYRAM?)(?=[\s,*]|$)", re.IGNORECASE)


@dataclass(frozen=True)
class _Card:
    name: str
    fields: list[str]  # after the name, blanks taken away
    where: str


def read_grids(path: Path) -> Systems:
    """The GRIDs and coordinate systems of a bulk data file and of the files it includes."""
    grids: dict[int, tuple[list[str], str]] = {}
    definitions: dict[int, Definition] = {}
    default = [""] * 8
    for card in _cards(path, _CARDS):
        if card.name == "GRDSET":
            default = _padded(card.fields, 8)
        elif card.name == "GRID":
            grids[_whole(card, 0)] = (_padded(card.fields, 8), card.where)
        elif card.name.startswith("CORD1"):
            for start in (0, 4):
                if "".join(_padded(card.fields, 8)[start : start + 4]):
                    numbers = [_whole(card, start + k) for k in range(4)]
                    definitions[numbers[0]] = Definition(card.name[-1], 0, (), tuple(numbers[1:]))
        elif card.name.startswith("CORD2"):
            values = [nastran_number(x or "0.", card.where) for x in _padded(card.fields, 11)[2:]]
            points = tuple(tuple(values[3 * k : 3 * k + 3]) for k in range(3))
            definitions[_whole(card, 0)] = Definition(card.name[-1], _whole(card, 1, 0), points)
        else:
            raise SuppleError(f"{card.where}: {card.name} is not read; write the whole model as one set of CORD1/2 and GRID")
    if not grids:
        raise SuppleError(f"{path.name}: holds no GRID")
    return Systems(definitions, {n: _grid(texts, default, where) for n, (texts, where) in grids.items()}, path.name)


def read_solids(path: Path) -> list[tuple[str, list[int]]]:
    """Names and nodes of the solid elements: CTETRA, CHEXA, CPENTA and CPYRAM."""
    made = []
    for card in _cards(path, _SOLIDS):
        given = [k for k in range(2, len(card.fields)) if card.fields[k]]
        made.append((card.name, [_whole(card, k) for k in given]))
    return made


def _grid(texts: list[str], default: list[str], where: str) -> Grid:
    x, y, z = (nastran_number(t or "0.", where) for t in texts[2:5])
    systems = [_Card("GRID", [texts[k] or default[k] or "0"], where) for k in (1, 5)]
    return Grid(_whole(systems[0], 0), (x, y, z), _whole(systems[1], 0))


def _padded(fields: list[str], count: int) -> list[str]:
    return (fields + [""] * count)[:count]


def _whole(card: _Card, at: int, blank: int | None = None) -> int:
    text = _padded(card.fields, at + 1)[at]
    if not text and blank is not None:
        return blank
    if not re.fullmatch(r"[-+]?\d{1,15}", text):
        raise SuppleError(f"{card.where}: {card.name} needs a whole number")
    return int(text)


def nastran_number(text: str, where: str) -> float:
    """A number as Nastran writes it: 1.0E+5, 1.0+5 or 1.0D+5."""
    plain = re.sub(r"(?<=[0-9.])([-+]\d+)$", r"E\1", re.sub("[Dd]", "E", text.strip()))
    try:
        return float(plain)
    except ValueError as error:
        raise SuppleError(f"{where}: a number is broken; the file is cut off or damaged") from error


# Lines to cards -----------------------------------------------------------------------------------------------------------


def _cards(path: Path, wanted: re.Pattern[str]) -> Iterator[_Card]:
    """The cards that are read, each with the fields of its continuations."""
    card: _Card | None = None
    for line, where in _lines(path, path):
        found = wanted.match(line)
        if found is None and card is not None and line[:1] in "+* ,":
            card.fields.extend(_fields(line))
            continue
        if card is not None:
            yield card
        card = None if found is None else _Card(" ".join(found[0].upper().split()), _fields(line), where)
    if card is not None:
        yield card


def _fields(line: str) -> list[str]:
    """The eight fields of a line (four of a wide one), without its name and its continuation mark."""
    if "," in line:
        parts = [x.strip() for x in line.split(",")]
        count = 4 if "*" in parts[0] else 8
        return _padded(parts[1:], count) if len(parts) <= count + 2 else parts[1:]  # some write long cards on one line
    wide = "*" in line[:8]
    size, count = (16, 4) if wide else (8, 8)
    return [line[8 + size * k : 8 + size * (k + 1)].strip() for k in range(count)]


def _lines(path: Path, main: Path, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Lines of the bulk data with something on them, tabs spread out, those of included files in their place."""
    lines = checked_file(path).read_text(encoding="latin-1").split("\n")
    begins = [k for k, line in enumerate(lines) if re.match(r"\s*BEGIN\s+BULK", line, re.IGNORECASE)]
    at = begins[0] + 1 if begins else 0
    while at < len(lines):
        line = lines[at].split("$")[0].rstrip().expandtabs(8)
        at += 1
        where = f"{path.name}:{at}"
        if line.strip().upper().startswith("ENDDATA"):
            return
        if re.match(r"\s*INCLUDE\b", line, re.IGNORECASE):
            while at < len(lines) and line.count("'") % 2:  # a name in quotes may go on
                line += lines[at].strip()
                at += 1
            if depth >= _INCLUDES:
                raise SuppleError(f"{where}: files include each other more than {_INCLUDES} deep")
            yield from _lines(_included(line, path, main, where), main, depth + 1)
        elif line.strip():
            yield line, where


def _included(line: str, path: Path, main: Path, where: str) -> Path:
    """The file an INCLUDE names, from the folder of the file it stands in or of the whole deck."""
    name = re.sub(r"^\s*INCLUDE\s*|['\"]", "", line, flags=re.IGNORECASE).strip().replace("\\", "/")
    found = [p for p in (path.parent / name, main.parent / name) if p.is_file()]
    if not found:
        raise SuppleError(f"{where}: the file to include is not there")
    return found[0]
