"""Bodies from finite elements: solids, CalculiX and reduced beams against each other, in robots too; reductions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import bars
import numpy as np
import pytest

pytest.importorskip("skfem")
pytest.importorskip("meshio")

from supple.analyses.modes import modes
from supple.errors import RobotFileError, SuppleError
from supple.machine import Machine
from supple.models import forward
from supple.robot.bodies.beam import BeamSpec, beam_body
from supple.robot.bodies.reduced_beam import reduced_beam
from supple.robot.bodies.reduction import REDUCTIONS, Selection, Structure, reduced_basis
from supple.robot.bodies.section import CrossSection
from supple.robot.finite_elements import calculix
from supple.robot.finite_elements.model import FeModel, fe_body, rigid_inertia
from supple.robot.finite_elements.nodal import Attachment, NodalModel, chosen_nodes, fe_model
from supple.robot.finite_elements.solid import solid
from supple.robot.link_bodies import flexible_bodies

TEXTBOOK = np.array([1.875104069, 4.694091133, 7.854757438])  # beta L, clamped-free
FREE = np.array([4.730040745, 7.853204624, 10.99560784])


def bending(roots: Any, size: float) -> Any:
    return np.asarray(roots) ** 2 / (2 * np.pi) * np.sqrt(bars.E * size**2 / 12 / bars.RHO) / bars.LENGTH**2


def both_ways(roots: Any, count: int) -> Any:
    return np.sort(np.concatenate([bending(roots, bars.Y), bending(roots, bars.Z)]))[:count]


def held(model: NodalModel, tie: bool = True) -> FeModel:
    ends = [("root", 0.0), ("end", 1.0)]
    return fe_model(
        model, [Attachment(n, chosen_nodes(model, {"plane": {"x": x}}), np.array([x, 0, 0]), tie) for n, x in ends]
    )


def structure(model: FeModel, root: str | None = "root") -> Structure:
    held_at = None if root is None else model.site(root)
    sites = model.sites
    return Structure(
        model.M, model.stiffness, model.rigid, sites, held_at, model.outline_rows[:90].toarray(), model.free_modes
    )


@cache
def hexa() -> NodalModel:
    return solid(*bars.hexahedra(24), bars.E, bars.NU, bars.RHO)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bars")
    return bars.meshes(bars.unpacked(made))


def bar_spec(elements: int = 20) -> BeamSpec:
    y, z = bars.Y, bars.Z
    section = CrossSection(y * z, y * z**3 / 12, z * y**3 / 12, 2.3e-9, 5 / 6, 5 / 6)
    return BeamSpec(bars.LENGTH, section, bars.E, bars.E / 2.6, bars.RHO, elements, False, False)


# One bar, many forms --------------------------------------------------------------------------------------------------


def test_one_cantilever_in_many_forms(folder: Path) -> None:
    """First five frequencies of the clamped bar: textbook, solid meshes, CalculiX' matrices and a reduced beam."""
    wanted = both_ways(TEXTBOOK, 5)
    found = {
        "hexahedra": reduced_basis(structure(held(hexa())), "clamped_free", Selection(modes=5)).reduced,
        "tetrahedra": reduced_basis(
            structure(held(solid(*bars.tetrahedra(30), bars.E, bars.NU, bars.RHO))), "clamped_free", Selection(modes=5)
        ).reduced,
        "calculix": reduced_basis(
            structure(held(calculix.read_matrices(folder / "bar.sti", None))), "clamped_free", Selection(modes=5)
        ).reduced,
        "beam": reduced_beam(bar_spec(), beam_body(bar_spec()), "craig_bampton", Selection(modes=5))[0].reduced,
    }
    for name, reduced in found.items():
        assert reduced is not None
        assert np.array(reduced.frequencies[:5]) == pytest.approx(wanted, rel=0.01), name


def test_robots_with_the_bar_as_a_link(folder: Path) -> None:
    """A revolute joint, the bar and a tip mass: `modes` agree within 1 %, whatever the bar is made of."""
    found = {}
    for form, arm in bars.FORMS.items():
        model = Machine.read(bars.robot_file(folder, arm, form)).model()
        found[form] = np.array(modes(model, {}, count=5).frequencies_hz)
    for form, values in found.items():
        assert values == pytest.approx(found["beam"], rel=0.01), form
    assert found["reduced"] == pytest.approx(found["beam"], rel=1e-3)


def test_calculix_modes_agree_with_its_matrices(folder: Path) -> None:
    """Modes of the .frd file (six digits) with fitted nodal masses, against the consistent matrices: mass and inertia
    come from the rigid modes, frequencies from the .dat file."""
    matrices = held(calculix.read_matrices(folder / "bar.sti", None), tie=False)
    results = held(calculix.read_results(folder / "barm.frd"), tie=False)
    a, b = (reduced_basis(structure(m, None), "free_free", Selection(modes=6)) for m in (matrices, results))
    assert np.array(a.reduced.frequencies) == pytest.approx(b.reduced.frequencies, rel=1e-5)
    one, two = rigid_inertia(matrices), rigid_inertia(results)
    assert two["mass"] == pytest.approx(bars.RHO * bars.Y * bars.Z * bars.LENGTH, rel=1e-5)
    assert two["I_rr"].astype(float) == pytest.approx(one["I_rr"].astype(float), abs=1e-5)
    first, second = (fe_body(m, x.V, x.names, x.units) for m, x in ((matrices, a), (results, b)))
    I_ee = [np.abs(np.array(body.I_ee.tolist(), dtype=float)) for body in (first, second)]
    assert I_ee[1] == pytest.approx(I_ee[0], abs=0.02)


def test_a_finer_mesh_costs_nothing(folder: Path) -> None:
    """Four times the nodes: the record has the same entries, and the derived models the same operations; of second order
    entries are left out by their size, so that a few more or less may stay."""
    seen, loaded = [], []
    for name, points, cells in (("coarse", *bars.hexahedra(12)), ("fine", *bars.hexahedra(24, 2))):
        import meshio

        meshio.write(folder / f"{name}.vtk", meshio.Mesh(points, [("hexahedron", cells)]))
        path = bars.robot_file(folder, bars.FORMS["hexahedra"].replace("hexa.vtk", f"{name}.vtk"), name)
        loaded.append(forward(Machine.read(path).mechanism()).operations)
        mechanism = Machine.read(path, {"stiffening": "none"}).mechanism()
        body = mechanism.frames[0].body
        entries = {k: [bool(x) for x in getattr(body, k).ravel()] for k in ("MS_de", "beta", "M_ee", "K_ee", "lam", "I_ee")}
        seen.append((entries, dict(forward(mechanism).counts)))
    assert seen[0] == seen[1]
    assert loaded[0] == pytest.approx(loaded[1], rel=0.02)


# Solids and ties ------------------------------------------------------------------------------------------------------


def test_solid_inertia_and_free_modes() -> None:
    """Exact inertia of a box; free frequencies of a slender bar (beta L = 4.73004, 7.85320, 10.9956)."""
    model = held(hexa(), tie=False)
    inertia = rigid_inertia(model)
    mass = bars.RHO * bars.LENGTH * bars.Y * bars.Z
    assert inertia["mass"] == pytest.approx(mass)
    assert inertia["MS_r"].astype(float) == pytest.approx([mass / 2, 0, 0])
    box = [bars.Y**2 + bars.Z**2, 4 * bars.LENGTH**2 + bars.Z**2, 4 * bars.LENGTH**2 + bars.Y**2]
    assert np.diag(inertia["I_rr"].astype(float)) == pytest.approx(mass / 12 * np.array(box))
    found = np.sqrt(model.free_modes(5)[0]) / (2 * np.pi)
    assert found == pytest.approx(both_ways(FREE, 5), rel=0.006)


def test_integrals_of_a_solid_against_its_lumps() -> None:
    """A second way to the integrals: the mean of every cell as a lump of mass, shapes by the nodes' mean."""
    from scipy.interpolate import CubicSpline

    model = held(hexa(), tie=False)
    basis = reduced_basis(structure(model, None), "free_free", Selection(modes=3))
    body = fe_body(model, basis.V, basis.names, basis.units)
    nodal = hexa()
    U = np.asarray(model.T @ basis.V).reshape(3, -1, 3)  # component, node, mode
    n = 96
    edges = np.linspace(0, bars.LENGTH, n + 1)
    weight = float(body.mass) / n
    axis = np.abs(nodal.xyz[:, 1:]).max(axis=1) < 1e-9  # nodes on the bar's middle line
    line = np.argsort(nodal.xyz[axis, 0])
    x = nodal.xyz[axis, 0][line]
    middle = (edges[1:] + edges[:-1]) / 2
    phi = np.array([[CubicSpline(x, U[c][axis][line][:, k])(middle) for c in range(3)] for k in range(3)])
    for k in range(3):
        J = weight * np.array([[np.sum(middle * phi[k, c]) for c in range(3)], [0] * 3, [0] * 3])
        assert body.I_re[k].astype(float) == pytest.approx(np.trace(J) * np.eye(3) - J.T, abs=2e-3)
        for i in range(3):
            T = weight * np.einsum("ap,bp->ab", phi[i], phi[k])
            assert body.I_ee[i, k].astype(float) == pytest.approx(np.trace(T) * np.eye(3) - T.T, abs=2e-3)
            lam = [T[1, 2] - T[2, 1], T[2, 0] - T[0, 2], T[0, 1] - T[1, 0]]
            assert body.lam[i, k].astype(float) == pytest.approx(lam, abs=2e-3)


def test_averaged_ties_do_not_stiffen() -> None:
    """RBE3 leaves the model as it is: its free modes are those without any tie; RBE2 makes it a little stiffer."""
    bare = fe_model(hexa(), [])
    mean, stiff = held(hexa(), tie=False), held(hexa(), tie=True)
    a, b, c = (np.sqrt(m.free_modes(3)[0]) for m in (bare, mean, stiff))
    assert b == pytest.approx(a, rel=1e-9)
    assert (c > a).all() and c == pytest.approx(a, rel=0.01)


# Reductions -----------------------------------------------------------------------------------------------------------


def test_all_modes_carry_all_the_mass() -> None:
    """Effective masses of all modes of a body held at its root add up to its mass, but for what its root carries."""
    spec = bar_spec(4)
    reduced = reduced_beam(spec, beam_body(spec), "clamped_free", Selection(modes=24))[0].reduced
    assert reduced is not None and reduced.effective_mass is not None
    assert reduced.omitted is None
    few = reduced_beam(spec, beam_body(spec), "clamped_free", Selection(modes=6))[0].reduced
    assert few is not None and few.effective_mass is not None
    assert all(0 < a <= b <= 1 for a, b in zip(few.effective_mass[1:], reduced.effective_mass[1:], strict=True))
    assert few.effective_mass[1] + few.effective_mass[2] > 1.7
    first = reduced_beam(spec, beam_body(spec), "clamped_free", Selection(modes=1))[0].reduced
    assert first is not None and first.effective_mass is not None
    assert max(first.effective_mass) == pytest.approx(0.6131, abs=2e-3)  # textbook: 61.3 % in a cantilever's first mode


@pytest.mark.parametrize("method", sorted(REDUCTIONS))
def test_reductions_converge_to_the_whole_beam(method: str) -> None:
    """With a mass on its end, clamped: the more modes, the nearer to the beam with all its coordinates."""
    from scipy.linalg import eigh

    spec = bar_spec(8)
    whole = beam_body(spec)

    def loaded(body: Any, V: Any) -> Any:
        M, K = body.M_ee.astype(float), body.K_ee.astype(float)
        tip = V[-6:-3]
        return np.sqrt(eigh(K, M + 0.3 * tip.T @ tip, eigvals_only=True)[:2])

    wanted = loaded(whole, np.eye(48))
    errors = []
    for count in (4, 20):
        body, V = reduced_beam(spec, whole, method, Selection(modes=count))
        errors.append(np.abs(loaded(body, V) / wanted - 1).max())
    assert errors[1] < errors[0] + 1e-9
    assert errors[1] < (0.1 if method == "free_free" else 1e-3)  # free ends bend little at a clamp: slow
    assert errors[0] < 1e-3 or method in ("free_free", "clamped_free")


def test_selection_by_frequency_and_effective_mass() -> None:
    spec = bar_spec(10)
    whole = beam_body(spec)
    up_to = reduced_beam(spec, whole, "clamped_free", Selection(up_to=100.0))[0].reduced
    assert up_to is not None and up_to.omitted is not None
    assert max(up_to.frequencies) <= 100 < up_to.omitted
    enough = reduced_beam(spec, whole, "clamped_free", Selection(effective_mass=0.8))[0].reduced
    assert enough is not None and enough.effective_mass is not None and min(enough.effective_mass) >= 0.8
    with pytest.raises(SuppleError, match="all modes together carry"):  # the rest is at the clamp
        reduced_beam(bar_spec(2), beam_body(bar_spec(2)), "clamped_free", Selection(effective_mass=0.999))
    with pytest.raises(SuppleError, match="no effective mass"):
        reduced_beam(spec, whole, "free_free", Selection(effective_mass=0.8))


def test_a_cell_given_twice_is_refused() -> None:
    points, cells = bars.hexahedra(4)
    with pytest.raises(SuppleError, match="given twice"):
        solid(points, np.vstack([cells, cells[:1, [1, 2, 3, 0, 5, 6, 7, 4]]]), bars.E, bars.NU, bars.RHO)


def test_static_shapes_lose_no_compliance() -> None:
    made = structure(held(hexa()))
    residual = {m: reduced_basis(made, m, Selection(modes=3)).reduced.static_residual for m in REDUCTIONS}
    assert residual["craig_bampton"] is not None and residual["craig_bampton"] < 1e-6
    assert residual["static"] is not None and residual["static"] < 1e-6
    assert residual["clamped_free"] is not None and residual["clamped_free"] > 0.5


# What a robot file may ask for ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ("{fe: {file: bar.sti, attachments: {end: {plane: {x: 1}}}}}", "root: say which attachment"),
        ("{fe: {file: bar.sti, root: foot}}", "there is no attachment 'foot'"),
        ("{fe: {file: nothing.sti, root: root, attachments: {root: {plane: {x: 0}}}}}", "no such file"),
        ("{fe: {file: hexa.vtk, root: root, attachments: {root: {plane: {x: 0}}}}}", "needs a material"),
        ("{fe: {file: bar.sti, root: root, attachments: {root: {plane: {x: 7}}}}}", "the nodes span x 0 to 1"),
        (
            "{fe: {file: bar.sti, units: mm, root: root, attachments: {root: {plane: {x: 1}}}}}",
            "the nodes span x 0 to 0.001",
        ),
        (
            "{fe: {file: barm.frd, root: r, attachments: {r: {plane: {x: 0}}}, reduction: {clamped_free: {modes: 3}}}}",
            "holds modes of the free body",
        ),
        (
            "{fe: {file: bar.sti, root: root, attachments: {root: {at: [0, 6 mm, 7.5 mm]}}}}",
            "one node of a solid does not turn",
        ),
        ("{fe: {file: bar.sti, root: r, attachments: {r: {plane: {x: 0, z: 0}}}}}", "its nodes lie on a line"),
        ("{fe: {file: bar.sti, material: steel, root: r, attachments: {r: {plane: {x: 0}}}}}", "leave the material out"),
        (
            "{fe: {file: hexa.vtk, material: steel, nodes: a.txt, root: r, attachments: {r: {plane: {x: 0}}}}}",
            "nodes: is not used with hexa.vtk",
        ),
        ("{fe: {file: ., root: r, attachments: {r: {plane: {x: 0}}}, material: steel}}", "is a folder"),
        ("{plate: {corners: [[0, 0], [1, 0], [1, 1]], thickness: 1 cm, material: iron}}", "there is no material 'iron'"),
        ("{plate: {corners: [[0, 0], [1, 0], [1, 1]], thickness: 1 cm, material: steel}}", "root: say which attachment"),
        (
            "{plate: {corners: [[0, 0], [1, 0], [1, 1]], thickness: 1 cm, material: steel, element: kirchhoff, refine: 0, "
            "attachments: {end: {at: [0, 0]}}, root: end, reduction: {clamped_free: {modes: 3}}}}",
            "give the root as an edge",
        ),
        (
            "{beam: {length: 1, section: bar, material: steel, reduction: {craig_bamton: {modes: 3}}}}",
            "did you mean 'craig_bampton'",
        ),
    ],
)
def test_errors_say_what_to_do(folder: Path, arm: str, words: str) -> None:
    path = bars.robot_file(folder, arm, "wrong")
    with pytest.raises(RobotFileError) as error:
        Machine.read(path).mechanism()
    assert words in str(error.value)
    assert "wrong.yaml:" in str(error.value)


def test_plate_as_a_platform_and_as_a_link(tmp_path: Path) -> None:
    """A thin cantilever plate hung on the base has the frequencies of its Body; stiffened, it moves as a rigid plate."""
    text = """
space: spatial
materials: {{steel: {{E: {E}, rho: 7850, nu: 0.3}}}}
bodies:
  leaf:
    plate:
      corners: [[0, 0], [0.3, 0], [0.3, 0.1], [0, 0.1]]
      origin: [0, 0.05]
      thickness: 2 mm
      material: steel
      element: kirchhoff
      attachments: {{root: {{edge: [[0, 0], [0, 0.1]]}}}}
      root: root
      reduction: {{clamped_free: {{modes: 4}}}}
links:
  leaf: {{parent: base, joint: revolute, axis: y, q: q1, body: leaf}}
points: {{corner: {{link: leaf, at: [0.3, 0.05, 0.01]}}}}
actuators: {{q1: {{}}}}
"""
    path = tmp_path / "leaf.yaml"
    path.write_text(text.format(E="210 GPa"))
    found = modes(Machine.read(path).model(), {}, count=3)
    (body, markers) = flexible_bodies(Machine.read(path).description)["leaf"]
    assert body.reduced is not None and set(markers) == {"root"}
    assert np.array(found.frequencies_hz) == pytest.approx(body.reduced.frequencies[:3], rel=1e-6)
    assert not np.any(markers["root"].Phi_d) and not np.any(markers["root"].Phi_r)
    beam = 1.875104069**2 / (2 * np.pi) * np.sqrt(2.1e11 * 0.002**2 / 12 / 7850) / 0.3**2
    assert found.frequencies_hz[0] == pytest.approx(beam, rel=0.03)  # a plate is stiffer across: up to 1/(1 - nu^2)


# Laws of the record ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "floating"), [("free_free", True), ("static", True), ("craig_bampton", False)])
def test_kinetic_energy_is_that_of_the_nodes(method: str, floating: bool) -> None:
    """A second way to the energy: velocities of all nodes of the turning, bending body and the mass between them. The
    record's integrals must give the same for any spin, shift, deformation and rate, as they are exact for solids."""
    nodal = hexa()
    model = held(nodal, tie=False)
    basis = reduced_basis(structure(model, None if floating else "root"), method, Selection(modes=4))
    body = fe_body(model, basis.V, basis.names, basis.units)
    rng = np.random.default_rng(3)
    n = len(body.coordinates)
    scale = 1 / np.sqrt(np.diag(body.M_ee.astype(float)))
    v, w, q, qd = (
        rng.standard_normal(3),
        rng.standard_normal(3),
        scale * rng.standard_normal(n),
        scale * rng.standard_normal(n),
    )
    U = np.asarray(model.T @ basis.V)
    u, ud = (np.asarray(U @ x).reshape(3, -1).T for x in (q, qd))  # components come one after the other in a solid
    at_node = v + np.cross(w, nodal.xyz + u) + ud
    assert nodal.M is not None
    count = len(nodal.xyz)
    m = nodal.M[:count, :count]
    wanted = 0.5 * sum(float(at_node[:, c] @ (m @ at_node[:, c])) for c in range(3))

    def field(name: str) -> Any:
        return np.array(getattr(body, name).tolist(), dtype=float)

    MS = field("MS_r") + field("MS_de") @ q
    inertia = field("I_rr") + np.einsum("kcd,k->cd", field("I_re") + field("I_re").transpose(0, 2, 1), q)
    inertia = inertia + np.einsum("ikcd,i,k->cd", field("I_ee"), q, q)
    MS_re = field("beta") + np.einsum("ikc,i->ck", field("lam"), q)
    found = 0.5 * float(body.mass) * v @ v + v @ np.cross(w, MS) + v @ field("MS_de") @ qd
    found += 0.5 * w @ inertia @ w + w @ MS_re @ qd + 0.5 * qd @ field("M_ee") @ qd
    assert found == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("method", ["free_free", "static", "craig_bampton"])
def test_floating_bodies_have_no_mean_motion(method: str) -> None:
    """Shapes on mean axes; with enough of them the frequencies are those of the free body, from above."""
    model = held(hexa(), tie=False)
    basis = reduced_basis(structure(model, None), method, Selection(modes=6))
    body = fe_body(model, basis.V, basis.names, basis.units)
    assert not np.any(body.MS_de) and not np.any(body.beta)
    exact = np.sqrt(model.free_modes(4)[0]) / (2 * np.pi)
    found = np.array(basis.reduced.frequencies)[:4]
    assert (found > exact * (1 - 1e-7)).all() and found == pytest.approx(exact, rel=0.01)
    if method == "static":  # loads balanced by the body's own inertia, which craig_bampton has only so many modes for
        assert basis.reduced.static_residual is not None and basis.reduced.static_residual < 1e-5


@pytest.mark.parametrize("method", ["craig_bampton", "clamped_free", "static"])
def test_planar_beams_reduce_too(tmp_path: Path, method: str) -> None:
    text = """
space: planar
materials: {{steel: {{E: 210 GPa, rho: 7850, nu: 0.3}}}}
sections: {{bar: {{rectangle: {{y: 12 mm, z: 15 mm}}}}}}
bodies:
  arm: {{beam: {{length: 1, section: bar, material: steel, elements: 12{reduction}}}}}
  tip: {{rigid: {{mass: 0.2}}}}
links:
  arm: {{parent: base, joint: revolute, q: q1, body: arm}}
  tip: {{parent: arm, on: end, joint: revolute, q: q2, body: tip}}
points: {{middle: {{link: arm, on: middle}}}}
actuators: {{q1: {{}}, q2: {{}}}}
"""
    found = []
    for reduction in ("", f", reduction: {{{method}: {{modes: 8}}}}"):
        path = tmp_path / "planar.yaml"
        path.write_text(text.format(reduction=reduction))
        found.append(np.array(modes(Machine.read(path).model(), {}, count=3).frequencies_hz))
    assert found[1] == pytest.approx(found[0], rel=2e-3)


# Command line and CalculiX itself -------------------------------------------------------------------------------------


def test_bodies_on_the_command_line(folder: Path) -> None:
    """The report, and a body written and used again: the same robot."""
    import json

    from click.testing import CliRunner

    from supple.cli.main import main

    path = bars.robot_file(folder, bars.FORMS["calculix"], "written")
    run = CliRunner()
    report = run.invoke(main, ["bodies", str(path), "--write", f"arm={folder / 'arm.npz'}", "--json"])
    assert report.exit_code == 0, report.output
    (row,) = json.loads(report.output)
    assert row["coordinates"] == 11 and row["reduced"]["method"] == "craig_bampton"
    assert row["written"] == str(folder / "arm.npz")
    shown = run.invoke(main, ["bodies", str(path), "--write", f"arm={folder / 'arm.npz'}"])
    assert f"wrote arm to {folder / 'arm.npz'}" in shown.output
    assert "first mode left out" in shown.output and "effective mass" in shown.output
    assert run.invoke(main, ["bodies", str(path), "--write", "leg=x.npz"]).exit_code == 2
    for more in ("units: mm", "origin: [1, 0, 0]", "mass: bar.mas", "solver: calculix"):
        with pytest.raises(RobotFileError, match=f"{more.split(':')[0]}: arm.npz holds a reduced body"):
            Machine.read(bars.robot_file(folder, f"{{fe: {{file: arm.npz, {more}}}}}", "changed")).model()
    again = bars.robot_file(folder, "{fe: {file: arm.npz}}", "again")
    first, second = (modes(Machine.read(p).model(), {}, count=4).frequencies_hz for p in (path, again))
    assert np.array(second) == pytest.approx(np.array(first), rel=1e-9)


def test_a_deck_run_by_calculix(folder: Path) -> None:
    import shutil

    if shutil.which("ccx") is None:
        pytest.skip("ccx is not installed")
    fresh, stored = calculix.run_matrices(folder / "bar.inp"), calculix.read_matrices(folder / "bar.sti", None)
    assert np.abs(fresh.K - stored.K).max() <= 1e-9 * np.abs(stored.K).max()
    wrong = folder / "wrong.inp"
    wrong.write_text((folder / "bar.inp").read_text().replace("C3D20", "C3D21"))
    with pytest.raises(SuppleError, match="ccx says"):
        calculix.run_matrices(wrong)
    wrong.write_text("*BOUNDARY\n1, 1, 3\n" + (folder / "bar.inp").read_text())
    with pytest.raises(SuppleError, match="BOUNDARY"):
        calculix.run_matrices(wrong)
