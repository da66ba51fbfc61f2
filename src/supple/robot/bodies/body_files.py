"""A Body with the markers of its attachments, written to npz and read back.

Fields: `supple` = "body 1", the fields of the record by their names (`mass`, `MS_r`, `I_rr`, `MS_de`, `beta`, `lam`, `I_re`,
`I_ee`, `M_ee`, `K_ee`, `D_ee`, `H_ee`), `coordinates`, `units`, `outline_position`, `outline_Phi_d`, `outline_breaks`, and
per attachment `names`, `positions` (A x 3), `rotations` (A x 3 x 3), `Phi_d` and `Phi_r` (A x 3 x N).

Of second order, where the body has it: `shortening` (A x 3 x N x N), attachments are drawn back by 1/2 q.G q along x, y and
z; and over the mass `shortened_first` (T x 3), `shortened_dyad` (T x 3 x 3), `shortened_shape` (T x N), `shortened_G`
(T x N x N). `stiffens` is 0 if nothing is known of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.robot.bodies.record import Array, Body, Marker, Outline, Shortened, Shortening, eye, is_zero
from supple.robot.bodies.reduced_beam import mass_with_frame
from supple.robot.finite_elements.matrix_files import read_arrays, real_numbers
from supple.robot.finite_elements.model import cleaned
from supple.robot.finite_elements.nodal import NodalModel
from supple.robot.finite_elements.universal import write_universal
from supple.robot.physical import matter_fault

FORMAT = "body 1"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,79}")
_SHAPES: dict[str, tuple[int | str, ...]] = {
    "MS_r": (3,), "I_rr": (3, 3), "MS_de": (3, "N"), "beta": (3, "N"), "lam": ("N", "N", 3), "I_re": ("N", 3, 3),
    "I_ee": ("N", "N", 3, 3), "M_ee": ("N", "N"), "K_ee": ("N", "N"), "D_ee": ("N", "N"), "H_ee": ("N", "N"),
}  # fmt: skip

_SECOND: dict[str, tuple[int | str, ...]] = {"first": (3,), "dyad": (3, 3), "shape": ("N",), "G": ("N", "N")}


def write_body(body: Body, markers: Mapping[str, Marker], path: Path) -> Path:
    """The npz file of a body of numbers."""
    n = len(body.coordinates)
    try:
        data: dict[str, Any] = {name: getattr(body, name).astype(float) for name in _SHAPES}
        data |= {"supple": np.array(FORMAT), "mass": np.array(float(body.mass))}
        outline = body.outline or Outline(np.zeros((0, 3)), np.zeros((0, 3, n)))
        data["outline_position"], data["outline_Phi_d"] = outline.position.astype(float), outline.Phi_d.astype(float)
        data["outline_breaks"] = np.array(outline.breaks, dtype=int)
        listed = list(markers.values())
        data["positions"] = np.array([m.position.astype(float) for m in listed]).reshape(-1, 3)
        data["rotations"] = np.array([m.rotation.astype(float) for m in listed]).reshape(-1, 3, 3)
        for name in ("Phi_d", "Phi_r"):
            data[name] = np.array([getattr(m, name).astype(float) for m in listed]).reshape(-1, 3, n)
        data |= {"stiffens": np.array(int(body.stiffens)), **_second_order(body, listed)}
    except TypeError as error:
        raise SuppleError("a body with kept parameters cannot be written to a file of numbers") from error
    for name, texts in (("coordinates", body.coordinates), ("units", body.units), ("names", tuple(markers))):
        data[name] = np.array(texts, dtype="U80")
    return written_whole(path, lambda file: np.savez_compressed(file, **data))


def _second_order(body: Body, markers: list[Marker]) -> dict[str, Array]:
    """The arrays of second order; none for a body without them."""
    n = len(body.coordinates)
    if body.stretches:
        raise SuppleError("a beam described by its nodes is written in the robot file; reduce it to write it as a body")
    data: dict[str, Array] = {}
    if body.shortened:
        for name in _SECOND:
            data[f"shortened_{name}"] = np.array([getattr(t, name).astype(float) for t in body.shortened])
    if any(m.shortening for m in markers):
        drawn = np.zeros((len(markers), 3, n, n))
        for a, marker in enumerate(markers):
            for s in marker.shortening:
                drawn[a] += np.einsum("c,ij->cij", s.axis.astype(float), s.G.astype(float))
        data["shortening"] = drawn
    return data


def _second_from(
    data: Mapping[str, Array], n: int, attachments: int, file: str
) -> tuple[tuple[Shortened, ...], list[tuple[Shortening, ...]]]:
    """Shortened mass of a body, and Shortening of every attachment."""
    shortened: list[Shortened] = []
    shortening: list[tuple[Shortening, ...]] = [()] * attachments
    if "shortened_G" in data:
        count = len(data["shortened_G"])
        shapes = {name: (count, *_sized(wanted, n)) for name, wanted in _SECOND.items()}
        parts = {name: _numbers(data, f"shortened_{name}", shape, file) for name, shape in shapes.items()}
        shortened = [Shortened(**{name: part[t] for name, part in parts.items()}) for t in range(count)]
    if "shortening" in data:
        drawn = _numbers(data, "shortening", (attachments, 3, n, n), file)
        shortening = [tuple(Shortening(eye()[:, c], G) for c, G in enumerate(three) if not is_zero(G)) for three in drawn]
    return tuple(shortened), shortening


def write_body_file(body: Body, markers: Mapping[str, Marker], path: Path) -> Path:
    """The file of a body: its record as .npz, or its modes as a universal file."""
    if path.suffix.lower() == ".npz":
        return write_body(body, markers, path)
    if path.suffix.lower() in (".uff", ".unv"):
        return write_universal(modes_of(body, markers), path)
    raise SuppleError(f"{path.name}: bodies are written as .npz or .uff")


def modes_of(body: Body, markers: Mapping[str, Marker]) -> NodalModel:
    """A floating body as modes, the six rigid ones first, at the points of its outline and its attachments."""
    n = len(body.coordinates)
    M, K = body.M_ee.astype(float), body.K_ee.astype(float)
    if body.outline is None or not n or np.abs(M - np.eye(n)).max() > 1e-6 or np.abs(K - np.diag(np.diag(K))).max() > 0:
        raise SuppleError("a universal file holds modes of a floating body (free_free on a platform); write .npz instead")
    points = np.vstack([body.outline.position, *(m.position for m in markers.values())]).astype(float)
    shapes = np.concatenate([body.outline.Phi_d, *(m.Phi_d[None] for m in markers.values())]).astype(float)
    count = len(points)
    made = NodalModel(
        np.arange(1, count + 1), points, np.repeat(np.arange(count), 3), np.tile(np.arange(3), count), None, None
    )
    rigid = np.linalg.solve(np.linalg.cholesky(mass_with_frame(body)[:6, :6]), made.rigid().T).T
    return replace(made, modes=np.hstack([rigid, shapes.reshape(-1, n)]), squares=np.r_[np.zeros(6), np.diag(K)])


def is_body(data: Mapping[str, Array]) -> bool:
    return "supple" in data and str(data["supple"]) == FORMAT


def read_body(path: Path) -> tuple[Body, dict[str, Marker]]:
    """The body of an npz file and the markers of its attachments."""
    return body_from(read_arrays(path), path.name)


def body_from(data: Mapping[str, Array], file: str) -> tuple[Body, dict[str, Marker]]:
    """The body of named arrays."""
    if not is_body(data):
        raise SuppleError(f"{file}: is no body written by supple")
    try:
        coordinates = _texts(data, "coordinates")
        n = len(coordinates)
        fields: dict[str, Any] = {name: _numbers(data, name, _sized(shape, n), file) for name, shape in _SHAPES.items()}
        names = _texts(data, "names")
        a = len(names)
        positions, rotations = _numbers(data, "positions", (a, 3), file), _numbers(data, "rotations", (a, 3, 3), file)
        Phi_d, Phi_r = (_numbers(data, k, (a, 3, n), file) for k in ("Phi_d", "Phi_r"))
        outline = _outline_from(data, n, file)
        shortened, shortening = _second_from(data, n, a, file)
        units = _texts(data, "units")
        mass = float(real_numbers(data["mass"], "mass", file))
    except KeyError as error:
        raise SuppleError(f"{file}: has no array {error}") from error
    except (TypeError, ValueError) as error:
        raise SuppleError(f"{file}: its arrays are no numbers, or do not belong together") from error
    if len(units) != n or not np.isfinite(mass) or mass < 0:
        raise SuppleError(f"{file}: needs a unit per coordinate and a mass that is not negative")
    body = Body(
        mass=mass, **fields, coordinates=coordinates, units=units, shortened=shortened, outline=outline,
        stiffens=bool(shortened) or any(shortening) or bool(np.any(data.get("stiffens", 0))),
    )  # fmt: skip
    markers = {k: Marker(positions[i], rotations[i], Phi_d[i], Phi_r[i], shortening[i]) for i, k in enumerate(names)}
    fault = _names_fault(body, names) or _numbers_fault(body, rotations.astype(float))
    if fault:
        raise SuppleError(f"{file}: {fault}")
    return body, markers


def _texts(data: Mapping[str, Array], name: str) -> tuple[str, ...]:
    return tuple(str(x) for x in data[name])


def _sized(shape: tuple[int | str, ...], n: int) -> tuple[int, ...]:
    """A shape with the number of coordinates in it."""
    return tuple(n if isinstance(k, str) else k for k in shape)


def _outline_from(data: Mapping[str, Array], n: int, file: str) -> Outline | None:
    """The outline to draw, if there is one."""
    drawn = len(data["outline_position"])
    positions = _numbers(data, "outline_position", (drawn, 3), file)
    shapes = _numbers(data, "outline_Phi_d", (drawn, 3, n), file)
    breaks = tuple(int(k) for k in np.ravel(data.get("outline_breaks", ())) if 0 < k < drawn)
    return Outline(positions, shapes, breaks) if drawn else None


def _names_fault(body: Body, names: Sequence[str]) -> str | None:
    for what, texts in (("coordinates", body.coordinates), ("names", names)):
        odd = [t for t in texts if not _NAME.fullmatch(t)]
        if odd or len(set(texts)) != len(texts):
            return f"{what} must differ, and be made of letters, digits, _, . and -"
    return None if set(body.units) <= {"m", "rad"} else "units must be m or rad"


def _numbers_fault(body: Body, rotations: Array) -> str | None:
    """Why the numbers are no body's: a kinetic or strain energy that is negative, frames that are not at right angles."""
    for name in ("I_rr", "M_ee", "K_ee", "D_ee", "H_ee"):
        A = getattr(body, name).astype(float)
        if np.abs(A - A.T).max(initial=0.0) > 1e-9 * np.abs(A).max(initial=0.0):
            return f"{name} is not symmetric"
    for name, A in (("its mass matrix", mass_with_frame(body)), ("K_ee", body.K_ee.astype(float))):
        size = np.sqrt(np.abs(np.diag(A)))
        size[size == 0] = 1.0
        if len(A) and np.linalg.eigvalsh(A / np.outer(size, size)).min() < -1e-6:
            return f"{name} has negative energies"
    fault = matter_fault(body.mass, body.MS_r.astype(float), body.I_rr.astype(float))
    if fault is not None:
        return fault
    if np.abs(rotations @ rotations.transpose(0, 2, 1) - np.eye(3)).max(initial=0.0) > 1e-6:
        return "rotations are no rotation matrices"
    return None


def _numbers(data: Mapping[str, Array], name: str, shape: tuple[int, ...], file: str) -> Array:
    given = real_numbers(data[name], name, file)
    if given.shape != shape or not np.isfinite(given).all():
        text = " x ".join(str(k) for k in shape)
        raise SuppleError(f"{file}: {name} must be {text} finite numbers")
    return cleaned(given, 0.0)
