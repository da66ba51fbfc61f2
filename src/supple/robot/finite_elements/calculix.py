"""CalculiX: its stored matrices (.sti, .mas, .dof), its modes (.frd, .dat), and ccx itself if it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from supple.delivery import scratch
from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements.nodal import MOST_COORDINATES, NodalModel, check_model, without_still_nodes
from supple.robot.named_files import checked_file, files_below

_SECONDS = 600
_INCLUDES = 8  # files within files


def read_matrices(path: Path, nodes: Path | None) -> NodalModel:
    """K and M of *FREQUENCY, SOLVER=MATRIXSTORAGE, with the nodes of the input deck (same name, .inp, if not given)."""
    deck = nodes or path.with_suffix(".inp")
    places = read_nodes(deck)
    label, component = _coordinates(path.with_suffix(".dof"))
    missing = sorted(set(label.tolist()) - set(places))
    if missing:
        raise SuppleError(f"{deck.name}: has no node {missing[0]}, which {path.with_suffix('.dof').name} names")
    labels = np.unique(label)
    xyz = np.array([places[int(n)] for n in labels])
    node = np.searchsorted(labels, label)
    K, M = (_triplets(path.with_suffix(s), len(label)) for s in (".sti", ".mas"))
    return check_model(NodalModel(labels, xyz, node, component, M, K), path.name)


def _coordinates(path: Path) -> tuple[Array, Array]:
    checked_file(path)
    label, component = [], []
    for number, line in enumerate(path.read_text(encoding="latin-1").splitlines(), start=1):
        node, dot, axis = line.strip().partition(".")
        if not (dot and node.isdigit() and axis in ("1", "2", "3", "4", "5", "6")):
            raise SuppleError(f"{path.name}:{number}: is no coordinate such as 12.3")
        label.append(int(node))
        component.append(int(axis) - 1)
    if not 0 < len(label) <= MOST_COORDINATES:
        raise SuppleError(f"{path.name}: has {len(label)} coordinates; 1 to {MOST_COORDINATES} are read")
    if len(set(zip(label, component, strict=True))) != len(label):
        raise SuppleError(
            f"{path.name}: names a coordinate twice; CalculiX makes solids of shells and beams, and their matrices have no "
            "nodes of their own: use solid elements, or modes (.frd)"
        )
    return np.array(label), np.array(component)


def _triplets(path: Path, n: int) -> sparse.csr_matrix:
    """A symmetric matrix of which one triangle is stored, an entry per line."""
    checked_file(path)
    text = path.read_text(encoding="latin-1")
    try:
        numbers = np.array(text.split(), dtype=float)
    except ValueError:
        numbers = np.zeros(0)
    lines = text.splitlines()
    if not lines or numbers.size != 3 * len(lines) or not text.endswith("\n"):
        wrong = next((k for k, line in enumerate(lines, start=1) if not _is_entry(line)), len(lines))
        raise SuppleError(f"{path.name}:{wrong}: is no entry (row, column, value); the file is broken or cut off")
    rows, columns, values = numbers.reshape(-1, 3).T
    i, j = rows.astype(int) - 1, columns.astype(int) - 1
    if min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= n:
        wrong = int(np.argmax((i >= n) | (j >= n) | (i < 0) | (j < 0))) + 1
        raise SuppleError(f"{path.name}:{wrong}: an entry outside {n} x {n}; the .dof file belongs to another run")
    if len(np.unique(i[i == j])) != n:
        raise SuppleError(f"{path.name}: lacks entries of the diagonal; the file is cut off")
    upper = sparse.csr_matrix((values, (i, j)), (n, n))
    return sparse.csr_matrix(upper + upper.T - sparse.diags(upper.diagonal()))


def _is_entry(line: str) -> bool:
    parts = line.split()
    try:
        return len(parts) == 3 and int(parts[0]) > 0 and int(parts[1]) > 0 and bool(np.isfinite(float(parts[2])))
    except ValueError:
        return False


def deck_lines(path: Path, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Lines of an input deck with where they stand, without comments; *INCLUDE is followed."""
    for number, line in enumerate(checked_file(path).read_text(encoding="latin-1").split("\n"), start=1):
        text, where = line.strip(), f"{path.name}:{number}"
        if not text or text.startswith("**"):
            continue
        if not re.match(r"\*INCLUDE\b", text, re.IGNORECASE):
            yield text, where
            continue
        name = re.search(r"INPUT\s*=\s*[\"']?([^\"',]+)", text, re.IGNORECASE)
        other = path.parent / name[1].strip() if name else path
        if depth >= _INCLUDES or other == path or not other.is_file():
            raise SuppleError(f"{where}: names no file that can be included")
        yield from deck_lines(other, depth + 1)


def read_nodes(path: Path) -> dict[int, list[float]]:
    """Node number -> x, y, z of an input deck (.inp) or a result file (.frd)."""
    checked_file(path)
    if path.suffix == ".frd":
        return _Results(path).nodes
    made: dict[int, list[float]] = {}
    inside = False
    for text, where in deck_lines(path):
        if text.startswith("*"):
            inside = text.split(",")[0].strip().upper() == "*NODE"
            continue
        if inside:
            parts = [p.strip() for p in text.rstrip(",").split(",")]
            try:
                node, place = int(parts[0]), [float(p or 0) for p in (*parts[1:], "0", "0", "0")[:3]]
            except ValueError as error:
                raise SuppleError(f"{where}: is no node (number, x, y, z)") from error
            if made.setdefault(node, place) != place:
                raise SuppleError(f"{where}: node {node} is given twice; write one part, not an assembly")
    if not made:
        raise SuppleError(f"{path.name}: holds no *NODE data")
    return made


# Results ----------------------------------------------------------------------------------------------------------------


def read_results(path: Path) -> NodalModel:
    """Mass-normalised modes of a .frd file with the frequencies of the .dat file beside it."""
    results = _Results(checked_file(path))
    squares = _eigenvalues(path.with_suffix(".dat"))
    if len(squares) < len(results.modes):
        raise SuppleError(
            f"{path.with_suffix('.dat').name}: has {len(squares)} eigenvalues for {len(results.modes)} modes; "
            "run one *FREQUENCY step"
        )
    labels = np.array(sorted(results.modes[0]))
    for number, mode in enumerate(results.modes, start=1):
        if len(mode) != len(labels) or sorted(mode) != labels.tolist():
            raise SuppleError(f"{path.name}: mode {number} has other nodes than mode 1; the file is cut off or broken")
    missing = [int(n) for n in labels if int(n) not in results.nodes]
    if missing:
        raise SuppleError(f"{path.name}: modes are given at node {missing[0]}, which has no place")
    xyz = np.array([results.nodes[int(n)] for n in labels])
    shapes = np.column_stack([np.concatenate([mode[int(n)] for n in labels]) for mode in results.modes])
    node, component = np.repeat(np.arange(len(labels)), 3), np.tile(np.arange(3), len(labels))
    made = NodalModel(labels, xyz, node, component, None, None, shapes, squares[: len(results.modes)])
    return without_still_nodes(check_model(made, path.name))


class _Results:
    """Nodes and displacement modes of an ASCII .frd file."""

    def __init__(self, path: Path) -> None:
        self.file = path.name
        self.nodes: dict[int, list[float]] = {}
        self.modes: list[dict[int, list[float]]] = []
        target: dict[int, list[float]] | None = None
        ended = False
        for number, line in enumerate(path.read_text(encoding="latin-1").splitlines(), start=1):
            if line.startswith("    2C"):
                if line[-1] not in "1":  # 0 is short, 2 and 3 are binary
                    raise SuppleError(f"{self.file}:{number}: is binary or short; write it as text by *NODE FILE")
                target = self.nodes
            elif line.startswith(" -4"):
                target = None
                if line.split()[1:2] == ["DISP"]:
                    self.modes.append({})
                    target = self.modes[-1]
            elif line.startswith(" -3"):
                target = None
            elif line.startswith(" 9999"):
                ended = True
            elif line.startswith(" -1") and target is not None:
                node, values = self.entry(line, number)
                target[node] = values
        if not self.nodes:
            raise SuppleError(f"{self.file}: holds no nodes (block 2C); write it by *NODE FILE")
        if not ended:
            raise SuppleError(f"{self.file}: has no end (9999); the file is cut off")
        if not self.modes:
            raise SuppleError(f"{self.file}: holds no displacements (DISP); ask for U under *NODE FILE")

    def entry(self, line: str, number: int) -> tuple[int, list[float]]:
        try:
            node, values = int(line[3:13]), [float(line[13 + 12 * k : 25 + 12 * k]) for k in range(3)]
        except ValueError as error:
            raise SuppleError(f"{self.file}:{number}: is no node with three values") from error
        if not np.isfinite(values).all():
            raise SuppleError(f"{self.file}:{number}: holds no finite numbers")
        return node, values


def _eigenvalues(path: Path) -> Array:
    """The eigenvalues of a .dat file."""
    checked_file(path)
    found = []
    inside = False
    for number, line in enumerate(path.read_text(encoding="latin-1").splitlines(), start=1):
        packed = line.replace(" ", "")
        if "EIGENVALUEOUTPUT" in packed:
            inside = True
        elif inside and re.match(r"\s+\d+\s+[-+0-9.]", line):
            try:
                found.append(float(line.split()[1]))
            except (ValueError, IndexError) as error:
                raise SuppleError(f"{path.name}:{number}: is no eigenvalue") from error
        elif inside and found and packed:
            break
    if not found:
        raise SuppleError(f"{path.name}: holds no eigenvalues; *FREQUENCY writes them")
    return np.array(found)


# Running ----------------------------------------------------------------------------------------------------------------


def run_matrices(deck: Path) -> NodalModel:
    """K and M that ccx assembles from the model part of an input deck (everything before its first *STEP)."""
    text = "\n".join(line for line, _ in deck_lines(deck))
    model = re.split(r"^\s*\*STEP", text, maxsplit=1, flags=re.IGNORECASE | re.MULTILINE)[0]
    if re.search(r"^\s*\*BOUNDARY", model, re.IGNORECASE | re.MULTILINE):
        raise SuppleError(f"{deck.name}: holds the body by *BOUNDARY; a body must be free, its joint holds it")
    if re.search(r"^\s*\*[^\n]*\bINPUT\s*=", model, re.IGNORECASE | re.MULTILINE):
        raise SuppleError(f"{deck.name}: names files that ccx would read; only *INCLUDE may")
    with scratch() as folder:
        job = folder / "body.inp"
        job.write_text(model.rstrip() + "\n*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n*END STEP\n", encoding="latin-1")
        run_ccx(job)
        with files_below(job.parent, outside=False):
            return read_matrices(job.with_suffix(".sti"), None)


def run_ccx(deck: Path) -> str:
    """What ccx printed for a deck; its files are beside the deck."""
    program = shutil.which("ccx")
    if program is None:
        raise SuppleError("CalculiX (ccx) is not installed; install it, or give its matrices (.sti, .mas, .dof)")
    try:
        done = subprocess.run(
            [program, deck.stem], cwd=deck.parent, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SuppleError(f"{deck.name}: ccx did not finish within {_SECONDS} s") from error
    errors = [line.strip() for line in done.stdout.splitlines() if "*ERROR" in line]
    if errors or done.returncode:
        raise SuppleError(f"{deck.name}: ccx says: {errors[0] if errors else f'exit code {done.returncode}'}"[:300])
    return done.stdout
