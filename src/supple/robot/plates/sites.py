"""Places on a plate: points anywhere, edges and rims of holes that are tied to something rigid, and lines to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements.model import FeModel, Site, hat_rows
from supple.robot.plates.fields import Fields
from supple.robot.plates.levels import boundary_loops
from supple.robot.plates.space import PlateSpace
from supple.robot.sparse import Matrix

_OUTLINE, _HOLE, _RIB = 130, 40, 9  # points that are drawn at most


class Locator:
    """Sites anywhere on a plate: deflection and slopes by its own shape functions."""

    def __init__(self, fields: Fields, basis: Matrix | None = None) -> None:
        self.fields = fields
        self.basis = basis  # of admissible motions, after edges were tied

    @property
    def space(self) -> PlateSpace:
        return self.fields.space

    def full(self, z: Array) -> Array:
        """Unknowns of all fields from those of admissible motions."""
        return z if self.basis is None else np.asarray(self.basis @ z)

    def __call__(self, p: Array) -> Site:
        x, y = float(p[0]), float(p[1])
        at = self.fields.at(np.array([[x, y]]))
        rows = sparse.vstack([at.u.value, at.v.value, at.w.value, at.s.value, -at.p.value, at.drill], format="csr")
        rows = rows.toarray() if self.basis is None else (rows @ self.basis).toarray()
        return Site("", np.array([x, y, 0.0]), rows)


# Drawing --------------------------------------------------------------------------------------------------------------


def drawn(fields: Fields, ribs: Sequence[tuple[Array, Array]]) -> tuple[Array, Matrix, tuple[int, ...]]:
    """Points of the outline, the holes and the stiffeners, their motion as rows, and where new lines begin."""
    mesh, size = fields.space.mesh, fields.space.size
    lines = []
    for k, loop in enumerate(boundary_loops(mesh)):
        most = _OUTLINE if k == 0 else _HOLE
        keep = loop if len(loop) <= most else [*loop[:: len(loop) // (most // 2)], loop[0]]
        lines.append(mesh.p[:, keep].T * size)
    lines += [a + (b - a) * np.linspace(0, 1, _RIB)[:, None] for a, b in ribs]
    points = np.vstack(lines)
    at = fields.at(points)
    rows = sparse.vstack([at.u.value, at.v.value, at.w.value], format="csr")
    order = np.arange(3 * len(points)).reshape(3, -1).T.ravel()
    breaks = tuple(int(n) for n in np.cumsum([len(line) for line in lines])[:-1])
    return np.column_stack([points, np.zeros(len(points))]), rows[order], breaks


# Tied edges -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tie:
    """Part of the boundary that moves as a rigid body: its facets and vertices, the normals where it is smooth, its circle.

    A Kirchhoff plate keeps its curvature across the edge at vertices with a normal; at the others, corners, it has none."""

    name: str
    middle: Array
    facets: Array
    vertices: Array
    normals: dict[int, Array]
    circle: tuple[float, float, float] | None = None


def edge_tie(space: PlateSpace, name: str, first: Array, last: Array) -> Tie:
    """The straight edge between two points."""
    try:
        facets, vertices = space.edge(first, last)
    except SuppleError as error:
        raise SuppleError(f"attachments.{name}: {error}") from error
    along = (last - first) / np.linalg.norm(last - first)
    normal = np.array([-along[1], along[0]])
    return Tie(name, np.array([*((first + last) / 2), 0.0]), facets, vertices, {int(v): normal for v in vertices})


def rim_tie(space: PlateSpace, name: str, point: Array) -> Tie:
    """The whole edge of the hole around a point; its frame is at the point."""
    try:
        facets, vertices = space.rim(point)
    except SuppleError as error:
        raise SuppleError(f"attachments.{name}: {error}") from error
    p = space.mesh.p
    circle = next((t.circle for t in space.level.tracked if int(vertices[0]) in t.points), None)
    if circle is not None:
        out = p[:, vertices] - np.array([[circle[0]], [circle[1]]])
        normals = dict(zip((int(v) for v in vertices), (out / np.linalg.norm(out, axis=0)).T, strict=True))
        return Tie(name, np.array([*point, 0.0]), facets, vertices, normals, circle)
    normals = {}
    for k, v in enumerate(int(v) for v in vertices):
        before, after = p[:, v] - p[:, vertices[k - 1]], p[:, vertices[(k + 1) % len(vertices)]] - p[:, v]
        length = np.linalg.norm(after)
        if abs(before[0] * after[1] - before[1] * after[0]) < 1e-9 * np.linalg.norm(before) * length:
            normals[v] = np.array([-after[1], after[0]]) / length
    return Tie(name, np.array([*point, 0.0]), facets, vertices, normals)


def tied(model: FeModel, fields: Fields, ties: Sequence[Tie]) -> FeModel:
    """The model with parts of the boundary that move as rigid bodies; each becomes a site."""
    if not ties:
        return model
    m, motions = model.stiffness.shape[0], [0, 1, 2, 3, 4, 5] if fields.in_plane else [2, 3, 4]
    columns: list[Matrix] = []
    slaved: set[int] = set()
    starts: list[int] = []
    for tie in ties:
        held, bending = _unknowns(fields, tie)
        every = {*held, *bending}
        if slaved & every:
            raise SuppleError(f"the edge {tie.name!r} meets another tied edge; leave a gap or tie one of them")
        slaved |= every
        motion = np.zeros((m, len(motions)))
        motion[held] = model.rigid[held][:, motions]
        starts.append(sum(c.shape[1] for c in columns))
        columns.append(sparse.csr_matrix(motion))
        if fields.space.kirchhoff:
            columns.append(_bent(fields, tie))
    free = np.setdiff1d(np.arange(m), sorted(slaved))
    rest = sparse.csr_matrix((np.ones(len(free)), (free, np.arange(len(free)))), (m, len(free)))
    basis = sparse.hstack([rest, *columns], format="csr")
    rigid = np.zeros((basis.shape[1], 6))
    rigid[: len(free)] = model.rigid[free]
    sites = []
    for tie, start in zip(ties, starts, strict=True):
        own = len(free) + start + np.arange(len(motions))
        rigid[own[:, None], motions] = np.eye(len(motions))
        rows = np.zeros((6, basis.shape[1]))
        if not fields.in_plane:
            rows[[0, 1, 5], :3] = np.eye(3)  # the motion in the plane comes first in z
        rows[motions, own] = 1
        sites.append(Site(tie.name, tie.middle, hat_rows(tie.middle) @ rows))
    return replace(
        model, stiffness=sparse.csr_matrix(basis.T @ model.stiffness @ basis), T=sparse.csr_matrix(model.T @ basis),
        rigid=rigid, sites=tuple(sites), outline_rows=sparse.csr_matrix(model.outline_rows @ basis),
        locate=Locator(fields, basis),
    )  # fmt: skip


def _unknowns(fields: Fields, tie: Tie) -> tuple[list[int], list[int]]:
    """Unknowns of z that follow a tie, and those of the curvatures at its vertices (Kirchhoff)."""
    space, first = fields.space, fields.first
    held: list[int] = []
    if fields.in_plane:
        flat = np.asarray(fields.membrane.basis.get_dofs(tie.facets).all())
        held += [int(k * fields.membrane.count + i) for k in range(2) for i in flat]
    if not space.kirchhoff:
        own = np.asarray(space.basis.get_dofs(tie.facets).all())
        return held + [int(first + k * space.count + i) for k in range(3) for i in own], []
    nodal, facet = space.basis.nodal_dofs, space.basis.facet_dofs
    held += [int(first + i) for i in nodal[:3, tie.vertices].ravel()] + [int(first + i) for i in facet[0, tie.facets]]
    bending = [int(first + i) for i in nodal[3:6, tie.vertices].ravel()]
    if space.kinks is not None:
        bending += [int(first + space.basis.N + k) for k in np.flatnonzero(np.isin(space.kinks.vertices, tie.vertices))]
    return held, bending


def _bent(fields: Fields, tie: Tie) -> Matrix:
    """z of unit curvatures across a tied edge, one column per vertex that has a normal.

    The sides of a rim are chords of its circle. What is at rest is the circle, so w = (r - R)^2/2 at a chord's points."""
    space, mesh = fields.space, fields.space.mesh
    nodal, facet = space.basis.nodal_dofs, space.basis.facet_dofs[0]
    made = np.zeros((space.count, len(tie.normals)))
    column = {v: k for k, v in enumerate(tie.normals)}
    for v, n in tie.normals.items():
        off = 0.0 if tie.circle is None else float(np.linalg.norm(mesh.p[:, v] - tie.circle[:2])) - tie.circle[2]
        made[nodal[:, v], column[v]] = [off**2 / 2, off * n[0], off * n[1], n[0] ** 2, n[0] * n[1], n[1] ** 2]
    if tie.circle is not None:
        tilted = space.linear[facet[tie.facets], 1:] / space.size  # the normals by which the unknowns of sides are slopes
        for f, side in zip(tie.facets, tilted, strict=True):
            ends = mesh.facets[:, f]
            out = mesh.p[:, ends].mean(axis=1) - tie.circle[:2]
            r = float(np.linalg.norm(out))
            for v in ends:
                made[facet[f], column[int(v)]] = 0.5 * (r - tie.circle[2]) / r * float(out @ side)
    return fields.placed(sparse.csr_matrix(made.T), fields.first).T
