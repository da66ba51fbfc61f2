"""Stresses in the sections of beams, from the forces and moments at the ends of their elements.

Axial force and bending stretch the outermost fibre, torsion shears it; both are taken at their largest though they may be
at different fibres of a section, and make von Mises' stress sqrt(s^2 + 3 t^2): never too small. Shear forces are left out.
Torsion of a rectangle is Saint-Venant's, at the middle of its longer side, of a box Bredt's.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from supple.model.algebra import Array
from supple.model.model import Model
from supple.robot.bodies.record import Fibres, strains
from supple.robot.mechanism import Frame

_TERMS = 41
_LEFT_OUT = 0.02  # of a stress, worth a word


@dataclass(frozen=True)
class Stress:
    """The worst section of a link: von Mises' stress (Pa), where (m from the root of its beam), what is in it, and the
    material's yield stress (not a number: not given)."""

    link: str
    stress: float
    place: float
    axial: float  # N
    torque: float  # N m
    bending: tuple[float, float]  # N m, about the beam's y and z
    limit: float


def stresses(model: Model, q: Array) -> tuple[Stress, ...]:
    """The worst section of every link of beams in a posture, worst link first; links of sections whose form is not known
    are left out."""
    found: dict[str, Stress] = {}
    for frame in model.mechanism.frames:
        if frame.body.fibres is not None and frame.body.fibres.form[0]:
            worst = _worst(frame, q)
            if frame.link not in found or worst.stress > found[frame.link].stress:
                found[frame.link] = worst
    return tuple(sorted(found.values(), key=lambda s: -s.stress))


def unknown_forms(model: Model) -> tuple[str, ...]:
    """Links of beams whose stresses are not known, because only properties of their section are given."""
    own = [f.link for f in model.mechanism.frames if f.body.fibres is not None and not f.body.fibres.form[0]]
    return tuple(dict.fromkeys(own))


def weight_left_out(model: Model, q: Array) -> dict[str, float]:
    """Links whose weight between nodes bends them by more than a share of the robot's largest stress, and by what stress
    (Pa): w l^2 / 12 at the ends of an element of length l, as if it lay level."""
    found: dict[str, float] = {}
    largest = max((s.stress for s in stresses(model, q)), default=0.0)
    g = float(np.linalg.norm(model.gravity))
    for frame in model.mechanism.frames:
        fibres = frame.body.fibres
        if fibres is None or not fibres.form[0]:
            continue
        places = np.unique(fibres.places.astype(float))
        moment = g * float(frame.body.mass) / np.ptp(places) * float(np.diff(places).max()) ** 2 / 12
        about = [3] if model.mechanism.planar else [2, 3]
        more = float(von_mises(fibres, moment * np.eye(4)[about]).max())
        if more > _LEFT_OUT * largest:
            found[frame.link] = max(more, found.get(frame.link, 0.0))
    return found


def _worst(frame: Frame, q: Array) -> Stress:
    fibres = frame.body.fibres
    assert fibres is not None
    forces = section_forces(frame, q[frame.e])
    sizes = von_mises(fibres, forces)
    k = int(sizes.argmax())
    N, T, My, Mz = forces[k].tolist()
    limit = float("nan") if fibres.limit is None else float(fibres.limit)
    return Stress(frame.link, float(sizes[k]), float(fibres.places[k]), N, T, (My, Mz), limit)


def section_forces(frame: Frame, e: Array) -> Array:
    """(..., sections, 4) axial force, torque, moments about y and z for elastic coordinates (..., N)."""
    fibres = frame.body.fibres
    assert fibres is not None
    made: Array = np.einsum("sfk,...k->...sf", fibres.forces.astype(float), strains(frame.body, e))
    return made


def von_mises(fibres: Fibres, forces: Array) -> Array:
    """(..., sections) for forces (..., sections, 4); numbers of the section may have leading dimensions of their own."""
    N, T, My, Mz = np.moveaxis(np.abs(forces), -1, 0)
    area, Iy, Iz, J = (np.asarray(x, dtype=float)[..., None] for x in (fibres.area, fibres.Iy, fibres.Iz, fibres.J))
    form, sizes = fibres.form[0], [np.asarray(x, dtype=float)[..., None] for x in fibres.form[1]]
    if form in ("circle", "tube"):
        bending = np.hypot(My, Mz) * sizes[0] / 2 / Iz
    else:
        bending = Mz * sizes[0] / 2 / Iz + My * sizes[1] / 2 / Iy
    made: Array = np.sqrt((N / area + bending) ** 2 + 3 * (T * torsion_stress(form, sizes, J)) ** 2)
    return made


def von_mises_slope(fibres: Fibres, change: Fibres, forces: Array, dforces: Array) -> Array:
    """(..., sections) change of `von_mises` where numbers of the section and forces change so much."""
    sign = np.moveaxis(np.sign(forces), -1, 0)
    (N, T, My, Mz), (dN, dT, dMy, dMz) = (np.moveaxis(x, -1, 0) * sign for x in (forces, dforces))
    (area, Iy, Iz, J), (darea, dIy, dIz, dJ) = (
        [np.asarray(x, dtype=float)[..., None] for x in (f.area, f.Iy, f.Iz, f.J)] for f in (fibres, change)
    )
    sizes, dsizes = ([np.asarray(x, dtype=float)[..., None] for x in f.form[1]] for f in (fibres, change))
    form = fibres.form[0]
    if form in ("circle", "tube"):
        M = np.hypot(My, Mz)
        dM = (My * dMy + Mz * dMz) / np.where(M > 0, M, 1.0)
        bending, by = M * sizes[0] / 2 / Iz, (dM * sizes[0] + M * dsizes[0] - M * sizes[0] * dIz / Iz) / 2 / Iz
    else:
        bending = Mz * sizes[0] / 2 / Iz + My * sizes[1] / 2 / Iy
        by = (dMz * sizes[0] + Mz * dsizes[0] - Mz * sizes[0] * dIz / Iz) / 2 / Iz
        by = by + (dMy * sizes[1] + My * dsizes[1] - My * sizes[1] * dIy / Iy) / 2 / Iy
    s, ds = N / area + bending, dN / area - N * darea / area**2 + by
    t, each = T * torsion_stress(form, sizes, J), torsion_stress(form, sizes, J)
    dt = dT * each + T * torsion_stress_slope(form, sizes, dsizes, J, dJ)
    size = np.sqrt(s**2 + 3 * t**2)
    made: Array = (s * ds + 3 * t * dt) / np.where(size > 0, size, 1.0)
    return made


def torsion_stress(form: str, sizes: list[Array], J: Array) -> Array:
    """The largest shear stress of a unit torque."""
    if form in ("circle", "tube"):
        around: Array = sizes[0] / 2 / J
        return around
    y, z = sizes[:2]
    if form == "box":
        wall = sizes[2]
        made: Array = 1 / (2 * (y - wall) * (z - wall) * wall)
        return made
    long, short = np.maximum(y, z), np.minimum(y, z)
    less = sum(1 / (k**2 * np.cosh(np.minimum(k * pi * long / (2 * short), 700.0))) for k in range(1, _TERMS, 2))
    twisted: Array = short * (1 - 8 / pi**2 * less) / J
    return twisted


def torsion_stress_slope(form: str, sizes: list[Array], dsizes: list[Array], J: Array, dJ: Array) -> Array:
    """Change of `torsion_stress` where sizes and J change so much."""
    each = torsion_stress(form, sizes, J)
    if form in ("circle", "tube"):
        around: Array = dsizes[0] / 2 / J - each * dJ / J
        return around
    (y, z), (dy, dz) = sizes[:2], dsizes[:2]
    if form == "box":
        wall, dwall = sizes[2], dsizes[2]
        made: Array = -each * ((dy - dwall) / (y - wall) + (dz - dwall) / (z - wall) + dwall / wall)
        return made
    short, dshort = np.minimum(y, z), np.where(y < z, dy, dz)
    ratio = np.maximum(y, z) / short
    dratio = (np.where(y < z, dz, dy) - ratio * dshort) / short
    less = slope = np.zeros_like(ratio)
    for k in range(1, _TERMS, 2):
        x = np.minimum(k * pi * ratio / 2, 700.0)
        less, slope = less + 1 / (k**2 * np.cosh(x)), slope - pi / 2 * np.tanh(x) / (k * np.cosh(x))
    inside, dinside = 1 - 8 / pi**2 * less, -8 / pi**2 * slope * dratio
    twisted: Array = (dshort * inside + short * dinside) / J - each * dJ / J
    return twisted
