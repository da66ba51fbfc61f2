"""SCDD (Stachera & Schumacher 2008, section 5): as printed its chains drift apart, stabilised and exact they do not."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from closed_states import closed_state

from supple import models
from supple.backends.interpreter import interpret
from supple.backends.native import load
from supple.expr.passes import optimise
from supple.formulations.record import Unsupported
from supple.formulations.scdd import VARIANTS, exact_model, printed_model, step_model
from supple.formulations.tree.chains import chains
from supple.machine import Machine
from supple.model.model import Model
from supple.model.posture import posture

Steps = dict[str, np.ndarray]


@lru_cache
def elastic_five_bar(rigid: bool = False) -> Model:
    return Machine.read("five_bar_elastic").model(rigid=rigid)


@lru_cache
def stepper(variant: str, rigid: bool):  # type: ignore[no-untyped-def]
    return load(step_model(elastic_five_bar(rigid).mechanism, variant))


def simulated(variant: str, h: float, time: float, rigid: bool = True, gain: float = 20.0) -> Steps:
    """Gaps of the loop, final state and loop forces when smooth torques drive the five-bar from rest."""
    model, step = elastic_five_bar(rigid), stepper(variant, rigid)
    q, v = posture(model), np.zeros(model.nv)
    lam = model.forward(q, v, np.array([0.2, -0.14])).reactions
    gaps = []
    for k in range(round(time / h)):
        tau = 0.2 * np.cos(3 * k * h) * np.array([1, -0.7])
        found = step(q=q, v=v, lam=lam, tau=tau, g=model.gravity, h=h, gain=gain)
        q, v, lam = found["q"], found["v"], found["lam"]
        gaps.append(np.linalg.norm(found["gap"]))
    return {"gaps": np.array(gaps), "q": q, "v": v, "lam": lam}


def spread(model: Model) -> np.ndarray:
    """How one evaluation as printed maps an error of the loop forces onto the next."""
    f, n = interpret(printed_model(model.mechanism)), model.mechanism.equations
    trials = np.vstack([np.zeros(n), np.eye(n)])
    lam = f(q=posture(model), v=np.zeros(model.nv), tau=np.zeros(len(model.active)), lam=trials, g=model.gravity)["lam"]
    return (lam[1:] - lam[0]).T


@pytest.mark.parametrize("rigid", [True, False])
def test_as_printed_the_chains_drift_apart_with_the_sample_interval(rigid: bool) -> None:
    """Fig. 4 of the paper: the distance of the chains' ends grows with time, and is the smaller the smaller the interval.
    Forces one evaluation late are an error of first order, so the gap is proportional to the interval."""
    h, time = (2e-3, 0.6) if rigid else (4e-5, 0.02)
    gaps = [simulated("as_printed", step, time, rigid)["gaps"] for step in (h, h / 2, h / 4)]
    assert gaps[0][-1] / gaps[1][-1] == pytest.approx(2, rel=0.02)
    assert gaps[1][-1] / gaps[2][-1] == pytest.approx(2, rel=0.02)
    assert gaps[0][-1] > 1e-9
    quarters = gaps[2][[len(gaps[2]) * k // 4 - 1 for k in (1, 2, 3, 4)]]
    assert np.all(np.diff(quarters) > 0)


@pytest.mark.parametrize("rigid", [True, False])
@pytest.mark.parametrize("variant", ["baumgarte", "as_printed_projection", "exact"])
def test_stabilised_and_exact_chains_stay_together(variant: str, rigid: bool) -> None:
    """Gaps below 1e-12 m (1e5 steps of the same: bench/scdd_drift.py)."""
    h, steps = (1e-3, 2000) if rigid else (2e-5, 2000)
    gaps = simulated(variant, h, steps * h, rigid)["gaps"]
    assert gaps.max() < 1e-12
    assert len(gaps) == steps


def test_all_variants_converge_to_one_motion() -> None:
    """The drift is the only fault of the print: with the interval, states of all variants approach those of `exact`."""
    true = simulated("exact", 1.25e-4, 0.3)
    for variant in VARIANTS:
        errors = [np.abs(simulated(variant, h, 0.3)["q"] - true["q"]).max() for h in (1e-3, 5e-4)]
        assert errors[1] < 0.6 * errors[0] < 1e-3, variant


def test_an_evaluation_as_printed_with_the_right_forces_is_exact() -> None:
    """Given the loop forces of the very state, (34) gives the exact accelerations and (35)-(39) give those forces back."""
    model = elastic_five_bar()
    state, tau = closed_state(model, 3), np.array([1.5, -0.8])
    true = model.forward(state.q, state.v, tau)
    given = {"q": state.q, "v": state.v, "tau": tau, "g": model.gravity}
    printed = interpret(printed_model(model.mechanism))(lam=true.reactions, **given)
    assert printed["a"] == pytest.approx(true.a, rel=1e-9, abs=1e-9)
    assert printed["lam"] == pytest.approx(true.reactions, rel=1e-9)
    exact = interpret(exact_model(model.mechanism))(gain=np.array(0.0), **given)
    assert exact["a"] == pytest.approx(true.a, rel=1e-9, abs=1e-9)
    assert exact["lam"] == pytest.approx(true.reactions, rel=1e-9)


def test_forces_of_the_printed_equations_chain_by_chain() -> None:
    """(39) as printed, f_i = J_i^-T [dtau_a, -tau_p] for each chain with its own square Jacobian, gives the opposite forces
    at the ends of the two chains that the one system J_p^T lam = tau_p of our derivation gives."""
    model = elastic_five_bar(rigid=True)
    state, tau = closed_state(model, 4), np.array([0.7, 1.1])
    true = model.forward(state.q, state.v, tau)
    J, M = model.jacobian(state.q), model.mass(state.q)
    torques = M @ true.a + model.forces(state.q, state.v)  # real and virtual drives of the tree on the true motion
    passive = model.mechanism.indices("passive")
    q_p = -np.linalg.solve(J[:, passive], J[:, model.active])  # d q_p / d q_a (12), with the sign that (12) lost
    change = q_p.T @ torques[passive]  # (38)
    for number, chain in enumerate(chains(model.mechanism)):
        own = list(chain.v)
        wanted = [change[list(model.active).index(k)] if k in model.active else -torques[k] for k in own]
        force = np.linalg.solve(J[:, own].T, wanted)  # (39)
        assert force == pytest.approx(-true.reactions, rel=1e-9), number


def test_the_printed_method_converges_only_where_passive_inertia_is_small() -> None:
    """Errors of the loop forces are multiplied by a matrix at every evaluation. Its largest eigenvalue is below one for the
    gallery's elastic five-bar; with light motors and a heavy tool it is above, and the printed method explodes."""
    assert np.abs(np.linalg.eigvals(spread(elastic_five_bar()))).max() < 0.6
    heavy = Machine.read("five_bar_elastic", {"tool": "2 kg", "motor": "1e-3 kg*m^2"}).model(rigid=True)
    assert np.abs(np.linalg.eigvals(spread(heavy))).max() > 1.5
    step = interpret(step_model(heavy.mechanism, "as_printed"))
    q, v, lam = posture(heavy), np.zeros(heavy.nv), np.array([1e-6, 0.0])
    sizes = []
    for _ in range(4):
        found = step(q=q, v=v, lam=lam, tau=np.zeros(2), g=heavy.gravity, h=1e-6, gain=0.0)
        lam = found["lam"]
        sizes.append(np.linalg.norm(lam))
    assert sizes[-1] > 1e3 * sizes[0]


def test_what_the_printed_method_does_not_take_is_said() -> None:
    """Loops that say something twice have no unique forces; a quaternion is not stepped like a number."""
    with pytest.raises(Unsupported, match="say something twice"):
        printed_model(Machine.read("bricard").model().mechanism)
    with pytest.raises(Unsupported, match="spherical joints"):
        step_model(Machine.read("hexa").model().mechanism, "exact")
    with pytest.raises(ValueError, match="there is no variant 'fast' of scdd"):
        step_model(elastic_five_bar().mechanism, "fast")


def test_table_1_of_the_paper() -> None:
    """n_a (1 + n_p + n_e)^3 for SCDD and (n_a + n_a n_e)^3 for Lagrange-D'Alembert give the rows of five-bar and HEXA. The
    Triglide's, 162 and 729, they do not give (192, 216); counted with the six rods of its parallelograms as chains of one
    passive and one elastic coordinate each they do, and the gallery's triglide has those elastic coordinates."""

    def sizes(chains: int, passive: int, elastic: int, actuators: int) -> tuple[int, int]:
        return chains * (1 + passive + elastic) ** 3, (actuators + chains * elastic) ** 3

    assert sizes(2, 1, 1, 2) == (54, 64)
    assert sizes(6, 2, 1, 6) == (384, 1728)
    assert sizes(3, 2, 1, 3) == (192, 216)
    assert sizes(6, 1, 1, 3) == (162, 729)
    for name, actuators, reduced in (("five_bar_elastic", 2, 64), ("hexa", 6, 1728), ("triglide", 3, 729)):
        mechanism = Machine.read(name).model().mechanism
        assert len(mechanism.indices("active")) == actuators
        assert len(mechanism.indices("active", "elastic")) ** 3 == reduced


def test_table_2_of_the_paper() -> None:
    """Direct dynamics of a rigid five-bar took the paper 742 operations by SCDD and 3490 by Lagrange-D'Alembert; ours, with
    the rates of the passive joints solved inside, take fewer than the smaller of the two, as printed and exact."""
    mechanism = elastic_five_bar(rigid=True).mechanism
    printed = models.builder("as_printed", "scdd")(mechanism)
    assert optimise(printed).function.operations < 192 + 80 + 432 + 38
    for method in ("scdd", "lagrange_dalembert"):
        f = models.with_rates_solved(models.builder("forward", method)(mechanism), mechanism)
        assert optimise(f).function.operations < 192 + 80 + 432 + 38
