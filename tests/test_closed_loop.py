"""Linear models under controllers: roots of the delayed equation, and the decay of a simulation; models made for a band."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import xarray

import supple
from supple.errors import SuppleError

SLIDER = """
name: slider
space: planar
gravity: [0, 0, 0]
bodies: {block: {rigid: {mass: 2 kg}}}
links: {block: {parent: base, joint: prismatic, axis: x, q: x, body: block}}
actuators: {x: {}}
points: {tip: {link: block}}
motions:
  push:
    moves: [{to: {x: 0 m}, duration: 0.4 s}]
    loads: {tip: {fx: {impulse: {area: 1 N*s, duration: 1 ms, at: 1 ms}}}}
"""
KP, KD, LATE = 8000.0, 60.0, 1.5e-3


def exact_root(m: float, kp: float, kd: float, late: float) -> complex:
    """s of m s^2 + (kd s + kp) exp(-late s) = 0, by Newton's method from the root without delay."""
    s = complex(-kd / (2 * m), np.sqrt(kp / m - (kd / (2 * m)) ** 2))
    for _ in range(50):
        e = np.exp(-late * s)
        s -= (m * s**2 + (kd * s + kp) * e) / (2 * m * s + kd * e - late * (kd * s + kp) * e)
    return s


@pytest.fixture(scope="module")
def slider(tmp_path_factory: pytest.TempPathFactory) -> supple.Robot:
    path = tmp_path_factory.mktemp("slider") / "slider.yaml"
    path.write_text(SLIDER, encoding="utf-8")
    return supple.Robot(path)


def test_a_late_controller_has_the_roots_of_the_delayed_equation(slider: supple.Robot) -> None:
    wanted = exact_root(2.0, KP, KD, LATE)
    for text in (f"delay={LATE}", "delay=1 ms,sample=1 ms"):
        found = slider.linear("tip.fx", "tip.x", controller=f"pd:kp={KP},kd={KD},{text}")
        roots = np.linalg.eigvals(found.A)
        assert roots[np.abs(roots - wanted).argmin()] == pytest.approx(wanted, rel=1e-8)
        assert found.to_json()["actuators"].startswith("pd:")
        assert found.response(np.array([0.0]))[0, 0, 0] == pytest.approx(1 / KP, rel=1e-9)


def test_an_integral_leaves_nothing(slider: supple.Robot) -> None:
    found = slider.linear("tip.fx", "tip.x", controller=f"pid:kp={KP},kd={KD},ki=2e4,delay=1 ms")
    assert abs(found.response(np.array([0.0]))[0, 0, 0]) < 1e-12 and "integral x" in found.states


def test_poles_foretell_the_decay_of_a_simulation(slider: supple.Robot) -> None:
    """Sampled every 1 ms and 1 ms late: half a sample late on average."""
    text = f"pd:kp={KP},kd={KD},sample=1 ms,delay=1 ms"
    run = slider.simulate("push", controller=text)
    t, x = np.asarray(run.time), np.asarray(run["position:x"])
    peaks = [k for k in range(1, len(x) - 1) if abs(x[k]) > abs(x[k - 1]) and abs(x[k]) >= abs(x[k + 1]) and t[k] > 0.01]
    first, last = peaks[0], peaks[4]
    decay = np.log(abs(x[first] / x[last])) / (t[last] - t[first])
    turns = 4 * np.pi / (t[last] - t[first])
    roots = np.linalg.eigvals(slider.linear("tip.fx", "tip.x", controller=text).A)
    own = roots[np.argmin(np.where(roots.imag > 0, np.abs(roots), np.inf))]
    assert turns == pytest.approx(own.imag, rel=0.01) and decay == pytest.approx(-own.real, rel=0.03)


def test_what_a_controller_cannot_be(slider: supple.Robot) -> None:
    for options, words in (
        ({"controller": "push"}, "has no controller"),
        ({"controller": "pull"}, "no motion 'pull'"),
        ({"controller": "pd:kp=1,ki=1"}, "no ki"),
        ({"controller": "pd:kp=1", "free": True}, "choose one"),
        ({"controller": "pd:kp=1", "order": 1, "reduction": "modal"}, "balanced"),
    ):
        with pytest.raises(SuppleError, match=words):
            slider.linear("tip.fx", "tip.x", **options)


def test_a_model_for_a_band() -> None:
    """DualEMPS: fast modes with little damping no longer take the place of those in the band; 12 states are within 1 %."""
    robot = supple.Robot("dualemps")
    whole = robot.linear("P.fx", "P.x")
    f = np.linspace(1.0, 250.0, 500)
    true = whole.response(f)
    slow = np.abs(np.linalg.eigvals(robot.linear("P.fx", "P.x", order=2, band=(0.0, 250.0)).A)) / (2 * np.pi)
    assert slow.max() < 250.0
    small = robot.linear("P.fx", "P.x", order=12, band=(0.0, 250.0))
    assert small.error_bound is not None and small.error_bound < 0.01
    assert np.abs(small.response(f) - true).max() < 0.01 * np.abs(true).max()
    at_rest = np.array([0.0])
    assert small.response(at_rest) == pytest.approx(whole.response(at_rest), rel=1e-9)
    with pytest.raises(SuppleError, match="higher frequency"):
        robot.linear("P.fx", "P.x", order=4, band=(10.0, 1.0))


ARM = """
name: arm
space: planar
bodies:
  one: {rigid: {mass: 3, centre: [0.2, 0, 0], inertia: {zz: 0.3}}}
  two: {rigid: {mass: 2, centre: [0.3, 0.05, 0], inertia: {zz: 0.1}}}
gravity: [0, -9.81, 0]
links:
  one: {parent: base, joint: revolute, axis: z, q: a, body: one}
  two: {parent: one, at: [0.5, 0, 0], joint: revolute, axis: z, q: b, body: two}
actuators: {a: {}, b: {}}
points: {tip: {link: two, at: [0.5, 0, 0]}}
home: {a: 0.4, b: 0.9}
motions:
  worked: {moves: [{by: {a: 0.1, b: 0.1}, duration: 1 s}],
           controller: {computed_torque: {kp: {a: 400, b: 900}, kd: {a: 8, b: 30}}}}
  held: {moves: [{by: {a: 0.1, b: 0.1}, duration: 1 s}],
         controller: {pd: {kp: {a: 300 Nm, b: 100 Nm}, kd: {a: 3 Nm*s, b: 2 Nm*s}}}}
"""


def test_a_computed_torque_makes_every_joint_its_own_oscillator(tmp_path: Path) -> None:
    """Of a rigid arm under weight: s^2 + kd s + kp of each joint, whatever inertia couples them."""
    (tmp_path / "arm.yaml").write_text(ARM)
    arm = supple.Robot(tmp_path / "arm.yaml")
    found = np.linalg.eigvals(arm.linear("tip.fx", "q", controller="worked").A)
    wanted = np.concatenate([np.roots([1, 8, 400]), np.roots([1, 30, 900])])
    assert np.sort_complex(found) == pytest.approx(np.sort_complex(wanted), rel=1e-8)


def test_gains_of_every_actuator_are_those_of_the_motion(tmp_path: Path) -> None:
    """Joints under pd give way to a moment as their own gains say; weight's own stiffness is in neither."""
    (tmp_path / "arm.yaml").write_text(ARM.replace("-9.81", "0"))
    arm = supple.Robot(tmp_path / "arm.yaml")
    still = arm.linear("tip.mz", "q", controller="held").response(np.array([0.0]))[0, :, 0]
    assert still.real == pytest.approx([1 / 300, 1 / 100], rel=1e-9)
    equal = arm.linear("tip.mz", "q", controller="pd:kp=100,kd=2").response(np.array([0.0]))[0, :, 0]
    assert equal.real == pytest.approx([1 / 100, 1 / 100], rel=1e-9)


def test_linear_models_in_tables(slider: supple.Robot, tmp_path: Path) -> None:
    found = slider.linear("tip.fx", "tip.x,q", controller=f"pd:kp={KP},kd={KD}")
    found.save(tmp_path / "m.nc")
    found.save(tmp_path / "m.csv")
    with xarray.open_dataset(tmp_path / "m.nc") as read:
        assert (read["A"].values == found.A).all() and (read["C"].values == found.C).all()
        assert list(read["output"].values) == list(found.outputs) and list(read["input_unit"].values) == ["N"]
    rows = list(csv.reader((tmp_path / "m.csv").open()))
    numbers = np.array([[float(x) for x in row[1:]] for row in rows[1:]])
    assert (numbers == np.block([[found.A, found.B], [found.C, found.D]])).all()
    assert rows[0][1:] == [*found.states, "tip.fx (N)"] and rows[3][0] == "tip.x (m)"
