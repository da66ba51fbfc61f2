"""A batch of poses and designs while it is being answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.core.compiled import ANSWERED, EQUILIBRIA, LINEAR, NOT_REACHED, POOR_CHOICE, Seeds
from supple.core.prepared import Prepared
from supple.core.reaching import Stuck
from supple.errors import PoseError
from supple.model.algebra import Array, eigh
from supple.model.assembly import disagreement
from supple.model.equilibrium import equilibrium, linearise
from supple.model.model import Model
from supple.model.posture import posture

_SLOW = 400  # poses that the Model is asked for at most
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Batch:
    """Poses (n, names) of designs (n rows or one), each of which starts from the home of its design."""

    core: Prepared
    poses: Array
    values: Array  # of the parameters
    p: Array  # what the equations have for them
    held: Array  # values of all held coordinates
    seeds: Seeds
    load: Array
    stage: int
    modes: int
    wanted: frozenset[str]
    threads: int

    def answered(self, certain: Mask) -> tuple[Array, dict[str, Array], dict[int, str]]:
        """Status of every pose, what was asked by name, and words for poses without an answer."""
        given = self.core.places(self.held)
        rows = np.argsort(self._far(given), kind="stable")  # poses side by side take about as many steps
        made = {key: _scattered(value, rows) for key, value in self._run(rows, given, self.seeds.taken(rows)).items()}
        made["status"][~certain] = POOR_CHOICE
        problems = self._go_on(made, given, certain)
        problems |= self._disagreeing(made)
        problems |= self._by_model(made, problems)
        status = made.pop("status")
        for key, value in made.items():
            value[status != ANSWERED] = np.nan
            del key
        return status, self._finished(made), problems

    def _far(self, given: Array) -> Array:
        """How far every pose is from home."""
        if not given.shape[1]:
            return np.zeros(len(given))
        made: Array = np.abs(given - self.seeds.q[:, list(self.core.structure.given)]).max(axis=1)
        return made

    def _run(self, rows: Places, given: Array, seeds: Seeds) -> dict[str, Array]:
        needed = {"share", "posture", "q", "lam"} | self.wanted
        needed |= ({"mu"} if self.modes else set()) | ({"S"} if "T" in self.wanted else set())
        return self.core.compiled.run(
            seeds, given[rows], _taken(self.p, rows), _taken(self.load, rows), stage=self.stage, modes=self.modes,
            wanted=needed, threads=self.threads,
        )  # fmt: skip

    def _go_on(self, made: dict[str, Array], given: Array, certain: Mask) -> dict[int, str]:
        """Answers to poses that the straight way does not reach, and words for those out of reach."""
        rows = np.flatnonzero((made["status"] == NOT_REACHED) & certain)
        if not rows.size:
            return {}
        homes = np.broadcast_to(self.seeds.q, (len(self.poses), self.seeds.q.shape[1]))
        p = np.broadcast_to(self.p, (len(self.poses), self.p.shape[1]))
        chosen = [self.core.held_indices.index(i) for i in self.core.chosen]
        stuck = Stuck(
            homes[rows], made["posture"][rows], made["share"][rows], given[rows], p[rows], self.held[rows][:, chosen]
        )  # fmt: skip
        own = self.core.homes.alike or bool((self.p == self.core.homes.own_p).all())
        ends, there, words = self.core.reaching.reached(stuck, around=own)
        if there.any():
            seeds = Seeds(ends[there], p[rows[there]], self.seeds.shift)
            for key, value in self._run(rows[there], given, seeds).items():
                made[key][rows[there]] = value
        return {int(rows[k]): text for k, text in words.items()}

    def _disagreeing(self, made: dict[str, Array]) -> dict[int, str]:
        """Words for poses that ask for more coordinates than can be chosen, with values that do not follow."""
        core, problems = self.core, {}
        for row in np.flatnonzero(made["status"] != NOT_REACHED).tolist() if core.others else ():
            wanted = dict(zip(core.held_indices, self.held[row].tolist(), strict=True))
            text = disagreement(core.model, made["posture"][row], wanted, core.others)
            if text is not None:
                made["status"][row], problems[row] = NOT_REACHED, text
        return problems

    def _by_model(self, made: dict[str, Array], told: dict[int, str]) -> dict[int, str]:
        """Answers of the Model to poses that C left open, and words for those that have none."""
        problems: dict[int, str] = {}
        left = [row for row in np.flatnonzero(made["status"] != ANSWERED).tolist() if row not in told]
        for row in left[:_SLOW]:
            try:
                for key, value in self._interpreted(row).items():
                    if key in made:
                        made[key][row] = value
                made["status"][row] = ANSWERED
            except PoseError as problem:
                problems[row] = str(problem)
        for row in left[_SLOW:]:
            problems[row] = (
                f"{self.core.robot.name}: this pose needs to be asked for on its own: it is singular, unstable or like no "
                f"pose near home, and a batch asks for {_SLOW} such poses at most"
            )
        return problems

    def _interpreted(self, row: int) -> dict[str, Any]:
        core = self.core
        values = _taken(self.values, [row])[0].tolist()
        model = core.robot.changed(dict(zip(core.robot.keep, values, strict=True))).model()
        at = dict(zip(core.names, self.poses[row].tolist(), strict=True))
        straight = posture(model, at, core.assembly)
        found: dict[str, Any] = {
            "posture": straight, "J": model.jacobian(straight), "places": model.call("points", q=straight)["position"],
            "straight_points": _point_rows(model, straight),
        }  # fmt: skip
        if self.stage < EQUILIBRIA:
            return found
        load = _taken(self.load, [row])[0].reshape(-1, 6)
        rest = equilibrium(model, straight, tell=False, w=load)
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
            "mu": -squares[: self.modes] if self.core.free else 1.0 / squares[: self.modes],
            "shapes": (linear.Z @ vectors)[:, : self.modes],
        }  # fmt: skip

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


def _taken(table: Array, rows: Any) -> Array:
    """Some rows of a table that has one for every pose, or one for all."""
    return table if len(table) == 1 else table[rows]


def _scattered(values: Array, rows: Places) -> Array:
    """Values in the order of the poses."""
    made = np.empty_like(values)
    made[rows] = values
    return made


def _point_rows(model: Model, q: Array) -> Array:
    """Velocities and angular velocities of all named points: rows over v."""
    twist = model.call("points", q=q, v=np.eye(model.nv))
    return np.concatenate([twist["velocity"], twist["spin"]], axis=-1).reshape(model.nv, -1).T
