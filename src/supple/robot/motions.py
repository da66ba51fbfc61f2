"""Motions in a robot file, or in a file of their own: paths, signals and controllers as they may be written."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints
from pydantic import model_validator as _model_validator
from pydantic_core import PydanticCustomError

from supple.robot.fields import Angle, Direction, FileRecord, Name, NameInFile, Number, Q, one_of

Time = Annotated[Any, Q("time", least=0)]
Span = Annotated[Any, Q("time", above=0)]
Frequency = Annotated[Any, Q("frequency", above=0)]
Position = Annotated[Any, Q("angle or length")]
Any_ = Annotated[Any, Q("any")]  # its dimension follows from the channel and is checked there
Speed = Annotated[Any, Q("velocity or rate", above=0)]
Acceleration = Annotated[Any, Q("acceleration or angular acceleration", above=0)]
Jerk = Annotated[Any, Q("jerk or angular jerk", above=0)]
Pose = dict[NameInFile, Position]


# Signals --------------------------------------------------------------------------------------------------------------


class Sine(FileRecord):
    """offset + amplitude * sin(2 pi frequency t + phase); `fade` swells and dies away smoothly within this time."""

    amplitude: Any_
    frequency: Frequency
    phase: Angle = 0
    offset: Any_ = 0
    fade: Time = 0


class Sweep(FileRecord):
    """A sine whose frequency runs from `first` to `last` over the motion, linearly or logarithmically."""

    amplitude: Any_
    first: Frequency
    last: Frequency
    law: Literal["linear", "log"] = "linear"
    phase: Angle = 0
    fade: Time = 0


class Step(FileRecord):
    height: Any_
    at: Time = 0


class Ramp(FileRecord):
    """From `first` at the time `begin` to `last` at the time `end`, held before and after."""

    first: Any_ = 0
    last: Any_
    begin: Time = 0
    end: Time

    def relation(self, numbers: Any) -> str | None:
        return (
            None
            if numbers.begin is None or numbers.end is None or numbers.end > numbers.begin
            else "end must come after begin"
        )


class Impulse(FileRecord):
    """A half-sine of this duration; `area` is its integral over time (N s), or give its `peak`."""

    area: Any_ | None = None
    peak: Any_ | None = None
    duration: Span = "1 ms"
    at: Time = 0
    _one = one_of("area", "peak")


class Square(FileRecord):
    """`high` during the first `duty` part of every period, then `low`."""

    high: Any_
    low: Any_ = 0
    period: Span
    duty: Annotated[Any, Q("number", above=0, below=1)] = "0.5"
    at: Time = 0


class Signal(FileRecord):
    constant: Any_ | None = None
    sine: Sine | None = None
    sweep: Sweep | None = None
    step: Step | None = None
    ramp: Ramp | None = None
    impulse: Impulse | None = None
    square: Square | None = None
    _one = one_of("constant", "sine", "sweep", "step", "ramp", "impulse", "square")


SignalOrNumber = Signal | Any_


# Paths ----------------------------------------------------------------------------------------------------------------


class Limits(FileRecord):
    """Most speed, acceleration and jerk of any channel, or of each by its name."""

    speed: Speed | dict[NameInFile, Speed] | None = None
    acceleration: Acceleration | dict[NameInFile, Acceleration] | None = None
    jerk: Jerk | dict[NameInFile, Jerk] | None = None


class Move(FileRecord):
    """A straight move from rest to rest, `to` a place or `by` so much, in a duration or within limits; or a `rest`."""

    to: Pose | None = None
    by: Pose | None = None
    rest: Span | None = None
    profile: Literal["quintic", "trapezoidal", "s_curve"] = "quintic"
    duration: Span | None = None
    limits: Limits | None = None
    acceleration_time: Span | None = None
    jerk_time: Span | None = None
    _one = one_of("to", "by", "rest")

    @_model_validator(mode="after")
    def _one_duration(self) -> Move:
        if self.rest is None and (self.duration is None) == (self.limits is None):
            raise PydanticCustomError("one_of", "a move needs exactly one of duration, limits", {})
        if self.rest is not None and any(x is not None for x in (self.duration, self.limits)):
            raise PydanticCustomError("one_of", "a rest has no duration or limits of its own: rest says how long", {})
        return self


class Waypoint(FileRecord):
    time: Time
    to: Pose


class Circle(FileRecord):
    """A circle from rest to rest: quick after `run_up` seconds, slowing down as long before its end.

    It lies across `axis` (spatial) or in the `plane` of two channels, and starts at the angle `start` from the first of
    its two directions, towards the second; a negative number of turns runs the other way."""

    centre: Annotated[list[Position], Field(min_length=2, max_length=3)]
    radius: Annotated[Any, Q("angle or length", above=0)]
    speed: Speed | None = None
    period: Span | None = None
    axis: Direction | None = None
    plane: Annotated[list[NameInFile], Field(min_length=2, max_length=2)] | None = None
    turns: Number = 1
    start: Angle = 0
    run_up: Span | None = None
    _one = one_of("speed", "period")


class PointSpace(FileRecord):
    """The named point that follows the path."""

    point: NameInFile


# Control --------------------------------------------------------------------------------------------------------------

Limit = Annotated[Any, Q("force or torque", above=0)]


class Gains(FileRecord):
    """Gains of a joint controller, one for all actuators or one each; `limit` bounds the force or torque."""

    kp: (
        Annotated[Any, Q("translational stiffness or rotational stiffness", least=0)]
        | dict[NameInFile, Annotated[Any, Q("translational stiffness or rotational stiffness", least=0)]]
    ) = 0
    kd: (
        Annotated[Any, Q("translational damping or rotational damping", least=0)]
        | dict[NameInFile, Annotated[Any, Q("translational damping or rotational damping", least=0)]]
    ) = 0
    ki: (
        Annotated[Any, Q("translational stiffness per time or power", least=0)]
        | dict[NameInFile, Annotated[Any, Q("translational stiffness per time or power", least=0)]]
    ) = 0
    limit: Limit | dict[NameInFile, Limit] | None = None
    sample: Time = 0
    delay: Time = 0


Output = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Measured(FileRecord):
    """Gauges, and parameters of the robot that they tell of; `noise` (standard deviation) and `resolution` of readings."""

    parameters: Annotated[list[Name], Field(min_length=1, max_length=8)]
    sensors: Annotated[list[Output], Field(min_length=1, max_length=64)]
    noise: Annotated[Any, Q("number", least=0)] = 0
    resolution: Annotated[Any, Q("number", least=0)] = 0


class ComputedTorque(FileRecord):
    """Gains of the error's own dynamics: a = a_path + kd e' + kp e + ki (integral of e)."""

    kp: (
        Annotated[Any, Q("angular acceleration", least=0)]
        | dict[NameInFile, Annotated[Any, Q("angular acceleration", least=0)]]
    ) = 0
    kd: Annotated[Any, Q("rate", least=0)] | dict[NameInFile, Annotated[Any, Q("rate", least=0)]] = 0
    ki: Annotated[Any, Q("angular jerk", least=0)] | dict[NameInFile, Annotated[Any, Q("angular jerk", least=0)]] = 0
    limit: Limit | dict[NameInFile, Limit] | None = None
    sample: Time = 0
    delay: Time = 0
    model: Literal["rigid", "flexible"] = "rigid"
    of: Name | None = None
    lead: Time | None = None
    measured: Measured | None = None

    @_model_validator(mode="after")
    def _led(self) -> ComputedTorque:
        if (self.of is not None or self.lead is not None) and self.model == "rigid":
            raise PydanticCustomError("of", "of and lead need model: flexible, which leads a point along its path", {})
        if self.measured is not None and (self.model == "rigid" or not self.sample or "ki" in self.model_fields_set):
            raise PydanticCustomError("measured", "measured needs model: flexible and a sample time, and no ki", {})
        return self


class Controller(FileRecord):
    pd: Gains | None = None
    pid: Gains | None = None
    computed_torque: ComputedTorque | None = None
    file: Annotated[str, StringConstraints(min_length=1, max_length=500)] | None = None
    _one = one_of("pd", "pid", "computed_torque", "file")


# Shaping --------------------------------------------------------------------------------------------------------------

Share = Annotated[Any, Q("number", above=0, below=1)]


class ShaperLaw(FileRecord):
    """Vibrations that a path shall not leave: modes of the robot (its first if nothing is said), or frequencies; damping
    ratios of either, of modes instead of those that the robot file has."""

    modes: Annotated[list[Annotated[int, Field(ge=1, le=1000)]], Field(min_length=1, max_length=20)] | None = None
    frequencies: Annotated[list[Frequency], Field(min_length=1, max_length=20)] | None = None
    damping: Annotated[list[Annotated[Any, Q("number", least=0, below=1)]], Field(min_length=1, max_length=20)] | None = None
    poses: Literal["along", "start"] = "along"
    tolerance: Share = "0.05"
    width: Share | None = None
    length: Annotated[Any, Q("number", above=0, most=10)] = 1

    @_model_validator(mode="after")
    def _one_source(self) -> ShaperLaw:
        if self.modes is not None and self.frequencies is not None:
            raise PydanticCustomError("one_of", "give modes or frequencies, not both", {})
        if self.damping is not None and len(self.damping) != len(self.frequencies or self.modes or [1]):
            what = "modes" if self.frequencies is None else "frequencies"
            raise PydanticCustomError("count", f"give as many damping ratios as {what}", {})
        return self


class Shaper(FileRecord):
    zv: ShaperLaw | None = None
    zvd: ShaperLaw | None = None
    zvdd: ShaperLaw | None = None
    ei: ShaperLaw | None = None
    si: ShaperLaw | None = None
    average: ShaperLaw | None = None
    smooth: ShaperLaw | None = None
    together: ShaperLaw | None = None
    _one = one_of("zv", "zvd", "zvdd", "ei", "si", "average", "smooth", "together")


class ActuatorLimits(FileRecord):
    """Most speed, acceleration and force of any actuator, or of each by its name: what a motion asks for is held against
    them."""

    speed: Speed | dict[NameInFile, Speed] | None = None
    acceleration: Acceleration | dict[NameInFile, Acceleration] | None = None
    force: Limit | dict[NameInFile, Limit] | None = None


# The whole ------------------------------------------------------------------------------------------------------------

PATHS = ("moves", "waypoints", "circle", "signals", "csv")
Wrench = dict[Literal["fx", "fy", "fz", "mx", "my", "mz"], SignalOrNumber]


class Motion(FileRecord):
    """What moves the robot: a path of its joints, platform or a point, forces, and who drives each actuator."""

    about: str = ""
    space: Literal["joints", "platform"] | PointSpace = "joints"
    assembly: Name | None = None
    start: Pose = {}
    rates: dict[NameInFile, Annotated[Any, Q("velocity or rate")]] = {}
    moves: Annotated[list[Move], Field(min_length=1)] | None = None
    waypoints: Annotated[list[Waypoint], Field(min_length=2)] | None = None
    through: Literal["spline", "stops"] = "spline"
    circle: Circle | None = None
    signals: dict[NameInFile, SignalOrNumber] | None = None
    csv: Annotated[str, StringConstraints(min_length=1, max_length=500)] | None = None
    filter: Frequency | None = None
    torques: dict[NameInFile, SignalOrNumber] = {}
    loads: dict[NameInFile, Wrench] = {}
    controller: Controller | None = None
    shaper: Shaper | None = None
    limits: ActuatorLimits | None = None
    drive: dict[NameInFile, Literal["prescribed", "torque", "controlled"]] = {}
    duration: Span | None = None
    repeat: Annotated[Any, Q("number", least=1, most=1000, whole=True)] = 1

    @_model_validator(mode="after")
    def _one_path(self) -> Motion:
        given = [k for k in PATHS if getattr(self, k) is not None]
        if len(given) > 1:
            raise PydanticCustomError("one_of", "{given} are given; a motion has one path", {"given": " and ".join(given)})
        if self.filter is not None and self.csv is None:
            raise PydanticCustomError("one_of", "a filter is for tables; name one with csv:", {})
        return self
