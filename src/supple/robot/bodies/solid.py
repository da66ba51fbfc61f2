"""Solids: quadratic tetrahedra and hexahedra on a mesh, whatever the order of the mesh itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from supple.errors import SuppleError
from supple.robot.bodies.mesh_files import read_mesh
from supple.robot.bodies.nodal import MOST, NodalModel
from supple.robot.bodies.plate_mesh import skfem
from supple.robot.bodies.record import Array

_TETRA = {"tetra", "tetra10"}
_HEX_ORDER = (0, 1, 3, 4, 2, 5, 7, 6)  # of scikit-fem, in corners of meshio
_HEXA = {"hexahedron", "hexahedron20", "hexahedron27"}


def solid_from_file(path: Path, E: float, nu: float, rho: float, scale: float = 1.0) -> NodalModel:
    """The NodalModel of a mesh of tetrahedra or hexahedra, in any format meshio reads."""
    mesh = read_mesh(path)
    tetra = [np.asarray(b.data)[:, :4] for b in mesh.cells if b.type in _TETRA]
    hexa = [np.asarray(b.data)[:, :8] for b in mesh.cells if b.type in _HEXA]
    if bool(tetra) == bool(hexa):
        kinds = ", ".join(sorted({b.type for b in mesh.cells})) or "no cells"
        raise SuppleError(f"{path.name}: needs tetrahedra or hexahedra, one of the two; it has {kinds}")
    try:
        return solid(np.asarray(mesh.points, dtype=float)[:, :3] * scale, np.vstack(tetra or hexa), E, nu, rho)
    except SuppleError as error:
        raise SuppleError(f"{path.name}: {error}") from error


def solid(points: Array, cells: Array, E: float, nu: float, rho: float) -> NodalModel:
    """The NodalModel of corner points (P x 3) and cells (4 or 8 corners, in meshio's order)."""
    fem = skfem()
    corners = int(cells.shape[1])
    used, number = np.unique(cells, return_inverse=True)
    cells, points = np.reshape(number, (-1, corners)), points[used]
    size = float(np.abs(points - points.mean(axis=0)).max())
    try:
        if corners == 4:
            mesh, element = fem.MeshTet(points.T / size, cells.T), fem.ElementTetP2()
        else:
            mesh, element = fem.MeshHex(points.T / size, cells[:, list(_HEX_ORDER)].T), fem.ElementHex2()
        volumes = np.abs(mesh.mapping().detDF(np.full((3, 1), 0.25)))
        if not (volumes > 1e-12).all():
            raise ValueError(f"cell {int(np.argmin(volumes.min(axis=-1)))}")
        basis = fem.Basis(mesh, element, intorder=4)
    except Exception as error:  # scikit-fem says what it finds by bare exceptions
        detail = " ".join(str(error).split())[:80]
        raise SuppleError(f"a cell of the mesh has no volume, or its corners are mixed up ({detail})") from error
    if 3 * basis.N > MOST:
        raise SuppleError(f"the mesh makes {3 * basis.N} coordinates; at most {MOST} are computed with")
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
    N = int(basis.N)
    xyz = basis.doflocs.T * size
    labels = _labels(xyz, points, used)
    return NodalModel(
        labels, xyz, np.tile(np.arange(N), 3), np.repeat(np.arange(3), N),
        sparse.block_diag([m, m, m], format="csr"), sparse.csr_matrix(sparse.bmat(blocks)),
    )  # fmt: skip


def _labels(xyz: Array, points: Array, used: Array) -> Array:
    """Corners keep the numbers of the mesh file (from 0); nodes between them get the numbers after those."""
    from scipy.spatial import cKDTree

    away, near = cKDTree(xyz).query(points)
    assert away.max() < 1e-9 * max(1.0, np.abs(points).max())
    labels = np.full(len(xyz), -1)
    labels[near] = used
    rest = np.flatnonzero(labels < 0)
    labels[rest] = int(used.max()) + 1 + np.arange(len(rest))
    return labels
