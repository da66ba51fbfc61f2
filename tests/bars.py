"""One bar (1 m, 12 x 15 mm, steel) in every form a body can have, for tests that compare them."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "calculix_bar"
E, NU, RHO, LENGTH, Y, Z = 2.1e11, 0.3, 7850.0, 1.0, 0.012, 0.015
ENDS = "attachments: {root: {plane: {x: 0}}, end: {plane: {x: 1}}}, root: root, reduction: {craig_bampton: {modes: 5}}"
FORMS = {
    "beam": "{beam: {length: 1, section: bar, material: steel, elements: 20}}",
    "reduced": "{beam: {length: 1, section: bar, material: steel, elements: 20, reduction: {craig_bampton: {modes: 5}}}}",
    "hexahedra": f"{{fe: {{file: hexa.vtk, material: steel, {ENDS}}}}}",
    "tetrahedra": f"{{fe: {{file: tetra.vtk, material: steel, {ENDS}}}}}",
    "calculix": f"{{fe: {{file: bar.sti, {ENDS}}}}}",
}
ROBOT = """
space: spatial
materials: {{steel: {{E: 210 GPa, rho: 7850 kg/m^3, nu: 0.3}}}}
sections: {{bar: {{rectangle: {{y: 12 mm, z: 15 mm}}}}}}
bodies:
  arm: {arm}
  tip: {{rigid: {{mass: 0.3 kg, inertia: {{xx: 1e-4, yy: 1e-4, zz: 1e-4}}}}}}
links:
  arm: {{parent: base, joint: revolute, axis: z, q: q1, body: arm}}
  tip: {{parent: arm, on: end, body: tip}}
points: {{tip: {{link: tip}}}}
actuators: {{q1: {{inertia: 0.01}}}}
"""


def hexahedra(n: int, across: int = 1) -> tuple[Any, Any]:
    """Corners and cells of the bar, n cells long."""
    x, y, z = np.linspace(0, LENGTH, n + 1), np.linspace(-Y / 2, Y / 2, across + 1), np.linspace(-Z / 2, Z / 2, across + 1)
    points = np.array([[a, b, c] for a in x for b in y for c in z])

    def at(a: int, b: int, c: int) -> int:
        return (a * (across + 1) + b) * (across + 1) + c

    corners = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    cells = [
        [at(a + i, b + j, c + k) for i, j, k in corners] for a in range(n) for b in range(across) for c in range(across)
    ]
    return points, np.array(cells)


def tetrahedra(n: int, across: int = 1) -> tuple[Any, Any]:
    points, cells = hexahedra(n, across)
    parts = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))
    return points, np.vstack([cells[:, list(p)] for p in parts])


def unpacked(folder: Path) -> Path:
    """The CalculiX files of tests/data in a folder of their own."""
    for path in DATA.glob("*.xz"):
        (folder / path.stem).write_bytes(lzma.decompress(path.read_bytes()))
    (folder / "barm.dat").write_bytes((DATA / "barm.dat").read_bytes())
    return folder


def meshes(folder: Path) -> Path:
    """hexa.vtk and tetra.vtk of the bar."""
    import meshio

    for name, kind, (points, cells) in (
        ("hexa.vtk", "hexahedron", hexahedra(24)),
        ("tetra.vtk", "tetra", tetrahedra(30)),
    ):
        meshio.write(folder / name, meshio.Mesh(points, [(kind, cells)]))
    return folder


def robot_file(folder: Path, arm: str, name: str = "robot") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\n" + ROBOT.format(arm=arm))
    return path
