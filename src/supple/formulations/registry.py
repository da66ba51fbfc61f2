"""Which formulations there are, in the order in which they are shown; the first is the usual one, others are put beside it.

A formulation of this folder is a module that is called like it and holds its record as FORMULATION; a name in `_OWN` is all
that it takes to be in every list. Modules are imported when they are first asked for, so that a list of names costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from supple.errors import SuppleError

if TYPE_CHECKING:
    from supple.formulations.record import Formulation

_OWN = (
    "newton_euler", "lagrange", "lagrange_dalembert", "scdd", "virtual_power", "platform_eliminated", "erls",
    "erls_compatible",
)  # fmt: skip
USUAL = _OWN[0]
_further: dict[str, Formulation] = {}


def names() -> list[str]:
    """Names of all formulations."""
    return [*_OWN, *_further]


def formulation(name: str) -> Formulation:
    """The formulation of a name."""
    if name in _further:
        return _further[name]
    if name not in _OWN:
        raise SuppleError(f"there is no formulation {name!r}; choose one of {', '.join(names())}")
    found: Formulation = import_module(f"supple.formulations.{name}").FORMULATION
    return found


def own(name: str) -> bool:
    """Whether a formulation is of this house, so that its source tells what it derives."""
    return name in _OWN and name not in _further


def register(further: Formulation) -> None:
    """Adds a formulation from elsewhere to all lists."""
    if further.name in names():
        raise SuppleError(f"there is a formulation {further.name!r} already; choose another name")
    _further[further.name] = further


@contextmanager
def registered(further: Formulation) -> Iterator[Formulation]:
    """A formulation in all lists for the time of a block."""
    register(further)
    try:
        yield further
    finally:
        del _further[further.name]
