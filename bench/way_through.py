"""The way through the house: files passed, files read, mechanisms assembled and formulations derived by three commands.

    python bench/way_through.py                      # this tree
    PYTHONPATH=OTHER/src python bench/way_through.py # another one, for a comparison

A file counts if one of its functions runs (not if it is only imported). The C compiler's cache does not matter.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import supple
from supple.cli.main import main as command_line

SOURCE = str(Path(supple.__file__).parent)
METHODS = (
    "newton_euler", "lagrange", "lagrange_dalembert", "scdd", "platform_eliminated", "erls", "erls_compatible",
)  # fmt: skip
WALKS = (
    "modes gough_stewart_flexible --plot {folder}/mode.png",
    "simulate dualemps --motion square -o {folder}/square.nc",
    "generate dualemps --model inverse --target c -o {folder}/c",
)


def walked(command: str) -> tuple[set[str], Counter[str]]:
    """The files in which functions ran, and how often the stages of the chain did."""
    codes: Counter[CodeType] = Counter()

    def hear(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            codes[frame.f_code] += 1

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(hear)
        try:
            command_line(command.format(folder=folder).split(), standalone_mode=False)
        finally:
            sys.setprofile(None)
    files: set[str] = set()
    stages: Counter[str] = Counter()
    for code, calls in codes.items():
        if not code.co_filename.startswith(SOURCE) or code.co_name == "<module>":
            continue
        file = code.co_filename.removeprefix(SOURCE + "/")
        files.add(file)
        if file == "robot/yaml_tree.py" and code.co_name == "read_tree":
            stages["reads"] += calls
        if file == "robot/assemble.py" and code.co_name == "assemble":
            stages["assemblies"] += calls
        if file == f"formulations/{code.co_name}.py" and code.co_name in METHODS:
            stages["derivations"] += calls
    return files, stages


def main() -> None:
    print(f"{'command':62}{'files':>6}{'reads':>7}{'assemblies':>12}{'derivations':>13}")
    for command in WALKS:
        files, stages = walked(command)
        shown = command.replace("{folder}/", "")
        print(f"{shown:62}{len(files):6}{stages['reads']:7}{stages['assemblies']:12}{stages['derivations']:13}", flush=True)


if __name__ == "__main__":
    main()
