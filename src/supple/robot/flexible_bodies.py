"""Plates and finite-element bodies of a robot file: their models, reduced to the Body record, and places on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.robot import description as spec
from supple.robot.bodies.body_files import body_from, is_body
from supple.robot.bodies.record import Array, Body, Marker, fixed_marker, zeros
from supple.robot.bodies.reduction import Basis, Selection, Structure, reduced_basis
from supple.robot.bodies.rigid import matrix
from supple.robot.bodies.section import CrossSection, cross_section
from supple.robot.body_entries import FiniteElements, Plate
from supple.robot.entries import EntryError
from supple.robot.finite_elements.files import FeFile, read_fe
from supple.robot.finite_elements.matrix_files import read_arrays
from supple.robot.finite_elements.model import (
    FeModel,
    Site,
    fe_body,
    hat_rows,
    rigid_body_of,
    rigid_inertia,
    seen_from,
    site_marker,
    weighed,
    with_masses,
)
from supple.robot.finite_elements.nodal import Attachment, NodalModel, chosen_nodes, fe_model
from supple.robot.finite_elements.second_order import SecondOrder
from supple.robot.named_files import files_below
from supple.robot.plate_entries import plate_mesh
from supple.robot.plates.plate import PlateSpec, Rib, plate
from supple.robot.quantity import is_number

_NO_ROOT = "root: say which attachment the link's joint holds; its elastic motion is seen from there"
_FREE, _HELD = 10, 6  # modes if the file does not say how many


@dataclass(frozen=True)
class Shape:
    """A reduced body on which things can sit: z = V q of its finite-element model."""

    model: FeModel | None  # None: read from a file, with markers only
    V: Array
    surface: bool  # whether it can be touched anywhere, not at its attachments only
    markers: Mapping[str, Marker] = field(default_factory=dict)
    second: SecondOrder | None = None  # what is known of displacements of second order
    thickness: float = 0.0  # of a plate

    def place(self, p: Array, on: str | None) -> tuple[Marker, Array]:
        """The marker that carries the place p of the body's frame (or p off the attachment `on`), and the arm to it."""
        try:
            offset = zeros(3)
            if on is not None:
                offset[:] = p
                return self.named(on), offset
            numbers = np.array([_number(x, "its place") for x in p])
            if self.surface:
                assert self.model is not None and self.model.locate is not None
                foot = self.model.locate(numbers)
                assert foot is not None
                offset[2] = p[2]
                (marker,) = self.marked([foot])
                return marker, offset
            return self.nearest(numbers), offset
        except SuppleError as error:
            raise EntryError(str(error)) from error

    @cached_property
    def every(self) -> dict[str, Marker]:
        """The markers of all attachments."""
        sites = () if self.model is None else self.model.sites
        return {**self.markers, **dict(zip((s.name for s in sites), self.marked(sites), strict=True))}

    def marked(self, sites: Sequence[Site]) -> list[Marker]:
        """The markers of sites of the model."""
        made = [site_marker(s, self.V) for s in sites]
        if self.second is None or not made:
            return made
        return [replace(m, shortening=drawn) for m, drawn in zip(made, self.second.at(sites), strict=True)]

    def named(self, name: str) -> Marker:
        if name not in self.every:
            raise SuppleError(f"on: {name!r} is no attachment of the body; it has {_listed(self.every)}")
        return self.every[name]

    def nearest(self, p: Array) -> Marker:
        """The attachment at p."""
        places = [m.position.astype(float) for m in self.every.values()]
        size = max([float(np.abs(x).max()) for x in places] + [1e-3])
        for marker, place in zip(self.every.values(), places, strict=True):
            if np.linalg.norm(place - p) < 1e-6 * size:
                return marker
        where = ", ".join(f"{x:g}" for x in p)
        raise SuppleError(f"the body has no attachment at ({where}); it has {_listed(self.every)}; say on: which")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none; name one under attachments"


class FlexibleBodies:
    """Makes plates and finite-element bodies from the materials, sections and files of a robot file."""

    def __init__(
        self,
        materials: Mapping[str, spec.Material],
        sections: Mapping[str, spec.Section],
        folder: Path | None,
        rigid: bool,
        shortens: bool = True,
        outside: bool = False,
    ) -> None:
        self.shortens = shortens
        self.materials = materials
        self.sections = sections
        self.folder = folder
        self.rigid = rigid
        self.outside = outside

    def body(self, given: spec.Body, floating: bool) -> tuple[Body, Shape]:
        """The Body of a plate or finite-element entry, and the places on it."""
        with files_below(self.folder or Path(), self.outside):
            if given.plate is not None:
                return self.plate_body(given.plate, floating)
            assert given.fe is not None
            return self.fe_body(given.fe, floating)

    def path(self, name: str) -> Path:
        """The path of a file that the robot file names."""
        if self.folder is None:
            raise SuppleError(f"{name}: files can be named in a robot file on disk only")
        return self.folder / name

    def elastic(self, name: str) -> tuple[float, float, float, float]:
        """E, nu, G and rho of a material."""
        m = self.materials[name]
        E, nu, rho = (_number(x, "the material") for x in (m.E, m.nu, m.rho))
        return E, nu, E / (2 * (1 + nu)) if m.G is None else _number(m.G, "the material"), rho

    def section(self, name: str, nu: float) -> CrossSection:
        made = cross_section(self.sections[name], nu)
        area, Iy, Iz, J, ky, kz = (
            _number(x, "the section") for x in (made.area, made.Iy, made.Iz, made.J, made.ky, made.kz)
        )
        return CrossSection(area, Iy, Iz, J, ky, kz)

    # Plates -----------------------------------------------------------------------------------------------------------

    def plate_body(self, given: Plate, floating: bool) -> tuple[Body, Shape]:
        if not floating and given.root is None:
            raise SuppleError(_NO_ROOT)
        made = plate(self.plate_spec(given, floating))
        model = made.model
        edges = {name for name, a in given.attachments.items() if a.at is None}
        root = _root(model, given.root, floating)
        touched = (_touched(s, s.name in edges, given) for s in model.sites)
        ends = tuple(s for s in touched if s is not None)
        method, selection = _reduction(given.reduction, floating, len(ends) == len(model.sites) > 0)
        if root is not None and root.name not in edges and method != "free_free":
            text = "a plate held at a point turns about it without end as the mesh gets finer"
            raise SuppleError(f"{method}: {text}; give the root as an edge: or hole:, or use free_free")
        if method in ("craig_bampton", "static") and given.element == "mindlin" and len(edges) < len(model.sites):
            text = "a point of a Mindlin plate gives way without end as the mesh gets finer"
            raise SuppleError(f"{method}: {text}; attach edges or holes, use element: kirchhoff, or free_free")
        body, shape = self.reduced(model, root, ends, method, selection, surface=True, stiffening=given.stiffening)
        if body.reduced is not None:
            body = replace(body, reduced=replace(body.reduced, meshes=made.meshes, extrapolated=made.extrapolated))
        return body, replace(shape, thickness=_number(given.thickness, "the thickness"))

    def plate_spec(self, given: Plate, floating: bool) -> PlateSpec:
        made, centroid, graded = plate_mesh(given, _number, self.path)
        origin = centroid if given.origin == "centroid" else _numbers(given.origin)
        E, nu, G, rho = self.elastic(given.material)
        wanted = _selection(given.reduction)
        return PlateSpec(
            tuple((float(x), float(y)) for x, y in made.points),
            tuple((int(a), int(b), int(c)) for a, b, c in made.triangles),
            _number(given.thickness, "the thickness"), E, nu, G, rho, given.element, origin,
            tuple(_mass(m) for m in given.masses), tuple(self.rib(r, given.material) for r in given.stiffeners),
            tuple((n, _numbers(a.at)) for n, a in given.attachments.items() if a.at is not None),
            tuple((n, _numbers(a.edge[0]), _numbers(a.edge[1])) for n, a in given.attachments.items() if a.edge is not None),
            None if given.refine is None else int(given.refine), float(given.tolerance),
            _FREE if wanted is None or wanted.modes is None else max(wanted.modes, 1),
            None if wanted is None else wanted.up_to, given.in_plane, tuple(int(k) for k in made.patches) if graded else (),
            tuple((_number(p.thickness, "a thickness"), _number(p.offset, "an offset")) for p in given.patches),
            made.tracked, graded, tuple((n, _numbers(a.hole)) for n, a in given.attachments.items() if a.hole is not None),
        )  # fmt: skip

    def rib(self, given: Any, material: str) -> Rib:
        E, nu, G, rho = self.elastic(given.material or material)
        section, offset = self.section(given.section, nu), _number(given.offset, "an offset")
        return Rib(_numbers(given.start), _numbers(given.end), section, E, G, rho, offset)

    # Finite elements --------------------------------------------------------------------------------------------------

    def fe_body(self, given: FiniteElements, floating: bool) -> tuple[Body, Shape]:
        path = self.path(given.file)
        if path.suffix.lower() == ".npz":
            data = read_arrays(path)
            if is_body(data):
                return self.written_body(given, *body_from(data, path.name))
        nodal = self.nodal(given, path)
        model = fe_model(nodal, [_attachment(nodal, n, a) for n, a in given.attachments.items()])
        model = weighed(with_masses(model, [self.tied_mass(model, m) for m in given.masses]))
        model = seen_from(model, _frame_origin(model, given.origin))
        root = _root(model, given.root, floating)
        method, selection = _reduction(given.reduction, floating, nodal.modes is None and len(model.sites) > 0)
        if nodal.modes is not None and method != "free_free":
            raise SuppleError(f"{method}: {path.name} holds modes of the free body and no matrices; use free_free")
        return self.reduced(model, root, model.sites, method, selection, surface=False, stiffening=given.stiffening)

    def nodal(self, given: FiniteElements, path: Path) -> NodalModel:
        elastic = None
        if given.material is not None:
            E, nu, _, rho = self.elastic(given.material)
            elastic = (E, nu, rho)
        nodes, mass = (None if n is None else self.path(n) for n in (given.nodes, given.mass))
        return read_fe(FeFile(path, nodes, mass, given.units == "mm", elastic, given.solver == "calculix"))

    def tied_mass(self, model: FeModel, given: Any) -> tuple[Site, float, Array]:
        mass, at, inertia = _mass(given)
        p = np.array(at)
        near = min(model.sites, key=lambda s: float(np.linalg.norm(s.position - p)), default=None)
        if near is None:
            raise SuppleError("masses: a mass is tied to the nearest attachment; name one under attachments")
        return Site("", p, hat_rows(p - near.position) @ near.rows, p - near.position), mass, np.array(inertia)

    def written_body(self, given: FiniteElements, body: Body, markers: dict[str, Marker]) -> tuple[Body, Shape]:
        keys = ("attachments", "masses", "reduction", "root", "material", "nodes", "mass", "solver")
        stray = [k for k in keys if getattr(given, k)]
        stray += [k for k, own in (("units", "m"), ("origin", [0, 0, 0])) if _plain(getattr(given, k)) != own]
        if stray:
            raise SuppleError(f"{stray[0]}: {given.file} holds a reduced body; it cannot be changed any more")
        n = len(body.coordinates)
        if not self.shortens or given.stiffening == "none":
            body = replace(body, shortened=(), stiffens=True)
            markers = {k: replace(m, shortening=()) for k, m in markers.items()}
        if self.rigid:
            body = Body(mass=body.mass, MS_r=body.MS_r, I_rr=body.I_rr)
            markers = {k: fixed_marker(m.position, m.rotation) for k, m in markers.items()}
            n = 0
        return body, Shape(None, np.zeros((0, n)), False, markers)

    # Both -------------------------------------------------------------------------------------------------------------

    def reduced(
        self,
        model: FeModel,
        root: Site | None,
        ends: tuple[Site, ...],
        method: str,
        selection: Selection,
        surface: bool,
        stiffening: str | None,
    ) -> tuple[Body, Shape]:
        if self.rigid:
            return rigid_body_of(model), Shape(model, np.zeros((model.stiffness.shape[0], 0)), surface)
        seen = np.asarray(model.outline_rows[: min(3 * 64, model.outline_rows.shape[0])].toarray())
        structure = Structure(model.M, model.stiffness, model.rigid, ends, root, seen, model.free_modes)
        basis: Basis = reduced_basis(structure, method, selection)
        body = replace(fe_body(model, basis.V, basis.names, basis.units), reduced=basis.reduced)
        if not self.shortens or stiffening == "none" or not body.flexible:
            return body, Shape(model, basis.V, surface)
        if model.stress is None and model.stretching is None:
            if stiffening is not None:
                raise SuppleError(
                    "stiffening: second_order needs a mesh; matrices and modes of other programs hold no stresses"
                )
            return replace(body, stiffens=False), Shape(model, basis.V, surface)
        second = SecondOrder(model, body, basis.V, None if root is None else root.name, every=stiffening is not None)
        return replace(body, shortened=second.over_mass()), Shape(model, basis.V, surface, second=second)


def _root(model: FeModel, name: str | None, floating: bool) -> Site | None:
    """The attachment that a joint holds; a platform floats."""
    if floating:
        return None
    if name is None:
        raise SuppleError(_NO_ROOT)
    return model.site(name)


def _touched(site: Site, edge: bool, given: Plate) -> Site | None:
    """What loads at an attachment can be resisted: all at an edge, forces at a point of a Kirchhoff plate, and of these
    only those across it if it can stretch."""
    if edge:
        return site
    if given.element == "mindlin":
        return None
    rows = site.rows.copy()
    rows[3:] = 0
    if given.in_plane:
        rows[:2] = 0
    return replace(site, rows=rows)


def reduction_of(given: Any) -> tuple[str, Selection]:
    """Method and selection of a reduction entry."""
    method = next(k for k in type(given).model_fields if getattr(given, k) is not None)
    selection = _selection(given)
    assert selection is not None
    return method, selection


def _reduction(given: Any, floating: bool, loadable: bool) -> tuple[str, Selection]:
    """Method and selection of an entry, or those of a body whose file does not say; `loadable`: at its attachments."""
    if given is None:
        platforms = "static" if loadable else "free_free"  # modes alone give way too little where legs push
        return (platforms, Selection(modes=_FREE)) if floating else ("clamped_free", Selection(modes=_HELD))
    if given.clamped_free is not None and floating:
        raise SuppleError("clamped_free: a platform is not held anywhere; use free_free, craig_bampton or static")
    return reduction_of(given)


def _selection(given: Any) -> Selection | None:
    if given is None:
        return None
    chosen = next(getattr(given, k) for k in type(given).model_fields if getattr(given, k) is not None)
    modes, up_to, effective = chosen.modes, chosen.up_to, chosen.effective_mass
    return Selection(
        None if modes is None else int(modes),
        None if up_to is None else _number(up_to, "up_to"),
        None if effective is None else _number(effective, "effective_mass"),
    )


def _mass(given: Any) -> Any:
    at = _numbers(given.at)
    inertia = tuple(tuple(_number(x, "an inertia") for x in row) for row in matrix(given.inertia))
    return _number(given.mass, "a mass"), (*at, 0.0)[:3], inertia


def _number(x: Any, what: str) -> float:
    if not is_number(x):
        raise SuppleError(f"{what} depends on a kept parameter; finite elements need numbers")
    return float(x)


def _numbers(given: Any) -> Any:
    return tuple(_number(x, "a place") for x in given)


def _plain(given: Any) -> Any:
    return given if isinstance(given, str) else list(given)


def _attachment(model: NodalModel, name: str, given: Any) -> Attachment:
    """The nodes of an attachment, and its reference point (their mean, if the file does not say)."""
    where: dict[str, Any] = {"nodes": given.nodes, "group": given.group, "within": _number(given.within, "within")}
    where["box"] = None if given.box is None else [np.array(_numbers(c)) for c in given.box]
    where["plane"] = None if given.plane is None else {k: _number(v, "a place") for k, v in given.plane.items()}
    where["at"] = None if given.at is None else np.array(_numbers(given.at))
    where["radius"] = None if given.radius is None else _number(given.radius, "the radius")
    try:
        nodes = chosen_nodes(model, where)
    except SuppleError as error:
        raise SuppleError(f"attachments.{name}: {error}") from error
    place = model.xyz[nodes].mean(axis=0) if where["at"] is None else where["at"]
    return Attachment(name, nodes, place, given.tie == "rigid" and model.modes is None)


def _frame_origin(model: FeModel, given: Any) -> Array:
    if given == "centre":
        inertia = rigid_inertia(model)
        return np.asarray(inertia["MS_r"].astype(float) / inertia["mass"])
    return np.array(_numbers(given))
