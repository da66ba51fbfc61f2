"""The tour: DualEMPS checked, its natural frequencies beside the paper's, one mode drawn, and its circle simulated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from supple.api import Robot
from supple.backends.compiler import find_compiler
from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.machine import locate
from supple.results import Simulation
from supple.views.page import Line, Sheet, print_page
from supple.views.tables import check_page, modes_page, simulation_page

# Briot & Khalil 2014, table 3 (Hz), sliders held at q11 = q21 = 0.
PAPER = {
    "Adams": (14.41, 24.92, 49.78, 97.91, 110.86, 219.60),
    "paper's model": (14.22, 25.09, 48.22, 92.37, 109.08, 423.39),
    "measured": (14.00, 25.00, 48.00, 93.00, 108.00, 163.00),
}
POSE = {"q11": 0.0, "q21": 0.0}


def tour(folder: Path, quiet: bool = False) -> dict[str, Any]:
    """What the tour found; its files are left in `folder`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SuppleError(f"{folder}: no folder can be made there: {problem.strerror or problem}") from problem
    dualemps = Robot("dualemps")
    report = dualemps.check(POSE)
    result = dualemps.modes(POSE, count=6)
    picture, film = folder / "mode3.png", folder / "mode1.gif"
    result.plot(3, picture)
    result.plot(1, film)
    data = folder / "modes.json"
    written_whole(data, lambda file: file.write_text(json.dumps(result.to_json(), indent=2), encoding="utf-8"))
    robot = folder / "dualemps.yaml"
    written_whole(robot, lambda file: file.write_bytes(locate("dualemps").read_bytes()))
    files = [picture, film, data, robot]
    moved = _simulated(dualemps, folder)
    if moved is not None:
        files += [folder / "circle.nc", folder / "circle.png"]
    if not quiet:
        print_page([*check_page(report), *modes_page(result), _paper([float(f) for f in result.frequencies_hz])])
        print_page(
            [*(simulation_page(moved) if moved else ()), Line(f"Files in {folder}: {', '.join(p.name for p in files)}")]
        )
    return {
        "robot": "dualemps",
        "frequencies_hz": [float(f) for f in result.frequencies_hz],
        "paper": {k: list(v) for k, v in PAPER.items()},
        "simulated": None if moved is None else moved.summary,
        "files": [str(p) for p in files],
    }


def _simulated(robot: Robot, folder: Path) -> Simulation | None:
    """The paper's second trajectory, a circle; None where there is no C compiler."""
    if find_compiler() is None:
        return None
    result = robot.simulate("circle", output=folder / "circle.nc")
    result.plot(folder / "circle.png")
    return result


def _paper(ours: list[float]) -> Sheet:
    """The paper's frequencies and ours."""
    rows = [(name, *(f"{x:.2f}" for x in row)) for name, row in {**PAPER, "supple": tuple(ours)}.items()]
    columns = ("", *(f"f{k + 1}" for k in range(6)))
    return Sheet(columns, rows, "Table 3 of Briot & Khalil (2014), Hz", strong=(len(rows) - 1,))
