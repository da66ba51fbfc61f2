"""How far a robot gives way where it is pushed, and what gives way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.model.algebra import Array, one_thread
from supple.model.closing import values
from supple.model.drives import given_way
from supple.model.equilibrium import Equilibrium, equilibrium, linearise
from supple.model.limits import notices
from supple.model.mobility import check_regular
from supple.model.model import Model
from supple.model.participation import by_kind, link_energies, shares
from supple.model.ports import MOVED, in_plane, point_rows, wrenches_of
from supple.model.posture import posture
from supple.model.stresses import stresses, unknown_forms, weight_left_out
from supple.model.yielding import yielding
from supple.results import Stiffness
from supple.robot.written import Written, pose_of

_RIGID = 1e-13  # of the largest compliance: directions that give way less are rigid


@one_thread
def stiffness(
    robot: Machine,
    point: str | None = None,
    at: Mapping[str, Written] | None = None,
    *,
    loads: Mapping[str, Sequence[float]] | None = None,
    assembly: str | None = None,
) -> Stiffness:
    """Compliance and stiffness of a named point about the robot's equilibrium under weight and loads.

    Actuators are held; those with a `stiffness` in the robot file give way to forces and loads as their servo does, not to
    the weight under which it holds the pose. point: the robot's only one
    if None; loads: as of `modes`."""
    model = robot.model()
    chosen = _chosen(model, point)
    straight = posture(model, pose_of(model.mechanism, at), assembly)
    check_regular(model, straight)
    w = wrenches_of(model, loads or {})
    rest = equilibrium(model, straight, w=w)
    rows = point_rows(model, rest.q, chosen)
    linear = linearise(model, rest, w=w)
    flow = yielding(model, linear, rows.T)
    compliance = rows @ flow
    used = in_plane(model)
    matrix, rigid = _inverse(compliance, used)
    links, kinds = _shares(model, rest, flow)
    return Stiffness(
        robot=model.mechanism.name,
        point=chosen,
        compliance=compliance,
        stiffness=matrix,
        rigid=tuple(MOVED[k] for k in rigid),
        principal=_principal(compliance[:3, :3], [k for k in used if k < 3]),
        deflection=_between(model, straight, rest.q, chosen) + rows @ given_way(model, linear, _pushed(model, rest.q, w)),
        links=links,
        kinds=kinds,
        pose={n: float(x) for n, x in zip(model.names, values(model, straight), strict=True) if n not in _bent(model)},
        tau={model.names[i]: float(t) for i, t in zip(model.active, rest.tau, strict=True)},
        reactions=_reactions(model, rest),
        stresses=stresses(model, rest.q),
        notices=(*notices(model, rest.q), *_beyond(model, rest.q)),
    )


def _pushed(model: Model, q: Array, w: Array) -> Array:
    """Generalised forces (nv,) of wrenches at the named points."""
    every = zip(model.mechanism.points, w, strict=True)
    return sum((point_rows(model, q, name).T @ wrench for name, wrench in every if wrench.any()), np.zeros(model.nv))


def _beyond(model: Model, q: Array) -> list[str]:
    """A line for stresses beyond yield, and one for those that are not known."""
    lines = []
    over = [s for s in stresses(model, q) if s.stress > s.limit]
    if over:
        worst = max(over, key=lambda s: s.stress / s.limit)
        also = f" ({len(over) - 1} other links too)" if len(over) > 1 else ""
        lines.append(
            f"link {worst.link!r}{also} is stressed by {worst.stress / 1e6:.4g} MPa, {worst.stress / worst.limit:.0%} "
            "of its yield stress: nothing here is true of it any more"
        )
    light = weight_left_out(model, q)
    if light:
        name = max(light, key=lambda k: light[k])
        also = f" ({len(light) - 1} other links too)" if len(light) > 1 else ""
        lines.append(
            f"stresses of link {name!r}{also} lack what weight does between its nodes, up to {light[name] / 1e6:.3g} MPa; "
            "more `elements` show it"
        )
    unknown = unknown_forms(model)
    if unknown:
        lines.append(f"stresses of {', '.join(unknown)} are not known: their section is given by its properties")
    return lines


def _chosen(model: Model, point: str | None) -> str:
    names = list(model.mechanism.points)
    if point is not None:
        return point
    if len(names) != 1:
        raise SuppleError(f"choose a point of {model.mechanism.name}; it has: {', '.join(names) or 'none'}")
    return names[0]


def _bent(model: Model) -> set[str]:
    return {c.name for c in model.mechanism.coordinates if c.kind == "elastic"}


def _inverse(compliance: Array, used: list[int]) -> tuple[Array, list[int]]:
    """The stiffness matrix, not a number in rows and columns of directions that are rigid, and those directions; all not
    numbers where the point gives way along fewer motions than directions (an arm with a single loose joint)."""
    size = np.abs(np.diag(compliance))
    scale = [size[:3].max(), size[3:].max()]
    rigid = [k for k in range(6) if k not in used or size[k] <= _RIGID * scale[k // 3]]
    soft = [k for k in range(6) if k not in rigid]
    made = np.full((6, 6), np.nan)
    own = compliance[np.ix_(soft, soft)]
    scaled = own / np.sqrt(np.outer(np.diag(own), np.diag(own)))
    if not soft or np.linalg.cond(scaled) < 1 / _RIGID:
        made[np.ix_(soft, soft)] = np.linalg.inv(own)
    return made, rigid


def _principal(compliance: Array, used: list[int]) -> tuple[tuple[float, tuple[float, ...]], ...]:
    """Stiffness (N/m) and unit direction of the three (in a plane two) principal axes, softest first."""
    own = compliance[np.ix_(used, used)]
    sizes, axes = np.linalg.eigh(0.5 * (own + own.T))
    found = []
    for size, axis in zip(sizes[::-1], axes.T[::-1], strict=True):
        whole = np.zeros(3)
        whole[used] = axis if axis[int(np.abs(axis).argmax())] > 0 else -axis
        stiff = float("inf") if size <= _RIGID * sizes.max() else 1.0 / float(size)
        found.append((stiff, tuple(float(x) for x in whole)))
    return tuple(found)


def _shares(model: Model, rest: Equilibrium, flow: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    """Shares of links, and of legs, joints, platform, other links and drives, in what a force in each direction bends."""
    names, _, elastic = link_energies(model, rest.q, flow)
    drives = sum((k * flow[i] ** 2 for i, k in model.servos.items()), np.zeros(6))
    every = {**dict(zip(names, elastic, strict=True)), **({"drives": drives} if model.servos else {})}
    total = shares(np.array(list(every.values())))
    kinds = by_kind(model, names, elastic) | ({"drives": drives} if model.servos else {})
    whole = shares(np.array(list(kinds.values()))) if kinds else np.zeros((0, 6))
    listed = {name: row for name, row in zip(every, total, strict=True) if row.any()}
    return listed, dict(zip(kinds, whole, strict=True))


def _between(model: Model, first: Array, second: Array, point: str) -> Array:
    """Displacement (m) and rotation vector (rad) of a point from one posture to another, in base axes."""
    found = model.call("points", q=np.array([first, second]))
    k = list(model.mechanism.points).index(point)
    R = found["rotation"][1, k] @ found["rotation"][0, k].T
    across = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = float(np.linalg.norm(across))
    angle = float(np.arctan2(sine, 0.5 * (np.trace(R) - 1)))
    turned = across * (angle / sine if sine > 1e-12 else 1.0)
    return np.concatenate([found["position"][1, k] - found["position"][0, k], turned])


def _reactions(model: Model, rest: Equilibrium) -> dict[str, Array]:
    """Forces and moments that close each loop, one for each of its equations."""
    found, begin = {}, 0
    for closure in model.mechanism.closures:
        end = begin + len(closure.forbidden)
        found[closure.name] = rest.reactions[begin:end]
        begin = end
    return found
