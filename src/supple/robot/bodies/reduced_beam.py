"""Beams of many elements described by few coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.beam import DRAWN, beam_marker
from supple.robot.bodies.beam_element import BeamSpec
from supple.robot.bodies.record import Array, Body, Outline, Shortened, is_zero, zeros
from supple.robot.bodies.reduction import Selection, Structure, reduced_basis
from supple.robot.bodies.shortening import PLANAR, SPATIAL, drawn_shortening, shortened_masses
from supple.robot.finite_elements.model import Site, cleaned, hat_rows


def reduced_beam(spec: BeamSpec, body: Body, method: str, selection: Selection) -> tuple[Body, Array]:
    """The beam's Body in few coordinates q, and V of its nodal coordinates = V q. Its end is attached."""
    try:
        M = mass_with_frame(body)
        K_ee = body.K_ee.astype(float)
        tip = beam_marker(spec, 1)
        Phi = np.concatenate([tip.Phi_d, tip.Phi_r]).astype(float)
        place = tip.position.astype(float)
    except TypeError as error:
        raise SuppleError("the beam depends on a kept parameter; a reduction needs numbers") from error
    n, kept = len(K_ee), list(PLANAR if spec.planar else SPATIAL)
    chosen = kept + list(range(6, 6 + n))
    K = np.zeros((6 + n, 6 + n))
    K[6:, 6:] = K_ee
    root = np.hstack([np.eye(6), np.zeros((6, n))])
    end = np.hstack([hat_rows(place), Phi])
    off = [k for k in range(6) if k not in kept]
    end[off] = root[off] = 0
    held = Site("root", np.zeros(3), root[:, chosen])
    sites = (held, Site("end", place, end[:, chosen]))
    rigid = np.vstack([np.eye(6), np.zeros((n, 6))])[np.ix_(chosen, kept)]
    own = np.ix_(chosen, chosen)
    basis = reduced_basis(Structure(M[own], K[own], rigid, sites, held, end[:, chosen]), method, selection)
    V = basis.V[len(kept) :]
    made = transformed(_strained(spec, body), V)
    return replace(made, coordinates=basis.names, units=basis.units, reduced=basis.reduced), V


def _strained(spec: BeamSpec, body: Body) -> Body:
    """The beam with the stretch of its nodes as coordinates: few shapes cannot follow the shortening of all bending."""
    outline = body.outline
    drawn = drawn_shortening(spec, DRAWN)
    if outline is not None and drawn is not None:
        outline = replace(outline, axis=drawn[0], steps=drawn[1])
    return replace(body, stretches=(), shortened=shortened_masses(spec), outline=outline)


def mass_with_frame(body: Body) -> Array:
    """The mass matrix over the frame's six motions and the elastic coordinates."""
    n = len(body.coordinates)
    M = np.zeros((6 + n, 6 + n))
    x, y, z = (float(s) for s in body.MS_r)
    M[:3, :3] = float(body.mass) * np.eye(3)
    M[:3, 3:6] = -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    M[3:6, :3] = M[:3, 3:6].T
    M[3:6, 3:6] = body.I_rr.astype(float)
    M[:3, 6:], M[3:6, 6:] = body.MS_de.astype(float), body.beta.astype(float)
    M[6:, :6] = M[:6, 6:].T
    M[6:, 6:] = body.M_ee.astype(float)
    return M


def _gathered(parts: tuple[Shortened, ...], V: Array) -> list[Shortened]:
    """Second-order displacements over the mass in coordinates q' with q = V q': of the whole, and one for each q'."""

    def turned(G: Array) -> Array:
        made = V.T @ G.astype(float) @ V
        return cleaned((made + made.T) / 2, np.abs(made).max(initial=0.0), 1e-13)

    if not parts:
        return []
    made = [replace(t, shape=zeros(V.shape[1]), G=turned(t.G)) for t in parts if is_zero(t.shape)]
    shapes = [t for t in parts if not is_zero(t.shape)]
    for k in range(V.shape[1]):
        weights = [t.shape.astype(float) @ V[:, k] for t in shapes]
        biggest = np.abs(V[:, k]).max()
        own = sum(
            (w * t.G for w, t in zip(weights, shapes, strict=True) if abs(w) > 1e-12 * biggest), zeros(*parts[0].G.shape)
        )
        unit = zeros(V.shape[1])
        unit[k] = 1
        made.append(Shortened(zeros(3), zeros(3, 3), unit, turned(own)))
    return made


def transformed(body: Body, V: Array) -> Body:
    """The body in coordinates q' with q = V q'; names and units are the caller's."""

    def turned(A: Array) -> Array:
        made = V.T @ A.astype(float) @ V
        size = np.sqrt(np.abs(np.diag(made)))
        return cleaned((made + made.T) / 2, np.outer(size, size))

    def plain(A: Array) -> Array:
        return cleaned(A, np.abs(A).max(initial=0.0), 1e-13)

    lam = np.einsum("ai,abc,bk->ikc", V, body.lam.astype(float), V)
    I_ee = np.einsum("ai,abcd,bk->ikcd", V, body.I_ee.astype(float), V)
    I_re = np.einsum("ak,acd->kcd", V, body.I_re.astype(float))
    outline = body.outline
    if outline is not None:
        drawn = np.einsum("pca,ak->pck", outline.Phi_d.astype(float), V)
        steps = None if outline.steps is None else np.array([turned(G) for G in outline.steps])
        outline = Outline(outline.position, plain(drawn), outline.breaks, outline.axis, steps)
    slender = body.slender
    if slender is not None:
        slender = replace(slender, axial=slender.axial @ V, turning=slender.turning @ V, tipping=slender.tipping @ V)
    fibres = None if body.fibres is None else replace(body.fibres, forces=body.fibres.forces.astype(float) @ V)
    shortened = tuple(t for t in _gathered(body.shortened, V) if np.any(t.G != 0))
    return replace(
        body, MS_de=plain(body.MS_de.astype(float) @ V), beta=plain(body.beta.astype(float) @ V), lam=plain(lam),
        I_re=plain(I_re), I_ee=plain(I_ee), M_ee=turned(body.M_ee), K_ee=turned(body.K_ee), D_ee=turned(body.D_ee),
        H_ee=turned(body.H_ee), shortened=shortened, outline=outline, slender=slender, fibres=fibres,
    )  # fmt: skip
