"""Bodies that look as a file says: its surface bends with the body that it hides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
from scipy.spatial import cKDTree

from supple.results.scene import Array, Mesh
from supple.robot.bodies.record import eye, fixed_marker, zeros
from supple.robot.link_bodies import Piece
from supple.robot.mechanism import Mechanism
from supple.robot.skins import Skin
from supple.scene.bodies import body_mesh, clusters, faceted, stations_of
from supple.scene.surfaces import Surface

_MOST = {True: 1500, False: 8000}  # points that are drawn of a skin, of bodies that bend and others
_SLICES = 128  # lengths of a beam whose ends a skin's points sit on
_NEAR = 4  # places of a plate or solid that a point moves with


def skin_meshes(mechanism: Mechanism, skins: Mapping[str, Skin]) -> list[Mesh]:
    """The Meshes of links with skins; a segmented beam has one for every segment."""
    made: list[Mesh] = []
    for link, skin in skins.items():
        frames = skinned(mechanism, link)
        if frames:
            bends = any(mechanism.frames[k].body.coordinates for k in frames)
            points, triangles = skin.points, skin.triangles
            if len(points) > _MOST[bends]:
                kept, triangles = clusters(points, triangles, _MOST[bends])
                points = points[kept]
            made += _of_link(mechanism, frames, points, triangles)
    return made


def skinned(mechanism: Mechanism, link: str) -> list[int]:
    """Frames that carry the body of a link, its own first."""
    return [k for k, f in enumerate(mechanism.frames) if f.link == link and f.role in ("link", "segment")]


def _of_link(mechanism: Mechanism, frames: Sequence[int], points: Array, triangles: Array) -> Iterator[Mesh]:
    """The surface cut where its segments meet; each part in the axes of its frame."""
    owner = _owners(mechanism, frames, points[triangles].mean(axis=1))
    corner, normals, drawn, edges = faceted(points, triangles)
    for k, (index, (R, p)) in enumerate(zip(frames, _chain(mechanism, frames), strict=True)):
        used, corners = np.unique(drawn[owner == k], return_inverse=True)
        if len(used):
            lines = np.searchsorted(used, edges[np.isin(edges, used).all(axis=1)])
            surface = Surface((points[corner[used]] - p) @ R, normals[used] @ R, corners.reshape(-1, 3), lines)
            yield _mesh(mechanism, index, surface)


def _chain(mechanism: Mechanism, frames: Sequence[int]) -> list[tuple[Array, Array]]:
    """Rotations and places of the segments' frames in the first one's axes, unbent."""
    made = [(np.eye(3), np.zeros(3))]
    for index in frames[1:]:
        R, p = made[-1]
        marker = mechanism.frames[index].marker
        made.append((R @ marker.rotation.astype(float), p + R @ marker.position.astype(float)))
    return made


def _owners(mechanism: Mechanism, frames: Sequence[int], middles: Array) -> Array:
    """Which segment every triangle belongs to: the last one that it lies beyond the beginning of."""
    owner = np.zeros(len(middles), dtype=int)
    for k, (R, p) in enumerate(_chain(mechanism, frames)):
        piece = mechanism.pieces.get(frames[k])
        if k and piece is not None:
            owner[((middles - p) @ R) @ piece.R.astype(float)[:, 0] > 0] = k
    return owner


def _mesh(mechanism: Mechanism, index: int, surface: Surface) -> Mesh:
    """A surface in the axes of a frame, on stations of the body that it hides."""
    frame, piece, points = mechanism.frames[index], mechanism.pieces.get(index), surface.points
    kind = "platform" if index == mechanism.platform else "rod"
    if piece is not None and piece.beam is not None and piece.beam.elements:
        kind, (stations, shapes, second, owner) = "beam", _along(piece, points)
    else:
        below = None if piece is None else body_mesh(frame.link, index, frame.body, piece)
        if below is not None and below.kind in ("plate", "solid"):
            stations, first, owner = np.unique(points, axis=0, return_index=True, return_inverse=True)
            kind, shapes, second, owner = below.kind, _blended(below, points[first]), None, owner.reshape(-1)
        else:
            own = [fixed_marker(zeros(3), eye(), len(frame.body.coordinates))]
            (stations, shapes, second), owner = stations_of(own), np.zeros(len(points), dtype=int)
    return Mesh(
        frame.link, kind, index, stations, shapes, second, owner, points - stations[owner], surface.normals,
        surface.triangles, surface.edges,
    )  # fmt: skip


def _along(piece: Piece, points: Array) -> tuple[Array, Array, Array | None, Array]:
    """Stations of a beam at the lengths where points are, and which station every point has."""
    assert piece.beam is not None
    way = (points - piece.p.astype(float)) @ piece.R.astype(float)[:, 0] / float(piece.beam.length)
    slices, owner = np.unique(np.round(_SLICES * np.clip(way, 0, 1)).astype(int), return_inverse=True)
    return *stations_of([piece.section(Fraction(int(k), _SLICES)) for k in slices]), owner.reshape(-1)


def _blended(mesh: Mesh, points: Array) -> Array:
    """Shapes at points: of the nearest stations of a body's own surface, the nearer the more."""
    distances, near = cKDTree(mesh.stations).query(points, min(_NEAR, len(mesh.stations)))
    distances, near = distances.reshape(len(points), -1), near.reshape(len(points), -1)
    weights = 1 / np.maximum(distances, 1e-9 * max(float(distances.max()), 1e-300)) ** 2
    weights /= weights.sum(axis=1, keepdims=True)
    made: Array = np.einsum("pk,pkcn->pcn", weights, mesh.shapes[near])
    return made
