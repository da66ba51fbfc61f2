"""Legs that are alike, as they are solved side by side: `teams_of`; their tables for limb_teams.h."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from supple.backends.stepping.limb_pattern import Columns
from supple.backends.stepping.plant import Limb, Limbs, Meeting, Team, TeamLimb
from supple.backends.stepping.tables import rows, table

LANES = 4  # legs of a team; where there are fewer, the last one stands in several lanes
_FEWEST = 2  # of one leg, its limbs are solved one by one


@dataclass(frozen=True)
class Leg:
    """Limbs in the order in which they are eliminated, and what they meet by."""

    frames: tuple[int, ...]
    meeting: int


def teams_of(limbs: Limbs, columns: Sequence[Columns]) -> list[list[Leg]]:
    """Legs that have the same limbs, as many as lanes; none where four stages fill the vectors as well, in less text."""
    if limbs.balance is None:
        return []
    alike: dict[object, list[Leg]] = {}
    for leg in _legs(limbs):
        alike.setdefault(_shape(limbs, columns, leg), []).append(leg)
    parted = [legs[k : k + LANES] for legs in alike.values() for k in range(0, len(legs), LANES)]
    return [legs for legs in parted if len(legs) >= _FEWEST]


def roots(limbs: Limbs) -> list[int]:
    """The frame on the base that each frame hangs on."""
    found = list[int]()
    for j, x in enumerate(limbs.frames):
        found.append(found[x.parent] if x.parent >= 0 else j)
    return found


def _legs(limbs: Limbs) -> Iterator[Leg]:
    """Trees that meet a rigid frame of another."""
    root = roots(limbs)
    for n, at in enumerate(limbs.meetings):
        if at.host >= 0:
            own = {root[t.frame] for t in limbs.ties if any(at.first <= r < at.last for r in t[-6:])}
            own |= {root[j] for j, x in enumerate(limbs.frames) if at.first <= x.light < at.last}
            own -= {root[at.host]}
            yield Leg(tuple(j for j in limbs.order if root[j] in own), n)


def _shape(limbs: Limbs, columns: Sequence[Columns], leg: Leg) -> object:
    """What legs of a team have in common."""
    at, place = limbs.meetings[leg.meeting], {j: n for n, j in enumerate(leg.frames)}
    found: list[object] = [at.last - at.first, at.host]
    for j in leg.frames:
        x = limbs.frames[j]
        found.append((
            place.get(x.parent, -1), x.elastic, x.band, x.dofs, x.mark, x.marked, *_loops(x, at), repr(columns[j]),
        ))  # fmt: skip
    return tuple(found)


def _loops(x: Limb, at: Meeting) -> tuple[int, int, int]:
    """First, last + 1, and place of coordinates without mass, counted from those of the meeting."""
    held = x.last > x.first
    return x.first - at.first if held else 0, x.last - at.first if held else 0, x.light - at.first if x.light >= 0 else -1


class TeamTables:
    """Tables of all teams. places: where the factors of every limb begin ("store"), and what twists are made of ("reach");
    sizes: where factors of meetings begin, and behind what twists are made of (as many as "reach") the other numbers."""

    def __init__(
        self, limbs: Limbs, columns: Sequence[Columns], places: dict[str, list[int]], sizes: dict[str, int]
    ) -> None:
        self.limbs, self.columns, self.places, self.sizes = limbs, columns, places, sizes
        self.twists = len(limbs.twists)
        self.ends, self.to = list[int](), list[int]()
        self.factors, self.rates = list[tuple[int, ...]](), list[tuple[int, ...]]()  # sources, lane by lane
        self.v, self.first = list[tuple[int, ...]](), list[tuple[int, ...]]()
        self.limb, self.team, self.work = list[TeamLimb](), list[Team](), 0
        self._known: dict[tuple[int, ...], tuple[int, int]] = {}
        self.legs = teams_of(limbs, columns)
        for legs in self.legs:
            self._add([legs[min(k, len(legs) - 1)] for k in range(LANES)], len(legs))

    def _add(self, lanes: list[Leg], live: int) -> None:
        frames, leg = self.limbs.frames, lanes[0]
        at = self.limbs.meetings[leg.meeting]
        forces, first, factors, rates, v = (
            at.last - at.first,
            len(self.limb),
            len(self.factors),
            len(self.rates),
            len(self.v),
        )
        starts, count = dict[int, tuple[int, int]](), 0
        for j in leg.frames:
            starts[j] = (count, count + frames[j].elastic)
            count += frames[j].elastic + frames[j].dofs
        for n, j in enumerate(leg.frames):
            x, own = frames[j], [x.frames[n] for x in lanes]
            column, start = self._columns(j, starts[j][0], count, forces, n, at)
            place = len(self.factors) - factors, len(self.rates) - rates
            joint = self._elastic(own) + place[0]
            self._joint(own)
            self.limb.append(TeamLimb(
                leg.frames.index(x.parent) if x.parent >= 0 else -1, x.elastic, start, x.dofs, starts[j][1],
                count + forces + self.twists * n, *_loops(x, at), x.mark, x.marked, column, place[0], joint, place[1],
                place[1] + self.twists * x.dofs,
            ))  # fmt: skip
            self.v += [tuple(frames[k].e + i for k in own) for i in range(x.elastic)]
            self.v += [tuple(frames[k].q + i for k in own) for i in range(x.dofs)]
        meeting, held = len(self.factors) - factors, len(self.rates) - rates
        firsts = tuple(self.limbs.meetings[x.meeting].first for x in lanes)
        self._meet(firsts, forces)
        self.first.append(firsts)
        self.team.append(
            Team(live, at.host, first, len(leg.frames), count, forces, meeting, held, factors, rates, self.work, v)
        )
        self.work += count + forces + self.twists * len(leg.frames)

    def _columns(self, j: int, e: int, count: int, forces: int, n: int, at: Meeting) -> tuple[int, int]:
        """Where the ends of a limb's columns begin; `to` says which of a leg's numbers they act on."""
        x, begin = self.limbs.frames[j], len(self.ends)
        self.ends.append(len(self.to))
        for k, column in enumerate(self.columns[j]):
            for i in column:
                other = i - 1 - x.band
                twist, loop = count + forces + self.twists * n + other, count + x.first - at.first + other - self.twists
                self.to.append(e + k + i if other < 0 else twist if other < self.twists else loop)
            self.ends.append(len(self.to))
        return begin, e

    def _elastic(self, own: list[int]) -> int:
        """Factors of elastic coordinates: of every one its pivot, then what is not zero of its column; how many."""
        before, x = len(self.factors), self.limbs.frames[own[0]]
        for k, column in enumerate(self.columns[own[0]]):
            wide = 1 + x.band + self.twists + x.last - x.first
            self.factors += [tuple(self.places["store"][j] + k * wide + i for j in own) for i in (0, *column)]
        return len(self.factors) - before

    def _joint(self, own: list[int]) -> None:
        """Columns of a joint's coordinates, and what is real: their axes, and what makes the twist of the parent's."""
        x = self.limbs.frames[own[0]]
        wide = 1 + self.twists + x.last - x.first
        size = x.elastic * (wide + x.band)
        if x.light < 0:
            for i in range(x.dofs * wide):
                self.factors.append(tuple(self.places["store"][j] + size + i for j in own))
        for k in range(x.dofs):
            for i in range(self.twists):
                joints = (self.limbs.frames[j].joint + (2 + self.twists) * k for j in own)
                self.rates.append(tuple(self.sizes["numbers"] + at + i for at in joints))
        for i in range(self.twists * (self.twists + x.marked) if x.parent >= 0 else 0):
            self.rates.append(tuple(self.places["reach"][j] + i for j in own))

    def _meet(self, firsts: tuple[int, ...], n: int) -> None:
        """Factors of the forces in loops, column by column, what their host's twist makes of them, what they leave it."""
        looped, solved, held = self.sizes["loops"], self.sizes["solved"], self.sizes["reach"] + self.sizes["held"]
        self.factors += [tuple(looped + f * len(self.limbs.rows) + i for f in firsts) for i in range(n * n)]
        self.factors += [tuple(solved + self.twists * f + i for f in firsts) for i in range(self.twists * n)]
        self.rates += [tuple(held + self.twists * f + i for f in firsts) for i in range(self.twists * n)]

    def text(self) -> list[str]:
        """The tables in C."""
        return [
            f"static const TeamLimb TEAM_LIMB[{max(1, len(self.limb))}] = {{{rows(self.limb) or '{0}'}}};",
            f"static const Team TEAMS[{max(1, len(self.team))}] = {{{rows(self.team) or '{0}'}}};",
            table("TEAM_END", self.ends), table("TEAM_TO", self.to),
            _laned("FACTOR", self.factors), _laned("RATE", self.rates), _laned("V", self.v), _laned("LOOP", self.first),
        ]  # fmt: skip


def _laned(name: str, places: list[tuple[int, ...]]) -> str:
    return table(f"TEAM_{name}", [k for x in places for k in x])
