"""Reduction of a structure to few coordinates: bases of shapes, and what they lose.

A `Structure` is free: its stiffness has six motions without strain. A body that hangs on a joint gets shapes that rest at
its root, where the joint holds it; a floating body (a platform, whose frame has six coordinates of its own) gets shapes
without mean motion. Both are the same space of motions up to the frame that goes with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, qr

from supple.errors import SuppleError
from supple.robot.bodies.record import Array, Reduced
from supple.robot.fields import AXES
from supple.robot.finite_elements.model import Site
from supple.robot.finite_elements.modes import canonical, elastic_modes, factorised, lowest
from supple.robot.sparse import AnyMatrix

MOST_MODES = 500
_BATCH = 24


@dataclass(frozen=True)
class Structure:
    """Matrices of a free body, its rigid motions, the sites that are attached, and the one that is its root."""

    M: AnyMatrix
    K: AnyMatrix
    rigid: Array  # m x 6
    sites: tuple[Site, ...]
    root: Site | None
    seen: Array  # rows whose motion orders shapes of equal frequency
    modes: Callable[[int], tuple[Array, Array]] | None = None  # elastic modes of the free body, if somebody keeps them

    def free_modes(self, count: int) -> tuple[Array, Array]:
        return elastic_modes(self.K, self.M, self.rigid, count) if self.modes is None else self.modes(count)


@dataclass(frozen=True)
class Selection:
    """Which modes are kept: a count, a highest frequency (Hz) or a part of the effective mass."""

    modes: int | None = None
    up_to: float | None = None
    effective_mass: float | None = None


@dataclass(frozen=True)
class Basis:
    """Shapes z = V q with names and units of q, and what they lose."""

    V: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    reduced: Reduced


def reduced_basis(structure: Structure, method: str, selection: Selection) -> Basis:
    """The Basis of a method: free_free, clamped_free, craig_bampton or static."""
    return REDUCTIONS[method](structure, selection)


# Methods --------------------------------------------------------------------------------------------------------------


def free_free(s: Structure, selection: Selection) -> Basis:
    """Modes of the free body; seen from its root if it has one."""
    if selection.effective_mass is not None:
        raise SuppleError("free_free: modes of a free body carry no effective mass; select by modes or up_to")
    values, V = _selected(s.free_modes, selection, s)
    omitted, values, V = values[-1], values[:-1], V[:, :-1]
    V = _at_root(s, canonical(values, V, s.seen))
    return _basis(s, "free_free", V, _mode_names(len(values)), omitted)


def clamped_free(s: Structure, selection: Selection) -> Basis:
    """Modes of the body held at its root."""
    if s.root is None:
        raise SuppleError("clamped_free: say which attachment is held, by root:")
    held = _Explicit(s, [s.root])
    values, V = _selected(lambda n: _held_modes(held, n), selection, s)
    omitted, values, V = values[-1], values[:-1], V[:, :-1]
    return _basis(s, "clamped_free", canonical(values, V, s.seen), _mode_names(len(values)), omitted)


def craig_bampton(s: Structure, selection: Selection) -> Basis:
    """Static shapes of unit motions of every attachment, and modes with all of them held."""
    ends = [x for x in s.sites if s.root is None or x.name != s.root.name]
    if not ends:
        raise SuppleError("craig_bampton: the body has no attachments besides its root; name them under attachments:")
    held = _Explicit(s, ([s.root] if s.root is not None else []) + ends)
    values, V = _selected(lambda n: _held_modes(held, n), selection, s)
    omitted, values, V = values[-1], values[:-1], canonical(values[:-1], V[:, :-1], s.seen)
    static = held.constraint_shapes()
    if s.root is None:
        return _floating(s, "craig_bampton", np.hstack([static, V]), omitted)
    own = [k for k, (name, _) in enumerate(held.motions) if name != s.root.name]
    names = [f"{held.motions[k][0]}.{AXES[held.motions[k][1]]}" for k in own]
    units = ["m" if held.motions[k][1] < 3 else "rad" for k in own]
    labels = _mode_names(len(values))
    return _basis(
        s, "craig_bampton", np.hstack([static[:, own], V]), (*names, *labels), omitted, (*units, *("m",) * len(labels))
    )


def static(s: Structure, selection: Selection) -> Basis:
    """Modes (of the free body, or held at its root) and the shapes under unit loads at the attachments."""
    ends = [x for x in s.sites if s.root is None or x.name != s.root.name]
    if not ends:
        raise SuppleError("static: the body has no attachments besides its root; name them under attachments:")
    if s.root is None:
        if selection.effective_mass is not None:
            raise SuppleError("static: modes of a free body carry no effective mass; select by modes or up_to")
        values, V = _selected(s.free_modes, selection, s)
        loaded = _relieved(s, ends)
    else:
        held = _Explicit(s, [s.root])
        values, V = _selected(lambda n: _held_modes(held, n), selection, s)
        loaded = held.loaded(ends)
    omitted, V = values[-1], V[:, :-1]
    rest = loaded - V @ (V.T @ (s.M @ loaded))
    both = np.hstack([V, _independent(rest, s.M)])
    m, k = both.T @ (s.M @ both), both.T @ (s.K @ both)
    squares, turn = eigh((k + k.T) / 2, (m + m.T) / 2)
    return _basis(s, "static", canonical(squares, both @ turn, s.seen), _mode_names(len(squares)), omitted)


REDUCTIONS: dict[str, Callable[[Structure, Selection], Basis]] = {
    "free_free": free_free,
    "clamped_free": clamped_free,
    "craig_bampton": craig_bampton,
    "static": static,
}


def _mode_names(count: int) -> tuple[str, ...]:
    return tuple(f"mode{k + 1}" for k in range(count))


def _floating(s: Structure, method: str, W: Array, omitted: float) -> Basis:
    """The elastic modes within the span of W, which holds the rigid motions too."""
    m, k = W.T @ (s.M @ W), W.T @ (s.K @ W)
    inside = np.linalg.lstsq(W, s.rigid, rcond=None)[0]
    values, turn = elastic_modes((k + k.T) / 2, (m + m.T) / 2, inside, W.shape[1] - s.rigid.shape[1])
    return _basis(s, method, canonical(values, W @ turn, s.seen), _mode_names(len(values)), omitted)


def _at_root(s: Structure, V: Array) -> Array:
    """Shapes seen from a frame that moves with the root."""
    if s.root is None:
        return V
    made: Array = V - s.rigid @ np.linalg.lstsq(s.root.rows @ s.rigid, s.root.rows @ V, rcond=None)[0]
    return made


# Choosing modes -------------------------------------------------------------------------------------------------------


def _selected(make: Callable[[int], tuple[Array, Array]], wanted: Selection, s: Structure) -> tuple[Array, Array]:
    """The modes asked for and one more, whose value (infinite if there is none) is the first omitted."""
    count = wanted.modes + 1 if wanted.modes is not None else _BATCH
    while True:
        values, V = make(min(count, MOST_MODES + 1))
        all_of_them = len(values) < min(count, MOST_MODES + 1)
        keep: int | None = None
        if wanted.modes is not None:
            keep = min(wanted.modes, len(values))
        elif wanted.up_to is not None:
            above = values > (2 * np.pi * wanted.up_to) ** 2
            keep = int(np.argmax(above)) if above.any() else len(values) if all_of_them else None
        elif wanted.effective_mass is not None:
            parts = _effective(s, V).cumsum(axis=1)
            enough = (parts >= wanted.effective_mass).all(axis=0)
            if all_of_them and not enough.any():
                most = 100 * parts[:, -1].min() if len(values) else 0.0
                raise SuppleError(
                    f"effective_mass: all modes together carry {most:.3g} %; the rest is where the body is held"
                )
            keep = int(np.argmax(enough)) + 1 if enough.any() else None
        if keep is not None:
            more = np.inf if keep >= len(values) else values[keep]
            vector = np.zeros((V.shape[0], 1))
            return np.append(values[:keep], more), np.hstack([V[:, :keep], vector])
        if count > MOST_MODES:
            raise SuppleError(f"the selection needs more than {MOST_MODES} modes; ask for less")
        count *= 2


def _effective(s: Structure, V: Array) -> Array:
    """Part of the body's mass that every mass-normalised shape carries along x, y and z (3 x N)."""
    MT = s.M @ s.rigid[:, :3]
    made: Array = (MT.T @ V) ** 2 / np.diag(s.rigid[:, :3].T @ MT)[:, None]
    return made


# Held structures ------------------------------------------------------------------------------------------------------


class _Explicit:
    """A structure in coordinates (motions of some sites, the rest): z = G [v; y]."""

    def __init__(self, s: Structure, sites: Sequence[Site]) -> None:
        self.s = s
        self.motions, D = _independent_rows(sites)
        columns = np.flatnonzero(np.abs(D).max(axis=0))
        _, R, order = qr(D[:, columns], mode="economic", pivoting=True)
        if np.abs(np.diag(R)).min() < 1e-10 * np.abs(R[0, 0]):
            raise SuppleError("two attachments move as one; name one of them only")
        chosen = columns[np.sort(order[: len(D)])]
        m = s.K.shape[0]
        rest = np.setdiff1d(np.arange(m), chosen)
        inverse = np.linalg.inv(D[:, chosen])
        follow = -inverse @ D[:, rest]
        place = sparse.csr_matrix((np.ones(len(rest)), (rest, np.arange(len(rest)))), (m, len(rest)))
        slaved = sparse.csr_matrix((np.ones(len(chosen)), (chosen, np.arange(len(chosen)))), (m, len(chosen)))
        self.G_v = sparse.csr_matrix(slaved @ inverse)
        self.G_y = sparse.csr_matrix(place + slaved @ sparse.csr_matrix(_trimmed(follow)))
        K, M = sparse.csr_matrix(s.K), sparse.csr_matrix(s.M)
        self.K = sparse.csc_matrix(self.G_y.T @ K @ self.G_y)
        self.M = sparse.csc_matrix(self.G_y.T @ M @ self.G_y)
        self.K_yv = np.asarray((self.G_y.T @ K @ self.G_v).todense())

    def solved(self, load: Array) -> Array:
        try:
            made: Array = factorised(self.K).solve(np.ascontiguousarray(load))
            return made
        except RuntimeError as error:
            raise SuppleError("the body still moves freely when its attachments are held; check its model") from error

    def constraint_shapes(self) -> Array:
        """z of a unit motion of every site, the others at rest (Craig & Bampton 1968)."""
        made: Array = np.asarray(self.G_v.todense()) - self.G_y @ self.solved(self.K_yv)
        return made

    def loaded(self, ends: Sequence[Site]) -> Array:
        """z under unit loads at the ends, the sites at rest."""
        _, D = _independent_rows(ends)
        return np.asarray(self.G_y @ self.solved(np.asarray(self.G_y.T @ D.T)))


def _trimmed(A: Array) -> Array:
    return np.where(np.abs(A) < 1e-14 * max(np.abs(A).max(initial=0.0), 1e-300), 0.0, A)


def _independent_rows(sites: Sequence[Site]) -> tuple[list[tuple[str, int]], Array]:
    """Motions of the sites that do not follow from earlier ones (a plate is stiff in its plane)."""
    labels: list[tuple[str, int]] = []
    rows: list[Array] = []
    seen = np.zeros((0, sites[0].rows.shape[1]))
    for site in sites:
        for axis in range(6):
            row = site.rows[axis]
            size = np.linalg.norm(row)
            left = row - seen.T @ (seen @ row)
            left = left - seen.T @ (seen @ left)
            if size > 0 and np.linalg.norm(left) > 1e-7 * size:
                labels.append((site.name, axis))
                rows.append(row)
                seen = np.vstack([seen, left / np.linalg.norm(left)])
    return labels, np.array(rows)


def _held_modes(held: _Explicit, count: int) -> tuple[Array, Array]:
    if count <= 0 or held.K.shape[0] == 0:
        return np.zeros(0), np.zeros((held.s.K.shape[0], 0))
    values, Y = lowest(held.K, held.M, count)
    if len(values) and values[0] <= 1e-9 * values[-1]:
        raise SuppleError("the body still moves freely when it is held; hold more of it, or check its model")
    return values, np.asarray(held.G_y @ Y)


def _relieved(s: Structure, ends: Sequence[Site]) -> Array:
    """Shapes of the free body under unit loads at its ends, balanced by its own inertia."""
    _, D = _independent_rows(ends)
    return _Floating(s)(D.T)[0]


class _Floating:
    """A free body under loads: what its own inertia does not balance bends it."""

    def __init__(self, s: Structure) -> None:
        self.rigid, self.MR = s.rigid, s.M @ s.rigid
        self.inverse = np.linalg.inv(s.rigid.T @ self.MR)
        # balanced loads leave supports idle, so six of them hold the body and its matrix stays sparse
        _, _, order = qr((s.rigid / np.linalg.norm(s.rigid, axis=0)).T, mode="economic", pivoting=True)
        self.rest = np.setdiff1d(np.arange(len(s.rigid)), order[:6])
        self.factors = factorised(sparse.csr_matrix(s.K)[self.rest][:, self.rest])

    def __call__(self, load: Array) -> tuple[Array, Array]:
        """z without mean motion, and the accelerations of the body (6 x L)."""
        a = self.inverse @ (self.rigid.T @ load)
        z = np.zeros_like(load)
        z[self.rest] = self.factors.solve(np.ascontiguousarray((load - self.MR @ a)[self.rest]))
        return z - self.rigid @ (self.inverse @ (self.MR.T @ z)), a


class _Rooted:
    """A body held at its root under loads."""

    def __init__(self, s: Structure, root: Site) -> None:
        self.held = _Explicit(s, [root])
        self.factors = factorised(self.held.K)

    def __call__(self, load: Array) -> tuple[Array, Array]:
        G = self.held.G_y
        return np.asarray(G @ self.factors.solve(np.ascontiguousarray(G.T @ load))), np.zeros((6, load.shape[1]))


def response(s: Structure) -> Callable[[Array], tuple[Array, Array]]:
    """Loads (m x L) -> displacements z (m x L) and accelerations (6 x L, none if the root holds the body)."""
    return _Floating(s) if s.root is None else _Rooted(s, s.root)


def _independent(X: Array, M: AnyMatrix) -> Array:
    """M-orthonormal columns that span X, rounding left out."""
    gram = X.T @ (M @ X)
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    keep = values > 1e-8
    made: Array = (X / scale) @ (vectors[:, keep] / np.sqrt(values[keep]))
    return made


# What is lost ---------------------------------------------------------------------------------------------------------


def _basis(s: Structure, method: str, V: Array, names: Sequence[str], omitted: float, units: Sequence[str] = ()) -> Basis:
    m, k = V.T @ (s.M @ V), V.T @ (s.K @ V)
    squares, turn = eigh((k + k.T) / 2, (m + m.T) / 2) if len(m) else (np.zeros(0), m)
    effective = None
    if s.root is not None:
        x, y, z = (float(p) for p in _effective(s, V @ turn).sum(axis=1))
        effective = (x, y, z)
    first = float(np.sqrt(omitted) / (2 * np.pi)) if np.isfinite(omitted) else None
    reduced = Reduced(
        method, tuple(float(f) for f in np.sqrt(np.abs(squares)) / (2 * np.pi)), first, effective,
        _static_residual(s, V), int(s.K.shape[0]),
    )  # fmt: skip
    return Basis(V, tuple(names), tuple(units) or ("m",) * len(names), reduced)


def _static_residual(s: Structure, V: Array) -> float | None:
    """Largest part of the compliance of an attachment that the shapes lack; None without attachments."""
    ends = [x for x in s.sites if s.root is None or x.name != s.root.name]
    if not ends or not V.shape[1]:
        return None if not ends else 1.0
    _, D = _independent_rows(ends)
    full_shapes = _relieved(s, ends) if s.root is None else _Explicit(s, [s.root]).loaded(ends)
    if s.root is None:
        MR = s.M @ s.rigid
        D = D - (D @ s.rigid) @ np.linalg.solve(s.rigid.T @ MR, MR.T)
    full = np.einsum("kz,zk->k", D, full_shapes)
    shown = D @ V
    kept = np.einsum("ka,ak->k", shown, np.linalg.solve(V.T @ (s.K @ V), shown.T))
    there = full > 1e-9 * full.max()
    return float(np.max(1 - kept[there] / full[there]).clip(0))
