"""The `Scene` of a robot: its parts as surfaces, at rest and as modes and motions move them."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

import numpy as np

from supple.model.frames import frame_moves, frame_poses
from supple.model.model import Model
from supple.model.observe import coordinate_values
from supple.results import Modes
from supple.results.scene import Array, Mesh, MeshChange, Placed, Scene, SceneModes, sections
from supple.robot.bodies.record import strain_gradient, strains
from supple.robot.mechanism import Mechanism
from supple.robot.skins import Skin, extent
from supple.scene.bodies import body_mesh, placed_surface
from supple.scene.joints import Sizes, joint_meshes
from supple.scene.links import base_meshes, link_meshes
from supple.scene.sections import reach
from supple.scene.skins import skin_meshes, skinned
from supple.scene.surfaces import ball


def scene_at(
    model: Model, q: Array, notices: tuple[str, ...] = (), swept: Array | None = None,
    skins: Mapping[str, Skin] | None = None,
) -> Scene:  # fmt: skip
    """The Scene of a robot in a posture q; swept: the postures of a motion (samples x nq) that it will go through; skins:
    what links look like if not as their bodies."""
    mechanism = model.mechanism
    rest = placed_at(model, q)
    every = q[None] if swept is None else np.vstack([q, swept])
    sizes = _sizes(mechanism, rest)
    middle = rest.position.mean(axis=0)
    hidden = {k for link in skins or {} for k in skinned(mechanism, link)}
    meshes = [
        *base_meshes(mechanism, sizes, middle),
        *_bodies(mechanism, hidden),
        *(m for m in link_meshes(mechanism, sizes) if m.frame not in hidden),
        *skin_meshes(mechanism, skins or {}),
        *joint_meshes(mechanism, sizes, _strokes(mechanism, every)),
        *_points(mechanism, sizes),
    ]
    up, facing = _looks(mechanism)
    made = Scene(
        robot=mechanism.name, about=mechanism.about, planar=mechanism.planar, up=up, facing=facing, floor=0.0,
        frames=tuple(f.part for f in mechanism.frames), first=_first(mechanism), meshes=tuple(meshes),
        pose=_pose(model, q), rest=rest, notices=(*notices, *_odd_skins(skins or {}, sizes.whole)),
    )  # fmt: skip
    return _on_floor(made, model, every)


def placed_at(model: Model, q: Array) -> Placed:
    """Where everything is at postures q (..., nq)."""
    R, p = frame_poses(model, q)
    bodies = [(f.body, q[..., f.e]) for f in model.mechanism.frames]
    strained = [strains(body, e) for body, e in bodies]
    return Placed(R, p, np.concatenate([e for _, e in bodies], axis=-1), np.concatenate(strained, axis=-1))


def scene_modes(model: Model, q: Array, modes: Modes) -> SceneModes:
    """The SceneModes of modes about a posture."""
    R, p = frame_moves(model, q, modes.shapes.T)
    moves = [modes.shapes.T[:, f.ev] for f in model.mechanism.frames]
    strained = [e @ strain_gradient(f.body, q[f.e]).T for f, e in zip(model.mechanism.frames, moves, strict=True)]
    elastic = Placed(R, p, np.concatenate(moves, axis=-1), np.concatenate(strained, axis=-1))
    return SceneModes(
        elastic, modes.frequencies_hz, modes.damping_ratios, modes.bodies, modes.kinetic,
        modes.elastic, modes.free,
    )  # fmt: skip


def mesh_changes(scenes: tuple[Scene, Scene], step: float) -> tuple[MeshChange, ...]:
    """Derivatives of drawn parts from two scenes, a parameter `step` lower and higher; of those that change."""
    made = []
    for k, (low, high) in enumerate(zip(scenes[0].meshes, scenes[1].meshes, strict=True)):
        same = low.stations.shape == high.stations.shape and low.shapes.shape == high.shapes.shape
        if not same:
            continue
        slopes = [(b - a) / (2 * step) for a, b in ((low.stations, high.stations), (low.shapes, high.shapes))]
        second = None if low.second is None or high.second is None else (high.second - low.second) / (2 * step)
        if any(np.abs(x).max(initial=0.0) * step > 1e-12 for x in slopes):
            made.append(MeshChange(k, slopes[0], slopes[1], second))
    return tuple(made)


def _first(mechanism: Mechanism) -> tuple[int, ...]:
    counts = [f.e.stop - f.e.start for f in mechanism.frames]
    return tuple(int(n) for n in np.cumsum([0, *counts])[:-1])


def _sizes(mechanism: Mechanism, rest: Placed) -> Sizes:
    """The robot's size by its frames, ends of loops, points and bases; half thickness of beams and plates."""
    places = list(rest.position)
    others = [a for c in mechanism.closures for a in (c.first, c.second)] + list(mechanism.points.values())
    for anchor in others:
        own = anchor.marker.position.astype(float)
        places.append(own if anchor.frame < 0 else rest.position[anchor.frame] + rest.rotation[anchor.frame] @ own)
    places += [f.marker.position.astype(float) for f in mechanism.frames if f.parent < 0]
    for index, piece in mechanism.pieces.items():
        if piece.beam is not None:
            end = piece.section(1).position.astype(float)
            places.append(rest.position[index] + rest.rotation[index] @ end)
    whole = float(np.ptp(np.array(places), axis=0).max())
    thick = {i: reach(p.beam.section) for i, p in mechanism.pieces.items() if p.beam is not None}
    return Sizes(whole, thick)


def _bodies(mechanism: Mechanism, hidden: Container[int]) -> list[Mesh]:
    frames, shown = mechanism.frames, [(i, p) for i, p in mechanism.pieces.items() if i not in hidden]
    made = [body_mesh(frames[i].link, i, frames[i].body, piece) for i, piece in shown]
    return [m for m in made if m is not None]


def _odd_skins(skins: Mapping[str, Skin], whole: float) -> list[str]:
    """Words about skins that are much larger or smaller than the robot."""
    found = []
    for link, skin in skins.items():
        times = extent(skin) / whole
        if not 1e-3 < times < 20:
            hint = "units: mm" if times > 1 else "units: m"
            found.append(f"{link}: its skin {skin.file} is {times:.1g} times as large as the robot; {hint}?")
    return found


def _points(mechanism: Mechanism, sizes: Sizes) -> list[Mesh]:
    """Named points as small balls."""
    small = ball(0.007 * sizes.whole, 14)
    return [placed_surface(name, "point", a.frame, a.marker, small) for name, a in mechanism.points.items()]


def _strokes(mechanism: Mechanism, q: Array) -> dict[int, tuple[float, float]]:
    """Least and largest values of sliding joints along postures."""
    sliding = [(k, f.q.start) for k, f in enumerate(mechanism.frames) if f.motion == "prismatic"]
    return {k: (float(np.nanmin(q[:, i])), float(np.nanmax(q[:, i]))) for k, i in sliding}


def _looks(mechanism: Mechanism) -> tuple[Array, Array]:
    """Where the sky is, and from where the robot is looked at."""
    heavy = mechanism.gravity.astype(float)
    if mechanism.planar:
        normal = mechanism.normal.astype(float)
        hangs = abs(heavy @ normal) < 0.5 * np.linalg.norm(heavy)
        up = -heavy if hangs else np.eye(3)[2 if abs(normal[2]) < 0.5 else 1]
        up = up / np.linalg.norm(up)
        slanted = normal + 0.38 * np.cross(up, normal) + 0.26 * up
        return up, slanted / np.linalg.norm(slanted)
    up = -heavy / np.linalg.norm(heavy) if np.any(heavy) else np.eye(3)[2]
    side = np.array([1.0, -1.9, 0.9])
    return up, side / np.linalg.norm(side)


def _pose(model: Model, q: Array) -> Mapping[str, tuple[float, str]]:
    now = coordinate_values(model, q)
    shown = [(k, c) for k, c in enumerate(model.mechanism.coordinates) if c.kind in ("active", "platform")]
    return {c.name: (float(now[k]), c.unit) for k, c in shown}


def _on_floor(scene: Scene, model: Model, q: Array) -> Scene:
    """The scene with its ground below all that is drawn, wherever a motion takes it."""
    samples = q[:: max(1, len(q) // 20)]
    placed = placed_at(model, samples[~np.isnan(samples).any(axis=1)])
    lowest = np.inf
    for k in range(len(placed.position)):
        for mesh in scene.meshes:
            heights = sections(scene, mesh, placed[k])[..., 3] @ scene.up
            lowest = min(lowest, float(heights.min()) - float(np.abs(mesh.offset).max(initial=0.0)))
    return replace(scene, floor=lowest - 0.02 * float(np.ptp(scene.rest.position, axis=0).max()))
