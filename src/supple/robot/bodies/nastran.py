"""Nastran: modes of punch files (.pch) with the nodes of a bulk data file (.bdf), and of .op2 files through pyyeti."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.mesh_files import checked_file
from supple.robot.bodies.nodal import NodalModel, check_model
from supple.robot.bodies.record import Array

_EIGENVALUE = re.compile(r"\$EIGENVALUE\s*=\s*(\S+)\s+MODE\s*=\s*(\d+)")


def read_punch(path: Path, nodes: Path | None) -> NodalModel:
    """Mass-normalised modes of a punch file; nodes from a .bdf (same name if not given)."""
    deck = nodes or path.with_suffix(".bdf")
    places = read_grids(deck)
    squares, modes = _modes(path)
    labels = np.array(sorted(modes[0]))
    for number, mode in enumerate(modes, start=1):
        if sorted(mode) != labels.tolist():
            raise SuppleError(f"{path.name}: mode {number} has other nodes than mode 1; the file is cut off or broken")
    missing = [int(n) for n in labels if int(n) not in places]
    if missing:
        raise SuppleError(f"{deck.name}: has no GRID {missing[0]}, at which {path.name} gives modes")
    xyz = np.array([places[int(n)] for n in labels])
    shapes = np.column_stack([np.concatenate([mode[int(n)] for n in labels]) for mode in modes])
    node, component = np.repeat(np.arange(len(labels)), 6), np.tile(np.arange(6), len(labels))
    return _turning(NodalModel(labels, xyz, node, component, None, None, shapes, np.array(squares)), path.name)


def _turning(model: NodalModel, file: str) -> NodalModel:
    """The model without rotations that are all zero: nodes of solids do not turn."""
    assert model.modes is not None
    if not np.isfinite(model.modes).all():
        raise SuppleError(f"{file}: a mode holds entries that are no finite numbers")
    keep = model.component < 3
    turns = np.abs(model.modes).max(axis=1) > 0
    for a in np.unique(model.node[(model.component >= 3) & turns]):
        keep |= model.node == a
    return check_model(
        NodalModel(
            model.labels, model.xyz, model.node[keep], model.component[keep], None, None, model.modes[keep], model.squares
        ),
        file,
    )


def _modes(path: Path) -> tuple[list[float], list[dict[int, list[float]]]]:
    checked_file(path)
    squares: list[float] = []
    modes: list[dict[int, list[float]]] = []
    inside = False
    lines = path.read_text(encoding="latin-1").splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("$"):
            if line[1:].split(" ")[0].rstrip() in ("DISPLACEMENTS", "VELOCITY", "ACCELERATION", "ELEMENT", "SPCF", "OLOADS"):
                inside = False
            inside = inside or line.startswith("$EIGENVECTOR")
            found = _EIGENVALUE.match(line)
            if found and inside:
                squares.append(_number(found[1], path.name, at))
                modes.append({})
            continue
        if not inside or not modes or not line.strip():
            continue
        node, kind = line[:10].strip(), line[10:18].strip()
        if not node.isdigit() or kind not in ("G", "S"):
            raise SuppleError(f"{path.name}:{at}: {line[:40].strip()!r} is no node with its displacement")
        if at >= len(lines) or not lines[at].startswith("-CONT-"):
            raise SuppleError(f"{path.name}:{at}: node {node} lacks its rotations (-CONT-); the file is cut off or broken")
        values = [_number(line[18 + 18 * k : 36 + 18 * k], path.name, at) for k in range(3)]
        values += [_number(lines[at][18 + 18 * k : 36 + 18 * k], path.name, at + 1) for k in range(3)]
        at += 1
        if kind == "G":
            modes[-1][int(node)] = values
    if not modes or not modes[0]:
        raise SuppleError(f"{path.name}: holds no eigenvectors; ask for them by DISPLACEMENT(PUNCH)=ALL in a SOL 103 run")
    return squares, modes


def _number(text: str, file: str, line: int) -> float:
    """A number as Nastran writes it: 1.0E+5, 1.0+5 or 1.0D+5."""
    plain = re.sub(r"(?<=[0-9.])([-+]\d+)$", r"E\1", text.strip().replace("D", "E").replace("d", "E"))
    try:
        return float(plain)
    except ValueError as error:
        raise SuppleError(f"{file}:{line}: {text.strip()[:24]!r} is no number; the file is cut off or broken") from error


def read_grids(path: Path) -> dict[int, list[float]]:
    """GRID number -> x, y, z in the basic system, from a bulk data file."""
    checked_file(path)
    made: dict[int, list[float]] = {}
    lines = path.read_text(encoding="latin-1").splitlines()
    at = 0
    while at < len(lines):
        number = at + 1
        line = lines[at].split("$")[0].rstrip()
        at += 1
        name = re.split(r"[,\s]", line[:8].upper())[0]
        if name == "GRID":
            fields = line.split(",")[1:] if "," in line else [line[8 * k : 8 * k + 8] for k in range(1, 9)]
        elif name == "GRID*":
            following = lines[at] if at < len(lines) else ""
            if not following.startswith("*"):
                raise SuppleError(f"{path.name}:{number}: GRID* lacks its second line")
            fields = [part[8 + 16 * k : 24 + 16 * k] for part in (line, following) for k in range(4)]
            at += 1
        else:
            continue
        texts = [f.strip() for f in (*fields, *[""] * 8)[:8]]
        if not texts[0].isdigit():
            raise SuppleError(f"{path.name}:{number}: GRID {texts[0]!r} has no number")
        if texts[1] not in ("", "0") or texts[5] not in ("", "0", "-1"):
            raise SuppleError(f"{path.name}:{number}: GRID {texts[0]} has a coordinate system of its own; use the basic one")
        made[int(texts[0])] = [_number(t or "0.", path.name, number) for t in texts[2:5]]
    if not made:
        raise SuppleError(f"{path.name}: holds no GRID")
    return made


def read_op2(path: Path) -> NodalModel:
    """Modes and nodes of an .op2 file (PARAM, POST, -1) of a free body."""
    checked_file(path)
    try:
        from pyyeti.nastran import op2
    except ImportError as error:
        raise SuppleError(".op2 files need pyyeti; install supple[nastran]") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data: dict[str, Any] = op2.rdparampost(str(path), get_ougs=True, get_mats=False, get_dr_tables=False)
    except Exception as error:
        detail = " ".join(str(error).split())[:120] or type(error).__name__
        raise SuppleError(f"{path.name}: cannot be read as .op2: {detail}") from error
    table = next((data[k] for k in ("ougv1", "oug1", "bophig", "bougv1") if k in data), None)
    if table is None or data.get("lama") is None or data.get("uset") is None:
        raise SuppleError(f"{path.name}: lacks modes (OUGV1), eigenvalues (LAMA) or nodes (BGPDT); use PARAM,POST,-1")
    return _from_op2(table, data, path.name)


def _from_op2(table: Any, data: dict[str, Any], file: str) -> NodalModel:
    uset, lama = data["uset"], np.asarray(data["lama"], dtype=float)
    label, dof = (np.asarray(table.index.get_level_values(k)).astype(int) for k in (0, 1))
    known = {int(i): k for k, (i, d) in enumerate(uset.index) if int(d) == 1}
    grids = np.array([n for n in np.unique(label) if int(n) in known and (dof[label == n] == 6).any()])
    places = uset.to_numpy()[:, 1:].astype(float)
    for n in grids:
        if places[known[int(n)] + 1, 0] != 0:
            raise SuppleError(f"{file}: node {n} moves in a coordinate system of its own; use the basic one")
    xyz: Array = np.array([places[known[int(n)]] for n in grids])
    rows = np.isin(label, grids)
    node, component = np.searchsorted(grids, label[rows]), dof[rows] - 1
    shapes = table.to_numpy().astype(float)[rows]
    if shapes.shape[1] > len(lama):
        raise SuppleError(f"{file}: has {shapes.shape[1]} modes but {len(lama)} eigenvalues")
    used = lama[: shapes.shape[1]]
    if not (used[:, 5] > 0).all():
        raise SuppleError(f"{file}: a mode has no generalised mass")
    return _turning(NodalModel(grids, xyz, node, component, None, None, shapes / np.sqrt(used[:, 5]), used[:, 2]), file)
