"""`Motion`: a motion in numbers, SI throughout, with every name looked up on the robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from supple.motion.laws import SampledLaw, Sensor
from supple.motion.trajectory import Trajectory

DriveMode = Literal["prescribed", "torque", "controlled"]
Space = Literal["joints", "platform", "point"]


@dataclass(frozen=True)
class Measured:
    """Deformation that a flexible computed_torque reads on its way, and the parameters of the robot that it tells of."""

    parameters: tuple[str, ...]
    sensors: tuple[Sensor, ...]


@dataclass(frozen=True)
class Learnt:
    """What readings tell of parameters, as shares of their values, over time: readings foreseen; their weighted slopes (a
    channel for each parameter and sensor), and the covariance of what is known by then (parameters, parameters); how the
    actuators' path and forces change with each parameter (parameters, actuators)."""

    parameters: tuple[str, ...]
    sensors: tuple[Sensor, ...]
    rest: Trajectory
    slopes: Trajectory
    trust: Trajectory
    path: Trajectory
    forces: Trajectory


@dataclass(frozen=True)
class Controller:
    """A joint controller: gains and limits of every controlled actuator, sampled every `sample` s (0: continuous)."""

    law: Literal["pd", "pid", "computed_torque", "state_space"]
    kp: Mapping[str, float]
    kd: Mapping[str, float]
    ki: Mapping[str, float]
    limit: Mapping[str, float]  # largest force or torque; math.inf without a limit
    sample: float
    delay: float
    own: SampledLaw | None = None  # of the law state_space
    model: str = "rigid"  # of computed_torque: whose inverse dynamics; "flexible": forces and path are found before the run
    of: str | None = None  # what a flexible computed_torque leads along its path: a point, or platform
    lead: float | None = None  # s in which its actuators may move before and after; None: some periods
    measured: Measured | None = None  # deformation that it reads
    learnt: Learnt | None = None  # what it does with the readings, found before the run


@dataclass(frozen=True)
class Shaper:
    """How a path is shaped so that it leaves vibrations at rest: `law` for these modes of the robot, actuators held, or for
    frequencies (Hz) with damping ratios; beside modes, damping ratios are instead of the robot's own (none: those)."""

    law: str
    modes: tuple[int, ...]  # counted from 1; empty if frequencies are given
    frequencies: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()
    tolerance: float = 0.05  # vibration that ei and si may leave
    width: float | None = None  # of the frequencies, relative, that si and smooth serve; None: as usual for the law
    length: float = 1.0  # of smooth, in periods of the slowest vibration
    along: bool = True  # frequencies are those of every pose on the way, not those of the start


@dataclass(frozen=True)
class Motion:
    """What moves the robot over `duration` seconds."""

    name: str
    about: str
    space: Space
    point: str | None  # the point that follows the path, if space is "point"
    assembly: str | None
    start: Mapping[str, float]  # joints or platform coordinates at the start, as a pose asks for them
    rates: Mapping[str, float]  # joint or platform rates at the start of a free motion
    path: Trajectory | None  # channels: actuators, platform coordinates, or axes of the point (x, y, z)
    torques: Trajectory | None  # channels "tau <actuator>"
    loads: Trajectory | None  # channels "<point>.fx" ... "<point>.mz", in base axes
    controller: Controller | None
    drives: Mapping[str, DriveMode]  # of every actuator
    duration: float
    notices: tuple[str, ...] = ()  # what was done to a measured table, or should be
    shaper: Shaper | None = None
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # speed, acceleration, force: actuator: most
    wanted: Trajectory | None = None  # actuators of the rigid robot whose points go where points shall go; None: path

    def driven(self, *drives: DriveMode) -> list[str]:
        """Actuators that are driven in one of these ways."""
        return [name for name, drive in self.drives.items() if drive in drives]
