"""Plates of supple beside CalculiX (ccx, shell elements S8R) on the same plates: frequencies and differences.

Needs ccx and supple[fe]. Prints a table per plate; the numbers of CalculiX stand in tests/data/calculix_plates.json.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import numpy as np

from supple.robot.bodies.reduction import Selection, Structure, reduced_basis
from supple.robot.finite_elements.calculix import run_ccx
from supple.robot.plates.mesh import polygon_mesh
from supple.robot.plates.plate import PlateSpec, plate

E, NU = 2e10, 0.3
HEXAGON = [(0.5 * np.cos(a), 0.5 * np.sin(a)) for a in np.arange(6) * np.pi / 3]
SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
CASES = {  # corners, thickness, density, clamped edge
    "hexagon, free": (HEXAGON, 0.015, 7500.0, False),
    "square, free": (SQUARE, 0.01, 7800.0, False),
    "square, cantilever": (SQUARE, 0.01, 7800.0, True),
}


def quads(corners: list[tuple[float, float]]) -> list[list[np.ndarray]]:
    """Quadrilaterals that fill the plate: the square itself, or rhombi around the centre."""
    points = [np.array(c) for c in corners]
    if len(points) == 4:
        return [points]
    return [[np.zeros(2), points[k], points[k + 1], points[(k + 2) % 6]] for k in (0, 2, 4)]


def deck(corners: list[tuple[float, float]], thickness: float, rho: float, clamped: bool, n: int) -> str:
    nodes: dict[tuple[float, float], int] = {}
    elements = []
    for a, b, c, d in quads(corners):
        for i in range(n):
            for j in range(n):
                at = [(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5)]
                own = []
                for s, t in (((i + x) / n, (j + y) / n) for x, y in at):
                    p = (1 - s) * (1 - t) * a + s * (1 - t) * b + s * t * c + (1 - s) * t * d
                    own.append(nodes.setdefault((round(p[0], 9), round(p[1], 9)), len(nodes) + 1))
                elements.append(own)
    lines = ["*NODE, NSET=ALL", *(f"{k}, {x:.9e}, {y:.9e}, 0." for (x, y), k in nodes.items())]
    lines += ["*ELEMENT, TYPE=S8R, ELSET=E", *(f"{k + 1}, {', '.join(map(str, e))}" for k, e in enumerate(elements))]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", f"{E}, {NU}", "*DENSITY", f"{rho}"]
    lines += ["*SHELL SECTION, ELSET=E, MATERIAL=M", f"{thickness}"]
    if clamped:
        lines += ["*BOUNDARY", *(f"{k}, 1, 6" for (x, _), k in nodes.items() if x == 0)]
    return "\n".join([*lines, "*STEP", "*FREQUENCY", "20", "*END STEP", ""])


def calculix(case: str, n: int) -> list[float]:
    """Elastic out-of-plane frequencies, Hz."""
    corners, thickness, rho, clamped = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plate.inp"
        path.write_text(deck(corners, thickness, rho, clamped, n))
        run_ccx(path)
        text = path.with_suffix(".dat").read_text()
    rows = re.findall(r"^\s+\d+\s+\S+\s+\S+\s+(\S+)\s+\S+\s*$", text.split("P A R T")[0], re.MULTILINE)
    return [float(f) for f in rows if float(f) > 0.1][:10]


def supple(case: str, element: str) -> list[float]:
    corners, thickness, rho, clamped = CASES[case]
    points, triangles = polygon_mesh(np.array(corners))
    edges = (("root", corners[0], corners[3]),) if clamped else ()
    mesh = tuple(map(tuple, points.tolist())), tuple(map(tuple, triangles.tolist()))
    made = plate(PlateSpec(*mesh, thickness, E, NU, E / (2 + 2 * NU), rho, element, edges=edges, modes=10))
    if not clamped:
        return list(made.meshes[-1][1])[:10]
    model = made.model
    held = Structure(model.M, model.stiffness, model.rigid, model.sites, model.sites[0], model.outline_rows[:60].toarray())
    return list(reduced_basis(held, "clamped_free", Selection(modes=10)).reduced.frequencies)


def main() -> None:
    stored = {}
    for case in CASES:
        coarse, fine = calculix(case, 12), calculix(case, 24)
        stored[case] = fine
        mindlin, kirchhoff = supple(case, "mindlin"), supple(case, "kirchhoff")
        print(f"\n{case}\nmode  S8R n=12  S8R n=24   mindlin      %  kirchhoff      %")
        for k, f in enumerate(fine):
            off = [100 * (x[k] / f - 1) for x in (mindlin, kirchhoff)]
            print(f"{k + 1:4d}{coarse[k]:10.4f}{f:10.4f}{mindlin[k]:10.4f}{off[0]:7.3f}{kirchhoff[k]:11.4f}{off[1]:7.3f}")
    print("\n" + json.dumps(stored))


if __name__ == "__main__":
    main()
