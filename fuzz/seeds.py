"""Whole files to start from: made here, or taken from the gallery, docs/ and tests/, each in a folder with what it needs."""

from __future__ import annotations

import lzma
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import examinations as examine

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))  # its writers of bars and of Nastran's files


@dataclass(frozen=True)
class Seed:
    """A whole file, and what is done with it: `examine(path, deep)` raises SuppleError if it is refused."""

    path: Path
    examine: Callable[[Path, bool], None]


def _folder(parent: Path, name: str) -> Path:
    made = parent / name
    made.mkdir(parents=True)
    return made


def robots(folder: Path) -> list[Seed]:
    """The gallery, and robots of tests."""
    from supple.machine import GALLERY

    data = ROOT / "tests" / "data"
    made = []
    for source in (*sorted(GALLERY.glob("*.yaml")), data / "five_bar_outward.yaml", *sorted((data / "idle").glob("*.yaml"))):
        path = _folder(folder, source.stem) / "robot.yaml"
        path.write_bytes(source.read_bytes())
        made.append(Seed(path, examine.robot))
    return made


def motions(folder: Path) -> list[Seed]:
    """Examples of docs/motions.md, which begin with the name of their robot."""
    blocks = re.findall(r"```yaml\n(# (\w+):.*?)```", (ROOT / "docs" / "motions.md").read_text(encoding="utf-8"), re.DOTALL)
    made = []
    for k, (content, name) in enumerate(blocks):
        path = _folder(folder, f"{k}_{name}") / "motion.yaml"
        path.write_text(content, encoding="utf-8")
        if "csv:" not in content:
            made.append(Seed(path, examine.motion_of(name)))
    return made


TEST = """
about: a hammer test
sensors:
  tip: {link: '17', at: [0.02, 0, 0], axes: link, node: 4, mass: 30 g, directions: [x, -y]}
  left: {joint: q11, kind: encoder, node: 5}
exciters:
  hammer: {point: P, direction: -x, node: 9}
record: {samples: 256, duration: 1 s, averages: 2, estimator: Hv, force_window: 0.2, exponential: 0.1}
band: [1 Hz, 80 Hz]
poses:
  first: {at: {q11: 0.05}, frequencies: [25 Hz, 14 Hz], damping: [0.02, 0.01]}
  second: {at: {q11: 50 mm, q21: 0}, responses: responses.uff, modes: modes.uff, table: table.csv, held_out: true}
static:
  pushed: {table: static.csv, sensor: tip, exciter: hammer, force: 10 N}
priors:
  E: {deviation: 0.1, least: 50 GPa, most: 90 GPa}
"""


def tests(folder: Path) -> list[Seed]:
    """A test of dualemps with files beside it."""
    here = _folder(folder, "hammer")
    _measured(here)
    path = here / "test.yaml"
    path.write_text(TEST, encoding="utf-8")
    return [Seed(path, examine.test)]


def _measured(folder: Path) -> None:
    """responses.uff, modes.uff, table.csv and static.csv of the test."""
    from supple.measured.mode_sets import NodalMode, write_modes
    from supple.storage.universal import RESPONSE, Function58, write_functions

    f = np.linspace(1.0, 64.0, 64)
    y = 1 / ((2 * np.pi * 20) ** 2 - (2 * np.pi * f) ** 2 + 20j * f)
    made = [Function58(RESPONSE, f, y * k, 4, k, 9, -1, 2, False, f"response {k}") for k in (1, 2)]
    write_functions(folder / "responses.uff", made, {4: (0, 0, 0), 9: (0.1, 0, 0)})
    write_modes(folder / "modes.uff", [NodalMode(complex(-1, w), {4: np.array([1, 2, 3 + 1j])}) for w in (50.0, 90.0)])
    (folder / "table.csv").write_text("frequency [Hz],damping\n14.1,0.01\n24.9,0.02\n")
    (folder / "static.csv").write_text("q11 [mm],q21 [mm],dx [um],dy [um]\n0,0,10,1\n50,0,11,2\n")


def tables(folder: Path) -> list[Seed]:
    """Tables of a motion, of results, of modes, of displacements and of poses."""
    times = np.linspace(0, 1, 12)
    moved = "\n".join(f"{t:.3f},{0.1 * t * t:.6f},{-20 * t:.5g}" for t in times)
    texts = {
        "motion": ("t [s],q11 [m],q21 [mm]\n" + moved + "\n", examine.motion_of("dualemps")),
        "result": ("# assembly: \nt (s),tau[q11] (N),tau[q21] (N)\n" + moved + "\n", examine.motion_of("dualemps")),
        "modal": ("frequency [Hz];damping\n14.1;0.01\n24.9;0.02\n", examine.modal_table),
        "static": ("q11 [mm]\tq21 [mm]\tdx [um]\tdy\n0\t0\t10\t1e-6\n50\t0\t11\t2e-6\n", examine.static_table),
        "poses": ("q11 [mm],q21 (m)\n0,0\n50,0.05\n-20,0.01\n", examine.poses),
        "nodes": ("x, y, z\n0, 0, 0\n1, 0, 0\n0, 1, 0\n0.5, 0.25, 1e-3\n", examine.node_table),
    }
    made = []
    for name, (content, judge) in texts.items():
        path = _folder(folder, name) / f"{name}.csv"
        path.write_text(content)
        made.append(Seed(path, judge))
    return made


def controllers(folder: Path) -> list[Seed]:
    """A controller for two poses."""
    from test_hostile_files import small_law

    from supple.motion.laws import law_text

    path = _folder(folder, "law") / "law.json"
    path.write_text(law_text(small_law()), encoding="utf-8")
    return [Seed(path, examine.controller)]


def imports(folder: Path) -> list[Seed]:
    """Robots of other programs: those of tests, and tables of a published robot."""
    import test_beginnings

    published = ROOT / "src" / "supple" / "papers" / "surgiscope"
    tables = [published / name for name in ("table_3a.csv", "table_3b.csv", "table_3_loops.yaml")]
    made = []
    for name, content in (("two.par", test_beginnings.PAR), ("arm.urdf", test_beginnings.URDF)):
        path = _folder(folder, name.partition(".")[2]) / name
        path.write_text(content, encoding="utf-8")
        made.append(Seed(path, examine.brought))
    for table in tables:
        here = _folder(folder, table.stem)
        for other in tables:
            (here / other.name).write_bytes(other.read_bytes())
        made.append(Seed(here / table.name, examine.brought))
    return made


# Finite elements ----------------------------------------------------------------------------------------------------------


@cache
def _bar() -> Any:
    import bars

    from supple.robot.finite_elements.solid import solid

    points, cells = bars.hexahedra(1)
    return solid(points, cells, bars.E, bars.NU, bars.RHO)


@cache
def _modal() -> Any:
    from supple.robot.finite_elements.files import modal_model

    return modal_model(_bar(), 4)


def _fe_seed(folder: Path, path: Path, more: str = "", *, modal: bool = False) -> Seed:
    """A robot file beside a file of a bar, whose arm it is."""
    import bars

    ways = "free_free: {modes: 3}" if modal else "craig_bampton: {modes: 2}"
    ends = "attachments: {root: {plane: {x: 0}}, end: {plane: {x: 1}}}, root: root"
    arm = f"{{fe: {{file: {path.name}{more}, {ends}, reduction: {{{ways}}}}}}}"
    return Seed(path, examine.fe_body(bars.robot_file(folder, arm)))


def _corners() -> tuple[Any, Any]:
    import bars

    points, cells = bars.hexahedra(1)
    return points, cells


def _decks(folder: Path, name: str, suffix: str, lines: Iterable[str]) -> Seed:
    path = _folder(folder, name) / f"bar.{suffix}"
    path.write_text("\n".join(lines) + "\n")
    _fe_seed(path.parent, path, ", material: steel")
    return Seed(path, examine.mesh(path.parent / "robot.yaml"))


def abaqus(folder: Path) -> list[Seed]:
    points, cells = _corners()
    lines = ["*HEADING", " bar", "*NODE, NSET=Nall"]
    lines += [f"{k + 1}, {x:.12g}, {y:.12g}, {z:.12g}" for k, (x, y, z) in enumerate(points)]
    lines += ["*ELEMENT, TYPE=C3D8, ELSET=Eall", *(f"{k + 1}, " + ", ".join(map(str, c + 1)) for k, c in enumerate(cells))]
    return [_decks(folder, "mesh", "inp", lines)]


def bulk_data(folder: Path) -> list[Seed]:
    points, cells = _corners()
    free = [f"GRID,{k + 1},,{x:.12g},{y:.12g},{z:.12g}" for k, (x, y, z) in enumerate(points)]
    wide = [f"GRID*   {k + 1:16d}{'':16}{x:16.9f}{y:16.9f}\n*       {z:16.9f}" for k, (x, y, z) in enumerate(points)]
    solids = []
    for k, c in enumerate(cells):
        row = [f"{n + 1:<8d}" for n in c]
        solids += [f"{'CHEXA':<8}{k + 1:<8d}{1:<8d}" + "".join(row[:6]), "+       " + "".join(row[6:])]
    turned = ["CORD2R,5,,0.,0.,0.,0.,0.,1.", ",1.,0.,0."]
    return [
        _decks(folder, "free", "bdf", ["BEGIN BULK", *turned, *free, *solids, "ENDDATA"]),
        _decks(folder, "wide", "bdf", [*turned, *wide, *solids]),
    ]


def output2(folder: Path) -> list[Seed]:
    import nastran_writers

    made = []
    for name, order, word in (("little", "<", 4), ("big", ">", 4), ("long", "<", 8)):
        path = nastran_writers.op2(_folder(folder, name) / "bar.op2", order, word)
        made.append(_fe_seed(path.parent, path, modal=True))
    return made


def punch(folder: Path) -> list[Seed]:
    import nastran_writers

    path = nastran_writers.punch(_folder(folder, "punch") / "bar.pch")
    return [_fe_seed(path.parent, path, modal=True)]


def universal(folder: Path) -> list[Seed]:
    """A mesh, modes of a body, and measurements: responses and modes."""
    from supple.robot.finite_elements.universal import write_universal

    points, cells = _corners()
    lines = ["    -1", "  2411"]
    for k, place in enumerate(points):
        lines += [f"{k + 1:10d}{1:10d}{1:10d}{11:10d}", "".join(f"{x:25.16E}" for x in place)]
    lines += ["    -1", "    -1", "  2412"]
    for k, cell in enumerate(cells):
        lines += [f"{k + 1:10d}{115:10d}{1:10d}{1:10d}{7:10d}{8:10d}", "".join(f"{n + 1:10d}" for n in cell)]
    modal = _folder(folder, "modal") / "bar.uff"
    write_universal(_modal(), modal)
    here = _folder(folder, "measured")
    _measured(here)
    (here / "binary.uff").write_bytes(_binary())
    return [
        _decks(folder, "mesh", "unv", [*lines, "    -1"]),
        _fe_seed(modal.parent, modal, modal=True),
        Seed(here / "responses.uff", examine.responses),
        Seed(here / "binary.uff", examine.responses),
        Seed(here / "modes.uff", examine.nodal_modes),
    ]


def _binary() -> bytes:
    """A response in binary (dataset 58b)."""
    data = np.linspace(1, 2, 64).astype("<f4").tobytes()
    head = f"    58b     1     2          11{len(data):12d}     0     0           0           0\n"
    lines = [
        "NONE", "NONE", "NONE", "NONE", "NONE",
        f"{4:5d}{0:10d}{0:5d}{0:10d} {'NONE':<10}{4:10d}{1:4d} {'NONE':<10}{9:10d}{1:4d}",
        f"{5:10d}{32:10d}{1:10d}{0.0:13.5E}{1.0:13.5E}{0.0:13.5E}",
        f"{18:10d}{0:5d}{0:5d}{0:5d} {'Frequency':<20} {'Hz':<20}", f"{12:10d}{0:5d}{0:5d}{0:5d} {'NONE':<20} {'m/s^2':<20}",
        f"{13:10d}{0:5d}{0:5d}{0:5d} {'NONE':<20} {'N':<20}", f"{0:10d}{0:5d}{0:5d}{0:5d} {'NONE':<20} {'NONE':<20}",
    ]  # fmt: skip
    return ("    -1\n" + head + "\n".join(lines) + "\n").encode() + data + b"\n    -1\n"


def results(folder: Path) -> list[Seed]:
    """CalculiX's modes of the bar, the first eight of them."""
    data = ROOT / "tests" / "data" / "calculix_bar"
    content = lzma.decompress((data / "barm.frd.xz").read_bytes()).decode("latin-1")
    parts = re.split(r"(?m)^(?=    1PSTEP)", content)
    path = _folder(folder, "modes") / "barm.frd"
    path.write_text("".join(parts[:9]) + " 9999\n", encoding="latin-1")
    (path.parent / "barm.dat").write_bytes((data / "barm.dat").read_bytes())
    return [_fe_seed(path.parent, path, modal=True)]


def _node_by_node() -> dict[str, Any]:
    """K and M of the bar, its coordinates node by node."""
    order = np.lexsort((_bar().component, _bar().node))
    return {key: getattr(_bar(), key).tocsr()[order][:, order] for key in ("K", "M")}


def market(folder: Path) -> list[Seed]:
    """Both matrices of the bar, each damaged in turn."""
    from scipy.io import mmwrite
    from scipy.sparse import coo_matrix

    made = []
    for name in ("K", "M"):
        here = _folder(folder, name)
        np.savetxt(here / "nodes.csv", _bar().xyz, delimiter=",")
        for key, A in _node_by_node().items():
            mmwrite(here / f"{key}.mtx", coo_matrix(A), symmetry="symmetric", precision=12)
        seed = _fe_seed(here, here / "K.mtx", ", mass: M.mtx, nodes: nodes.csv")
        made.append(Seed(here / f"{name}.mtx", seed.examine))
    return made


def stored_matrices(folder: Path) -> list[Seed]:
    """bar.dof, bar.sti and bar.mas as CalculiX stores them, each damaged in turn."""
    model, made = _bar(), []
    for suffix in ("dof", "sti", "mas"):
        here = _folder(folder, suffix)
        nodes = [f"{n + 1},{x:.12g},{y:.12g},{z:.12g}" for n, (x, y, z) in enumerate(model.xyz)]
        (here / "bar.inp").write_text("\n".join(["*NODE", *nodes]) + "\n")
        rows = [f"{n + 1}.{c + 1}" for n, c in zip(model.node, model.component, strict=True)]
        (here / "bar.dof").write_text("\n".join(rows) + "\n")
        for key, end in (("K", "sti"), ("M", "mas")):
            A = np.triu(np.asarray(getattr(model, key).todense()))
            entries = [f"{i + 1} {j + 1} {A[i, j]:20.13e}" for j in range(len(A)) for i in range(j + 1)]
            (here / f"bar.{end}").write_text("\n".join(entries) + "\n")
        made.append(Seed(here / f"bar.{suffix}", _fe_seed(here, here / "bar.sti").examine))
    return made


def matlab(folder: Path) -> list[Seed]:
    from scipy.io import savemat
    from scipy.sparse import csc_matrix

    made = []
    for name, packed in (("plain", False), ("packed", True)):
        path = _folder(folder, name) / "bar.mat"
        matrices = {key: csc_matrix(A) for key, A in _node_by_node().items()}
        savemat(path, {**matrices, "nodes": _bar().xyz}, do_compression=packed)
        made.append(_fe_seed(path.parent, path))
    return made


def npz(folder: Path) -> list[Seed]:
    """Matrices, modes, and a body that supple has written."""
    import bars

    from supple.analyses.bodies import bodies
    from supple.machine import Machine
    from supple.robot.finite_elements.matrix_files import write_model

    made = []
    for name, model in (("matrices", _bar()), ("modes", _modal())):
        path = _folder(folder, name) / "bar.npz"
        write_model(model, path)
        made.append(_fe_seed(path.parent, path, modal=name == "modes"))
    body = _folder(folder, "body") / "body.npz"
    bodies(Machine.read(made[0].path.parent / "robot.yaml"), write={"arm": body})
    made.append(Seed(body, examine.fe_body(bars.robot_file(body.parent, "{fe: {file: body.npz}}"))))
    return made


def netcdf(folder: Path) -> list[Seed]:
    """Tables of modes and of displacements, and results of maps."""
    from fuzz.trees import write_nc
    from supple.results.study import Column, Study
    from supple.storage.studies import save_study

    modal = {"frequency": np.array([14.1, 24.9, 30.0]), "damping": np.array([0.01, 0.02, 0.02])}
    static = {"q11": np.array([0, 0.05]), "q21": np.zeros(2), "dx": np.array([1e-5, 1.1e-5]), "dy": np.array([1e-6, 2e-6])}
    made = []
    for name, content, judge in (("modal", modal, examine.modal_table), ("static", static, examine.static_table)):
        path = _folder(folder, name) / f"{name}.nc"
        path.write_bytes(write_nc(content))
        made.append(Seed(path, judge))
    x, f = np.linspace(0, 0.1, 6), np.linspace(14, 20, 6)
    study = Study("arm", "map", (6,), ("q",), {"q": Column("m", x, "")}, {"f1": Column("Hz", f, "")}, f > 14)
    for name, judge in (("map", examine.study), ("results", examine.difference)):
        path = _folder(folder, name) / "map.nc"
        for file in (path, path.with_name("whole.nc")):
            save_study(study, file)
        made.append(Seed(path, judge))
    return made


def checkpoints(folder: Path) -> list[Seed]:
    """State and samples of a simulation under way, each damaged in turn."""
    made = []
    for name in ("state-0.bin", "samples-0.f64"):
        kept = examine.checkpoint(_folder(folder, name.partition("-")[0]) / "run.nc")
        made.append(Seed(kept / name, examine.resumed))
    return made


def parts(folder: Path) -> list[Seed]:
    """A part of a study under way."""
    return [Seed(examine.part(_folder(folder, "map") / "map.nc"), examine.part_resumed)]
