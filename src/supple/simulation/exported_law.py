"""A law in state space along a path, packed to be written as C, with readings and forces to test it by."""

from __future__ import annotations

import numpy as np

from supple.backends.stepping.drive import Table
from supple.backends.targets.law import ExportedLaw
from supple.errors import SuppleError
from supple.model.algebra import Array
from supple.motion.laws import SampledLaw
from supple.simulation.replay import stepped
from supple.simulation.simulator import Simulator

_TESTS = 40
_SHARE = 1e-4  # of a unit: how far the readings of the test are off


def exported_law(simulator: Simulator) -> ExportedLaw:
    """The law of a simulator's motion, told readings and forces in the order of its sensors, actuators and pushes."""
    control = simulator.motion.controller
    law = None if control is None else control.own
    tables = simulator.drive.law
    if law is None or tables is None or simulator.rest is None or simulator.path is None:
        raise SuppleError("there is no law in state space to be written")
    forces = (*law.actuators, *law.pushes)
    n, r, m = law.states, len(forces), len(law.sensors)
    shapes = {"A": (n, n), "B": (n, m), "E": (n, r), "C": (r, n), "D": (r, m)}
    matrices = {k: np.array([getattr(part, k).reshape(shape) for part in law.parts]) for k, shape in shapes.items()}
    end = simulator.path.end
    weights = tables.weights or Table(np.array([0.0, end]), _still(np.ones((1, 1))))
    feedforward = _feedforward(simulator, law)
    about = f"{law.about}; along {simulator.motion.name}"
    rough, told = _tested(simulator, law, weights, feedforward)
    limits = tuple(x if np.isfinite(x) else 0.0 for x in law.limit)
    return ExportedLaw(
        simulator.model.mechanism.name, about, tuple(s.name for s in law.sensors), forces, matrices, tables.rest, weights,
        feedforward, limits, law.sample, law.delay, rough, told,
    )  # fmt: skip


def _still(values: Array) -> Array:
    """Coefficients of constant signals: (pieces, channels)."""
    made = np.zeros((*values.shape, 6))
    made[..., 0] = values
    return made


def _feedforward(simulator: Simulator, law: SampledLaw) -> Table:
    """Forces that are added: those of the motion and those that hold the robot; none on pushes."""
    own, end = simulator.motion.torques, float(simulator.path.end) if simulator.path is not None else 1.0
    count = len(law.actuators) + len(law.pushes)
    if own is None:
        return Table(np.array([0.0, end]), _still(np.zeros((1, count))))
    made = np.zeros((len(own.knots) - 1, count, 6))
    for k, name in enumerate(law.actuators):
        if f"tau {name}" in own.names:
            made[:, k] = own.coefficients[:, own.names.index(f"tau {name}")]
    return Table(own.knots, made)


def _tested(simulator: Simulator, law: SampledLaw, weights: Table, feedforward: Table) -> tuple[Array, Array]:
    """Readings that are off at random, and the forces that follow."""
    assert simulator.rest is not None
    time = np.linspace(0.0, law.sample * (_TESTS - 1), _TESTS)
    off = _SHARE * np.random.default_rng(1).standard_normal((_TESTS, len(law.sensors)))
    rest = simulator.rest.only([s.name for s in law.sensors])(time)[0]
    told = stepped(law, time, off, weights(time)).forces
    return rest + off, told + feedforward(time)
