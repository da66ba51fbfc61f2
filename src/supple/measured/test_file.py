"""A test file as it may be written: sensors, exciters, how signals are recorded, poses and what was measured in them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints
from pydantic import model_validator as _model_validator
from pydantic_core import PydanticCustomError

from supple.robot.fields import Direction, FileRecord, Identifier, Name, NameInFile, Q, Rotation, Vector

Node = Annotated[int, Field(ge=1, le=2_000_000_000)]
Frequency = Annotated[Any, Q("frequency", above=0)]
Span = Annotated[Any, Q("time", above=0)]
Share = Annotated[Any, Q("number", above=0, below=1)]
Level = Annotated[Any, Q("number", least=0)]
FileName = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Axis = Literal["x", "y", "z", "-x", "-y", "-z"]
Estimator = Literal["H1", "H2", "Hv"]


class Placed(FileRecord):
    """Something fixed to the robot: at a named point of it, or at a place of a link."""

    point: NameInFile | None = None
    link: NameInFile | None = None
    at: Vector | None = None
    on: Name | None = None
    axes: Literal["base", "link"] = "base"
    rotate: list[Rotation] | Rotation | None = None
    node: Node | None = None

    @_model_validator(mode="after")
    def _whole(self) -> Any:
        given = [k for k in ("point", "link", "joint") if getattr(self, k, None) is not None]
        wanted = "point, link or joint" if "joint" in type(self).model_fields else "point or link"
        if len(given) != 1:
            raise PydanticCustomError("one_of", "needs exactly one of {wanted}", {"wanted": wanted})
        return self


class Sensor(Placed):
    """What is watched: a triaxial accelerometer, a probe of displacement or velocity, a joint's encoder, a strain gauge of
    length `gauge` from `at` on along its one direction, an axis of its link, or the force in a joint's spring (`force`).

    `directions` are axes of the sensor, which are those of the base or the link, turned by `rotate`; `node` is its number in
    the measurement system. `mass` loads the robot while it is measured."""

    kind: Literal["accelerometer", "velocity", "displacement", "encoder", "strain", "force"] = "accelerometer"
    joint: NameInFile | None = None
    directions: Annotated[list[Axis], Field(min_length=1, max_length=3)] = ["x", "y", "z"]
    mass: Annotated[Any, Q("mass", least=0)] = 0
    gauge: Annotated[Any, Q("length", above=0)] = "3 mm"


class Exciter(Placed):
    """What pushes: a hammer, a shaker, or a static force, along a direction at a place."""

    kind: Literal["hammer", "shaker", "force"] = "hammer"
    direction: Direction = "z"


class Record(FileRecord):
    """How signals are recorded: samples over a duration, blows averaged, windows, how responses are estimated.

    `force_window`: the share of the record in which the force is kept; `exponential`: what the exponential window has
    fallen to at the end of the record (1: none); `noise` and `pulse` (how long a blow lasts) are those of rehearsals."""

    samples: Annotated[int, Field(ge=16, le=4_000_000)] = 1024
    duration: Span = "2.046 s"
    averages: Annotated[int, Field(ge=1, le=1000)] = 3
    estimator: Estimator = "H1"
    force_window: Annotated[Any, Q("number", above=0, most=1)] = 1
    exponential: Annotated[Any, Q("number", above=0, most=1)] = 1
    noise: Level = 0
    pulse: Span = "8 ms"
    full_scale: Annotated[Any, Q("any", above=0)] | None = None


class Static(FileRecord):
    """Displacements of a sensor under a static force: the table has a pose in each row, and what moved along x, y, z."""

    table: FileName
    sensor: Name
    exciter: Name
    force: Annotated[Any, Q("force")]
    deviation: Annotated[Any, Q("length", above=0)] = "1 um"


class Run(FileRecord):
    """Positions and forces of the actuators and accelerations of sensors along a motion, in a table; `filter`: the cutoff of
    the positions' low-pass.

    `motion` (a motion of the robot) and `rate` are those of rehearsals; noise of samples is what they draw, and what fits
    weigh by."""

    table: FileName | None = None
    filter: Frequency
    assembly: Name | None = None
    motion: NameInFile | None = None
    rate: Frequency = "1000 Hz"
    position_noise: Annotated[Any, Q("angle or length", least=0)] = 0
    force_noise: Annotated[Any, Q("force or torque", least=0)] = 0
    acceleration_noise: Annotated[Any, Q("acceleration", least=0)] = 0


class Pose(FileRecord):
    """A pose of the robot and what was measured in it. `deviation`s are standard deviations; held_out: kept as the judge."""

    at: dict[NameInFile, Annotated[Any, Q("angle or length")]] = {}
    assembly: Name | None = None
    actuators: Literal["held", "free"] = "held"
    frequencies: list[Frequency] | None = None
    damping: list[Annotated[Any, Q("number", least=0)]] | None = None
    table: FileName | None = None
    responses: FileName | None = None
    records: FileName | None = None
    modes: FileName | None = None
    units: Literal["SI"] | None = None
    frequency_deviation: Share = "0.01"
    damping_deviation: Share = "0.1"
    shape_deviation: Share = "0.1"
    held_out: bool = False


class Prior(FileRecord):
    """What is known of a parameter before: its value by a standard deviation (relative), and bounds."""

    deviation: Annotated[Any, Q("number", above=0)] | None = None
    least: Annotated[Any, Q("any")] | None = None
    most: Annotated[Any, Q("any")] | None = None


class TestFile(FileRecord):
    """A whole test file."""

    __test__ = False  # no test of pytest's

    about: str = ""
    sensors: dict[Name, Sensor] = {}
    exciters: dict[Name, Exciter] = {}
    record: Record = Record()
    band: Annotated[list[Annotated[Any, Q("frequency", least=0)]], Field(min_length=2, max_length=2)] = ["0 Hz", "250 Hz"]
    poses: dict[Name, Pose] = {}
    static: dict[Name, Static] = {}
    motions: dict[Name, Run] = {}
    priors: dict[Identifier, Prior] = {}
