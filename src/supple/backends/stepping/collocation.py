"""Tables of collocation methods in C: nodes, weights, and the eigenvalues that let stages be solved one by one, or by pairs.

Collocation in the nodes c makes accelerations a polynomial of degree s - 1; rates and positions are its integrals:
A[i, j] = integral from 0 to c_i of the j-th polynomial of Lagrange, b_j that from 0 to 1 (Hairer & Wanner, Solving Ordinary
Differential Equations II, IV.5). Gauss' nodes are the zeros of Legendre's polynomial P_s, Radau IIA's of P_s - P_(s-1).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.polynomial import Polynomial, legendre

from supple.backends.c_source import literal
from supple.expr.function import Array

NAMES = ("radau", "gauss")
FEWEST, MOST = 3, 4  # stages
_RADIANS = 2.0  # of a vibration in a step


@dataclass(frozen=True)
class Collocation:
    """A method with s stages. T (s, s) brings A to blocks: its real eigenvalue, if s is odd, then [[a, b], [-b, a]] for
    every pair a +- ib.

    `misfit`: weight of what the accelerations at the start of a step are less the polynomial of the stages, so that h^2 of
    it times the square of a vibration's frequency is the error made in a radian of that vibration."""

    name: str
    c: Array
    b: Array
    A: Array
    T: Array
    real: float  # 0 if there is none
    pairs: tuple[complex, ...]
    start: Array  # values of the polynomials of Lagrange where the step begins
    misfit: float


def collocation(name: str, stages: int = FEWEST) -> Collocation:
    """The method "radau" (IIA, order 2 s - 1, damps what is fast) or "gauss" (order 2 s, symmetric)."""
    P = [legendre.Legendre.basis(k, domain=[0, 1]).convert(kind=Polynomial) for k in (stages - 1, stages)]
    c = np.sort((P[1] - P[0] if name == "radau" else P[1]).roots().real)
    c = np.where(np.abs(c - 1) < 1e-9, 1.0, c)  # Radau's last stage is the end of the step, to the last bit
    lagrange = [Polynomial.fromroots(np.delete(c, j)) for j in range(stages)]
    lagrange = [p / p(c[j]) for j, p in enumerate(lagrange)]
    whole = [p.integ() for p in lagrange]
    A = np.array([[p(x) for p in whole] for x in c])
    values, vectors = np.linalg.eig(A)
    one = [int(np.abs(values.imag).argmin())] if stages % 2 else []
    two = sorted((k for k in range(stages) if values[k].imag > 1e-6), key=lambda k: float(values[k].imag))
    columns = [vectors[:, k].real for k in one] + [x for k in two for x in (vectors[:, k].real, vectors[:, k].imag)]
    return Collocation(
        name, c, np.array([p(1.0) for p in whole]), A, np.column_stack(columns), float(values[one[0]].real) if one else 0.0,
        tuple(complex(values[k]) for k in two), np.array([p(0.0) for p in lagrange]), _misfit(name, c),
    )  # fmt: skip


def _misfit(name: str, c: Array) -> float:
    """The weight that makes an error of the misfit.

    Of a vibration with z radians in a step, the misfit at the start is z^s/s! times the product of c, and h^2 of it times
    the square of the frequency has the power s + 2. The error in a radian (of Pade's approximants to exp) is C z^p,
    1/7200 z^5 of Radau's method with three stages. Where p is more than s + 2, that stands for it and bounds it: up to z = 1
    of Gauss' method with three stages, z^6/100800, up to z = 2 of methods with four."""
    s = len(c)
    p, constant = (2 * s - 1, _pade(s - 1, s)) if name == "radau" else (2 * s, _pade(s, s))
    bound = _RADIANS if s > FEWEST else 1.0
    return float(constant * bound ** (p - s - 2) * factorial(s) / np.prod(c))


def _pade(k: int, m: int) -> float:
    """What z^(k + m + 1) of the error of the approximant (k, m) to exp is multiplied with."""
    return factorial(k) * factorial(m) / (factorial(k + m) * factorial(k + m + 1))


def between(c: Array, passed: bool) -> Array:
    """Weights of accelerations at the start, the stages and the end (columns, three times) at a share x of a step, as
    coefficients of 1, x ... (rows): in accelerations there, in rates over h x, and in positions over h^2 x^2.

    Of the polynomial through all of them, or without the start where that is `passed` by."""
    nodes = {k + 1: float(x) for k, x in enumerate(c)} | ({} if passed else {0: 0.0})
    stages = len(c)
    nodes |= {} if passed or c[-1] == 1 else {stages + 1: 1.0}
    made = np.zeros((stages + 2, 3, stages + 2))
    for k, node in nodes.items():
        p = Polynomial.fromroots([x for j, x in nodes.items() if j != k])
        for kind in range(3):
            found = (p / p(node)).integ(kind).coef[kind:]
            made[: len(found), kind, k] = found
    return made.reshape(stages + 2, -1)


def collocation_tables(stages: int = FEWEST) -> str:
    """Both methods as tables in C."""
    made, nodes = [collocation(name, stages) for name in NAMES], stages + 2
    lines = [
        "typedef struct {", "    double c[STAGES], b[STAGES], A[STAGES][STAGES], AA[STAGES][STAGES];",
        "    double T[STAGES][STAGES], back[STAGES][STAGES], own, re[PAIRS], im[PAIRS], start[STAGES], misfit;",
        f"    double between[2][{nodes}][{3 * nodes}];",
        "} Collocation;",
    ]  # fmt: skip
    for m in made:
        dense = np.array([between(m.c, passed) for passed in (False, True)])
        eigen = (m.real, np.array(m.pairs).real, np.array(m.pairs).imag)
        parts = (m.c, m.b, m.A, m.A @ m.A, m.T, np.linalg.inv(m.T), *eigen, m.start, m.misfit, dense)
        shown = ",\n    ".join(_braced(np.asarray(x)) for x in parts)
        lines.append(f"static const Collocation {m.name.upper()}_TABLE = {{\n    {shown}}};")
    return "\n".join(lines)


def _braced(x: Array) -> str:
    return literal(float(x)) if x.ndim == 0 else "{" + ", ".join(_braced(y) for y in x) + "}"
