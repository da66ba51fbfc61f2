"""The systems that are judged, as frames with their motors held, ready for `equilibrium` and `frequencies`.

Their sizes are those of supple's gallery and of data/second_order/*.yaml, written again from the tables.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from judges.elements import Beam
from judges.frame import Frame
from judges.rotations import about, rotation

Array = np.ndarray
GRAVITY = 9.81


def tube(E: float, nu: float, rho: float, diameter: float, wall: float, shear: bool) -> Beam:
    """A round tube; its shear factor is Cowper's (1966)."""
    inner = diameter - 2 * wall
    inertia = math.pi / 64 * (diameter**4 - inner**4)
    m2 = (inner / diameter) ** 2
    k = 6 * (1 + nu) * (1 + m2) ** 2 / ((7 + 6 * nu) * (1 + m2) ** 2 + (20 + 12 * nu) * m2) if shear else 0.0
    area = math.pi / 4 * (diameter**2 - inner**2)
    return Beam(E, E / (2 * (1 + nu)), rho, area, inertia, inertia, 2 * inertia, k, k)


def strip(E: float, rho: float, y: float, z: float, J: float = 1.0e-9, nu: float = 0.3) -> Beam:
    """A rectangle y by z; its torsion constant matters to none of the frequencies asked for."""
    return Beam(E, E / (2 * (1 + nu)), rho, y * z, y * z**3 / 12, z * y**3 / 12, J)


COLUMN = strip(210e9, 7850.0, y=0.01, z=0.02)  # 1 m long; bends first in x-y


def column(ends: str, thrust: float, count: int, planar: bool) -> Frame:
    """A steel column of 1 m along x with a thrust on its end: pinned, free (clamped at its root) or clamped at both."""
    frame = Frame(planar=planar)
    root = frame.node([0, 0, 0], hold={"pinned": "xyzu", "free": "all", "clamped": "all"}[ends])
    tip = frame.node([1, 0, 0], hold={"pinned": "yzu", "free": "", "clamped": "yzuvw"}[ends])
    frame.beam(root, tip, COLUMN, count)
    frame.load(tip, [-thrust, 0, 0])
    return frame


def heavy_beam(ends: str, gravity: float, count: int, planar: bool, length: float = 2.0) -> Frame:
    """A slender pinned or clamped-free beam along x with gravity along x: it hangs for gravity > 0, else stands."""
    frame = Frame(planar=planar, gravity=np.array([gravity, 0, 0]))
    root = frame.node([0, 0, 0], hold={"pinned": "xyzu", "free": "all"}[ends])
    tip = frame.node([length, 0, 0], hold={"pinned": "yzu", "free": ""}[ends])
    frame.beam(root, tip, HEAVY, count)
    return frame


HEAVY = strip(210e9, 7850.0, y=0.002, z=0.02)


AS_PRINTED = {"mx14": 0.030, "zz14": 0.003, "mx17": 0.006, "mx24": 0.011}  # table 2 of Briot & Khalil (2014)
AS_SHIPPED = {"mx14": 0.0298579, "zz14": 0.0030511, "mx17": 0.0058215, "mx24": 0.0111708}  # inside its rounding


def dualemps(gravity: float, count: int, table: dict[str, float] = AS_PRINTED) -> Frame:
    """DualEMPS of Briot & Khalil (2014), tables 1 and 2, at q11 = q21 = 0, sliders held; x, y are x0, z0 of the paper."""
    frame = Frame(planar=True, gravity=np.array([0, gravity, 0]))
    blade = Beam(74e9, 74e9 / 2.66, 2800.0, 0.05 * 0.004, 1e-9, 0.05 * 0.004**3 / 12, 1e-9)
    leg = 0.0675 + 0.4505 + 0.082
    rise = math.acos(0.2 / leg)
    nodes = {}
    for side, base, angle in ((1, 0.0, rise), (2, 0.4, math.pi - rise)):
        T = about("z", angle)
        hip = frame.node([base, 0, 0], T, hold="xyz")
        knee = frame.node(frame.point(hip, [0.0675 + 0.4505, 0, 0]), T)
        frame.beam(hip, knee, blade, count, ra=[0.0675, 0, 0])
        nodes[side] = knee
        _khalil(frame, hip, 0.843, 0.004, 7.06e-4)
    _khalil(frame, nodes[1], 0.396, table["mx14"], table["zz14"])
    _khalil(frame, nodes[2], 0.190, table["mx24"], 9.44e-4)
    tip = frame.node(frame.point(nodes[1], [0.082 + 0.065 + 0.14, 0, 0]), about("z", rise))
    frame.beam(nodes[1], tip, blade, count, ra=[0.082 + 0.065, 0, 0])
    _khalil(frame, tip, 0.177, table["mx17"], 2.56e-4)
    frame.ball(nodes[1], nodes[2], [0.082, 0, 0], [0.082, 0, 0])
    return frame


def _khalil(frame: Frame, node: int, mass: float, first_moment: float, at_origin: float) -> None:
    """A body from its first moment along x and its inertia about z at the node."""
    centre = first_moment / mass
    frame.body(node, mass, [centre, 0, 0], [0, 0, at_origin - mass * centre**2])


def delta(load: float, count: int, at: Array = (0, 0, -0.6), gravity: float = GRAVITY) -> Frame:
    """The gallery's Delta with its motors held at the angles of the undeformed robot; load: N along z on the platform."""
    Rb, Rp, arm, rod, w = 0.2, 0.06, 0.3, 0.7, 0.05
    arms = tube(70e9, 0.33, 2700.0, 0.040, 0.002, shear=True)
    rods = tube(120e9, 0.3, 1600.0, 0.012, 0.0015, shear=False)
    frame = Frame(gravity=np.array([0, 0, -gravity]))
    platform = frame.node(np.asarray(at, float))
    frame.body(platform, 0.8, inertia=[1e-3, 1e-3, 2e-3])
    frame.load(platform, [0, 0, load])
    for leg in range(3):
        turn = about("z", 2 * math.pi * leg / 3)
        x, y, z = turn.T @ np.asarray(at, float) + np.array([Rp - Rb, 0, 0])
        reach = lambda q, x=x, y=y, z=z: (x - arm * math.cos(q)) ** 2 + y**2 + (z + arm * math.sin(q)) ** 2 - rod**2  # noqa: E731
        q = brentq(reach, -math.pi / 2, math.pi / 2 - 1e-3, xtol=1e-15)
        T = turn @ about("y", q)
        root = frame.node(turn @ np.array([Rb, 0, 0]), T, hold="all")
        elbow = frame.node(frame.point(root, [arm, 0, 0]), T)
        frame.beam(root, elbow, arms, count, up=T[:, 2])
        frame.body(elbow, 0.15, inertia=[4e-4, 4e-5, 4e-4])
        for side in (w, -w):
            _delta_rod(frame, rods, count, (elbow, [0, side, 0]), (platform, turn @ np.array([Rp, side, 0])))
    return frame


def _delta_rod(frame: Frame, rods: Beam, count: int, elbow: tuple, platform: tuple) -> None:
    """A rod on a universal joint at the elbow (its y, then the rod's z) and a ball at the platform."""
    start, end = frame.point(*elbow), frame.point(*platform)
    along = (end - start) / np.linalg.norm(end - start)
    y = frame.triads[elbow[0]][:, 1]
    z = np.cross(along, y) / np.linalg.norm(np.cross(along, y))
    T = np.column_stack([along, np.cross(z, along), z])
    first, last = frame.node(start, T), frame.node(end, T)
    frame.beam(first, last, rods, count, up=z)
    frame.universal(elbow[0], first, y, z, ra=elbow[1])
    frame.ball(last, platform[0], rb=platform[1])


def stewart(load: float, count: int, gravity: float = GRAVITY, at: Array = (0, 0, 0.6), turn: Array = (0, 0, 0)) -> Frame:
    """A Gough-Stewart robot on six slender flexible legs (universal foot, ball on a rigid plate), lengths held.

    Its robot file is tests/data/second_order/stewart.yaml. load: N along z on the plate."""
    legs = tube(70e9, 0.33, 2700.0, 0.016, 0.0015, shear=False)
    frame = Frame(gravity=np.array([0, 0, -gravity]))
    R = rotation(np.asarray(turn, float))
    plate = frame.node(np.asarray(at, float), R)
    frame.body(plate, 6.0, inertia=[0.06, 0.06, 0.12])
    frame.load(plate, [0, 0, load])
    ground = frame.node([0, 0, 0], hold="all")
    for i in range(6):
        corner = math.pi / 3 * i
        foot_angle = corner + (-1 if i % 2 == 0 else 1) * math.radians(25)
        foot = np.array([0.5 * math.cos(foot_angle), 0.5 * math.sin(foot_angle), 0])
        ball = np.array([0.3 * math.cos(corner), 0.3 * math.sin(corner), 0])
        _stewart_leg(frame, legs, count, (ground, foot), (plate, ball))
    return frame


def _stewart_leg(frame: Frame, legs: Beam, count: int, foot: tuple, ball: tuple) -> None:
    """A leg whose first axis is x of the base and whose second is its own y."""
    start, end = frame.point(*foot), frame.point(*ball)
    along = (end - start) / np.linalg.norm(end - start)
    y = np.cross(along, [1.0, 0, 0]) / np.linalg.norm(np.cross(along, [1.0, 0, 0]))
    T = np.column_stack([along, y, np.cross(along, y)])
    first, last = frame.node(start, T), frame.node(end, T)
    frame.beam(first, last, legs, count, up=T[:, 2])
    frame.universal(foot[0], first, np.array([1.0, 0, 0]), y, ra=foot[1])
    frame.ball(last, ball[0], rb=ball[1])
