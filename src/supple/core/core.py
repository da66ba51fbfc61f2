"""`Core`: poses and designs of a robot answered in batches, by compiled C where it can, by the Model where it cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from supple.backends.interpreter import interpret
from supple.core.compiled import ANSWERED, EQUILIBRIA, LINEAR, NOT_REACHED, Compiled, Seeds, compiled
from supple.core.free_parameters import free_parameters
from supple.core.structure import structure
from supple.errors import PoseError
from supple.expr.function import Function, function
from supple.expr.node import Expr
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.closing import values as joint_values
from supple.model.equilibrium import equilibrium, linearise
from supple.model.model import Model
from supple.model.posture import held_values, posture
from supple.model.turning import quaternion

_FIRST = (1, 7, 56, 448, 3584)  # batches whose answers seed the later ones
_TRIES = 4  # nearest answered poses that a pose is tried from
_SLOW = 400  # poses that the Model is asked for at most
_WORDS = 20  # poses out of reach above which none of them gets words
Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Answers:
    """What was asked of n poses, by name, not a number where there is no answer; and why not, where that is known.

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
    """A robot whose poses are given by some coordinates, with its kept parameters as further inputs."""

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
        self.structure = structure(
            self.parameters.equations, self.parameters.symbols, self.model, self.home, list(self._held), free=free
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
    def _base(self) -> Function:
        """Values of all held coordinates at home, which may depend on parameters."""
        home = self.parameters.mechanism.home
        known = [home.get(self.model.names[i], x) for i, x in self._held.items()]
        listed = [x if isinstance(x, Expr) else float(old) for x, old in zip(known, self._held.values(), strict=True)]
        return function("home", {"p": self.parameters.symbols}, {"held": listed})

    def given(self, poses: Array, p: Array) -> Array:
        """(n, given) positions in q of poses (n, names) of designs p (n or 1 rows)."""
        count = max(len(poses), len(p))
        held = np.broadcast_to(interpret(self._base)(p=p)["held"], (count, len(self._held))).copy()
        order = [self.model.names[i] for i in self._held]
        for k, name in enumerate(self.names):
            held[:, order.index(name)] = poses[:, k]
        places = list(self._held)
        made = []
        for frame in self.model.mechanism.frames:
            own = [places.index(i) for i in range(frame.v.start, frame.v.stop) if i in self._held]
            if own:
                made.append(quaternion(held[:, own]) if frame.motion == "spherical" else held[:, own])
        return np.concatenate(made, axis=1) if made else np.zeros((count, 0))

    # Answers -----------------------------------------------------------------------------------------------------------

    @property
    def home_seed(self) -> Seeds:
        n, loops = self.structure.nq, self.model.mechanism.equations
        own = self.parameters.inputs(np.array([self.robot.values]))
        return Seeds(self.home[None], own, np.zeros((1, n)), np.zeros((1, loops)))

    def answer(
        self, poses: Array, p: Array | None = None, *, loads: Array | None = None, stage: int = LINEAR, modes: int = 0,
        wanted: Collection[str] = (), threads: int = 1, seeds: Seeds | None = None,
    ) -> Answers:  # fmt: skip
        """Answers to poses (n, names) of designs p (n or 1 rows of values of the kept parameters; None: the robot's own)
        under wrenches at its points."""
        poses = np.atleast_2d(np.asarray(poses, dtype=float))
        p = np.array([self.robot.values]) if p is None else np.atleast_2d(np.asarray(p, dtype=float))
        modes = min(modes, len(self.structure.linear.independent))
        count = max(len(poses), len(p))
        poses, p = np.broadcast_to(poses, (count, poses.shape[1])), np.broadcast_to(p, (count, p.shape[1]))
        load = np.zeros((1, (self.model.mechanism.points and 6 * len(self.model.mechanism.points)) or 0))
        if loads is not None:
            load = np.asarray(loads, dtype=float).reshape(-1, load.shape[1])
        inner = self.parameters.inputs(p[:1]) if _all_alike(p) else self.parameters.inputs(p)
        inner = np.broadcast_to(inner, (count, inner.shape[1]))
        asked = _Asked(self, poses, p, inner, self.given(poses, inner), load, stage, modes, frozenset(wanted), threads)
        return asked.answered(seeds or self.home_seed)


@dataclass(frozen=True)
class _Asked:
    """A batch that is being answered: its later poses start from the nearest ones that were answered before."""

    core: Core
    poses: Array
    values: Array  # of the parameters
    p: Array  # what the equations have for them
    given: Array
    load: Array
    stage: int
    modes: int
    wanted: frozenset[str]
    threads: int

    def answered(self, seeds: Seeds) -> Answers:
        found = self._run(np.arange(0), seeds.taken(np.zeros(0, dtype=int)))
        made = {key: np.full((len(self.poses), *value.shape[1:]), np.nan) for key, value in found.items()}
        made["status"][:] = NOT_REACHED
        known = _Known(self, made, seeds)
        for batch in known.batches():
            known.run(batch)
        known.flood()
        problems = self._by_model(made)
        status = made.pop("status")
        return Answers(status, self._finished(made), problems)

    def _run(self, rows: Places, seeds: Seeds) -> dict[str, Array]:
        needed = (
            {"posture", "q", "lam"}
            | self.wanted
            | ({"mu"} if self.modes else set())
            | ({"S"} if "T" in self.wanted else set())
        )
        load = self.load if len(self.load) == 1 else self.load[rows]
        if not len(rows):
            shapes = self.core.compiled.shapes(self.modes)
            return {k: np.zeros((0, *shape)) for k, shape in shapes.items() if k in needed} | {"status": np.zeros(0)}
        return self.core.compiled.run(
            seeds,
            self.given[rows],
            self.p[rows],
            load,
            stage=self.stage,
            modes=self.modes,
            wanted=needed,
            threads=self.threads,
        )

    def _by_model(self, made: dict[str, Array]) -> dict[int, str]:
        """Answers of the Model to poses that C left open, and words for those that have none."""
        problems: dict[int, str] = {}
        far = made["status"] == NOT_REACHED
        left = np.flatnonzero((made["status"] != ANSWERED) & (~far if far.sum() > _WORDS else True))[:_SLOW]
        for row in left.tolist():
            try:
                for key, value in self._interpreted(row).items():
                    if key in made:
                        made[key][row] = value
                made["status"][row] = ANSWERED
            except PoseError as problem:
                problems[row] = str(problem)
        return problems

    def _interpreted(self, row: int) -> dict[str, Any]:
        core = self.core
        robot = core.robot.changed(dict(zip(core.robot.keep, self.values[row].tolist(), strict=True)))
        model = robot.model()
        at = dict(zip(core.names, self.poses[row].tolist(), strict=True))
        straight = posture(model, at, core.assembly)
        found: dict[str, Any] = {
            "posture": straight, "J": model.jacobian(straight), "places": model.call("points", q=straight)["position"],
            "straight_points": _point_rows(model, straight),
        }  # fmt: skip
        if self.stage < EQUILIBRIA:
            return found
        load = self.load[row if len(self.load) > 1 else 0].reshape(-1, 6)
        rest = equilibrium(model, straight, w=load)
        found |= {"q": rest.q, "lam": rest.reactions, "tau": rest.tau}
        found["bent_places"] = model.call("points", q=rest.q)["position"]
        return found if self.stage < LINEAR else found | self._linear(model, rest, load)

    def _linear(self, model: Model, rest: Any, load: Array) -> dict[str, Any]:
        linear = linearise(model, rest, self.core.free, w=load)
        way = self.core.structure.linear
        base = linear.Z[list(way.independent)]
        if base.shape[0] != base.shape[1] or np.linalg.cond(base) > 1e10:
            raise PoseError(f"{model.mechanism.name}: singular pose: it moves in other ways than elsewhere")
        turn = np.linalg.inv(base)
        T = linear.Z @ turn
        squares, vectors = eigh(0.5 * (linear.K + linear.K.T), linear.M)
        return {
            "M": turn.T @ linear.M @ turn, "K": turn.T @ linear.K @ turn, "D": turn.T @ linear.D @ turn,
            "H": turn.T @ linear.H @ turn, "S": T[list(way.dependent)], "points": _point_rows(model, rest.q),
            "mu": self._mu(squares[: self.modes]), "shapes": (linear.Z @ vectors)[:, : self.modes],
        }  # fmt: skip

    def _mu(self, squares: Array) -> Array:
        return -squares if self.core.free else 1.0 / squares

    def _finished(self, made: dict[str, Array]) -> dict[str, Array]:
        if "mu" in made:
            mu = made.pop("mu")
            made["squares"] = -mu if self.core.free else 1.0 / mu
        if "T" in self.wanted:
            way = self.core.structure.linear
            T = np.zeros((len(self.poses), self.core.structure.nv, len(way.independent)))
            T[:, list(way.independent), np.arange(len(way.independent))] = 1.0
            T[:, list(way.dependent)] = made["S"]
            made["T"] = T
        return made


def _point_rows(model: Model, q: Array) -> Array:
    """Velocities and angular velocities of all named points: rows over v."""
    twist = model.call("points", q=q, v=np.eye(model.nv))
    return np.concatenate([twist["velocity"], twist["spin"]], axis=-1).reshape(model.nv, -1).T


def _all_alike(rows: Array) -> bool:
    return bool((rows == rows[:1]).all())


class _Known:
    """Poses that are answered so far, and the nearest of them to each further one."""

    def __init__(self, asked: _Asked, made: dict[str, Array], seeds: Seeds) -> None:
        self.asked, self.made, self.seeds = asked, made, seeds
        every = np.concatenate([asked.given, asked.p], axis=1)
        spread = np.ptp(every, axis=0) if len(every) else np.ones(every.shape[1])
        self.where = every / np.where(spread > 0, spread, 1.0)
        own = np.concatenate([seeds.q[:, list(asked.core.structure.given)], seeds.p], axis=1)
        self.seeds_at = own / np.where(spread > 0, spread, 1.0)
        self.done: list[int] = []  # answered poses that seed others

    def batches(self) -> list[Places]:
        """All poses, in batches that grow, spread evenly over the list by turns."""
        order = np.argsort(np.modf(np.arange(len(self.where)) * 0.6180339887498949)[0], kind="stable")
        sizes = np.cumsum(_FIRST)
        return [np.sort(part) for part in np.split(order, sizes[sizes < len(order)]) if len(part)]

    def run(self, rows: Places, nth: int = 1) -> int:
        """Answers to these poses from their nth nearest known ones; returns how many there are."""
        seeds = self._nearest(rows, nth)
        found = self.asked._run(rows, seeds)
        better = found["status"] < np.where(self.made["status"][rows] == NOT_REACHED, np.inf, 0)
        for key, value in found.items():
            self.made[key][rows[better]] = value[better]
        good = rows[found["status"] == ANSWERED]
        self.done += good.tolist()
        return len(good)

    def flood(self) -> None:
        """Poses that were not reached are tried from neighbours that were, as long as that helps."""
        for _ in range(20):
            left = np.flatnonzero(self.made["status"] == NOT_REACHED)
            if not len(left) or not self.done:
                return
            reached = sum(self._again(left, nth) for nth in range(1, _TRIES + 1))
            if not reached:
                return

    def _again(self, left: Places, nth: int) -> int:
        still = left[self.made["status"][left] == NOT_REACHED]
        return self.run(still, nth) if len(still) and nth <= len(self.done) + len(self.seeds.q) else 0

    def _nearest(self, rows: Places, nth: int) -> Seeds:
        from scipy.spatial import cKDTree  # takes longer to import than many answers

        done = np.array(self.done[:20_000], dtype=int)
        places = np.concatenate([self.seeds_at, self.where[done]])
        if not places.shape[1]:  # all poses are the same
            return self.seeds.taken(np.zeros(len(rows), dtype=int))
        chosen = np.asarray(cKDTree(places).query(self.where[rows], k=[min(nth, len(places))])[1]).reshape(-1)
        return self._all(done).taken(chosen)

    def _all(self, done: Places) -> Seeds:
        q, lam = self.made["posture"][done], self.made["lam"][done]
        shift = self._shift(q, self.made["q"][done])
        return Seeds(*(np.concatenate(parts) for parts in zip(self.seeds, (q, self.asked.p[done], shift, lam), strict=True)))

    def _shift(self, straight: Array, bent: Array) -> Array:
        made = np.nan_to_num(bent - straight)
        for q, _ in self.asked.core.structure.balls:
            made[:, q : q + 4] = 0.0
        return made
