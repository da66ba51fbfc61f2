"""What modes that the reduction of a platform leaves out would do to the robot's frequencies.

A platform of N modes of the free body gives way too little where legs push it: what is missing under forces f is the sum
of (phi_i . f)^2 / omega_i^2 over the modes left out, mass-normalised. What pushes the kept ones in a mode of the robot are
their rows of (K - omega^2 M) phi. Modes left out are taken to be pushed as hard as the kept ones are on average, and
frequencies to grow with their number, as those of plates do: the sum is then the squares of the forces on the kept modes,
added up, over omega_N^2. By as much, to first order, the square of the robot's frequency is too high. That is an estimate,
as a rule within a factor of three of what more modes show (`tests/test_modes_left_out.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from supple.model.algebra import Array, eigh, least_squares, null_space, one_thread, symmetric
from supple.model.model import Model
from supple.robot.bodies.record import Body
from supple.robot.mechanism import Frame

TOLD = 0.02  # of a frequency
_LOWEST = 6  # modes of the robot that are looked at
_FAR_BELOW = 0.5  # of the first mode left out: faster motions of the robot are not those of the platform's first modes


def modes_left_out(model: Model, q: Array) -> tuple[str, ...]:
    """A line if the platform's free modes are too few for the robot's frequencies in a posture."""
    mechanism = model.mechanism
    platform = None if mechanism.platform is None else mechanism.frames[mechanism.platform]
    if platform is None or not _is_cut_short(platform.body) or not np.isfinite(q).all():
        return ()
    try:
        return tuple(_told(platform, *pushed_modes(model, q)))
    except np.linalg.LinAlgError:  # something moves no mass: there are no modes to tell of
        return ()


def _is_cut_short(body: Body) -> bool:
    reduced = body.reduced
    return reduced is not None and reduced.method == "free_free" and reduced.omitted is not None and body.flexible


@one_thread
def pushed_modes(model: Model, q: Array) -> tuple[Array, Array]:
    """Squared frequencies of the robot at rest in a posture, actuators held, and what pushes coordinates in its modes."""
    J = model.jacobian(q)
    hold = np.vstack([J, model.held(model.active)])
    Z, _, _ = null_space(hold)
    M = model.mass(q)
    K = model.stiffness(q, least_squares(hold.T, model.forces(q, friction=False))[: len(J)])
    squares, vectors = eigh(symmetric(Z.T @ K @ Z), symmetric(Z.T @ M @ Z))
    shapes = Z @ vectors
    return squares, K @ shapes - (M @ shapes) * squares


def lowered(body: Body, squares: Array, pushed: Array) -> Array:
    """By what share frequencies of the robot are too high for want of modes of a body, whose coordinates are `pushed`."""
    assert body.reduced is not None
    highest = 2 * np.pi * max(body.reduced.frequencies)
    inertia = np.diag(body.M_ee.astype(float))[:, None]
    made: Array = (pushed**2 / inertia).sum(axis=0) / highest**2 / (2 * squares)
    return made


def _told(platform: Frame, squares: Array, pushed: Array) -> Iterable[str]:
    reduced = platform.body.reduced
    assert reduced is not None and reduced.omitted is not None
    clear = np.flatnonzero((squares > 0) & (squares < (2 * np.pi * _FAR_BELOW * reduced.omitted) ** 2))[:_LOWEST]
    share = lowered(platform.body, squares[clear], pushed[platform.e][:, clear])
    if share.max(initial=0.0) > TOLD:
        worst = int(share.argmax())
        hertz = np.sqrt(squares[clear][worst]) / (2 * np.pi)
        first = f", the first by {100 * share[0]:.2g} %" if worst else ""
        yield (
            f"link {platform.link!r} gives way too little where it is held: modes that its reduction leaves out would lower "
            f"the natural frequency of {hertz:.4g} Hz by about {100 * share[worst]:.2g} %{first}; keep more modes, or name "
            "its attachments and reduce it by static"
        )
