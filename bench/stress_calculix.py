"""A bar with a hole as a solid body of supple beside CalculiX (ccx): how loads at its end shift its frequencies.

CalculiX loads the clamped bar with *STATIC in a step with NLGEOM and finds the frequencies of the stressed bar in a step
with PERTURBATION. Needs ccx and supple[fe]; a minute. The numbers of CalculiX stand in tests/data/calculix_stress.json.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

from supple.analyses.modes import modes
from supple.machine import Machine
from supple.robot.finite_elements.calculix import run_ccx

E, NU, RHO = 2.1e11, 0.3, 7850.0
LENGTH, WIDTH, THICK, RADIUS = 0.4, 0.04, 0.004, 0.012
CASES = {"pressed": (-200.0, 0.0, 0.0), "pulled": (1000.0, 0.0, 0.0), "bent within its plane": (0.0, 300.0, 0.0)}
ROBOT = f"""
space: spatial
materials: {{steel: {{E: {E}, rho: {RHO}, nu: {NU}}}}}
bodies:
  bar:
    fe:
      file: bar.inp
      material: steel
      attachments: {{root: {{plane: {{x: 0}}}}, end: {{plane: {{x: {LENGTH}}}, tie: average}}}}
      root: root
      reduction: {{static: {{modes: 8}}}}
links:
  bar: {{parent: base, body: bar}}
points: {{end: {{link: bar, on: end}}}}
"""


def flat(fine: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and corners of quadrilaterals that fill the bar around its hole, in the plane."""
    half = WIDTH / 2
    blocks = []
    for k in range(4):  # four blocks around the hole, from its rim to a square
        for j in range(fine):
            for i in range(fine):
                blocks.append([_around(k, i + a, j + b, fine, half) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))])
    along = (LENGTH - WIDTH) / 2
    for x0 in (-LENGTH / 2, half):
        for i in range(2 * fine):
            for j in range(fine):
                corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
                blocks.append([(x0 + along * a / (2 * fine), -half + WIDTH * b / fine) for a, b in corners])
    places, number = np.unique(np.array(blocks).reshape(-1, 2).round(9), axis=0, return_inverse=True)
    return places + np.array([LENGTH / 2, 0.0]), number.reshape(-1, 4)


def _around(k: int, i: float, j: float, fine: int, half: float) -> tuple[float, float]:
    turn = np.pi / 2 * k + np.pi / 2 * (j / fine - 0.5)
    inner = RADIUS * np.array([np.cos(turn), np.sin(turn)])
    side = half * (2 * j / fine - 1)
    c, s = round(np.cos(np.pi / 2 * k)), round(np.sin(np.pi / 2 * k))
    outer = np.array([c * half - s * side, s * half + c * side])
    x, y = inner + (outer - inner) * i / fine
    return float(x), float(y)


def mesh(fine: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and hexahedra of 20 nodes, straight, in the order of CalculiX."""
    places, quads = flat(fine)
    nodes: dict[tuple[float, ...], int] = {}

    def at(p: np.ndarray) -> int:
        return nodes.setdefault(tuple(p.round(9)), len(nodes) + 1)

    cells = []
    for quad in quads:
        q = places[quad]
        if (q[1] - q[0])[0] * (q[2] - q[0])[1] - (q[1] - q[0])[1] * (q[2] - q[0])[0] < 0:
            q = q[::-1]
        low, high = (np.column_stack([q, np.full(4, z)]) for z in (-THICK / 2, THICK / 2))
        middles = [(a + np.roll(a, -1, axis=0)) / 2 for a in (low, high)]
        cells.append([at(p) for part in (low, high, *middles, (low + high) / 2) for p in part])
    return np.array(list(nodes)), np.array(cells)


def deck(points: np.ndarray, cells: np.ndarray) -> str:
    lines = ["*NODE, NSET=ALL", *(f"{k + 1}, {x:.9e}, {y:.9e}, {z:.9e}" for k, (x, y, z) in enumerate(points))]
    lines.append("*ELEMENT, TYPE=C3D20, ELSET=BAR")
    for k, c in enumerate(cells):
        lines += [f"{k + 1}, " + ", ".join(map(str, c[:10])) + ",", ", ".join(map(str, c[10:]))]
    return "\n".join(lines) + "\n"


def calculix(points: np.ndarray, cells: np.ndarray, force: tuple[float, ...]) -> list[float]:
    """First frequencies of the clamped bar under a force on its end, Hz."""
    root, end = (np.flatnonzero(np.abs(points[:, 0] - x) < 1e-8) + 1 for x in (0.0, LENGTH))
    lines = ["*MATERIAL, NAME=M", "*ELASTIC", f"{E}, {NU}", "*DENSITY", f"{RHO}", "*SOLID SECTION, ELSET=BAR, MATERIAL=M"]
    lines += ["*BOUNDARY", *(f"{n}, 1, 3" for n in root)]
    if any(force):
        lines += ["*STEP, NLGEOM", "*STATIC", "*CLOAD"]
        lines += [f"{n}, {c + 1}, {f / len(end):.12e}" for n in end for c, f in enumerate(force) if f]
        lines += ["*END STEP"]
    lines += ["*STEP, PERTURBATION" if any(force) else "*STEP", "*FREQUENCY", "6", "*END STEP", ""]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bar.inp"
        path.write_text(deck(points, cells) + "\n".join(lines))
        run_ccx(path)
        text = path.with_suffix(".dat").read_text()
    rows = re.findall(r"^\s+\d+\s+\S+\s+\S+\s+(\S+)\s+\S+\s*$", text.split("E I G E N V A L U E")[-1], re.M)
    return [float(r) for r in rows[:3]]


def supple(points: np.ndarray, cells: np.ndarray, force: tuple[float, ...]) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bar.inp").write_text(deck(points, cells))
        path = Path(folder) / "robot.yaml"
        path.write_text(ROBOT)
        return list(modes(Machine.read(path).model(), {}, count=3, loads={"end": list(force)}).frequencies_hz)


def main(fine: int = 4) -> None:
    own = mesh(fine)
    free = calculix(*own, (0, 0, 0)), supple(*own, (0, 0, 0))
    print(f"{'unloaded':24}" + "   ".join(f"{a:9.3f} {b:9.3f}        " for a, b in zip(*free, strict=True)))
    kept = {"unloaded": free[0]}
    for name, force in CASES.items():
        found = calculix(*own, force), supple(*own, force)
        kept[name] = found[0]
        print(f"{name:24}", end="")
        for k in range(3):
            theirs, ours = (f[k] / u[k] - 1 for f, u in zip(found, free, strict=True))
            off = f"({100 * (ours / theirs - 1):5.1f} %)" if abs(theirs) > 1e-4 else " " * 9
            print(f"{100 * theirs:8.3f} % {100 * ours:8.3f} % {off}   ", end="")
        print()
    if "--write" in sys.argv:
        target = Path(__file__).parents[1] / "tests" / "data" / "calculix_stress.json"
        target.write_text(json.dumps({"fine": fine, "frequencies_hz": kept}, indent=1) + "\n")


if __name__ == "__main__":
    main()
