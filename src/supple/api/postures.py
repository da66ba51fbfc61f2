"""What is asked of a robot at rest in a pose: make, modes, stiffness, responses, linear models, control laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from supple.api.words import At, names
from supple.machine import USUAL, Machine
from supple.motion.laws import SampledLaw
from supple.robot.written import Band, pose_of

if TYPE_CHECKING:  # what only some calls need is loaded when they are made
    from supple.shown import CheckShown, ControlShown, FrfShown, LinearShown, ModesShown, StiffnessShown


class Postures(Machine):
    """What is asked of a robot at rest in a pose: make, modes, stiffness, responses, linear models, control laws."""

    def check(
        self,
        at: At | None = None,
        *,
        assembly: str | None = None,
        loads: Mapping[str, Sequence[float]] | None = None,
    ) -> CheckShown:
        """What the robot is made of and how it can move at a pose (home by default).

        at: joint values or the platform's pose (x, y, z, rx, ry, rz): numbers in SI, or text with a unit.
        assembly: an assembly mode of the robot file (its first by default). loads: as of `modes`; with them, the equilibrium
        under weight and loads is in `rest`.

        >>> supple.Robot("five_bar").check().freedom
        2
        """
        from supple.analyses.check import check
        from supple.shown import CheckShown, shown

        return shown(check(self.model(), pose_of(self.mechanism(), at), assembly=assembly, loads=loads), CheckShown)

    def modes(
        self,
        at: At | None = None,
        *,
        free: bool = False,
        count: int | None = 10,
        loads: Mapping[str, Sequence[float]] | None = None,
        assembly: str | None = None,
        formulation: str = USUAL,
    ) -> ModesShown:
        """Natural frequencies (Hz), damping ratios and shapes at rest in a pose, bent by gravity and loads.

        free: actuators follow with constant force instead of being held; count: how many, lowest first (None: all);
        loads: named point -> three forces (N) and, if there are six numbers, three moments (N m), in base axes.

        >>> supple.Robot("cantilever").modes(count=1)
        <cantilever: 1 modes, 8.355 Hz>
        """
        from supple.analyses.modes import modes
        from supple.shown import ModesShown, shown

        model = self.model(formulation)
        pose = pose_of(model.mechanism, at)
        return shown(modes(model, pose, free=free, count=count, assembly=assembly, loads=loads), ModesShown)

    def stiffness(
        self,
        point: str | None = None,
        at: At | None = None,
        *,
        loads: Mapping[str, Sequence[float]] | None = None,
        assembly: str | None = None,
    ) -> StiffnessShown:
        """Compliance and stiffness (6 x 6, forces then moments, base axes, SI) of a named point, and what gives way.

        point: the robot's only one if None. The robot is at rest under weight and loads (as of `modes`), actuators held;
        those with a `stiffness` in the robot file give way as their servo does.

        >>> supple.Robot("gough_stewart_flexible").stiffness("centre").kinds.keys()
        dict_keys(['legs', 'joints', 'platform'])
        """
        from supple.analyses.stiffness import stiffness
        from supple.shown import StiffnessShown, shown

        return shown(stiffness(self, point, at, loads=loads, assembly=assembly), StiffnessShown)

    def frf(
        self,
        inputs: str | Sequence[str],
        outputs: str | Sequence[str],
        at: At | None = None,
        *,
        band: Band = (0.0, 250.0),
        points: int = 1001,
        quantity: str = "acceleration",
        free: bool | None = None,
        loads: Mapping[str, Sequence[float]] | None = None,
        assembly: str | None = None,
    ) -> FrfShown:
        """Responses to unit harmonic inputs at a pose, with viscous and structural damping.

        inputs: 'tau', 'tau.NAME' (actuators), 'POINT', 'POINT.fx' ... 'POINT.mz' (loads); outputs: 'q', 'q.NAME' (actuated
        joints), 'POINT', 'POINT.x' ... 'POINT.rz'; names in lists or separated by commas. band (Hz: two numbers, or text as
        '1:600') and points: where; quantity: displacement, velocity or acceleration. free: actuators free or held (None:
        free if they are inputs).

        >>> found = supple.Robot("cantilever").frf("tip.fz", "tip.z", band="0:100", points=201)
        >>> found.values.shape
        (201, 1, 1)
        """
        from supple.analyses.frf import frf
        from supple.shown import FrfShown, shown

        made = frf(
            self, names(inputs), names(outputs), at, band=band, points=points, quantity=quantity, free=free, loads=loads,
            assembly=assembly,
        )  # fmt: skip
        return shown(made, FrfShown)

    def linear(
        self,
        inputs: str | Sequence[str],
        outputs: str | Sequence[str],
        at: At | None = None,
        *,
        order: int | None = None,
        reduction: str = "balanced",
        quantity: str = "displacement",
        band: Band | None = None,
        controller: str | None = None,
        free: bool | None = None,
        loads: Mapping[str, Sequence[float]] | None = None,
        assembly: str | None = None,
    ) -> LinearShown:
        """A, B, C, D about a pose: states are amplitudes of modes and their rates; inputs and outputs as of `frf`.

        order: how many states are kept (None: all); reduction: 'balanced' (what inputs reach and outputs see most) or
        'modal' (the lowest modes); band: frequencies (Hz) that a balanced model is made for (None: all). controller: as of
        `simulate`, for actuators that are neither held nor free. Structural damping is there as the viscous damping of every
        mode."""
        from supple.analyses.linear import linear
        from supple.shown import LinearShown, shown

        made = linear(
            self, names(inputs), names(outputs), at, order=order, reduction=reduction, quantity=quantity, band=band,
            controller=controller, free=free, loads=loads, assembly=assembly,
        )  # fmt: skip
        return shown(made, LinearShown)

    def control(
        self,
        law: str | SampledLaw,
        sensors: str | Sequence[str] = ("q",),
        at: At | None = None,
        *,
        pushes: Sequence[str] = (),
        watch: Sequence[str] = (),
        filters: Sequence[str] = (),
        over: Mapping[str, str | Sequence[float]] | None = None,
        poses: str | Path | None = None,
        along: str | None = None,
        samples: int = 21,
        scheduled: bool = False,
        cutoff: float = 1000.0,
        seed: int = 1,
        assembly: str | None = None,
    ) -> ControlShown:
        """A sampled control law designed on the linear robot in the pose `at`, and its closed loops on the whole one.

        law: as in 'lqg:effort=100,deviation=1e-4,sample=1 ms,delay=0.5 ms', 'poles:damping=0.2,bandwidth=5,sample=1 ms',
        'pd:kp=1e5,kd=1e3,sample=1 ms', or a file (.json) or law that is judged only. sensors: each as in 'q,resolution=1e-6'
        or 'P.x,acceleration,noise=0.01'. pushes: loads that the law commands beside the actuators. watch: outputs that lqg
        keeps small and estimates. filters: behind pd and pid, as in 'notch:frequency=25'. over, poses, along, samples: poses
        in which loops are looked at, as of `map`; scheduled: with a part of the law for each, weighted in between. cutoff
        (Hz): modes faster than that die away at once, as in simulations. seed: of noise in simulations.

        >>> found = supple.Robot("dualemps").control("pd:kp=1e5,kd=1e3,sample=1 ms", ["q", "q,velocity"])
        >>> found.stable
        True
        """
        from supple.analyses.control import control
        from supple.shown import ControlShown, shown

        made = control(
            self, law, [sensors] if isinstance(sensors, str) else sensors, at, pushes=pushes, watch=watch, filters=filters,
            over=over, poses=poses, along=along, samples=samples, scheduled=scheduled, cutoff=cutoff, seed=seed,
            assembly=assembly,
        )  # fmt: skip
        return shown(made, ControlShown)
