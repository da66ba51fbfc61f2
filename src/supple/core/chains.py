"""Tables in C of the joints around every loop, which bounds on its curvature are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.core.structure import Structure, most_links
from supple.model.curvature import JointRow


def table(name: str, numbers: Sequence[int] | np.ndarray) -> str:
    listed = ", ".join(str(int(x)) for x in numbers) or "0"
    return f"static const short {name}[] = {{{listed}}};"


def chain_sizes(structure: Structure) -> dict[str, int]:
    chains = structure.chains
    rigid, given = _rigid(structure), _given(structure)
    slides = _most_slides([c.joints for c in chains])
    return {
        "N_CHAINS": max(1, len(chains)), "MOST_LINKS": most_links(chains), "MOST_SLIDES": slides,
        "N_LINKS": max(1, len(chains)) * most_links(chains), "N_RIGID": max(1, len(rigid)), "N_PLAIN": len(given[0]),
        "N_TURNED": len(given[1]), "CARRIED": -2,
    }  # fmt: skip


def _rigid(structure: Structure) -> list[int]:
    return [v for v, elastic in enumerate(structure.elastic) if not elastic]


def _given(structure: Structure) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(place in what is given, place among rigid coordinates) of plain joints, and of the beginnings of ball joints."""
    rigid = {v: k for k, v in enumerate(_rigid(structure))}
    velocity = {q: v for v, q in enumerate(structure.places) if q >= 0}
    balls = dict(structure.balls)
    plain = [(k, rigid[velocity[q]]) for k, q in enumerate(structure.given) if q in velocity]
    return plain, [(k, rigid[balls[q]]) for k, q in enumerate(structure.given) if q in balls]


def chain_tables(structure: Structure) -> list[str]:
    """Tables of the joints around every loop."""
    rigid = {v: k for k, v in enumerate(_rigid(structure))}
    plain, turned = _given(structure)
    chains = structure.chains
    rows = [(c, turn) for c, chain in enumerate(chains) for turn in chain.turns]
    return [
        table("RIGID", [rigid.get(v, -1) for v in range(structure.nv)]), table("RIGID_V", list(rigid)),
        table("FOLLOWS", [rigid[v] for v in structure.closing.dependent]),
        table("PLAIN_GIVEN", [k for k, _ in plain]), table("PLAIN_COLUMN", [v for _, v in plain]),
        table("TURNED_GIVEN", [k for k, _ in turned]), table("TURNED_COLUMN", [v for _, v in turned]),
        table("ROW_CHAIN", [c for c, _ in rows]), table("ROW_TURNS", [turn for _, turn in rows]),
        table("WHOLE", [c.whole for c in chains]),
        *_links([c.joints for c in chains], rigid, most_links(chains)), *_slides([c.joints for c in chains], rigid),
    ]  # fmt: skip


def _links(joints: Sequence[JointRow], rigid: Mapping[int, int], most: int) -> list[str]:
    pairs = [row for j in joints for row in _pairs(j, most)]
    return [
        table("LINK_COUNT", [len(j.coordinates) for j in joints]),
        table("LINK_COLUMN", _rows([[rigid[int(v)] for v in j.coordinates] for j in joints], most)),
        table("LINK_TURNS", _rows([j.turns for j in joints], most)),
        table("LINK_ORDER", _rows([j.order for j in joints], most)),
        table("LINK_BALL", _rows([j.ball >= 0 for j in joints], most)),
        table("LINK_OF", [k for j in joints for k in _places(j, rigid)]),
        table("PAIR", [k for row in pairs for k in row]),
    ]  # fmt: skip


def _places(joints: JointRow, rigid: Mapping[int, int]) -> list[int]:
    """Of every rigid coordinate its place in a chain, or -1."""
    own = joints.coordinates.tolist()
    return [own.index(v) if v in own else -1 for v in rigid]


def _slides(joints: Sequence[JointRow], rigid: Mapping[int, int]) -> list[str]:
    most = _most_slides(joints)
    return [
        table("SLIDE_COUNT", [len(j.slides) for j in joints]),
        table("SLIDE_AT", _rows([j.slides for j in joints], most)),
        table("SLIDE_COLUMN", _rows([[rigid[int(v)] for v in j.coordinates[~j.turns]] for j in joints], most)),
        table("SLIDE_ORDER", _rows([j.order[~j.turns] for j in joints], most)),
    ]  # fmt: skip


def _most_slides(joints: Sequence[JointRow]) -> int:
    return max([1, *(len(j.slides) for j in joints)])


def _pairs(joints: JointRow, most: int) -> list[list[int]]:
    """For every two joints of a chain the place of the later one if both turn, CARRIED if one carries the other's slide."""
    made = [[-1] * most for _ in range(most)]
    n = len(joints.coordinates)
    for i, j in ((i, j) for i in range(n) for j in range(n)):
        if joints.turns[i] and joints.turns[j]:
            made[i][j] = i if joints.order[i] >= joints.order[j] else j
        elif joints.turns[i] != joints.turns[j]:
            turn, slide = (i, j) if joints.turns[i] else (j, i)
            made[i][j] = -2 if joints.order[turn] < joints.order[slide] else -1
    return made


def _padded(numbers: Sequence[int] | np.ndarray, width: int) -> list[int]:
    return [*(int(x) for x in numbers), *([0] * (width - len(numbers)))]


def _rows(rows: Sequence[Sequence[int] | np.ndarray], width: int) -> list[int]:
    return [x for row in rows for x in _padded(row, width)]
