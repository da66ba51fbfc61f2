"""What is asked of results and refusals: finite numbers, masses that bodies can have, messages on printable lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from supple.errors import SuppleError

_LONGEST = 2000  # characters of a line of a message
_MOST = 2000  # lines of one
_ROUNDED, _COMPUTED = 0.02, 1e-5  # by so much the triangle rule may be broken by given digits, and moments be below zero


class Wrong(AssertionError):
    """A result that cannot be, or a message that no one should read."""


def finite(what: str, values: Any) -> None:
    """Raises Wrong unless all values are finite numbers."""
    if not np.isfinite(np.asarray(values, dtype=complex)).all():
        raise Wrong(f"{what}: not finite")


def message(error: SuppleError) -> None:
    """Raises Wrong for a message that is empty, endless, or holds characters that a terminal obeys."""
    lines = str(error).split("\n")
    if not lines[0].strip() or len(lines) > _MOST:
        raise Wrong(f"message of {len(lines)} lines")
    for line in lines:
        if not line.isprintable():
            raise Wrong(f"message with hidden characters: {line!a:.200}")
        if len(line) > _LONGEST:
            raise Wrong(f"message of {len(line)} characters")


def bodies(frames: Iterable[Any], *, unphysical: bool) -> None:
    """Raises Wrong for masses and inertias that no body has; `unphysical`: the file allows such inertias."""
    for frame in frames:
        body = frame.body
        mass, first, about_origin = float(body.mass), body.MS_r.astype(float), body.I_rr.astype(float)
        for name in ("MS_r", "I_rr", "M_ee", "K_ee", "D_ee"):
            finite(f"{name} of a body", getattr(body, name).astype(float))
        if not (np.isfinite(mass) and mass >= 0):
            raise Wrong("mass of a body: negative or not finite")
        if not unphysical and mass > 0:
            _moments(mass, first / mass, about_origin, slender=bool(body.coordinates))


def _moments(mass: float, centre: Any, about_origin: Any, *, slender: bool) -> None:
    """The principal moments about the centre, of those axes that have one: none is negative or above the sum of the others.

    Planar robots leave moments out, which are zero then; beams, whose theory leaves out the inertia of sections that
    tilt, are judged by the first rule only (`slender`)."""
    about_centre = about_origin - mass * (np.eye(3) * (centre @ centre) - np.outer(centre, centre))
    axes = [k for k in range(3) if about_origin[k, k] != 0]
    if not axes:
        return
    found = np.linalg.eigvalsh(about_centre[np.ix_(axes, axes)])
    largest = float(np.abs(about_origin).max())
    if found[0] < -_COMPUTED * largest:
        raise Wrong(f"inertia of a body: a principal moment is negative ({found[0]:.3g} of {largest:.3g})")
    if (
        len(axes) == 3
        and found[0] > _COMPUTED * found[2]
        and found[2] - found[0] - found[1] > _ROUNDED * found[2] + _COMPUTED * largest
    ):
        raise Wrong(f"inertia of a body: the triangle rule is broken ({found})")
