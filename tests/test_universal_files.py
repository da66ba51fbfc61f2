"""Universal files as other programs write them: more kinds of data than normal modes, and modes in odd forms."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import bars
import numpy as np
import pytest

pytest.importorskip("skfem")

from supple.errors import SuppleError
from supple.robot.finite_elements import universal
from supple.robot.finite_elements.files import modal_model
from supple.robot.finite_elements.nodal import NodalModel
from supple.robot.finite_elements.solid import solid


@cache
def modal() -> NodalModel:
    return modal_model(solid(*bars.hexahedra(3), bars.E, bars.NU, bars.RHO), 4)


def dataset(kind: str, *lines: str) -> list[str]:
    return ["    -1", f"{kind:>6}", *lines, "    -1"]


def mode_sets(imaginary: float = 0.0, analysis: int = 2) -> list[str]:
    """Modes as NX writes them: complex numbers whose imaginary parts are zero."""
    model, lines = modal(), list[str]()
    assert model.modes is not None and model.squares is not None
    for k, square in enumerate(model.squares):
        frequency = np.sqrt(square) / (2 * np.pi)
        head = [f"{k + 1:10d}", f"Mode shape record {k + 1}", f"{1:10d}", *["NONE"] * 5]
        head += ["".join(f"{x:10d}" for x in (1, analysis, 2, 8, 5, 3)), f"{0:10d}" * 8, f"{0:10d}" * 2]
        head += ["".join(f"{x:13.5E}" for x in (0, frequency, 0, 1, 0, 0)), f"{0:13.5E}" * 6]
        for a, label in enumerate(model.labels):
            values = [
                v for c in range(3) for v in (model.modes[(model.node == a) & (model.component == c), k][0], imaginary)
            ]
            head += [f"{label:10d}", "".join(f"{x:13.5E}" for x in values)]
        lines += dataset("2414", *head)
    return lines


def node_set() -> list[str]:
    rows = [
        f"{n:10d}{5:10d}{5:10d}{11:10d}\n" + "".join(f"{x:25.16E}" for x in p)
        for n, p in zip(modal().labels, modal().xyz, strict=True)
    ]
    return dataset("2411", *rows)


def test_universal_files_of_nx(tmp_path: Path) -> None:
    """Complex data with no imaginary part, results of other analyses, unknown sets and binary ones in between."""
    path = tmp_path / "nx.unv"
    stress = [
        *(f"{1:10d}", "Stress", f"{2:10d}", *["NONE"] * 5),
        "".join(f"{x:10d}" for x in (1, 1, 4, 2, 2, 6)),
        f"{0:10d}",
    ]
    text = "\n".join([*dataset("2420", "1", "Part1"), *node_set(), *dataset("2414", *stress), *mode_sets()]) + "\n"
    blob = b"\x00\x0a    -1\x0a\x85\xff" * 40  # what looks like an end is inside
    head = f"    -1\n    58b     1     2          11{len(blob):12d}     0     0           0           0\n" + "id\n" * 11
    path.write_bytes(head.encode() + blob + b"    -1\r\n" + text.encode())
    back = universal.read_universal(path)
    assert back.modes is not None
    wanted = modal().modes
    assert wanted is not None
    difference = back.modes - wanted[np.lexsort((modal().component, modal().node))]
    assert np.abs(difference).max() < 2e-5 * np.abs(wanted).max()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (lambda: [*node_set(), *mode_sets(imaginary=1e-2)], r"x\.unv: dataset 2414 from line \d+: .*a complex shape"),
        (
            lambda: [*node_set(), *mode_sets(analysis=5)],
            "holds no normal modes at nodes .*, only frequency response results",
        ),
        (lambda: node_set(), "holds no normal modes"),
        (
            lambda: [
                *dataset("18", f"{3:10d}{0:10d}{0:10d}{8:10d}{1:10d}", "SYS", " 1. 0. 0. 2. 0. 0.", " 1. 0. 1."),
                *dataset("15", f"{1:10d}{3:10d}{3:10d}{8:10d} 1.00000E+00 0.00000E+00 0.00000E+00"),
            ],
            "node 1 is placed in coordinate system 3",
        ),
    ],
)
def test_universal_files_that_hold_something_else(tmp_path: Path, lines: Callable[[], list[str]], words: str) -> None:
    path = tmp_path / "x.unv"
    path.write_text("\n".join(lines()) + "\n")
    with pytest.raises(SuppleError, match=words):
        universal.read_universal(path)


# Units ----------------------------------------------------------------------------------------------------------------


def units(length: float, force: float) -> list[str]:
    """Dataset 164: what SI values are multiplied by to get those of the file."""
    return dataset("164", f"{1:10d}{'own units':<20}{2:10d}", f"{length:25.17E}{force:25.17E}{1.0:25.17E}", f"{0.0:25.17E}")


def two_nodes(length: float, modal_mass: float, kind: str) -> list[str]:
    """Two nodes 0.5 m apart and a mode of 40 Hz: 3 along x and a turn of 2 rad/m about z at the second."""
    places = ((0, 0, 0), (0.5, 0.25, 0))
    rows = [
        f"{n + 1:10d}{1:10d}{1:10d}{11:10d}\n" + "".join(f"{length * x:25.16E}" for x in p) for n, p in enumerate(places)
    ]
    values = ((-1, 0, 0, 0, 0, 0), (3, 0, 0, 0, 0, 2 / length))  # a shape is moved by lengths of the file
    shape = [x for n, v in enumerate(values) for x in (f"{n + 1:10d}", "".join(f"{float(x):13.5E}" for x in v))]
    codes = "".join(f"{x:10d}" for x in (1, 2, 3, 8, 2, 6))
    if kind == "55":
        head = [*["NONE"] * 5, codes, f"{2:10d}{4:10d}{1:10d}{1:10d}", "".join(f"{x:13.5E}" for x in (40, modal_mass, 0, 0))]
    else:
        head = [f"{1:10d}", "mode", f"{1:10d}", *["NONE"] * 5, codes, f"{0:10d}" * 8, f"{0:10d}" * 2]
        head += ["".join(f"{x:13.5E}" for x in (0, 40, 0, modal_mass, 0, 0)), f"{0:13.5E}" * 6]
    return [*dataset("2411", *rows), *dataset(kind, *head, *shape)]


@pytest.mark.parametrize("kind", ["55", "2414"])
@pytest.mark.parametrize(
    ("length", "force", "modal_mass"),
    [(1, 1, 4), (1000, 1, 0.004), (1000, 1000, 4), (39.37007874015748, 0.2248089430997105, 4 / 175.12683524647645)],
    ids=["m N kg", "mm N t", "mm mN kg", "in lbf lbf*s^2/in"],
)
def test_units_of_a_universal_file(tmp_path: Path, length: float, force: float, modal_mass: float, kind: str) -> None:
    """The same mode of 4 kg in four systems: (3 m, 2 rad) / sqrt(4 kg), and its place and frequency, are what is read.

    1 in = 0.0254 m, 1 lbf = 4.4482216152605 N, so a unit of mass is 175.12683524647645 kg."""
    path = tmp_path / "x.unv"
    path.write_text("\n".join([*units(length, force), *two_nodes(length, modal_mass, kind)]) + "\n")
    model = universal.read_universal(path)
    assert model.modes is not None and model.squares is not None
    assert model.xyz[1] == pytest.approx([0.5, 0.25, 0])
    assert model.squares == pytest.approx([(80 * np.pi) ** 2])
    moved = {
        (int(n), int(c)): x for n, c, x in zip(model.labels[model.node], model.component, model.modes[:, 0], strict=True)
    }
    assert moved[1, 0] == pytest.approx(-0.5, rel=1e-5)
    assert moved[2, 0] == pytest.approx(1.5, rel=1e-5)
    assert moved[2, 5] == pytest.approx(1.0, rel=1e-5)


def test_a_universal_file_without_units_is_in_si(tmp_path: Path) -> None:
    path = tmp_path / "x.unv"
    path.write_text("\n".join(two_nodes(1, 4, "2414")) + "\n")
    assert universal.read_universal(path).xyz[1] == pytest.approx([0.5, 0.25, 0])


def test_units_of_a_mesh_in_a_universal_file(tmp_path: Path) -> None:
    """Nodes in millimetres, a tetrahedron (111): metres are read."""
    places = ((0, 0, 0), (20, 0, 0), (0, 30, 0), (0, 0, 50))
    rows = [f"{n + 1:10d}{1:10d}{1:10d}{11:10d}\n" + "".join(f"{float(x):25.16E}" for x in p) for n, p in enumerate(places)]
    cell = ["".join(f"{x:10d}" for x in (1, 111, 1, 1, 7, 4)), "".join(f"{x:10d}" for x in (1, 2, 3, 4))]
    path = tmp_path / "x.unv"
    path.write_text("\n".join([*units(1000, 1), *dataset("2411", *rows), *dataset("2412", *cell)]) + "\n")
    nodes, elements = universal.read_elements(path)
    assert nodes[2] == pytest.approx([0.02, 0, 0]) and nodes[4] == pytest.approx([0, 0, 0.05])
    assert elements == [(111, [1, 2, 3, 4])]


def test_a_written_file_says_that_it_is_in_si(tmp_path: Path) -> None:
    path = universal.write_universal(modal(), tmp_path / "x.unv")
    lines = path.read_text().splitlines()
    at = lines.index("   164")
    assert [float(x) for x in lines[at + 2].split()] == [1, 1, 1]
