"""Tables of collocation: order conditions, stability functions, and blocks of their matrices."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

from supple.backends.stepping.collocation import STAGES, collocation

ORDERS = {"radau": 5, "gauss": 6}


@pytest.mark.parametrize("name", ORDERS)
def test_order_conditions(name: str) -> None:
    """Butcher's B(p): the weights integrate powers below the order exactly, and no more; C(s): so do the stages up to s."""
    m, order = collocation(name), ORDERS[name]
    for k in range(1, order + 1):
        assert m.b @ m.c ** (k - 1) == pytest.approx(1 / k, abs=1e-14)
    assert abs(m.b @ m.c**order - 1 / (order + 1)) > 1e-4
    for k in range(1, STAGES + 1):
        np.testing.assert_allclose(m.A @ m.c ** (k - 1), m.c**k / k, atol=1e-14)


@pytest.mark.parametrize(("name", "at_infinity", "constant"), [("radau", 0.0, 1 / 7200), ("gauss", -1.0, 1 / 100800)])
def test_stability_functions(name: str, at_infinity: float, constant: float) -> None:
    """R(z) = 1 + z b (1 - z A)^-1 1 is Pade's approximant to exp: limit, error, no growth on the imaginary axis."""
    m = collocation(name)

    def grown(z: complex) -> complex:
        return 1 + z * m.b @ np.linalg.solve(np.eye(STAGES) - z * m.A, np.ones(STAGES))

    assert abs(grown(-1e9)) == pytest.approx(abs(at_infinity), abs=1e-6)
    order, z = ORDERS[name], 0.05
    taylor = sum(z**k / factorial(k) for k in range(20))
    assert abs(taylor - grown(z)) / z ** (order + 1) == pytest.approx(constant, rel=0.1)
    for y in (0.1, 1.0, 10.0, 1e3):
        assert abs(grown(1j * y)) <= 1 + 1e-12
    assert abs(grown(3j)) == pytest.approx(1.0, abs=1e-12) if name == "gauss" else abs(grown(3j)) < 0.97


@pytest.mark.parametrize("name", ORDERS)
def test_blocks_of_the_matrix(name: str) -> None:
    """A T = T blocks, with the real eigenvalue and [[a, b], [-b, a]]; nodes and weights are real and inside the step."""
    m = collocation(name)
    a, b = m.pair.real, m.pair.imag
    blocks = np.array([[m.real, 0, 0], [0, a, b], [0, -b, a]])
    np.testing.assert_allclose(m.A @ m.T, m.T @ blocks, atol=1e-14)
    assert (m.c > 0).all() and (m.c <= 1).all() and (m.b > 0).all()
    assert (m.c[-1] == 1.0) == (name == "radau")
