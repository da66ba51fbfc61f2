"""What `modes` and `check` say of a robot, against masses and loops that are counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from robots import build

from supple.analyses.check import check
from supple.analyses.modes import modes
from supple.errors import PoseError, SuppleError
from supple.machine import Machine
from supple.model.mobility import mobility
from supple.model.posture import posture

# Two carriages on a rail: the first driven, the second tied to it by a spring and welded to a third
TRAIN = """
space: planar
links:
  engine: {parent: base, joint: prismatic, axis: x, q: drive, body: {rigid: {mass: 7}}}
  wagon: {parent: engine, joint: fixed, stiffness: {x: 900}, body: {rigid: {mass: 4}}}
  trailer: {parent: base, joint: prismatic, axis: x, q: follow, body: {rigid: {mass: 5}}}
closures:
  coupling: {joint: fixed, from: {link: wagon}, to: {link: trailer}}
actuators:
  drive: {}
"""


def test_driving_an_actuator_moves_what_follows_unbent() -> None:
    """Held, wagon and trailer (9 kg) swing on 900 N/m: 10 rad/s. Driving the engine by 1 m carries both along, unbent:
    the factor is sqrt(9 kg), so the modal mass is all 9 kg; so it is if the base is shaken along x."""
    found = modes(build(TRAIN))
    assert 2 * np.pi * found.frequencies_hz == pytest.approx([10])
    assert found.effective_mass["drive"] == pytest.approx([9])
    assert found.effective_mass["x"] == pytest.approx([9])
    assert found.effective_mass["y"] == pytest.approx([0], abs=1e-12)
    assert found.total_mass == pytest.approx(16)


def test_free_actuators_let_the_engine_swing_against_the_rest() -> None:
    """7 kg against 9 kg on 900 N/m: omega^2 = 900 (1/7 + 1/9); energy of motion is shared as 9 to 7, by momentum."""
    found = modes(build(TRAIN), free=True)
    assert (2 * np.pi * found.frequencies_hz) ** 2 == pytest.approx([0, 900 * (1 / 7 + 1 / 9)], abs=1e-6)
    share = dict(zip(found.bodies, found.kinetic[:, 1], strict=True))
    assert share["engine"] == pytest.approx(9 / 16)
    assert share["wagon"] == pytest.approx(7 / 16 * 4 / 9)
    assert share["trailer"] == pytest.approx(7 / 16 * 5 / 9)
    assert found.elastic[list(found.bodies).index("wagon.spring"), 1] == pytest.approx(1)


def test_actuators_that_hold_carry_the_weight() -> None:
    """A carriage of 7 kg up a slope of 30 degrees: 7 * 10 * sin(30 deg) = 35 N hold it."""
    text = """
    space: planar
    gravity: [0, -10, 0]
    links:
      cart: {parent: base, rotate: {z: 30 deg}, joint: prismatic, axis: x, q: s, body: {rigid: {mass: 3}}}
      load: {parent: cart, joint: fixed, stiffness: {y: 100}, body: {rigid: {mass: 4}}}
    actuators: {s: {}}
    """
    found = modes(build(text))
    assert found.tau == {"s": pytest.approx(35)}
    assert found.pose["load.spring.y"] == pytest.approx(-4 * 10 * np.cos(np.pi / 6) / 100)


# Singular poses -------------------------------------------------------------------------------------------------------

# Cranks of 0.4 m stand upright at x = -0.3 and 0.3 m; rods of %s m meet between their ends
FIVE_BAR = """
space: planar
links:
  left: {parent: base, at: [-0.3, 0, 0], joint: revolute, q: a, body: {rigid: {mass: 1}}}
  left_rod: {parent: left, at: [0.4, 0, 0], joint: revolute, q: b, body: {rigid: {mass: 1, centre: [0.1, 0, 0]}}}
  right: {parent: base, at: [0.3, 0, 0], joint: revolute, q: c, stiffness: {rz: 1000}, body: {rigid: {mass: 1}}}
  right_rod: {parent: right, at: [0.4, 0, 0], joint: revolute, q: d, body: {rigid: {mass: 1, centre: [0.1, 0, 0]}}}
closures:
  tip: {joint: revolute, from: {link: left_rod, at: [%s, 0, 0]}, to: {link: right_rod, at: [%s, 0, 0]}}
actuators: {a: {}, c: {}}
assembly:
  straight: {a: 90 deg, b: -90 deg, c: 90 deg, d: 90 deg}
  up: {a: 90 deg, b: -53.13010235 deg, c: 90 deg, d: 53.13010235 deg}
home: {a: 90 deg, c: 90 deg}
"""


def test_modes_refuses_a_pose_in_which_held_actuators_hold_nothing() -> None:
    """Rods of 0.3 m lie on one line: their joint is free to move across it, whatever the actuators do."""
    with pytest.raises(PoseError, match="singular pose") as caught:
        modes(build(FIVE_BAR % ("0.3", "0.3")), assembly="straight")
    assert "'tip'" in str(caught.value)


def test_modes_takes_a_pose_beside_it() -> None:
    """Rods of 0.5 m stand at acos(0.3/0.5) = 53.13 degrees over the same cranks."""
    assert modes(build(FIVE_BAR % ("0.5", "0.5")), assembly="up").frequencies_hz[0] > 0


# A parallelogram of cranks of 0.2 m, 0.5 m apart, both driven; one on a soft bearing
PARALLELOGRAM = """
space: planar
links:
  crank: {parent: base, joint: revolute, q: a, body: {rigid: {mass: 1}}}
  rod: {parent: crank, at: [0.2, 0, 0], joint: revolute, q: b, body: {rigid: {mass: 1}}}
  other: {parent: base, at: [0.5, 0, 0], joint: revolute, q: c, stiffness: {y: 1e4, rz: 100}, body: {rigid: {mass: 1}}}
closures:
  loop: {joint: revolute, from: {link: rod, at: [0.5, 0, 0]}, to: {link: other, at: [0.2, 0, 0]}}
actuators: {a: {}, c: {}}
home: {a: %s, c: %s}
"""


def test_modes_refuses_a_loop_that_loses_an_equation() -> None:
    """Flat, crank and rod lie on one line: the loop could fold either way, even if both cranks are driven."""
    with pytest.raises(PoseError, match="the loop 'loop' loses an equation"):
        modes(build(PARALLELOGRAM % ("0", "0")))
    assert len(modes(build(PARALLELOGRAM % ("1", "1"))).frequencies_hz) == 1


# Redundant closures ---------------------------------------------------------------------------------------------------

# Three equal cranks carry a beam, where two would do; beside them a four-bar linkage that is not overconstrained
CRANKS = """
space: planar
links:
  first: {parent: base, joint: revolute, q: a, body: {rigid: {mass: 1}}}
  beam: {parent: first, at: [0.2, 0, 0], joint: revolute, q: b, body: {rigid: {mass: 1}}}
  second: {parent: base, at: [0.5, 0, 0], joint: revolute, q: c, body: {rigid: {mass: 1}}}
  third: {parent: base, at: [1, 0, 0], joint: revolute, q: d, body: {rigid: {mass: 1}}}
  input: {parent: base, at: [3, 0, 0], joint: revolute, q: e, body: {rigid: {mass: 1}}}
  coupler: {parent: input, at: [0.2, 0, 0], joint: revolute, q: f, body: {rigid: {mass: 1}}}
  output: {parent: base, at: [3.5, 0, 0], joint: revolute, q: g, body: {rigid: {mass: 1}}}
closures:
  to_second: {joint: revolute, from: {link: beam, at: [0.5, 0, 0]}, to: {link: second, at: [0.2, 0, 0]}}
  four_bar: {joint: revolute, from: {link: coupler, at: [0.6, 0, 0]}, to: {link: output, at: [0.4, 0, 0]}}
  to_third: {joint: revolute, from: {link: beam, at: [1, 0, 0]}, to: {link: third, at: [0.2, 0, 0]}}
actuators: {a: {}, e: {}}
assembly:
  up: {a: 60 deg, b: -60 deg, c: 60 deg, d: 60 deg, e: 60 deg, f: -10 deg, g: 70 deg}
home: {a: 60 deg, e: 60 deg}
"""


def test_redundant_closures_are_named_and_no_others() -> None:
    """6 equations on 7 coordinates, 2 degrees of freedom: 5 of them count, and the sixth is one of the three cranks'."""
    model = build(CRANKS)
    found = mobility(model, posture(model, None, None))
    assert found.redundant == ("to_second", "to_third")
    assert (found.joints, found.equations, found.rank, found.freedom) == (7, 6, 5, 2)
    assert (found.overconstraint, found.actuators, found.uncontrolled) == (1, 2, 0)
    said = " ".join(check(model).mobility)
    assert "2 degrees of freedom, 2 actuators." in said
    assert "6 closure equations on 7 joint and platform coordinates, 5 of them independent." in said
    assert "Overconstrained 1 time as a rigid robot; redundant in the closures to_second, to_third." in said


def test_motions_that_no_actuator_holds_and_actuators_too_many() -> None:
    idle = build(CRANKS.replace("actuators: {a: {}, e: {}}", "actuators: {a: {}}"))
    assert "1 motion that no actuator holds: " in " ".join(check(idle).mobility)
    assert {"e", "f", "g"} >= set(mobility(idle, posture(idle, None, None)).moving)
    driven = CRANKS.replace("actuators: {a: {}, e: {}}", "actuators: {a: {}, d: {}, e: {}}")
    many = build(driven.replace("home: {a: 60 deg, e", "home: {a: 60 deg, d: 60 deg, e"))
    assert "Redundantly actuated: 1 actuator more than needed." in " ".join(check(many).mobility)


def test_check_counts_and_weighs() -> None:
    found = check(build(TRAIN), {"drive": 0.25})
    assert (found.links, found.flexible, found.springs, found.mass) == (3, 0, 1, pytest.approx(16))
    assert found.coordinates == {"active": 1, "passive": 1, "elastic": 1}
    assert found.closures == {"coupling": ("fixed", 3)} and found.freedom == 1
    assert found.pose == {"drive": pytest.approx(0.25), "follow": pytest.approx(0.25)}
    assert found.units["drive"] == "m" and found.active == ("drive",)


def test_loads_out_of_range_are_refused_as_such() -> None:
    with pytest.raises(SuppleError, match="the load at 'tip' is out of range"):
        modes(Machine.read("cantilever").model(), loads={"tip": [0, 0, 1e300]})


def test_drives_that_give_way_are_among_what_bends() -> None:
    """A rod on a slider whose servo is three times as stiff as the rod: springs in series share energy by compliance."""
    text = """
space: planar
materials: {soft: {E: 1e9, rho: 10, nu: 0.3}}
sections: {bar: {rectangle: {y: 10 mm, z: 10 mm}}}
bodies:
  rod: {beam: {length: 0.1 m, section: bar, material: soft}}
  block: {rigid: {mass: 1 kg}}
links:
  rod: {parent: base, joint: prismatic, axis: x, q: s, body: rod}
  block: {parent: rod, on: end, body: block}
actuators: {s: {stiffness: 3e6}}
"""
    found = modes(Machine.parse(text).model())
    series = np.sqrt(1e6 * 3e6 / 4e6) / (2 * np.pi)  # EA / L = 1e6 N/m
    along = int(np.abs(found.frequencies_hz - series).argmin())
    assert found.frequencies_hz[along] == pytest.approx(series, rel=1e-4)
    assert found.bodies[-1] == "drive s" and found.elastic[-1, along] == pytest.approx(0.25, rel=1e-4)
    assert found.elastic_by_kind["drives"][along] == pytest.approx(0.25, rel=1e-4)
    assert "drive s" not in modes(Machine.parse(text).model(), free=True).bodies
