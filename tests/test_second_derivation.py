"""A spatial flexible arm derived a second time: d'Alembert's principle on material points in 50-digit arithmetic.

Shares nothing with the recursion under test: positions only, differentiated by finite differences; own rotations, own
shape functions (solved from the differential equations of the beam), own stiffness (strain energy), Gauss quadrature.

Taken over as the model's definition (robot/bodies/record.py and formulations/kinematics.py): points of a beam are at
r0 + Phi q in its frame; the section at its end turns by Cayley's map of its small rotation; the sections' own rotary
inertia rides on the body frame, T = (1/2) int (w + Phi_r qd)^T diag(rho I) (w + Phi_r qd) dx.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from robots import build

ROBOT = """
space: spatial
stiffening: none
gravity: [1.2, -3.4, -9]
materials:
  m: {E: 70e9, G: 27e9, rho: 2700}
sections:
  s: {properties: {area: 3e-4, Iy: 2e-8, Iz: 7e-9, J: 5e-9, ky: 0.7, kz: 0.9}}
bodies:
  upper: {beam: {length: 0.5, section: s, material: m, elements: 2, axis: [1, 0.4, -0.3], up: [0.2, 0, 1], start: [0.1, 0, -0.05]}}
  lower: {beam: {length: 0.4, section: s, material: m, theory: timoshenko, axis: [-0.2, 1, 0.5], up: [1, 0, 0]}}
  hand: {rigid: {mass: 0.8, centre: [0.05, -0.02, 0.1], inertia: {xx: 0.002, yy: 0.003, zz: 0.004}}}
links:
  upper: {parent: base, at: [0.3, -0.2, 0.5], rotate: [{z: 0.4}, {x: -0.7}], joint: revolute, axis: [0.3, 0, 1], q: q1, body: upper}
  lower: {parent: upper, on: end, rotate: {y: 0.6}, joint: spherical, q: q2, body: lower}
  wrist: {parent: lower, on: end, rotate: {x: 1.1}}
  hand: {parent: wrist, at: [0.03, 0.01, 0.06], joint: universal, axis: [x, y], q: [q3, q4], body: hand}
actuators:
  q1: {inertia: 0.02, viscous: 0.5}
points:
  hand: {link: hand}
"""  # noqa: E501

Vector = Any  # object arrays of mpf


def vec(*x: Any) -> Vector:
    return np.array([mp.mpf(k) for k in x], dtype=object)


def hat(a: Vector) -> Vector:
    z = mp.mpf(0)
    return np.array([[z, -a[2], a[1]], [a[2], z, -a[0]], [-a[1], a[0], z]], dtype=object)


def axial(S: Vector) -> Vector:
    """The vector of the skew part."""
    return np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]], dtype=object) / 2


ONE = np.array(mp.eye(3).tolist(), dtype=object)


def exponential(a: Vector) -> Vector:
    """Rotation by the vector a (Rodrigues)."""
    angle = mp.sqrt(a @ a)
    if angle == 0:
        return ONE
    n = hat(a / angle)
    return ONE + mp.sin(angle) * n + (1 - mp.cos(angle)) * (n @ n)


def about(axis: str, angle: Any) -> Vector:
    return exponential(mp.mpf(angle) * vec(*(k == axis for k in "xyz")))


def cayley(a: Vector) -> Vector:
    """(1 - A/2)^-1 (1 + A/2)."""
    half = hat(a) / 2
    return np.array(mp.inverse(mp.matrix((ONE - half).tolist())).tolist(), dtype=object) @ (ONE + half)


def unit(a: Vector) -> Vector:
    return a / mp.sqrt(a @ a)


def gauss(n: int) -> list[tuple[Any, Any]]:
    """Nodes and weights on (0, 1)."""
    made = []
    for i in range(n):
        x = mp.findroot(lambda t: mp.legendre(n, t), mp.cos(mp.pi * (i + mp.mpf("0.75")) / (n + mp.mpf("0.5"))))
        slope = n * (x * mp.legendre(n, x) - mp.legendre(n - 1, x)) / (x * x - 1)
        made.append(((x + 1) / 2, 1 / ((1 - x * x) * slope**2)))
    return made


@dataclass(frozen=True)
class Beam:
    """Field of a beam clamped at x = 0: displacement, rotation and strains of every section, linear in coordinates."""

    length: Any
    elements: int
    shear: bool
    R: Vector  # of the beam's axes in the body's frame
    start: Vector
    E, G, rho, area, Iy, Iz, J, ky, kz = (
        mp.mpf(x) for x in ("70e9", "27e9", "2700", "3e-4", "2e-8", "7e-9", "5e-9", "0.7", "0.9")
    )

    def bending(self, x: Any, second: Any, k: Any) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Deflection, rotation, curvature and shear at x of one element for unit (v1, t1, v2, t2).

        v = c0 + c1 x + c2 x^2 + c3 x^3 and t = v' - g; equilibrium E I t'' + k G A g = 0 gives g = -6 E I c3/(k G A)."""
        h = self.length / self.elements
        s = -6 * self.E * second / (k * self.G * self.area) if self.shear else mp.mpf(0)
        ends = mp.matrix([[1, 0, 0, 0], [0, 1, 0, -s], [1, h, h**2, h**3], [0, 1, 2 * h, 3 * h**2 - s]])
        c = mp.inverse(ends)
        rows = [[1, x, x**2, x**3], [0, 1, 2 * x, 3 * x**2 - s], [0, 0, 2, 6 * x], [0, 0, 0, s]]
        return tuple([mp.fdot(row, c[:, j]) for j in range(4)] for row in rows)

    def section(self, fraction: Any) -> tuple[Any, Vector, Vector, Vector]:
        """x, Phi_d, Phi_r and strains (axial, torsion, two curvatures, two shears; 6 x N) in the beam's axes."""
        h, n = self.length / self.elements, 6 * self.elements
        index = min(int(fraction * self.elements), self.elements - 1)
        x = fraction * self.length - index * h
        d, r, e = (np.full((k, n), mp.mpf(0), dtype=object) for k in (3, 3, 6))
        v, tv, kv, gv = self.bending(x, self.Iz, self.ky)
        w, tw, kw, gw = self.bending(x, self.Iy, self.kz)
        for end in range(2):
            at = 6 * (index + end - 1)
            if at < 0:
                continue
            share = x / h if end else 1 - x / h
            slope = (1 if end else -1) / h
            d[0, at] = r[0, at + 3] = share
            e[0, at] = e[1, at + 3] = slope
            for j, (column, sign) in enumerate(((at + 1, 1), (at + 5, 1))):  # y with rz = +y'
                k = 2 * end + j
                d[1, column], r[2, column], e[3, column], e[5, column] = (sign * f[k] for f in (v, tv, kv, gv))
            for j, (column, sign) in enumerate(((at + 2, 1), (at + 4, -1))):  # z with ry = -z'
                k = 2 * end + j
                d[2, column], r[1, column] = sign * w[k], -sign * tw[k]
                e[2, column], e[4, column] = -sign * kw[k], sign * gw[k]
        return fraction * self.length, d, r, e

    def stiffness(self) -> Vector:
        """int of the strain energy's second derivative."""
        n = 6 * self.elements
        sizes = [self.E * self.area, self.G * self.J, self.E * self.Iy, self.E * self.Iz]
        sizes += [self.kz * self.G * self.area, self.ky * self.G * self.area] if self.shear else []
        K = np.full((n, n), mp.mpf(0), dtype=object)
        for fraction, weight in self.points():
            e = self.section(fraction)[3]
            for size, row in zip(sizes, e, strict=False):
                K = K + weight * size * np.outer(row, row)
        return K

    def points(self) -> list[tuple[Any, Any]]:
        """Fractions of the length and weights in metres."""
        n = mp.mpf(self.elements)
        return [((k + x) / n, w * self.length / n) for k in range(self.elements) for x, w in gauss(4)]

    def rotary(self) -> Vector:
        """Second moments of area that carry rotary inertia, in the body's axes."""
        bend = 1 if self.shear else 0
        return self.R @ np.diag([self.Iy + self.Iz, bend * self.Iy, bend * self.Iz]) @ self.R.T


def beam_axes(along: Vector, up: Vector) -> Vector:
    x = unit(along)
    y = unit(np.cross(up, x))
    return np.array([x, y, np.cross(x, y)], dtype=object).T


class Arm:
    """Positions of the arm for a displacement (24 numbers: q1, upper 12, q2 3, lower 6, q3, q4) away from a state."""

    def __init__(self, q: np.ndarray) -> None:
        self.q = [mp.mpf(float(x)) for x in q]
        self.upper = Beam(
            mp.mpf("0.5"), 2, False, beam_axes(vec("1", "0.4", "-0.3"), vec("0.2", 0, 1)), vec("0.1", 0, "-0.05")
        )
        self.lower = Beam(mp.mpf("0.4"), 1, True, beam_axes(vec("-0.2", 1, "0.5"), vec(1, 0, 0)), vec(0, 0, 0))
        self.fields = [self._field(b) for b in (self.upper, self.lower)]
        self.ends = [b.section(mp.mpf(1)) for b in (self.upper, self.lower)]
        masses, places = self.hand()
        beams = [b.rho * b.area * w for b in (self.upper, self.lower) for _, w in b.points()]
        self.masses = np.array([*beams, *masses], dtype=object)
        self.places = places

    @staticmethod
    def _field(beam: Beam) -> list[tuple[Vector, Vector]]:
        """Undeformed place and Phi_d of the quadrature points, in the body's axes."""
        made = []
        for fraction, _ in beam.points():
            x, d, _, _ = beam.section(fraction)
            made.append((beam.start + beam.R @ vec(x, 0, 0), beam.R @ d))
        return made

    @staticmethod
    def hand() -> tuple[list[Any], list[Vector]]:
        """Seven point masses with the hand's mass, centre and inertia."""
        moments = [mp.mpf(x) for x in ("0.002", "0.003", "0.004")]
        second = [sum(moments) / 2 - x for x in moments]  # int x^2 dm, ...
        arm, centre = mp.mpf("0.1"), vec("0.05", "-0.02", "0.1")
        masses, places = [mp.mpf("0.8") - sum(second) / arm**2], [centre]
        for k in range(3):
            for side in (1, -1):
                masses.append(second[k] / (2 * arm**2))
                places.append(centre + side * arm * ONE[k])
        return masses, places

    def place(self, move: list[Any]) -> tuple[Vector, list[Vector], Vector]:
        """Material points (P x 3), the rotations of the two beam frames, and the hand's origin."""
        q = self.q
        upper = np.array([q[1 + i] + move[1 + i] for i in range(12)], dtype=object)
        lower = np.array([q[17 + i] + move[16 + i] for i in range(6)], dtype=object)
        R = about("z", "0.4") @ about("x", "-0.7") @ exponential((q[0] + move[0]) * unit(vec("0.3", 0, 1)))
        p = vec("0.3", "-0.2", "0.5")
        points = [p + R @ (r + d @ upper) for r, d in self.fields[0]]
        first = R
        R, p = self.beyond(R, p, self.upper, self.ends[0], upper)
        R = R @ about("y", "0.6") @ self.ball(q[13:17]) @ exponential(np.array(move[13:16], dtype=object))
        points += [p + R @ (r + d @ lower) for r, d in self.fields[1]]
        second = R
        R, p = self.beyond(R, p, self.lower, self.ends[1], lower)
        R = R @ about("x", "1.1")
        p = p + R @ vec("0.03", "0.01", "0.06")
        R = R @ about("x", q[23] + move[22]) @ about("y", q[24] + move[23])
        points += [p + R @ r for r in self.places]
        return np.array(points, dtype=object), [first, second], p

    @staticmethod
    def beyond(R: Vector, p: Vector, beam: Beam, end: Any, bent: Vector) -> tuple[Vector, Vector]:
        """The frame of the section at a beam's end."""
        x, d, r, _ = end
        tip = beam.start + beam.R @ (vec(x, 0, 0) + d @ bent)
        return R @ cayley(beam.R @ (r @ bent)), p + R @ tip

    @staticmethod
    def ball(quaternion: list[Any]) -> Vector:
        """The rotation of a unit quaternion: by twice the angle whose cosine is w, about its vector."""
        w, v = quaternion[0], np.array(quaternion[1:], dtype=object)
        s = mp.sqrt(v @ v)
        return exponential(2 * mp.atan2(s, w) * v / s)


def first(f: list[Any], h: Any) -> Any:
    return (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * h)


def second(f: list[Any], h: Any) -> Any:
    return (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * h * h)


def generalised_forces(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Q_k = sum m (acceleration - g) . dp/dk + rotary inertia + K q + the motor, and the hand's acceleration."""
    with mp.workdps(50):
        return _generalised_forces(Arm(q), [mp.mpf(float(x)) for x in v], [mp.mpf(float(x)) for x in a])


def _generalised_forces(arm: Arm, v: list[Any], a: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    h = mp.mpf(10) ** -10
    at_times = [arm.place([k * h * x + (k * h) ** 2 * y / 2 for x, y in zip(v, a, strict=True)]) for k in range(-2, 3)]
    inertial = arm.masses[:, None] * (second([p for p, _, _ in at_times], h) - vec("1.2", "-3.4", "-9"))
    spins = []
    for body in range(2):
        R = [rotations[body] for _, rotations, _ in at_times]
        spins.append((axial(R[2].T @ first(R, h)), axial(R[2].T @ second(R, h))))
    Q = []
    for k in range(24):
        moved = [arm.place([s * h if i == k else mp.mpf(0) for i in range(24)]) for s in (-2, -1, 0, 1, 2)]
        force = (inertial * first([p for p, _, _ in moved], h)).sum()
        for body, (beam, at) in enumerate(((arm.upper, 1), (arm.lower, 16))):
            R = [rotations[body] for _, rotations, _ in moved]
            force += rotary_force(beam, spins[body], axial(R[2].T @ first(R, h)), v, a, at, k)
        Q.append(force)
    for beam, at, q_at in ((arm.upper, 1, 1), (arm.lower, 16, 17)):
        n = 6 * beam.elements
        elastic = beam.stiffness() @ np.array(arm.q[q_at : q_at + n], dtype=object)
        for i in range(n):
            Q[at + i] += elastic[i]
    Q[0] += mp.mpf("0.02") * a[0] + mp.mpf("0.5") * v[0]
    return np.array([float(x) for x in Q]), np.array([float(x) for x in second([p for _, _, p in at_times], h)])


def rotary_force(beam: Beam, spin: Any, turn: Vector, v: list[Any], a: list[Any], at: int, k: int) -> Any:
    """Lagrange's equations of T = (1/2) int W^T J W, W = w + Phi_r qd: (J W' + w x J W) on the frame's virtual rotation,
    J W' on the section's own."""
    w, alpha = spin
    n, J = 6 * beam.elements, beam.rotary()
    qd, qdd = np.array(v[at : at + n], dtype=object), np.array(a[at : at + n], dtype=object)
    total = mp.mpf(0)
    for fraction, weight in beam.points():
        Phi_r = beam.R @ beam.section(fraction)[2]
        grown = J @ (alpha + Phi_r @ qdd)
        total += beam.rho * weight * ((grown + np.cross(w, J @ (w + Phi_r @ qd))) @ turn)
        if at <= k < at + n:
            total += beam.rho * weight * (grown @ Phi_r[:, k - at])
    return total


@pytest.mark.parametrize("seed", range(2))
def test_spatial_flexible_arm(seed: int) -> None:
    """All 24 generalised forces, each to 1e-9 of its own kind's size, and the hand's acceleration."""
    model = build(ROBOT)
    rng = np.random.default_rng(seed)
    kinds = np.array([c.kind == "elastic" for c in model.mechanism.coordinates])
    metres = np.array([c.unit == "m" for c in model.mechanism.coordinates])
    size = np.where(kinds, np.where(metres, 2e-3, 3e-2), 1.0)
    q = np.zeros(25)
    positions = [0, *range(1, 13), *range(17, 23), 23, 24]
    own = np.delete(np.arange(24), [13, 14, 15])
    q[positions] = (size * rng.uniform(-1, 1, 24))[own]
    ball = rng.uniform(-1, 1, 4)
    q[13:17] = ball / np.linalg.norm(ball)
    v, a = size * rng.uniform(-1, 1, 24) * np.where(kinds, 30, 2), size * rng.uniform(-1, 1, 24) * np.where(kinds, 1e3, 5)
    truth, acceleration = generalised_forces(q, v, a)
    found = model.forces(q, v, a)
    assert model.names[0] == "q1" and model.names[13:16] == ["q2.rx", "q2.ry", "q2.rz"] and model.names[22:] == ["q3", "q4"]
    assert np.abs(found - truth)[~kinds].max() < 1e-9 * np.abs(truth[~kinds]).min()
    assert found == pytest.approx(truth, rel=1e-9)
    assert model.call("points", q=q, v=v, a=a)["acceleration"][0] == pytest.approx(acceleration, rel=1e-9)
