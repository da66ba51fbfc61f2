"""Tables of collocation: order conditions, stability functions, and blocks of their matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag

from supple.backends.stepping.collocation import collocation

ORDERS = {("radau", 3): 5, ("gauss", 3): 6, ("radau", 4): 7, ("gauss", 4): 8}
ERRORS = {("radau", 3): 1 / 7200, ("gauss", 3): 1 / 100800, ("radau", 4): 1 / 1411200, ("gauss", 4): 1 / 25401600}


@pytest.mark.parametrize(("name", "stages"), ORDERS)
def test_order_conditions(name: str, stages: int) -> None:
    """Butcher's B(p): the weights integrate powers below the order exactly, and no more; C(s): so do the stages up to s."""
    m, order = collocation(name, stages), ORDERS[name, stages]
    for k in range(1, order + 1):
        assert m.b @ m.c ** (k - 1) == pytest.approx(1 / k, abs=1e-14)
    assert abs(m.b @ m.c**order - 1 / (order + 1)) > 1e-5
    for k in range(1, stages + 1):
        np.testing.assert_allclose(m.A @ m.c ** (k - 1), m.c**k / k, atol=1e-14)


@pytest.mark.parametrize(("name", "stages"), ORDERS)
def test_stability_functions(name: str, stages: int) -> None:
    """R(z) = 1 + z b (1 - z A)^-1 1 is Pade's approximant to exp: limit, error, no growth on the imaginary axis."""
    m = collocation(name, stages)

    def grown(z: complex) -> complex:
        return 1 + z * m.b @ np.linalg.solve(np.eye(stages) - z * m.A, np.ones(stages))

    assert abs(grown(-1e9)) == pytest.approx(0.0 if name == "radau" else 1.0, abs=1e-6)
    order, z = ORDERS[name, stages], 0.3j
    assert abs(np.exp(z) - grown(z)) / abs(z) ** (order + 1) == pytest.approx(ERRORS[name, stages], rel=0.01)
    for y in (0.1, 1.0, 10.0, 1e3):
        assert abs(grown(1j * y)) <= 1 + 1e-12
    assert abs(grown(3j)) == pytest.approx(1.0, abs=1e-12) if name == "gauss" else abs(grown(3j)) < 0.999


@pytest.mark.parametrize(("name", "stages"), ORDERS)
def test_blocks_of_the_matrix(name: str, stages: int) -> None:
    """A T = T blocks, a real eigenvalue and [[a, b], [-b, a]] of pairs; nodes and weights are inside the step."""
    m = collocation(name, stages)
    blocks = [[[m.real]]] if stages % 2 else []
    blocks += [[[p.real, p.imag], [-p.imag, p.real]] for p in m.pairs]
    np.testing.assert_allclose(m.A @ m.T, m.T @ block_diag(*blocks), atol=1e-14)
    assert (m.c > 0).all() and (m.c <= 1).all() and (m.b > 0).all()
    assert (m.c[-1] == 1.0) == (name == "radau")


@pytest.mark.parametrize(("name", "stages"), ORDERS)
def test_what_stands_for_the_error_bounds_it(name: str, stages: int) -> None:
    """h^2 w^2 of the misfit, of a vibration with z radians in a step, is at least the error in a radian by the stability
    function, in steps of which that says much; and not much more of Radau's method with three stages."""
    m = collocation(name, stages)
    for z in (0.5, 1.0) if stages == 3 else (0.7, 1.5, 1.9):
        accelerations = np.exp(1j * z * m.c)
        told = m.misfit * abs(1 - m.start @ accelerations) * z**2
        error = abs(np.exp(1j * z) - 1 - 1j * z * m.b @ np.linalg.solve(np.eye(stages) - 1j * z * m.A, np.ones(stages))) / z
        assert error < 1.05 * told
        assert (name, stages) != ("radau", 3) or error > 0.8 * told
