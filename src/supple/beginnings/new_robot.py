"""New robot files: a robot of the gallery as a template, with dimensions of one's own and comments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from supple.beginnings.written import commented
from supple.errors import SuppleError
from supple.machine import Machine, locate
from supple.robot.reader import describe_text
from supple.robot.yaml_tree import printable

KINDS = {
    "3prr": "3prr", "3rrr": "3rrr", "five_bar": "five_bar", "delta": "delta", "hexa": "hexa", "triglide": "triglide",
    "gough": "gough_stewart_flexible", "serial": "serial_arm", "cantilever": "cantilever",
}  # fmt: skip


def new_robot(kind: str, name: str, settings: Mapping[str, Any] | None = None) -> str:
    """The text of a robot file of a kind, its parameters set (numbers in SI, or text with a unit)."""
    if kind not in KINDS:
        raise SuppleError(f"there is no kind {printable(kind)!r}; choose one of {', '.join(KINDS)}")
    text = locate(KINDS[kind]).read_text(encoding="utf-8")
    known = Machine.read(KINDS[kind]).description.parameters
    for key, value in (settings or {}).items():
        if key not in known:
            raise SuppleError(f"{kind} has no dimension {printable(key)!r}; it has: {', '.join(known)}")
        text = _set(text, key, value)
    safe = re.sub(r"[^A-Za-z0-9_.\-]", "_", name)[:60] or "robot"
    text = re.sub(r"\Aname: .*\n", f"name: {safe}\n", text)
    source = f"source: Begun with `supple new {kind}`; all numbers are to be made your own.\n"
    text = re.sub(r"^source: >\n(  .*\n)+", source, text, count=1, flags=re.M)  # fmt: skip
    head = (
        f"Begun with `supple new {kind}`. Look at it: supple show {safe}.yaml --open\n"
        "Change a number here or by --set NAME=VALUE; units are written with the numbers.\n"
        "Every key is described in the reference of the robot file."
    )
    made = commented(text, head)
    describe_text(made, f"{safe}.yaml")
    return made


def _set(text: str, key: str, value: Any) -> str:
    """A parameter's line with another value."""
    written = printable(str(value))
    if re.search(r"[{}#\n'\"\[\]]", written):
        raise SuppleError(f"{key}={written}: is no number with a unit")
    line = re.compile(rf"^(  {re.escape(key)}: )(?:\{{value: [^,}}]+|[^{{\n]+)", re.M)
    return line.sub(lambda m: m[1] + (f"{{value: {written}" if "{" in m[0] else written), text, count=1)
