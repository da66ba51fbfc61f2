"""Where the frames of a robot are, and how small motions move them."""

from __future__ import annotations

import numpy as np

from supple.expr.derivative import directional
from supple.expr.function import Function, function, symbols
from supple.formulations.tree.kinematics import Kinematics, state
from supple.formulations.tree.observed import displacement
from supple.model.algebra import Array, one_thread
from supple.model.model import Model
from supple.model.observe import in_blocks


def _poses(model: Model) -> Function:
    kin = Kinematics(model.mechanism, state(model.mechanism))
    R, p = (np.array([world[k] for world in kin.world], dtype=object) for k in range(2))
    return function("frames", {"q": kin.state.q}, {"rotation": R, "position": p})


def _joints(model: Model) -> Function:
    """Places of joints and ends of loops."""
    mechanism = model.mechanism
    kin = Kinematics(mechanism, state(mechanism))
    turning = [j for j, f in enumerate(mechanism.frames) if f.motion != "fixed" and f.role != "slide"]
    places = [kin.world[j][1] for j in turning if j != mechanism.platform]
    places += [kin.pose(c.first)[1] for c in mechanism.closures]
    made = np.array(places, dtype=object).reshape(len(places), 3)
    return function("joints", {"q": kin.state.q}, {"position": made})


def _moved(model: Model, places: Function, name: str) -> Function:
    """How a displacement moves what a Function of q says."""
    direction = symbols("direction", model.nv)
    along = {"q": displacement(model.mechanism, places.inputs["q"], direction)}
    return directional(places, along, direction, name)


@one_thread
def joint_places(model: Model, q: Array, shapes: Array) -> tuple[Array, Array]:
    """Where joints and ends of loops are at a posture (J x 3), and how velocities (n, nv) move them (n, J, 3)."""
    found = model.own("joints", lambda: _joints(model))
    moves = model.own("joint_moves", lambda: _moved(model, _joints(model), "joint_moves"))
    many = in_blocks(moves, q=np.broadcast_to(q, (len(shapes), len(q))), direction=shapes)["position"]
    return found(q=q)["position"], many


@one_thread
def frame_poses(model: Model, q: Array) -> tuple[Array, Array]:
    """Rotations (..., F, 3, 3) and positions (..., F, 3) of all frames in the base, at postures q (..., nq)."""
    found = in_blocks(model.own("frames", lambda: _poses(model)), q=q)
    return found["rotation"], found["position"]


@one_thread
def frame_moves(model: Model, q: Array, shapes: Array) -> tuple[Array, Array]:
    """Rates of the same (n, F, 3, 3) and (n, F, 3) along generalised velocities (n, nv), at one posture."""
    moves = model.own("frame_moves", lambda: _moved(model, _poses(model), "frame_moves"))
    found = in_blocks(moves, q=np.broadcast_to(q, (len(shapes), len(q))), direction=shapes)
    return found["rotation"], found["position"]
