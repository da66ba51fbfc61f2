"""Loops in the variables of folding: what a closing joint ties, the equations it has, its friction."""

from __future__ import annotations

from supple.expr.function import Array
from supple.expr.node import Scalar, add, mul, sub
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
    scale,
    vector,
    zeros,
)
from supple.formulations.least_constraint.affine import Affine, across, shifted, turned
from supple.formulations.least_constraint.folding import Folding
from supple.formulations.least_constraint.quadratic import Quadratic
from supple.formulations.record import Unsupported
from supple.formulations.tree.friction import friction
from supple.formulations.tree.kinematics import relative
from supple.robot.mechanism import Anchor, Closure


class Closing(Folding):
    """Folding with the joints that close loops."""

    def _shared(self, closure: Closure, anchor: Anchor) -> tuple[int, ...]:
        """Slots of an anchor's frame that its closure ties to the other side."""
        linear = [k for k in closure.forbidden if k < 3]
        turning = [k for k in closure.forbidden if k >= 3]
        wanted = 2 if self.planar else 3
        if len(linear) != wanted:
            raise Unsupported(f"the closure {closure.name!r} lets its ends slide")
        if turning and not (len(turning) == (1 if self.planar else 3)):
            raise Unsupported(f"the closure {closure.name!r} ties some rotations only")
        return (0, 1, 2) + ((3, 4, 5) if turning else ())

    def far_side(self, closure: Closure) -> tuple[Anchor, Anchor]:
        """The anchor on the root (the platform's side) and the one on the leg."""
        root: set[int | None] = {*self.side} or {self.root}
        near, far = (closure.first, closure.second) if closure.first.frame in root else (closure.second, closure.first)
        if near.frame not in root or far.frame in root or far.frame < 0:
            raise Unsupported(f"the closure {closure.name!r} does not meet the platform or the first leg")
        if self.ports and not is_zero(minus(far.marker.position, self.c[far.frame])):
            raise Unsupported(f"the closure {closure.name!r} shares its link with another")
        return near, far

    def _loop_rows(self, closure: Closure) -> list[Affine]:
        """The equations of a closing joint: relative accelerations that must vanish, in the second anchor's axes."""
        if closure.slides:
            return self._sliding_rows(closure)
        near, far = closure.second, closure.first
        if near.frame < 0:
            near, far = far, near
        own = self._at_anchor(near, self.chain_forms(near.frame))
        if far.frame < 0:
            R, spin = self.kin.world[near.frame][0].T, zeros(3)
            other = [Affine(mul(-1, g)) for g in self.s.g] + [Affine() for _ in range(3)]
        else:
            R, spin = self.relative(near.frame, far.frame), self._spin(far)
            other = self._at_anchor(far, self.chain_forms(far.frame))
        bias = cross(self._spin(near), matvec(R, spin))
        apart = [x + y * -1 for x, y in zip(own[:3], turned(R, other[:3]), strict=True)]
        turning = [x + y * -1 + z for x, y, z in zip(own[3:], turned(R, other[3:]), bias, strict=True)]
        marker = near.marker.rotation.T if self._rigid_place(near.marker) else self.kin.marker(near).R.T
        twist = turned(marker, apart) + turned(marker, turning)
        return [twist[k] for k in closure.forbidden]

    def _sliding_rows(self, closure: Closure) -> list[Affine]:
        """The equations of a joint whose ends slide apart by d: second derivatives in the first anchor's turning axes."""
        R, d = relative(self.kin, closure.first, closure.second)
        to_first = (self.kin.marker(closure.first).R.T, matmul(R, self.kin.marker(closure.second).R.T))
        spins, rates, linear, turning = [], [], [], []
        for anchor, T in zip((closure.first, closure.second), to_first, strict=True):
            spin, _, _, rate = self.kin.twist(anchor)
            spins.append(matvec(T, spin))
            rates.append(matvec(T, rate))
            still = [Affine(mul(-1, g)) for g in self.s.g] + [Affine() for _ in range(3)]
            forms = still if anchor.frame < 0 else self._at_anchor(anchor, self.chain_forms(anchor.frame))
            linear.append(turned(T, forms[:3]))
            turning.append(turned(T, forms[3:]))
        apart = minus(minus(rates[1], rates[0]), cross(spins[0], d))
        swing = cross(spins[0], plus(cross(spins[0], d), scale(2, apart)))
        swung = shifted(shifted(linear[0], across(turning[0], d)), swing)
        twisted = shifted(turning[0], cross(spins[0], spins[1]))
        twist = [x + y * -1 for x, y in zip(linear[1] + turning[1], swung + twisted, strict=True)]
        return [twist[k] for k in closure.forbidden]

    def _at_anchor(self, anchor: Anchor, slots: list[Affine]) -> list[Affine]:
        """Accelerations at an anchor in its frame's axes, from the frame's slots."""
        c, w = self.c[anchor.frame], self.kin.motions[anchor.frame].omega
        if self._rigid_place(anchor.marker):
            rho = minus(anchor.marker.position, c)
            return shifted(shifted(slots[:3], across(slots[3:], rho)), cross(w, cross(w, rho))) + slots[3:]
        m = self.kin.marker(anchor)
        rho = minus(m.r, c)
        swing = plus(cross(w, plus(cross(w, rho), scale(2, m.v_e))), m.inward)
        a, alpha = self._bent(anchor.frame, m, shifted(shifted(slots[:3], across(slots[3:], rho)), swing), slots[3:])
        return a + alpha

    def _spin(self, anchor: Anchor) -> Array:
        """Angular velocity of an anchor in its frame's axes."""
        omega = self.kin.motions[anchor.frame].omega
        return omega if self._rigid_place(anchor.marker) else plus(omega, self.kin.marker(anchor).omega_e)

    def _closing_friction(self, closure: Closure, frames: list[int], Z: Quadratic) -> None:
        """Friction of a joint that a closure has taken over acts between the spins of its two links."""
        if closure.turning is None or closure.about is None or is_zero(closure.turning.viscous + closure.turning.coulomb):
            return
        first, second = closure.first.frame, closure.second.frame
        spin_first = self.kin.motions[first].omega if first >= 0 else zeros(3)
        R = self.relative(second, first) if first >= 0 else self.kin.world[second][0].T
        rate = dot(closure.about, minus(matvec(R, spin_first), self.kin.motions[second].omega))
        force = friction(closure.turning, rate)
        for j, axis, way in ((second, closure.about, -1), (first, matvec(R.T, closure.about), 1)):
            if j in frames:
                for n in range(3):
                    if 3 + n in self.alive[j] and not is_zero(axis[n]):
                        Z.add_linear(self.slot(j, 3 + n), mul(way, mul(force, axis[n])))

    def relative(self, j: int, r: int) -> Array:
        """Rotation from frame r's axes to frame j's; planar angles are added before their sine is taken."""
        if self.planar:
            angle = sub(self._angle(r), self._angle(j))
            k = self._normal_axis(j)
            if k == self._normal_axis(r):
                axis = zeros(3)
                axis[k] = 1
                constant = matmul(self._constant(j).T, self._constant(r))
                if is_zero(minus(matvec(constant, axis), axis)):
                    return (
                        matmul(constant, axis_rotation(axis, angle))
                        if not is_zero(constant - identity())
                        else axis_rotation(axis, angle)
                    )
        return matmul(self.kin.world[j][0].T, self.kin.world[r][0])

    def _angle(self, j: int) -> Scalar:
        """Sum of the planar angles from the base to a frame, about its normal."""
        total: Scalar = 0
        while j >= 0:
            frame = self.m.frames[j]
            k = self._normal_axis(j)
            if frame.motion == "revolute":
                total = add(total, mul(frame.axis[k], self.s.q[frame.q.start]))
            if frame.parent >= 0 and not is_zero(frame.marker.Phi_r):
                phi = matvec(frame.marker.Phi_r, self.kin.motions[frame.parent].qe)
                total = add(
                    total, dot(matvec(frame.marker.rotation.T, phi), vector(*(1 if n == k else 0 for n in range(3))))
                )
            j = frame.parent
        return total

    def _constant(self, j: int) -> Array:
        R = identity()
        while j >= 0:
            R = matmul(self.m.frames[j].marker.rotation, R)
            j = self.m.frames[j].parent
        return R
