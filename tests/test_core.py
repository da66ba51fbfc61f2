"""The compiled core against the interpreted Model, which shares the equations and nothing that computes with them: Newton's
method, elimination of loops, projections, eigen-solver and lanes are the core's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

from supple.backends.interpreter import interpret
from supple.core.compiled import POSTURES
from supple.core.core import Answers, Core
from supple.core.free_parameters import free_parameters
from supple.core.kept_records import kept_numbers
from supple.errors import PoseError, SuppleError
from supple.expr.function import function, parameters
from supple.machine import Machine
from supple.model.closing import values
from supple.model.equilibrium import equilibrium, linearise
from supple.model.posture import posture, postures
from supple.robot.bodies.section import rectangle_torsion
from supple.robot.named_files import checked_file, files_noted

RNG = np.random.default_rng(5)
EVERYTHING = ("M", "K", "D", "H", "T", "tau", "shapes", "points", "places", "bent_places", "lam")
CASES = {  # robot -> parameters that stay free
    "dualemps": ("E", "gravity", "zz14"),
    "five_bar_elastic": ("base", "crank", "coupler", "k", "tool"),
}


@cache
def core(name: str) -> Core:
    robot = Machine.read(name, {"gravity": "9.81"} if name == "dualemps" else {}).keeping(CASES[name])
    model = robot.model()
    return Core(robot, [model.names[i] for i in model.active])


@cache
def asked(name: str) -> tuple[Any, Any, Answers]:
    """Random poses of random designs, and what the core answers."""
    own = core(name)
    now = dict(zip(own.model.names, values(own.model, own.home), strict=True))
    poses = np.array([now[n] for n in own.names]) + RNG.uniform(-0.12, 0.12, (11, len(own.names)))
    p = np.array(own.robot.values) * RNG.uniform(0.95, 1.1, (11, len(own.robot.keep)))
    return poses, p, own.answer(poses, p, modes=4, wanted=EVERYTHING)


def near(found: Any, wanted: Any, part: float = 1e-9) -> bool:
    wanted = np.asarray(wanted)
    return bool(np.abs(np.asarray(found) - wanted).max(initial=0.0) <= part * max(np.abs(wanted).max(initial=0.0), 1e-12))


@pytest.mark.parametrize("name", CASES)
def test_random_poses_of_random_designs_equal_the_interpreted_model(name: str) -> None:
    own, (poses, p, answers) = core(name), asked(name)
    assert answers.answered.all()
    for k in (0, 4, 10):
        model = own.robot.changed(dict(zip(own.robot.keep, p[k].tolist(), strict=True))).model()
        rest = equilibrium(model, posture(model, dict(zip(own.names, poses[k].tolist(), strict=True))))
        assert near(answers["q"][k], rest.q)
        assert near(answers["tau"][k], rest.tau)
        assert near(answers["bent_places"][k], model.call("points", q=rest.q)["position"])
        linear = linearise(model, rest)
        back = np.linalg.pinv(answers["T"][k]) @ linear.Z  # the same motions in other coordinates
        assert near(answers["T"][k] @ back, linear.Z)
        for key in ("M", "K", "D", "H"):
            assert near(back.T @ answers[key][k] @ back, getattr(linear, key)), key
        mu, _ = eigh(linear.M, 0.5 * (linear.K + linear.K.T))
        found = answers["squares"][k]
        assert near(found * mu[::-1][: len(found)], 1.0)
        shapes = answers["shapes"][k]
        assert near(shapes.T @ linear.M_tree @ shapes, np.eye(len(found)), 1e-8)
        assert near(shapes.T @ linear.K_tree @ shapes, np.diag(found), 1e-8)


def test_postures_are_those_of_the_branch_of_home_or_refused_in_words() -> None:
    """Against certified continuation in Python, pose by pose, in a workspace with much that is out of reach."""
    robot = Machine.read("five_bar_elastic", {"coupler": "0.33"}).keeping(CASES["five_bar_elastic"])
    own = Core(robot, core("five_bar_elastic").names)
    now = dict(zip(own.model.names, values(own.model, own.home), strict=True))
    poses = np.array([now[n] for n in own.names]) + RNG.uniform(-2.0, 2.0, (60, 2))
    found = own.answer(poses, stage=POSTURES)
    wanted = postures(own.model, own.names, poses)
    reached = np.array([not isinstance(q, PoseError) for q in wanted])
    assert np.array_equal(found.answered, reached)
    assert 10 < reached.sum() < 50
    assert near(found["posture"][reached], np.array([q for q in wanted if not isinstance(q, PoseError)]))
    assert set(found.problems) == set(np.flatnonzero(~reached).tolist())
    assert all("five_bar_elastic" in text for text in found.problems.values())


def test_an_answer_does_not_depend_on_what_else_is_asked() -> None:
    poses, p, answers = asked("dualemps")
    alone = core("dualemps").answer(poses[6:7], p[6:7], modes=4, wanted=EVERYTHING)
    for key in ("q", "M", "K", "squares", "shapes"):
        assert np.array_equal(alone[key][0], answers[key][6]), key


def test_coordinates_that_follow_must_agree() -> None:
    robot = Machine.read("triglide")
    own = Core(robot, ["x", "y", "z", "rx", "ry", "rz"])
    at = np.zeros((3, 6))
    at[:, :3] = values(own.model, own.home)[[own.model.names.index(n) for n in "xyz"]]
    at[1, 0] += 0.02
    at[2, 4] = 0.1
    found = own.answer(at, stage=POSTURES)
    assert found.answered.tolist() == [True, True, False]
    assert "ry is" in found.problems[2]


@pytest.mark.parametrize(("name", "structural"), [("cantilever", "elements")])
def test_structural_parameters_are_refused_by_name(name: str, structural: str) -> None:
    robot = Machine.read(name).keeping(("E", structural))
    with pytest.raises(SuppleError, match=f"{structural} changes what the robot is made of"):
        Core(robot, [])


def test_sides_of_a_rectangle_stay_free_in_torsion_too() -> None:
    """Against Saint-Venant's series, at and around the square, where the longer side changes."""
    p = parameters(["y", "z"])
    f = interpret(function("torsion", {"p": p}, {"J": [rectangle_torsion(p[0], p[1])]}))
    for y, z in ((0.01, 0.01), (0.01, 0.0100001), (0.003, 0.05), (0.4, 0.001), (0.02, 0.03)):
        assert f(p=np.array([y, z]))["J"][0] == pytest.approx(rectangle_torsion(y, z), rel=1e-12)
    slope = np.imag(f(p=np.array([0.01 + 1e-30j, 0.01]))["J"][0]) / 1e-30
    assert slope == pytest.approx(2 * 0.140577014955 * 0.01**3, rel=1e-9)  # J of a square is homogeneous of degree 4


def test_bodies_that_are_numbers_re_enter_through_their_records() -> None:
    """A plate that is reduced anew for every thickness: what the equations have for it equals the assembled robot's."""
    robot = Machine.read("gough_stewart_plate").keeping(("thickness",))
    own = free_parameters(robot)
    assert not own.exact
    values_ = np.array([[0.0155]])
    changed = robot.keeping(()).changed({"thickness": 0.0155})
    masses = [f.body.mass for f in own.mechanism.frames]
    found = interpret(function("masses", {"p": own.symbols}, {"m": masses}))(p=own.inputs(values_))["m"]
    assert near(np.ravel(found), [float(f.body.mass) for f in changed.mechanism().frames])


BOOM = """
space: spatial
parameters: {d: 20 mm, L: 1 m}
materials: {steel: {E: 210 GPa, nu: 0.3, rho: 7850}}
sections: {bar: {circle: {diameter: d}}}
bodies: {boom: {beam: {length: L, section: bar, material: steel, elements: 6, reduction: {craig_bampton: {modes: 3}}}}}
links: {boom: {parent: base, body: boom}}
points: {tip: {link: boom, on: end}}
"""


def test_reduced_bodies_are_made_once_for_every_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records come from the disk in a second process' place, to the last bit; another setting or value is another record."""
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    made: list[str] = []
    own = Machine.changed

    def changed(self: Machine, settings: Any) -> Machine:
        made.append(repr(settings))
        return own(self, settings)

    monkeypatch.setattr(Machine, "changed", changed)
    wanted = np.array([[0.02], [0.021], [0.022]])
    first = free_parameters(Machine.parse(BOOM).keeping(("d",))).inputs(wanted)
    assert len(made) == len(wanted) + 3  # home (once whole, once what changes) and two probes
    again = free_parameters(Machine.parse(BOOM).keeping(("d",))).inputs(wanted)
    assert len(made) == len(wanted) + 3 and (again == first).all()
    other = free_parameters(Machine.parse(BOOM, {"L": "1.1 m"}).keeping(("d",))).inputs(wanted)
    assert len(made) == 2 * (len(wanted) + 3) and not np.array_equal(other, first)


def test_records_of_files_are_made_anew_where_a_file_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    file, asked = tmp_path / "mesh.txt", np.array([1.0])

    def make() -> Any:
        return np.array([float(checked_file(file).read_text())])

    for text in ("3", "4"):
        file.write_text(text)
        assert kept_numbers(("robot",), "all", asked, make) == [float(text)]
        with files_noted() as seen:  # kept or not: what it depends on is told on
            assert kept_numbers(("robot",), "all", asked, lambda: np.array([0.0])) == [float(text)]
        assert seen == [file]
