"""Forces inside a robot along a motion: of its loops, of its joints, and the stresses of its beams."""

from __future__ import annotations

import numpy as np

from supple.backends.interpreter import interpret
from supple.errors import SuppleError
from supple.formulations import registry
from supple.formulations.tree.kinematics import Kinematics, state
from supple.formulations.tree.recursion import joint_wrenches
from supple.model.algebra import Array, null_space, one_thread
from supple.model.model import Model
from supple.model.stresses import section_forces, von_mises
from supple.robot.mechanism import Frame

_BLOCK = 512


def reactions(model: Model, q: Array, v: Array, a: Array, tau: Array, w: Array | None) -> Array:
    """Reactions lam (samples, equations) of the loops: J^T lam = f - tau over all coordinates, Coulomb friction included.

    Not numbers where the motion is none. Refused where loops hold each other without bending, so that lam is not unique."""
    _check(model, q)
    loads = {} if w is None else {"w": w}
    made = np.full((len(q), model.mechanism.equations), np.nan)
    for start in range(0, len(q), _BLOCK):
        part = slice(start, start + _BLOCK)
        out = model.call("forces", q=q[part], v=v[part], a=a[part], **{k: x[part] for k, x in loads.items()})
        f = out["f"] + out["coulomb"]
        f[:, model.active] -= tau[part]
        J = np.stack([model.call("closure_motion", q=q[part], v=d)["velocity"] for d in np.eye(model.nv)], axis=-1)
        known = np.isfinite(J).all(axis=(1, 2)) & np.isfinite(f).all(axis=1)
        made[part][known] = np.einsum("bij,bi->bj", np.linalg.pinv(J[known]), f[known])
    return made


def _check(model: Model, q: Array) -> None:
    if registry.formulation(model.equations.formulation).linear_places:
        raise SuppleError(f"forces inside the robot are not told by the formulation {model.equations.formulation}")
    if not model.mechanism.closures:
        return
    known = np.flatnonzero(np.isfinite(q).all(axis=1))
    at = q[known[len(known) // 2]] if len(known) else q[0]
    _, rank, _ = null_space(model.jacobian(at))
    if rank < model.mechanism.equations:
        raise SuppleError(
            f"{model.mechanism.name}: its loops hold each other and nothing in them bends, so that forces of loops and "
            "joints are not unique; give joints a stiffness, or bodies that bend"
        )


@one_thread
def loop_forces(model: Model, q: Array, v: Array, a: Array, tau: Array, w: Array | None) -> Array:
    """Wrenches (samples, closures, 6) that joints which close loops put on their second body, in the axes of the first."""
    lam = reactions(model, q, v, a, tau, w)
    made = np.zeros((len(q), len(model.mechanism.closures), 6))
    at = 0
    for k, closure in enumerate(model.mechanism.closures):
        made[:, k, list(closure.forbidden)] = lam[:, at : at + len(closure.forbidden)]
        at += len(closure.forbidden)
    return made


def jointed(model: Model) -> list[tuple[int, Frame]]:
    """The links that hang on others by joints of the tree."""
    return [(k, f) for k, f in enumerate(model.mechanism.frames) if f.role == "link"]


@one_thread
def joint_forces(model: Model, q: Array, v: Array, a: Array, tau: Array, w: Array | None) -> Array:
    """Wrenches (samples, links, 6) that every link of the tree takes from the one it hangs on, at its own origin, in its own
    axes; motors and friction included."""
    lam = reactions(model, q, v, a, tau, w)
    mechanism = model.mechanism
    f = interpret(joint_wrenches(Kinematics(mechanism, state(mechanism)), [k for k, _ in jointed(model)]))
    load = np.zeros((len(q), len(mechanism.points), 6)) if w is None else w
    parts = []
    for start in range(0, len(q), _BLOCK):
        part = slice(start, start + _BLOCK)
        given = {"q": q[part], "v": v[part], "a": a[part], "lam": lam[part], "w": load[part], "g": model.gravity}
        parts.append(f(**given)["wrench"])
    return np.concatenate(parts)


def stressed(model: Model) -> list[Frame]:
    """The beams whose sections are known."""
    return [f for f in model.mechanism.frames if f.body.fibres is not None and f.body.fibres.form[0]]


def beam_stresses(model: Model, q: Array) -> Array:
    """Von Mises' stress (samples, beams; Pa) of the worst of the sections at the ends of the elements (`stresses`)."""
    made = np.zeros((len(q), len(stressed(model))))
    for k, frame in enumerate(stressed(model)):
        assert frame.body.fibres is not None
        made[:, k] = von_mises(frame.body.fibres, section_forces(frame, q[:, frame.e])).max(axis=-1)
    return made
