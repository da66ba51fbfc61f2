"""Frequencies of a study as those of modes that were followed by their shapes, and where they meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.model.closing import values as joint_values
from supple.results.study import Study
from supple.studies.following import SURE, Followed, Tracks, follow
from supple.studies.meetings import MOST, candidates, refined
from supple.studies.question import Cases, Part, Question

_BYTES = 2_000_000_000  # of shapes of all cases


def check_follow(question: Question, count: int, axes: Sequence[str]) -> None:
    """A complaint where modes cannot be followed from case to case."""
    if not question.follow:
        return
    if not question.followed:
        raise SuppleError("--follow follows modes: ask for frequencies, as in --of f1,f2")
    if "design" in axes:
        raise SuppleError("--follow goes from neighbour to neighbour of a grid; scattered designs have no neighbours")
    motions = len(question.core.structure.linear.independent)
    if 16 * count * motions * question.tracked > _BYTES:
        raise SuppleError(
            f"--follow: shapes of {question.tracked} modes of {count} cases exceed {_BYTES // 10**9} GB; ask for fewer"
        )


def with_followed_modes(study: Study, question: Question, cases: Cases, parts: Sequence[Part]) -> Study:
    """The study with f1, f2 ... being the modes that have these numbers where following starts, and their meetings."""
    tracks = Tracks(*(np.concatenate([getattr(p, key) for p in parts]) for key in ("squares", "shapes", "momenta")))
    found = follow(tracks, study.shape, question.followed, _from_home(question, cases))
    if found is None:
        return study
    quantities = dict(study.quantities)
    for q in question.quantities:
        if q.kind == "f":
            about = f"natural frequency of the mode that is number {q.index + 1} where following starts"
            quantities[q.name] = replace(quantities[q.name], values=found.values(tracks.hz, q.index), about=about)
    met = list(candidates(tracks, found, study.shape, question.followed))
    meetings = refined(met[:MOST], _squares(question, cases), _names(study))
    notices = [*study.notices, *_doubts(found, question.followed)]
    if len(met) > MOST:
        notices.append(f"modes meet in {len(met)} places; the first {MOST} of them are told")
    return replace(
        study, quantities=quantities, followed_from=found.start, meetings=tuple(meetings), notices=tuple(notices)
    )  # fmt: skip


def _from_home(question: Question, cases: Cases) -> Array:
    """(n,) how far cases are from home and the robot's own values, relative to how far they go."""
    core = question.core
    now = dict(zip(core.model.names, joint_values(core.model, core.home), strict=True))
    tables = [(cases.poses, np.array([now[n] for n in question.names]))]
    if cases.p is not None:
        tables.append((cases.p, np.array(core.robot.values)))
    far = np.zeros(len(cases))
    for table, own in tables:
        wide = np.ptp(table, axis=0)
        far += (((table - own) / np.where(wide > 0, wide, np.inf)) ** 2).sum(axis=1)
    return far


def _squares(question: Question, cases: Cases) -> Callable[[Array, int], Array]:
    """Squares at places between cases."""

    def of(places: Array, modes: int) -> Array:
        a, b, share = places[:, 0].astype(int), places[:, 1].astype(int), places[:, 2:]
        poses = cases.poses[a] + share * (cases.poses[b] - cases.poses[a])
        p = None if cases.p is None else cases.p[a] + share * (cases.p[b] - cases.p[a])
        made = [
            question.squares(poses[k : k + question.size], None if p is None else p[k : k + question.size], modes)
            for k in range(0, len(poses), question.size)
        ]
        return np.concatenate(made)

    return of


def _names(study: Study) -> Callable[[Array], list[dict[str, float]]]:
    """What was chosen at places between cases, by name."""

    def at(places: Array) -> list[dict[str, float]]:
        made = []
        for a, b, share in places.tolist():
            made.append(
                {n: float(c.values[int(a)] + share * (c.values[int(b)] - c.values[int(a)])) for n, c in study.chosen.items()}
            )
        return made

    return at


def _doubts(found: Followed, asked: Sequence[int]) -> list[str]:
    own = found.certainty[:, list(asked)]
    order = found.order[:, list(asked)]
    known = (found.order >= 0).any(axis=1)
    unsure = int((known & (np.where(np.isfinite(own), own, 1.0) < SURE).any(axis=1)).sum())
    lost = int((known & (order < 0).any(axis=1)).sum())
    made = []
    if unsure:
        made.append(f"modes are not followed with certainty into {unsure} cases, whose shapes agree with no neighbour's by "
                    "half: take smaller steps")  # fmt: skip
    if lost:
        made.append(f"a mode is lost in {lost} cases: its shape is not among the lowest modes there; these cases are empty")
    if found.seams:
        made.append(f"modes followed along different ways disagree between {len(found.seams)} pairs of neighbours: they "
                    "meet in single points, around which one becomes the other")  # fmt: skip
    return made
