"""Newton's matrices body by body beside the whole matrix by differences: the same motion in as few iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supple.backends.compiler import find_compiler
from supple.backends.stepping.settings import Settings
from supple.backends.stepping.state import State
from supple.backends.stepping.stepper import Stepper
from supple.machine import GALLERY, Machine
from supple.simulation import plants
from supple.simulation.simulator import Simulator, simulator

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
UNTIL = 0.03
MANY, SOME = plants.MANY, plants.SOME


def _run(
    robot: Simulator, many: int, monkeypatch: pytest.MonkeyPatch, until: float = UNTIL, troubled: bool = False
) -> tuple[Stepper, Any, dict[str, int]]:
    """A Stepper whose matrices are made body by body above so many free coordinates, samples and counts."""
    monkeypatch.setattr(plants, "MANY", many)
    monkeypatch.setattr(plants, "PLENTY", many)
    monkeypatch.setattr(plants, "SOME", min(many, SOME) if many < 10**6 else many)
    stepper = Stepper(robot.plant())
    state = stepper.start(robot.scaled(Settings(tolerance=1e-7)), robot.drive, 0.0, robot.runs[0].q, robot.runs[0].v)
    assert stepper.begin(state, robot.drive) == "fine"
    outcome, samples = stepper.run(state, robot.drive, until, 10**6, 1000)
    assert outcome == "done"
    assert bool(state["limb_trouble"][0]) == troubled
    return stepper, samples[:, 0], state.counts()


# legs on a platform, whose actuators follow a path or are driven by forces; a loop without a platform
@pytest.mark.parametrize("name", ["3rrr circle", "3rrr turn", "five_bar circle"])
def test_body_by_body_and_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = simulator(Machine.read(name.split()[0]), name.split()[1])
    stepper, by_limbs, few = _run(robot, 0, monkeypatch)
    assert stepper.plant.limbs is not None
    other, whole, counts = _run(robot, 10**6, monkeypatch)
    assert other.plant.limbs is None
    assert few["newton_iterations"] < 1.6 * counts["newton_iterations"]
    least = {"q": 0.0, "v": 0.0, "free_a": robot.scaled(Settings()).scale}  # errors are relative to it
    for part in ("q", "v", "free_a"):
        one, two = by_limbs[:, stepper.sample[part]], whole[:, stepper.sample[part]]
        size = max(np.abs(two).max(), least[part])
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-5 * size, err_msg=part)


def test_whole_where_body_by_body_does_not_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    """pacdrive let go beside a singular pose, where they do not converge: the whole matrix takes over."""
    robot = simulator(Machine.read("pacdrive", {"elements": "6"}), "fall")
    stepper, by_limbs, _ = _run(robot, 0, monkeypatch, until=0.004, troubled=True)
    _, whole, _ = _run(robot, 10**6, monkeypatch, until=0.004)
    for part in ("q", "v"):
        one, two = by_limbs[:, stepper.sample[part]], whole[:, stepper.sample[part]]
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-5 * np.abs(two).max(), err_msg=part)


def test_controllers_are_in_the_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """five_bar under stiff PD controllers that act at every moment: as few iterations as with whole matrices."""
    text = (GALLERY / "five_bar.yaml").read_text(encoding="utf-8")
    stiff = text.replace("  circle:\n", "  circle:\n    controller: {pd: {kp: 2e4, kd: 100}}\n")
    assert stiff != text
    robot = simulator(Machine.parse(stiff), "circle")
    stepper, by_limbs, few = _run(robot, 0, monkeypatch)
    assert stepper.plant.limbs is not None and stepper.plant.torque
    _, whole, counts = _run(robot, 10**6, monkeypatch)
    assert few["newton_iterations"] < 1.3 * counts["newton_iterations"]
    q = stepper.sample["q"]
    np.testing.assert_allclose(by_limbs[:, q], whole[:, q], rtol=0, atol=1e-7 * np.abs(whole[:, q]).max())


def test_many_elements_to_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """five_bar with eight elements an arm, damped mode by mode: steps of one length solved to rounding, full damping in a
    table beside the equations and in the matrices only nearly, against the whole matrix of equations that have all."""
    robot = simulator(Machine.read("five_bar", {"elements": "8"}), "circle")
    settings = robot.scaled(Settings(step=2e-4, newton=1e-11, every=0.0))
    found = []
    for many in (0, 10**6):
        for limit in ("SOME", "MANY", "PLENTY"):
            monkeypatch.setattr(plants, limit, many)
        stepper = Stepper(robot.plant())
        assert bool(stepper.plant.damping) == (stepper.plant.limbs is not None) == (many == 0)
        state = stepper.start(settings, robot.drive, 0.0, robot.runs[0].q, robot.runs[0].v)
        assert stepper.begin(state, robot.drive) == "fine"
        outcome, samples = stepper.run(state, robot.drive, UNTIL, 10**6, 1000)
        assert outcome == "done"
        assert not state["limb_trouble"][0]
        found.append((samples[:, 0], float(state["work"][0]), state.counts()["newton_iterations"]))
    (by_limbs, work, few), (whole, same, counts) = found
    assert few < 2 * counts
    assert work == pytest.approx(same, rel=1e-9)
    for part in ("q", "v"):
        one, two = by_limbs[:, stepper.sample[part]], whole[:, stepper.sample[part]]
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-10 * np.abs(two).max(), err_msg=part)


def _six_legs() -> Machine:
    """delta with six legs, which hold each other, so that some of what bends follows from the rest."""
    text = (GALLERY / "delta.yaml").read_text(encoding="utf-8").rstrip().replace("count: 3", "count: 6")
    return Machine.parse(f"{text}\n  let_go: {{torques: {{leg1/q1: 0 N*m}}, duration: 0.1 s}}\n")


def test_what_bends_may_follow_from_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = simulator(_six_legs(), "let_go")
    stepper, by_limbs, few = _run(robot, 200, monkeypatch)
    elastic = set(robot.model.mechanism.indices("elastic"))
    assert stepper.plant.stages == 4 and {p.v for p in stepper.plant.dependent} & elastic
    other, balances, counts = _run(robot, MANY, monkeypatch)
    assert other.plant.limbs is not None and other.plant.limbs.balance is not None
    assert few["newton_iterations"] < 0.6 * counts["newton_iterations"]
    for part in ("q", "v"):
        one, two = by_limbs[:, stepper.sample[part]], balances[:, other.sample[part]]
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-4 * np.abs(two).max(), err_msg=part)


def test_states_without_empty_matrices_go_on_as_whole_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Body by body nothing stands in whole matrices: stored and read again halfway, a run goes on to the same bits."""
    robot = simulator(Machine.read("3rrr", {"elements": "3"}), "circle")
    stepper, whole, _ = _run(robot, MANY, monkeypatch)
    state = stepper.start(robot.scaled(Settings(tolerance=1e-7)), robot.drive, 0.0, robot.runs[0].q, robot.runs[0].v)
    assert stepper.begin(state, robot.drive) == "fine"
    first = stepper.run(state, robot.drive, UNTIL / 2, 10**6, 1000)[1]
    layout, kept = stepper.layout, state.data
    assert len(kept) == layout.sizes[1] < 0.6 * layout.size
    second = stepper.run(State(layout, kept), robot.drive, UNTIL, 10**6, 1000)[1]
    onwards = stepper.run(state, robot.drive, UNTIL, 10**6, 1000)[1]
    np.testing.assert_array_equal(second, onwards)
    state["newton_matrix"] = 1.0
    assert len(state.data) == layout.size
    np.testing.assert_array_equal(State(layout, state.data)["newton_matrix"], 1.0)
    assert len(first) + len(second) >= len(whole)


def test_which_residuals() -> None:
    """Accelerations up to 500 coordinates, where all move mass; what is out of balance for more, and for surgiscope, whose
    springs carry nothing but what loops give them."""
    robots = (
        ("delta", {"elements": 2}, "carry"),
        ("delta", {"elements": 10}, "carry"),
        ("surgiscope", {}, "pick_and_place"),
    )
    found = [simulator(Machine.read(name, settings), motion).plant().limbs for name, settings, motion in robots]
    assert [x is not None and x.balance is None for x in found] == [True, False, False]


@pytest.mark.parametrize(("name", "motion"), [("pacdrive", "carry"), ("delta", "carry")])
def test_misfits_of_accelerations_body_by_body(name: str, motion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Robots of 50 to 100 free coordinates, four stages at once, beside the whole matrix with three: bodies that bend
    much, and legs side by side. Longer steps, and hardly more iterations in each."""
    robot = simulator(Machine.read(name), motion)
    stepper, by_limbs, few = _run(robot, MANY, monkeypatch, until=0.05)
    assert stepper.plant.stages == 4 and stepper.plant.limbs is not None and stepper.plant.limbs.balance is None
    other, whole, counts = _run(robot, 10**6, monkeypatch, until=0.05)
    assert other.plant.stages == 3 and other.plant.limbs is None
    assert few["steps"] < 0.6 * counts["steps"]
    assert few["newton_iterations"] < 0.6 * counts["newton_iterations"]
    for part in ("q", "v"):
        one, two = by_limbs[:, stepper.sample[part]], whole[:, stepper.sample[part]]
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-5 * np.abs(two).max(), err_msg=part)
