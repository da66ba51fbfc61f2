"""The core of a robot for a page: poses, equilibria, modes and linear models, and where frames are, in C."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.core.core import Core
from supple.core.text import core_source
from supple.expr.derivative import directional
from supple.expr.function import Array, Function, function, symbols
from supple.expr.passes import optimise
from supple.expr.substitution import substituted
from supple.expr.vector import dot, matvec
from supple.formulations.tree.kinematics import Kinematics, state
from supple.formulations.tree.observed import displacement
from supple.formulations.tree.strain import strain
from supple.robot.mechanism import Mechanism

EXPORTS = ("supple_workspace", "supple_core", "drawn_frames", "drawn_moves")
_LIGHT = ("fold", "signs")


def core_module_source(core: Core) -> str:
    """The C text: `supple_core` as on the desk, and

    drawn_frames(q, p, rotation, position, strain): where frames are, and strain coordinates of their bodies;
    drawn_moves(q, direction, p, rotation, position, strain, kinetic, elastic): how a small motion moves them, and twice the
    energies in it, frame by frame."""
    return core_source(core.structure, drawn(core))


def drawn(core: Core) -> Sequence[Function]:
    """The Functions of what is drawn, inputs p included."""
    mechanism, p = core.parameters.mechanism, core.parameters.symbols
    made = [_frames(mechanism), _moves(mechanism, core)]
    return [_given(optimise(f, _LIGHT).function, p) for f in made]


def _given(f: Function, p: Array) -> Function:
    """f with p as its last input."""
    order = {k: f.inputs[k] for k in ("q", "direction") if k in f.inputs}
    return Function(f.name, {**order, "p": p}, f.outputs)


def _frames(mechanism: Mechanism) -> Function:
    kin = Kinematics(mechanism, state(mechanism))
    q = kin.state.q
    R, p = (np.array([world[k] for world in kin.world], dtype=object) for k in range(2))
    strained = [strain(f.body, q[f.e], q[f.e] * 0).x for f in mechanism.frames]
    return function("drawn_frames", {"q": q}, {"rotation": R, "position": p, "strain": np.concatenate(strained)})


def _moves(mechanism: Mechanism, core: Core) -> Function:
    frames, direction = _frames(mechanism), symbols("direction", mechanism.nv)
    q = frames.inputs["q"]
    along = {"q": displacement(mechanism, q, direction)}
    moved = directional(frames, along, direction, "moved").outputs
    energy = core.parameters.equations.energy
    still = {x: 0 for key in ("a", "g") if key in energy.inputs for x in energy.inputs[key].ravel()}
    given = dict(zip(energy.inputs["q"].ravel(), q.ravel(), strict=True))
    given |= dict(zip(energy.inputs["v"].ravel(), direction.ravel(), strict=True))
    kinetic = substituted(energy.outputs["kinetic"], {**still, **given})
    elastic = []
    for frame in mechanism.frames:
        rate = strain(frame.body, q[frame.e], direction[frame.ev]).rate
        elastic.append(dot(rate, matvec(frame.body.K_ee, rate)))
    outputs = {**{k: moved[k] for k in ("rotation", "position", "strain")}, "kinetic": kinetic, "elastic": elastic}
    return function("drawn_moves", {"q": q, "direction": direction}, outputs)
