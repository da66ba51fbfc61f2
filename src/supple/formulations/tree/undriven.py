"""Which passive joints move by themselves: neither actuators nor loops say how."""

from __future__ import annotations

import numpy as np

from supple.expr.substitution import estimates
from supple.formulations.tree.independent import TOLERANCE, split
from supple.formulations.tree.kinematics import Kinematics, state, typical
from supple.formulations.tree.loops import loop_jacobian
from supple.robot.mechanism import Mechanism


def undriven(mechanism: Mechanism) -> list[str]:
    """Passive coordinates whose accelerations belong to what a forward model answers.

    Those outside all loops (a bob on a tool, an elbow without a motor); all of them where loops have more freedoms than
    actuators. A rod that spins between two ball joints is none of these: nothing else depends on it."""
    passive = [c.name for c in mechanism.coordinates if c.kind == "passive"]
    if not mechanism.indices("active"):
        return passive
    inside, outside = _in_loops(mechanism), outside_loops(mechanism)
    rigid = [c for c in mechanism.coordinates if c.kind != "elastic" and c.name not in outside]
    spare = len(rigid) - mechanism.equations - len(mechanism.indices("active"))
    return passive if mechanism.closures and spare > 0 and _loose_loops(mechanism, inside) else outside


def outside_loops(mechanism: Mechanism) -> list[str]:
    """Passive coordinates that no loop passes."""
    inside = _in_loops(mechanism)
    return [c.name for c in mechanism.coordinates if c.kind == "passive" and c.name not in inside]


def _in_loops(mechanism: Mechanism) -> set[str]:
    """Coordinates on the way from one end of a closure to the other."""
    found: set[str] = set()
    for closure in mechanism.closures:
        ways = [_ancestors(mechanism, anchor.frame) for anchor in (closure.first, closure.second)]
        for j in ways[0] ^ ways[1]:
            found |= {c.name for c in mechanism.coordinates[mechanism.frames[j].v]}
    if mechanism.platform is not None:
        for j in mechanism.platform_chain():
            found |= {c.name for c in mechanism.coordinates[mechanism.frames[j].v]}
    return found


def _ancestors(mechanism: Mechanism, j: int) -> set[int]:
    found = set()
    while j >= 0:
        found.add(j)
        j = mechanism.frames[j].parent
    return found


def _loose_loops(mechanism: Mechanism, inside: set[str]) -> bool:
    """Whether joints in loops can move while the actuators stand, ball joints that only spin left out."""
    kin = Kinematics(mechanism, state(mechanism))
    J = estimates(loop_jacobian(kin), typical(mechanism, kin.state))
    kinds = [c.kind for c in mechanism.coordinates]
    free = [i for i in split(J, kinds)[0] if kinds[i] == "passive" and mechanism.coordinates[i].name in inside]
    if not free:
        return False
    others = [i for i, c in enumerate(mechanism.coordinates) if c.name in inside and c.kind in ("passive", "platform")]
    _, s, wt = np.linalg.svd(J[:, others])
    idle = wt[int(np.sum(s > TOLERANCE * max(1.0, s.max(initial=0.0)))) :]
    balls = {k for f in mechanism.frames if f.motion == "spherical" for k in range(f.v.start, f.v.stop)}
    plain = [n for n, i in enumerate(others) if i not in balls]
    return bool(np.abs(idle[:, plain]).max(initial=0.0) > 1e-6)
