"""`Reproduction`: what a paper prints beside what supple finds, number by number, with figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A number: where it is printed, what it is, as printed (None: not printed), ours (None: cannot be had), and why they
    differ."""

    where: str
    what: str
    printed: float | None
    ours: float | None
    unit: str = ""
    why: str = ""

    @property
    def difference(self) -> float | None:
        """Ours less printed, in its unit."""
        return None if self.printed is None or self.ours is None else self.ours - self.printed

    @property
    def relative(self) -> float | None:
        """The difference as a part of what is printed."""
        return None if self.difference is None or not self.printed else self.difference / abs(self.printed)


@dataclass(frozen=True)
class Picture:
    """A figure made again: its title, the words below it, and the picture itself (PNG)."""

    title: str
    words: str
    png: bytes = field(repr=False)


@dataclass(frozen=True)
class Section:
    title: str
    words: str = ""
    entries: tuple[Entry, ...] = ()
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """A paper made again; `seconds` of processor time it took; `files` that go with it (name -> text)."""

    name: str
    citation: str
    about: str
    sections: tuple[Section, ...]
    seconds: float
    files: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def entries(self) -> list[Entry]:
        return [e for s in self.sections for e in s.entries]

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines; pictures by their titles only."""
        return {
            "paper": self.name,
            "citation": self.citation,
            "seconds": self.seconds,
            "sections": [
                {
                    "title": s.title,
                    "words": s.words,
                    "numbers": [
                        {"where": e.where, "what": e.what, "unit": e.unit, "printed": e.printed, "ours": e.ours,
                         "difference": e.difference, "relative": e.relative, "why": e.why}
                        for e in s.entries
                    ],
                    "figures": [p.title for p in s.pictures],
                }
                for s in self.sections
            ],
        }  # fmt: skip
