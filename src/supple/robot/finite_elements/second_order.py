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

import numpy as np
from scipy.linalg import eigh

from supple.robot.bodies.record import Array, Body, Shortened, Shortening, eye, zeros
from supple.robot.bodies.reduction import Structure, response
from supple.robot.finite_elements.model import FeModel, Site, cleaned

_HARD = 100.0  # m/s^2, ten times gravity: what is judged is felt at such accelerations
_CARRIED = 10.0  # times its own inertia then: forces at the attachments of a body on a joint, which carries others
_SHARED = 1 / 3  # of the same: at each attachment of a floating body, which hangs on three of them or more
_FELT, _EVERY = 1e-2, 1e-6  # change of a stiffness of the body
_DUST = 0.05  # of what is felt: single entries


class SecondOrder:
    """The second order of a body's shapes V, at its markers and over its mass.

    Matrices that change no stiffness enough to be felt at hard accelerations are left out, unless `every` one is wanted."""

    def __init__(self, model: FeModel, body: Body, V: Array, root: str | None, every: bool = False) -> None:
        s = self.solver = model if model.stretching is None else model.stretching()
        held = None if root is None else s.site(root)
        self.response = response(Structure(s.M, s.stiffness, s.rigid, s.sites, held, np.zeros((0, len(s.rigid)))))
        self.V, self.K = V, body.K_ee.astype(float)
        self.felt = _EVERY if every else _FELT
        self.force = _HARD * float(body.mass) * (_SHARED if root is None else _CARRIED)
        self.spin = _HARD / _radius(body)

    def at(self, sites: Sequence[Site]) -> list[tuple[Shortening, ...]]:
        """Shortening of places on the body."""
        load = np.hstack([self._own(s).rows[:3].T for s in sites])
        G = self._stiffness(load, np.zeros((self.solver.mass.shape[0], load.shape[1])))
        axes, made = eye(), []
        for three in G.reshape(len(sites), 3, *G.shape[1:]):
            felt = [self._felt(g, self.force) for g in three]
            made.append(tuple(Shortening(axes[:, k], g) for k, g in enumerate(felt) if g is not None))
        return made

    def over_mass(self) -> tuple[Shortened, ...]:
        """Second order over the mass: of the first moments, and of the moments r_i u_j, symmetric and not."""
        s, axes, n = self.solver, eye(), self.V.shape[1]
        R = np.asarray(s.T @ s.rigid)
        radial = -sum(spin @ R[:, 3 + c] for c, spin in enumerate(s.spin)) / 2
        fields, parts = [R[:, j] for j in range(3)], [(axes[:, j], zeros(3, 3), _HARD) for j in range(3)]
        for i in range(3):
            for j in range(i, 3):
                # e_i x (e_j x r) is r_i e_j, less r where i = j
                there, back = (s.spin[a] @ R[:, 3 + b] + (radial if i == j else 0) for a, b in ((i, j), (j, i)))
                dyads = np.outer(axes[:, i], axes[:, j]), np.outer(axes[:, j], axes[:, i])
                if i == j:
                    fields, parts = [*fields, there], [*parts, (zeros(3), dyads[0], self.spin)]
                    continue
                for sign in (1, -1):
                    fields.append((there + sign * back) / 2)
                    parts.append((zeros(3), dyads[0] + sign * dyads[1], self.spin))
        force = s.mass @ np.column_stack(fields)
        G = self._stiffness(np.asarray(s.T.T @ force), force)
        felt = [(first, dyad, self._felt(g, level)) for g, (first, dyad, level) in zip(G, parts, strict=True)]
        return tuple(Shortened(first, dyad, zeros(n), g) for first, dyad, g in felt if g is not None)

    def _own(self, site: Site) -> Site:
        """A place on the model that is solved."""
        if site.name:
            return self.solver.site(site.name)
        assert self.solver.locate is not None
        found = self.solver.locate(site.position)
        assert found is not None
        return found

    def _stiffness(self, load: Array, force: Array) -> Array:
        """G of loads on z (m x L), which come from forces on u (n x L) or act at sites."""
        assert self.solver.stress is not None
        z, a = self.response(load)
        inertia = self.solver.mass @ (self.solver.T @ (self.solver.rigid @ a))
        return self.solver.stress(z, force - inertia, self.V)

    def _felt(self, G: Array, level: float) -> Array | None:
        """G of a unit load, if the stiffness that it changes is felt at that level of the load."""
        change = level * np.abs(eigh(G, self.K, eigvals_only=True)).max(initial=0.0)
        stiff = np.sqrt(np.diag(self.K))
        bound = np.outer(stiff, stiff) * self.felt / level
        return cleaned((G + G.T) / 2, bound, _DUST) if change > self.felt else None


def _radius(body: Body) -> float:
    """How far from its frame the body's mass is."""
    return float(np.sqrt(np.trace(body.I_rr.astype(float)) / 2 / float(body.mass)))
