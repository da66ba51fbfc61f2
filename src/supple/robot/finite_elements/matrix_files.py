"""Mass and stiffness matrices with their nodes, from npz, MatrixMarket and MATLAB files; models written to npz.

Fields of an npz model: `labels` (N), `xyz` (N x 3, metres), `node` and `component` (n: index into the nodes, 0..5 for
x y z rx ry rz), and the matrices as `M_row`, `M_column`, `M_value`, `K_row`, ... or modes as `modes` (n x N) and `squares`.
Shorter, as other programs write it: `M`, `K` (dense, or the three fields) and `nodes` (N x 3, or N x 4 with numbers first).
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements.matlab_files import read_variables
from supple.robot.finite_elements.matrix_market import read_market
from supple.robot.finite_elements.nodal import NodalModel, check_model
from supple.robot.named_files import LARGEST_FILE, checked_file
from supple.robot.sparse import Matrix


def read_arrays(path: Path) -> dict[str, Array]:
    """The arrays of an npz file; nothing in it is run, and it may not unpack to more than is allowed."""
    checked_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
        if total > 4 * LARGEST_FILE:
            raise SuppleError(
                f"{path.name}: unpacks to {total / 1e6:.0f} MB; at most {4 * LARGEST_FILE / 1e6:.0f} MB are read"
            )
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in data.files}
    except SuppleError:
        raise
    except Exception as error:
        raise SuppleError(f"{path.name}: is not a whole npz file of numbers; it is cut off or broken") from error


def from_arrays(data: Mapping[str, Array], file: str) -> NodalModel:
    """The NodalModel of named arrays."""
    try:
        if "labels" in data:
            labels, node, component = (_whole(data, name, file) for name in ("labels", "node", "component"))
            xyz = real_numbers(data["xyz"], "xyz", file)
        else:
            labels, xyz = _nodes(real_numbers(data["nodes"], "nodes", file), file)
            size = _size(data, file)
            per, left = divmod(size, len(xyz))
            if left or per not in (3, 6):
                raise SuppleError(f"{file}: {size} coordinates for {len(xyz)} nodes; 3 or 6 per node are expected")
            node, component = np.repeat(np.arange(len(xyz)), per), np.tile(np.arange(per), len(xyz))
        if xyz.ndim != 2 or xyz.shape[1] != 3 or len(labels) != len(xyz):
            raise SuppleError(f"{file}: xyz must be N x 3, with N labels")
        if len(node) != len(component) or not _between(node, 0, len(xyz) - 1) or not _between(component, 0, 5):
            raise SuppleError(f"{file}: node and component must name a node and one of its six motions per coordinate")
        n = len(node)
        if "modes" in data:
            modes, squares = (real_numbers(data[name], name, file) for name in ("modes", "squares"))
            if squares.ndim != 1 or not np.isfinite(squares).all():
                raise SuppleError(f"{file}: squares must be a list of finite numbers")
            if modes.shape != (n, len(squares)) or not np.isfinite(modes).all():
                raise SuppleError(f"{file}: modes must be {n} x {len(squares)} finite numbers")
            return check_model(NodalModel(labels, xyz, node, component, None, None, modes, squares), file)
        made = NodalModel(labels, xyz, node, component, _matrix(data, "M", n, file), _matrix(data, "K", n, file))
    except KeyError as error:
        raise SuppleError(f"{file}: has no array {error}") from error
    except (TypeError, ValueError) as error:
        raise SuppleError(f"{file}: its arrays are no numbers, or do not belong together") from error
    return check_model(made, file)


def _whole(data: Mapping[str, Array], name: str, file: str) -> Array:
    """A list of whole numbers."""
    given: Array = real_numbers(data[name], name, file)
    if given.ndim != 1 or not _are_whole(given):
        raise SuppleError(f"{file}: {name} must be a list of whole numbers")
    return given.astype(int)


def _are_whole(given: Array) -> bool:
    return bool((np.abs(given) < 2.0**53).all() and (given == np.round(given)).all())


def _between(given: Array, least: int, most: int) -> bool:
    return not len(given) or bool(given.min() >= least and given.max() <= most)


def _size(data: Mapping[str, Array], file: str) -> int:
    if "K" in data:
        if len(data["K"].shape) != 2:
            raise SuppleError(f"{file}: K must be a square matrix")
        return int(data["K"].shape[0])
    if "K_row" in data:
        return int(_whole(data, "K_row", file).max(initial=0)) + 1
    raise KeyError("K")


def _nodes(given: Array, file: str) -> tuple[Array, Array]:
    if given.ndim != 2 or given.shape[1] not in (3, 4) or not len(given):
        raise SuppleError(f"{file}: nodes must have three columns (x, y, z), or four with the node's number first")
    if given.shape[1] == 4:
        if not _are_whole(given[:, 0]):
            raise SuppleError(f"{file}: the first of four columns of nodes must be their numbers")
        return given[:, 0].astype(int), given[:, 1:]
    return np.arange(1, len(given) + 1), given


def _matrix(data: Mapping[str, Array], name: str, n: int, file: str) -> Matrix:
    if f"{name}_row" in data:
        rows, columns = (_whole(data, f"{name}_{k}", file) for k in ("row", "column"))
        values = real_numbers(data[f"{name}_value"], name, file)
        if len(rows) and (min(rows.min(), columns.min()) < 0 or max(rows.max(), columns.max()) >= n):
            raise SuppleError(f"{file}: {name} has an entry outside {n} x {n}")
        made: Matrix = sparse.csr_matrix((values, (rows, columns)), (n, n))
        return made
    A: Any = data[name]
    if sparse.issparse(A) and hasattr(A, "check_format"):
        A.check_format(full_check=True)  # indices of a broken file would be followed out of memory
    made = real_numbers(A, name, file).tocsr() if sparse.issparse(A) else sparse.csr_matrix(real_numbers(A, name, file))
    return made


def real_numbers(A: Any, name: str, file: str) -> Any:
    """A as real numbers; complex ones are a damped model's, whose imaginary part may not get lost unsaid."""
    if np.iscomplexobj(A):
        raise SuppleError(f"{file}: {name} is complex; give real numbers, and damping by damping:")
    return A if sparse.issparse(A) else np.asarray(A, dtype=float)


def to_arrays(model: NodalModel) -> dict[str, Array]:
    """The named arrays of a model."""
    made = {"labels": model.labels, "xyz": model.xyz, "node": model.node, "component": model.component}
    for name, A in (("M", model.M), ("K", model.K)):
        if A is not None:
            entries = sparse.coo_matrix(A)
            made |= {f"{name}_row": entries.row, f"{name}_column": entries.col, f"{name}_value": entries.data}
    if model.modes is not None and model.squares is not None:
        made |= {"modes": model.modes, "squares": model.squares}
    return made


def write_model(model: NodalModel, path: Path) -> Path:
    """The npz file of a model."""
    return written_whole(path, lambda file: np.savez_compressed(file, **to_arrays(model)))  # type: ignore[arg-type]


def read_matlab(path: Path) -> NodalModel:
    """M, K and nodes of a MATLAB file (up to version 7.2)."""
    return from_arrays(read_variables(path), path.name)


def read_matrix_market(stiffness: Path, mass: Path | None, nodes: Path | None) -> NodalModel:
    """K and M from MatrixMarket files and nodes from a table."""
    if mass is None or nodes is None:
        raise SuppleError(f"{stiffness.name}: a MatrixMarket stiffness needs mass: (its mass matrix) and nodes: (a table)")
    data = {"K": read_market(stiffness), "M": read_market(mass), "nodes": read_node_table(nodes)}
    return from_arrays(data, stiffness.name)


def read_node_table(path: Path) -> Array:
    """Nodes from a text table: x y z, or number x y z, divided by commas or blanks."""
    checked_file(path)
    rows = []
    for number, line in enumerate(io.StringIO(path.read_text(encoding="latin-1")), start=1):
        text = line.split("#")[0].replace(",", " ").split()
        if not text:
            continue
        try:
            rows.append([float(x) for x in text])
        except ValueError as error:
            if not rows and number == 1:
                continue  # a heading
            raise SuppleError(f"{path.name}:{number}: is no row of numbers") from error
        if not np.isfinite(rows[-1]).all():
            raise SuppleError(f"{path.name}:{number}: a number is not finite")
        if len(rows[-1]) != len(rows[0]):
            raise SuppleError(f"{path.name}:{number}: has {len(rows[-1])} numbers where the rows before have {len(rows[0])}")
    if not rows:
        raise SuppleError(f"{path.name}: holds no nodes")
    return np.array(rows)
