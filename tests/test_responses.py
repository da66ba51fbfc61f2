"""Frequency responses and linear models against exact beams, simulations, and each other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import supple
from supple.analyses.frf import frf
from supple.analyses.linear import linear
from supple.cli.main import main
from supple.machine import Machine
from supple.model.ports import Ports
from supple.model.small_motions import SmallMotions

BEAM = """
space: planar
gravity: [0, 0, 0]
parameters: {eta: 0.02}
materials: {steel: {E: 200 GPa, nu: 0.3, rho: 7800}}
sections: {bar: {rectangle: {y: 0.5 mm, z: 20 mm}}}
damping: {structural: eta}
bodies: {rod: {beam: {length: 0.5, section: bar, material: steel, elements: 24, theory: euler_bernoulli}}}
links: {rod: {parent: base, body: rod}}
points: {tip: {link: rod, on: end}}
"""
E, L, EI, MU = 200e9, 0.5, 200e9 * 0.02 * 0.0005**3 / 12, 7800 * 1e-5


def receptance(f: np.ndarray, eta: float) -> np.ndarray:
    """Tip over tip force of a clamped-free beam (Bishop & Johnson), EI (1 + i eta)."""
    bending = EI * (1 + 1j * eta)
    b = ((2 * np.pi * f) ** 2 * MU / bending) ** 0.25 * L
    top = np.sin(b) * np.cosh(b) - np.cos(b) * np.sinh(b)
    return top / (bending * (b / L) ** 3 * (1 + np.cos(b) * np.cosh(b)))


@pytest.mark.parametrize(("quantity", "order"), [("displacement", 0), ("velocity", 1), ("acceleration", 2)])
def test_a_cantilever_with_structural_damping_is_exact(quantity: str, order: int) -> None:
    """Three modes within the band, and what lies between them, where the beam stands still."""
    found = frf(Machine.parse(BEAM), ["tip.fy"], ["tip.y"], band=(0.25, 35.0), points=300, quantity=quantity)
    true = receptance(found.frequencies_hz, 0.02) * (2j * np.pi * found.frequencies_hz) ** order
    np.testing.assert_allclose(found["tip.y", "tip.fy"], true, rtol=1e-3)


@pytest.mark.parametrize(("name", "inputs", "outputs"), [("dualemps", "tau,P.fx", "q,P"), ("3rrr", "tool", "tool")])
def test_state_space_and_frequency_domain_agree(name: str, inputs: str, outputs: str) -> None:
    """Of viscous damping: the same responses by A, B, C, D and by solving at every frequency; of all derivatives."""
    robot = supple.Robot(name)
    for quantity in ("displacement", "velocity", "acceleration"):
        model = robot.linear(inputs, outputs, quantity=quantity)
        found = robot.frf(inputs, outputs, band=(1.0, 300.0), points=50, quantity=quantity)
        assert (model.inputs, model.outputs, model.output_units) == (found.inputs, found.outputs, found.output_units)
        own = model.response(found.frequencies_hz)
        assert np.abs(own - found.values).max() < 1e-8 * np.abs(found.values).max()


MASSES = """
space: spatial
gravity: [0, 0, 0]
bodies: {{none: {{rigid: {{mass: 0.5}}}}, block: {{rigid: {{mass: 1.5}}}}}}
links:
  slide: {{parent: base, stiffness: {{x: 8000}}, damping: {{x: {c}}}, body: none}}
  block: {{parent: slide, stiffness: {{y: 15000}}, damping: {{y: 5}}, body: block}}
points: {{tip: {{link: block}}}}
"""


def written(folder: Path, text: str) -> supple.Robot:
    (folder / "robot.yaml").write_text(text)
    return supple.Robot(folder / "robot.yaml")


def test_the_peak_of_a_narrow_resonance_is_its_own_and_not_the_grids(tmp_path: Path) -> None:
    """2 kg on 8 kN/m with 0.05 N s/m: 1 / (2 k z sqrt(1 - z^2)) at f sqrt(1 - 2 z^2), between lines 2.5 Hz apart. What the
    other direction does is nothing."""
    k, c = 8000.0, 0.05
    z = c / (2 * np.sqrt(k * 2))
    found = written(tmp_path, MASSES.format(c=c)).frf(
        "tip.fx", "tip.x,tip.y", band=(0, 25), points=11, quantity="displacement"
    )  # fmt: skip
    hz, size = found.peak("tip.x", "tip.fx")
    assert hz == pytest.approx(np.sqrt(k / 2 * (1 - 2 * z**2)) / (2 * np.pi), rel=1e-9)
    assert size == pytest.approx(1 / (2 * k * z * np.sqrt(1 - z**2)), rel=1e-9)
    assert np.abs(found["tip.x", "tip.fx"]).max() < 0.05 * size  # the grid knows nothing of it
    told = found.to_json()["peaks"][0]
    assert (told["output"], told["input"], told["frequency_hz"], told["size"]) == ("tip.x", "tip.fx", hz, size)
    assert found.drawn[1].shape[0] == len(found.drawn[0]) > 11 and size in np.abs(found.drawn[1])
    assert not found["tip.y", "tip.fx"].any() and found.peak("tip.y", "tip.fx")[1] == 0
    assert "10.066" in found._repr_html_() and f"{size:.4g}" in found._repr_html_()


def test_a_resonance_that_nothing_damps_has_no_bound(tmp_path: Path) -> None:
    found = written(tmp_path, MASSES.format(c=0)).frf("tip.fx", "tip.x", band=(0, 25), points=11)
    assert [n for n in found.notices if "nothing damps the modes at 10.066 Hz" in n]


def test_modes_of_computed_responses_are_those_of_the_robot(tmp_path: Path) -> None:
    """What `frf` writes `extract` reads as it is: the three modes of a beam whose bending stiffness loses 2 %, and none
    that stands for what poles cannot say of such damping."""
    written(tmp_path, BEAM).frf("tip.fy", "tip.y", band=(0.5, 35.0), points=1400).save(tmp_path / "frf.uff")
    modes = supple.Robot.extract(tmp_path / "frf.uff").modes
    roots = np.array([1.875104069, 4.694091133, 7.854757438])
    np.testing.assert_allclose(modes.frequencies_hz, (roots / L) ** 2 * np.sqrt(EI / MU) / (2 * np.pi), rtol=1e-3)
    np.testing.assert_allclose(modes.damping_ratios, 0.01, rtol=0.02)


def test_the_response_at_rest_is_the_compliance() -> None:
    robot = supple.Robot("delta")
    found = robot.frf("tool", "tool", band=(0.0, 1.0), points=2, quantity="displacement")
    C = robot.stiffness("tool").compliance
    assert np.abs(found.values[0] - C).max() < 1e-9 * np.abs(C).max()
    assert found.inputs[:4] == ("tool.fx", "tool.fy", "tool.fz", "tool.mx")


def test_a_blow_rings_as_the_linear_model_says(tmp_path: Path) -> None:
    """A short push on DualEMPS's tip, sliders held, simulated and by the exponential of A."""
    from scipy.linalg import expm

    (tmp_path / "push.yaml").write_text(
        "signals: {q11: {sweep: {amplitude: 0 m, first: 1 Hz, last: 2 Hz}}}\n"
        "loads: {P: {fx: {step: {height: 0.01 N, at: 0 s}}}}\nduration: 0.1 s\n"
    )
    robot = supple.Robot("dualemps", width=1e3, gravity=0)  # Coulomb friction, which is not linear, as good as none
    run = robot.simulate(tmp_path / "push.yaml", tol=1e-7, every=2e-3)
    model = robot.linear("P.fx", "P.x")
    h = run.time[1] - run.time[0]
    n = len(model.A)
    step = expm(h * np.block([[model.A, model.B], [np.zeros((1, n + 1))]]))
    x = np.concatenate([np.zeros(n), [0.01]])
    wanted = []
    for _ in run.time:
        wanted.append(float(model.C[0] @ x[:n]))
        x = step @ x
    moved = run["point_position:P"][:, 0]
    assert moved - moved[0] == pytest.approx(wanted, abs=3e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("reduction", ["balanced", "modal"])
def test_twelve_states_of_a_delta(reduction: str) -> None:
    """Within 1 % of the whole model's response in the band, and within the bound that the model tells."""
    robot = supple.Robot("delta")
    whole, small = (robot.linear("tool.fx", "tool.x", order=k, reduction=reduction) for k in (None, 12))
    assert len(small.states) == 12
    f = np.linspace(1, 100, 200)
    a, b = whole.response(f)[:, 0, 0], small.response(f)[:, 0, 0]
    assert np.abs(a - b).max() < 0.01 * np.abs(a).max()
    if reduction == "balanced":
        assert small.error_bound is not None
        assert np.abs(a - b).max() <= small.error_bound * 2 * np.abs(a).max() + 1e-12 * np.abs(a).max()


def test_files_keep_everything(tmp_path: Path) -> None:
    import xarray
    from scipy.io import loadmat

    found = supple.Robot("cantilever").frf("tip.fz,tip.fy", "tip", points=21)
    for suffix in ("nc", "csv", "mat"):
        assert found.save(tmp_path / f"frf.{suffix}").exists()
    with xarray.open_dataset(tmp_path / "frf.nc", engine="h5netcdf") as back:
        np.testing.assert_array_equal(back["real"] + 1j * back["imaginary"], found.values)
        assert back.output.values.tolist() == list(found.outputs)
    np.testing.assert_allclose(loadmat(tmp_path / "frf.mat")["values"], found.values)
    rows = np.loadtxt(tmp_path / "frf.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(rows[:, 1] + 1j * rows[:, 2], found["tip.x", "tip.fz"], atol=1e-12)
    assert found.plot(tmp_path / "bode.png")._repr_png_()[:4] == b"\x89PNG"
    model = supple.Robot("cantilever").linear("tip.fz", "tip.z", order=4, reduction="modal")
    for suffix in ("mat", "npz", "json"):
        model.save(tmp_path / f"model.{suffix}")
    data = json.loads((tmp_path / "model.json").read_text())
    assert np.array(data["A"]) == pytest.approx(model.A) and data["outputs"] == ["tip.z"]
    with np.load(tmp_path / "model.npz", allow_pickle=False) as back:
        assert back["B"] == pytest.approx(model.B) and back["inputs"].tolist() == ["tip.fz"]
    assert loadmat(tmp_path / "model.mat")["C"] == pytest.approx(model.C)


def test_universal_files_of_responses(tmp_path: Path) -> None:
    pyuff = pytest.importorskip("pyuff")
    found = supple.Robot("cantilever").frf("tip.fz", "tip.z,tip.ry", points=11)
    found.save(tmp_path / "frf.uff")
    units, first, second = pyuff.UFF(str(tmp_path / "frf.uff")).read_sets()
    assert units["type"] == 164 and units["length"] == units["force"] == 1.0
    np.testing.assert_allclose(first["data"], found["tip.z", "tip.fz"], rtol=1e-5)
    assert (first["rsp_dir"], first["ref_dir"], second["rsp_dir"]) == (3, 3, 5)
    np.testing.assert_allclose(first["x"], found.frequencies_hz)


def test_python_control_gets_the_names() -> None:
    control = pytest.importorskip("control")
    made = supple.Robot("dualemps").linear("tau", "q").to_control()
    assert made.input_labels == ["tau_q11", "tau_q21"] and isinstance(made, control.StateSpace)


def test_a_robot_that_nothing_holds_has_no_response_at_rest() -> None:
    found = supple.Robot("dualemps").frf("tau", "q", band=(0, 10), points=3, quantity="displacement")
    assert np.isnan(found.values[0]).all() and np.isfinite(found.values[1:]).all()
    assert "at 0 Hz nothing resists" in found.notices[-1]
    assert np.isfinite(supple.Robot("dualemps").frf("P", "P", band=(0, 10), points=3).values).all()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("frf dualemps --in P.fy --out P", "dualemps is planar: at 'P' it knows fx, fz, my, not fy"),
        ("modes dualemps --load P=0,5,0", "dualemps is planar: at 'P' it knows fx, fz, my, not fy"),
        ("frf dualemps --in tau --out P --held", "move nothing while the actuators are held"),
        ("frf dualemps --in P.fq --out P", "a point has fx, fy, fz, mx, my, mz, not 'fq'"),
        ("frf dualemps --in Q.fx --out P", "has no point 'Q'; it has: P"),
        ("frf dualemps --in tau.q --out P", "has no actuator 'q'; it has: q11, q21"),
        ("frf dualemps --in P --out P --band 5:1", "band 5:1 Hz: must go from zero"),
        ("linear dualemps --in tau --out P --order 4", "needs modes that are all damped"),
        ("linear dualemps --in P --out P -o x.txt", "written to .mat, .nc, .csv, .npz, .json or .c"),
    ],
)
def test_mistakes(words: str, says: str) -> None:
    found = CliRunner().invoke(main, words.split())
    assert found.exit_code == 2 and says in found.output
    assert len(found.output.strip().splitlines()) == 1


def test_the_verbs() -> None:
    shown = CliRunner().invoke(main, ["frf", "cantilever", "--in", "tip.fz", "--out", "tip.z", "--points", "50"])
    assert shown.exit_code == 0 and "m/s^2 per N" in shown.output
    data = json.loads(CliRunner().invoke(main, ["linear", "dualemps", "--in", "tau", "--out", "q", "--json"]).stdout)
    assert set("ABCD") <= data.keys() and len(data["A"]) == len(data["states"]) and data["inputs"] == ["tau.q11", "tau.q21"]
    same = linear(Machine.read("dualemps"), ["tau"], ["q"])
    assert np.array(data["A"]) == pytest.approx(same.A)


def test_a_linear_model_as_c_gives_the_same_numbers(tmp_path: Path) -> None:
    """Compiled and called with random states and inputs, beside its matrices."""
    import ctypes
    import shutil
    import subprocess

    model = supple.Robot("3rrr").linear("tool", "tool")
    model.save(tmp_path / "model.c")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", tmp_path / "model.so", tmp_path / "model.c"], check=True)
    library = ctypes.CDLL(str(tmp_path / "model.so"))
    rng = np.random.default_rng(3)
    x, u = rng.standard_normal(len(model.states)), rng.standard_normal(len(model.inputs))
    for name, size, true in (
        ("derivative", len(x), model.A @ x + model.B @ u), ("output", len(model.outputs), model.C @ x + model.D @ u),
    ):  # fmt: skip
        made = np.zeros(size)
        getattr(library, f"robot_3rrr_{name}")(*(ctypes.c_void_p(a.ctypes.data) for a in (x, u, made)))
        np.testing.assert_allclose(made, true, rtol=1e-12, atol=1e-12 * np.abs(true).max())


def test_twelve_states_say_what_all_do_of_a_robot_with_fast_modes() -> None:
    """Lightly damped slow modes beside fast ones are damped all the same, and twelve states keep the response."""
    robot = supple.Robot("gough_stewart_flexible")
    reduced = robot.linear("centre.fz", "centre.z", order=12)
    full = robot.frf("centre.fz", "centre.z", band=(1, 100), points=60, quantity="displacement")
    assert len(reduced.states) == 12
    assert np.abs(reduced.response(full.frequencies_hz) - full.values).max() < 1e-2 * np.abs(full.values).max()


DAMPINGS = {  # of a robot of n modes, with squared frequencies s: D and H
    "none": lambda n, s, r: (np.zeros((n, n)), np.zeros((n, n))),
    "structural": lambda n, s, r: (np.zeros((n, n)), r @ r.T * np.sqrt(np.outer(s, s)) / n),
    "viscous": lambda n, s, r: (r @ r.T, np.zeros((n, n))),
    "both": lambda n, s, r: (r[:, :2] @ r[:, :2].T, 0.01 * np.diag(s)),
    "as great as can be": lambda n, s, r: (2 * np.diag(np.sqrt(s)), np.zeros((n, n))),  # pairs of poles meet
}


@pytest.mark.parametrize("damping", DAMPINGS)
def test_responses_are_solutions_at_every_frequency(damping: str) -> None:
    """Sums over damped modes beside the equations solved one by one, frequencies six powers of ten apart."""
    rng, n = np.random.default_rng(3), 20
    s = np.logspace(2, 10, n)
    D, H = DAMPINGS[damping](n, s, rng.standard_normal((n, n)))
    B, C = rng.standard_normal((n, 3)), rng.standard_normal((2, n))
    ports = Ports((), (), np.zeros((0, 0)))
    made = SmallMotions(s, np.diag(s), D, H, B, C, ports, ports, np.zeros(0))
    f = np.linspace(0.0, 40.0, 41)
    w = 2 * np.pi * f[:, None, None]
    eta = np.linalg.solve(np.diag(s) + 1j * H + 1j * w * D - w**2 * np.eye(n), B[None])
    size = np.linalg.norm(C, axis=1)[:, None] * np.linalg.norm(eta, axis=1)[:, None, :]
    for order in (0, 2):
        apart = np.abs(made.response(f, order) - (1j * w) ** order * (C @ eta))
        assert (apart <= 1e-11 * np.abs(w) ** order * size).all()
