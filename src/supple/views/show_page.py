"""A Scene as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.results.scene import (
    Array,
    LiveModule,
    Mesh,
    MeshChange,
    Placed,
    Scene,
    SceneLive,
    SceneMap,
    SceneModes,
    SceneMotion,
    outside,
)

_SCRIPTS = (
    "maths.js", "body.js", "renderer.js", "camera.js", "plot.js", "shows.js", "algebra.js", "engine.js", "live.js",
    "damping.js", "hammer.js", "page.js", "start.js",
)  # fmt: skip


def show_page(scene: Scene, mode: int = 1, prefer: str = "") -> str:
    """The text of the page; mode: the one that is shown first; prefer: modes, motion or map, what it opens with."""
    script, style = _script(), _file("style.css")
    parts = {
        "policy": _policy((script,), (style,), scene.live is not None),
        "title": html.escape(f"{scene.robot} · supple"),
        "style": style,
        "data": json.dumps(payload(scene, mode, prefer), allow_nan=False, ensure_ascii=False).replace("<", "\\u003c"),
        "script": script,
    }
    page = _file("page.html")
    made = []
    for piece in page.split("{{"):
        name, found, rest = piece.partition("}}")
        made.append(parts[name] + rest if found else piece)
    return "".join(made)


def _script() -> str:
    return '"use strict";\n(() => {\n' + "\n".join(_file(name) for name in _SCRIPTS) + "\n})();\n"


def _policy(scripts: Sequence[str], styles: Sequence[str], wasm: bool) -> str:
    """What the page may run: its own texts, and its own compiled code."""
    own, looks = (" ".join(f"'{_hash(text)}'" for text in texts) for texts in (scripts, styles))
    code = " 'wasm-unsafe-eval'" if wasm else ""
    return (
        f"default-src 'none'; script-src {own}{code}; style-src {looks}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def beside_page(scenes: tuple[Scene, Scene], names: tuple[str, str], mode: int = 1, prefer: str = "") -> str:
    """The text of a page with two scenes beside each other, which are turned and played together."""
    link, inner = _file("beside.js"), _file("style.css")
    style = (
        "html, body { height: 100%; margin: 0; } body { display: grid; grid-template-columns: 1fr 1fr; "
        "grid-template-rows: auto 1fr; gap: 0 2px; font: 14px system-ui, sans-serif; background: #c9d2dc; } "
        "h1 { font-size: 14px; margin: 0; padding: 5px 14px; background: #fff; overflow: hidden; text-overflow: ellipsis; "
        "white-space: nowrap; unicode-bidi: isolate; } iframe { width: 100%; height: 100%; border: 0; }"
    )
    live = any(scene.live is not None for scene in scenes)
    pages = [html.escape(show_page(scene, mode, prefer), quote=True) for scene in scenes]
    return "\n".join([
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy((_script(), link), (inner, style), live)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">',
        f"<title>{html.escape(' · '.join(names))}</title><style>{style}</style></head><body>",
        *(f'<h1 dir="auto">{html.escape(name)}</h1>' for name in names),
        *(f'<iframe title="{html.escape(n, quote=True)}" srcdoc="{p}"></iframe>' for n, p in zip(names, pages, strict=True)),
        f"<script>{link}</script></body></html>",
    ])  # fmt: skip


def write_page(text: str, path: Path) -> Path:
    """The path of an .html file, after the page was written to it."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise SuppleError(f"{path}: a page is written to an .html file")
    return written_whole(path, lambda file: file.write_text(text, encoding="utf-8"))


def _file(name: str) -> str:
    return (files("supple.views") / "page3d" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


class _Arrays:
    """Arrays as text, each once however often it is used."""

    def __init__(self) -> None:
        self.packed: list[dict[str, str]] = []
        self.known: dict[tuple[str, bytes], int] = {}

    def __call__(self, values: Any, kind: str = "f4") -> int:
        raw = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
        key = kind, raw
        if key not in self.known:
            self.known[key] = len(self.packed)
            self.packed.append({"t": kind, "d": base64.b64encode(raw).decode()})
        return self.known[key]


def payload(scene: Scene, mode: int, prefer: str) -> dict[str, Any]:
    """What the page is told, as JSON knows it."""
    arrays = _Arrays()
    data: dict[str, Any] = {
        "robot": scene.robot,
        "about": scene.about.strip(),
        "planar": scene.planar,
        "up": scene.up.tolist(),
        "facing": scene.facing.tolist(),
        "floor": scene.floor,
        "frames": list(scene.frames),
        "pose": [[name, value, unit] for name, (value, unit) in scene.pose.items()],
        "notices": list(scene.notices),
        "start": mode,
        "prefer": prefer,
        "parts": [_part(scene, m, arrays) for m in scene.meshes],
        "rest": _placed(scene.rest, arrays),
        "modes": None if scene.modes is None else _modes(scene.modes, arrays),
        "motion": None if scene.motion is None else _motion(scene.motion, arrays),
        "map": None if scene.map is None else _map(scene.map, arrays),
        "live": None if scene.live is None else _live(scene.live, arrays),
    }
    return data | {"arrays": arrays.packed}


def _part(scene: Scene, mesh: Mesh, arrays: _Arrays) -> dict[str, Any]:
    small = "u2" if len(mesh.offset) < 65536 else "u4"
    triangles, edges, solid = outside(mesh)
    return {
        "name": mesh.name,
        "kind": mesh.kind,
        "frame": mesh.frame,
        "body": scene.frames[mesh.frame] if mesh.frame >= 0 else "",
        "elastic": scene.first[mesh.frame] if mesh.frame >= 0 else 0,
        "stations": arrays(mesh.stations),
        "shapes": arrays(mesh.shapes),
        "second": None if mesh.second is None else arrays(mesh.second),
        "station": arrays(mesh.station, small),
        "offset": arrays(mesh.offset),
        "normal": arrays(np.round(127 * mesh.normal), "i1"),
        "triangles": arrays(triangles, small),
        "solid": solid,
        "edges": arrays(edges, small),
    }


def _placed(placed: Placed, arrays: _Arrays) -> dict[str, int]:
    return {
        "rotation": arrays(placed.rotation),
        "position": arrays(placed.position),
        "elastic": arrays(placed.elastic),
        "strain": arrays(placed.strain),
    }


def _modes(modes: SceneModes, arrays: _Arrays) -> dict[str, Any]:
    return {
        "moves": _placed(modes.moves, arrays),
        "frequencies": _numbers(modes.frequencies_hz),
        "damping": [x or 0.0 for x in _numbers(modes.damping_ratios)],
        "bodies": list(modes.bodies),
        "elastic": [[x or 0.0 for x in _numbers(row)] for row in modes.elastic],
        "kinetic": [[x or 0.0 for x in _numbers(row)] for row in modes.kinetic],
        "free": modes.free,
        "words": list(modes.words),
        "arrows": [{"part": mesh, "moves": arrays(moves)} for mesh, moves in modes.arrows],
    }


def _numbers(values: Array) -> list[float | None]:
    return [float(x) if np.isfinite(x) else None for x in values]


def _motion(motion: SceneMotion, arrays: _Arrays) -> dict[str, Any]:
    def placed(given: Placed) -> dict[str, int]:
        return _placed(replace(given, rotation=quaternions(given.rotation)), arrays)

    straight = replace(motion.straight, elastic=np.zeros(0), strain=np.zeros(0))  # nothing bends
    return {
        "name": motion.name,
        "outcome": motion.outcome,
        "time": arrays(motion.time),
        "placed": placed(motion.placed),
        "straight": placed(straight),
        "energy": arrays(motion.energy),
        "series": [
            {"name": s.name, "unit": s.unit, "labels": list(s.lines), "lines": [arrays(x) for x in s.lines.values()]}
            for s in motion.series
        ],
        "forces": [
            {"name": f.name, "frame": f.frame, "axis": f.axis.tolist(), "turns": f.turns, "values": arrays(f.values),
             "most": float(np.nanmax(np.abs(f.values), initial=0.0))}
            for f in motion.forces
        ],
    }  # fmt: skip


def _map(shown: SceneMap, arrays: _Arrays) -> dict[str, Any]:
    quantities = [{"name": n, "unit": unit, "values": arrays(x)} for n, (unit, x) in shown.quantities.items()]
    about = f"{len(shown.places)} places of {shown.point}"
    return {"about": about, "places": arrays(shown.places), "quantities": quantities}


def _live(live: SceneLive, arrays: _Arrays) -> dict[str, Any]:
    def module(given: LiveModule) -> dict[str, Any]:
        packed = base64.b64encode(gzip.compress(given.code, mtime=0)).decode()
        return {"code": packed, "arrays": {name: arrays(x, "f8") for name, x in given.arrays.items()}}

    return {
        **live.about,
        "core": module(live.core),
        "stepper": None if live.hammer is None else module(live.hammer),
        "notices": list(live.notices),
        "changes": [[_change(change, arrays) for change in by] for by in live.changes],
    }


def _change(change: MeshChange, arrays: _Arrays) -> dict[str, Any]:
    second = None if change.second is None else arrays(change.second)
    return {
        "part": change.mesh, "stations": arrays(change.stations), "shapes": arrays(change.shapes), "second": second,
    }  # fmt: skip


def quaternions(R: Array) -> Array:
    """Unit quaternions (..., 4), scalar first, of rotations (..., 3, 3)."""
    t = np.einsum("...ii->...", R)
    squares = np.stack([1 + t, *(1 + 2 * R[..., k, k] - t for k in range(3))], axis=-1)  # 4 w^2, 4 x^2, ...
    skew = [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]]
    even = [R[..., 1, 0] + R[..., 0, 1], R[..., 0, 2] + R[..., 2, 0], R[..., 2, 1] + R[..., 1, 2]]  # xy, xz, yz
    rows = [
        [squares[..., 0], *skew],
        [skew[0], squares[..., 1], even[0], even[1]],
        [skew[1], even[0], squares[..., 2], even[2]],
        [skew[2], even[1], even[2], squares[..., 3]],
    ]
    choice = np.argmax(squares, axis=-1)
    every = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    chosen = np.take_along_axis(every, choice[..., None, None], axis=-2)[..., 0, :]
    made: Array = chosen / np.linalg.norm(chosen, axis=-1, keepdims=True)
    return made
