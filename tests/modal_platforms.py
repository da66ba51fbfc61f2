"""Robots whose platform is given an elastic body of point masses on arbitrary shapes, for tests of platforms that bend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.formulations.newton_euler import newton_euler
from supple.model.model import Model
from supple.robot.bodies.record import Body, Marker, from_moments
from supple.robot.mechanism import Anchor, Coordinate, Frame, Mechanism


def modal_body(rng: np.random.Generator, modes: int, masses: int = 40, size: float = 0.4) -> Body:
    """Point masses that move along random shapes: every shape integral of the record is there, none vanishes."""
    m = rng.uniform(0.5, 1.5, masses)
    r = rng.uniform(-size, size, (masses, 3))
    phi = rng.uniform(-1, 1, (modes, masses, 3))
    made = from_moments(
        m.sum(), m @ r, np.einsum("p,pa,pb", m, r, r), np.einsum("p,kpa->ak", m, phi),
        np.einsum("p,pa,kpb->kab", m, r, phi), np.einsum("p,ipa,kpb->ikab", m, phi, phi),
    )  # fmt: skip
    K = np.diag(rng.uniform(1e4, 1e6, modes))
    D = np.diag(rng.uniform(1, 100, modes))
    names = tuple(f"eta{k + 1}" for k in range(modes))
    return Body(**made, K_ee=K, D_ee=D, H_ee=np.zeros((modes, modes)), coordinates=names, units=("m",) * modes)


def with_elastic_platform(mechanism: Mechanism, body: Body, rng: np.random.Generator) -> Model:
    """The robot with `body` as its platform; its attachments and points move and turn along random shapes."""
    n, p = len(body.coordinates), mechanism.platform
    frames: list[Frame] = []
    coordinates: list[Coordinate] = []
    nq = 0
    for j, f in enumerate(mechanism.frames):
        own = body if j == p else f.body
        first = len(coordinates)
        coordinates += mechanism.coordinates[f.v]
        size_q, size_e = f.q.stop - f.q.start, len(own.coordinates)
        old = mechanism.coordinates[f.ev]
        coordinates += [Coordinate(f"platform.{x}", "elastic", "m", j) for x in own.coordinates] if j == p else old
        size_v = f.v.stop - f.v.start
        frames.append(
            replace(f, body=own, q=slice(nq, nq + size_q), e=slice(nq + size_q, nq + size_q + size_e),
                    v=slice(first, first + size_v), ev=slice(first + size_v, len(coordinates)))
        )  # fmt: skip
        nq += size_q + size_e

    def shaped(anchor: Anchor) -> Anchor:
        if anchor.frame != p:
            return anchor
        Phi = rng.uniform(-1, 1, (2, 3, n))
        return Anchor(p, Marker(anchor.marker.position, anchor.marker.rotation, Phi[0], Phi[1]))

    return Model(
        newton_euler(
            replace(
                mechanism, frames=tuple(frames), coordinates=tuple(coordinates), nq=nq,
                closures=tuple(replace(c, first=shaped(c.first), second=shaped(c.second)) for c in mechanism.closures),
                points={k: shaped(a) for k, a in mechanism.points.items()},
            )
        )
    )  # fmt: skip
