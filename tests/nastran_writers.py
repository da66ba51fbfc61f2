"""Files of a bar as Nastran writes them: .op2 in every layout of words, .pch, and the bulk data beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import bars
import numpy as np

from supple.robot.finite_elements.files import modal_model
from supple.robot.finite_elements.nodal import NodalModel
from supple.robot.finite_elements.solid import solid

CYLINDER = "CORD2C,7,,0.1,0.,0.,0.1,0.,1.\n,1.1,0.,0.\n"  # at x = 0.1, parallel to the basic system


@cache
def modal() -> NodalModel:
    made = modal_model(solid(*bars.hexahedra(3), bars.E, bars.NU, bars.RHO), 4)
    return replace(made, labels=made.labels + 1)


def shapes() -> Any:
    """N x 3 x modes."""
    model = modal()
    assert model.modes is not None
    table = np.zeros((len(model.xyz), 3, model.modes.shape[1]))
    table[model.node, model.component] = model.modes
    return table


def around() -> Any:
    """Axes r, theta, z of the cylindrical system at every node, as rows."""
    x, y = modal().xyz[:, 0] - 0.1, modal().xyz[:, 1]
    angle = np.arctan2(y, x)
    c, s, o, e = np.cos(angle), np.sin(angle), np.zeros(len(x)), np.ones(len(x))
    return np.stack([np.stack([c, s, o], 1), np.stack([-s, c, o], 1), np.stack([o, o, e], 1)], axis=1)


class Output2:
    """Writes tables as Nastran's OUTPUT2 does."""

    def __init__(self, order: str, word: int, version: bool) -> None:
        self.order, self.word, self.version, self.data = order, word, version, b""
        self.key(3), self.put([1, 2, 26]), self.key(7), self.put([0] * 7), self.key(2), self.put([0, 0])
        if version:
            self.key(6), self.put([0] * 6)
        self.key(-1), self.key(0)

    def ints(self, values: Iterable[int]) -> bytes:
        return np.array(list(values), f"{self.order}i{self.word}").tobytes()

    def reals(self, values: Iterable[float]) -> bytes:
        return np.array(list(values), f"{self.order}f{self.word}").tobytes()

    def put(self, record: bytes | list[int]) -> None:
        body = record if isinstance(record, bytes) else self.ints(record)
        size = np.array([len(body)], f"{self.order}i4").tobytes()
        self.data += size + body + size

    def key(self, n: int) -> None:
        self.put([n])

    def text(self, name: str) -> bytes:
        return b"".join(f"{name[k : k + 4]:<{self.word}}".encode() for k in (0, 4))

    def table(self, name: str, records: list[bytes]) -> None:
        name = f"{name:<8}"
        self.key(2), self.put(self.text(name))
        if self.version:
            self.key(6), self.put([0] * 6)
        self.key(-1), self.key(7), self.put([0] * 7), self.key(-2)
        for k, record in enumerate([self.text(name), *records]):
            self.key(1), self.key(0), self.key(len(record) // self.word), self.put(record), self.key(-3 - k)
        self.key(1), self.key(0), self.key(0)


def op2(path: Path, order: str = "<", word: int = 4, version: bool = True, code: int = 21, **parts: Any) -> Path:
    """The bar's modes: displacements along r, theta, z; modal masses of 4, as if shapes were scaled by 2."""
    made = Output2(order, word, version)
    model = modal()
    assert model.squares is not None
    local = np.einsum("ncd,ndk->nck", around(), shapes()) * 2
    if parts.get("geometry", True):
        grids, system = b"", made.ints([2001, 20, 9, 7, 2, 2, 0]) + made.reals([0.1, 0, 0, 0.1, 0, 1, 1.1, 0, 0])
        for label, place in zip(model.labels, model.xyz, strict=True):
            grids += made.ints([label, 0]) + made.reals(place) + made.ints([7, 0, 0])
        made.table("GEOM1", [made.ints([4501, 45, 1]) + grids, system, made.ints([65535] * 3)])
    if parts.get("lama", True):
        rows = [made.ints([k + 1, k + 1]) + made.reals([square, 0, 0, 4, 0]) for k, square in enumerate(model.squares)]
        made.table("LAMA", [made.ints([0] * 146), b"".join(rows)])
    records = []
    for k, square in enumerate(model.squares):
        ident = [made.ints([code, 7, 0, 1, k + 1]), made.reals([square]), made.ints([0, 0, 1, 8]), made.ints([0] * 136)]
        rows = [
            made.ints([10 * label + 1, 1]) + made.reals([*local[a, :, k], 0, 0, 0]) for a, label in enumerate(model.labels)
        ]
        rows.append(made.ints([99991, 2]) + made.reals([1, 0, 0, 0, 0, 0]))  # a scalar point
        records += [b"".join(ident), b"".join(rows)]
    made.table("OUGV1", records)
    made.key(0)
    path.write_bytes(made.data)
    return path


def deck() -> str:
    """GRIDs of the bar in the basic system, moving in the cylindrical one by GRDSET."""
    rows = [f"GRID,{n},,{x:.12g},{y:.12g},{z:.12g}\n" for n, (x, y, z) in zip(modal().labels, modal().xyz, strict=True)]
    return "GRDSET,,,,,,7\n" + CYLINDER + "".join(rows) + "ENDDATA\n"


def punch(path: Path, scale: float = 1.0, kind: str = "REAL OUTPUT", subcase: int = 1, point: str = "") -> Path:
    """Modes along r, theta, z with the headings, scalar points and sequence numbers of MSC Nastran's punch files."""
    lines: list[str] = []
    model = modal()
    assert model.squares is not None
    local = np.einsum("ncd,ndk->nck", around(), shapes())
    for k, square in enumerate(model.squares):
        unit = np.abs(local[:, :, k]).max() if scale == 0 else 1 / scale
        lines += ["$TITLE   = BAR", "$SUBTITLE=", "$LABEL   =", "$EIGENVECTOR", f"${kind}"]
        lines += [f"$SUBCASE ID ={1 if k < 8 else subcase:12d}", *([point] if point else [])]
        lines += [f"$EIGENVALUE = {square:14.7E}  MODE = {k + 1:5d}"]
        for kind_, n, (x, y, z) in (
            *(("G", n, local[a, :, k] / unit) for a, n in enumerate(model.labels)),
            ("S", 9999, (1.0, 0.0, 0.0)),
            ("G", 10000, (0.0, 0.0, 0.0)),  # a node that nothing is attached to
        ):
            lines += [f"{n:10d}{kind_:>8}{x:18.6E}{y:18.6E}{z:18.6E}", f"{'-CONT-':<18}" + f"{0.0:18.6E}" * 3]
    lines += ["$TITLE   = BAR", "$SUBTITLE=", "$LABEL   =", "$SPCF", "$REAL OUTPUT", "$SUBCASE ID =           1"]
    lines += [f"{1:10d}{'G':>8}" + f"{1.0:18.6E}" * 3, f"{'-CONT-':<18}" + f"{0.0:18.6E}" * 3]
    path.write_text("\n".join(f"{line:<72}{k + 1:8d}" for k, line in enumerate(lines)) + "\n")
    path.with_suffix(".bdf").write_text("GRID,10000,,9.,9.,9.\n" + deck())
    return path
