"""Loads on solids and plates: Euler's columns, spinning blades, lateral buckling, CalculiX; what is left out, and said."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import bars
import numpy as np
import pytest
from judges import ritz
from numpy.polynomial import Legendre
from scipy.linalg import eigh

pytest.importorskip("skfem")
pytest.importorskip("meshio")

from supple.analyses.modes import modes
from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.model import Model
from supple.robot.bodies.body_files import read_body, write_body
from supple.robot.link_bodies import flexible_bodies

DATA = Path(__file__).parent / "data"
HEAD = """
space: spatial
materials: {steel: {E: 210 GPa, rho: 7850 kg/m^3, nu: 0.3}}
bodies: {body: BODY}
"""
SOLID = """{fe: {file: hexa.vtk, material: steel, attachments: {root: {plane: {x: 0}}, end: {plane: {x: 1}}},
            root: root, reduction: {craig_bampton: {modes: 5}}}}"""
WIDE, THIN = 0.05, 0.002
STRIP = """{plate: {corners: [[0, -0.025], [1, -0.025], [1, 0.025], [0, 0.025]], thickness: 2 mm, material: steel,
            element: kirchhoff, origin: [0, 0], refine: 0, reduction: {craig_bampton: {modes: 8}}, root: root,
            attachments: {root: {edge: [[0, -0.025], [0, 0.025]]}, end: {edge: [[1, -0.025], [1, 0.025]]}}}}"""
BODIES = {"solid": SOLID, "strip": STRIP, "stretching strip": STRIP.replace("refine: 0", "refine: 0, in_plane: true")}
WEAK = {"solid": (bars.Y, bars.Z), "strip": (THIN, WIDE), "stretching strip": (THIN, WIDE)}  # thickness, width
LINKS = {
    "free": "links: {body: {parent: base, body: body}}",
    "pinned": """
links:
  body: {parent: base, joint: universal, axis: [y, z], q: [fy, fz], body: body}
  guide: {parent: base, at: [1, 0, 0], joint: prismatic, axis: x, q: s}
closures: {head: {joint: spherical, from: {link: guide}, to: {link: body, on: end}}}""",
    "spinning": "links: {body: {parent: base, joint: revolute, axis: AXIS, q: turn, body: body}}\nactuators: {turn: {}}",
    "hanging": "links: {body: {parent: base, joint: universal, axis: [y, z], q: [fy, fz], body: body}}",
}
POINT = "\npoints: {end: {link: body, on: end}}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bars.meshes(bars.unpacked(tmp_path_factory.mktemp("stress")))


def model_of(folder: Path, text: str, **settings: Any) -> Model:
    path = folder / "robot.yaml"
    path.write_text(text)
    return Machine.read(path, settings).model()


def robot(body: str, links: str, point: str = POINT) -> str:
    return HEAD.replace("BODY", body) + LINKS[links] + point


def bending(form: str) -> tuple[float, float]:
    """E I of the weaker plane, and rho A."""
    thick, wide = WEAK[form]
    return bars.E * wide * thick**3 / 12, bars.RHO * wide * thick


def first(model: Model, force: list[float]) -> float:
    return float(modes(model, {}, count=1, loads={"end": force}).frequencies_hz[0])


# Columns and blades -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", BODIES)
def test_columns_lose_their_stiffness_at_eulers_load(folder: Path, form: str) -> None:
    """Between hinges (f/f0)^2 = 1 - P/Pcr, in tension and compression; the mode of buckling is that of vibration."""
    model = model_of(folder, robot(BODIES[form], "pinned"))
    euler = np.pi**2 * bending(form)[0]
    unloaded = first(model, [0, 0, 0])
    assert unloaded == pytest.approx(np.pi / 2 * np.sqrt(bending(form)[0] / bending(form)[1]), rel=3e-3)
    for part in (0.01, 0.9, -1.0):
        found = (first(model, [-part * euler, 0, 0]) / unloaded) ** 2
        assert (found - 1) / part == pytest.approx(-1, abs=0.005)


@pytest.mark.parametrize("form", ["solid", "strip"])
def test_spinning_blades_stiffen(folder: Path, form: str) -> None:
    """Out of the plane of rotation, against Ritz' method (which agrees with published values), to the rate at which the
    first frequency has doubled. The spin enters through the body forces alone: nothing is attached."""
    model = model_of(folder, robot(BODIES[form], "spinning").replace("AXIS", "y" if form == "solid" else "z"))
    unit = np.sqrt(bending(form)[0] / bending(form)[1])
    still = _spinning(model, 0.0) / unit
    assert still == pytest.approx(ritz.rotating(0.0)[0], rel=0.006)  # a strip is held over its whole width
    for eta in (2.0, 6.0):
        wanted = ritz.rotating(eta)[0] ** 2 - ritz.rotating(0.0)[0] ** 2
        assert (_spinning(model, eta * unit) / unit) ** 2 - still**2 == pytest.approx(wanted, rel=0.01)


def _spinning(model: Model, rate: float) -> float:
    """The first frequency (rad/s) of bending out of the plane in which a blade spins, from differences of forces."""
    n = model.nv
    v, q, step = np.zeros(n), np.zeros(n), 1e-7
    v[0] = rate
    for _ in range(4):
        K = np.array([model.forces(q + d, v) - model.forces(q - d, v) for d in step * np.eye(n)[1:]]).T[1:] / (2 * step)
        q[1:] -= np.linalg.solve(K, model.forces(q, v)[1:])
    M = model.mass(q)
    squares, shapes = np.linalg.eig(np.linalg.solve(M[1:, 1:], K))
    lead = np.abs(M[0, 1:] @ shapes) / np.sqrt(np.einsum("ik,ij,jk->k", shapes, M[1:, 1:], shapes) * M[0, 0])
    flapping = squares.real[lead < 1e-3]  # what shakes the joint is within the plane
    return float(np.sqrt(flapping.min()))


@pytest.mark.parametrize("method", ["free_free", "static"])
def test_floating_bodies_are_loaded_too(folder: Path, method: str) -> None:
    """A bar hung on one end and pulled at the other, as a platform with shapes about its centre; against Ritz' method."""
    bar = SOLID.replace("root: root,", "origin: centre, stiffening: second_order,")
    text = (
        HEAD.replace("BODY", bar.replace("craig_bampton: {modes: 5}", f"{method}: {{modes: 8}}"))
        + """
links: {pin: {parent: base, at: [-0.5, 0, 0], joint: universal, axis: [y, z], q: [fy, fz]}}
closures: {foot: {joint: fixed, from: {link: pin}, to: {link: platform, on: root}}}
platform: {body: body}
points: {end: {link: platform, on: end}}
"""
    )
    model, pull = model_of(folder, text), np.pi**2 * bending("solid")[0]
    found = modes(model, {}, count=4, loads={"end": [pull, 0, 0]}).frequencies_hz
    wanted = np.sort(np.r_[_hung(bars.Y, bars.Z, pull), _hung(bars.Z, bars.Y, pull)])
    assert np.array(found) == pytest.approx(wanted, rel=3e-3)


def _hung(thick: float, wide: float, pull: float) -> Any:
    """Two frequencies of a bar hinged at one end and pulled at the other, Hz."""
    x, weights = np.polynomial.legendre.leggauss(40)
    shapes = [Legendre.basis(k) * Legendre([0.5, 0.5]) for k in range(14)]
    w, slope, curved = (np.array([p.deriv(d)(x) * 2**d if d else p(x) for p in shapes]) for d in range(3))
    K = bars.E * wide * thick**3 / 12 * (curved * weights) @ curved.T + pull * (slope * weights) @ slope.T
    squares = eigh(K, bars.RHO * wide * thick * (w * weights) @ w.T, eigvals_only=True)
    return np.sqrt(squares[:2]) / (2 * np.pi)


def test_a_strip_buckles_sideways(folder: Path) -> None:
    """Prandtl 1899: a deep cantilever under a force across it, within its plane: P = 4.013 sqrt(E I G J) / L^2. The plate is
    held over its whole width, which no beam is: 3.2 % at this width (1/20 of the length), less for narrower ones."""
    model = model_of(folder, robot(STRIP, "free"))
    J = WIDE * THIN**3 / 3 * (1 - 0.63 * THIN / WIDE)
    load = 4.013 * np.sqrt(bending("strip")[0] * bars.E / 2.6 * J)
    assert first(model, [0, 1.0 * load, 0]) > 0 > first(model, [0, 1.06 * load, 0])
    assert first(model, [0, -0.9 * load, 0]) == pytest.approx(first(model, [0, 0.9 * load, 0]), rel=1e-2)


# Weights ----------------------------------------------------------------------------------------------------------------


def test_masses_turn_with_what_they_are_tied_to(folder: Path) -> None:
    """A mass 0.3 m before the end of a hanging bar: as part of the body, and as a link of its own that turns exactly."""
    along = "\ngravity: [98.1, 0, 0]"
    weight = "{mass: 2, at: [1.3, 0, 0], inertia: {xx: 1e-4, yy: 1e-4, zz: 1e-4}}"
    within = robot(SOLID.replace("root: root,", f"root: root, masses: [{weight}],"), "hanging")
    beside = robot(SOLID, "hanging").replace(
        "links: {", "links: {weight: {parent: body, on: end, at: [0.3, 0, 0], body: {rigid: {mass: 2, inertia: {xx: 1e-4, "
        "yy: 1e-4, zz: 1e-4}}}}, "
    )  # fmt: skip
    found = [np.array(modes(model_of(folder, t + along), {}, count=5).frequencies_hz) for t in (within, beside)]
    still = np.array(modes(model_of(folder, within), {}, count=5).frequencies_hz)
    assert found[0] == pytest.approx(found[1], rel=2e-4)
    assert found[0][2] > 1.01 * still[2]


def test_a_bar_with_a_hole_beside_calculix(folder: Path) -> None:
    """Shifts of the first two frequencies under three loads, as bench/stress_calculix.py has them: within 3 %."""
    given = json.loads((DATA / "calculix_stress.json").read_text())
    bench = _bench()
    own = bench.mesh(given["fine"])
    (folder / "hole.inp").write_text(bench.deck(*own))
    model = model_of(folder, bench.ROBOT.replace("bar.inp", "hole.inp"))
    stored = {name: np.array(f[:2]) for name, f in given["frequencies_hz"].items()}

    def found(force: Any) -> Any:
        return np.array(modes(model, {}, count=2, loads={"end": list(force)}).frequencies_hz)

    unloaded = found((0, 0, 0))
    assert unloaded == pytest.approx(stored["unloaded"], rel=0.005)
    for name, force in bench.CASES.items():
        wanted = stored[name] / stored["unloaded"] - 1
        assert found(force) / unloaded - 1 == pytest.approx(wanted, rel=0.03), name


@cache
def _bench() -> Any:
    path = Path(__file__).parents[1] / "bench" / "stress_calculix.py"
    spec = importlib.util.spec_from_file_location("stress_calculix", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


# What is left out ---------------------------------------------------------------------------------------------------------


def test_few_matrices_are_felt(folder: Path) -> None:
    """A slender bar is drawn back along itself and nothing else; a stiff platform, and a robot that asks for none, have
    no second order at all."""
    path = folder / "robot.yaml"
    path.write_text(robot(SOLID.replace("craig_bampton", "clamped_free"), "free"))  # shapes that do not twist
    body, markers = flexible_bodies(Machine.read(path).description)["body"]
    assert [list(s.axis) for s in markers["end"].shortening] == [[1, 0, 0]] and not markers["root"].shortening
    assert [(list(t.first), t.dyad.tolist()) for t in body.shortened] == [
        ([1, 0, 0], [[0] * 3] * 3),
        ([0, 0, 0], [[1, 0, 0], [0] * 3, [0] * 3]),
    ]
    body, markers = flexible_bodies(Machine.read(path, {"stiffening": "none"}).description)["body"]
    assert not body.shortened and not any(m.shortening for m in markers.values())
    platform = Machine.read("gough_stewart_flexible").model().mechanism
    assert platform.platform is not None and not platform.frames[platform.platform].body.shortened
    assert not any(c.first.marker.shortening for c in platform.closures)


def test_written_bodies_keep_it(folder: Path) -> None:
    path = folder / "robot.yaml"
    path.write_text(robot(SOLID, "free"))
    body, markers = flexible_bodies(Machine.read(path).description)["body"]
    write_body(body, markers, folder / "body.npz")
    again, marked = read_body(folder / "body.npz")
    assert again.stiffens and len(again.shortened) == len(body.shortened)
    whole, read = (first(model_of(folder, robot(arm, "free")), [-300, 0, 0]) for arm in (SOLID, "{fe: {file: body.npz}}"))
    assert read == pytest.approx(whole, rel=1e-9)
    without = model_of(folder, robot("{fe: {file: body.npz, stiffening: none}}", "free"))
    assert first(without, [-300, 0, 0]) > 1.1 * whole
    write_body(replace(body, shortened=(), stiffens=False), {}, folder / "less.npz")
    assert not read_body(folder / "less.npz")[0].stiffens
    assert marked["end"].shortening


def test_matrices_without_stresses_are_named(folder: Path) -> None:
    """CalculiX' matrices hold no stresses: a loaded body says so, an unloaded one has nothing to say."""
    arm = bars.FORMS["calculix"]
    model = model_of(folder, robot(arm, "free"))
    assert modes(model, {}, count=1).notices == ()
    (line,) = modes(model, {}, count=1, loads={"end": [-300, 0, 0]}).notices
    assert line.startswith("link 'body' is a body of another program's matrices") and "stresses are not known" in line
    asked = robot(arm.replace("root: root", "root: root, stiffening: none"), "free")
    assert modes(model_of(folder, asked), {}, count=1, loads={"end": [-300, 0, 0]}).notices == ()
    with pytest.raises(SuppleError, match="second_order needs a mesh"):
        model_of(folder, asked.replace("stiffening: none", "stiffening: second_order"))
