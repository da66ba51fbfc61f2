"""PacDrive of Vidoni et al. (2012), tables 1 and 2, as a plane frame: eleven links, all pins, one clamp (links 5 and 11)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from judges.plane import Bar, Plane
from judges.systems import strip

Array = np.ndarray
E, RHO, BASE, ARM, FOREARM, SIDE, TOOL, BETA = 5e9, 7840.0, 0.2, 0.2, 0.5, 0.07, 0.05, 1e-4
STRONG, LIGHT, TIP = (strip(E, RHO, *size) for size in ((0.02, 0.03), (0.01, 0.02), (0.01, 0.03)))
SECTIONS = {1: STRONG, 2: STRONG, 3: STRONG, 4: STRONG, 5: TIP} | dict.fromkeys((6, 7, 8, 9, 10, 11), LIGHT)
PINS = {  # link: the pins (or ends) it joins
    1: ("A", "E1"), 2: ("B", "E2"), 3: ("E1", "W"), 4: ("E2", "W"), 7: ("E2", "J7"), 6: ("J7", "C"), 8: ("E2", "J8"),
    10: ("J8", "J9"), 9: ("J8", "J7"), 11: ("J9", "W"), 5: ("W", "T"),
}  # fmt: skip
GROUND = ("A", "B", "C")


def _meet(a: Array, b: Array, ra: float, rb: float, side: float) -> Array:
    """Where circles about a and b cross; side: +1 to the left of the way from a to b."""
    d = np.linalg.norm(b - a)
    along = (ra**2 - rb**2 + d**2) / (2 * d)
    e = (b - a) / d
    return a + along * e + side * math.sqrt(ra**2 - along**2) * np.array([-e[1], e[0]])


def joints(q1: float, q2: float) -> dict[str, Array]:
    """Places of the pins of the undeformed robot, hanging down, with the parallelograms not crossed."""
    polar = lambda angle: np.array([math.cos(angle), math.sin(angle)])  # noqa: E731
    p = {"A": np.array([-BASE / 2, 0]), "B": np.array([BASE / 2, 0]), "C": np.array([BASE / 2, SIDE])}
    p["E1"], p["E2"] = p["A"] + ARM * polar(q1), p["B"] + ARM * polar(q2)
    p["W"] = _meet(p["E1"], p["E2"], FOREARM, FOREARM, -1.0)
    p["J7"] = p["E2"] + np.array([0, SIDE])  # parallelogram B, E2, J7, C
    p["J8"] = _meet(p["E2"], p["J7"], SIDE, SIDE, TRIANGLE)
    p["J9"] = p["J8"] + p["W"] - p["E2"]  # parallelogram E2, W, J9, J8
    direction = math.atan2(*(p["W"] - p["J9"])[::-1]) - math.pi / 3
    p["T"] = p["W"] + TOOL * polar(direction)
    return p


TRIANGLE = 1.0  # the triangle E2, J7, J8 lies to the left of the way up


@dataclass(frozen=True)
class PacDrive:
    """The Plane, with the index of x of every pin, and per link those of its nodes' x and of its nodes' angles."""

    plane: Plane
    pins: dict[str, int]
    nodes: dict[int, list[int]]
    angles: dict[int, list[int]]

    @property
    def motors(self) -> list[int]:
        return [self.angles[1][0], self.angles[2][0]]

    def rates(self, q: Array, motors: tuple[float, float]) -> Array:
        """Velocities at given rates of the motors, every link moving as if it were rigid in its present shape."""
        links, free = [n for n in PINS if n != 5], [name for name in self.pins if name not in GROUND]
        spin = {link: k for k, link in enumerate(links)}
        spin[5] = spin[11]
        place = {name: len(links) + 2 * k for k, name in enumerate(free)}
        rows, values = [], []
        for link, (a, b) in PINS.items():
            across = q[self.pins[b] :][:2] - q[self.pins[a] :][:2]
            for k, lever in enumerate((-across[1], across[0])):
                row = np.zeros(len(links) + 2 * len(free))
                for name, sign in ((b, 1.0), (a, -1.0)):
                    if name in place:
                        row[place[name] + k] = sign
                row[spin[link]] = -lever
                rows.append(row)
                values.append(0.0)
        for link, rate in zip((1, 2), motors, strict=True):
            rows.append(np.eye(len(rows[0]))[spin[link]])
            values.append(rate)
        solved = np.linalg.lstsq(np.array(rows), np.array(values))[0]
        assert np.abs(np.array(rows) @ solved - values).max() < 1e-9
        return self._spread(q, solved, spin, place)

    def _spread(self, q: Array, solved: Array, spin: dict[int, int], place: dict[str, int]) -> Array:
        """Velocities of all nodes from those of the pins and the links' spins."""
        v = np.zeros_like(q)
        for link, (a, _) in PINS.items():
            w, root = solved[spin[link]], self.pins[a]
            moved = solved[place[a] :][:2] if a in place else np.zeros(2)
            for node in self.nodes[link]:
                across = q[node : node + 2] - q[root : root + 2]
                v[node : node + 2] = moved + w * np.array([-across[1], across[0]])
            v[self.angles[link]] = w
        return v


def robot(q1: float, q2: float, fineness: int) -> PacDrive:
    """The frame with 2 fineness elements per long link, fineness per arm, and about half of it per side."""
    made, start = joints(q1, q2), []
    pins: dict[str, int] = {}
    for name, place in made.items():
        pins[name] = len(start)
        start += list(place)
    bars: list[Bar] = []
    nodes: dict[int, list[int]] = {}
    angles: dict[int, list[int]] = {}
    for link, (a, b) in PINS.items():
        length = float(np.linalg.norm(made[b] - made[a]))
        count = max(1, round(fineness * length / (ARM if length >= ARM - 1e-9 else 2 * SIDE)))
        count = min(count, 2 * fineness)
        nodes[link], angles[link] = _laid(link, (a, b), made, pins, count, start, angles)
        bars += _bars(link, nodes[link], angles[link], made[b] - made[a], start, count)
    fixed = [pins[name] + k for name in GROUND for k in range(2)]
    moving = np.setdiff1d(np.arange(len(start)), fixed)
    return PacDrive(Plane(np.array(start), moving, bars, (0.0, -9.81), BETA), pins, nodes, angles)


def _laid(link, ends, made, pins, count, start, angles) -> tuple[list[int], list[int]]:
    """New coordinates of a link: nodes between its pins, angles of all nodes; link 5 begins with the last of link 11."""
    a, b = (made[end] for end in ends)
    nodes = [pins[ends[0]]]
    for k in range(1, count):
        nodes.append(len(start))
        start += list(a + (b - a) * k / count)
    nodes.append(pins[ends[1]])
    own = [angles[11][-1]] if link == 5 else []
    while len(own) <= count:
        own.append(len(start))
        start.append(math.atan2(b[1] - a[1], b[0] - a[0]))
    return nodes, own


def _bars(link: int, nodes: list[int], angles: list[int], across: Array, start: list[float], count: int) -> list[Bar]:
    direction, length = math.atan2(across[1], across[0]), float(np.linalg.norm(across)) / count
    made = []
    for k in range(count):
        offsets = (direction - start[angles[k]], direction - start[angles[k + 1]])
        ends = (nodes[k], nodes[k] + 1, angles[k], nodes[k + 1], nodes[k + 1] + 1, angles[k + 1])
        made.append(Bar(ends, offsets, length, SECTIONS[link]))
    return made
