"""Words of a robot file made safe for every language: identifiers, file names and comments.

Nothing of a robot file reaches generated text but through here or `Names`: identifiers are ASCII letters, digits
and inner underscores, so that words of ours that begin or end with an underscore never meet them; comments are one
line of plain ASCII without any character that ends a comment, a string or a line in one of the languages.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path

from supple.backends.c_source import RESERVED, Names, looks_like_macro
from supple.backends.package import Package

_STEM = 40  # characters of the name of a model; MATLAB allows 63 with what is added
_MACRO = 63  # characters of a name that C99 promises to tell apart
_SHOWN = 72  # characters of a name in a comment
_SPELT = {"μ": "u", "·": ".", "⋅": ".", "°": "deg", "Ω": "Ohm", "%": "percent", "×": "x", "⁄": "/", "−": "-"}
_UNSAFE = re.compile(r"[^A-Za-z0-9 _+.,:;=()\[\]<>^'|~!@&#/*-]")
_MODELINE = re.compile(r"(?i)\b(vi|vim[0-9<>=]*|ex|local variables)\s*:")  # orders to an editor


@cache
def reserved(language: str) -> frozenset[str]:
    """Words no identifier of `language` may be."""
    if language == "c":
        return RESERVED
    lists: dict[str, str] = tomllib.loads((Path(__file__).parent / "reserved.toml").read_text(encoding="ascii"))
    return frozenset(lists[language].split())


def spelt(text: str) -> str:
    """`text` in ASCII as far as letters have an ASCII form: é is e, ² is 2, µ is u."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(_SPELT.get(c, c) for c in letters if not unicodedata.combining(c))


def harmless(text: str, length: int = _SHOWN) -> str:
    """`text` as it may stand in a comment or between double quotes of any language."""
    line = " ".join(_UNSAFE.sub("_", " ".join(spelt(text[: 4 * length]).split())).split())
    line = _MODELINE.sub(r"\1_", re.sub(r"\*(?=/)|/(?=\*)", r"\g<0> ", line)).replace("-*-", "-_-")
    return line if len(line) <= length else line[: length - 3] + "..."


def word(text: str, length: int = _STEM) -> str:
    """`text` in letters, digits and underscores, cut to `length`; may be empty."""
    return re.sub(r"[^A-Za-z0-9]+", "_", spelt(text[: 4 * length])).strip("_")[:length].rstrip("_")


def stem(package: Package) -> str:
    """ROBOT_MODEL: the name of the package's function and files, safe in every language and on every disk."""
    model = word(package.model, _STEM - 12) or "model"
    robot = word(package.robot, _STEM - 1 - len(model)) or "robot"
    name = model if model.lower().startswith(f"{robot.lower()}_") else f"{robot}_{model}"
    if name[0].isdigit() or name.lower().startswith("supple") or name.startswith("FP_"):
        name = f"robot_{name}"[:_STEM].rstrip("_")
    if looks_like_macro(name):
        name = name.lower()
    taken = frozenset().union(*(reserved(x) for x in ("c", "python", "matlab", "rust", "files")))
    # int32_t and its kind are types of C
    clash = name in taken or name.lower() in taken or name.lower().endswith("_t")
    return f"{name[: _STEM - 6].rstrip('_')}_model" if clash else name


def prefix(package: Package) -> str:
    """ROBOT: what the macros of a C header begin with."""
    robot = word(package.robot, 24).upper() or "ROBOT"
    foreign = robot[0].isdigit() or robot.startswith("SUPPLE") or robot.split("_")[0] in reserved("macros")
    return f"ROBOT_{robot}" if foreign else robot


def macros() -> Names:
    """Unique names in capitals, such as the macros of one C header."""
    return Names(RESERVED, _MACRO, capitals=True)


def element_words(name: str, labels: tuple[str, ...]) -> list[str]:
    """SIGNAL_LABEL of each element, or SIGNAL_INDEX where the label has no letters; not yet unique."""
    return [f"{word(name) or 'v'}_{word(label) or i}" for i, label in enumerate(labels)]
