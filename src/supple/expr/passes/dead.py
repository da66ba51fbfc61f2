"""Inputs nobody reads. Dead operations need no pass: a Function holds only what its outputs reach."""

from __future__ import annotations

from supple.expr.function import Function


def dead_inputs(f: Function) -> dict[str, tuple[int, ...]]:
    """Input name -> flat positions of its elements no output depends on; inputs read in full are left out."""
    live = set(f.nodes)
    unread = {name: tuple(i for i, x in enumerate(array.ravel()) if x not in live) for name, array in f.inputs.items()}
    return {name: positions for name, positions in unread.items() if positions}
