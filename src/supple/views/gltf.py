"""A Scene as a binary glTF file (.glb): still, swinging in a mode, or going through a motion.

A motion moves one node for each frame of the robot, and elastic coordinates are weights of morph targets, one for each
shape function: glTF adds targets as a body adds its shapes, so bent bodies are exact. A mode is one target.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from supple.delivery import written_whole
from supple.results.scene import Array, Mesh, Scene, mode_scale, points_of, section_moves, sections
from supple.views.look import COLOURS, check_mode
from supple.views.show_page import quaternions

_FLOAT, _INT = 5126, 5125  # types of glTF
_POINTS, _CORNERS = 34962, 34963  # what buffers hold: values of points, numbers of points
_BEAT = 49  # samples of a swing


class _File:
    """The parts of a glTF file as they are added."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def array(self, values: Array, kind: str, *, drawn: bool = False, indices: bool = False) -> int:
        """The number of an accessor to an array of SCALAR, VEC3 or VEC4; drawn: values of points, indices: their numbers."""
        made = np.ascontiguousarray(values, dtype="<u4" if indices else "<f4")
        flat = made.reshape(-1, {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[kind])
        view: dict[str, int] = {"buffer": 0, "byteOffset": len(self.data), "byteLength": made.nbytes}
        self.views.append(view | ({"target": _CORNERS if indices else _POINTS} if drawn or indices else {}))
        self.data += made.tobytes()
        entry: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": _INT if indices else _FLOAT,
            "count": len(flat),
            "type": kind,
        }
        if not indices:
            entry |= {"min": flat.min(axis=0).astype(float).tolist(), "max": flat.max(axis=0).astype(float).tolist()}
        self.accessors.append(entry)
        return len(self.accessors) - 1


def write_glb(scene: Scene, path: Path, mode: int | None = None) -> Path:
    """The path of a .glb file: of a mode (from 1); without one of the scene's motion, or still if it has none."""
    check_mode(scene, mode)
    file = _File()
    content = _moving(scene, file) if mode is None and scene.motion is not None else _swinging(scene, file, mode)
    kinds = list(COLOURS)
    tree = content | {
        "asset": {"version": "2.0", "generator": "supple"},
        "scene": 0,
        "scenes": [{"name": scene.robot, "nodes": [0]}],
        "materials": [_material(k) for k in kinds],
        "buffers": [{"byteLength": len(file.data)}],
        "bufferViews": file.views,
        "accessors": file.accessors,
    }
    return written_whole(path, lambda place: place.write_bytes(_packed(tree, bytes(file.data))))


def _packed(tree: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(tree, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(data))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data


def _material(kind: str) -> dict[str, Any]:
    linear = [(c / 255) ** 2.2 for c in COLOURS[kind]]
    look = {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.15, "roughnessFactor": 0.55}
    return {"name": kind, "doubleSided": True, "pbrMetallicRoughness": look}


def _primitive(file: _File, mesh: Mesh, points: Array, normals: Array, targets: list[Array]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "attributes": {k: file.array(x, "VEC3", drawn=True) for k, x in (("POSITION", points), ("NORMAL", normals))},
        "indices": file.array(mesh.triangles, "SCALAR", indices=True),
        "material": list(COLOURS).index(mesh.kind),
    }
    if targets:
        made["targets"] = [{"POSITION": file.array(t, "VEC3", drawn=True)} for t in targets]
    return made


def _upright(scene: Scene) -> list[float]:
    """The quaternion (x y z w) that turns the robot's up to that of glTF, y."""
    z = np.array([0.0, 1.0, 0.0])
    axis, cosine = np.cross(scene.up, z), float(scene.up @ z)
    if cosine < -1 + 1e-12:
        return [1.0, 0.0, 0.0, 0.0]
    q = np.array([*axis, 1 + cosine])
    made: list[float] = (q / np.linalg.norm(q)).tolist()
    return made


def _swinging(scene: Scene, file: _File, mode: int | None) -> dict[str, Any]:
    """Meshes in the axes of the base, with the displacements of a mode as a target."""
    factor = 0.0 if mode is None else mode_scale(scene, mode - 1)
    meshes: list[dict[str, Any]] = []
    nodes: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    for mesh in scene.meshes:
        at = sections(scene, mesh, scene.rest)
        targets = []
        if mode is not None and mesh.frame >= 0 and scene.modes is not None:
            targets = [factor * points_of(mesh, section_moves(scene, mesh, scene.rest, scene.modes.moves[mode - 1]))]
            channels.append({"sampler": 0, "target": {"node": 1 + len(nodes), "path": "weights"}})
        normals = _unit(np.einsum("vij,vj->vi", at[mesh.station][..., :3], mesh.normal))
        own: dict[str, Any] = {
            "name": mesh.name,
            "primitives": [_primitive(file, mesh, points_of(mesh, at), normals, targets)],
        }
        meshes.append(own | ({"weights": [0.0]} if targets else {}))
        nodes.append({"name": mesh.name, "mesh": len(meshes) - 1})
    root = {"name": scene.robot, "rotation": _upright(scene), "children": list(range(1, 1 + len(nodes)))}
    made: dict[str, Any] = {"meshes": meshes, "nodes": [root, *nodes]}
    if channels:
        time = np.linspace(0, 2.0, _BEAT)
        swing = {"input": file.array(time, "SCALAR"), "output": file.array(np.sin(np.pi * time), "SCALAR")}
        made["animations"] = [{"name": f"mode {mode}", "samplers": [swing], "channels": channels}]
    return made


def _unit(x: Array) -> Array:
    made: Array = x / np.maximum(np.linalg.norm(x, axis=1), 1e-300)[:, None]
    return made


def _moving(scene: Scene, file: _File) -> dict[str, Any]:
    """Meshes in the axes of their frames; nodes of frames move, shapes of bodies are targets."""
    motion = scene.motion
    assert motion is not None
    time = file.array(motion.time - motion.time[0], "SCALAR")
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def moved(node: int, path: str, values: Array, kind: str) -> None:
        samplers.append({"input": time, "output": file.array(values, kind)})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})

    nodes: list[dict[str, Any]] = [{"name": scene.robot, "rotation": _upright(scene)}]
    frames = sorted({m.frame for m in scene.meshes if m.frame >= 0})
    turns = _steady(quaternions(motion.placed.rotation))[..., [1, 2, 3, 0]]
    for frame in frames:
        begins = {"translation": motion.placed.position[0, frame].tolist(), "rotation": turns[0, frame].tolist()}
        nodes.append({"name": scene.frames[frame], "children": [], **begins})  # where nobody plays it, it is at its start
        moved(len(nodes) - 1, "translation", motion.placed.position[:, frame], "VEC3")
        moved(len(nodes) - 1, "rotation", turns[:, frame], "VEC4")
    above: list[int] = list(range(1, len(nodes)))
    meshes = []
    for mesh in scene.meshes:
        targets = _shapes(mesh) if mesh.frame >= 0 else []
        points = mesh.stations[mesh.station] + mesh.offset
        own: dict[str, Any] = {
            "name": mesh.name,
            "primitives": [_primitive(file, mesh, points, _unit(mesh.normal), targets)],
        }
        bent = motion.placed.elastic[:, scene.first[mesh.frame] :][:, : len(targets)]
        meshes.append(own | ({"weights": bent[0].tolist()} if targets else {}))
        nodes.append({"name": mesh.name, "mesh": len(meshes) - 1})
        node = len(nodes) - 1
        if targets:
            moved(node, "weights", bent, "SCALAR")
        if mesh.frame >= 0:
            nodes[1 + frames.index(mesh.frame)]["children"].append(node)
        else:
            above.append(node)
    nodes[0]["children"] = above
    return {
        "meshes": meshes,
        "nodes": nodes,
        "animations": [{"name": motion.name, "samplers": samplers, "channels": channels}],
    }


def _shapes(mesh: Mesh) -> list[Array]:
    """Displacements of the surface by unit elastic coordinates."""
    if not np.any(mesh.shapes):
        return []
    own = mesh.shapes[mesh.station]  # V x 6 x N
    turned = np.cross(own[:, 3:].transpose(2, 0, 1), mesh.offset)
    return list(own[:, :3].transpose(2, 0, 1) + turned)


def _steady(q: Array) -> Array:
    """Quaternions over time (T x F x 4) without jumps of their sign."""
    signs = np.where((q[1:] * q[:-1]).sum(axis=-1) < 0, -1.0, 1.0)
    made: Array = q * np.concatenate([np.ones((1, q.shape[1])), np.cumprod(signs, axis=0)])[..., None]
    return made
