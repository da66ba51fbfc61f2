"""`limbs`: a robot as the integrators eliminate it, body by body along its chains; see limbs.h."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from supple.backends.stepping.plant import Bend, Limb, Limbs, Meeting, Tie, Window, plant_function
from supple.expr.function import Array, Function
from supple.expr.node import add
from supple.expr.passes import optimise
from supple.expr.vector import matmul, matvec, plus, zeros
from supple.formulations.record import Equations
from supple.formulations.tree.kinematics import Kinematics, relative, state
from supple.model.full_damping import near_damping
from supple.robot.bodies.record import Body, Marker
from supple.robot.mechanism import Mechanism
from supple.simulation.bent_limbs import bend_terms, stretched
from supple.simulation.limb_twists import moving
from supple.simulation.partition import Partition

_PASSES = ("fold",)
_Record = TypeVar("_Record")


def limbs(m: Mechanism, parts: Partition) -> Limbs | None:
    """The Limbs of a robot whose accelerations are known otherwise; None where bodies are not numbers."""
    kin = Kinematics(m, state(m))
    try:
        table = _Table(m, parts, moving(kin))
    except TypeError:  # kept parameters
        return None
    return Limbs(
        posture=_posture(kin), balance=None, twists=table.twists,
        frames=tuple(table.frames), ties=tuple(table.ties),
        meetings=tuple(table.meetings), bends=tuple(table.bends), windows=tuple(table.windows), order=tuple(table.order),
        rows=tuple(table.rows), equations=m.equations, numbers=np.array(table.numbers),
    )  # fmt: skip


def balanced(found: Limbs, equations: Equations) -> Limbs:
    """Limbs with what is out of balance, by equations that may lack full damping: q v a g lam w -> every coordinate of the
    tree."""
    f = equations.forces
    out = [add(x, y) for x, y in zip(f.outputs["f"], f.outputs["coulomb"], strict=True)]
    inputs = {k: f.inputs[k].ravel() for k in ("q", "v", "a", "g", "lam", "w")}
    return replace(found, balance=optimise(plant_function("model_balance", inputs, {"f": out}), _PASSES).function)


def _posture(kin: Kinematics) -> Function:
    """q -> of every frame its rotation in its parent, its origin there, and the part of that along its slide; of every loop
    the rotations from both frames' axes to the first anchor's, both anchors' places, and the distance between them."""
    found = []
    for x in kin.motions:
        slide = matvec(x.R, x.slide)
        found += [x.R.ravel(), plus(x.marker.r, slide), slide]
    for closure in kin.mechanism.closures:
        R, d = relative(kin, closure.first, closure.second)
        first, second = kin.marker(closure.first), kin.marker(closure.second)
        distance = d if closure.slides else zeros(3)
        found += [first.R.T.ravel(), first.r, matmul(R, second.R.T).ravel(), second.r, distance]
    made = plant_function("model_posture", {"q": kin.state.q}, {"posture": np.concatenate(found)})
    return optimise(made, _PASSES).function


class _Table:
    """The numbers of a mechanism's limbs, gathered."""

    def __init__(self, m: Mechanism, parts: Partition, twists: tuple[int, ...]) -> None:
        self.twists = twists
        self.m, self.numbers, self._kept = m, list[float](), dict[bytes, int]()
        self._near = dict[bytes, Array]()
        self.bends, self.windows = list[Bend](), list[Window]()
        self._terms = dict[int, tuple[Bend, ...]]()
        self._bent = dict[tuple[Bend, ...], int]()
        self._stretched = dict[tuple[Window, ...], int]()
        self.roots = [self._root(j) for j in range(len(m.frames))]
        self.top = -1 if m.platform is None else self.roots[m.platform]
        self.light = self._light()
        place = self._meet(parts)
        self.order = sorted(range(len(m.frames)), key=lambda j: (self.roots[j] == self.top, -j))
        self.ties = self._anchors(place)
        spans = self._spans(parts)
        self.bands = self._bands()
        self.frames = [self._limb(j, parts, spans[j]) for j in range(len(m.frames))]

    def _root(self, j: int) -> int:
        while self.m.frames[j].parent >= 0:
            j = self.m.frames[j].parent
        return j

    def _put(self, x: Array) -> int:
        """Where some numbers stand; equal ones stand once."""
        found = np.ascontiguousarray(x, dtype=float).ravel()
        key = found.tobytes()
        if key not in self._kept:
            self._kept[key] = len(self.numbers)
            self.numbers += found.tolist()
        return self._kept[key]

    # Loops ---------------------------------------------------------------------------------------------------------------

    def _meet(self, parts: Partition) -> dict[int, int]:
        """Places of the chosen closure equations, those of legs that meet the same rigid frame together."""
        starts = np.cumsum([0, *(len(c.forbidden) for c in self.m.closures)])
        place: dict[int, int] = {}
        self.rows, self.meetings, self.lent = list[int](), list[Meeting](), dict[int, int]()
        for host, closures, trees in self._hosted():
            first = len(self.rows)
            for row in (r for n in closures for r in range(starts[n], starts[n + 1]) if r in parts.rows):
                place[int(row)] = len(self.rows)
                self.rows.append(int(row))
            for j in (j for j, tree in enumerate(self.roots) if self.light[j] and tree in trees and j not in self.lent):
                self.lent[j] = len(self.rows)
                self.rows += [-1] * (len(self.m.frames[j].body.coordinates) + len(self._dofs(j, parts)))
            if len(self.rows) > first:
                self.meetings.append(Meeting(first, len(self.rows), host))
        return place

    def _hosted(self) -> list[tuple[int, list[int], set[int]]]:
        """Hosts, closures and trees of what is joined by closures beside the platform; last, with host -1, all the rest."""
        found = [(self._host(closures), sorted(closures), trees) for trees, closures in self._joined_trees()]
        loose = sorted(n for host, closures, _ in found if host < 0 for n in closures)
        return [*(x for x in found if x[0] >= 0), (-1, loose, set(self.roots))]

    def _joined_trees(self) -> list[tuple[set[int], list[int]]]:
        """Trees that closures join without the platform, and those closures."""
        groups: list[tuple[set[int], list[int]]] = []
        for n, closure in enumerate(self.m.closures):
            trees = {self.roots[a.frame] for a in (closure.first, closure.second) if a.frame >= 0} - {self.top}
            one = (trees, [n])
            for other in [g for g in groups if g[0] & trees]:
                groups.remove(other)
                one = (one[0] | other[0], other[1] + one[1])
            groups.append(one)
        return groups

    def _light(self) -> list[bool]:
        """Which frames move no mass."""
        made = [_massless(f.body) and not any(float(c.inertia) for c in self.m.coordinates[f.v]) for f in self.m.frames]
        for j in reversed(range(len(made))):
            parent = self.m.frames[j].parent
            if parent >= 0:
                made[parent] = made[parent] and made[j]
        return made

    def _dofs(self, j: int, parts: Partition) -> list[int]:
        """Places in v of a joint's coordinates that are not given."""
        own = self.m.frames[j].v
        return [k for k in range(own.start, own.stop) if k not in parts.given]

    def _host(self, closures: Sequence[int]) -> int:
        """The one rigid frame beside legs that some closures hold on to; -1 if there is none."""
        found = [a for n in closures for a in (self.m.closures[n].first, self.m.closures[n].second)]
        held = [a for a in found if a.frame >= 0 and self.roots[a.frame] == self.top]
        alone = len({a.frame for a in held}) == 1 and not any(_span(a.marker)[1] for a in held)
        return held[0].frame if alone else -1

    def _anchors(self, place: dict[int, int]) -> list[Tie]:
        hosts = {i: meeting.host for meeting in self.meetings for i in range(meeting.first, meeting.last)}
        found, row = [], 0
        for n, closure in enumerate(self.m.closures):
            rows = [-1] * 6
            for k in closure.forbidden:
                rows[k] = place.get(row, -1)
                row += 1
            for second, anchor in enumerate((closure.first, closure.second)):
                if anchor.frame >= 0 and any(r >= 0 for r in rows):
                    first, count = _span(anchor.marker)
                    hosted = {hosts[r] for r in rows if r >= 0} == {anchor.frame}
                    phi = self._put(_shape(anchor.marker, first, count))
                    found.append(Tie(anchor.frame, n, second, int(hosted), first, count, phi, *rows))
        return found

    def _spans(self, parts: Partition) -> list[tuple[int, int]]:
        """First and last + 1 of the closure equations that hold on to each frame and what hangs on it."""
        spans = [(0, 0)] * len(self.m.frames)
        for tie in self.ties:
            own = [r for r in tie[-6:] if r >= 0]
            if not tie.hosted:
                spans[tie.frame] = _joined(spans[tie.frame], (min(own), max(own) + 1))
        for j in reversed(range(len(self.m.frames))):
            parent, count = self.m.frames[j].parent, len(self.m.frames[j].body.coordinates) + len(self._dofs(j, parts))
            if self.light[j] and count:
                spans[j] = _joined(spans[j], (self.lent[j], self.lent[j] + count))
            if parent >= 0:
                spans[parent] = _joined(spans[parent], spans[j])
        return spans

    # Bodies --------------------------------------------------------------------------------------------------------------

    def _bands(self) -> list[int]:
        """How far from the diagonal each body's matrices reach, with what hangs on it."""
        bands = [_reach(f.body) for f in self.m.frames]
        for frame in self.m.frames:
            if frame.parent >= 0:
                bands[frame.parent] = max(bands[frame.parent], _span(frame.marker)[1] - 1)
        return bands

    def _damping(self, body: Body, band: int) -> Array:
        """D of a body; where it reaches too far, what is near it. Equal bodies ask once."""
        M, K, D = (x.astype(float) for x in (body.M_ee, body.K_ee, body.D_ee))
        if _width(D) <= band:
            return D
        key = b"".join(x.tobytes() for x in (M, K, D))
        if key not in self._near:
            self._near[key] = near_damping(M, K, D)
        return self._near[key]

    def _bends(self, body: Body) -> tuple[Bend, ...]:
        """What bending changes of a body's inertia; bodies that are one record ask once."""
        if id(body) not in self._terms:
            found = bend_terms(body, self.twists)
            self._terms[id(body)] = tuple(Bend(x.to, x.first, x.second, self._put(np.array(x.by))) for x in found)
        return self._terms[id(body)]

    def _limb(self, j: int, parts: Partition, span: tuple[int, int]) -> Limb:
        frame, body, band = self.m.frames[j], self.m.frames[j].body, self.bands[j]
        dofs = self._dofs(j, parts)
        joint = [
            [
                *_axis(frame.motion, frame.axis, k - frame.v.start)[list(self.twists)],
                self.m.coordinates[k].inertia,
                self.m.coordinates[k].viscous,
            ]
            for k in dofs
        ]
        first, count = _span(frame.marker)
        D = self._damping(body, band)
        bands = [_banded(x, band) for x in (body.M_ee, body.K_ee, D)]
        bends = self._bends(body)
        windows = tuple(Window(x.first, len(x.pulled), self._put(x.numbers())) for x in stretched(body, D))
        return Limb(
            parent=frame.parent, elastic=len(body.coordinates), e=frame.ev.start, band=band, dofs=len(dofs),
            q=dofs[0] if dofs else 0, first=span[0], last=span[1], light=self.lent.get(j, -1), mark=first, marked=count,
            phi=self._put(_shape(frame.marker, first, count)), rigid=self._put(_rigid(body, self.twists)),
            mass=self._put(bands[0]), stiff=self._put(bands[1]), damped=self._put(bands[2]),
            joint=self._put(np.array(joint, dtype=float)), at=frame.e.start,
            bend=_kept(self.bends, self._bent, bends), bends=len(bends),
            stretch=_kept(self.windows, self._stretched, windows), stretches=len(windows),
        )  # fmt: skip


def _kept(table: list[_Record], known: dict[tuple[_Record, ...], int], records: tuple[_Record, ...]) -> int:
    """Where some records stand in a table; equal ones stand once."""
    if records not in known:
        known[records] = len(table)
        table += records
    return known[records]


def _massless(body: Body) -> bool:
    return not any(np.any(np.asarray(x).astype(float)) for x in (body.mass, body.MS_r, body.I_rr, body.M_ee))


def _joined(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    if a[0] == a[1] or b[0] == b[1]:
        return b if a[0] == a[1] else a
    return min(a[0], b[0]), max(a[1], b[1])


def _span(marker: Marker) -> tuple[int, int]:
    """First and number of the elastic coordinates between which all are that move a marker."""
    phi = np.vstack([marker.Phi_d, marker.Phi_r]).astype(float)
    moving = np.flatnonzero(phi.any(axis=0))
    return (int(moving[0]), int(moving[-1] - moving[0] + 1)) if len(moving) else (0, 0)


def _shape(marker: Marker, first: int, count: int) -> Array:
    """Translations and rotations (coordinates, 6) of a marker by those coordinates."""
    phi: Array = np.vstack([marker.Phi_d, marker.Phi_r]).astype(float)
    return phi[:, first : first + count].T


def _axis(motion: str, axis: Array, k: int) -> Array:
    """Translation and rotation by the k-th coordinate of a joint."""
    own = np.eye(3)[k] if motion == "spherical" else axis.astype(float)
    zero = np.zeros(3)
    made: Array = np.concatenate([own, zero] if motion == "prismatic" else [zero, own])
    return made


def _reach(body: Body) -> int:
    """How far from the diagonal a body's own matrices reach, as bent."""
    windows = stretched(body, np.zeros(body.K_ee.shape))
    return max([_width(body.M_ee, body.K_ee), *(len(x.pulled) - 1 for x in windows)])


def _width(*matrices: Array) -> int:
    """How far from the diagonal the farthest entry is."""
    return max((int(abs(i - k)) for x in matrices for i, k in np.argwhere(x.astype(float))), default=0)


def _banded(x: Array, band: int) -> Array:
    """Columns of the lower triangle (n, band + 1), from the diagonal on."""
    n = len(x)
    made = np.zeros((n, band + 1))
    for i in range(min(n, band + 1)):
        made[: n - i, i] = np.diagonal(x, -i).astype(float)
    return made


def _rigid(body: Body, twists: tuple[int, ...]) -> Array:
    """M of a body's twist, then that with its elastic coordinates, line by line."""
    own = list(twists)
    x, y, z = body.MS_r.astype(float)
    S = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    M = np.block([[float(body.mass) * np.eye(3), -S], [S, body.I_rr.astype(float)]])
    return np.concatenate([M[np.ix_(own, own)].ravel(), np.vstack([body.MS_de, body.beta])[own].astype(float).T.ravel()])
