"""A linear model as C: its matrices and two functions, nothing else needed."""

from __future__ import annotations

import re

import numpy as np

from supple.results import Array, LinearModel


def linear_c(model: LinearModel) -> str:
    """C99 of x' = A x + B u and y = C x + D u, with the names and units of inputs and outputs in comments."""
    name = re.sub(r"\W", "_", model.robot)
    name = name if name[:1].isalpha() else f"robot_{name}"
    n, m, p = len(model.states), len(model.inputs), len(model.outputs)
    given, seen = zip(model.inputs, model.input_units, strict=True), zip(model.outputs, model.output_units, strict=True)
    listed = (
        *(f" * u[{k}] {_plain(x)} ({unit})" for k, (x, unit) in enumerate(given)),
        *(f" * y[{k}] {_plain(x)} ({unit})" for k, (x, unit) in enumerate(seen)),
    )
    state = "free" if model.free else "held"
    lines = [
        f"/* {_plain(model.robot)}: x' = A x + B u, y = C x + D u; actuators {state}. Made by supple; do not edit.",
        *listed,
        " */",
        f"enum {{ {name}_states = {n}, {name}_inputs = {m}, {name}_outputs = {p} }};",
        *(_matrix(f"{name}_{letter}", getattr(model, letter)) for letter in "ABCD"),
        _function(f"{name}_derivative", "xd", (f"{name}_A", f"{name}_B"), (n, n, m)),
        _function(f"{name}_output", "y", (f"{name}_C", f"{name}_D"), (p, n, m)),
    ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text that cannot end a comment."""
    return re.sub(r"[^\w .,()/\[\]^-]", "_", text).replace("*/", "_/")


def _matrix(name: str, values: Array) -> str:
    rows = np.atleast_2d(values)
    size = f"[{max(1, rows.shape[0])}][{max(1, rows.shape[1])}]"
    text = ",\n".join("  {" + ", ".join(f"{float(x):.17g}" for x in row) + "}" for row in rows)
    return f"static const double {name}{size} = {{\n{text}\n}};"


def _function(name: str, out: str, matrices: tuple[str, str], sizes: tuple[int, int, int]) -> str:
    rows, n, m = sizes
    return f"""
void {name}(const double *x, const double *u, double *{out})
{{
    for (int i = 0; i < {rows}; i++) {{
        double sum = 0.0;
        for (int j = 0; j < {n}; j++)
            sum += {matrices[0]}[i][j] * x[j];
        for (int j = 0; j < {m}; j++)
            sum += {matrices[1]}[i][j] * u[j];
        {out}[i] = sum;
    }}
}}"""
