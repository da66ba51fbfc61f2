"""The same mechanism with fewer frames: bodies joined by fixed joints become one, joints of massless closing links are
taken over by the closure. Coordinates keep their names; their order may change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.robot.bodies.record import (
    Array,
    Body,
    Marker,
    Stretch,
    eye,
    hat,
    is_zero,
    moved,
    moved_marker,
    zeros,
)
from supple.robot.mechanism import Anchor, Closure, Coordinate, Frame, Mechanism


def simplify(mechanism: Mechanism) -> Mechanism:
    """An equivalent Mechanism that costs less to evaluate."""
    return _fixed_joints_merged(_closing_joints_absorbed(mechanism))


# Massless closing links ----------------------------------------------------------------------------------------------


def _closing_joints_absorbed(mechanism: Mechanism) -> Mechanism:
    """A massless link that only carries one revolute joint to a closure: the closure becomes that joint."""
    closures = list(mechanism.closures)
    gone: set[int] = set()
    for index, closure in enumerate(mechanism.closures):
        anchor = closure.second
        freed = _freed_by_link(mechanism, closure)
        if freed is None:
            continue
        frame = mechanism.frames[anchor.frame]
        closures[index] = replace(
            closure,
            second=Anchor(frame.parent, _turned(frame.marker, anchor.marker.rotation)),
            forbidden=tuple(k for k in closure.forbidden if k != freed),
            turning=mechanism.coordinates[frame.v.start],
            about=frame.marker.rotation @ frame.axis,
        )
        gone.add(anchor.frame)
    return _without(mechanism, gone, tuple(closures)) if gone else mechanism


def _freed_by_link(mechanism: Mechanism, closure: Closure) -> int | None:
    """The rotation that the closure's second link sets free, if that link is massless and carries nothing else."""
    anchor = closure.second
    if anchor.frame < 0:
        return None
    frame = mechanism.frames[anchor.frame]
    anchors = [*(a for c in mechanism.closures for a in (c.first, c.second)), *mechanism.points.values()]
    busy = sum(a.frame == anchor.frame for a in anchors) > 1 or any(f.parent == anchor.frame for f in mechanism.frames)
    driven = any(c.kind == "active" for c in mechanism.coordinates[frame.v])
    if busy or driven or not _massless(frame.body) or not is_zero(anchor.marker.position):
        return None
    return _freed(frame, anchor.marker, closure)


def _massless(body: Body) -> bool:
    return not body.flexible and is_zero(body.mass) and is_zero(body.I_rr) and is_zero(body.MS_r)


def _freed(frame: Frame, marker: Marker, closure: Closure) -> int | None:
    """The rotation of the closure that a revolute joint sets free, if it turns about an axis of the anchor."""
    if frame.motion != "revolute" or not set(closure.forbidden) >= {k for k in (3, 4, 5) if k in closure.forbidden}:
        return None
    axis = marker.rotation.T @ frame.axis
    for k in range(3):
        if abs(abs(float(axis[k])) - 1.0) < 1e-12 and 3 + k in closure.forbidden:
            whole = {0, 1, 2, 3, 4, 5} if len(closure.forbidden) == 6 else {0, 1, 3 + k}
            return 3 + k if set(closure.forbidden) == whole else None
    return None


def _turned(marker: Marker, rotation: Array) -> Marker:
    return replace(marker, rotation=marker.rotation @ rotation)


def _without(mechanism: Mechanism, gone: set[int], closures: tuple[Closure, ...]) -> Mechanism:
    """The mechanism without some leaf frames and their coordinates."""
    keep = [i for i in range(len(mechanism.frames)) if i not in gone]
    number = {old: new for new, old in enumerate(keep)} | {-1: -1}
    frames: list[Frame] = []
    coordinates: list[Coordinate] = []
    nq = 0
    for old in keep:
        f = mechanism.frames[old]
        size_q, size_e = f.q.stop - f.q.start, f.e.stop - f.e.start
        v0 = len(coordinates)
        own = [replace(c, frame=number[old]) for c in mechanism.coordinates[f.v] + mechanism.coordinates[f.ev]]
        size_v = f.v.stop - f.v.start
        coordinates += own
        frames.append(
            replace(
                f,
                parent=number[f.parent],
                q=slice(nq, nq + size_q),
                e=slice(nq + size_q, nq + size_q + size_e),
                v=slice(v0, v0 + size_v),
                ev=slice(v0 + size_v, len(coordinates)),
            )
        )
        nq += size_q + size_e

    def renumbered(anchor: Anchor) -> Anchor:
        return Anchor(number[anchor.frame], anchor.marker)

    return replace(
        mechanism,
        frames=tuple(frames),
        coordinates=tuple(coordinates),
        nq=nq,
        closures=tuple(replace(c, first=renumbered(c.first), second=renumbered(c.second)) for c in closures),
        points={k: renumbered(a) for k, a in mechanism.points.items()},
        platform=None if mechanism.platform is None else number[mechanism.platform],
    )


# Fixed joints --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Place:
    """Where an old frame went: the new frame, its constant pose in it, and its first elastic coordinate there."""

    frame: int
    R: Array
    p: Array
    offset: int


def _fixed_joints_merged(mechanism: Mechanism) -> Mechanism:
    places: list[_Place] = []
    kept: list[Frame] = []
    bodies: list[Body] = []
    elastic: list[list[Coordinate]] = []
    for frame in mechanism.frames:
        home = places[frame.parent] if frame.parent >= 0 else _Place(-1, eye(), zeros(3), 0)
        own = list(mechanism.coordinates[frame.ev])
        rigid_marker = is_zero(frame.marker.Phi_d) and is_zero(frame.marker.Phi_r)
        if frame.motion == "fixed" and rigid_marker and (home.frame >= 0 or _inert(frame, mechanism)):
            R = home.R @ frame.marker.rotation
            p = home.p + home.R @ frame.marker.position
            if home.frame < 0:
                places.append(_Place(-1, R, p, 0))
                continue
            places.append(_Place(home.frame, R, p, len(bodies[home.frame].coordinates)))
            bodies[home.frame] = _joined(bodies[home.frame], moved(frame.body, R, p))
            elastic[home.frame] += own
        else:
            places.append(_Place(len(kept), eye(), zeros(3), 0))
            kept.append(replace(frame, parent=home.frame, marker=_carried(frame.marker, home)))
            bodies.append(frame.body)
            elastic.append(own)
    return _renumbered(mechanism, places, kept, bodies, elastic)


def _inert(frame: Frame, mechanism: Mechanism) -> bool:
    """A rigid frame fixed to the base never moves."""
    return not frame.body.flexible


def _carried(marker: Marker, home: _Place) -> Marker:
    """A marker of an old body, on the new body that carries it; columns are widened later."""
    return moved_marker(marker, home.R, home.p)


def _widened(marker: Marker, offset: int, width: int) -> Marker:
    Phi_d, Phi_r = zeros(3, width), zeros(3, width)
    own = marker.Phi_d.shape[1]
    Phi_d[:, offset : offset + own], Phi_r[:, offset : offset + own] = marker.Phi_d, marker.Phi_r
    shortening = tuple(replace(s, G=_padded(s.G, offset, width)) for s in marker.shortening)
    return replace(marker, Phi_d=Phi_d, Phi_r=Phi_r, shortening=shortening)


def _padded(G: Array, offset: int, width: int) -> Array:
    made, own = zeros(width, width), slice(offset, offset + len(G))
    made[own, own] = G
    return made


def _joined(a: Body, b: Body) -> Body:
    """Two bodies that share a frame, as one."""
    n, m = len(a.coordinates), len(b.coordinates)

    def block(x: Array, y: Array) -> Array:
        made = np.full((n + m, n + m, *x.shape[2:]), 0, dtype=object)
        made[:n, :n], made[n:, n:] = x, y
        return made

    stretches, shortened = [], []
    for body, first in ((a, 0), (b, n)):
        for s in body.stretches:
            shifted = tuple(first + k for k in s.coordinates)
            stretches.append(Stretch(shifted, _padded(s.G, first, n + m)))
        for t in body.shortened:
            shape = zeros(n + m)
            shape[first : first + len(t.shape)] = t.shape
            shortened.append(replace(t, shape=shape, G=_padded(t.G, first, n + m)))
    return Body(
        mass=a.mass + b.mass, MS_r=a.MS_r + b.MS_r, I_rr=a.I_rr + b.I_rr,
        MS_de=np.concatenate([a.MS_de, b.MS_de], axis=1), beta=np.concatenate([a.beta, b.beta], axis=1),
        lam=block(a.lam, b.lam), I_re=np.concatenate([a.I_re, b.I_re]), I_ee=block(a.I_ee, b.I_ee),
        M_ee=block(a.M_ee, b.M_ee), K_ee=block(a.K_ee, b.K_ee), D_ee=block(a.D_ee, b.D_ee), H_ee=block(a.H_ee, b.H_ee),
        coordinates=a.coordinates + b.coordinates, units=a.units + b.units, stretches=tuple(stretches),
        shortened=tuple(shortened),
    )  # fmt: skip


def _renumbered(
    mechanism: Mechanism, places: list[_Place], kept: list[Frame], bodies: list[Body], elastic: list[list[Coordinate]]
) -> Mechanism:
    def anchor(old: Anchor) -> Anchor:
        home = places[old.frame] if old.frame >= 0 else _Place(-1, eye(), zeros(3), 0)
        width = len(bodies[home.frame].coordinates) if home.frame >= 0 else 0
        return Anchor(home.frame, _widened(moved_marker(old.marker, home.R, home.p), home.offset, width))

    frames: list[Frame] = []
    coordinates: list[Coordinate] = []
    nq = 0
    first_old = {place.frame: i for i, place in reversed(list(enumerate(places))) if place.frame >= 0}
    for index, frame in enumerate(kept):
        old = mechanism.frames[first_old[index]]
        joint = [replace(c, frame=index) for c in mechanism.coordinates[old.v]]
        own = [replace(c, frame=index) for c in elastic[index]]
        size_q, v0 = old.q.stop - old.q.start, len(coordinates)
        coordinates += joint + own
        parent_place = places[old.parent] if old.parent >= 0 else _Place(-1, eye(), zeros(3), 0)
        width = len(bodies[frame.parent].coordinates) if frame.parent >= 0 else 0
        frames.append(
            replace(
                frame,
                body=bodies[index],
                marker=_widened(frame.marker, parent_place.offset, width),
                q=slice(nq, nq + size_q),
                v=slice(v0, v0 + len(joint)),
                e=slice(nq + size_q, nq + size_q + len(own)),
                ev=slice(v0 + len(joint), len(coordinates)),
            )
        )
        nq += size_q + len(own)
    platform = None if mechanism.platform is None else places[mechanism.platform].frame
    return replace(
        mechanism,
        frames=tuple(frames),
        coordinates=tuple(coordinates),
        nq=nq,
        closures=tuple(replace(c, first=anchor(c.first), second=anchor(c.second)) for c in mechanism.closures),
        points={k: anchor(a) for k, a in mechanism.points.items()},
        platform=platform,
    )


# Base parameters -----------------------------------------------------------------------------------------------------


def regrouped(mechanism: Mechanism) -> Mechanism:
    """Masses moved onto the body before (Khalil's base parameters): what hangs on a point moves as a point mass there.

    In the plane, a body fixed to a node gives its whole inertia to the node's rotation too."""
    frames = list(mechanism.frames)
    for index in reversed(range(len(frames))):
        frame = frames[index]
        if index == mechanism.platform:
            continue  # its own coordinates are those of its place
        if frame.parent < 0 or frame.motion not in ("fixed", "revolute", "spherical") or is_zero(frame.body.mass):
            continue
        parent = frames[frame.parent]
        turning = frame.body.I_rr[2, 2] if mechanism.planar and frame.motion == "fixed" and _about_z(frame) else 0
        mass = 0 if frame.marker.shortening else frame.body.mass  # the record has no mass that moves to second order
        frames[frame.parent] = replace(parent, body=_with_point(parent.body, frame.marker, mass, turning))
        I_rr = frame.body.I_rr.copy()
        I_rr[2, 2] = I_rr[2, 2] - turning
        frames[index] = replace(frame, body=replace(frame.body, mass=frame.body.mass - mass, I_rr=I_rr))
    return replace(mechanism, frames=tuple(frames))


def _about_z(frame: Frame) -> bool:
    """Whether the frame and the body it sits on both have z along the plane's normal."""
    return not is_zero(frame.marker.Phi_r[2]) and is_zero(frame.marker.rotation[:, 2] - eye()[:, 2])


def _with_point(body: Body, marker: Marker, mass: Any, turning: Any) -> Body:
    """A body with a point mass (and a rotary inertia about z) at a marker."""
    n = len(body.coordinates)
    r, P = marker.position, marker.Phi_d
    T = marker.Phi_r[2]
    one = eye()
    beta = body.beta + mass * (hat(r) @ P)
    beta[2] = beta[2] + turning * T
    I_rr = body.I_rr + mass * (hat(r).T @ hat(r))
    I_rr[2, 2] = I_rr[2, 2] + turning
    lam, I_re, I_ee, M_ee = body.lam.copy(), body.I_re.copy(), body.I_ee.copy(), body.M_ee.copy()
    for k in range(n):
        if is_zero(P[:, k]) and is_zero(T[k]):
            continue
        I_re[k] = I_re[k] + mass * ((r @ P[:, k]) * one - np.outer(P[:, k], r))
        for i in range(n):
            a, b = P[:, i], P[:, k]
            lam[i, k] = lam[i, k] + mass * (hat(a) @ b)
            I_ee[i, k] = I_ee[i, k] + mass * ((a @ b) * one - np.outer(b, a))
            M_ee[i, k] = M_ee[i, k] + mass * (a @ b) + turning * T[i] * T[k]
    return replace(
        body,
        mass=body.mass + mass,
        MS_r=body.MS_r + mass * r,
        I_rr=I_rr,
        MS_de=body.MS_de + mass * P,
        beta=beta,
        lam=lam,
        I_re=I_re,
        I_ee=I_ee,
        M_ee=M_ee,
    )
