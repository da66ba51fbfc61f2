"""`Model`: a robot's equations evaluated and solved with numbers.

The equations of the virtual tree are f = M a + c; the loops add J v = 0 and reactions J^T lam. By virtual power only the
motions with J v = 0 count (Briot & Khalil 2014, eqs. 41-44), which also serves overconstrained robots, whose reactions
are not unique but whose motion is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.backends.interpreter import Interpreted
from supple.backends.stepping.plant import Damped
from supple.backends.tape import Tape
from supple.errors import SuppleError
from supple.expr.function import Function
from supple.formulations.record import Equations, Underived
from supple.formulations.tree.chains import chains
from supple.model.algebra import Array, least_squares, null_space, one_thread
from supple.model.couplings import COUPLINGS, massless
from supple.model.memory import Memory
from supple.model.tree_state import TreeEquations
from supple.model.turning import turned
from supple.robot.bodies.record import bent, strain_gradient
from supple.robot.mechanism import Mechanism


@dataclass(frozen=True)
class Solution:
    """Accelerations of all coordinates, actuator forces, and reactions of the loops."""

    a: Array
    tau: Array
    reactions: Array


class Model:
    """A robot's dynamics. Positions q hold quaternions for spherical joints; velocities and accelerations do not."""

    def __init__(
        self, equations: Equations | Underived, memory: Memory | None = None, mechanism: Mechanism | None = None,
        beside: Sequence[Damped] = (),
    ) -> None:  # fmt: skip
        """`mechanism`, if it is not that of the equations, has damping `beside` them."""
        self._given = equations
        self.memory = memory or Memory()
        self.mechanism: Mechanism = mechanism or equations.mechanism
        self.beside = tuple(beside)
        self.gravity = np.array([float(x) for x in self.mechanism.gravity])
        self.viscous: Array | None = None  # further damping of the elastic coordinates, in all coordinates of v
        self.active = np.array(self.mechanism.indices("active"), dtype=int)
        self.ways: dict[tuple[int, ...], Any] = {}  # to other postures, by what is held; they know the model and go with it

    @property
    def nv(self) -> int:
        return self.mechanism.nv

    @property
    def names(self) -> list[str]:
        return self.mechanism.names()

    @cached_property
    def servos(self) -> dict[int, float]:
        """Stiffness of the servos that hold actuators, by their places in v; those that are rigid are not in it."""
        coordinates = self.mechanism.coordinates
        return {int(i): float(coordinates[i].servo) for i in self.active if coordinates[i].servo is not None}

    def index(self, name: str) -> int:
        return self.names.index(name)

    def body_stiffness(self, frame: int) -> Array:
        """The stiffness matrix of a frame's body on its elastic coordinates, unloaded."""
        made: Array = self.mechanism.frames[frame].body.K_ee.astype(float)
        return made

    # Functions, loaded when first used ------------------------------------------------------------------------------

    @property
    def formulation(self) -> str:
        return self._given.formulation

    @cached_property
    def equations(self) -> Equations:
        """The equations of motion; derived now if they were remembered only."""
        return self._given.derive() if isinstance(self._given, Underived) else self._given

    def function(self, name: str) -> Tape | Interpreted:
        """One Function of the equations, ready to be called."""
        return self.memory.tape(name, lambda: getattr(self.equations, name))

    def own(self, name: str, make: Callable[[], Function]) -> Tape:
        """A further Function of this robot, ready to be called; `name` says what it is."""
        return self.memory.tape(name, make)

    def call(self, name: str, **given: Any) -> dict[str, Array]:
        """A Function called with zeros for what is not given (gravity is the robot's own)."""
        f = self.function(name)
        inputs = {
            key: given.pop(key) if key in given else self.gravity if key == "g" else np.zeros(shape)
            for key, shape in f.inputs.items()
        }
        if given:
            raise TypeError(f"{name} has no inputs {sorted(given)}")
        found = f(**inputs)
        return self._damped(name, inputs, found) if self.beside or self.viscous is not None else found

    def damped(self, D: Array) -> Model:
        """The model with viscous damping D of its elastic coordinates in place of its structural damping."""
        made = copy(self)
        made.viscous = D
        return made

    def _damped(self, name: str, inputs: dict[str, Any], found: dict[str, Array]) -> dict[str, Array]:
        moved = {"forces": "v", "damping": "direction", "energy": "v"}.get(name)
        v = np.zeros(0) if moved is None else np.asarray(inputs[moved])
        lost = self.further_damping(np.asarray(inputs["q"]), v) if v.any() else None
        if lost is None:
            return found
        if name == "energy":
            return found | {"dissipation": found["dissipation"] + (lost * v).sum(axis=-1)}
        return found | {"f": found["f"] + lost}

    def further_damping(self, q: Array, v: Array) -> Array | None:
        """Forces of damping that is not in the equations at positions (..., nq) and rates (..., nv); None: there is none."""
        if self.viscous is None and not self.beside:
            return None
        made = np.zeros(v.shape) if self.viscous is None else v @ self.viscous
        elastic = np.array(self.mechanism.indices("elastic"), dtype=int)
        for part in self.beside:
            at, t = elastic[list(part.at)], part.stretched
            if t is None:
                made[..., at] += v[..., at] @ part.D.T
                continue
            slopes = np.einsum("...sk,ski->...si", q[..., t.q], t.G)
            behind = t.first[:, None] <= np.arange(len(at))
            force = (v[..., at] + (slopes * v[..., t.v]).sum(axis=-1) @ behind) @ part.D.T
            made[..., at] += force
            pulled = (force @ behind.T)[..., None] * slopes
            np.add.at(made.reshape(-1, self.nv).T, t.v, np.moveaxis(pulled.reshape(-1, *t.v.shape), 0, -1))
        return made

    # The virtual tree -------------------------------------------------------------------------------------------------

    def mass(self, q: Array) -> Array:
        """Mass matrix of the virtual tree and platform, motor inertia included."""
        M = self.call("inertia", q=q, direction=np.eye(self.nv))["f"]
        return 0.5 * (M + M.T)

    def forces(self, q: Array, v: Any = 0.0, a: Any = 0.0, friction: bool = True, **given: Any) -> Array:
        """f = M a + c of the virtual tree: inertia, gravity, elasticity, damping, friction, less the given loads."""
        zero = np.zeros(self.nv)
        out = self.call("forces", q=q, v=zero + v, a=zero + a, **given)
        return out["f"] + out["coulomb"] if friction else out["f"]

    def stiffness(self, q: Array, lam: Array | None = None, **given: Any) -> Array:
        """d f / d q along the generalised velocities, at rest, under reactions lam and loads."""
        if lam is not None:
            given["lam"] = lam
        return self.call("stiffness", q=q, direction=np.eye(self.nv), **given)["f"].T

    def damping(self, q: Array) -> Array:
        """d f / d v at rest; Coulomb friction left out."""
        return self.call("damping", q=q, direction=np.eye(self.nv))["f"].T

    def loss_stiffness(self, q: Array) -> Array:
        """Imaginary part of the stiffness: structural damping of bodies and joints."""
        H = np.zeros((self.nv, self.nv))
        if self.viscous is not None:
            return H
        for frame in self.mechanism.frames:
            T = strain_gradient(frame.body, q[frame.e])
            H[frame.ev, frame.ev] = T.T @ frame.body.H_ee.astype(float) @ T
        return H

    def strain_energies(self, q: Array, shapes: Array) -> Array:
        """Twice the elastic energy of small motions (columns) about q, frame by frame."""
        made = np.zeros((len(self.mechanism.frames), shapes.shape[1]))
        for row, frame in zip(made, self.mechanism.frames, strict=True):
            part = strain_gradient(frame.body, q[frame.e]) @ shapes[frame.ev]
            row += np.einsum("im,ij,jm->m", part, frame.body.K_ee.astype(float), part)
        return made

    # Loops ------------------------------------------------------------------------------------------------------------

    def jacobian(self, q: Array) -> Array:
        """J of the closure equations J v = 0."""
        if not self.mechanism.closures:
            return np.zeros((0, self.nv))
        return self.call("closure_motion", q=q, v=np.eye(self.nv))["velocity"].T

    def closure_bias(self, q: Array, v: Array) -> Array:
        """b of J a + b = 0."""
        return self.call("closure_motion", q=q, v=v)["acceleration"]

    def residual(self, q: Array) -> Array:
        """How far the loops are open (m, rad)."""
        return self.call("closure", q=q)["residual"]

    def retract(self, q: Array, step: Array) -> Array:
        """q moved by a generalised displacement; quaternions are turned and stay of unit length, beams bend along their
        strains, so that a long step does not stretch them."""
        moved = np.array(q, dtype=float)
        for frame in self.mechanism.frames:
            moved[frame.e] = bent(frame.body, q[frame.e], step[frame.ev])
            if frame.motion == "spherical":
                moved[frame.q] = turned(moved[frame.q], step[frame.v])
            else:
                moved[frame.q] += step[frame.v]
        return moved

    def held(self, which: Sequence[int] | npt.NDArray[np.int_]) -> Array:
        """Rows that pick out coordinates of v."""
        S = np.zeros((len(which), self.nv))
        S[np.arange(len(which)), list(which)] = 1.0
        return S

    # Dynamics of the closed robot ------------------------------------------------------------------------------------

    @one_thread
    def inverse(self, q: Array, v: Array, a_active: Array, **loads: Any) -> Solution:
        """Actuator forces and all other accelerations for given accelerations of the actuators."""
        J, S = self.jacobian(q), self.held(self.active)
        A = np.vstack([J, S])
        wanted = np.concatenate([-self.closure_bias(q, v) if len(J) else np.zeros(0), a_active])
        a, multipliers = self._constrained(q, self.forces(q, v, **loads), A, wanted, np.zeros(self.nv))
        return Solution(a, multipliers[len(J) :], multipliers[: len(J)])

    @one_thread
    def forward(self, q: Array, v: Array, tau: Array, **loads: Any) -> Solution:
        """Accelerations of all coordinates for given actuator forces."""
        J = self.jacobian(q)
        applied = np.zeros(self.nv)
        applied[self.active] = tau
        wanted = -self.closure_bias(q, v) if len(J) else np.zeros(0)
        a, multipliers = self._constrained(q, self.forces(q, v, **loads), J, wanted, applied)
        return Solution(a, np.asarray(tau, dtype=float), multipliers)

    def _constrained(self, q: Array, c: Array, A: Array, wanted: Array, applied: Array) -> tuple[Array, Array]:
        """a of M a + c = applied + A^T lam with A a = wanted, and lam of least norm."""
        kinds = [x.kind for x in self.mechanism.coordinates]
        tree = TreeEquations(self.mass(q), c, A, wanted, applied, self.names, kinds, self._chains)
        return COUPLINGS[self._given.coupling](tree)

    @cached_property
    def _chains(self) -> list[npt.NDArray[np.int_]]:
        return [np.array(chain.v, dtype=int) for chain in chains(self.mechanism)]

    def massless(self, reduced: Array, Z: Array) -> str:
        """Words for a mass matrix that is singular on the motions of the robot."""
        return massless(reduced, Z, self.names)

    def reduced(self, q: Array, v: Array, independent: Sequence[int], **loads: Any) -> tuple[Array, Array]:
        """M and c of the closed robot in the independent coordinates (eq. 44): generalised forces = M a + c."""
        T = self.expansion(q, independent)
        M = self.mass(q)
        J = self.jacobian(q)
        bias = least_squares(J[:, self._others(independent)], -self.closure_bias(q, v)) if len(J) else np.zeros(0)
        b = np.zeros(self.nv)
        b[self._others(independent)] = bias
        return T.T @ M @ T, T.T @ (M @ b + self.forces(q, v, **loads))

    def expansion(self, q: Array, independent: Sequence[int]) -> Array:
        """T of v = T v_independent (eq. 36)."""
        others = self._others(independent)
        J = self.jacobian(q)
        T = np.zeros((self.nv, len(independent)))
        T[list(independent), np.arange(len(independent))] = 1.0
        if others:
            free, _, _ = null_space(J[:, others])
            if free.shape[1]:
                loose = self.names[others[int(np.abs(free[:, 0]).argmax())]]
                raise SuppleError(f"the loops do not say how {loose!r} moves; add it to the independent coordinates")
            T[others] = -least_squares(J[:, others], J[:, list(independent)])
        return T

    def _others(self, independent: Sequence[int]) -> list[int]:
        chosen = set(independent)
        return [i for i in range(self.nv) if i not in chosen]

    # Energies -----------------------------------------------------------------------------------------------------------

    def energy(self, q: Array, v: Array) -> Mapping[str, Array]:
        """Kinetic and elastic energy per frame, gravity per frame, motors, and the power lost."""
        return self.call("energy", q=q, v=v)
