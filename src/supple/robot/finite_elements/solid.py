"""Solids: quadratic tetrahedra and hexahedra on a mesh, whatever the order of the mesh itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements.nodal import MOST_COORDINATES, NodalModel
from supple.robot.finite_elements.solid_mesh import Group, SolidMesh, read_solid
from supple.robot.finite_elements.stress import solid_stress
from supple.robot.plates.mesh import skfem

_HEX_ORDER = (0, 1, 3, 4, 2, 5, 7, 6)  # of scikit-fem, in corners of VTK
_HEX_EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))


def solid_from_file(path: Path, E: float, nu: float, rho: float, scale: float = 1.0) -> NodalModel:
    """The NodalModel of a mesh of tetrahedra or hexahedra."""
    mesh = read_solid(path)
    try:
        made = solid(mesh.points * scale, mesh.cells, E, nu, rho, mesh.numbers)
    except SuppleError as error:
        raise SuppleError(f"{path.name}: {error}") from error
    return replace(made, groups={name: _in_group(made, mesh, group, scale) for name, group in mesh.groups.items()})


def _in_group(model: NodalModel, mesh: SolidMesh, group: Group, scale: float) -> Array:
    """Labels of a group's nodes, those that came to lie in the middle of its edges included."""
    from scipy.spatial import cKDTree

    labels = np.asarray(mesh.numbers)[group.nodes]
    fresh = np.flatnonzero(~np.isin(model.labels, mesh.numbers))
    if not len(fresh) or not len(group.edges):
        return labels
    middles = scale * mesh.points[group.edges].mean(axis=1)
    near, _ = cKDTree(middles).query(model.xyz[fresh])
    return np.concatenate([labels, model.labels[fresh[near < 1e-9 * float(np.ptp(model.xyz))]]])


def solid(points: Array, cells: Array, E: float, nu: float, rho: float, numbers: Array | None = None) -> NodalModel:
    """The NodalModel of points (P x 3, with their numbers, from 0 if not given) and cells in VTK's order.

    Cells have 4 or 8 corners and straight edges, or 10 or 20 nodes, and their edges may be curved."""
    fem = skfem()
    corners = int(cells.shape[1])
    used, number = np.unique(cells, return_inverse=True)
    cells, points = np.reshape(number, (-1, corners)), points[used]
    first = np.sort(cells[:, : 8 if corners in (8, 20) else 4], axis=1)
    if len(np.unique(first, axis=0)) != len(cells):
        raise SuppleError("a cell is given twice; its mass would count twice")
    size = float(np.abs(points - points.mean(axis=0)).max())
    try:
        mesh, element, order = _elements(fem, np.ascontiguousarray(points.T / size), cells)
        volumes = np.abs(mesh.mapping().detDF(np.full((3, 1), 0.25)))
        if not (volumes > 1e-12).all():
            raise ValueError(f"cell {int(np.argmin(volumes.min(axis=-1)))}")
        basis = fem.Basis(mesh, element, intorder=order)
        det = mesh.mapping().detDF(basis.X)
        folded = (det.min(axis=1) < 0) & (det.max(axis=1) > 0)
        if corners in (10, 20) and folded.any():
            raise ValueError(f"cell {int(np.argmax(folded))} is curved until it folds")
    except Exception as error:  # scikit-fem says what it finds by bare exceptions
        detail = " ".join(str(error).split())[:80]
        raise SuppleError(f"a cell of the mesh has no volume, or its corners are mixed up ({detail})") from error
    if 3 * basis.N > MOST_COORDINATES:
        raise SuppleError(f"the mesh makes {3 * basis.N} coordinates; at most {MOST_COORDINATES} are computed with")
    G = [
        [size * fem.BilinearForm(lambda u, v, w, i=i, j=j: u.grad[i] * v.grad[j]).assemble(basis) for j in range(3)]
        for i in range(3)
    ]
    m = rho * size**3 * fem.BilinearForm(lambda u, v, w: u * v).assemble(basis)
    lam, mu = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))
    every = G[0][0] + G[1][1] + G[2][2]
    blocks: list[list[Any]] = [[lam * G[d][c] + mu * G[c][d] for d in range(3)] for c in range(3)]
    for c in range(3):
        blocks[c][c] = blocks[c][c] + mu * every
    N, count = int(basis.N), int(basis.nelems)
    stress = solid_stress(lambda cells: fem.Basis(mesh, element, intorder=order, elements=cells), count, size, lam, mu)
    xyz = basis.doflocs.T * size
    labels = _labels(xyz, points, used if numbers is None else np.asarray(numbers)[used])
    return NodalModel(
        labels, xyz, np.tile(np.arange(N), 3), np.repeat(np.arange(3), N),
        sparse.block_diag([m, m, m], format="csr"), sparse.csr_matrix(sparse.bmat(blocks)),
        faces=_faces(basis), stress=stress,
    )  # fmt: skip


def _faces(basis: Any) -> Array:
    """The surface of a mesh as triangles of its corners, seen from outside."""
    mesh = basis.mesh
    facets = mesh.boundary_facets()
    corners: Array = basis.nodal_dofs[0, mesh.facets[:, facets]].T  # F x 3 or 4
    places = basis.doflocs.T
    if corners.shape[1] == 4:
        corners = _around(corners, places)
        corners = np.vstack([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
        facets = np.tile(facets, 2)
    inside = mesh.p[:, mesh.t[:, mesh.f2t[0, facets]]].mean(axis=1).T
    a, b, c = (places[corners[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - inside) < 0
    corners[inward] = corners[inward][:, ::-1]
    return corners


def _around(quads: Array, places: Array) -> Array:
    """Corners of quadrangles in an order that goes round: the opposite of the first is the third."""
    found = quads.copy()
    mirror = 2 * places[quads].mean(axis=1) - places[quads[:, 0]]
    opposite = 1 + np.argmin(np.linalg.norm(places[quads[:, 1:]] - mirror[:, None], axis=2), axis=1)
    rows = np.arange(len(quads))
    found[rows, opposite], found[:, 2] = quads[:, 2], quads[rows, opposite]
    return found


def _elements(fem: Any, points: Array, cells: Array) -> tuple[Any, Any, int]:
    """The mesh of scikit-fem, its element, and the order of integration."""
    corners = cells.shape[1]
    if corners in (8, 20):
        used, number = np.unique(cells[:, list(_HEX_ORDER)], return_inverse=True)
        mesh = fem.MeshHex(np.ascontiguousarray(points[:, used]), np.ascontiguousarray(number.reshape(-1, 8).T))
        return (mesh, fem.ElementHex2(), 4) if corners == 8 else (_curved(fem, mesh, points, cells), fem.ElementHex2(), 6)
    if corners == 4:
        return fem.MeshTet(points, np.ascontiguousarray(cells.T)), fem.ElementTetP2(), 4
    return fem.MeshTet2(points, np.ascontiguousarray(cells.T)), fem.ElementTetP2(), 6


def _curved(fem: Any, mesh: Any, points: Array, cells: Array) -> Any:
    """Hexahedra of 27 nodes that have the shape of those of 20."""
    natural = np.zeros((20, 3))  # of VTK's nodes, from -1 to 1
    natural[list(_HEX_ORDER)] = 2 * fem.ElementHex2.refdom.p.T - 1
    natural[8:] = [(natural[a] + natural[b]) / 2 for a, b in _HEX_EDGES]
    at = 2 * fem.ElementHex2.doflocs - 1
    factors = 1 + at[:, None, :] * natural  # 27 x 20 x 3
    bubbles = np.where(natural == 0, 1 - at[:, None, :] ** 2, factors)
    weights = np.where(
        np.arange(20) < 8, factors.prod(axis=2) * ((at[:, None, :] * natural).sum(axis=2) - 2) / 8, bubbles.prod(axis=2) / 4
    )
    made = fem.MeshHex2.from_mesh(mesh)
    places = made.doflocs.copy()
    places[:, made.dofs.element_dofs] = np.einsum("kn,dcn->dkc", weights, points[:, cells])
    return replace(made, doflocs=places)


def _labels(xyz: Array, points: Array, used: Array) -> Array:
    """Nodes of the mesh file keep their numbers; nodes between them get the numbers after those."""
    from scipy.spatial import cKDTree

    away, near = cKDTree(xyz).query(points)
    assert away.max() < 1e-9 * max(1.0, np.abs(points).max())
    labels = np.full(len(xyz), -1)
    labels[near] = used
    rest = np.flatnonzero(labels < 0)
    labels[rest] = int(used.max()) + 1 + np.arange(len(rest))
    return labels
