"""Tables of collocation methods in C: nodes, weights, and the eigenvalues that let stages be solved for one by one.

Collocation in the nodes c makes accelerations a polynomial of degree s - 1; rates and positions are its integrals:
A[i, j] = integral from 0 to c_i of the j-th polynomial of Lagrange, b_j that from 0 to 1 (Hairer & Wanner, Solving Ordinary
Differential Equations II, IV.5). Gauss' nodes are the zeros of Legendre's polynomial P_s, Radau IIA's of P_s - P_(s-1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial, legendre

from supple.backends.c_source import literal
from supple.expr.function import Array

STAGES = 3


@dataclass(frozen=True)
class Collocation:
    """A method with s stages. T (s, s) brings A to blocks: its real eigenvalue, then [[a, b], [-b, a]] for a pair a +- ib.

    `misfit`: weight of what the accelerations at the start of a step are less the polynomial of the stages, so that h^2 of
    it times the square of a vibration's frequency is the error made in a radian of that vibration."""

    name: str
    c: Array
    b: Array
    A: Array
    T: Array
    real: float
    pair: complex
    start: Array  # values of the polynomials of Lagrange where the step begins
    misfit: float


def collocation(name: str) -> Collocation:
    """The method "radau" (IIA, order 5, damps what is fast) or "gauss" (order 6, symmetric), with three stages."""
    P = [legendre.Legendre.basis(k, domain=[0, 1]).convert(kind=Polynomial) for k in (STAGES - 1, STAGES)]
    c = np.sort((P[1] - P[0] if name == "radau" else P[1]).roots().real)
    c = np.where(np.abs(c - 1) < 1e-9, 1.0, c)  # Radau's last stage is the end of the step, to the last bit
    lagrange = [Polynomial.fromroots(np.delete(c, j)) for j in range(STAGES)]
    lagrange = [p / p(c[j]) for j, p in enumerate(lagrange)]
    whole = [p.integ() for p in lagrange]
    A = np.array([[p(x) for p in whole] for x in c])
    values, vectors = np.linalg.eig(A)
    one, two = int(np.abs(values.imag).argmin()), int(values.imag.argmax())
    T = np.column_stack([vectors[:, one].real, vectors[:, two].real, vectors[:, two].imag])
    return Collocation(
        name, c, np.array([p(1.0) for p in whole]), A, T, float(values[one].real), complex(values[two]),
        np.array([p(0.0) for p in lagrange]), _misfit(name, c),
    )  # fmt: skip


def _misfit(name: str, c: Array) -> float:
    """The weight that makes an error of the misfit.

    Of a vibration with z radians in a step, the misfit at the start is z^3/3! times the product of c. Radau's error in a
    step is z^6/7200 (of Pade's approximant (2, 3) to exp), that in a radian z^5/7200; Gauss' z^7/100800 and z^6/100800
    (approximant (3, 3)), for which z^5 stands here."""
    return 6 / ((7200 if name == "radau" else 100800) * float(np.prod(c)))


def between(c: Array, passed: bool) -> Array:
    """Weights of accelerations at the start, the stages and the end (columns, three times) at a share x of a step, as
    coefficients of 1, x ... (rows): in accelerations there, in rates over h x, and in positions over h^2 x^2.

    Of the polynomial through all of them, or without the start where that is `passed` by."""
    nodes = {k + 1: float(x) for k, x in enumerate(c)} | ({} if passed else {0: 0.0})
    nodes |= {} if passed or c[-1] == 1 else {STAGES + 1: 1.0}
    made = np.zeros((STAGES + 2, 3, STAGES + 2))
    for k, node in nodes.items():
        p = Polynomial.fromroots([x for j, x in nodes.items() if j != k])
        for kind in range(3):
            found = (p / p(node)).integ(kind).coef[kind:]
            made[: len(found), kind, k] = found
    return made.reshape(STAGES + 2, -1)


def collocation_tables() -> str:
    """Both methods as tables in C."""
    made = [collocation(name) for name in ("radau", "gauss")]
    lines = [
        "typedef struct {", f"    double c[{STAGES}], b[{STAGES}], A[{STAGES}][{STAGES}], AA[{STAGES}][{STAGES}];",
        f"    double T[{STAGES}][{STAGES}], back[{STAGES}][{STAGES}], own, re, im, start[{STAGES}], misfit;",
        f"    double between[2][{STAGES + 2}][{3 * (STAGES + 2)}];",
        "} Collocation;",
    ]  # fmt: skip
    for m in made:
        dense = np.array([between(m.c, passed) for passed in (False, True)])
        eigen = (m.real, m.pair.real, m.pair.imag)
        parts = (m.c, m.b, m.A, m.A @ m.A, m.T, np.linalg.inv(m.T), *eigen, m.start, m.misfit, dense)
        shown = ",\n    ".join(_braced(np.asarray(x)) for x in parts)
        lines.append(f"static const Collocation {m.name.upper()}_TABLE = {{\n    {shown}}};")
    return "\n".join(lines)


def _braced(x: Array) -> str:
    return literal(float(x)) if x.ndim == 0 else "{" + ", ".join(_braced(y) for y in x) + "}"
