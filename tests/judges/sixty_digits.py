"""Equilibria and linear models of small robots in 60 digits: Functions evaluated node by node by mpmath, so that differences
of neighbouring designs are derivatives to 40 digits. Shares the equations with the core, and no derivative of them by
parameters, no elimination and no projection."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np

from supple.core.core import Core
from supple.expr.function import Function
from supple.expr.node import Expr

DIGITS = 60
STEP = mp.mpf(10) ** -20


def evaluated(f: Function, **given: Any) -> dict[str, Any]:
    """Outputs of a Function, as object arrays of mpmath's numbers."""
    known: dict[Expr, Any] = {}
    for key, symbols in f.inputs.items():
        known.update(zip(symbols.ravel(), [mp.mpf(x) for x in np.ravel(given[key])], strict=True))
    rules = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
        "neg": lambda a: -a, "sin": mp.sin, "cos": mp.cos, "sqrt": mp.sqrt, "sign": mp.sign,
    }  # fmt: skip

    def number(x: Any) -> Any:
        return (
            known[x]
            if isinstance(x, Expr)
            else mp.mpf(x.numerator) / x.denominator
            if hasattr(x, "numerator")
            else mp.mpf(x)
        )

    for node in f.nodes:
        if node.op != "symbol":
            known[node] = rules[node.op](*(number(x) for x in node.args))
    return {key: np.array([number(x) for x in value.ravel()], dtype=object) for key, value in f.outputs.items()}


class Precise:
    """The equilibrium of a robot without ball joints at given actuators, and its linear model."""

    def __init__(self, core: Core, near: Any, reactions: Any) -> None:
        self.core, self.f, self.s = core, core.structure.functions, core.structure
        self.near, self.reactions = [mp.mpf(x) for x in near], [mp.mpf(x) for x in reactions]
        self.follows = [i for i in range(self.s.nv) if i not in self.s.active]

    def columns(self, f: Function, which: Any, **at: Any) -> Any:
        made = []
        for j in which:
            direction = [int(i == j) for i in range(self.s.nv)]
            made.append(evaluated(f, direction=direction, **{k: at[k] for k in f.inputs if k != "direction"})["column"])
        return np.array(made).T

    def rest(self, active: Any, p: Any) -> dict[str, Any]:
        """Newton's method with one Jacobian, of the start: eight digits or so a step."""
        q, lam = list(self.near), list(self.reactions)
        for place, x in zip(self.s.active, active, strict=True):
            q[self.s.places[place]] = mp.mpf(x)
        zero = [0] * self.f.forces.inputs["w"].size
        first = {"q": self.near, "p": p, "lam": lam, "w": zero}
        K = self.columns(self.f.stiffness.function, self.follows, **first)[self.follows]
        J = self.columns(self.f.loops.function, self.follows, **first)
        system = np.block([[K.astype(float), -J.T.astype(float)], [J.astype(float), np.zeros((len(J), len(J)))]])
        for _ in range(30):
            at = {"q": q, "p": p, "lam": lam, "w": zero}
            left = [*evaluated(self.f.forces, **at)["f"][self.follows], *evaluated(self.f.gaps, q=q, p=p)["residual"]]
            size = max(abs(x) for x in left)
            if size < mp.mpf(10) ** -45:
                return at
            step = np.linalg.solve(system, np.array([float(x / size) for x in left]))
            for k, i in enumerate(self.follows):
                q[self.s.places[i]] -= size * mp.mpf(step[k])
            lam = [x - size * mp.mpf(dx) for x, dx in zip(lam, step[len(self.follows) :], strict=True)]
        raise AssertionError("no equilibrium in 60 digits")

    def linear(self, at: dict[str, Any]) -> dict[str, Any]:
        """M and K on the independent motions of the core, as mpmath's matrices."""
        way, every = self.s.linear, range(self.s.nv)
        J = self.columns(self.f.loops.function, every, **at)
        solved = mp.lu_solve if len(way.rows) else None
        T = mp.zeros(self.s.nv, len(way.independent))
        Jd = mp.matrix(J[np.ix_(list(way.rows), list(way.dependent))].tolist()) if len(way.rows) else None
        for k, i in enumerate(way.independent):
            T[i, k] = 1
            if solved is not None:
                x = solved(Jd, mp.matrix((-J[list(way.rows), i]).tolist()))
                for n, row in enumerate(way.dependent):
                    T[row, k] = x[n]
        found = {}
        for key, f in (("M", self.f.inertia), ("K", self.f.stiffness)):
            found[key] = T.T * mp.matrix(self.columns(f.function, every, **at).tolist()) * T
        return found


def squares(linear: dict[str, Any]) -> list[Any]:
    """Squares of angular frequencies, lowest first."""
    L = mp.cholesky((linear["M"] + linear["M"].T) / 2)
    inverse = L**-1
    return sorted(mp.eigsy(inverse * (linear["K"] + linear["K"].T) / 2 * inverse.T, eigvals_only=True))
