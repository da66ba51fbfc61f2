"""Plates: Mindlin's and Kirchhoff's theories by finite elements, refined until the frequencies stand still.

The plate lies in the x-y plane of its frame and is stiff in its plane: its motions are w(x, y) and three rigid motions in
the plane, so that a free plate has exactly six motions without strain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from supple.errors import SuppleError
from supple.robot.bodies.fe_model import FeModel, Site, hat_rows, with_masses
from supple.robot.bodies.plate_mesh import skfem
from supple.robot.bodies.plate_space import PlateSpace
from supple.robot.bodies.record import Array
from supple.robot.bodies.section import CrossSection
from supple.robot.bodies.stiffener import stiffener_matrices

Matrix = Any
SHEAR = 5 / 6  # shear factor of Mindlin's theory
_FINEST = 60_000  # unknowns
_NEAR_EDGE = 5  # thicknesses: size of triangles at the edge of the first Mindlin mesh


@dataclass(frozen=True)
class Rib:
    """A stiffener from one point to another."""

    start: tuple[float, float]
    end: tuple[float, float]
    section: CrossSection
    E: float
    G: float
    rho: float


@dataclass(frozen=True)
class PlateSpec:
    """A plate in the frame it is drawn in; `origin` is where its body frame is."""

    points: tuple[tuple[float, float], ...]
    triangles: tuple[tuple[int, int, int], ...]
    thickness: float
    E: float
    nu: float
    G: float
    rho: float
    element: str = "mindlin"
    origin: tuple[float, float] = (0.0, 0.0)
    masses: tuple[tuple[float, tuple[float, float, float], tuple[tuple[float, ...], ...]], ...] = ()
    ribs: tuple[Rib, ...] = ()
    places: tuple[tuple[str, tuple[float, float]], ...] = ()
    edges: tuple[tuple[str, tuple[float, float], tuple[float, float]], ...] = ()
    refine: int | None = None
    tolerance: float = 1e-3
    modes: int = 10  # whose frequencies must stand still
    up_to: float | None = None  # Hz, instead of modes


@dataclass(frozen=True)
class Plate:
    """The finite-element model of a plate and how its free frequencies (Hz) settled."""

    model: FeModel
    meshes: tuple[tuple[int, tuple[float, ...]], ...]
    extrapolated: tuple[float, ...]


@lru_cache(maxsize=32)
def plate(spec: PlateSpec) -> Plate:
    """The Plate of a spec, on a mesh fine enough for its tolerance or of its `refine`."""
    level = 0 if spec.refine is None else spec.refine
    history: list[tuple[int, tuple[float, ...]]] = []
    while True:
        space = _space(spec, level)
        model = plate_model(spec, space)
        frequencies = _frequencies(model, spec, history)
        history.append((model.stiffness.shape[0], frequencies))
        if spec.refine is not None or (len(history) > 1 and _change(history) < spec.tolerance):
            return Plate(model, tuple(history), _extrapolated(history))
        if 4 * history[-1][0] > _FINEST:
            part = f"{100 * _change(history):.2g} %" if len(history) > 1 else "an unknown part"
            raise SuppleError(
                f"its frequencies still change by {part} on the finest mesh ({history[-1][0]} unknowns); "
                "raise tolerance, ask for fewer modes, or fix the mesh by refine"
            )
        level += 1


def _frequencies(model: FeModel, spec: PlateSpec, history: Sequence[Any]) -> tuple[float, ...]:
    """Free elastic frequencies, as many as are asked for."""
    count = len(history[0][1]) if history else spec.modes + 1  # one more is asked for by whoever reports the next
    values, _ = model.free_modes(count)
    while not history and spec.up_to is not None and values[-1] < (2 * np.pi * spec.up_to) ** 2 and count < 200:
        count *= 2
        values, _ = model.free_modes(count)
    if not history and spec.up_to is not None:
        values = values[: 1 + int((values < (2 * np.pi * spec.up_to) ** 2).sum())]
    return tuple(float(f) for f in np.sqrt(np.abs(values)) / (2 * np.pi))


def _change(history: Sequence[tuple[int, tuple[float, ...]]]) -> float:
    before, now = np.array(history[-2][1]), np.array(history[-1][1])
    shared = min(len(before), len(now))
    return float(np.abs(before[:shared] / now[:shared] - 1).max()) if shared == len(now) else np.inf


def _extrapolated(history: Sequence[tuple[int, tuple[float, ...]]]) -> tuple[float, ...]:
    """Limits by Richardson's extrapolation with the order seen on the last three meshes; nothing from fewer."""
    if len(history) < 3:
        return ()
    sizes = [len(h[1]) for h in history[-3:]]
    a, b, c = (np.array(h[1][: min(sizes)]) for h in history[-3:])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.clip(np.nan_to_num((a - b) / (b - c), nan=4.0), 1.5, 1e3)
    return tuple(float(x) for x in c + (c - b) / (ratio - 1))


def _space(spec: PlateSpec, level: int) -> PlateSpace:
    points = np.array(spec.points) - np.array(spec.origin)
    size = float(np.abs(points).max())
    mesh = skfem().MeshTri(points.T / size, np.array(spec.triangles).T)
    if spec.element == "mindlin" and len(spec.triangles) < 400:
        coarse = np.sqrt(2 * float(mesh.params().max()) ** 2 / np.sqrt(3)) * size
        layers = round(np.log2(max(coarse / (_NEAR_EDGE * spec.thickness), 1.0)))
        for _ in range(min(layers, 3)):  # a free edge has a layer as thick as the plate
            mesh = mesh.refined(np.unique(mesh.f2t[0, mesh.boundary_facets()]))
    return PlateSpace(mesh.refined(level), size, spec.element)


# One mesh -------------------------------------------------------------------------------------------------------------


def plate_model(spec: PlateSpec, space: PlateSpace) -> FeModel:
    """The FeModel of a plate on one mesh. z = (motion in the plane, w, and Mindlin's slopes)."""
    ns, fields = space.count, 1 if space.kirchhoff else 3
    K, extra = _stiffness(spec, space)
    one, x, y = space.linear.T
    t, rho = spec.thickness, spec.rho
    m, turning = rho * t * space.products, rho * t**3 / 12
    if space.kirchhoff:
        mass = sparse.block_diag([m, m, m + turning * (space.slopes["xx"] + space.slopes["yy"])], format="csr")
    else:
        mass = sparse.block_diag([m, m, m, turning * space.products, turning * space.products], format="csr")
    zero = np.zeros(ns)
    plane = np.column_stack([np.r_[one, zero], np.r_[zero, one], np.r_[-y, x]])
    T = sparse.block_diag([plane, sparse.eye(fields * ns)], format="csr")
    rigid = np.zeros((3 + fields * ns, 6))
    rigid[0, 0] = rigid[1, 1] = rigid[2, 5] = 1
    rigid[3:, 2] = np.r_[one, np.zeros((fields - 1) * ns)]
    rigid[3:, 3] = y if space.kirchhoff else np.r_[y, zero, one]
    rigid[3:, 4] = -x if space.kirchhoff else np.r_[-x, -one, zero]
    outline, rows = _outline(space, fields)
    model = FeModel(
        mass, sparse.block_diag([sparse.csr_matrix((3, 3)), K], format="csr"), T, rigid, _spin(ns, mass.shape[0]),
        (), outline, rows, _Locator(space),
    )  # fmt: skip
    if extra is not None:
        model = _with_rib_mass(model, extra, ns)
    shift = np.array(spec.origin)
    model = _tied(model, space, [(n, np.array(a) - shift, np.array(b) - shift) for n, a, b in spec.edges])
    places = [(n, np.array([*(np.array(p) - shift), 0.0])) for n, p in spec.places]
    sites = tuple(_named(model.locate, n, p) for n, p in places)
    model = _replaced(model, sites=(*sites, *model.sites))
    return with_masses(model, [_mass_site(model, m, shift) for m in spec.masses])


def _named(locate: Any, name: str, p: Array) -> Site:
    found = locate(p)
    return Site(name, p, found.rows)


def _replaced(model: FeModel, **changes: Any) -> FeModel:
    from dataclasses import replace

    return replace(model, **changes)


def _mass_site(model: FeModel, given: Any, shift: Array) -> tuple[Site, float, Array]:
    mass, at, inertia = given
    p = np.array([at[0] - shift[0], at[1] - shift[1], at[2]])
    assert model.locate is not None
    foot = model.locate(np.array([p[0], p[1], 0.0]))
    assert foot is not None
    return Site("", p, hat_rows(np.array([0, 0, p[2]])) @ foot.rows), mass, np.array(inertia)


def _stiffness(spec: PlateSpec, space: PlateSpace) -> tuple[Matrix, Matrix | None]:
    """K of the bending fields, and the stiffeners' share of the mass of the scalar field products."""
    t = spec.thickness
    D = spec.E * t**3 / (12 * (1 - spec.nu**2))
    if space.kirchhoff:
        K = space.curvatures(D, spec.nu)
    else:
        s, g, m = space.slopes, space.mixed, SHEAR * spec.G * t * space.products
        S, half = SHEAR * spec.G * t, (1 - spec.nu) / 2
        K_pp = D * (s["xx"] + half * s["yy"]) + m
        K_ss = D * (s["yy"] + half * s["xx"]) + m
        K_ps = D * (spec.nu * s["yx"] + half * s["xy"])  # row p, column s
        K = sparse.bmat(
            [
                [S * (s["xx"] + s["yy"]), -S * g["x"].T, -S * g["y"].T],
                [-S * g["x"], K_pp, K_ps],
                [-S * g["y"], K_ps.T, K_ss],
            ],
            format="csr",
        )
    extra = None
    for rib in spec.ribs:
        rib_K, rib_M = stiffener_matrices(space, rib, np.array(spec.origin))
        K = K + rib_K
        extra = rib_M if extra is None else extra + rib_M
    return K, extra


def _with_rib_mass(model: FeModel, extra: Matrix, ns: int) -> FeModel:
    """Mass of stiffeners: per length in all three directions, and their rotary inertia on the bending fields."""
    line, rotary = extra[:ns, :ns], extra[ns:, ns:]
    spread = sparse.block_diag([line, line, sparse.csr_matrix((model.mass.shape[0] - 2 * ns,) * 2)])
    bending = sparse.block_diag([sparse.csr_matrix((2 * ns, 2 * ns)), rotary])
    return _replaced(model, mass=sparse.csr_matrix(model.mass + spread + bending))


def _spin(ns: int, n: int) -> tuple[Matrix, Matrix, Matrix]:
    """e_c x (ux, uy, w); the thickness' rotary inertia adds constants only, so slopes do not turn."""
    one = sparse.eye(ns)
    made = []
    for a, b in ((1, 2), (2, 0), (0, 1)):  # e_c x: component a gets -b, b gets a
        blocks: list[list[Any]] = [[None] * 3 for _ in range(3)]
        for k in range(3):
            blocks[k][k] = sparse.csr_matrix((ns, ns))
        blocks[a][b], blocks[b][a] = -one, one
        made.append(sparse.block_diag([sparse.bmat(blocks), sparse.csr_matrix((n - 3 * ns,) * 2)], format="csr"))
    return made[0], made[1], made[2]


class _Locator:
    """Sites anywhere on a plate: deflection and slopes by its own shape functions."""

    def __init__(self, space: PlateSpace, basis: Matrix | None = None) -> None:
        self.space = space
        self.basis = basis  # of admissible motions, after edges were tied

    def __call__(self, p: Array) -> Site:
        x, y = float(p[0]), float(p[1])
        v = self.space.values(np.array([[x, y]]))
        ns = self.space.count
        w, zero = v.value.toarray()[0], np.zeros(ns)
        if self.space.kirchhoff:
            tilt = [v.slope[1].toarray()[0], -v.slope[0].toarray()[0]]
            bending = np.array([w, *tilt])
        else:
            bending = np.array([np.r_[w, zero, zero], np.r_[zero, zero, w], np.r_[zero, -w, zero]])
        rows = np.zeros((6, 3 + bending.shape[1]))
        rows[0, :3], rows[1, :3], rows[5, :3] = [1, 0, -y], [0, 1, x], [0, 0, 1]
        rows[2:5, 3:] = bending
        if self.basis is not None:
            rows = np.asarray(rows @ self.basis)
        return Site("", np.array([x, y, 0.0]), rows)


def _outline(space: PlateSpace, fields: int) -> tuple[Array, Matrix]:
    """The plate's edge as a closed line, a point per vertex and facet middle."""
    mesh = space.mesh
    facets = mesh.facets[:, mesh.boundary_facets()].T
    following: dict[int, list[int]] = {}
    for a, b in facets:
        following.setdefault(int(a), []).append(int(b))
        following.setdefault(int(b), []).append(int(a))
    start = int(facets[0, 0])
    loop, before = [start], -1
    while True:
        step = [v for v in following[loop[-1]] if v != before]
        before = loop[-1]
        loop.append(step[0])
        if loop[-1] == start or len(loop) > len(facets):
            break
    keep = loop if len(loop) <= 130 else [*loop[:: len(loop) // 65], start]
    points = mesh.p[:, keep].T * space.size
    values = space.values(points).value
    rows = sparse.lil_matrix((3 * len(points), 3 + fields * space.count))
    rows[2::3, 3 : 3 + space.count] = values
    rows[0::3, 0], rows[1::3, 1] = 1, 1
    rows[0::3, 2], rows[1::3, 2] = -points[:, [1]], points[:, [0]]
    return np.column_stack([points, np.zeros(len(points))]), sparse.csr_matrix(rows)


# Tied edges -----------------------------------------------------------------------------------------------------------


def _tied(model: FeModel, space: PlateSpace, edges: Sequence[tuple[str, Array, Array]]) -> FeModel:
    """The model with edges that move as rigid bodies; each becomes a site at its middle."""
    if not edges:
        return model
    m = model.stiffness.shape[0]
    columns: list[Matrix] = []
    slaved: set[int] = set()
    frames: list[tuple[str, Array, int]] = []
    for name, first, last in edges:
        ties, bends = _edge_unknowns(space, first, last)
        if slaved & set(ties):
            raise SuppleError(f"the edge {name!r} meets another tied edge; leave a gap or tie one of them")
        slaved |= set(ties)
        motion = np.zeros((m, 3))
        motion[ties] = model.rigid[ties, 2:5]
        frames.append((name, np.array([*((first + last) / 2), 0.0]), len(frames)))
        columns.append(sparse.csr_matrix(motion))
        for unknowns, normal in bends:  # only the curvature across the edge is free
            slaved |= set(unknowns)
            shape = np.zeros((m, 1))
            shape[unknowns, 0] = [normal[0] ** 2, normal[0] * normal[1], normal[1] ** 2]
            columns.append(sparse.csr_matrix(shape))
    free = np.setdiff1d(np.arange(m), sorted(slaved))
    rest = sparse.csr_matrix((np.ones(len(free)), (free, np.arange(len(free)))), (m, len(free)))
    basis = sparse.hstack([rest, *columns], format="csr")
    starts = np.cumsum([len(free)] + [c.shape[1] for c in columns])
    wide = [s for s, c in zip(starts, columns, strict=False) if c.shape[1] == 3]
    rigid = np.zeros((basis.shape[1], 6))
    rigid[: len(free)] = model.rigid[free]
    sites = []
    for name, middle, k in frames:
        rigid[wide[k] : wide[k] + 3, 2:5] = np.eye(3)
        rows = np.zeros((6, basis.shape[1]))
        rows[[0, 1, 5], :3] = np.eye(3)  # the motion in the plane comes first in z
        rows[[2, 3, 4], wide[k] : wide[k] + 3] = np.eye(3)
        sites.append(Site(name, middle, hat_rows(middle) @ rows))
    assert isinstance(model.locate, _Locator)
    return _replaced(
        model, stiffness=sparse.csr_matrix(basis.T @ model.stiffness @ basis), T=sparse.csr_matrix(model.T @ basis),
        rigid=rigid, sites=tuple(sites), outline_rows=sparse.csr_matrix(model.outline_rows @ basis),
        locate=_Locator(space, basis),
    )  # fmt: skip


def _edge_unknowns(space: PlateSpace, first: Array, last: Array) -> tuple[list[int], list[tuple[list[int], Array]]]:
    """Unknowns of z that an edge ties, and for Kirchhoff the curvatures at its vertices with the edge's normal."""
    facets, vertices = space.edge(first, last)
    if not space.kirchhoff:
        own = np.asarray(space.basis.get_dofs(facets).all())
        return [int(3 + k * space.count + i) for k in range(3) for i in own], []
    along = (last - first) / np.linalg.norm(last - first)
    normal = np.array([-along[1], along[0]])
    nodal, facet = space.basis.nodal_dofs, space.basis.facet_dofs
    ties = [int(3 + i) for i in nodal[:3, vertices].ravel()] + [int(3 + i) for i in facet[0, facets]]
    return ties, [([int(3 + i) for i in nodal[3:6, v]], normal) for v in vertices]
