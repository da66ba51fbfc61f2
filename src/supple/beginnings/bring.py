"""A robot of another program as the text of a robot file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from supple.beginnings.record import Brought, added
from supple.beginnings.symoro import read_par
from supple.beginnings.tables import read_tables
from supple.beginnings.urdf import read_urdf
from supple.beginnings.written import commented, dumped
from supple.errors import SuppleError
from supple.robot.reader import describe_text
from supple.robot.yaml_tree import printable


def bring(
    file: Path, *, loops: Path | None = None, beams: Path | None = None, count: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> tuple[str, list[str]]:  # fmt: skip
    """The text of a robot file, which is sound, and what is missing in words.

    loops: a file with parts to add, as in a robot file; beams and count: of tables; settings: values of symbols."""
    suffix, given = file.suffix.lower(), dict(settings or {})
    if suffix != ".csv" and (beams is not None or count is not None):
        raise SuppleError("--beams and --count are of tables (.csv)")
    made: Brought
    if suffix == ".par":
        made = read_par(file, given)
    elif suffix in (".urdf", ".xml"):
        if given:
            raise SuppleError("--set gives values to symbols; URDF has none")
        made = read_urdf(file)
    elif suffix == ".csv":
        made = read_tables(file, beams, given, count)
    else:
        raise SuppleError(f"{printable(str(file))}: is read from .par (SYMORO), .urdf or .csv")
    if loops is not None:
        made = added(made, loops, leg=count is not None)
    head = [f"Brought over from {printable(file.name)}. Missing:", *(f"- {printable(m, 110)}" for m in made.missing)]
    text = commented(dumped(made.robot), "\n".join(head))
    describe_text(text, "robot.yaml")
    return text, made.missing
