"""Robots as they look: the page in a real browser, what it draws beside what the model says."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import CHROMIUM, Browser, browser
from click.testing import CliRunner
from PIL import Image
from scipy.spatial.transform import Rotation

import supple
from supple.cli.main import main
from supple.machine import Machine
from supple.model.posture import posture
from supple.results.scene import mode_scale, outside, points_of, section_moves, sections
from supple.scene.bodies import body_mesh
from supple.scene.surfaces import ball, block, cylinder
from supple.views import still
from supple.views.show_page import quaternions, show_page

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here; apt-get install chromium")

EVIL = "<script>window.hit=1</script>\"'</script><!--<b>" + "x" * 300 + "😀 שלום"
BAR = """
name: bar
space: spatial
gravity: [0, 0, 0]
materials: {steel: {E: 210 GPa, rho: 7850 kg/m^3, nu: 0.3}}
sections: {bar: {rectangle: {y: 10 mm, z: 20 mm}}}
bodies: {bar: {beam: {length: 1 m, section: bar, material: steel, elements: 4}}}
links: {bar: {parent: base, body: bar}}
points: {tip: {link: bar, on: end}}
"""


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    with browser() as made:
        yield made


def volume(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


# What is drawn -------------------------------------------------------------------------------------------------------


def test_surfaces_are_closed_and_seen_from_outside() -> None:
    for made, exact, least in (
        (ball(1.0, 40), 4 * np.pi / 3, 0.97),
        (block(1, 2, 3), 6.0, 1 - 1e-12),
        (cylinder(1, 0, 2, 60), 2 * np.pi, 0.95),
    ):
        found = volume(made.points, made.triangles)
        assert least * exact <= found <= exact * (1 + 1e-12)
        a, b, c = (made.points[made.triangles[:, k]] for k in range(3))
        faces = np.cross(b - a, c - a)
        wide = np.linalg.norm(faces, axis=1) > 1e-12
        assert (np.einsum("ij,ij->i", faces, made.normals[made.triangles[:, 0]])[wide] > 0).all()


@pytest.mark.parametrize("robot", ["delta", "surgiscope", "cantilever"])
def test_beams_are_drawn_with_the_volume_of_their_sections(robot: str) -> None:
    mechanism = Machine.read(robot).mechanism()
    for index, piece in list(mechanism.pieces.items())[:5]:
        mesh = body_mesh("", index, mechanism.frames[index].body, piece)
        assert mesh is not None and piece.beam is not None
        points = mesh.stations[mesh.station] + mesh.offset
        exact = float(piece.beam.section.area) * float(piece.beam.length)
        assert 0.95 * exact < volume(points, mesh.triangles) < exact * (1 + 1e-9)


def test_a_plate_is_drawn_with_its_volume() -> None:
    mechanism = Machine.read("gough_stewart_plate").mechanism()
    ((index, piece),) = mechanism.pieces.items()
    mesh = body_mesh("", index, mechanism.frames[index].body, piece)
    assert mesh is not None and piece.shape is not None
    corners = piece.body.outline.position.astype(float)[:-1]  # type: ignore[union-attr]
    x, y = corners[:, 0], corners[:, 1]
    area = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    assert volume(mesh.stations[mesh.station] + mesh.offset, mesh.triangles) == pytest.approx(
        area * piece.shape.thickness, rel=1e-6
    )


@pytest.mark.parametrize("robot", ["dualemps", "delta", "gough_stewart_flexible"])
def test_sections_are_where_the_model_has_its_outline(robot: str) -> None:
    """The line drawing is a Function of the formulation; surfaces come from the bodies and frames, in numpy."""
    made = supple.Robot(robot)
    scene, model = made.show(count=4), made.model()
    modes = made.modes(count=4)
    for mesh in scene.meshes:
        if mesh.kind not in ("beam", "plate"):
            continue
        index = mesh.frame
        points, moves = modes.drawing.points[index], modes.drawing.displacements[index]
        at = sections(scene, mesh, scene.rest)[..., 3]
        seen = 0
        for p, d in zip(points, moves.transpose(1, 0, 2), strict=True):
            near = int(np.argmin(np.linalg.norm(at - p, axis=1)))
            if np.linalg.norm(at[near] - p) < 1e-9:
                seen += 1
                for k in range(4):
                    assert scene.modes is not None
                    change = section_moves(scene, mesh, scene.rest, scene.modes.moves[k])[near, :, 3]
                    assert np.abs(change - d[k]).max() < 1e-9 * np.abs(moves).max()
        assert seen >= 3
    assert model.mechanism.name == robot and mode_scale(scene, 0) > 0


def test_a_small_motion_is_the_derivative_of_the_sections() -> None:
    made = supple.Robot("delta")
    scene, model = made.show(count=3), made.model()
    from supple.model.observe import postures_of
    from supple.scene.scene import placed_at

    modes = made.modes(count=3)
    assert scene.modes is not None
    rest = postures_of(model, np.array([modes.pose[n] for n in model.names]))
    h = 1e-6
    ends = [placed_at(model, model.retract(rest, s * h * modes.shapes[:, 2])) for s in (1, -1)]
    for mesh in scene.meshes:
        slope = (sections(scene, mesh, ends[0]) - sections(scene, mesh, ends[1])) / (2 * h)
        assert np.abs(slope - section_moves(scene, mesh, scene.rest, scene.modes.moves[2])).max() < 1e-6


def test_quaternions_turn_as_their_matrices() -> None:
    R = Rotation.random(50, random_state=3).as_matrix()
    R[0] = np.diag([1.0, -1.0, -1.0])
    p = quaternions(R)
    assert np.abs(Rotation.from_quat(p[:, [1, 2, 3, 0]]).as_matrix() - R).max() < 1e-12


# The page ------------------------------------------------------------------------------------------------------------


def drawn(page: Browser) -> np.ndarray:
    return np.array(page.ask("Array.from(supple.current)")).reshape(-1, 3, 4)


@needs_browser
@pytest.mark.parametrize("robot", ["dualemps", "delta", "gough_stewart_plate"])
def test_the_page_draws_what_the_model_says(robot: str, page: Browser, tmp_path: Path) -> None:
    made = supple.Robot(robot)
    scene = made.show(count=6)
    page.open(scene.save(tmp_path / "robot.html"))
    page.ask("supple.play(false), supple.modes.choose(2)")
    assert page.ask("document.querySelector('.mode[aria-checked=true] span').textContent").startswith(
        f"{made.modes(count=6).frequencies_hz[2]:.5g}"
    )
    page.ask("document.getElementById('phase').value = 90, supple.modes.phase = Math.PI / 2, supple.draw()")
    factor = page.ask("supple.modes.amplitude")
    found = drawn(page)
    assert scene.modes is not None and factor > 0
    moves = scene.modes.moves[2]
    every = [sections(scene, m, scene.rest) + factor * section_moves(scene, m, scene.rest, moves) for m in scene.meshes]
    exact = np.concatenate(every)
    assert np.abs(found[..., 3] - exact[..., 3]).max() < 1e-6
    assert np.abs(found[..., :3] - exact[..., :3]).max() < 1e-5
    assert not page.problems and page.requests == [(tmp_path / "robot.html").as_uri()]


@needs_browser
def test_a_motion_is_played_where_the_simulation_was(page: Browser, tmp_path: Path) -> None:
    made = supple.Robot("dualemps")
    scene = made.show(motion="square", duration="0.4 s", count=0)
    run = made.simulate("square", duration="0.4 s")
    assert scene.motion is not None
    page.open(scene.save(tmp_path / "robot.html"))
    sample = 300
    time = float(run.time[sample])
    page.ask(f"supple.play(false), supple.motion.go({time}), supple.draw()")
    points = [k for k, m in enumerate(scene.meshes) if m.kind == "point"]
    first = sum(len(m.stations) for m in scene.meshes[: points[0]])
    assert np.abs(drawn(page)[first, :, 3] - run["point_position:P"][sample]).max() < 1e-6
    before = page.ask("supple.choice.time")
    until = f"(function wait() {{ supple.choice.time === {before} ? setTimeout(wait, 20) : go() }})()"
    page.ask(f"supple.play(true), new Promise((go) => {until})")
    # amplified: straight and bent robots, and what is between, are linear in the factor
    page.ask(
        f"supple.play(false), supple.motion.go({time}), document.getElementById('motion-scale').value = 1, supple.draw()"
    )
    wide = drawn(page)[first, :, 3]
    deformed = run["point_deformation:P"][sample]
    assert np.abs(wide - (run["point_position:P"][sample] + 9 * deformed)).max() < 2e-6
    for kind in ("deflection", "strain", "energy"):
        page.ask(f"document.getElementById('colour').value = '{kind}', supple.recolour(), supple.draw()")
        assert page.ask("Math.max(...supple.colours.values)") <= 1 + 1e-6
    assert not page.problems and len(page.requests) == 1


@needs_browser
def test_a_map_is_drawn_where_the_tool_is(page: Browser, tmp_path: Path) -> None:
    """A map over the platform of the Delta: its tool is where the grid has it; numbers come back from the file."""
    made = supple.Robot("delta")
    grid = made.map({"x": [-0.1, 0.0, 0.1], "y": [-0.05, 0.05]}, ["f1"], {"z": -0.65})
    scene = made.show({"z": -0.65}, count=0, map=grid.save(tmp_path / "map.nc"))
    assert scene.map is not None and scene.map.point == "tool"
    exact = np.column_stack([grid.chosen["x"].values, grid.chosen["y"].values, np.full(6, -0.65)])
    assert np.abs(scene.map.places - exact).max() < 1e-9
    assert scene.map.quantities["f1"][1] == pytest.approx(grid.quantities["f1"].values, rel=1e-12)
    page.open(scene.save(tmp_path / "map.html"))
    assert page.ask("supple.choice.tab") == "map" and page.ask("supple.show.lines().length") == 6 * 12
    assert page.ask("document.getElementById('legend-title').textContent") == "f1 (Hz)"
    assert not page.problems and len(page.requests) == 1
    (tmp_path / "bad.nc").write_bytes(b"nonsense")
    with pytest.raises(supple.SuppleError, match="is not a map"):
        made.show(count=0, map=tmp_path / "bad.nc")


@needs_browser
def test_strain_of_a_bent_bar_is_that_of_the_textbook(page: Browser, tmp_path: Path) -> None:
    """A cantilever bent by a force at its end: the strain is 6 F l / (E b h^2) at the root."""
    file = tmp_path / "bar.yaml"
    file.write_text(BAR, encoding="utf-8")
    made = supple.Robot(file)
    force, b, h, E = 10.0, 0.02, 0.01, 210e9
    scene = made.show(count=0, loads={"tip": [0, force, 0]})
    page.open(scene.save(tmp_path / "bar.html"))
    strains = np.array(page.ask("Array.from(supple.robot.strains(supple.robot.rest.x))"))
    exact = 6 * force * 1.0 / (E * b * h**2)
    assert strains.max() == pytest.approx(exact * (1 - 1 / 32), rel=1e-3)  # of the first of 16 lengths, in its middle


@needs_browser
def test_names_are_text_whatever_they_are(page: Browser, tmp_path: Path) -> None:
    """Robot files refuse such names; records of other origin may hold them."""
    scene = supple.Robot("cantilever").show(count=2)
    assert scene.modes is not None
    meshes = tuple(replace(m, name=EVIL) for m in scene.meshes)
    modes = replace(scene.modes, bodies=(EVIL,) * len(scene.modes.bodies))
    evil = replace(scene, robot=EVIL, about=EVIL, notices=(EVIL,), meshes=meshes, modes=modes, pose={EVIL: (1.0, EVIL)})
    (tmp_path / "evil.html").write_text(show_page(evil), encoding="utf-8")
    page.open(tmp_path / "evil.html")
    page.ask("document.getElementById('names').value = 'all', supple.draw()")
    for where in ("#name", "#about", "#labels span", "#notices p", ".share b", "#pose-table td"):
        assert page.ask(f"document.querySelector('{where}').textContent") == EVIL
    assert page.ask("document.title").startswith(EVIL[:20])
    assert page.ask("window.hit") is None and page.ask("document.querySelectorAll('script, b > *').length") == 2
    assert page.ask("document.documentElement.scrollWidth") <= 1280
    assert not page.problems and len(page.requests) == 1


@needs_browser
def test_two_robots_beside_each_other_turn_together(page: Browser, tmp_path: Path) -> None:
    scenes = [supple.Robot("cantilever", **more).show(count=3) for more in ({}, {"E": "40 GPa"})]
    file = scenes[0].save_beside(scenes[1], tmp_path / "both.html", (EVIL, "softer"))
    page.problems.clear(), page.requests.clear()
    page.loaded = False
    page.call("Page.navigate", url=file.as_uri())
    while not page.loaded:
        page.note(page.next_message())
    linked = "frames[0].supple?.linked && frames[1].supple?.linked"
    page.ask(f"new Promise((go) => (function wait() {{ {linked} ? go() : setTimeout(wait, 50) }})())")
    assert page.ask("document.querySelector('h1').textContent") == EVIL and page.ask("window.hit") is None
    page.ask("frames[1].document.dispatchEvent(new Event('pointerdown')), frames[1].supple.modes.choose(2)")
    page.ask("frames[1].supple.camera.turn(0.3, 0.1)")
    same = "frames[0].supple.choice.mode === 2 && frames[0].supple.camera.yaw === frames[1].supple.camera.yaw"
    page.ask(f"new Promise((go) => (function wait() {{ {same} ? go() : setTimeout(wait, 50) }})())")
    for k, more in enumerate(({}, {"E": "40 GPa"})):
        exact = supple.Robot("cantilever", **more).modes(count=3).frequencies_hz
        assert page.ask(f"frames[{k}].supple.modes.data.frequencies") == pytest.approx(exact.tolist(), rel=1e-12)
    assert not page.problems and len(page.requests) == 1


MARKED = "points: {" + "".join(f"s{k}: {{link: bar, at: [{k / 10} m, 0, 0]}}, " for k in range(1, 10)) + "tip"


@needs_browser
def test_measured_shapes_beside_computed_ones(page: Browser, tmp_path: Path) -> None:
    """Sensors on a cantilever see a known mixture of modes: it comes back, with the frequencies that were measured."""
    from supple.scene.measured import MeasuredShapes, beside_measured, real_shapes

    file = tmp_path / "bar.yaml"
    file.write_text(BAR.replace("points: {tip", MARKED), encoding="utf-8")
    scene = supple.Robot(file).show(count=8)
    assert scene.modes is not None
    names = [f"s{k}" for k in range(1, 10) for _ in "yz"]
    axes = np.array([[0, 1, 0], [0, 0, 1]] * 9, dtype=float)
    meshes = {m.name: m for m in scene.meshes if m.kind == "point"}
    moves = np.array(
        [[section_moves(scene, meshes[n], scene.rest, scene.modes.moves[k])[0, :, 3] for n in names] for k in range(8)]
    )
    seen = np.einsum("knc,nc->nk", moves, axes)
    weights = np.array([[2.0, 0.0, 0.3], [0.0, -1.5, 0.0], [0.0, 0.4, 3.0]])  # of modes 1, 2 and 4
    shapes = seen[:, [0, 1, 3]] @ weights
    turned = real_shapes(shapes * np.exp(0.3j))
    assert np.abs(turned * np.sign(turned[0] * shapes[0]) - shapes).max() < 1e-12
    hz = scene.modes.frequencies_hz[[0, 1, 3]]
    known = MeasuredShapes(
        tuple(names), axes, shapes, 0.9 * hz, np.full(3, 0.01), np.full(3, 0.97), ((0,), (1,), (3,)), "home"
    )
    model, measured = beside_measured(scene, known)
    assert model.modes is not None and measured.modes is not None
    exact = np.einsum("km,k...->m...", weights, scene.modes.moves.position[[0, 1, 3]])
    assert np.abs(measured.modes.moves.position - exact).max() < 1e-9 * np.abs(exact).max() + 1e-15
    elastic = np.einsum("km,ke->me", weights, scene.modes.moves.elastic[[0, 1, 3]])
    assert np.abs(measured.modes.moves.elastic - elastic).max() < 1e-9 * np.abs(elastic).max()
    assert model.modes.frequencies_hz == pytest.approx(hz) and measured.modes.frequencies_hz == pytest.approx(0.9 * hz)
    assert len(measured.modes.arrows) == 9 and "MAC 0.970" in measured.modes.words[0] and "+11 %" in measured.modes.words[0]
    page.open(measured.save(tmp_path / "measured.html"))
    assert page.ask("supple.show.lines().length") == 9 * 24 and "MAC 0.970" in page.ask("supple.modes.caption()")
    assert not page.problems


@needs_browser
def test_keys_touch_and_small_screens(page: Browser, tmp_path: Path) -> None:
    scene = supple.Robot("cantilever").show(count=3)
    page.open(scene.save(tmp_path / "robot.html", mode=2), width=390, height=780, dark=True)
    assert page.ask("supple.choice.mode") == 1 and page.ask("document.documentElement.classList.contains('dark')")
    assert page.ask("document.getElementById('panel').classList.contains('folded')")

    def press(key: str) -> None:
        page.ask(
            f"document.getElementById('view').dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))"
        )

    yaw, far = page.ask("supple.camera.yaw"), page.ask("supple.camera.distance")
    press("ArrowLeft"), press("+"), press("n"), press(" ")
    assert page.ask("supple.camera.yaw") > yaw and page.ask("supple.camera.distance") < far
    assert page.ask("supple.choice.mode") == 2 and page.ask("supple.choice.playing") is False
    press("Home")
    for kind, x in (("touchStart", (100, 200)), ("touchMove", (160, 260)), ("touchEnd", ())):
        spots = [{"x": 195 - x[0] / 2, "y": 300}, {"x": 195 + x[1] / 2, "y": 300}] if x else []
        page.call("Input.dispatchTouchEvent", type=kind, touchPoints=spots)
    assert page.ask("supple.camera.distance") < far
    named = "x.labels?.length || x.ariaLabel || x.textContent.trim()"
    found = f"[...document.querySelectorAll('button, input, select, canvas')].filter((x) => !({named}))"
    assert page.ask(f"{found}.map((x) => x.id)") == []
    assert not page.problems


# The robot's own code --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def delta(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> tuple[supple.Robot, Any, Path]:
    """The Delta, and its page with its own code; a parameter is free."""
    pytest.importorskip("ziglang", reason="no ziglang here: pip install ziglang")
    made = supple.Robot("delta").keeping(["mass", "Rp", "E_arm"])
    scene = made.show({"x": 0.03}, count=6, live=True)
    return made, scene, scene.save(tmp_path_factory.mktemp("live") / "delta.html")


def alive(page: Browser, file: Path) -> None:
    page.open(file)
    assert page.ask("supple.ready.then(() => Boolean(supple.live))"), page.ask("document.body.textContent")


def slid(page: Browser, where: str, value: float) -> dict[str, float]:
    """A slider moved by hand; what the actuators are then."""
    page.ask(
        f"(() => {{ const s = document.querySelector('{where} input[type=range]'); s.value = {value}; "
        "s.dispatchEvent(new Event('input')); })()"
    )
    assert page.ask("document.getElementById('live-say').textContent") == ""
    return dict(page.ask("supple.live.about.given.map((c, k) => [c.name, supple.live.given[k]])"))


@needs_browser
def test_a_robot_dragged_in_its_page_is_what_modes_and_stiffness_say(delta: Any, page: Browser) -> None:
    """The page's own code beside the Model: frequencies, drawn places, energies, compliance, after sliders moved it."""
    made, scene, file = delta
    alive(page, file)
    assert file.stat().st_size < 1.5e6 and "wasm-unsafe-eval" in file.read_text(encoding="utf-8")
    assert page.ask("supple.live.rows.map((c) => c.name)") == ["x", "y", "z"]
    at = slid(page, "#live-platform", 0.1)
    modes = made.modes(at, count=6)
    assert modes.pose["x"] == pytest.approx(0.1, abs=1e-4)  # without its weight exactly there
    assert page.ask("supple.modes.data.frequencies") == pytest.approx(modes.frequencies_hz.tolist(), rel=1e-9)
    shares = np.array(page.ask("supple.modes.data.kinetic"))
    assert shares[:, 2:4] == pytest.approx(modes.kinetic[:, 2:4], abs=1e-6)
    assert page.ask("supple.modes.data.damping") == pytest.approx(modes.damping_ratios.tolist(), rel=0.01)
    compliance = np.array(page.ask("supple.live.engine.compliance(supple.live.found, 0)"))
    exact = made.stiffness("tool", at).compliance[:3, :3]
    assert np.abs(compliance - exact).max() < 1e-9 * np.abs(exact).max()
    other = made.show(at, count=0)
    page.ask("supple.pick('pose'), supple.draw()")
    every = np.concatenate([sections(other, m, other.rest)[..., 3] for m in scene.meshes])
    assert np.abs(drawn(page)[..., 3] - every).max() < 1e-6
    page.ask("document.querySelector('#live-joints input[type=range]').value = 0")
    assert not page.ask("supple.live.move(supple.live.given.map(() => 4))")  # arms turned right round
    assert "cannot be reached" in page.ask("document.getElementById('live-say').textContent")
    assert not page.problems and len(page.requests) == 1


@needs_browser
def test_parameters_changed_in_a_page(delta: Any, page: Browser) -> None:
    """Mass and radius of the platform, which the loops depend on; what only numbers can tell stays as it is."""
    _, scene, file = delta
    assert [x["name"] for x in scene.live.about["parameters"]] == ["mass", "Rp"]
    assert scene.live.notices[0].startswith("E_arm stays as it is") and "modal" in scene.live.notices[0]
    alive(page, file)
    assert page.ask("supple.live.move(supple.live.given, [1.2, 0.065])")
    at = dict(page.ask("supple.live.about.given.map((c, k) => [c.name, supple.live.given[k]])"))
    changed = supple.Robot("delta", mass=1.2, Rp=0.065)
    exact = changed.modes(at, count=6).frequencies_hz
    assert page.ask("supple.modes.data.frequencies") == pytest.approx(exact.tolist(), rel=1e-9)
    other = changed.show(at, count=0)
    page.ask("supple.pick('pose'), supple.draw()")
    every = np.concatenate([sections(other, m, other.rest)[..., 3] for m in other.meshes])
    assert np.abs(drawn(page)[..., 3] - every).max() < 1e-6


@needs_browser
def test_a_blow_in_a_page_is_that_of_simulate(delta: Any, page: Browser, tmp_path: Path) -> None:
    """The robot file with a point where it is hit, and its motion with the blow, on the desk."""
    _, scene, file = delta
    alive(page, file)
    at = slid(page, "#live-platform", 0.05)
    points = page.ask("supple.live.about.points")
    where = next(n for n, words in scene.live.about["hits"].items() if words == "leg1/arm end")
    page.ask(f"supple.hammer.about.duration = 0.05, supple.hammer.hit({points.index(where)}, [0, 0, 1], 0.02), null")
    page.ask("supple.hammer.integrate(1e6)")
    assert page.ask("supple.hammer.done")
    times = np.array(page.ask("supple.hammer.answers.map((x) => x.t)"))
    found = [np.array(page.ask(f"supple.hammer.answers.map((x) => [...x.{k}])")) for k in ("position", "acceleration")]
    text = (Path(supple.__file__).parent / "gallery" / "delta.yaml").read_text(encoding="utf-8")
    text = text.replace("  tool: {link: platform}", "  tool: {link: platform}\n  hit: {link: leg1/arm, on: end}")
    blow = "impulse: {area: 0.02 N*s, duration: 1 ms, at: 1 ms}"
    held = json.dumps(dict.fromkeys(at, "prescribed"))
    text += f"  blow: {{start: {json.dumps(at)}, drive: {held}, loads: {{hit: {{fz: {{{blow}}}}}}}, duration: 50 ms}}\n"
    (tmp_path / "hit.yaml").write_text(text, encoding="utf-8")
    run = supple.Robot(tmp_path / "hit.yaml").simulate("blow", every=2.5e-4, step=6.25e-5, tol=1e-7)
    assert run.time[1:] == pytest.approx(times, abs=1e-12)
    for mine, name in zip(found, ("position", "acceleration"), strict=True):
        exact = run[f"point_{name}"][1:].reshape(len(times), -1)
        both = mine.reshape(len(times), len(points), 3)[:, [0, points.index(where)]].reshape(len(times), -1)
        assert np.abs(both - exact).max() < 1e-6 * np.abs(exact - exact[0]).max()
    page.ask("new Promise((go) => (function wait() { supple.hammer.time > 0 ? go() : setTimeout(wait, 20) })())")
    assert page.ask("supple.hammer.response().length") == 400
    assert not page.problems and len(page.requests) == 1


@pytest.mark.parametrize("name", ["delta", "gough_stewart_plate", "hexa", "serial_arm"])
def test_parts_are_the_outside_of_something_solid(name: str) -> None:
    """So that a renderer may leave out what is seen from within."""
    for mesh in supple.Robot(name).show(count=0).meshes:
        if mesh.kind == "spring":  # its wire is open at the ends
            continue
        triangles, edges, solid = outside(mesh)
        assert solid and len(triangles) <= len(mesh.triangles) and len(edges) <= len(mesh.edges), mesh.name
        assert not outside(replace(mesh, triangles=mesh.triangles[:, ::-1]))[2]
        assert not outside(replace(mesh, triangles=triangles[1:]))[2]
        assert len(outside(replace(mesh, edges=np.vstack([edges, edges[:, ::-1]])))[1]) == len(edges)


@needs_browser
def test_structural_damping_is_that_of_the_pose_and_design(page: Browser, tmp_path: Path) -> None:
    """The viscous equivalent of a moved robot of another stiffness, as the desk has it, and what a blow does with it."""
    text = (Path(supple.__file__).parent / "gallery" / "five_bar.yaml").read_text(encoding="utf-8")
    file = tmp_path / "lossy.yaml"
    file.write_text(text.replace("damping: {modal: 0.01}", "damping: {structural: 0.1}"), encoding="utf-8")
    scene = supple.Robot(file).keeping(["E"]).show(count=3, live=True)
    alive(page, scene.save(tmp_path / "lossy.html"))
    assert page.ask("supple.live.move(supple.live.given.map((x) => x + 0.3), [40e9])")
    at = dict(page.ask("supple.live.about.given.map((c, k) => [c.name, supple.live.given[k]])"))
    page.ask("supple.hammer.about.duration = 0.02, supple.hammer.hit(0, [1, 0, 0], 0.01), supple.hammer.integrate(1e6)")
    assert page.ask("supple.hammer.done")
    found = np.array(page.ask("supple.hammer.answers.map((x) => [...x.position.subarray(0, 3)])"))
    softer = supple.Robot(file, E=40e9)
    point = page.ask("supple.live.about.points[0]")
    blow = {"impulse": {"area": "0.01 N*s", "duration": "1 ms", "at": "1 ms"}}
    motion = {"start": at, "drive": dict.fromkeys(at, "prescribed"), "loads": {point: {"fx": blow}}, "duration": "20 ms"}
    (tmp_path / "blow.yaml").write_text(json.dumps(motion), encoding="utf-8")
    run = softer.simulate(tmp_path / "blow.yaml", every=2.5e-4, step=6.25e-5, tol=1e-7)
    exact = run[f"point_position:{point}"][1:]
    assert np.abs(found - exact).max() < 1e-6 * np.abs(exact - exact[0]).max()


def test_a_page_without_a_compiler_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from supple.backends import compiler

    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None)
    scene = supple.Robot("cantilever").show(count=1, live=True)
    assert scene.live is None and "pip install 'supple[cc]'" in scene.notices[-1]
    assert "unsafe" not in show_page(scene)


def test_a_page_asks_nothing_of_the_network() -> None:
    text = show_page(supple.Robot("cantilever").show(count=1))
    assert "default-src 'none'" in text and "unsafe" not in text
    for word in ("http://", "https://", "import(", "fetch(", "XMLHttpRequest", "innerHTML", "eval("):
        assert word not in text


def test_words_on_the_command_line(tmp_path: Path) -> None:
    def said(*words: str) -> tuple[int, str]:
        found = CliRunner().invoke(main, ["show", *words])
        return found.exit_code, found.output

    code, text = said("five_bar", "--count", "2", "-o", str(tmp_path / "five.html"))
    assert code == 0 and "five.html" in text and (tmp_path / "five.html").stat().st_size < 500_000
    for words, part in (
        (("five_bar",), "-o robot.html"),
        (("five_bar", "--gif", str(tmp_path / "x.gif")), "--mode or --motion"),
        (("five_bar", "--mode", "1", "--png", str(tmp_path / "x.jpg")), ".png"),
        (("five_bar", "-o", str(tmp_path / "five.png")), ".html"),
        (("five_bar", "-o", str(tmp_path)), "file"),
        (("five_bar", "--motion", "nonsense", "-o", str(tmp_path / "x.html")), "nonsense"),
        (("five_bar", "--pose", "home", "-o", str(tmp_path / "x.html")), "--measured"),
        (("five_bar", "--measured", "x.yaml", "--at", "x=1", "-o", str(tmp_path / "x.html")), "leave --at out"),
        (("five_bar", "--measured", "none.yaml", "-o", str(tmp_path / "x.html")), "none.yaml"),
        (("five_bar", "--mode", "500", "-o", str(tmp_path / "x.html")), "500"),
    ):
        code, text = said(*words)
        assert code != 0 and part in text and "Traceback" not in text
    code, text = said("bricard", "-o", str(tmp_path / "bricard.html"))
    assert code == 0 and "no modes" in text
    assert posture(Machine.read("bricard").model()).shape == (5,)


def test_surface_points_follow_their_sections() -> None:
    scene = supple.Robot("cantilever").show(count=1)
    beam = next(m for m in scene.meshes if m.kind == "beam")
    points = points_of(beam, sections(scene, beam, scene.rest))
    assert np.ptp(points[:, 0]) == pytest.approx(1.0, abs=1e-3) and np.isfinite(points).all()


# Pictures, films, glTF -----------------------------------------------------------------------------------------------


def test_pictures_have_surfaces_where_they_are(tmp_path: Path) -> None:
    """The middle of a ball is drawn where the pinhole has it, in its colour; rasterised areas are those of triangles."""
    from supple.views.look import eye_of
    from supple.views.raster import filled

    scene = supple.Robot("cantilever").show(count=2)
    picture = np.asarray(Image.open(scene.save(tmp_path / "rest.png")).convert("RGB")).astype(int)
    assert picture.shape == (640, 960, 3) and np.ptp(picture, axis=(0, 1)).min() > 100
    swung = np.asarray(Image.open(scene.save(tmp_path / "mode.png", mode=2)).convert("RGB")).astype(int)
    assert np.ptp(picture[:34, 700:], axis=(0, 1)).max() == np.ptp(swung[:74, 700:], axis=(0, 1)).max() == 0  # words alone
    blue = [((p[..., 2] - p[..., 0] > 60) & (p[..., 2] > 110)).sum() for p in (picture, swung)]
    assert min(blue) > 2000  # the beam
    rng = np.random.default_rng(1)
    eye = eye_of(scene, [rng.normal(size=(9, 3))], 400, 300)
    corners = np.concatenate([rng.uniform(20, 280, (40, 3, 2)), np.ones((40, 3, 1))], axis=2)
    _, which, weights, _ = filled(eye, corners)
    a, b = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
    areas = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / 2
    counts = np.bincount(which, minlength=40)
    around = np.linalg.norm(np.diff(corners[:, [0, 1, 2, 0], :2], axis=1), axis=2).sum(axis=1)
    assert (np.abs(counts - areas) < around).all() and counts.sum() == pytest.approx(areas.sum(), rel=0.01)
    assert weights.min() > -1e-9


def glb(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    magic, version, length = struct.unpack("<4sII", data[:12])
    size, kind = struct.unpack("<I4s", data[12:20])
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def read(tree: dict[str, Any], data: bytes, accessor: int) -> np.ndarray:
    entry = tree["accessors"][accessor]
    view = tree["bufferViews"][entry["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[entry["type"]]
    kind = {5126: "<f4", 5125: "<u4"}[entry["componentType"]]
    return np.frombuffer(data, kind, entry["count"] * width, view["byteOffset"]).reshape(-1, width)


def mesh_of(tree: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    return dict(tree["meshes"][node["mesh"]]["primitives"][0]) if "mesh" in node else {}


def test_gltf_of_a_motion_bends_as_the_robot_does(tmp_path: Path) -> None:
    """Nodes and weights of the last sample, put together by hand, give the points that the simulation has."""
    made = supple.Robot("cantilever")
    scene = made.show(count=3, motion="hammer", duration="0.05 s", every="5 ms")
    tree, data = glb(scene.save(tmp_path / "robot.glb"))
    run = made.simulate("hammer", duration="0.05 s", every="5 ms")
    point = next(k for k, n in enumerate(tree["nodes"]) if "targets" in mesh_of(tree, n))
    above = next(k for k, n in enumerate(tree["nodes"]) if point in n.get("children", []))
    (film,) = tree["animations"]
    found = {
        (c["target"]["node"], c["target"]["path"]): read(tree, data, film["samplers"][c["sampler"]]["output"])
        for c in film["channels"]
    }
    mesh = mesh_of(tree, tree["nodes"][point])
    points = read(tree, data, mesh["attributes"]["POSITION"])
    end = points[:, 0] > points[:, 0].max() - 1e-6  # its last section, whose middle is the tip
    targets = np.array([read(tree, data, t["POSITION"])[end].mean(axis=0) for t in mesh["targets"]])
    weights = found[point, "weights"].reshape(len(run.time), -1)[-1]
    x, y, z, w = found[above, "rotation"][-1]
    turn = Rotation.from_quat([x, y, z, w]).as_matrix()
    place = found[above, "translation"][-1] + turn @ (points[end].mean(axis=0) + weights @ targets)
    assert np.abs(place - run["point_position:tip"][-1]).max() < 1e-6
    swinging, _ = glb(scene.save(tmp_path / "mode.glb", mode=2))
    assert swinging["animations"][0]["name"] == "mode 2"
    loaded = pytest.importorskip("trimesh", reason="no trimesh here").load(tmp_path / "mode.glb")
    assert len(loaded.geometry) == len(scene.meshes)


def test_names_in_gltf_and_films_are_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names come back from a glTF file as they were, through another reader; films are drawn with them."""
    scene = supple.Robot("cantilever").show(count=1)
    evil = replace(scene, robot=EVIL, meshes=tuple(replace(m, name=EVIL) for m in scene.meshes))
    file = evil.save(tmp_path / "evil.glb", mode=1)
    tree, _ = glb(file)
    assert any(EVIL in node.get("name", "") for node in tree["nodes"])
    monkeypatch.setattr(still, "_SECONDS", 0.2)
    assert Image.open(still.write_film(evil, tmp_path / "evil.gif", 1, (160, 120))).n_frames == 4
    loaded = pytest.importorskip("pygltflib", reason="no pygltflib here").GLTF2().load(str(file))
    assert loaded.asset.version == "2.0" and len(loaded.meshes) == len(scene.meshes)
    assert any(EVIL in (node.name or "") for node in loaded.nodes) and len(loaded.animations) == 1
    for accessor in loaded.accessors:  # every number lies inside the one buffer
        view = loaded.bufferViews[accessor.bufferView]
        assert view.byteOffset + view.byteLength <= loaded.buffers[0].byteLength


def test_films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = supple.Robot("cantilever").show(count=1)
    monkeypatch.setattr(still, "_SECONDS", 0.2)
    film = Image.open(still.write_film(scene, tmp_path / "mode.gif", 1, (160, 120)))
    assert film.n_frames == 4 and film.size == (160, 120)
    monkeypatch.setattr(still.shutil, "which", lambda name: None)
    with pytest.raises(supple.SuppleError, match="ffmpeg"):
        scene.save(tmp_path / "mode.mp4", mode=1)


@pytest.mark.parametrize("corners", [4, 8])
def test_solids_are_drawn_with_their_volume(corners: int) -> None:
    """The surface of a box of 2 x 1 x 1 hexahedra, or of tetrahedra in them: closed, seen from outside, 12 edges."""
    pytest.importorskip("skfem", reason="no scikit-fem here")
    from supple.robot.finite_elements.solid import solid
    from supple.scene.bodies import _skin

    points = np.array([[x, y, z] for x in (0, 1, 2) for y in (0, 1) for z in (0, 1)], dtype=float) * [0.2, 0.1, 0.05]
    cube = np.array([0, 4, 6, 2, 1, 5, 7, 3])  # in VTK's order
    cells = np.array([cube, cube + 4])
    if corners == 4:  # Kuhn's six tetrahedra around the diagonal from the first corner to the seventh
        paths = [(0, a, b, 6) for a, b in ((1, 2), (1, 5), (3, 2), (3, 7), (4, 5), (4, 7))]
        cells = np.array([cell[list(path)] for cell in cells for path in paths])
    made = solid(points, cells, 2.1e11, 0.3, 7850.0)
    assert made.faces is not None
    assert volume(made.xyz, made.faces) == pytest.approx(0.4 * 0.1 * 0.05, rel=1e-12)
    nodes, triangles = np.unique(made.faces, return_inverse=True)
    mesh = _skin("box", 0, made.xyz[nodes], np.zeros((len(nodes), 3, 1)), triangles.reshape(-1, 3))
    drawn = mesh.stations[mesh.station][mesh.triangles]
    assert volume(mesh.stations[mesh.station], mesh.triangles) == pytest.approx(0.002, rel=1e-12)
    assert (
        np.einsum(
            "ij,ij->i", np.cross(drawn[:, 1] - drawn[:, 0], drawn[:, 2] - drawn[:, 0]), mesh.normal[mesh.triangles[:, 0]]
        )
        > 0
    ).all()
    ends = mesh.stations[mesh.station][mesh.edges]
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum() == pytest.approx(4 * (0.4 + 0.1 + 0.05), rel=1e-12)
