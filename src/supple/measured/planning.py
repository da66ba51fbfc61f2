"""D-optimal choice of a hammer, sensors and poses: those whose responses hold most of the parameters.

Each sensor in each pose adds to the information F = sum Re(dH^H dH) / deviation^2 about logarithms of parameters; those are
taken one by one that raise log det F most, and exchanged as long as that helps (Kammer 1991; Fedorov 1972)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.measured.damped_modes import responses_at
from supple.measured.free import Free
from supple.measured.reduced import PoseModel
from supple.measured.test import Test
from supple.robot.bodies.record import Array

LINES = (40, 200)  # of the band, at least and at most, at which responses are looked at
BEFORE = 1 / np.log(2) ** 2  # information before: every parameter is known to a factor of two


def information(
    test: Test, free: Free, at: PoseModel, band: tuple[float, float], noise: float, lines: float, p: Array | None = None
) -> Array:  # fmt: skip
    """F (exciters, sensors, groups, groups) of a pose. noise: that of every channel after averaging, by the root mean square
    of the strongest response to the same blow; lines: how many the measured band has; p: values (None: the start)."""
    values = free.start if p is None else p
    r = at.reduced(values, directions=free.directions(values))
    count = int(np.clip(lines, *LINES))
    s = 2j * np.pi * np.linspace(max(band[0], band[1] / count), band[1], count)
    H, slopes = responses_at(r, s, np.array([c.order for c in test.outputs]))
    deviation = np.maximum(noise * np.sqrt((np.abs(H) ** 2).mean(0).max(0) / 2), 1e-300)
    places = list(dict.fromkeys(c.place for c in test.outputs))
    made = np.zeros((len(test.inputs), len(places), len(free.groups), len(free.groups)))
    for o, channel in enumerate(test.outputs):
        own = slopes[:, :, o] / deviation
        made[:, places.index(channel.place)] += np.real(np.einsum("gli,hli->igh", own.conj(), own))
    return made * lines / count


def chosen(parts: Sequence[Array], count: int, start: Array) -> list[int]:
    """Which parts (information each) to take: greedy, then by exchange."""
    taken: list[int] = []
    total = start.copy()
    for _ in range(min(count, len(parts))):
        best = max((k for k in range(len(parts)) if k not in taken), key=lambda k: _worth(total + parts[k]))
        taken.append(best)
        total = total + parts[best]
    better = True
    while better:
        better = False
        for place, old in enumerate(taken):
            rest = total - parts[old]
            best = max((k for k in range(len(parts)) if k not in taken or k == old), key=lambda k: _worth(rest + parts[k]))
            if best != old and _worth(rest + parts[best]) > _worth(total) + 1e-9:
                taken[place], total, better = best, rest + parts[best], True
    return taken


def arranged(F: Array, sensors: int, poses: int) -> tuple[int, list[int], list[int]]:
    """Exciter, sensors and poses to choose from F (poses, exciters, sensors, groups, groups)."""
    before = BEFORE * np.eye(F.shape[-1])
    hammer = max(range(F.shape[1]), key=lambda i: _worth(before + F[:, i].sum((0, 1))))
    places = list(range(F.shape[2]))
    for _ in range(3):  # poses for these sensors, sensors for these poses
        visited = chosen([F[k, hammer, places].sum(0) for k in range(len(F))], poses, before)
        again = chosen([F[visited, hammer, j].sum(0) for j in range(F.shape[2])], sensors, before)
        if again == places:
            break
        places = again
    return hammer, places, visited


def mean_deviations(parts: Sequence[Array]) -> Array:
    """The geometric mean deviation of all combinations after each part is added."""
    total, made = BEFORE * np.eye(len(parts[0])), []
    for part in parts:
        total = total + part
        made.append(float(np.exp(-0.5 * np.linalg.slogdet(total)[1] / len(total))))
    return np.array(made)


def _worth(F: Array) -> float:
    return float(np.linalg.slogdet(F)[1])
