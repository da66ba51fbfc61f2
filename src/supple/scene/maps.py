"""Maps in a Scene: a robot's numbers where its point is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.errors import SuppleError
from supple.model.model import Model
from supple.model.observe import points
from supple.model.posture import postures
from supple.results.scene import SceneMap
from supple.results.study import Study

_MOST = 4000  # places


def scene_map(model: Model, study: Study, fixed: Mapping[str, float], assembly: str | None) -> SceneMap:
    """The SceneMap of a study over poses; model: of the robot that does not bend, fixed: what the study held still."""
    names = [n for n in study.chosen if n in model.names]
    if not names or not model.mechanism.points:
        raise SuppleError(f"{study.robot}: this map cannot be drawn; it needs poses, and the robot a named point")
    rows = np.flatnonzero(study.answered)
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _MOST)).round().astype(int))]
    held = [*names, *(n for n in fixed if n not in names)]
    columns = [study.chosen[n].values[rows] for n in names] + [np.full(len(rows), fixed[n]) for n in held[len(names) :]]
    found = postures(model, held, np.column_stack(columns), assembly)
    known = [k for k, q in enumerate(found) if isinstance(q, np.ndarray)]
    if not known:
        raise SuppleError(f"{study.robot}: no pose of this map can be reached; is it of this robot, with the same --at?")
    q = np.array([found[k] for k in known])
    still = np.zeros((len(q), model.nv))
    places = points(model, q, still, still)["position"][:, 0]
    quantities = {name: (c.unit, c.values[rows[known]]) for name, c in study.quantities.items()}
    return SceneMap(next(iter(model.mechanism.points)), quantities, places)
