"""The laws of mechanics of test_laws.py, obeyed by the ERLS formulations too, and exactly: both derive complete equations
from their (approximate) kinematics."""

from __future__ import annotations

import numpy as np
import pytest
import test_laws as laws
from closed_states import closed_state
from erls_robots import METHODS, robot

LAWS = (
    laws.test_states_are_closed, laws.test_mass_matrix, laws.test_closure_jacobian, laws.test_closure_acceleration,
    laws.test_reactions_are_conjugate_to_the_loops, laws.test_power_balance, laws.test_forward_and_inverse_undo_each_other,
    laws.test_tangents_are_derivatives_of_the_forces, laws.test_weight_is_the_gradient_of_the_gravity_energy,
    laws.test_a_load_does_the_work_of_its_point, laws.test_points_move_as_they_say,
)  # fmt: skip
LAWFUL = (
    "bricard", "cantilever", "dualemps", "five_bar", "gough_stewart", "pacdrive",
    *(name for name in laws.ROBOTS if "closing" in name),
)  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", LAWFUL)
def test_laws(name: str, method: str) -> None:
    """All laws of test_laws.py at a random closed state: energy balance, symmetry of M and the rest hold exactly, because
    both methods derive complete equations from their (approximate) kinematics."""
    model = robot(name, METHODS[method])
    state = closed_state(model, 1)
    for law in LAWS:
        if model.mechanism.closures or ("loops" not in law.__name__ and "closure" not in law.__name__):
            law((model, state, np.random.default_rng(1)))
