"""Maps and sweeps: against modes and geometry, in files, interrupted and resumed, in processes that die."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import supple
from supple.cli.main import main
from supple.results.study import Column, Study
from supple.storage import studies as stored
from supple.studies import question as asking
from supple.studies.question import Question
from supple.views.study_plot import study_figure

GRID = {"x": "-0.25:0.25:21", "y": [-0.2, -0.05, 0.1, 0.2375]}


@pytest.fixture(scope="module")
def workspace() -> supple.Robot:
    return supple.Robot("3rrr")


def said(*words: str, verb: str = "map") -> tuple[int, str]:
    found = CliRunner().invoke(main, [verb, *words])
    return found.exit_code, found.stdout + found.stderr


def values(study: Study, name: str = "f1") -> np.ndarray:
    return study.quantities[name].values


def test_cells_are_empty_where_the_legs_do_not_reach(workspace: supple.Robot) -> None:
    """Reached where every wrist of a platform that may turn is within both arms' lengths: by geometry, at r = 0."""
    study = workspace.map(GRID, "f1,place(tool).x,mass", {"r": 0.0})
    x, y = (study.chosen[n].values for n in "xy")
    turn = 2 * np.pi * np.arange(3) / 3
    legs = np.hypot(x[:, None] - 0.3 * np.cos(turn), y[:, None] - 0.3 * np.sin(turn))
    within = (legs < 0.5).all(axis=1)
    assert (within == study.answered).all() and 20 < within.sum() < len(within)
    assert np.isnan(values(study)[~within]).all()
    np.testing.assert_allclose(values(study, "place(tool).x")[within], x[within], atol=1e-10)
    for row in np.flatnonzero(within)[::9]:
        own = workspace.modes({"x": x[row], "y": y[row], "r": 0.0}, count=1).frequencies_hz[0]
        assert values(study)[row] == pytest.approx(own, rel=1e-9)
    assert study.worst("f1") == np.nanargmin(values(study))


def test_a_pose_with_a_poor_pivot_is_no_hole(workspace: supple.Robot) -> None:
    study = workspace.map({"x": np.linspace(-0.25, 0.25, 61)[15:22], "y": np.linspace(-0.25, 0.25, 61)[50:57]}, "f1")
    assert study.answered.all()
    own = workspace.modes({"x": -0.1, "y": 0.2}, count=1).frequencies_hz[0]
    assert values(study).reshape(7, 7)[3, 4] == pytest.approx(own, rel=1e-9)


def test_singularities_are_where_the_platform_comes_loose(workspace: supple.Robot) -> None:
    """The platform turning in the middle: singular where the lines of the three forearms meet in it, by geometry."""
    study = workspace.map({"r": "-100 deg:100 deg:81"}, "f1,dexterity", {"x": 0.0, "y": 0.0})
    r = study.chosen["r"].values
    wrist = 0.1 * np.exp(1j * r) - 0.4
    half = abs(wrist) / 2
    elbow = 0.4 + wrist / abs(wrist) * (half - 1j * np.sqrt(0.25**2 - half**2))  # the side of the first assembly mode
    past = np.sign((elbow.conj() * (elbow - wrist - 0.4)).imag)
    assert study.answered.all()
    assert [k for k, _ in study.singular()] == np.flatnonzero(np.diff(past)).tolist() and (np.diff(past) != 0).sum() == 1


def test_coordinates_that_nobody_gives_are_those_of_home(tmp_path: Path) -> None:
    """A Delta is the same after a third of a turn about its axis, at the height of its home."""
    poses = 0.15 * np.exp(1j * (0.3 + 2 * np.pi * np.arange(3) / 3))
    (tmp_path / "poses.csv").write_text("x,y\n" + "".join(f"{float(p.real)!r},{float(p.imag)!r}\n" for p in poses))
    study = supple.Robot("delta").map(poses=tmp_path / "poses.csv", of="place(tool).z,f1")
    np.testing.assert_allclose(values(study, "place(tool).z"), -0.6, atol=1e-12)
    np.testing.assert_allclose(values(study), values(study)[0], rtol=1e-8)


def test_tables_and_motions_are_poses_too(workspace: supple.Robot, tmp_path: Path) -> None:
    (tmp_path / "poses.csv").write_text("x (mm),y [m],r (deg)\n50,0.1,0\n-20,0,5\n900,0,0\n")
    study = workspace.map(poses=tmp_path / "poses.csv")
    own = [workspace.modes(at, count=1).frequencies_hz[0] for at in ({"x": 0.05, "y": 0.1}, {"x": -0.02, "r": "5 deg"})]
    np.testing.assert_allclose(values(study)[:2], own, rtol=1e-9)
    assert np.isnan(values(study)[2]) and "cannot" in study.problems[2]
    circle = workspace.map(along="circle", samples=5, of="place(tool).x,place(tool).y")
    np.testing.assert_allclose(np.hypot(*(values(circle, f"place(tool).{n}") for n in "xy"))[1:-1], 0.05, atol=1e-6)
    assert list(circle.chosen) == ["time", "leg1/q1", "leg2/q1", "leg3/q1"]


def test_studies_in_files(workspace: supple.Robot, tmp_path: Path) -> None:
    import xarray
    from scipy.io import loadmat

    study = workspace.map({"x": [0.0, 0.1], "y": [0.0, 0.1, 0.4]}, "f1,stiffness(tool).x")
    for name in ("a.nc", "a.csv", "a.mat", "a.png"):
        (study.plot if name.endswith("png") else study.save)(tmp_path / name)
    with xarray.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as found:
        assert found["f1"].dims == ("x", "y") and found["f1"].attrs["units"] == "Hz"
        np.testing.assert_array_equal(found["f1"].values.ravel(), values(study))
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert rows[0] == "x (m),y (m),f1 (Hz),stiffness(tool).x (N/m)" and rows[3].endswith(",,")
    assert float(rows[1].split(",")[2]) == values(study)[0]
    assert loadmat(tmp_path / "a.mat")["quantities"]["f1"][0, 0].ravel()[1] == values(study)[1]
    assert study.to_xarray().sizes == {"x": 2, "y": 3}
    with pytest.raises(supple.SuppleError, match=r"\.nc, \.csv or \.mat"):
        study.save(tmp_path / "a.txt")


def test_an_interrupted_map_goes_on_where_it_was(
    workspace: supple.Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was done is not done again; the result is that of a run left alone, to the last bit."""
    monkeypatch.setattr(asking, "_MOST", 64)
    done: list[int] = []
    usual = Question.part

    def counted(self: Question, cases: asking.Cases, threads: int = 1) -> asking.Part:
        done.append(len(cases))
        return usual(self, cases, threads)

    monkeypatch.setattr(Question, "part", counted)
    grid = {"x": np.linspace(-0.1, 0.1, 16), "y": np.linspace(-0.1, 0.1, 16)}
    alone = workspace.map(grid, workers=1)
    assert done == [64] * 4

    def stop(share: float) -> None:
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workspace.map(grid, workers=1, output=tmp_path / "a.nc", progress=stop)
    done.clear()
    resumed = workspace.map(grid, workers=1, output=tmp_path / "a.nc", resume=True)
    assert done == [64, 64]
    assert values(resumed).tobytes() == values(alone).tobytes()
    assert [p.name for p in tmp_path.iterdir()] == ["a.nc"]
    with pytest.raises(supple.SuppleError, match="no parts"):
        workspace.map(grid, output=tmp_path / "a.nc", resume=True)


def test_a_full_disk_loses_nothing(workspace: supple.Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_MOST", 64)
    usual, written = Path.write_bytes, []

    def full(file: Path, content: bytes) -> int:
        if len(written) == 2:
            raise OSError(28, "No space left on device")
        written.append(file)
        return usual(file, content)

    monkeypatch.setattr(stored.Path, "write_bytes", full)
    grid = {"x": np.linspace(-0.1, 0.1, 256)}
    with pytest.raises(supple.SuppleError, match=r"No space left on device; .* --resume"):
        workspace.map(grid, workers=1, output=tmp_path / "a.csv")
    assert len(list((tmp_path / "a.csv.part").iterdir())) == 2
    damaged = next((tmp_path / "a.csv.part").iterdir())
    monkeypatch.setattr(stored.Path, "write_bytes", usual)
    damaged.write_bytes(damaged.read_bytes()[:100])
    study = workspace.map(grid, workers=1, output=tmp_path / "a.csv", resume=True)
    assert study.answered.all()


def test_processes_that_die_lose_nothing(workspace: supple.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes, one of them killed at the first answer: the same bits as without processes."""
    monkeypatch.setattr(asking, "_MOST", 64)
    grid = {"x": np.linspace(-0.1, 0.1, 512)}
    killed: list[int] = []

    def kill(share: float) -> None:
        if not killed:
            killed.append(int(multiprocessing.active_children()[0].pid or 0))
            os.kill(killed[0], signal.SIGKILL)

    study = workspace.map(grid, workers=2, progress=kill)
    assert killed
    assert values(study).tobytes() == values(workspace.map(grid, workers=1)).tobytes()


CART = """
name: cart
space: planar
gravity: [0, -9.81, 0]
bodies: {cart: {rigid: {mass: 2}}, rod: {rigid: {mass: 1, centre: [0.3, 0, 0], inertia: {zz: 0.02}}}}
links:
  cart: {parent: base, joint: prismatic, axis: x, q: x, body: cart}
  rod: {parent: cart, joint: revolute, q: s, body: rod}
actuators: {x: {}}
points: {tip: {link: rod, at: [0.6, 0, 0]}}
home: {x: 0, s: HOME deg}
"""


@pytest.mark.parametrize(("home", "far"), [(85, "3.1"), (-89, None)])
def test_a_map_says_once_where_robots_do_not_stay_in_their_poses(home: int, far: str | None, tmp_path: Path) -> None:
    """A rod on a cart: put up it comes to rest hanging, from 85 to -90 (270) degrees; sqrt(m g l / I) Hz in any case."""
    file = tmp_path / "cart.yaml"
    file.write_text(CART.replace("HOME", str(home)), encoding="utf-8")
    code, text = said(str(file), "--over", "x=0:1:5", "--of", "f1")
    assert code == 0
    assert text.count("out of the pose asked for") == (0 if far is None else 1)
    if far is not None:
        assert f"in 5 of 5 poses weight and loads push it out of the pose asked for, joints by up to {far} rad" in text
    found = supple.Robot(file).map(over={"x": "0:1:5"})
    assert len(found.notices) == (0 if far is None else 1)
    np.testing.assert_allclose(values(found), np.sqrt(9.81 * 0.3 / (0.02 + 0.3**2)) / (2 * np.pi), rtol=1e-9)


@pytest.mark.parametrize(("count", "drawn", "said_so"), [(7, 7, ""), (13, 12, "12 of 13 values of z drawn")])
def test_a_map_over_three_axes_draws_every_slice_or_says_so(count: int, drawn: int, said_so: str) -> None:
    z = np.linspace(0, 1, count)
    names = ("x", "y", "z")
    grid = dict(zip(names, np.meshgrid([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], z, indexing="ij"), strict=True))
    chosen = {n: Column("m", x.ravel()) for n, x in grid.items()}
    answered = np.ones(9 * count, dtype=bool)
    answered[0] = False
    asked = {"f1": Column("Hz", grid["z"].ravel())}
    figure = study_figure(Study("robot", "map", (3, 3, count), names, chosen, asked, answered))
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert len(titles) == drawn and titles[0] == "z = 0 mm" and titles[-1] == "z = 1000 mm"
    title = figure._suptitle.get_text()
    assert said_so in title and ("of 13" in title) == bool(said_so) and "1 without an answer" in title


def test_a_utilisation_without_a_yield_stress_says_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "rod.yaml").write_text(
        "space: spatial\nmaterials: {steel: {E: 200 GPa, nu: 0.3, rho: 7800}}\n"
        "sections: {bar: {circle: {diameter: 20 mm}}}\n"
        "bodies: {rod: {beam: {length: 1, section: bar, material: steel}}}\n"
        "links: {rod: {parent: base, joint: revolute, axis: z, q: a, body: rod}}\nactuators: {a: {}}\n"
    )
    code, text = said(str(tmp_path / "rod.yaml"), "--over", "a=0:1:2", "--of", "utilisation")
    assert code == 2 and "no yield stress is known; give `yield` under materials" in text


def test_the_command_line_says_what_it_found(tmp_path: Path) -> None:
    code, text = said("3rrr", "--over", "x=0:0.4:3", "--of", "f1,torque", "--json", "-o", str(tmp_path / "a.csv"))
    found = json.loads(text)
    assert code == 0 and found["quantities"]["f1"]["values"][2] is None and found["worst"]["f1"]["case"] == 1
    code, text = said("3rrr", "--over", "x=0:200mm:3", "--plot", str(tmp_path / "a.png"))
    assert code == 0 and "worst at" in text and "x = 200 mm" in text and (tmp_path / "a.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["3rrr"], "say where"),
        (["3rrr", "--over", "x=1:2"], "FIRST:LAST:COUNT"),
        (["3rrr", "--over", "x=0:1:2", "--at", "x=0"], "give it once"),
        (["3rrr", "--over", "nonsense=0:1:2"], "nonsense"),
        (["3rrr", "--over", "x=0:1:2", "--of", "f99"], "modes 1 to"),
        (["3rrr", "--over", "x=0:1:2", "--of", "stifness"], "did you mean stiffness"),
        (["3rrr", "--over", "x=0:1:100000", "--over", "y=0:1:100000"], "more than the"),
        (["3rrr", "--over", "x=0:1 kg:2"], "length"),
        (["3rrr", "--over", "x=0:1:2", "--resume"], "-o FILE"),
        (["3rrr", "--over", "x=0:1:2", "--poses", "a.csv"], "give one of"),
        (["3rrr", "--poses", "nowhere.csv"], "no such file"),
        (["3rrr", "--over", "x=0:0.1:2", "--dask", "tcp://127.0.0.1:9"], "no cluster that answers"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(words: list[str], reason: str) -> None:
    code, text = said(*words)
    assert code == 2 and reason in text and len(text.strip().splitlines()) == 1


def test_designs_are_those_of_changed_robots(workspace: supple.Robot) -> None:
    """All combinations of two parameters in two poses, against robots that have them; and sensitivities against theirs."""
    study = workspace.sweep(
        {"L2": [0.24, 0.26], "mass": "0.4 kg,0.6 kg"}, "f1,stiffness", over={"x": [0.0, 0.05]}, at={"y": 0.02}
    )
    assert study.shape == (2, 2, 2) and study.axes == ("L2", "mass", "x")
    for row in (1, 6):
        case = study.case(row)
        own = workspace.changed({"L2": case["L2"], "mass": case["mass"]})
        at = {"x": case["x"], "y": 0.02}
        assert values(study)[row] == pytest.approx(own.modes(at, count=1).frequencies_hz[0], rel=1e-9)
        assert values(study, "stiffness")[row] == pytest.approx(own.stiffness(at=at).principal[0][0], rel=1e-9)
    for name, h in (("L2", 1e-3), ("mass", 2e-3)):
        worst = {"x": 0.05, "y": 0.02}
        f = [
            workspace.changed({name: workspace.parameters[name] + k * h}).modes(worst, count=1).frequencies_hz[0]
            for k in (-2, -1, 0, 1, 2)
        ]
        slope = (8 * (f[3] - f[1]) - (f[4] - f[0])) / (12 * h) * workspace.parameters[name] / f[2]
        assert study.sensitivities["f1"][name] == pytest.approx(slope, rel=1e-6)


ROD = """
space: spatial
gravity: [0, 0, 0]
parameters: {E: 200 GPa, L: 0.5, rho: 7800}
materials: {steel: {E: E, nu: 0.3, rho: rho}}
sections: {round: {tube: {diameter: 10 mm, wall: 2 mm}}}
bodies: {rod: {beam: {length: L, section: round, material: steel, elements: 4, theory: euler_bernoulli}}}
links: {rod: {parent: base, body: rod}}
points: {tip: {link: rod, on: end}}
"""


def test_sensitivities_of_a_round_rod_are_its_laws(tmp_path: Path) -> None:
    """Equal bending modes in two planes: f ~ sqrt(E / rho) / L^2, stiffness ~ E / L^3, mass ~ rho L."""
    (tmp_path / "rod.yaml").write_text(ROD)
    rod = supple.Robot(tmp_path / "rod.yaml")
    study = rod.sweep({"E": [2e11], "L": [0.5], "rho": [7800.0]}, "f1,f2,stiffness(tip).y,mass")
    assert values(study, "f1")[0] == pytest.approx(values(study, "f2")[0], rel=1e-9)
    laws = {"f1": (0.5, -2, -0.5), "f2": (0.5, -2, -0.5), "stiffness(tip).y": (1, -3, 0), "mass": (0, 1, 1)}
    for name, law in laws.items():
        np.testing.assert_allclose(list(study.sensitivities[name].values()), law, atol=3e-5)


def test_a_scatter_of_stiffness_is_that_of_frequencies(tmp_path: Path) -> None:
    """f ~ sqrt(E): quantiles of f are those of the normal distribution of E."""
    (tmp_path / "rod.yaml").write_text(ROD)
    code, text = said(
        str(tmp_path / "rod.yaml"), "--normal", "E=200GPa:3%", "--latin", "2000", "--json",
        "--plot", str(tmp_path / "a.png"), verb="sweep",
    )  # fmt: skip
    found = json.loads(text)
    f = found["quantiles"]["f1"]
    assert code == 0 and (tmp_path / "a.png").stat().st_size > 5000
    assert [f["5%"] / f["50%"], f["95%"] / f["50%"]] == pytest.approx(
        np.sqrt([1 - 0.03 * 1.644854, 1 + 0.03 * 1.644854]), rel=1e-3
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["3rrr"], "say what varies"),
        (["3rrr", "--vary", "nonsense=1:2:3"], "no parameter 'nonsense'"),
        (["3rrr", "--vary", "elements=1:3:3"], "changes what the robot is made of"),
        (["3rrr", "--vary", "L2=1 kg:2 kg:3"], "must be a length"),
        (["3rrr", "--vary", "L2=0.2:0.3:4", "--latin", "9"], "write FIRST:LAST"),
        (["3rrr", "--vary", "L2=0.3:0.2", "--latin", "9"], "to a larger one"),
        (["3rrr", "--normal", "E=70GPa"], "MEAN:DEVIATION"),
        (["3rrr", "--normal", "E=70GPa:0%"], "above zero"),
        (["3rrr", "--vary", "L2=0.2:0.3:4", "--grid", "--latin", "9"], "leave it out"),
    ],
)  # fmt: skip
def test_mistakes_of_sweeps_are_one_line(words: list[str], reason: str) -> None:
    code, text = said(*words, verb="sweep")
    assert code == 2 and reason in text and len(text.strip().splitlines()) == 1


def test_damping_and_responses_of_designs_are_those_of_the_verbs() -> None:
    robot = supple.Robot("five_bar_elastic")
    found = robot.sweep({"k": [4e4, 6e4]}, "damping1,damping2,receptance(tool).x@12 Hz", over={"arm1/q1": [2.2, 2.3]})
    for row in range(4):
        at = {"arm1/q1": found.chosen["arm1/q1"].values[row]}
        own = supple.Robot("five_bar_elastic", k=found.chosen["k"].values[row])
        ratios = own.modes(at).damping_ratios
        told = [found.quantities[n].values[row] for n in ("damping1", "damping2")]
        assert told == pytest.approx(ratios[:2], rel=1e-8)
        response = own.frf("tool.fx", "tool.x", at, band=(11.0, 12.0), points=2, quantity="displacement").values[1, 0, 0]
        assert found.quantities["receptance(tool).x@12 Hz"].values[row] == pytest.approx(abs(response), rel=1e-8)
    for words in ("receptance(tool).x", "f1@3", "receptance(tool)@4"):
        code, text = said("five_bar_elastic", "--over", "arm1/q1=2.2:2.3:2", "--of", words)
        assert code == 2 and "receptance(tool)." in text
