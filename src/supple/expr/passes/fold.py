"""Folding: constants evaluated, like terms collected, what cancels removed."""

from __future__ import annotations

from supple.expr.function import Function
from supple.expr.passes.signed import read
from supple.expr.passes.signs import signed_function
from supple.expr.passes.sums import collect, expand


def fold(f: Function) -> Function:
    """f with 2x + 3x as 5x, (a + b) - b as a, x*y/x as y, and one node for x and -x."""
    return signed_function(expand(collect(read(f))))
