"""The equivalent rigid-link system (ERLS): a tree of rigid links, and small displacements of the real ones from it.

Every link has a rigid frame R, o that follows the joints alone. The real link is displaced from it by d and turned by
the small angles phi (base axes), and bent by its own elastic coordinates e. A point r of the link is at

    p = o + d + R (r + Phi_d e) + phi x R r

linear in everything elastic: this is the one approximation of the method (Rognant et al. 2010, eq. 18; Vidoni et al. 2012,
eq. 2). Only the shortening of reduced beams is added to Phi_d e. Neighbours share their joint: d and phi of a link are those
of the section it hangs on, carried over rigidly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.expr.function import Array
from supple.expr.node import HALF, add, mul
from supple.expr.vector import (
    axis_rotation,
    cross,
    dot,
    identity,
    is_zero,
    matmul,
    matvec,
    minus,
    plus,
    quaternion_rotation,
    scale,
    zeros,
)
from supple.formulations.tree.kinematics import State
from supple.formulations.tree.observed import bent_outline
from supple.robot.bodies.record import Marker, Outline
from supple.robot.mechanism import Anchor, Frame, Mechanism


@dataclass(frozen=True)
class Jet:
    """A vector in base axes with its first and second time derivative."""

    x: Array
    rate: Array
    second: Array

    def __add__(self, other: Jet) -> Jet:
        return Jet(plus(self.x, other.x), plus(self.rate, other.rate), plus(self.second, other.second))

    def __sub__(self, other: Jet) -> Jet:
        return Jet(minus(self.x, other.x), minus(self.rate, other.rate), minus(self.second, other.second))

    def cross(self, other: Jet) -> Jet:
        return Jet(
            cross(self.x, other.x),
            plus(cross(self.rate, other.x), cross(self.x, other.rate)),
            plus(cross(self.second, other.x), scale(2, cross(self.rate, other.rate)), cross(self.x, other.second)),
        )


def still(x: Array) -> Jet:
    return Jet(x, zeros(3), zeros(3))


@dataclass(frozen=True)
class LinkMotion:
    """One link: its rigid frame (axes R, spin, origin o), the displacement d and turn phi of the real link, its shape e."""

    frame: Frame | None
    R: Array  # base_R_link
    spin: Array  # angular velocity and acceleration of the rigid frame, base axes
    spin_rate: Array
    o: Jet
    d: Jet
    phi: Jet
    e: Array
    ed: Array
    edd: Array

    def carried(self, x: Array, rate: Array | None = None, second: Array | None = None) -> Jet:
        """A vector given with its rates in link axes, as the turning rigid frame carries it."""
        at, w = matvec(self.R, x), self.spin
        moving, sped = cross(w, at), plus(cross(self.spin_rate, at), cross(w, cross(w, at)))
        if rate is None or second is None:
            return Jet(at, moving, sped)
        own = matvec(self.R, rate)
        return Jet(at, plus(moving, own), plus(sped, scale(2, cross(w, own)), matvec(self.R, second)))

    def bent(self, Phi: Array) -> Jet:
        """Phi e, as the rigid frame carries it."""
        return self.carried(matvec(Phi, self.e), matvec(Phi, self.ed), matvec(Phi, self.edd))

    def bent_to(self, marker: Marker) -> Jet:
        """The displacement of a marker by the link's own shape, with the shortening of a bent beam."""
        made = self.bent(marker.Phi_d)
        for s in marker.shortening:
            g = matvec(s.G, self.e)
            back = mul(-HALF, dot(self.e, g))
            rate = mul(-1, dot(g, self.ed))
            second = mul(-1, add(dot(g, self.edd), dot(self.ed, matvec(s.G, self.ed))))
            made = made + self.carried(scale(back, s.axis), scale(rate, s.axis), scale(second, s.axis))
        return made

    def inside(self, x: Array) -> Array:
        """A vector of base axes in link axes."""
        return matvec(self.R.T, x)


@dataclass(frozen=True)
class SectionMotion:
    """A marker of a link: rigid axes and place, displacement and turn of the real one."""

    R: Array
    spin: Array
    o: Jet
    d: Jet
    phi: Jet


class LinkSystem:
    """Rigid links and displacements of all frames of a mechanism, with rates v and accelerations a."""

    def __init__(self, mechanism: Mechanism, state: State) -> None:
        self.mechanism = mechanism
        self.state = state
        self.motions: list[LinkMotion] = []
        for frame in mechanism.frames:
            self.motions.append(self._link(frame))

    @cached_property
    def _base(self) -> LinkMotion:
        nothing, none = still(zeros(3)), zeros(0)
        return LinkMotion(None, identity(), zeros(3), zeros(3), nothing, nothing, nothing, none, none, none)

    def motion(self, index: int) -> LinkMotion:
        return self._base if index < 0 else self.motions[index]

    def section(self, anchor: Anchor) -> SectionMotion:
        return self._section(self.motion(anchor.frame), anchor.marker)

    def _section(self, link: LinkMotion, marker: Marker) -> SectionMotion:
        arm = link.carried(marker.position)
        d = link.d + link.phi.cross(arm) + link.bent_to(marker)
        R = matmul(link.R, marker.rotation)
        return SectionMotion(R, link.spin, link.o + arm, d, link.phi + link.bent(marker.Phi_r))

    def _link(self, frame: Frame) -> LinkMotion:
        parent, s = self.motion(frame.parent), self.state
        at = self._section(parent, frame.marker)
        q, v, a = s.q[frame.q], s.v[frame.v], s.a[frame.v]
        R, spin, spin_rate, o, d = at.R, parent.spin, parent.spin_rate, at.o, at.d
        if frame.motion in ("revolute", "spherical"):
            turn = axis_rotation(frame.axis, q[0]) if frame.motion == "revolute" else quaternion_rotation(q)
            R = matmul(R, turn)
            rate = matvec(R, scale(v[0], frame.axis) if frame.motion == "revolute" else v)
            second = matvec(R, scale(a[0], frame.axis) if frame.motion == "revolute" else a)
            spin_rate = plus(spin_rate, second, cross(spin, rate))
            spin = plus(spin, rate)
        elif frame.motion == "prismatic":
            here = LinkMotion(None, R, spin, spin_rate, o, d, at.phi, zeros(0), zeros(0), zeros(0))
            slide = here.carried(*(scale(x[0], frame.axis) for x in (q, v, a)))
            o, d = o + slide, d + at.phi.cross(slide)
        return LinkMotion(frame, R, spin, spin_rate, o, d, at.phi, s.q[frame.e], s.v[frame.ev], s.a[frame.ev])

    # What is seen of it ---------------------------------------------------------------------------------------------

    def drawn(self, index: int, outline: Outline) -> list[Array]:
        """Where the points of a link's drawing really are."""
        link = self.motion(index)
        origin = plus(link.o.x, link.d.x)
        turned = [cross(link.phi.x, matvec(link.R, x)) for x in outline.position]
        bent = [matvec(link.R, x) for x in bent_outline(outline, link.e)]
        return [plus(origin, x, y) for x, y in zip(bent, turned, strict=True)]

    def relative(self, first: Anchor, second: Anchor, slides: bool) -> tuple[Array, Array]:
        """Rotation and position of the second anchor in the first one's axes, linear in displacements and turns."""
        one, two = self.section(first), self.section(second)
        gap = plus(minus(two.o.x, one.o.x), minus(two.d.x, one.d.x))
        if slides:
            gap = minus(gap, cross(one.phi.x, minus(two.o.x, one.o.x)))
        turn = minus(two.phi.x, one.phi.x)
        R = two.R if is_zero(turn) else np.stack([plus(c, cross(turn, c)) for c in two.R.T], axis=1)
        return matmul(one.R.T, R), matvec(one.R.T, gap)
