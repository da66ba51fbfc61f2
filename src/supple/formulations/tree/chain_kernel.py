"""One chain of SCDD for all of a robot's identical legs: evaluated leg by leg, in SIMD lanes or in threads.

    kernel:   q v tau g c -> a0, Y, S, gap, J_platform      a = a0 + Y lam,  S = J_leg Y,  gap = -b - J_leg a0
    platform: q v g -> M, c

The legs' loop forces then follow from one small system; `c` holds the numbers in which legs differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supple.expr.elimination import factored
from supple.expr.function import Function, Indices, function, symbols
from supple.expr.vector import matmul, matvec, plus, scale
from supple.formulations.record import Unsupported
from supple.formulations.tree.identical_legs import Varying, leg_frames, leg_template
from supple.formulations.tree.matrices import matrices
from supple.robot.mechanism import Frame, Mechanism


@dataclass(frozen=True)
class ChainKernel:
    """The Functions of a leg and of the platform, and where their numbers stand in those of the robot."""

    kernel: Function
    platform: Function
    constants: npt.NDArray[np.float64]  # (legs, m)
    q: Indices  # (legs, platform's and a leg's positions)
    v: Indices
    drives: Indices  # (legs, k): places in tau
    loops: Indices  # (legs, e): places in lam
    own: int  # velocities of the platform


def chain_kernel(mechanism: Mechanism) -> ChainKernel:
    """The kernel of a platform on identical legs; raises Unsupported for other robots."""
    legs = leg_frames(mechanism)
    varying = Varying(len(legs))
    template = leg_template(mechanism, legs, varying)
    m = matrices(template)
    assert template.platform is not None
    own = template.frames[template.platform].v.stop
    n = template.nv - own
    driven = [k - own for k in template.indices("active")]
    tau = symbols("tau", len(driven))
    force = scale(-1, m.c[own:])
    force[driven] = plus(force[driven], tau)
    J = m.J[:, own:]
    try:
        M = factored(m.M[own:, own:])
    except ZeroDivisionError as reason:
        raise Unsupported("a leg with a motion that no mass resists") from reason
    a0, Y = M.solve(force), M.solve(J.T)
    outputs = {
        "a0": a0, "Y": Y, "S": matmul(J, Y), "gap": scale(-1, plus(m.b, matvec(J, a0))), "J_platform": m.J[:, :own]
    }  # fmt: skip
    inputs = {**m.inputs(tau=tau), "c": varying.symbols()}
    kernel = function("chain", inputs, outputs)
    end = template.frames[template.platform].q.stop
    parts = {"M": m.M[:own, :own], "c": m.c[:own]}
    platform = function("platform", {"q": m.s.q[:end], "v": m.s.v[:own], "g": m.s.g}, parts)
    assert n == len(a0)
    return _placed(mechanism, template, legs, kernel, platform, varying.constants())


def _placed(
    mechanism: Mechanism, template: Mechanism, legs: list[list[int]], kernel: Function, platform: Function,
    constants: npt.NDArray[np.float64],
) -> ChainKernel:  # fmt: skip
    shared = [mechanism.frames[i] for i in range(len(mechanism.frames)) if all(i not in leg for leg in legs)]
    active = mechanism.indices("active")
    q, v, drives, loops = [], [], [], []
    rows = np.cumsum([0, *(len(c.forbidden) for c in mechanism.closures)])
    for leg in legs:
        frames = [*shared, *(mechanism.frames[i] for i in leg)]
        q.append([k for f in frames for k in _range(f, "q", "e")])
        places = [k for f in frames for k in _range(f, "v", "ev")]
        v.append(places)
        drives.append([active.index(k) for k in places if k in active])
        ends = [n for n, c in enumerate(mechanism.closures) if c.first.frame in leg or c.second.frame in leg]
        loops.append([k for n in ends for k in range(rows[n], rows[n + 1])])
    index = np.intp
    own = template.nv - sum(len(_range(mechanism.frames[i], "v", "ev")) for i in legs[0])
    return ChainKernel(
        kernel, platform, constants, np.array(q, dtype=index), np.array(v, dtype=index), np.array(drives, dtype=index),
        np.array(loops, dtype=index), own,
    )  # fmt: skip


def _range(frame: Frame, *parts: str) -> list[int]:
    return [k for part in parts for k in range(getattr(frame, part).start, getattr(frame, part).stop)]
