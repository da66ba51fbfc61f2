"""Sharing: common sub-sums and common sub-products across associativity, commutativity and sign."""

from __future__ import annotations

from supple.expr.function import Function
from supple.expr.passes.extraction import Extraction
from supple.expr.passes.signed import read
from supple.expr.passes.signs import signed_function
from supple.expr.passes.sums import collect, expand


def share(f: Function) -> Function:
    """f with (a + b) + c and (a + d) + b computing a + b once, and likewise for products."""
    return signed_function(expand(Extraction(collect(read(f)), factoring=False).run()))
