"""`Package`: one generated model with everything a target needs to write it out and to check itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.expr.function import Function
from supple.expr.program import Program


@dataclass(frozen=True)
class NamedArray:
    """A named array of the model: what each of its elements is called in the robot file, and its unit."""

    name: str
    labels: tuple[str, ...]
    units: tuple[str, ...]


@dataclass(frozen=True)
class Package:
    """A model of a robot, ready for export. Names come from robot files: every target makes them safe for its language."""

    robot: str
    model: str
    about: str
    function: Function
    inputs: tuple[NamedArray, ...]
    outputs: tuple[NamedArray, ...]
    sample: Mapping[str, npt.NDArray[np.float64]]  # inputs of the self-test
    expected: Mapping[str, npt.NDArray[np.float64]]  # its outputs, by the interpreter
    program: Program | None = None  # the same model with one leg's code for all legs, for targets that can

    def counts(self) -> dict[str, Any]:
        """Operations as the user counts them."""
        return counted(self.function.counts)


def counted(c: Counter[str]) -> dict[str, Any]:
    """Operations as the user counts them: subtraction is an addition."""
    operations = {"add": c["add"] + c["sub"], "mul": c["mul"], "div": c["div"], "neg": c["neg"]}
    operations["total"] = sum(operations.values())
    functions = {name: c[name] for name in ("sin", "cos", "sqrt", "sign") if c[name]}
    return {"operations": operations, "functions": functions, "intermediates": sum(c.values())}
