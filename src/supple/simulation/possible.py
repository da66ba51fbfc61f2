"""What no integrator can follow, told before any runs: speeds and friction that jump, controllers without samples."""

from __future__ import annotations

import numpy as np

from supple.errors import SuppleError
from supple.model.model import Model
from supple.motion.description import Motion
from supple.motion.laws import MOST_WAITING
from supple.motion.trajectory import Trajectory
from supple.robot.bodies.record import is_zero

_MOST_SAMPLES = 1e8
_JUMP = 1e-6  # of rates, relative to their peak


def check_speeds(path: Trajectory, motion: Motion) -> None:
    """A prescribed joint, platform or point whose speed jumps would need an infinite force."""
    given = motion.driven("prescribed")
    names = [n for n in path.names if motion.space != "joints" or n in given]
    if not names or not given:
        return
    own = path.only(names)
    width = np.diff(own.knots)
    powers = np.arange(1, 6)
    c = own.coefficients[..., 1:] * powers
    ends = (c * width[:, None, None] ** (powers - 1)).sum(axis=-1)
    last = np.zeros_like(ends[:1]) if motion.duration > own.end + 1e-9 else ends[-1:]
    jumps = np.abs(np.vstack([c[1:, :, 0], last]) - ends)
    peak = max(float(np.abs(ends).max(initial=0.0)), float(np.abs(c[..., 0]).max(initial=0.0)), 1e-3)
    piece, channel = np.unravel_index(int(jumps.argmax()), jumps.shape)
    if jumps[piece, channel] > _JUMP * peak and own.knots[piece + 1] < motion.duration + 1e-9:
        raise SuppleError(
            f"the speed of {names[channel]!r} jumps at t = {own.knots[piece + 1]:.6g} s, which takes an infinite force; "
            "let the motion come to rest there, or give the joint to a controller"
        )


def check_friction(model: Model) -> None:
    """Friction that jumps where a joint turns round would make the integrators chatter."""
    stuck = [c.name for c in model.mechanism.coordinates if not is_zero(c.coulomb) and is_zero(c.width)]
    if stuck:
        raise SuppleError(
            f"{model.mechanism.name}: the Coulomb friction of {', '.join(stuck[:4])} jumps where the joint turns round; "
            "give it a width in the robot file, for example width: 0.001"
        )


def check_controller(motion: Motion) -> None:
    """Integral parts and delays count in samples; of these there is a bounded number."""
    control = motion.controller
    if control is None:
        return
    if control.sample == 0.0 and any(control.ki.values()):
        raise SuppleError(
            "a controller with an integral part (ki) needs a sample time; give sample, for example sample: 1 ms"
        )
    if control.sample == 0.0 and control.delay > 0.0:
        raise SuppleError("a controller with a delay needs a sample time; give sample, for example sample: 1 ms")
    if control.sample > 0.0 and motion.duration / control.sample > _MOST_SAMPLES:
        raise SuppleError(f"a sample time of {control.sample:g} s is too short for a motion of {motion.duration:g} s")
    if control.sample > 0.0 and control.delay > MOST_WAITING * control.sample:
        raise SuppleError(f"a delay of {control.delay:g} s is more than {MOST_WAITING} samples of {control.sample:g} s")
