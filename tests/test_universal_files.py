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
