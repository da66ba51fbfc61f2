"""Plates: Mindlin's and Kirchhoff's theories by finite elements, refined until the frequencies stand still.

The plate lies in the x-y plane of its frame. Unless it may stretch (`in_plane`) it is stiff in its plane: its motions are
w(x, y) and three rigid motions in the plane. A free plate has exactly six motions without strain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array
from supple.robot.bodies.reduction import MOST_MODES
from supple.robot.finite_elements.model import FeModel, Site, hat_rows, with_masses
from supple.robot.plates.fields import Fields
from supple.robot.plates.figure import Tracked
from supple.robot.plates.kinks import singular
from supple.robot.plates.levels import Level
from supple.robot.plates.matrices import Layers, moving, plate_matrices
from supple.robot.plates.mesh import skfem, triangle_areas
from supple.robot.plates.sites import Locator, Tie, drawn, edge_tie, rim_tie, tied
from supple.robot.plates.space import PlateSpace
from supple.robot.plates.stiffener import Rib, stiffener_matrices
from supple.robot.plates.stress import PlateStress

__all__ = ["Plate", "PlateSpec", "Rib", "plate", "plate_model"]

_FINEST = 160_000  # unknowns
_LAYERED = 400  # triangles: finer meshes of figures with holes get no more layers at their edges
_CLOSER = {"kirchhoff": 3, "mindlin": 2}  # times triangles at sharp points are cut: no polynomial fits there
_NEAR_EDGE = 5  # thicknesses: size of triangles at the edge of the first Mindlin mesh


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
    in_plane: bool = False  # whether it stretches
    patch: tuple[int, ...] = ()  # of every triangle: 0, or the number of a patch from 1
    patches: tuple[tuple[float, float], ...] = ()  # thickness of a patch, and height of its middle plane
    tracked: tuple[Tracked, ...] = ()  # circles
    graded: bool = False  # whether its triangles are of very different sizes
    rims: tuple[tuple[str, tuple[float, float]], ...] = ()  # holes that are tied, by a point within


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
            change = _change(history) if len(history) > 1 else np.inf
            part = f"{100 * change:.2g} %" if np.isfinite(change) else "an unknown part"
            text = f"its frequencies still change by {part} on the finest mesh ({history[-1][0]} unknowns); "
            if spec.masses:
                text += (
                    "a mass at a point sinks in and turns the more the finer the mesh: tie it by a link to an edge or hole, "
                )
            if spec.element == "mindlin":
                text += "try element: kirchhoff if the plate is thin, "
            raise SuppleError(text + "raise tolerance, ask for fewer modes, or fix the mesh by refine")
        level += 1


def _frequencies(model: FeModel, spec: PlateSpec, history: Sequence[Any]) -> tuple[float, ...]:
    """Free elastic frequencies, as many as are asked for and one more, which whoever reports the next asks for."""
    count = max(spec.modes + 1, len(history[-1][1]) if history and spec.up_to is not None else 0)
    values, _ = model.free_modes(count)
    if spec.up_to is not None:
        highest = (2 * np.pi * spec.up_to) ** 2
        while values[-1] < highest and len(values) == count:
            if count > MOST_MODES or _expected(spec) > 3 * MOST_MODES:
                raise SuppleError(f"up_to: more than {MOST_MODES} modes lie below {spec.up_to:g} Hz; ask for less")
            count = min(2 * count, MOST_MODES + 1)
            values, _ = model.free_modes(count)
        values = values[: 1 + int((values < highest).sum())]
    return tuple(float(f) for f in np.sqrt(np.abs(values)) / (2 * np.pi))


def _expected(spec: PlateSpec) -> float:
    """About how many modes lie below up_to: Weyl's law A f/2 sqrt(rho t/D) for the thickest part."""
    if spec.up_to is None or spec.ribs:
        return 0.0
    t = max(spec.thickness, *(p[0] for p in spec.patches), 0.0)
    area = float(np.abs(triangle_areas(np.array(spec.points), np.array(spec.triangles))).sum())
    return area * spec.up_to / 2 * float(np.sqrt(12 * spec.rho * (1 - spec.nu**2) / spec.E)) / t


def _change(history: Sequence[tuple[int, tuple[float, ...]]]) -> float:
    """Largest part by which a frequency changed; without end while a mesh is too coarse for all of them."""
    before, now = np.array(history[-2][1]), np.array(history[-1][1])
    return float(np.abs(before[: len(now)] / now - 1).max()) if len(before) >= len(now) else np.inf


def _extrapolated(history: Sequence[tuple[int, tuple[float, ...]]]) -> tuple[float, ...]:
    """Limits by Richardson's extrapolation with the order seen on the last three meshes; nothing from fewer."""
    if len(history) < 3:
        return ()
    sizes = [len(h[1]) for h in history[-3:]]
    a, b, c = (np.array(h[1][: min(sizes)]) for h in history[-3:])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.clip(np.nan_to_num((a - b) / (b - c), nan=4.0), 1.5, 1e3)
    return tuple(float(x) for x in c + (c - b) / (ratio - 1))


def _space(spec: PlateSpec, refinements: int) -> PlateSpace:
    points = np.array(spec.points) - np.array(spec.origin)
    size = float(np.abs(points).max())
    tracked = tuple(Tracked(t.points, _scaled(t.circle, spec.origin, size)) for t in spec.tracked)
    patch = np.array(spec.patch or [0] * len(spec.triangles))
    lines = [(np.array([r.start, r.end]) - np.array(spec.origin)) / size for r in spec.ribs] if spec.graded else []
    mesh = skfem().MeshTri(points.T / size, np.array(spec.triangles).T)
    level = Level(mesh, patch, tracked, spec.graded, tuple(lines)).round()
    if spec.element == "mindlin" and len(spec.triangles) < 400:
        level = _edge_layers(level, spec.thickness / size)
    if spec.graded:
        sharp = singular(level)
        for _ in range(_CLOSER[spec.element] if len(sharp) else 0):
            level = level.refined(np.flatnonzero(np.isin(level.mesh.t, sharp).any(axis=0)))
    for _ in range(refinements):
        level = level.refined()
    return PlateSpace(level, size, spec.element)


def _scaled(circle: Any, origin: tuple[float, float], size: float) -> Any:
    x, y, r = circle
    return (x - origin[0]) / size, (y - origin[1]) / size, r / size


def _edge_layers(level: Level, thickness: float) -> Level:
    """Smaller triangles at all edges and ribs, where the slopes have layers as thick as the plate."""
    coarse = np.sqrt(2 * float(level.mesh.params().max()) ** 2 / np.sqrt(3))
    layers = round(np.log2(max(coarse / (_NEAR_EDGE * thickness), 1.0)))
    for _ in range(min(layers, 3)):
        mesh = level.mesh
        if not level.graded:
            level = level.refined(np.unique(mesh.f2t[0, mesh.boundary_facets()]))
        elif mesh.t.shape[1] < _LAYERED:
            level = level.refined(level.beside())
    return level


# One mesh -------------------------------------------------------------------------------------------------------------


def plate_model(spec: PlateSpec, space: PlateSpace) -> FeModel:
    """The FeModel of a plate on one mesh; z as in `plate_fields`, u = T z are motions of points with mass."""
    untied = _untied(spec, space)
    model = tied(untied, _fields(untied), _ties(spec, space))
    if spec.in_plane:
        return _equipped(replace(model, stress=_stress(spec, untied, model, model)), spec)

    def stretching() -> FeModel:
        wide = replace(spec, in_plane=True)
        loose = _untied(wide, space)
        made = tied(loose, _fields(loose), _ties(spec, space))
        return _equipped(replace(made, stress=_stress(spec, loose, made, model)), spec)

    return _equipped(replace(model, stretching=stretching), spec)


def _untied(spec: PlateSpec, space: PlateSpace) -> FeModel:
    fields, shift = Fields(space, spec.in_plane), np.array(spec.origin)
    K, inertial = plate_matrices(fields, _layers(spec))
    parts = [inertial]
    for rib in spec.ribs:
        own_K, own = stiffener_matrices(fields, rib, shift)
        K = K + own_K
        parts.append(own)
    mass, T, spin = moving(parts)
    outline, rows, breaks = drawn(fields, [(np.array(r.start) - shift, np.array(r.end) - shift) for r in spec.ribs])
    return FeModel(mass, K, T, fields.rigid, spin, (), outline, rows, Locator(fields), breaks=breaks)


def _equipped(model: FeModel, spec: PlateSpec) -> FeModel:
    """The model with its attachments at points and its masses."""
    shift = np.array(spec.origin)
    assert model.locate is not None
    places = [(n, np.array([*(np.array(p) - shift), 0.0])) for n, p in spec.places]
    sites = tuple(replace(_there(model.locate(p)), name=n, position=p) for n, p in places)
    model = replace(model, sites=(*sites, *model.sites))
    return with_masses(model, [_mass_site(model, m, shift) for m in spec.masses])


def _layers(spec: PlateSpec) -> Layers:
    return Layers(spec.E, spec.nu, spec.G, spec.rho, ((spec.thickness, 0.0), *spec.patches))


def _fields(model: FeModel) -> Fields:
    assert isinstance(model.locate, Locator)
    return model.locate.fields


def _stress(spec: PlateSpec, untied: FeModel, loaded: FeModel, shaped: FeModel) -> PlateStress:
    """The stress stiffness of loads on one model of a plate over the shapes of another."""
    assert isinstance(loaded.locate, Locator) and isinstance(shaped.locate, Locator)
    ties = _ties(spec, loaded.locate.space)
    turning = tuple((t, shaped.site(t.name).rows[3:]) for t in ties)
    ribs = tuple((rib, np.array(spec.origin)) for rib in spec.ribs)
    return PlateStress(_layers(spec), ribs, loaded.locate, untied, shaped.locate, turning)


def _there(site: Site | None) -> Site:
    assert site is not None
    return site


def _mass_site(model: FeModel, given: Any, shift: Array) -> tuple[Site, float, Array]:
    mass, at, inertia = given
    p = np.array([at[0] - shift[0], at[1] - shift[1], at[2]])
    assert model.locate is not None
    foot = _there(model.locate(np.array([p[0], p[1], 0.0])))
    return Site("", p, hat_rows(np.array([0, 0, p[2]])) @ foot.rows), mass, np.array(inertia)


def _ties(spec: PlateSpec, space: PlateSpace) -> list[Tie]:
    shift = np.array(spec.origin)
    edges = [edge_tie(space, n, np.array(a) - shift, np.array(b) - shift) for n, a, b in spec.edges]
    return edges + [rim_tie(space, n, np.array(p) - shift) for n, p in spec.rims]
