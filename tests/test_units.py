"""Every unit, dimension and field a robot file knows, against tables written by hand from the definitions of the SI.

Nothing behind the reader can notice that a kilonewton metre was taken for a hundred newton metres.
"""

from __future__ import annotations

import math
from fractions import Fraction
from inspect import getmembers, isclass
from typing import Any

import pytest

from supple.motion.channels import ANGLE, LENGTH, WRENCH
from supple.motion.reader import ERROR_GAINS, GAINS
from supple.robot import body_entries, description, motions
from supple.robot.fields import FileRecord, Q
from supple.robot.quantity import QuantityError, evaluate, parse
from supple.robot.units import DIMENSIONS, UNITS
from supple.robot.values import _rule_of, check_value

# unit -> its value in m, kg, s, and its powers of m, kg, s, cycle
SI: dict[str, tuple[Any, tuple[int, int, int, int]]] = {
    "m": (1, (1, 0, 0, 0)),
    "km": (1000, (1, 0, 0, 0)),
    "cm": (Fraction("0.01"), (1, 0, 0, 0)),
    "mm": (Fraction("0.001"), (1, 0, 0, 0)),
    "um": (Fraction("0.000001"), (1, 0, 0, 0)),
    "in": (Fraction("0.0254"), (1, 0, 0, 0)),  # international inch: 25.4 mm
    "kg": (1, (0, 1, 0, 0)),
    "g": (Fraction("0.001"), (0, 1, 0, 0)),
    "t": (1000, (0, 1, 0, 0)),
    "s": (1, (0, 0, 1, 0)),
    "ms": (Fraction("0.001"), (0, 0, 1, 0)),
    "Hz": (1, (0, 0, -1, 1)),
    "N": (1, (1, 1, -2, 0)),
    "kN": (1000, (1, 1, -2, 0)),
    "MN": (1000000, (1, 1, -2, 0)),
    "Nm": (1, (2, 1, -2, 0)),
    "kNm": (1000, (2, 1, -2, 0)),
    "Pa": (1, (-1, 1, -2, 0)),
    "kPa": (1000, (-1, 1, -2, 0)),
    "MPa": (1000000, (-1, 1, -2, 0)),
    "GPa": (1000000000, (-1, 1, -2, 0)),
    "rad": (1, (0, 0, 0, 0)),
    "mrad": (Fraction("0.001"), (0, 0, 0, 0)),
    "deg": (0.017453292519943295, (0, 0, 0, 0)),  # pi / 180
    "percent": (Fraction("0.01"), (0, 0, 0, 0)),
}

# what a dimension is called -> a unit of it, written out in SI
CALLED = {
    "number": "1 rad",
    "angle": "1 rad",
    "length": "1 m",
    "area": "1 m^2",
    "second moment of area": "1 m^4",
    "mass": "1 kg",
    "first moment of mass": "1 kg m",
    "inertia": "1 kg m^2",
    "density": "1 kg/m^3",
    "pressure": "1 N/m^2",
    "acceleration": "1 m/s^2",
    "force": "1 kg m/s^2",
    "torque": "1 N m",
    "time": "1 s",
    "rate": "1 rad/s",
    "frequency": "1 Hz",
    "velocity": "1 m/s",
    "translational stiffness": "1 N/m",
    "rotational stiffness": "1 N m/rad",
    "translational damping": "1 N s/m",
    "rotational damping": "1 N m s/rad",
    "angular acceleration": "1 rad/s^2",
    "jerk": "1 m/s^3",
    "angular jerk": "1 rad/s^3",
    "impulse": "1 N s",
    "angular impulse": "1 N m s",
    "translational stiffness per time": "1 N/m/s",
    "power": "1 N m/s",
}


def test_the_tables_know_every_unit_and_every_dimension() -> None:
    assert set(SI) == set(UNITS)
    assert set(CALLED) == set(DIMENSIONS)


@pytest.mark.parametrize("unit", SI)
def test_every_unit_has_its_value_in_si(unit: str) -> None:
    found = evaluate(parse(f"3 {unit}"), {})
    number, powers = SI[unit]
    assert float(found.number) == pytest.approx(3 * float(number), rel=1e-15)
    assert found.dimension == powers
    if unit != "deg":
        assert found.number == 3 * number  # exactly
    assert math.pi == evaluate(parse("pi"), {}).number


@pytest.mark.parametrize("name", CALLED)
def test_every_dimension_is_what_it_is_called(name: str) -> None:
    found = evaluate(parse(CALLED[name]), {})
    assert found.number == 1
    assert DIMENSIONS[name] == found.dimension


# unit -> the fields of a robot file whose values may have it; "?": the unit follows from elsewhere
FIELDS = {
    "m": """Beam.length Beam.start FiniteElements.origin Nodes.box Nodes.plane Nodes.radius Nodes.within Nodes.at
        Patch.corners Patch.thickness Patch.offset Plate.corners Plate.holes Plate.thickness Plate.origin PlateAttachment.at
        PlateAttachment.edge PlateAttachment.hole PointMass.at Rigid.centre Round.centre Round.radius Stiffener.start
        Stiffener.end Stiffener.offset Anchor.at Box.y Box.z Box.wall description.Circle.diameter Link.b Link.d Link.r
        Link.at Platform.at Point.at Skin.at Rectangle.y Rectangle.z Tube.diameter Tube.wall""",
    "m or rad": """Link.limits Motion.start RobotFile.assembly RobotFile.home motions.Circle.centre motions.Circle.radius
        Move.to Move.by Waypoint.to""",
    "rad": """Anchor.rotate Link.gamma Link.alpha Link.theta Link.rotate Platform.rotate Point.rotate Skin.rotate
        motions.Circle.start Sine.phase Sweep.phase""",
    "m/s or rad/s": "Actuator.width Friction.width Motion.rates motions.Circle.speed Limits.speed ActuatorLimits.speed",
    "m/s^2": "RobotFile.gravity",
    "m/s^2 or rad/s^2": "Limits.acceleration ActuatorLimits.acceleration",
    "m/s^3 or rad/s^3": "Limits.jerk",
    "s": """Rayleigh.beta Motion.duration motions.Circle.period motions.Circle.run_up ComputedTorque.sample
        ComputedTorque.lead ComputedTorque.delay Gains.sample Gains.delay Impulse.duration Impulse.at Move.rest Move.duration
        Move.acceleration_time Move.jerk_time Ramp.begin Ramp.end Sine.fade Square.period Square.at Step.at
        Sweep.fade Waypoint.time""",
    "rad/s": "Rayleigh.alpha ComputedTorque.kd",
    "rad/s^2": "ComputedTorque.kp",
    "rad/s^3": "ComputedTorque.ki",
    "Hz": "Selection.up_to Sine.frequency Sweep.first Sweep.last Motion.filter ShaperLaw.frequencies",
    "kg": "PointMass.mass Rigid.mass",
    "kg m": "Rigid.first_moments",
    "kg m^2": "Inertia.xx Inertia.yy Inertia.zz Inertia.xy Inertia.xz Inertia.yz",
    "kg m^2 or kg": "Actuator.inertia",
    "kg/m^3": "Material.rho",
    "N/m^2": "Material.E Material.G Material.limit",
    "m^2": "Properties.area",
    "m^4": "Properties.Iy Properties.Iz Properties.J",
    "N or N m": "Actuator.coulomb Friction.coulomb ComputedTorque.limit Gains.limit ActuatorLimits.force",
    "N/m": "Spring.x Spring.y Spring.z",
    "N m/rad": "Spring.rx Spring.ry Spring.rz",
    "N s/m": "JointDamping.x JointDamping.y JointDamping.z",
    "N m s/rad": "JointDamping.rx JointDamping.ry JointDamping.rz",
    "N s/m or N m s/rad": "Actuator.viscous Friction.viscous Gains.kd",
    "N/m or N m/rad": "Actuator.stiffness Gains.kp",
    "N/m/s or N m/rad/s": "Gains.ki",
    "percent": """Beam.elements Beam.segments Beam.axis Beam.up Damping.modal Damping.structural Plate.refine Plate.tolerance
        Selection.modes Selection.effective_mass Link.axis Material.nu Motion.repeat Properties.ky Properties.kz
        motions.Circle.axis motions.Circle.turns Square.duty ShaperLaw.damping ShaperLaw.tolerance ShaperLaw.width
        ShaperLaw.length Measured.noise Measured.resolution""",
    "?": """Actuator.gear JointDamping.matrix Leg.vary Motion.signals Motion.torques Motion.loads Parameter.value
        RobotFile.parameters Spring.matrix Impulse.area Impulse.peak Ramp.first Ramp.last Signal.constant Sine.amplitude
        Sine.offset Square.high Square.low Step.height Sweep.amplitude""",
}
POSITIVE = """Beam.length Nodes.radius Nodes.within Patch.thickness Plate.thickness Plate.tolerance Round.radius
    Selection.up_to Selection.effective_mass Actuator.gear Actuator.stiffness Box.y Box.z Box.wall
    description.Circle.diameter Rectangle.y Material.limit
    Rectangle.z Tube.diameter Tube.wall Material.E Material.rho Material.G Motion.duration Properties.area Properties.Iy
    Properties.Iz Properties.J Properties.ky Properties.kz Spring.x Spring.y Spring.z Spring.rx Spring.ry Spring.rz
    motions.Circle.radius motions.Circle.speed motions.Circle.period motions.Circle.run_up ComputedTorque.limit Gains.limit
    Impulse.duration Limits.speed Limits.acceleration Limits.jerk Move.rest Move.duration Move.acceleration_time
    Move.jerk_time Sine.frequency Sweep.first Sweep.last Square.period Square.duty Beam.segments Motion.repeat
    Motion.filter ShaperLaw.frequencies ShaperLaw.tolerance ShaperLaw.width ShaperLaw.length
    ActuatorLimits.speed ActuatorLimits.acceleration ActuatorLimits.force"""
NOT_NEGATIVE = """Beam.elements Damping.modal Damping.structural Inertia.xx Inertia.yy Inertia.zz Plate.refine PointMass.mass
    Rayleigh.alpha Rayleigh.beta Rigid.mass Selection.modes Actuator.viscous Actuator.coulomb Actuator.width Actuator.inertia
    Friction.viscous Friction.coulomb Friction.width JointDamping.x JointDamping.y JointDamping.z JointDamping.rx
    JointDamping.ry JointDamping.rz ComputedTorque.kp ComputedTorque.kd ComputedTorque.ki ComputedTorque.sample
    ComputedTorque.delay Gains.kp Gains.kd Gains.ki Gains.sample Gains.delay Impulse.at Ramp.begin Ramp.end Sine.fade
    Square.at Step.at Sweep.fade Waypoint.time ShaperLaw.damping ComputedTorque.lead
    Measured.noise Measured.resolution"""
MOST = {  # field -> the least value that is too much
    "Material.nu": "0.5", "Properties.ky": "1.001", "Properties.kz": "1.001", "Selection.effective_mass": "1",
    "Square.duty": "1", "Beam.elements": "201", "Beam.segments": "51", "Selection.modes": "501", "Plate.refine": "7",
    "Plate.tolerance": "0.11", "Motion.repeat": "1001", "ShaperLaw.damping": "1", "ShaperLaw.tolerance": "1",
    "ShaperLaw.width": "1", "ShaperLaw.length": "11",
}  # fmt: skip
DEFAULTS = {  # of those that are neither absent nor zero
    "Beam.elements": 1, "Beam.segments": 1, "Nodes.within": 1e-6, "Plate.tolerance": 0.001, "Actuator.width": 0.001,
    "Friction.width": 0.001, "Actuator.gear": 1, "Material.nu": 0.3, "Properties.ky": 5 / 6, "Properties.kz": 5 / 6,
    "Motion.repeat": 1, "motions.Circle.turns": 1, "Impulse.duration": 0.001, "Square.duty": 0.5,
    "ShaperLaw.tolerance": 0.05, "ShaperLaw.length": 1,
}  # fmt: skip
UNIT = {field: unit for unit, fields in FIELDS.items() for field in fields.split()}


def rules() -> dict[str, tuple[Q, Any]]:
    """Every field of a robot file that holds quantities: its rule, and its default."""
    found = {}
    for module in (body_entries, description, motions):
        for name, model in getmembers(module, isclass):
            if issubclass(model, FileRecord) and model is not FileRecord and model.__module__ == module.__name__:
                own = f"{module.__name__.rpartition('.')[2]}.{name}" if name == "Circle" else name
                for key, info in model.model_fields.items():
                    rule = _rule_of(model, key)
                    if rule is not None:
                        found[f"{own}.{key}"] = rule, info.default
    return found


RULES = rules()


def accepts(rule: Q, text: str) -> bool:
    try:
        check_value(evaluate(parse(text), {}), rule)
    except QuantityError:
        return False
    return True


def test_the_table_knows_every_field() -> None:
    assert set(UNIT) == set(RULES)


@pytest.mark.parametrize("field", UNIT)
def test_a_field_takes_its_units_and_no_others(field: str) -> None:
    rule, unit = RULES[field][0], UNIT[field]
    if unit == "?":
        assert rule.dimension == "any"
        return
    number = 100 if rule.whole else {"Material.nu": 30, "Plate.tolerance": 1}.get(field, 50 if unit == "percent" else 1)
    own = unit.split(" or ")
    assert all(accepts(rule, f"{number} {x}") for x in own)
    same = {"rad": "percent", "N m": "N m/rad"}
    for other in ("m", "kg", "s", "rad", "Hz", "N", "N m", "N/m", "m/s", "rad/s", "m/s^2", "rad/s^2", "kg m^2", "N/m^2"):
        if other not in own and same.get(other) not in own:
            assert not accepts(rule, f"1 {other}"), other


@pytest.mark.parametrize("field", UNIT)
def test_a_field_takes_the_numbers_that_make_sense(field: str) -> None:
    rule = RULES[field][0]
    positive, not_negative = field in POSITIVE.split(), field in NOT_NEGATIVE.split()
    assert accepts(rule, "-1") == (not positive and not not_negative and field != "Material.nu")
    assert accepts(rule, "0") == (not positive)
    if field in MOST:
        assert not accepts(rule, MOST[field]) and accepts(
            rule, f"{MOST[field]} * 0.9" if not rule.whole else f"{MOST[field]} - 1"
        )
    elif not rule.whole:
        assert accepts(rule, "1e6")


@pytest.mark.parametrize("field", UNIT)
def test_a_field_that_is_left_out_has_the_documented_value(field: str) -> None:
    default = RULES[field][1]
    if field in DEFAULTS:
        assert float(evaluate(parse(default), {}).number) == pytest.approx(DEFAULTS[field], rel=1e-15)
    else:
        assert default in (None, 0, [0, 0, 0], {}, [], "x", "centroid") or not isinstance(default, (int, str))


def test_channels_and_gains_have_the_dimensions_of_mechanics() -> None:
    """What a motion's values are, by the kind of the joint: position, speed, acceleration, jerk; force; gains."""

    def unit(name: str) -> str:
        return CALLED[name]

    assert [unit(x) for x in LENGTH] == ["1 m", "1 m/s", "1 m/s^2", "1 m/s^3"]
    assert [unit(x) for x in ANGLE] == ["1 rad", "1 rad/s", "1 rad/s^2", "1 rad/s^3"]
    assert {k: unit(x) for k, x in WRENCH.items()} == {
        "fx": "1 kg m/s^2", "fy": "1 kg m/s^2", "fz": "1 kg m/s^2", "mx": "1 N m", "my": "1 N m", "mz": "1 N m",
    }  # fmt: skip
    assert {k: tuple(map(unit, x)) for k, x in GAINS.items()} == {
        "kp": ("1 N/m", "1 N m/rad"), "kd": ("1 N s/m", "1 N m s/rad"), "ki": ("1 N/m/s", "1 N m/s"),
        "limit": ("1 kg m/s^2", "1 N m"),
    }  # fmt: skip
    assert {k: unit(x) for k, x in ERROR_GAINS.items()} == {"kp": "1 rad/s^2", "kd": "1 rad/s", "ki": "1 rad/s^3"}
