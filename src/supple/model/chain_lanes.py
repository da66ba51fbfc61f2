"""Direct dynamics by SCDD with all legs of a robot evaluated at once, in the lanes of one compiled kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.backends.native import load
from supple.formulations.tree.chain_kernel import ChainKernel, chain_kernel
from supple.model.algebra import Array, one_thread
from supple.robot.mechanism import Mechanism


@dataclass(frozen=True)
class ChainLanes:
    """Accelerations of a platform on identical legs: legs in lanes, then one small system for the loop forces."""

    parts: ChainKernel
    leg: Any
    platform: Any
    size: tuple[int, int]  # coordinates, loop equations

    @one_thread
    def forward(self, q: Array, v: Array, tau: Array, g: Array) -> tuple[Array, Array]:
        """Accelerations of all coordinates, and loop forces."""
        p = self.parts
        leg = self.leg(q=q[p.q], v=v[p.v], tau=np.asarray(tau)[p.drives], g=g, c=p.constants)
        end = p.q.shape[1] - leg_positions(p)
        own = self.platform(q=q[p.q[0, :end]], v=v[p.v[0, : p.own]], g=g)
        J = leg["J_platform"].reshape(-1, p.own)
        from_platform = np.linalg.solve(own["M"], np.column_stack([J.T, -own["c"]]))
        S = J @ from_platform[:, :-1]
        count = p.loops.shape[1]
        for n, block in enumerate(leg["S"]):
            S[n * count : (n + 1) * count, n * count : (n + 1) * count] += block
        lam = np.linalg.solve(S, leg["gap"].ravel() - J @ from_platform[:, -1])
        a, reactions = np.zeros(self.size[0]), np.zeros(self.size[1])
        a[p.v[0, : p.own]] = from_platform[:, -1] + from_platform[:, :-1] @ lam
        a[p.v[:, p.own :]] = leg["a0"] + np.einsum("lij,lj->li", leg["Y"], lam.reshape(-1, count))
        reactions[p.loops] = lam.reshape(-1, count)
        return a, reactions


def leg_positions(parts: ChainKernel) -> int:
    """Position numbers of one leg."""
    made: int = parts.q.shape[1] - int(parts.platform.inputs["q"].size)
    return made


def chain_lanes(mechanism: Mechanism, lanes: int = 4) -> ChainLanes:
    """SCDD of a platform on identical legs, compiled for a number of lanes; raises Unsupported for other robots."""
    parts = chain_kernel(mechanism)
    size = (mechanism.nv, mechanism.equations)
    return ChainLanes(parts, load(parts.kernel, lanes=lanes), load(parts.platform), size)
