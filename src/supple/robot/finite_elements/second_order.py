"""Displacements of second order of a reduced finite-element body, from the stress stiffness of loads.

A body with shapes V has strain energy q.K q / 2 to the third order in q, if every point of it moves by V q + u2 with

    int sigma(w) : (e(u2) + grad(V q)^T grad(V q) / 2) dV = 0        for all displacements w

Then f.u2 = -q.G q / 2 for loads f, where w is what they displace and G their stress stiffness. A unit force at a marker
along an axis gives `Shortening` of the marker, the body forces rho e_j and rho r_i e_j give int u2 dm and int r_i u2_j dm.

A body on a joint is held at its root. A floating one is balanced by its own inertia: its frame moves so that u2, like its
shapes, has no mean motion, and of the body forces only the symmetric part of r_i e_j is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from supple.robot.bodies.record import Array, Shortened, Shortening, eye, zeros
from supple.robot.bodies.reduction import Structure, response
from supple.robot.finite_elements.model import FeModel, Site, cleaned


class SecondOrder:
    """The second order of a body's shapes V, at its markers and over its mass."""

    def __init__(self, model: FeModel, V: Array, root: str | None) -> None:
        self.solver = model if model.stretching is None else model.stretching()
        held = None if root is None else self.solver.site(root)
        s = self.solver
        self.structure = Structure(s.M, s.stiffness, s.rigid, s.sites, held, np.zeros((0, len(s.rigid))))
        self.response = response(self.structure)
        self.V = V

    def _stiffness(self, load: Array, force: Array) -> Array:
        """G of loads on z (m x L), which come from forces on u (n x L) or act at sites."""
        assert self.solver.stress is not None
        z, a = self.response(load)
        moved = self.solver.mass @ (self.solver.T @ (self.solver.rigid @ a))
        return self.solver.stress(z, force - moved, self.V)

    def at(self, sites: Sequence[Site]) -> list[tuple[Shortening, ...]]:
        """Shortening of places of the solver's model."""
        load = np.hstack([s.rows[:3].T for s in sites])
        G = self._stiffness(load, np.zeros((self.solver.mass.shape[0], load.shape[1])))
        axes = [eye()[:, k] for k in range(3)]
        made = []
        for three in G.reshape(len(sites), 3, *G.shape[1:]):
            made.append(tuple(Shortening(a, plain(g)) for a, g in zip(axes, three, strict=True)))
        return made

    def mass(self) -> tuple[Shortened, ...]:
        """Second order over the mass: of the first moments, and of the nine moments r_i u_j."""
        s = self.solver
        R = np.asarray(s.T @ s.rigid)
        radial = -sum(spin @ R[:, 3 + c] for c, spin in enumerate(s.spin)) / 2
        # e_i x (e_j x r) is r_i e_j, less r where i = j
        moments = [s.spin[i] @ R[:, 3 + j] + (radial if i == j else 0) for i, j in product(range(3), repeat=2)]
        force = s.mass @ np.column_stack([R[:, 0], R[:, 1], R[:, 2], *moments])
        G = self._stiffness(np.asarray(s.T.T @ force), force)
        n, axes = G.shape[1], np.eye(3, dtype=int).astype(object)
        made = [Shortened(axes[j], zeros(3, 3), zeros(n), plain(G[j])) for j in range(3)]
        for (i, j), g in zip(product(range(3), repeat=2), G[3:], strict=True):
            made.append(Shortened(zeros(3), np.outer(axes[i], axes[j]), zeros(n), plain(g)))
        return tuple(made)


def plain(G: Array) -> Array:
    return cleaned(G, np.abs(G).max(initial=0.0))
