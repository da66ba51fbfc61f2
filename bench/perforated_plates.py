"""Plates with a hole, a pocket and an eccentric rib beside CalculiX' shells (S8R) and solid elements: frequencies.

Needs ccx and supple[fe]. Prints a table per plate; the numbers stand in tests/data/perforated_plates.json. Two minutes.
"""

from __future__ import annotations

import json
import re
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np

from supple.robot.bodies.section import CrossSection, rectangle_torsion
from supple.robot.finite_elements.calculix import run_ccx
from supple.robot.finite_elements.nodal import fe_model
from supple.robot.finite_elements.solid import solid
from supple.robot.plates.figure import Circle, Figure, Polygon, figure_mesh
from supple.robot.plates.plate import PlateSpec, Rib, plate

E, NU, RHO = 2.1e11, 0.3, 7850.0
HOLE = {"side": 1.0, "centre": (0.35, 0.4), "radius": 0.2, "thickness": 0.01}
RIB = {"length": 0.8, "width": 0.5, "thickness": 0.008, "at": 0.1, "height": 0.04, "blade": 0.008}
POCKET = {"length": 0.8, "width": 0.5, "thickness": 0.02, "floor": 0.008, "x": (0.1, 0.6), "y": (0.1, 0.35)}
AT = [(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5)]  # nodes of S8R


class Shells:
    """Nodes and S8R elements of patches that are maps of the unit square."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[float, ...], int] = {}
        self.sets: dict[float, list[list[int]]] = {}  # by thickness

    def add(self, place, n: int, m: int, thickness: float) -> None:
        for i in range(n):
            for j in range(m):
                own = []
                for x, y in AT:
                    p = tuple(float(round(c, 9)) + 0.0 for c in place((i + x) / n, (j + y) / m))
                    own.append(self.nodes.setdefault(p, len(self.nodes) + 1))
                self.sets.setdefault(thickness, []).append(own)

    def frequencies(self, count: int) -> list[float]:
        lines = ["*NODE, NSET=ALL", *(f"{k}, {x:.9e}, {y:.9e}, {z:.9e}" for (x, y, z), k in self.nodes.items())]
        number, sections = 0, []
        for s, (t, elements) in enumerate(self.sets.items()):
            lines.append(f"*ELEMENT, TYPE=S8R, ELSET=E{s}")
            for e in elements:
                number += 1
                lines.append(f"{number}, {', '.join(map(str, e))}")
            sections += [f"*SHELL SECTION, ELSET=E{s}, MATERIAL=M", f"{t}"]
        lines += ["*MATERIAL, NAME=M", "*ELASTIC", f"{E}, {NU}", "*DENSITY", f"{RHO}", *sections]
        text = "\n".join([*lines, "*STEP", "*FREQUENCY", f"{count + 10}", "*END STEP", ""])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plate.inp"
            path.write_text(text)
            run_ccx(path)
            found = path.with_suffix(".dat").read_text()
        rows = re.findall(r"^\s+\d+\s+\S+\s+\S+\s+(\S+)\s+\S+\s*$", found.split("P A R T")[0], re.MULTILINE)
        return [float(f) for f in rows if float(f) > 1.0][:count]


def perforated(n: int) -> Shells:
    """Four patches between the circle and the sides of the square."""
    made, c, r, a = Shells(), np.array(HOLE["centre"]), HOLE["radius"], HOLE["side"]
    corners = np.array([(a, 0), (a, a), (0, a), (0, 0)], dtype=float)
    for k in range(4):
        first, last = corners[k], corners[(k + 1) % 4]
        turns = [np.arctan2(*(p - c)[::-1]) for p in (first, last)]
        turns[1] += 2 * np.pi * (turns[1] < turns[0])

        def place(s, t, first=first, last=last, turns=turns):
            angle = turns[0] + s * (turns[1] - turns[0])
            inner = c + r * np.array([np.cos(angle), np.sin(angle)])
            return (*(inner + t * (first + s * (last - first) - inner)), 0.0)

        made.add(place, n, n, HOLE["thickness"])
    return made


def ribbed(n: int) -> Shells:
    """A plate and a blade that stands on its middle plane."""
    made, g = Shells(), RIB
    for low, high, m in ((-g["width"] / 2, g["at"], 7), (g["at"], g["width"] / 2, 3)):
        made.add(lambda s, t, a=low, b=high: (g["length"] * s, a + t * (b - a), 0.0), 16 * n, m * n, g["thickness"])
    made.add(lambda s, t: (g["length"] * s, g["at"], g["height"] * t), 16 * n, n, g["blade"])
    return made


def pocketed(n: int) -> Shells:
    """A plate with a pocket milled from both sides: shells of two thicknesses in one plane."""
    made, g = Shells(), POCKET
    xs, ys = (0.0, *g["x"], g["length"]), (0.0, *g["y"], g["width"])
    for i in range(3):
        for j in range(3):
            box = xs[i], xs[i + 1], ys[j], ys[j + 1]
            t = g["floor"] if i == j == 1 else g["thickness"]
            cells = round(20 * n * (box[1] - box[0])), round(20 * n * (box[3] - box[2]))
            made.add(lambda s, t, b=box: (b[0] + s * (b[1] - b[0]), b[2] + t * (b[3] - b[2]), 0.0), *cells, t)
    return made


# Solids ---------------------------------------------------------------------------------------------------------------


def bricks(xs, ys, zs, there) -> tuple[np.ndarray, np.ndarray]:
    """Corner points and hexahedra of the cells of a grid that are there."""
    shape = len(xs), len(ys), len(zs)
    points = np.array([(x, y, z) for x in xs for y in ys for z in zs])
    order = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = []
    for i, j, k in np.ndindex(*(s - 1 for s in shape)):
        if there((xs[i] + xs[i + 1]) / 2, (ys[j] + ys[j + 1]) / 2, (zs[k] + zs[k + 1]) / 2):
            cells.append([np.ravel_multi_index((i + a, j + b, k + c), shape) for a, b, c in order])
    return points, np.array(cells)


def steps(stops, size) -> np.ndarray:
    made = [np.linspace(a, b, max(1, round((b - a) / size)) + 1)[:-1] for a, b in pairwise(stops)]
    return np.append(np.concatenate(made), stops[-1])


def solid_frequencies(points, cells, count: int) -> list[float]:
    values, _ = fe_model(solid(points, cells, E, NU, RHO), []).free_modes(count)
    return [float(f) for f in np.sqrt(values) / (2 * np.pi)]


def ribbed_solid(count: int, size: float) -> list[float]:
    """The plate, and a rib on its upper face."""
    g = RIB
    w, t, low, high = g["width"], g["thickness"], g["at"] - g["blade"] / 2, g["at"] + g["blade"] / 2
    xs, ys = steps((0, g["length"]), size), steps((-w / 2, low, high, w / 2), size)
    zs = [-t / 2, t / 2, *np.linspace(t / 2, t / 2 + g["height"], 3)[1:]]
    return solid_frequencies(*bricks(xs, ys, zs, lambda x, y, z: z < t / 2 or low < y < high), count)


def pocketed_solid(count: int, size: float) -> list[float]:
    """A plate with a pocket milled from above."""
    g = POCKET
    (x0, x1), (y0, y1) = g["x"], g["y"]
    xs, ys = steps((0, x0, x1, g["length"]), size), steps((0, y0, y1, g["width"]), size)
    floor = -g["thickness"] / 2 + g["floor"]
    zs = [-g["thickness"] / 2, floor, g["thickness"] / 2]
    return solid_frequencies(*bricks(xs, ys, zs, lambda x, y, z: z < floor or not (x0 < x < x1 and y0 < y < y1)), count)


# supple ---------------------------------------------------------------------------------------------------------------


def spec(figure: Figure, thickness: float, **given) -> PlateSpec:
    m = figure_mesh(figure)
    return PlateSpec(
        tuple(map(tuple, m.points.tolist())), tuple(map(tuple, m.triangles.tolist())), thickness, E, NU, E / (2 + 2 * NU),
        RHO, patch=tuple(m.patches.tolist()), tracked=m.tracked, graded=True, **given,
    )  # fmt: skip


def hole_spec(element: str) -> PlateSpec:
    a = HOLE["side"]
    square = Polygon(np.array([(0, 0), (a, 0), (a, a), (0, a)], dtype=float))
    return spec(Figure(square, (Circle(np.array(HOLE["centre"]), HOLE["radius"]),)), HOLE["thickness"], element=element)


def rectangle(g) -> np.ndarray:
    return np.array([(0, 0), (g["length"], 0), (g["length"], g["width"]), (0, g["width"])])


def rib_spec(element: str, on_face: bool) -> PlateSpec:
    """The rib's centre is above the middle plane by half its height, and half the thickness if it stands on the face."""
    g = RIB
    b, h = g["blade"], g["height"]
    section = CrossSection(b * h, b * h**3 / 12, h * b**3 / 12, rectangle_torsion(b, h), 5 / 6, 5 / 6)
    ends = (0.0, g["at"]), (g["length"], g["at"])
    offset = (h + g["thickness"] * on_face) / 2
    figure = Figure(Polygon(rectangle(g) - [0, g["width"] / 2]), lines=((np.array(ends[0]), np.array(ends[1])),))
    rib = Rib(*ends, section, E, E / (2 + 2 * NU), RHO, offset)
    return spec(figure, g["thickness"], element=element, ribs=(rib,), in_plane=True)


def pocket_spec(element: str, one_side: bool) -> PlateSpec:
    g = POCKET
    pocket = Polygon(np.array([(x, y) for x, y in zip(g["x"] + g["x"][::-1], np.repeat(g["y"], 2), strict=True)]))
    height = -(g["thickness"] - g["floor"]) / 2 if one_side else 0.0
    figure = Figure(Polygon(rectangle(g)), patches=(pocket,))
    return spec(figure, g["thickness"], element=element, patches=((g["floor"], height),), in_plane=one_side)


def table(name: str, truths: dict[str, list[float]], found: dict[str, PlateSpec]) -> None:
    models = {k: plate(s).meshes[-1][1] for k, s in found.items()}
    last = list(truths.values())[-1]
    print(f"\n{name}\nmode" + "".join(f"{k:>12}" for k in truths) + "".join(f"{k:>12}      %" for k in models))
    for i, f in enumerate(last):
        print(f"{i + 1:4d}" + "".join(f"{t[i]:12.3f}" for t in truths.values()), end="")
        print("".join(f"{m[i]:12.3f}{100 * (m[i] / f - 1):7.2f}" for m in models.values()))


def main() -> None:
    count, stored = 8, {}
    shells = {"square with a hole": perforated, "rib, shells": ribbed, "pocket on both sides": pocketed}
    specs = {
        "square with a hole": hole_spec,
        "rib, shells": lambda e: rib_spec(e, on_face=False),
        "pocket on both sides": lambda e: pocket_spec(e, one_side=False),
    }
    for name, make in shells.items():
        sizes = (6, 12) if make is perforated else (1, 2)
        truths = {f"S8R n={n}": make(n).frequencies(count) for n in sizes}
        stored[name] = truths[f"S8R n={sizes[-1]}"]
        table(name, truths, {e: specs[name](e) for e in ("mindlin", "kirchhoff")})
    solids = {"rib, solid": (ribbed_solid, rib_spec), "pocket on one side": (pocketed_solid, pocket_spec)}
    for name, (truth, own) in solids.items():
        truths = {f"{1000 * s:.0f} mm": truth(count, s) for s in (0.05, 0.025)}
        stored[name] = truths["25 mm"]
        table(name, truths, {e: own(e, True) for e in ("mindlin", "kirchhoff")})
    print("\n" + json.dumps(stored))


if __name__ == "__main__":
    main()
