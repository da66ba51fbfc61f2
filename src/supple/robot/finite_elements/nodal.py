"""Bodies as nodes with coordinates and matrices: what every import and every solid mesh comes down to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.finite_elements.model import FeModel, Site, Skin, StressStiffness, hat_rows, turning_forces
from supple.robot.sparse import Matrix

_LARGEST, _FURTHEST = 1e30, 1e9  # entries of matrices, modes, squares of frequencies; places of nodes
MOST_COORDINATES = 300_000  # coordinates of a model that is read
_MASSES = 1000  # nodes that get a fitted mass; the rigid and modal masses, which are known, do not depend on it


@dataclass(frozen=True)
class NodalModel:
    """Nodes and the coordinates (node, component x y z rx ry rz) that rows of M and K stand for, or modes of them.

    With `modes` (n x N mass-normalised shapes, the six rigid ones among them) there is no K, and M is a fit."""

    labels: Array  # N
    xyz: Array  # N x 3
    node: Array  # n: index of the node of every row
    component: Array  # n: 0..5
    M: Matrix | None
    K: Matrix | None
    modes: Array | None = None
    squares: Array | None = None  # of the circular frequencies of the modes
    faces: Array | None = None  # triangles of nodes on the surface of a mesh, seen from outside
    groups: Mapping[str, Array] | None = None  # numbers of the nodes of named groups of a mesh
    stress: Callable[[Array, Array], Array] | None = None  # stress stiffness of fields u (n x L) on others (n x N)

    def rigid(self) -> Array:
        """Rigid motions about the origin, as rows of the coordinates (n x 6)."""
        made = np.zeros((len(self.node), 6))
        x = self.xyz[self.node]
        for c in range(3):
            rows = self.component == c
            made[rows, c] = 1
            a, b = (c + 1) % 3, (c + 2) % 3  # (w x r)_c = w_a r_b - w_b r_a
            made[rows, 3 + a], made[rows, 3 + b] = x[rows, b], -x[rows, a]
            made[self.component == 3 + c, 3 + c] = 1
        return made

    def spin(self) -> tuple[Matrix, Matrix, Matrix]:
        """e_c x u, for displacements and rotations alike."""
        n = len(self.node)
        at = {(int(a), int(c)): i for i, (a, c) in enumerate(zip(self.node, self.component, strict=True))}
        made = []
        for c in range(3):
            a, b = (c + 1) % 3, (c + 2) % 3
            rows, columns, data = [], [], []
            for first in (0, 3):  # component a gets -u_b, b gets u_a
                for (node, comp), i in at.items():
                    for to, source, sign in ((a, b, -1.0), (b, a, 1.0)):
                        if comp == first + to and (node, first + source) in at:
                            rows.append(i)
                            columns.append(at[node, first + source])
                            data.append(sign)
            made.append(sparse.csr_matrix((data, (rows, columns)), (n, n)))
        return made[0], made[1], made[2]

    def moved(self, origin: Array) -> NodalModel:
        """The same body seen from a frame at `origin`."""
        return replace(self, xyz=self.xyz - origin)

    def in_units(self, length: float, energy: float) -> NodalModel:
        """The model in SI, from units of which one is `length` metres and `energy` joules (seconds stay seconds)."""
        moves = self.component < 3
        made = replace(self, xyz=self.xyz * length)
        if self.modes is not None:
            return replace(made, modes=self.modes * (np.where(moves, length, 1.0) / np.sqrt(energy))[:, None])
        S = sparse.diags(np.where(moves, 1 / length, 1.0))
        return replace(made, K=sparse.csr_matrix(energy * S @ self.K @ S), M=sparse.csr_matrix(energy * S @ self.M @ S))


@dataclass(frozen=True)
class Attachment:
    """Nodes (by index) tied to a frame at `position`: rigidly, or so that the frame is their mean."""

    name: str
    nodes: Array
    position: Array
    rigid: bool


def check_model(model: NodalModel, file: str) -> NodalModel:
    """The model, if its parts belong together."""
    n = len(model.node)
    if n > MOST_COORDINATES:
        raise SuppleError(f"{file}: has {n} coordinates; at most {MOST_COORDINATES} are read")
    if len(np.unique(6 * model.node + model.component)) != n:
        raise SuppleError(f"{file}: a node has the same motion twice; node and component must differ from row to row")
    for name, A in (("M", model.M), ("K", model.K)):
        if A is None:
            continue
        if A.shape != (n, n):
            raise SuppleError(f"{file}: {name} is {A.shape[0]} x {A.shape[1]}, but the nodes have {n} coordinates")
        data: Array = A.data if sparse.issparse(A) else np.asarray(A)
        if not np.isfinite(data).all():
            raise SuppleError(f"{file}: {name} holds entries that are no finite numbers")
        size = np.abs(data).max(initial=0.0)
        if size == 0:
            raise SuppleError(f"{file}: {name} is all zero")
        if size > _LARGEST:
            raise SuppleError(f"{file}: {name} holds an entry of {size:.3g}, which no body has")
        skew: Any = A - A.T
        if np.abs(skew).max() > 1e-6 * size:
            raise SuppleError(f"{file}: {name} is not symmetric; if only one triangle is stored, mark it symmetric")
    if model.M is not None and model.M.diagonal().min(initial=0.0) < 0:
        raise SuppleError(f"{file}: M has negative masses on its diagonal; check its sign and order")
    if not np.isfinite(model.xyz).all():
        raise SuppleError(f"{file}: a node's place is no finite number")
    limits = (("a place", model.xyz, _FURTHEST), ("modes", model.modes, _LARGEST), ("squares", model.squares, _LARGEST))
    for name, values, most in limits:
        if values is not None and np.abs(values).max(initial=0.0) > most:
            raise SuppleError(f"{file}: {name} of {np.abs(values).max():.3g}, beyond what is computed with; check units")
    if len(np.unique(model.labels)) != len(model.labels):
        raise SuppleError(f"{file}: two nodes have the same number")
    return model


def without_still_nodes(model: NodalModel) -> NodalModel:
    """Modes without the nodes that no mode moves: a free body moves everywhere, loose nodes are not part of it."""
    assert model.modes is not None
    moved = np.abs(model.modes).max(axis=1, initial=0.0) > 0
    part = np.unique(model.node[moved & (model.component < 3)])
    if not len(part) or len(part) == len(model.labels):
        return model
    keep = np.isin(model.node, part)
    return replace(
        model, labels=model.labels[part], xyz=model.xyz[part], node=np.searchsorted(part, model.node[keep]),
        component=model.component[keep], modes=model.modes[keep],
    )  # fmt: skip


# To a FeModel -----------------------------------------------------------------------------------------------------------


def fe_model(model: NodalModel, attachments: Sequence[Attachment]) -> FeModel:
    """The FeModel with its rigid ties made and its attachments as sites."""
    if model.modes is not None:
        return _modal(model, attachments)
    assert model.M is not None and model.K is not None
    rigid = model.rigid()
    _check_rigid(model, rigid)
    T, sites_rigid, z_rigid = _ties(model, rigid, [a for a in attachments if a.rigid])
    rows = {a.name: (_mean_rows(model, a) @ T).toarray() for a in attachments if not a.rigid}
    sites = tuple(sites_rigid[a.name] if a.rigid else Site(a.name, a.position, rows[a.name]) for a in attachments)
    points, drawn = _drawn(model)
    mass = sparse.csr_matrix(model.M)
    return FeModel(
        mass, sparse.csr_matrix(T.T @ sparse.csr_matrix(model.K) @ T), T, z_rigid, model.spin(), sites, points,
        sparse.csr_matrix(drawn @ T), stress=_tied_stress(model, T, [a for a in attachments if a.rigid], sites),
        skin=_skin(model, T),
    )  # fmt: skip


def _tied_stress(model: NodalModel, T: Matrix, ties: Sequence[Attachment], sites: Sequence[Site]) -> StressStiffness | None:
    """The stress stiffness over z. Nodes of a tie turn with it, to second order too, and what holds them does work."""
    own, K = model.stress, sparse.csr_matrix(model.K)
    if own is None:
        return None
    turning = {s.name: s.rows[3:] for s in sites}
    at = {(int(a), int(c)): i for i, (a, c) in enumerate(zip(model.node, model.component, strict=True))}
    rows = {t.name: np.array([[at[int(n), c] for c in range(3)] for n in t.nodes]) for t in ties}

    def stiffness(w: Array, force: Array, V: Array) -> Array:
        made = own(T @ w, T @ V)
        inner = K @ (T @ w) - force
        for tie in ties:
            arms = model.xyz[tie.nodes] - tie.position
            made += turning_forces(inner[rows[tie.name]], arms, turning[tie.name] @ V)
        return made

    return stiffness


def _check_rigid(model: NodalModel, rigid: Array) -> None:
    """Rigid motions must cost no energy: a matrix in another order or unit than the nodes is found here."""
    K = sparse.csr_matrix(model.K)
    scale = np.abs(K).sum(axis=1).max() * np.abs(rigid).max(axis=0)
    residual = np.abs(K @ rigid).max(axis=0) / scale
    if residual.max() > 1e-6:
        worst = int(np.argmax(residual))
        what = "shift along" if worst < 3 else "turn about"
        raise SuppleError(
            f"the stiffness matrix resists a rigid {what} {'xyz'[worst % 3]}: the nodes are in another order or unit than "
            "the matrices, or the model is held somewhere (it must be free)"
        )


def _ties(model: NodalModel, rigid: Array, ties: Sequence[Attachment]) -> tuple[Matrix, dict[str, Site], Array]:
    """u = T z with the nodes of every tie moving as one rigid body; its motion comes at the end of z."""
    n = len(model.node)
    owner = np.full(n, -1)
    for k, tie in enumerate(ties):
        own = np.isin(model.node, tie.nodes)
        if (owner[own] >= 0).any():
            raise SuppleError(f"attachments {ties[int(owner[own].max())].name!r} and {tie.name!r} share nodes")
        owner[own] = k
    free = np.flatnonzero(owner < 0)
    m = len(free) + 6 * len(ties)
    blocks: list[Matrix] = [sparse.csr_matrix((np.ones(len(free)), (free, np.arange(len(free)))), (n, len(free)))]
    z_rigid = np.zeros((m, 6))
    z_rigid[: len(free)] = rigid[free]
    sites = {}
    for k, tie in enumerate(ties):
        rows = np.flatnonzero(owner == k)
        about = rigid[rows] @ hat_rows(-tie.position)  # motions about the tie's own point
        _check_rank(about, tie)
        dense = sparse.lil_matrix((n, 6))
        dense[rows] = about
        blocks.append(sparse.csr_matrix(dense))
        start = len(free) + 6 * k
        z_rigid[start : start + 6] = hat_rows(tie.position)
        chosen = np.zeros((6, m))
        chosen[:, start : start + 6] = np.eye(6)
        sites[tie.name] = Site(tie.name, tie.position, chosen)
    return sparse.hstack(blocks, format="csr"), sites, z_rigid


def _check_rank(motions: Array, tie: Attachment) -> None:
    """Refuses nodes that do not move with every rigid motion of their frame: it would turn without resistance."""
    if len(tie.nodes) == 1 and len(motions) < 6:
        raise SuppleError(
            f"attachment {tie.name!r}: one node of a solid does not turn; give a radius, or three or more nodes"
        )
    if np.linalg.matrix_rank(motions, tol=1e-9 * np.abs(motions).max()) < 6:
        raise SuppleError(f"attachment {tie.name!r}: its nodes lie on a line and cannot carry every moment; give more nodes")


def _mean_rows(model: NodalModel, tie: Attachment) -> Matrix:
    """The rigid motion nearest to that of the nodes, all counting alike (RBE3), as rows over the coordinates."""
    rows = np.flatnonzero(np.isin(model.node, tie.nodes) & (model.component < 3))
    if len(tie.nodes) == 1:
        own = np.flatnonzero((model.node == tie.nodes[0]) & (model.component >= 3))
        rows = np.concatenate([rows, own])
    A = model.rigid()[rows] @ hat_rows(-tie.position)
    _check_rank(A, tie)
    made = sparse.lil_matrix((6, len(model.node)))
    made[:, rows] = np.linalg.pinv(A)
    means: Matrix = sparse.csr_matrix(made)
    return means


def _drawn(model: NodalModel, most: int = 400) -> tuple[Array, Matrix]:
    """Some nodes as a line drawing, and their displacement rows."""
    moving = np.unique(model.node[model.component < 3])
    step = max(1, len(moving) // most)
    chosen = moving[::step]
    order = chosen[np.lexsort(model.xyz[chosen].T[::-1].round(9))]
    return model.xyz[order], _moves(model, order)


def _skin(model: NodalModel, T: Matrix) -> Skin | None:
    """The surface of a mesh, over the coordinates z."""
    if model.faces is None:
        return None
    nodes, triangles = np.unique(model.faces, return_inverse=True)
    return Skin(model.xyz[nodes], sparse.csr_matrix(_moves(model, nodes) @ T), triangles.reshape(-1, 3))


def _moves(model: NodalModel, nodes: Array) -> Matrix:
    """Displacements of nodes as rows over the coordinates."""
    place = {int(a): k for k, a in enumerate(nodes)}
    rows, columns = [], []
    for i, (a, c) in enumerate(zip(model.node, model.component, strict=True)):
        if c < 3 and int(a) in place:
            rows.append(3 * place[int(a)] + int(c))
            columns.append(i)
    made: Matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), (3 * len(nodes), len(model.node)))
    return made


# Modes without matrices -------------------------------------------------------------------------------------------------


def _modal(model: NodalModel, attachments: Sequence[Attachment]) -> FeModel:
    """Modes of a free body as a FeModel: z are its rigid motions and its elastic modes; nodal masses are fitted."""
    assert model.modes is not None and model.squares is not None
    rigid = model.rigid()
    order = np.argsort(model.squares)
    squares, shapes = model.squares[order], model.modes[:, order]
    if len(squares) < 7:
        raise SuppleError(f"holds {len(squares)} modes; the six rigid ones and at least one elastic mode are needed")
    if np.abs(squares[:6]).max() > 1e-4 * squares[6]:
        raise SuppleError("the first six modes are not rigid; solve the free body (no supports), rigid modes included")
    moving = model.component < 3
    A, _, rank, _ = np.linalg.lstsq(rigid[moving], shapes[moving, :6], rcond=1e-9)
    if rank < 6:  # nodes on a line: only their rotations tell of the turn about it
        A, _, rank, _ = np.linalg.lstsq(rigid, shapes[:, :6], rcond=1e-9)
    if rank < 6 or np.linalg.matrix_rank(A, tol=1e-9 * np.linalg.norm(A)) < 6:
        raise SuppleError(
            "the first six modes are not the six rigid motions; nodes on a line need rotations, and mass about it"
        )
    misses = np.abs(rigid[moving] @ A - shapes[moving, :6]).max(axis=1) / np.abs(shapes[moving, :6]).max()
    if misses.max() > 1e-2:
        worst = model.labels[model.node[moving][int(np.argmax(misses))]]
        raise SuppleError(
            f"rigid modes that bend by {100 * misses.max():.0f} %, most at node {worst}: nodes and modes do not match, or "
            "displacements are not along the model's axes"
        )
    inverse = np.linalg.inv(A)
    M6 = inverse.T @ inverse  # of unit rigid motions
    elastic = shapes[:, 6:]
    N = elastic.shape[1]
    T = np.hstack([rigid, elastic])
    known = np.zeros((6 + N, 6 + N))
    known[:6, :6], known[6:, 6:] = M6, np.eye(N)
    K = sparse.diags(np.r_[np.zeros(6), squares[6:]]).tocsr()
    masses = _nodal_masses(model, M6, T, known)
    points, drawn = _drawn(model)
    sites = tuple(Site(a.name, a.position, np.asarray(_mean_rows(model, a) @ T)) for a in attachments)
    return FeModel(
        masses, K, sparse.csr_matrix(T), np.vstack([np.eye(6), np.zeros((N, 6))]), model.spin(), sites, points,
        sparse.csr_matrix(drawn @ T), known_mass=sparse.csr_matrix(known),
    )  # fmt: skip


def _nodal_masses(model: NodalModel, M6: Array, T: Array, known: Array) -> Matrix:
    """Lumped masses, not negative, that come nearest to the orthonormality of all modes (nothing else is known)."""
    from scipy.optimize import nnls

    nodes = np.unique(model.node[model.component < 3])
    nodes = nodes[_spread(model.xyz[nodes], _MASSES)]
    N = T.shape[1]
    scale = 1 / np.sqrt(np.diag(known))
    at = {int(a): k for k, a in enumerate(nodes)}
    pairs = np.triu_indices(N)
    A = np.zeros((len(pairs[0]), len(nodes)))
    rows = np.flatnonzero((model.component < 3) & np.isin(model.node, nodes))
    for i in rows:
        row = T[i] * scale
        A[:, at[int(model.node[i])]] += row[pairs[0]] * row[pairs[1]]
    b = (known * np.outer(scale, scale))[pairs]
    found, _ = nnls(A, b, maxiter=20 * len(nodes))
    diagonal = np.zeros(len(model.node))
    for i in rows:
        diagonal[i] = found[at[int(model.node[i])]]
    made: Matrix = sparse.diags(diagonal).tocsr()
    return made


def _spread(xyz: Array, most: int) -> Array:
    """Indices of at most so many points, each as far as can be from those before it."""
    if len(xyz) <= most:
        return np.arange(len(xyz))
    chosen = [0]
    away = np.linalg.norm(xyz - xyz[0], axis=1)
    while len(chosen) < most:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(xyz - xyz[chosen[-1]], axis=1))
    return np.sort(np.array(chosen))


def _group(model: NodalModel, name: str) -> Array:
    """Indices of the nodes of a named group."""
    known = model.groups or {}
    if name not in known:
        listed = ", ".join(f"{n!r}" for n in list(known)[:20]) or "none"
        raise SuppleError(f"there is no group {name[:60]!r} in the mesh; it has: {listed}")
    nodes = np.flatnonzero(np.isin(model.labels, known[name]))
    if not len(nodes):
        raise SuppleError(f"the group {name[:60]!r} holds no node of the solid")
    return nodes


def chosen_nodes(model: NodalModel, where: Mapping[str, Any]) -> Array:
    """Indices of the nodes in a list of numbers, a named group, a box, a plane, or near a point."""
    x = model.xyz
    within = float(where.get("within", 1e-6))
    if where.get("nodes") is not None:
        place = {int(label): k for k, label in enumerate(model.labels)}
        missing = [n for n in where["nodes"] if n not in place]
        if missing:
            raise SuppleError(f"there is no node {missing[0]}; numbers run from {min(place)} to {max(place)}")
        return np.array([place[n] for n in where["nodes"]])
    if where.get("group") is not None:
        return _group(model, str(where["group"]))
    if where.get("box") is not None:
        low, high = np.minimum(*where["box"]), np.maximum(*where["box"])
        found = ((x >= low - within) & (x <= high + within)).all(axis=1)
    elif where.get("plane") is not None:
        found = np.ones(len(x), dtype=bool)
        for axis, value in where["plane"].items():
            found &= np.abs(x[:, "xyz".index(axis)] - value) <= within
    else:
        away = np.linalg.norm(x - np.asarray(where["at"]), axis=1)
        radius = where.get("radius")
        found = away <= (max(within, 1e-6 * np.ptp(x)) if radius is None else radius)
    used = np.zeros(len(x), dtype=bool)
    used[model.node] = True
    nodes = np.flatnonzero(found & used)
    if not len(nodes):
        low, high = x.min(axis=0), x.max(axis=0)
        span = ", ".join(f"{a} {p:g} to {q:g}" for a, p, q in zip("xyz", low, high, strict=True))
        raise SuppleError(f"no node lies there; the nodes span {span} (in the body's frame, metres)")
    return nodes
