"""`moving`: the parts of twists that frames have; those of a planar robot are three."""

from __future__ import annotations

import numpy as np

from supple.expr.function import Array
from supple.expr.vector import is_zero
from supple.formulations.tree.kinematics import FrameMotion, Kinematics


def moving(kin: Kinematics) -> tuple[int, ...]:
    """Which of three translations and three rotations some frame of a mechanism makes, in its own axes."""
    found = list[Array]()
    for motion in kin.motions:
        parent = found[motion.frame.parent] if motion.frame.parent >= 0 else np.zeros(6, dtype=bool)
        found.append(_carried(motion, parent) | _by_joint(motion))
    return tuple(int(k) for k in np.flatnonzero(np.any(found, axis=0)))


def _carried(motion: FrameMotion, parent: Array) -> Array:
    """What a frame's parent and its elastic coordinates make it do."""
    marker = motion.frame.marker
    moved = parent[:3] | _some(marker.Phi_d).any(axis=1) | _across(parent[3:], _some(motion.marker.r))
    turned = parent[3:] | _some(marker.Phi_r).any(axis=1)
    turn = _some(motion.R).T
    spin = turn @ turned
    return np.concatenate([turn @ moved | _across(spin, _some(motion.slide)), spin])


def _by_joint(motion: FrameMotion) -> Array:
    none = np.zeros(3, dtype=bool)
    match motion.frame.motion:
        case "prismatic":
            return np.concatenate([_some(motion.frame.axis), none])
        case "revolute":
            return np.concatenate([none, _some(motion.frame.axis)])
        case "spherical":
            return np.concatenate([none, ~none])
    return np.concatenate([none, none])


def _across(turn: Array, arm: Array) -> Array:
    """Where the cross product of two vectors may have parts."""
    return np.array([turn[(k + 1) % 3] & arm[(k + 2) % 3] | turn[(k + 2) % 3] & arm[(k + 1) % 3] for k in range(3)])


def _some(x: Array) -> Array:
    """Which numbers of an array are not plain zeros."""
    made: Array = np.vectorize(lambda one: not is_zero(one), otypes=[bool])(x)
    return made
