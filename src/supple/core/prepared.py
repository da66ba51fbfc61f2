"""`Prepared`: a robot made ready for batches of poses and designs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from supple.backends.interpreter import interpret
from supple.core.compiled import Compiled, CompiledTangents, Seeds, compiled, compiled_tangents
from supple.core.free_parameters import free_parameters
from supple.core.homes import Homes
from supple.core.reaching import Reaching
from supple.core.structure import structure
from supple.core.tangents import tangents
from supple.errors import PoseError
from supple.expr.function import Function, function
from supple.expr.node import Expr
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.assembly import chosen_freely
from supple.model.closing import values as joint_values
from supple.model.equilibrium import equilibrium
from supple.model.model import Model
from supple.model.posture import held_values, posture
from supple.model.turning import quaternion


class Prepared:
    """What batches of a robot's poses have in common: its structure, its compiled core, its homes."""

    def __init__(
        self, robot: Machine, names: Sequence[str], *, free: bool = False, assembly: str | None = None,
        lanes: int | None = None,
    ) -> None:  # fmt: skip
        self.robot, self.names, self.free, self.assembly = robot, tuple(names), free, assembly
        self.model: Model = robot.model()
        self.home = posture(self.model, None, assembly)
        now = dict(zip(self.model.names, joint_values(self.model, self.home), strict=True))
        self._held = held_values(self.model, {n: float(now[n]) for n in names if n in now} or {}, self.home)
        self._check_names()
        self.parameters = free_parameters(robot)
        closed = bool(self.model.mechanism.closures)
        chosen, others = chosen_freely(self.model, self.home, list(self._held)) if closed else (tuple(self._held), ())
        self.chosen, self.others = chosen, others  # what is held; the others have to agree with what follows
        self.structure = structure(self.parameters, self.model, self.home, chosen, free=free)
        self._lanes = lanes

    def _check_names(self) -> None:
        unknown = {n: 0.0 for n in self.names if n not in self.model.names}
        if unknown:
            held_values(self.model, unknown, self.home)

    @cached_property
    def compiled(self) -> Compiled:
        question = self.robot.question if self.parameters.exact else ()  # records may stand in files
        return compiled(self.structure, self._lanes, question)

    @cached_property
    def compiled_tangents(self) -> CompiledTangents:
        return compiled_tangents(self.compiled, tangents(self.structure.functions, self.parameters.mechanism))

    @cached_property
    def reaching(self) -> Reaching:
        return Reaching(self.model, self.chosen, self.compiled, self._placed)

    @cached_property
    def homes(self) -> Homes:
        own = self.parameters.inputs(np.array([self.robot.values]))
        return Homes(self.model, self.parameters, self.structure, self.compiled, self.home, own, self.assembly)

    @cached_property
    def base(self) -> Function:
        """Values of all held coordinates at home, which may depend on parameters."""
        home = self.parameters.mechanism.home
        known = [home.get(self.model.names[i], x) for i, x in self._held.items()]
        listed = [x if isinstance(x, Expr) else float(old) for x, old in zip(known, self._held.values(), strict=True)]
        return function("home", {"p": self.parameters.symbols}, {"held": listed})

    def held_at_home(self, inner: Array) -> Array:
        """(n, held) values of held coordinates at home, of designs."""
        return np.broadcast_to(interpret(self.base)(p=inner)["held"], (len(inner), len(self._held))).copy()

    def held(self, poses: Array, inner: Array) -> Array:
        """(n, held) values of held coordinates in poses (n, names) of designs."""
        made = self.held_at_home(inner)
        order = [self.model.names[i] for i in self._held]
        for k, name in enumerate(self.names):
            made[:, order.index(name)] = poses[:, k]
        return made

    @property
    def held_indices(self) -> tuple[int, ...]:
        return tuple(self._held)

    def given(self, poses: Array, inner: Array) -> Array:
        """(n, given) places in q that poses (n, names) of designs give."""
        return self.places(self.held(poses, inner))

    def places(self, held: Array) -> Array:
        """(n, given) places in q for values of all held coordinates."""
        return self._placed(held[:, [self.held_indices.index(i) for i in self.chosen]])

    def _placed(self, chosen: Array) -> Array:
        """(n, given) places in q for values (n, chosen)."""
        made = []
        for frame in self.model.mechanism.frames:
            own = [self.chosen.index(i) for i in range(frame.v.start, frame.v.stop) if i in self.chosen]
            if own:
                made.append(quaternion(chosen[:, own]) if frame.motion == "spherical" else chosen[:, own])
        return np.concatenate(made, axis=1) if made else np.zeros((len(chosen), 0))

    @cached_property
    def shift(self) -> Array:
        """(1, nq) how weight shifts q at home: where the search for equilibrium starts."""
        try:
            made = (equilibrium(self.model, self.home, tell=False).q - self.home)[None]
        except PoseError:
            made = np.zeros((1, self.structure.nq))
        for q, _ in self.structure.balls:
            made[:, q : q + 4] = 0.0
        return made

    def seeds(self, inner: Array) -> tuple[Seeds, npt.NDArray[np.bool_]]:
        """Home postures of designs, and which of them are certain."""
        if self.homes.alike:
            return Seeds(self.home[None], inner, self.shift), np.ones(1, dtype=bool)
        q, certain = self.homes.of(inner, self.places(self.held_at_home(inner)))
        return Seeds(q, inner, self.shift), certain
