"""Surfaces of other programs: triangles of STL, OBJ and binary glTF (GLB) files, read strictly and within bounds."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.errors import SuppleError
from supple.robot.named_files import checked_file

Array = npt.NDArray[Any]
LARGEST = 50_000_000  # bytes of a file
_MOST = 500_000  # triangles and points of it
_FURTHEST = 1e6  # of a coordinate


def surface_of(path: Path) -> tuple[Array, Array]:
    """Points (V x 3, as they are in the file, each once) and triangles (T x 3) of a surface."""
    readers = {".stl": _stl, ".obj": _obj, ".glb": _glb}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise SuppleError(f"{path.name}: skins are STL, OBJ or GLB files (.stl, .obj, .glb)")
    data = checked_file(path, LARGEST).read_bytes()
    try:
        points, triangles = reader(data)
        return _checked(points, triangles)
    except SuppleError as error:
        raise SuppleError(f"{path.name}: {error}") from None


def _checked(points: Array, triangles: Array) -> tuple[Array, Array]:
    if not len(triangles):
        raise SuppleError("holds no triangles")
    if max(len(points), len(triangles)) > 3 * _MOST or len(triangles) > _MOST:
        raise SuppleError(f"has {len(triangles)} triangles; at most {_MOST} are read: simplify it")
    if triangles.min() < 0 or triangles.max() >= len(points):
        raise SuppleError("a triangle has a corner that is not among the points")
    used, corners = np.unique(triangles, return_inverse=True)
    points, triangles = points[used], corners.reshape(-1, 3)
    if not np.isfinite(points).all() or np.abs(points).max() > _FURTHEST:
        raise SuppleError(f"a point is not a number, or further away than {_FURTHEST:g}")
    return _welded(points, triangles)


def _welded(points: Array, triangles: Array) -> tuple[Array, Array]:
    """The same with points that coincide made one, and without triangles that are no surface."""
    size = float(np.ptp(points, axis=0).max())
    if not size > 0:
        raise SuppleError("all of its points coincide")
    cells = np.round((points - points.min(axis=0)) / (1e-7 * size)).astype(np.int64)
    _, first, owner = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    made = owner.reshape(-1)[triangles]
    whole = (made[:, 0] != made[:, 1]) & (made[:, 1] != made[:, 2]) & (made[:, 0] != made[:, 2])
    kept, made = np.unique(made[whole], return_inverse=True)
    if not len(kept):
        raise SuppleError("holds no triangles")
    return points[first[kept]], made.reshape(-1, 3)


# STL ----------------------------------------------------------------------------------------------------------------


def _stl(data: bytes) -> tuple[Array, Array]:
    """Binary if its length is that of the triangles it counts, else text."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")])
        corners = np.frombuffer(data, record, count, 84)["corners"].astype(float)
    elif data[:512].lstrip()[:5].lower() == b"solid":
        corners = _stl_text(data)
    else:
        raise SuppleError(f"is no STL file: its length is not that of the {max(count, 0)} triangles that it counts")
    points = corners.reshape(-1, 3)
    return points, np.arange(len(points)).reshape(-1, 3)


def _stl_text(data: bytes) -> Array:
    found = []
    for number, line in enumerate(data.splitlines(), start=1):
        words = line.split()
        if words and words[0].lower() == b"vertex":
            found.append(_numbers(words[1:4], number))
    if len(found) % 3:
        raise SuppleError(f"is no STL file: {len(found)} corners are not whole triangles")
    return np.array(found, dtype=float).reshape(-1, 3, 3)


def _numbers(words: list[bytes], line: int) -> list[float]:
    try:
        if len(words) == 3:
            return [float(w) for w in words]
    except ValueError:
        pass
    raise SuppleError(f"line {line}: three coordinates are expected")


# OBJ ----------------------------------------------------------------------------------------------------------------


def _obj(data: bytes) -> tuple[Array, Array]:
    """Vertices and faces; faces with more corners are fans, negative numbers count from the last vertex."""
    points: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(data.splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if words[0] == b"v":
            points.append(_numbers(words[1:4], number))
        elif words[0] == b"f":
            corners = [_corner(w, len(points), number) for w in words[1:]]
            if len(corners) < 3:
                raise SuppleError(f"line {number}: a face needs three corners")
            triangles += [(corners[0], a, b) for a, b in pairwise(corners[1:])]
        if max(len(points), len(triangles)) > _MOST:
            raise SuppleError(f"has more than {_MOST} points or triangles: simplify it")
    return np.array(points, dtype=float).reshape(-1, 3), np.array(triangles, dtype=int).reshape(-1, 3)


def _corner(word: bytes, known: int, line: int) -> int:
    try:
        k = int(word.split(b"/")[0])
    except ValueError:
        raise SuppleError(f"line {line}: a corner of a face is the number of a vertex") from None
    place = k - 1 if k > 0 else known + k
    if not k or not 0 <= place < known:
        raise SuppleError(f"line {line}: there is no vertex {k}")
    return place


# GLB ----------------------------------------------------------------------------------------------------------------

_INDICES = {5121: "<u1", 5123: "<u2", 5125: "<u4"}


def _glb(data: bytes) -> tuple[Array, Array]:
    """All triangles of its scene, where its nodes place them."""
    tree, buffer = _chunks(data)
    needed = tree.get("extensionsRequired")
    if needed:
        raise SuppleError(f"needs the extension {str(needed)[:60]}, which is not read; export it without compression")
    made: list[tuple[Array, Array]] = []
    try:
        roots = tree["scenes"][tree.get("scene", 0)]["nodes"] if tree.get("scenes") else range(len(tree.get("nodes", ())))
        waiting, seen = [(root, np.eye(4)) for root in roots], set()
        while waiting:
            index, above = waiting.pop()
            if index in seen:
                raise SuppleError("is damaged: a node hangs on two others")
            seen.add(index)
            node = tree["nodes"][index]
            here = above @ _placed(node)
            made += _meshes(tree, buffer, node, here)
            if sum(len(t) for _, t in made) > _MOST:
                raise SuppleError(f"has more than {_MOST} triangles: simplify it")
            waiting += [(child, here) for child in node.get("children", ())]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        raise SuppleError("is damaged: its parts do not fit each other") from None
    first = np.cumsum([0, *(len(p) for p, _ in made)])
    points = np.vstack([np.zeros((0, 3)), *(p for p, _ in made)])
    triangles = [np.zeros((0, 3), dtype=int), *(t + k for (_, t), k in zip(made, first, strict=False))]
    return points, np.vstack(triangles)


def _chunks(data: bytes) -> tuple[dict[str, Any], bytes]:
    if len(data) < 20 or data[:4] != b"glTF" or struct.unpack_from("<I", data, 4)[0] != 2:
        raise SuppleError("is no binary glTF file of version 2")
    size, kind = struct.unpack_from("<I4s", data, 12)
    if kind != b"JSON" or 20 + size > len(data):
        raise SuppleError("is damaged: it ends before its parts do")
    try:
        tree = json.loads(data[20 : 20 + size])
    except (ValueError, RecursionError):
        raise SuppleError("is damaged: its description is no JSON") from None
    rest = data[20 + size :]
    if len(rest) < 8 or not isinstance(tree, dict):
        raise SuppleError("holds no numbers of its own; export it with its data inside")
    length = struct.unpack_from("<I", rest)[0]
    return tree, rest[8 : 8 + length]


def _meshes(tree: dict[str, Any], buffer: bytes, node: dict[str, Any], here: Array) -> Iterator[tuple[Array, Array]]:
    """Points and triangles of a node that is placed by `here` (4 x 4)."""
    if "mesh" not in node:
        return
    mirrored = np.linalg.det(here[:3, :3]) < 0
    for part in tree["meshes"][node["mesh"]]["primitives"]:
        if part.get("mode", 4) == 4:
            points = _accessor(tree, buffer, part["attributes"]["POSITION"])
            indices = _accessor(tree, buffer, part["indices"]) if "indices" in part else np.arange(len(points))
            corners = indices.reshape(-1)[: len(indices) // 3 * 3].reshape(-1, 3)
            yield points @ here[:3, :3].T + here[:3, 3], corners[:, ::-1] if mirrored else corners


def _placed(node: dict[str, Any]) -> Array:
    if "matrix" in node:
        return np.array(node["matrix"], dtype=float).reshape(4, 4).T
    x, y, z, w = (float(a) for a in node.get("rotation", (0, 0, 0, 1)))
    turn = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    made = np.eye(4)
    made[:3, :3] = turn * np.array(node.get("scale", (1, 1, 1)), dtype=float).reshape(3)
    made[:3, 3] = np.array(node.get("translation", (0, 0, 0)), dtype=float).reshape(3)
    return made


def _accessor(tree: dict[str, Any], buffer: bytes, index: int) -> Array:
    """Places (n x 3) or numbers of corners (n) that an accessor names, inside the file's own buffer."""
    entry = tree["accessors"][index]
    if "sparse" in entry or "bufferView" not in entry:
        raise SuppleError("has sparse arrays, which are not read")
    view = tree["bufferViews"][entry["bufferView"]]
    if view.get("buffer", 0) != 0 or "uri" in tree["buffers"][0]:
        raise SuppleError("keeps its numbers in another file; export it with its data inside")
    places = entry["type"] == "VEC3"
    if places and entry["componentType"] != 5126:
        raise SuppleError("has quantised places, which are not read")
    kind = np.dtype("<f4" if places else _INDICES[entry["componentType"]])
    width, count = (3 if places else 1), int(entry["count"])
    start = int(view.get("byteOffset", 0)) + int(entry.get("byteOffset", 0))
    step = int(view.get("byteStride", 0)) or width * kind.itemsize
    last = start + (count - 1) * step + width * kind.itemsize
    if not 0 < count <= 3 * _MOST or start < 0 or step < width * kind.itemsize or last > len(buffer):
        raise SuppleError("is damaged: an array lies outside its data")
    found = np.ndarray((count, width), kind, buffer, start, (step, kind.itemsize))
    return found.astype(float) if places else found.reshape(-1).astype(int)
