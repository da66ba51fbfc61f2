"""Masses and inertias that no body has: moments that are negative or break the triangle rule, mass that lies nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MOMENTS = ("xx", "yy", "zz")
_ROUNDED = 0.01  # of the largest moment: by so much the triangle rule may be broken by values of three digits
_COMPUTED = 1e-6  # of the largest entry given: by so much a moment may be below zero
_FURTHEST = 1e6  # m of a body's centre of mass from the link's origin
FURTHEST_TIED = 1e3  # m of a mass that is tied to a flexible body
_ADVICE = "check values and units, or write unphysical: allowed"


def mass_fault(mass: Any, centre: Sequence[Any], furthest: float = _FURTHEST) -> str | None:
    """What is wrong with the place of the centre of mass (m, from the link's origin)."""
    distance = max(abs(float(x)) for x in centre)
    if mass and distance > furthest:
        return f"its centre of mass lies {distance:g} m away, where at most {furthest:g} m can be computed with; check units"
    return None


def inertia_fault(mass: Any, centre: Sequence[Any], I: Any, given: Sequence[str], at_origin: bool) -> str | None:  # noqa: E741
    """Why no body has this inertia; `given`: the moments that are written, the others are not judged.

    Sum_k m_k (|r|^2 1 - r r^T) has the moments A, B, C about its principal axes through the centre, with A <= B + C for
    each: A + B - C is twice the second moment of the mass along C's axis. Moments of a part of the axes are not negative."""
    largest = max(abs(float(x)) for x in I.ravel())
    if largest == 0:
        return None
    if mass == 0:
        return "a body without mass has no inertia; give its mass, or write unphysical: allowed"
    if at_origin:
        r = np.array(centre, dtype=object)  # whole numbers may be beyond those of the machine
        I = I - mass * (np.eye(3, dtype=object) * (r @ r) - np.outer(r, r))  # noqa: E741
    axes = [k for k, name in enumerate(MOMENTS) if name in given]
    stray = [k for k in range(3) if k not in axes and any(I[k] != 0)]
    if stray and not at_origin:
        return f"has products of inertia but no {MOMENTS[stray[0]]}; give it, or write unphysical: allowed"
    if not axes:
        return None
    moments = np.linalg.eigvalsh(I[np.ix_(axes, axes)].astype(float))
    about = "about the centre of mass"
    if moments[0] < -_COMPUTED * largest:
        what = "its principal moments" if len(axes) > 1 else f"its moment {MOMENTS[axes[0]]}"
        shift = ", once mass times distance squared is taken off," if at_origin else ""
        return f"{what} {about}{shift} {_listed(moments)}; moments of inertia are not negative; {_ADVICE}"
    if len(axes) == 3 and moments[2] > moments[0] + moments[1] + _ROUNDED * moments[2]:
        return f"its principal moments {about} {_listed(moments)}; none is above the sum of the other two; {_ADVICE}"
    return None


def matter_fault(mass: float, first_moments: Any, about_origin: Any) -> str | None:
    """Why computed inertia is no body's; moments that are zero are those of axes that nothing turns about."""
    if not mass > 0:
        return None if mass == 0 else f"its mass is {mass:g} kg"
    axes = [name for k, name in enumerate(MOMENTS) if about_origin[k, k] != 0]
    fault = inertia_fault(mass, first_moments / mass, about_origin, axes, True)
    return None if fault is None else fault.partition(";")[0] + ", which no body has"


def _listed(moments: Any) -> str:
    return ("are " if len(moments) > 1 else "is ") + ", ".join(f"{x:.4g}" for x in moments) + " kg m^2"
