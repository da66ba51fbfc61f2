"""Models as C functions over batches of states, supple's and CasADi's behind one call, without Python in between."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from supple.backends.compiler import find_compiler
from supple.backends.native import Native
from supple.expr.function import Function
from supple.expr.node import Expr

_LOOP = """
__attribute__((visibility("default")))
void supple_batch(long long count, const double *const *in, const long long *step, double *const *out)
{{
    const double *arg[{n_arg}];
    double *res[{n_res}];
    for (long long k = 0; k < count; k++) {{
        {arguments}
        {results}
        {name}(arg, res, 0, 0, 0);
    }}
}}
"""


@dataclass(frozen=True)
class Compiled:
    """`supple_batch` of a library, and the arrays of one batch tied to it; `run` computes them all."""

    library: ctypes.CDLL
    outputs: Mapping[str, np.ndarray]
    _keep: Any
    _arguments: tuple[Any, ...]

    def run(self) -> None:
        self.library.supple_batch(*self._arguments)


def bind(library: ctypes.CDLL, sizes: Mapping[str, int], inputs: Mapping[str, np.ndarray], kind: Any = float) -> Compiled:
    """The library with a batch: inputs of one row are shared by all states."""
    tables = [np.ascontiguousarray(np.atleast_2d(x), dtype=kind) for x in inputs.values()]
    count = max(len(x) for x in tables)
    outputs = {name: np.zeros((count, size), kind) for name, size in sizes.items()}
    pointers = [(ctypes.c_void_p * len(x))(*(a.ctypes.data for a in x)) for x in (tables, list(outputs.values()))]
    steps = (ctypes.c_longlong * len(tables))(*(x.shape[1] if len(x) > 1 else 0 for x in tables))
    return Compiled(library, outputs, tables, (ctypes.c_longlong(count), pointers[0], steps, pointers[1]))


def bind_native(model: Native, inputs: Mapping[str, np.ndarray]) -> Compiled:
    """A compiled supple Function with a batch, for one thread."""
    return bind(model.library, {k: x.size for k, x in model.function.outputs.items()}, inputs, model.kind)


def compile_casadi(f: ca.Function, flags: Sequence[str]) -> ctypes.CDLL:
    """CasADi's C of f in a loop over states, compiled with `flags`."""
    loop = _LOOP.format(
        name=f.name(), n_arg=f.sz_arg(), n_res=f.sz_res(),
        arguments=" ".join(f"arg[{k}] = in[{k}] + k * step[{k}];" for k in range(f.n_in())),
        results=" ".join(f"res[{k}] = out[{k}] + k * {f.nnz_out(k)};" for k in range(f.n_out())),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        generator = ca.CodeGenerator(f"{f.name()}.c")
        generator.add(f)
        text, made = Path(folder, "model.c"), Path(folder, "model.so")
        text.write_text(generator.dump() + loop)
        subprocess.run([*(find_compiler() or ("cc",)), *flags, "-shared", "-fPIC", "-o", made, text, "-lm"], check=True)
        return ctypes.CDLL(str(made))


def to_casadi(f: Function) -> ca.Function:
    """supple's graph, operation for operation, as a CasADi Function."""
    inputs = {name: ca.SX.sym(name, x.size) for name, x in f.inputs.items()}
    value: dict[Any, Any] = {s: inputs[k][i] for k, x in f.inputs.items() for i, s in enumerate(x.ravel())}
    binary = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b}
    calls = binary | {"neg": lambda a: -a, "sin": ca.sin, "cos": ca.cos, "sqrt": ca.sqrt, "sign": ca.sign}

    def known(x: Any) -> Any:
        return value[x] if isinstance(x, Expr) else float(x)

    for node in f.nodes:
        if node.op != "symbol":
            value[node] = calls[node.op](*map(known, node.args))
    outputs = [ca.vertcat(*map(known, x.ravel())) for x in f.outputs.values()]
    return ca.Function(f.name, list(inputs.values()), outputs, list(f.inputs), list(f.outputs))
