"""Bodies that look as a file says: readers within bounds, surfaces that bend with their bodies."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import supple
from supple.cli.main import main
from supple.results.scene import points_of, section_moves, sections
from supple.robot.named_files import files_below
from supple.robot.skin_files import surface_of
from supple.scene.surfaces import block

BAR = """
name: bar
space: spatial
gravity: [0, 0, -9.81]
materials: {steel: {E: 210 GPa, rho: 7850 kg/m^3, nu: 0.3}}
sections: {bar: {rectangle: {y: 10 mm, z: 20 mm}}}
bodies:
  bar: {beam: {length: 1 m, section: bar, material: steel, elements: 4, segments: 2}, skin: {file: bar.stl, units: mm}}
  tool: {rigid: {mass: 0.1 kg}, skin: {file: tool.obj, at: [10 mm, 0, 0], rotate: {z: 90 deg}}}
links:
  bar: {parent: base, body: bar}
  tool: {parent: bar, on: end, body: tool}
points: {tip: {link: bar, on: end}}
"""


def long_box(rows: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """A box of 1000 x 10 x 20 (mm) along x with rows of corners along it, closed, seen from outside."""
    x = np.linspace(0, 1000, rows + 1)
    ring = np.array([[-5, -10], [5, -10], [5, 10], [-5, 10]])
    points = np.array([[a, *p] for a in x for p in ring])
    made = []
    for i in range(rows):
        for k in range(4):
            a, b = 4 * i + k, 4 * i + (k + 1) % 4
            made += [(a, b, b + 4), (a, b + 4, a + 4)]
    end = 4 * rows
    made += [(0, 2, 1), (0, 3, 2), (end, end + 1, end + 2), (end, end + 2, end + 3)]
    return points, np.array(made)


def volume(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def stl(points: np.ndarray, triangles: np.ndarray) -> bytes:
    record = np.zeros(len(triangles), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")])
    record["corners"] = points[triangles]
    return b"solid but binary".ljust(80) + struct.pack("<I", len(triangles)) + record.tobytes()


def stl_text(points: np.ndarray, triangles: np.ndarray) -> bytes:
    lines = ["solid x"]
    for corners in points[triangles]:
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {a} {b} {c}" for a, b, c in corners), "endloop", "endfacet"]
    return "\n".join([*lines, "endsolid"]).encode()


def obj(points: np.ndarray, triangles: np.ndarray) -> bytes:
    lines = [f"v {a} {b} {c}" for a, b, c in points] + [f"f {a + 1}/1 {b + 1}//2 {c - len(points)}" for a, b, c in triangles]
    return "\n".join(["# box", "o box", *lines]).encode()


def glb(points: np.ndarray, triangles: np.ndarray, **changes: Any) -> bytes:
    """Its node is turned by 90 degrees about z and moved; the numbers are written turned back."""
    turned = np.column_stack([points[:, 1], -points[:, 0], points[:, 2]]) - [0, 7, 0]
    data = turned.astype("<f4").tobytes() + triangles.astype("<u2").tobytes()
    tree = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"children": [1], "rotation": [0, 0, np.sqrt(0.5), np.sqrt(0.5)]}, {"mesh": 0, "translation": [0, 7, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": triangles.size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": 12 * len(points)},
            {"buffer": 0, "byteOffset": 12 * len(points), "byteLength": 2 * triangles.size},
        ],
        "buffers": [{"byteLength": len(data)}],
    } | changes  # fmt: skip
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data


@pytest.mark.parametrize("name, written", [("a.stl", stl), ("b.stl", stl_text), ("c.obj", obj), ("d.glb", glb)])
def test_surfaces_come_back_from_files(name: str, written: Any, tmp_path: Path) -> None:
    points, triangles = long_box()
    (tmp_path / name).write_bytes(written(points, triangles))
    found, corners = surface_of(tmp_path / name)
    assert len(found) == len(points) and len(corners) == len(triangles)  # corners that coincide are one
    assert volume(found, corners) == pytest.approx(volume(points, triangles), rel=1e-6)
    assert volume(points, triangles) == pytest.approx(1000 * 10 * 20)
    assert np.abs(np.sort(found.sum(axis=1)) - np.sort(points.sum(axis=1))).max() < 1e-3


def test_files_of_a_second_writer(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh", reason="no trimesh here")
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    for name in ("box.stl", "box.obj", "box.glb"):
        box.export(tmp_path / name)
        assert volume(*surface_of(tmp_path / name)) == pytest.approx(6.0)


POINTS, TRIANGLES = long_box(2)
CIRCLE = {"nodes": [{"children": [1]}, {"children": [0], "mesh": 0}]}
FAR = {"accessors": [{"bufferView": 0, "componentType": 5126, "count": 10**6, "type": "VEC3"}]}
BAD = {
    "a.stl": (b"\0" * 90, "is no STL file"),
    "b.stl": (b"solid x\nvertex 1 2\n", "line 2: three coordinates"),
    "c.stl": (b"solid x\n" + b"vertex 1 2 3\n" * 4, "not whole triangles"),
    "d.stl": (stl(POINTS * np.nan, TRIANGLES), "is not a number"),
    "e.stl": (stl(POINTS * 0, TRIANGLES), "coincide"),
    "f.stl": (b"solid x\nendsolid\n", "no triangles"),
    "a.obj": (b"v 0 0 0\nf 1 2 3\n", "line 2: there is no vertex 2"),
    "b.obj": (b"v 0 0 x\n", "line 1"),
    "c.obj": (b"v 0 0 0\nf 1 1\n", "three corners"),
    "a.glb": (b"glTF" + b"\0" * 40, "no binary glTF"),
    "b.glb": (glb(POINTS, TRIANGLES)[:60], "ends before"),
    "c.glb": (glb(POINTS, TRIANGLES, **CIRCLE), "hangs on two"),
    "d.glb": (glb(POINTS, TRIANGLES, **FAR), "outside its data"),
    "e.glb": (glb(POINTS, TRIANGLES, meshes=3), "do not fit"),
    "f.glb": (glb(POINTS, TRIANGLES, buffers=[{"uri": "../secret"}]), "another file"),
    "g.glb": (glb(POINTS, TRIANGLES, extensionsRequired=["KHR_draco"]), "draco"),
    "x.dae": (b"<x/>", "STL, OBJ or GLB"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_words(name: str, tmp_path: Path) -> None:
    data, words = BAD[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(supple.SuppleError, match=words) as found:
        surface_of(tmp_path / name)
    assert str(found.value).startswith(name)


def test_damaged_files_are_refused_or_read(tmp_path: Path) -> None:
    """Any change of a byte or two, any cut: words or a surface with finite points, never anything else."""
    rng = np.random.default_rng(7)
    for name, whole in (
        ("x.stl", stl(POINTS, TRIANGLES)),
        ("x.obj", obj(POINTS, TRIANGLES)),
        ("x.glb", glb(POINTS, TRIANGLES)),
    ):
        for _ in range(150):
            data = bytearray(whole if rng.random() < 0.7 else whole[: rng.integers(1, len(whole))])
            for k in rng.integers(0, len(data), 2):
                data[k] = rng.integers(0, 256)
            (tmp_path / name).write_bytes(data)
            try:
                points, triangles = surface_of(tmp_path / name)
            except supple.SuppleError:
                continue
            assert np.isfinite(points).all() and triangles.max() < len(points)


@pytest.fixture
def bar(tmp_path: Path) -> Path:
    (tmp_path / "bar.yaml").write_text(BAR, encoding="utf-8")
    (tmp_path / "bar.stl").write_bytes(stl(*long_box()))
    made = block(0.04, 0.02, 0.02)
    (tmp_path / "tool.obj").write_bytes(obj(made.points, made.triangles))
    return tmp_path / "bar.yaml"


def test_a_skin_bends_as_the_beam_that_it_hides(bar: Path) -> None:
    """A skin in the beam's own shape: its points are on the beam's surface at rest and move with it in modes."""
    plain = bar.with_name("plain.yaml")
    plain.write_text(BAR.replace(", skin: {file: bar.stl, units: mm}", ""), encoding="utf-8")
    made, beside = (supple.Robot(f).show(count=3) for f in (bar, plain))
    assert made.modes is not None and beside.modes is not None
    own = [m for m in made.meshes if m.name == "bar" and m.kind == "beam"]
    real = [m for m in beside.meshes if m.name == "bar" and m.kind == "beam"]
    assert len(own) == len(real) == 2  # a mesh for each segment
    everywhere = np.vstack([points_of(m, sections(beside, m, beside.rest)) for m in real])
    moving = np.vstack([points_of(m, section_moves(beside, m, beside.rest, beside.modes.moves[2])) for m in real])
    size = np.abs(moving).max()
    for mesh in own:
        places = points_of(mesh, sections(made, mesh, made.rest))
        moves = points_of(mesh, section_moves(made, mesh, made.rest, made.modes.moves[2]))
        for place, move in zip(places[::7], moves[::7], strict=True):
            near = np.argsort(np.linalg.norm(everywhere - place, axis=1))[:4]
            way = np.linalg.norm(everywhere[near] - place, axis=1)
            assert way[0] < 0.033  # lengths of a segment that are drawn
            if way[0] < 2e-3:
                assert np.abs(np.abs(move) - np.abs(moving[near[0]])).max() < 0.03 * size
    tool = next(m for m in made.meshes if m.name == "tool" and m.kind == "rod")
    points = tool.stations[tool.station] + tool.offset
    assert np.ptp(points, axis=0) == pytest.approx([0.02, 0.04, 0.02], abs=1e-6)  # turned
    assert points.mean(axis=0) == pytest.approx([0.01, 0, 0], abs=1e-6)


def test_skins_are_in_pages_stills_and_gltf(bar: Path) -> None:
    scene = supple.Robot(bar).show(count=1)
    for name in ("bar.html", "bar.png", "bar.glb"):
        assert scene.save(bar.with_name(name)).stat().st_size > 10_000


def test_skins_lie_below_the_folder_of_their_robot(bar: Path, tmp_path: Path) -> None:
    def said(text: str) -> tuple[int, str]:
        bar.write_text(text, encoding="utf-8")
        found = CliRunner().invoke(main, ["show", str(bar), "--count", "1", "-o", str(tmp_path / "x.html")])
        return found.exit_code, found.output

    for name, words in (
        ("../x.stl", "outside the folder"),
        ("/dev/zero.stl", "outside the folder"),
        ("nothing.stl", "no such file"),
    ):
        code, text = said(BAR.replace("bar.stl", name))
        assert code == 2 and words in text and "Traceback" not in text
    code, text = said(BAR.replace(", units: mm", ""))
    assert code == 0 and "units: mm?" in text
    with files_below(tmp_path, False), pytest.raises(supple.SuppleError, match="outside"):
        surface_of(Path("/etc/x.stl"))


def test_a_solid_body_carries_its_skin() -> None:
    """A plate's skin moves with the plate: a corner of it as the corner of the plate."""
    from supple.machine import Machine
    from supple.robot.skins import Skin
    from supple.scene.bodies import body_mesh
    from supple.scene.skins import skin_meshes

    mechanism = Machine.read("gough_stewart_plate").mechanism()
    ((index, piece),) = mechanism.pieces.items()
    below = body_mesh("", index, mechanism.frames[index].body, piece)
    assert below is not None
    points = below.stations[below.station] + below.offset
    (mesh,) = skin_meshes(mechanism, {mechanism.frames[index].link: Skin("", points, below.triangles)})
    assert mesh.kind == "plate" and mesh.frame == index
    at = mesh.stations[mesh.station] + mesh.offset
    for k in range(0, len(at), 50):
        near = int(np.argmin(np.linalg.norm(below.stations - at[k], axis=1)))
        if np.linalg.norm((below.stations[near] - at[k])[:2]) < 1e-9:
            ours, theirs = mesh.shapes[mesh.station[k]], below.shapes[near]
            assert np.abs(ours - theirs).max() < 0.05 * np.abs(theirs).max()
