"""`Core`: poses and designs of a robot answered in batches, by compiled C where it can, by the Model where it cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from supple.backends.interpreter import interpret
from supple.core.batch import Batch
from supple.core.compiled import ANSWERED, LINEAR, Compiled, Seeds, compiled
from supple.core.free_parameters import free_parameters
from supple.core.homes import Homes
from supple.core.reaching import Reaching
from supple.core.structure import structure
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


@dataclass(frozen=True)
class Answers:
    """What was asked of n poses, by name, not a number where there is no answer; and why not, for every one of those.

    T: (n, nv, m) motions of all coordinates for the m independent ones that M, K, D and H are of; squares: of angular
    frequencies, lowest first; shapes: (n, nv, modes), of unit modal mass."""

    status: Array
    found: Mapping[str, Array]
    problems: Mapping[int, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        return self.found[name]

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        made: npt.NDArray[np.bool_] = self.status == ANSWERED
        return made


class Core:
    """A robot whose poses are given by some coordinates, with its kept parameters as further inputs.

    Postures are those of `posture`: the straight way from home, in steps each of which is certain to stay on its branch, or
    a way around singular poses. An answer does not depend on what else is asked in the same batch."""

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
        self.structure = structure(
            self.parameters.equations, self.parameters.symbols, self.model, self.home, chosen, free=free
        )  # fmt: skip
        self._lanes = lanes

    def _check_names(self) -> None:
        unknown = {n: 0.0 for n in self.names if n not in self.model.names}
        if unknown:
            held_values(self.model, unknown, self.home)

    @cached_property
    def compiled(self) -> Compiled:
        return compiled(self.structure, self._lanes)

    @cached_property
    def reaching(self) -> Reaching:
        return Reaching(self.model, self.chosen, self.compiled, self._placed)

    @cached_property
    def homes(self) -> Homes:
        own = self.parameters.inputs(np.array([self.robot.values]))
        return Homes(self.model, self.parameters, self.structure, self.compiled, self.home, own, self.assembly)

    @cached_property
    def _base(self) -> Function:
        """Values of all held coordinates at home, which may depend on parameters."""
        home = self.parameters.mechanism.home
        known = [home.get(self.model.names[i], x) for i, x in self._held.items()]
        listed = [x if isinstance(x, Expr) else float(old) for x, old in zip(known, self._held.values(), strict=True)]
        return function("home", {"p": self.parameters.symbols}, {"held": listed})

    def held_at_home(self, inner: Array) -> Array:
        """(n, held) values of held coordinates at home, of designs."""
        return np.broadcast_to(interpret(self._base)(p=inner)["held"], (len(inner), len(self._held))).copy()

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

    def given(self, held: Array) -> Array:
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
            made = (equilibrium(self.model, self.home).q - self.home)[None]
        except PoseError:
            made = np.zeros((1, self.structure.nq))
        for q, _ in self.structure.balls:
            made[:, q : q + 4] = 0.0
        return made

    # Answers -----------------------------------------------------------------------------------------------------------

    def answer(
        self, poses: Array, p: Array | None = None, *, loads: Array | None = None, stage: int = LINEAR, modes: int = 0,
        wanted: Collection[str] = (), threads: int = 1,
    ) -> Answers:  # fmt: skip
        """Answers to poses (n, names) of designs p (n or 1 rows of values of the kept parameters; None: the robot's own)
        under wrenches at its points."""
        poses = np.atleast_2d(np.asarray(poses, dtype=float))
        p = np.array([self.robot.values]) if p is None else np.atleast_2d(np.asarray(p, dtype=float))
        modes = min(modes, len(self.structure.linear.independent))
        count = max(len(poses), len(p))
        poses = np.broadcast_to(poses, (count, poses.shape[1]))
        if len(p) > 1 and (p == p[:1]).all():
            p = p[:1]
        load = np.zeros((1, 6 * len(self.model.mechanism.points)))
        if loads is not None:
            load = np.asarray(loads, dtype=float).reshape(-1, load.shape[1])
        inner = self.parameters.inputs(p)
        held = self.held(poses, np.broadcast_to(inner, (count, inner.shape[1])))
        seeds, certain = self._seeds(inner)
        batch = Batch(self, poses, p, inner, held, seeds, load, stage, modes, frozenset(wanted), threads)
        return Answers(*batch.answered(np.broadcast_to(certain, count)))

    def _seeds(self, inner: Array) -> tuple[Seeds, npt.NDArray[np.bool_]]:
        """Home postures of designs, and which of them are certain."""
        if self.homes.alike:
            return Seeds(self.home[None], inner, self.shift), np.ones(1, dtype=bool)
        q, certain = self.homes.of(inner, self.given(self.held_at_home(inner)))
        return Seeds(q, inner, self.shift), certain
