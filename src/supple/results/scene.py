"""`Scene`: a robot as surfaces that bend with it, and what it does: modes, a motion, a map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Mesh:
    """A drawn part of a robot: a surface on sections that stay rigid and sit at stations of a bending body.

    A station X of a frame at R, p whose body has the elastic coordinates e is at p + R (X + D e - 1/2 e.S e) and turned by
    R (1 + hat(W e)), where D and W are the two halves of `shapes`; a point of the surface is `offset` away from it, in the
    axes of the section."""

    name: str  # of the link, joint or point that it shows
    kind: str  # beam, plate, solid, rod, joint, motor, spring, base, rail, point
    frame: int  # -1: the base
    stations: Array  # S x 3
    shapes: Array  # S x 6 x N
    second: Array | None  # S x 3 x N x N
    station: Array  # V
    offset: Array  # V x 3
    normal: Array  # V x 3
    triangles: Array  # T x 3, seen from outside
    edges: Array  # E x 2


def outside(mesh: Mesh) -> tuple[Array, Array, bool]:
    """The triangles of a mesh without those that have no area, its edges once each, and whether it is the outside of
    something solid: triangles pass every edge as often one way as the other, and the volume within is positive."""
    points = mesh.stations[mesh.station] + mesh.offset
    size = float(np.ptp(points, axis=0).max(initial=0.0)) or 1.0
    _, corner = np.unique(np.round(points / (1e-6 * size)).astype(np.int64), axis=0, return_inverse=True)
    corner = corner.reshape(-1)
    same = corner[mesh.triangles]
    real = (same[:, 0] != same[:, 1]) & (same[:, 1] != same[:, 2]) & (same[:, 2] != same[:, 0])
    triangles, same = mesh.triangles[real], same[real]
    sides = same[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    forth, back = (np.unique(x, axis=0, return_counts=True) for x in (sides, sides[:, ::-1]))
    whole = all(np.array_equal(x, y) for x, y in zip(forth, back, strict=True))
    a, b, c = (points[triangles[:, k]] - points.mean(axis=0) for k in range(3))
    _, once = np.unique(np.sort(corner[mesh.edges], axis=1), axis=0, return_index=True)
    return triangles, mesh.edges[np.sort(once)], whole and bool(np.einsum("ti,ti->", a, np.cross(b, c)) > 0)


@dataclass(frozen=True)
class Placed:
    """Where the frames are (... x F x 3 x 3 and ... x F x 3), and the elastic coordinates of all bodies (... x E).

    Strains are linear in `strain` (... x E), which differs from the elastic coordinates by what bending takes off a beam."""

    rotation: Array
    position: Array
    elastic: Array
    strain: Array

    def __getitem__(self, sample: Any) -> Placed:
        return Placed(self.rotation[sample], self.position[sample], self.elastic[sample], self.strain[sample])


@dataclass(frozen=True)
class SceneModes:
    """Modes about the pose that is drawn: how each moves the frames and the elastic coordinates, and what is known of it."""

    moves: Placed  # rates: modes x F x 3 x 3, ...
    frequencies_hz: Array
    damping_ratios: Array
    bodies: tuple[str, ...]
    kinetic: Array  # bodies x modes: shares
    elastic: Array
    free: bool
    words: tuple[str, ...] = ()  # more about every mode
    arrows: tuple[tuple[int, Array], ...] = ()  # what sensors saw: the mesh of each, displacements (modes x 3)


@dataclass(frozen=True)
class Series:
    """A quantity over the time of a motion."""

    name: str
    unit: str
    lines: Mapping[str, Array]  # of one number, or of components by their names


@dataclass(frozen=True)
class Force:
    """The force of an actuator (N, or N m about the axis) over time: where and along what it acts, in a frame."""

    name: str
    frame: int
    axis: Array
    turns: bool
    values: Array


@dataclass(frozen=True)
class SceneMotion:
    """A motion: where frames are at times, where they were if nothing bent, and what there is to plot."""

    name: str
    time: Array
    placed: Placed
    straight: Placed
    energy: Array  # samples x F: elastic energy of every frame's body, J
    series: tuple[Series, ...]
    forces: tuple[Force, ...]
    outcome: str


@dataclass(frozen=True)
class SceneMap:
    """A quantity at places of a named point over the workspace."""

    point: str
    quantities: Mapping[str, tuple[str, Array]]  # name -> unit, values
    places: Array  # cases x 3


@dataclass(frozen=True)
class LiveModule:
    """A WebAssembly module, and arrays that it is called with."""

    code: bytes
    arrays: Mapping[str, Array]


@dataclass(frozen=True)
class MeshChange:
    """Derivatives of a drawn part by a parameter."""

    mesh: int
    stations: Array
    shapes: Array
    second: Array | None


@dataclass(frozen=True)
class SceneLive:
    """A robot's own code: poses, modes and stiffness, and blows of a hammer; what a page has to know to call it."""

    core: LiveModule
    hammer: LiveModule | None
    about: Mapping[str, Any]
    notices: tuple[str, ...] = ()
    changes: tuple[tuple[MeshChange, ...], ...] = ()  # of every parameter that the page changes


@dataclass(frozen=True)
class Scene:
    """What a page, a picture or a film of a robot shows."""

    robot: str
    about: str
    planar: bool
    up: Array  # where the sky is
    facing: Array  # from where it is looked at
    floor: float  # height of the ground along `up`
    frames: tuple[str, ...]  # what results list them under
    first: tuple[int, ...]  # of every frame, its first elastic coordinate
    meshes: tuple[Mesh, ...]
    pose: Mapping[str, tuple[float, str]]  # actuated joints and platform: value, unit
    rest: Placed
    modes: SceneModes | None = None
    motion: SceneMotion | None = None
    map: SceneMap | None = None
    live: SceneLive | None = None
    notices: tuple[str, ...] = ()
    measured: Scene | None = None  # the same robot with its measured modes, one for each of `modes`

    def __repr__(self) -> str:
        does = [n for n in ("modes", "motion", "map") if getattr(self, n) is not None]
        return f"<{self.robot}: {len(self.meshes)} parts drawn{', ' if does else ''}{', '.join(does)}>"

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines: what is drawn, not the drawing itself."""
        kinds: dict[str, int] = {}
        for mesh in self.meshes:
            kinds[mesh.kind] = kinds.get(mesh.kind, 0) + 1
        return {
            "robot": self.robot,
            "parts": kinds,
            "triangles": int(sum(len(m.triangles) for m in self.meshes)),
            "modes": 0 if self.modes is None else len(self.modes.frequencies_hz),
            "motion": None if self.motion is None else self.motion.name,
            "samples": 0 if self.motion is None else len(self.motion.time),
            "places": 0 if self.map is None else len(self.map.places),
            "live": self.live is not None,
            "measured": None if self.measured is None or self.measured.modes is None else _listed(self.measured.modes),
            "notices": list(self.notices),
        }


def _listed(modes: SceneModes) -> list[dict[str, Any]]:
    """Measured modes in plain data."""
    return [{"frequency_hz": float(f), "about": w} for f, w in zip(modes.frequencies_hz, modes.words, strict=True)]


def sections(scene: Scene, mesh: Mesh, placed: Placed) -> Array:
    """Rotation and place of the stations of a mesh (S x 3 x 4), of one sample."""
    R, p, e = _frame(scene, mesh, placed)
    turned = R @ (np.eye(3) + _hats(mesh.shapes[:, 3:] @ e))
    local = mesh.stations + mesh.shapes[:, :3] @ e
    if mesh.second is not None:
        local = local - 0.5 * np.einsum("scij,i,j->sc", mesh.second, e, e)
    return np.concatenate([turned, (p + local @ R.T)[..., None]], axis=-1)


def section_moves(scene: Scene, mesh: Mesh, rest: Placed, moves: Placed) -> Array:
    """How a small motion changes `sections` (S x 3 x 4)."""
    R, _, e = _frame(scene, mesh, rest)
    if mesh.frame < 0:
        return np.zeros((len(mesh.stations), 3, 4))
    dR, dp, de = moves.rotation[mesh.frame], moves.position[mesh.frame], _own(scene, mesh, moves)
    turned = dR @ (np.eye(3) + _hats(mesh.shapes[:, 3:] @ e)) + R @ _hats(mesh.shapes[:, 3:] @ de)
    local, change = mesh.stations + mesh.shapes[:, :3] @ e, mesh.shapes[:, :3] @ de
    if mesh.second is not None:
        local = local - 0.5 * np.einsum("scij,i,j->sc", mesh.second, e, e)
        change = change - np.einsum("scij,i,j->sc", mesh.second, e, de)
    return np.concatenate([turned, (dp + local @ dR.T + change @ R.T)[..., None]], axis=-1)


def points_of(mesh: Mesh, at: Array) -> Array:
    """Points of the surface (V x 3) whose sections are at S x 3 x 4."""
    own = at[mesh.station]
    made: Array = np.einsum("vij,vj->vi", own[..., :3], mesh.offset) + own[..., 3]
    return made


def _frame(scene: Scene, mesh: Mesh, placed: Placed) -> tuple[Array, Array, Array]:
    if mesh.frame < 0:
        return np.eye(3), np.zeros(3), np.zeros(mesh.shapes.shape[2])
    return placed.rotation[mesh.frame], placed.position[mesh.frame], _own(scene, mesh, placed)


def _own(scene: Scene, mesh: Mesh, placed: Placed) -> Array:
    first = scene.first[mesh.frame]
    own: Array = placed.elastic[first : first + mesh.shapes.shape[2]]
    return own


def _hats(w: Array) -> Array:
    """Cross-product matrices of vectors (S x 3)."""
    made = np.zeros((len(w), 3, 3))
    made[:, 2, 1], made[:, 0, 2], made[:, 1, 0] = w.T
    return made - made.transpose(0, 2, 1)


def mode_scale(scene: Scene, mode: int) -> float:
    """Amplitude of a mode whose largest displacement is a tenth of the robot's size."""
    assert scene.modes is not None
    moves = scene.modes.moves[mode]
    largest = max(
        (float(np.abs(section_moves(scene, m, scene.rest, moves)[..., 3]).max()) for m in scene.meshes), default=0.0
    )
    return 0.1 * extent(scene) / largest if largest > 0 else 0.0


def extent(scene: Scene) -> float:
    """The robot's size: the longest side of a box around it."""
    places = np.vstack([sections(scene, m, scene.rest)[..., 3] for m in scene.meshes])
    return float(np.ptp(places, axis=0).max())
