"""What `import supple` gives: `Robot`, whose methods are the verbs of the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from supple.analyses.bodies import bodies
from supple.analyses.check import check
from supple.analyses.compare import compare as compare_formulations
from supple.analyses.count import count
from supple.analyses.inverse import inverse
from supple.analyses.modes import modes
from supple.analyses.simulate import simulate
from supple.backends.interpreter import Interpreted
from supple.backends.native import Native, load
from supple.backends.targets import TARGETS
from supple.errors import SuppleError
from supple.expr.passes import Stage
from supple.generator import export_fmu, generate
from supple.machine import USUAL, Machine, locate
from supple.motion.description import Motion
from supple.results import Exported
from supple.robot.reader import read_source
from supple.robot.written import Written, pose_of
from supple.shown import Bodies, CheckShown, ComparisonShown, CountedShown, ModesShown, SimulationShown, shown

Report = Callable[[Stage], None]
Pose = Mapping[str, Written]


F = TypeVar("F", bound=Callable[..., Any])


def _silent(stage: Stage) -> None:
    pass


def _options_of(analysis: Callable[..., Any]) -> Callable[[F], F]:
    """A method that shows the options of an analysis as its own."""

    def dressed(method: F) -> F:
        asked = inspect.signature(analysis)
        name = next(iter(inspect.signature(method).parameters))
        own, *rest = asked.parameters.values()
        method.__signature__ = asked.replace(parameters=[own.replace(name=name), *rest])  # type: ignore[attr-defined]
        options = (analysis.__doc__ or "").partition("\n\n")[2]
        lines = (method.__doc__ or "").splitlines()
        method.__doc__ = "\n".join([lines[0], "", f"    {options.strip()}", *lines[1:]])
        return method

    return dressed


class Robot(Machine):
    """A robot of the gallery or of a robot file, read once; its methods answer questions about it.

    Parameters of the file are changed by name, with a unit or as numbers in SI; those whose names Python does not allow, or
    that are called like an option here, are given in `settings`. Files that the robot file names must lie in its folder
    unless `allow_outside`. The robot itself never changes: `changed` and `keeping` return others.

    >>> import supple
    >>> robot = supple.Robot("dualemps", E="72 GPa")
    >>> robot
    Robot('dualemps', E='72 GPa')
    >>> robot.modes({"q11": "50 mm", "q21": 0.05}, count=2).frequencies_hz.round(2)
    array([14.02, 24.75])
    """

    def __init__(
        self,
        robot: str | Path,
        settings: Mapping[str, Any] | None = None,
        *,
        allow_outside: bool = False,
        **parameters: Any,
    ) -> None:
        source = read_source(locate(robot), allow_outside=allow_outside)
        Machine.__init__(self, source, {**(settings or {}), **parameters})

    def __repr__(self) -> str:
        changes = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        kept = f".keeping({list(self.keep)!r})" if self.keep else ""
        return f"Robot({self.name!r}{changes}){kept}"

    def _repr_html_(self) -> str:
        return self.check()._repr_html_()

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of the robot file and their values in SI."""
        return {name: float(value.number) for name, value in self.description.parameters.items()}

    @property
    def motions(self) -> list[str]:
        """Names of the motions that the robot file has."""
        return list(self.description.robot.motions)

    def check(self, at: Pose | None = None, *, assembly: str | None = None) -> CheckShown:
        """What the robot is made of and how it can move at a pose (home by default).

        at: joint values or the platform's pose (x, y, z, rx, ry, rz): numbers in SI, or text with a unit.
        assembly: an assembly mode of the robot file (its first by default).

        >>> supple.Robot("five_bar").check().freedom
        2
        """
        return shown(check(self.model(), pose_of(self.mechanism(), at), assembly=assembly), CheckShown)

    def modes(
        self,
        at: Pose | None = None,
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
        model = self.model(formulation)
        pose = pose_of(model.mechanism, at)
        return shown(modes(model, pose, free=free, count=count, assembly=assembly, loads=loads), ModesShown)

    @_options_of(simulate)
    def simulate(self, motion: str | Path | Motion | None = None, **options: Any) -> SimulationShown:
        """A motion over time; it ends early, and says why, where the motion cannot go on.

        >>> run = supple.Robot("dualemps").simulate("square", duration="0.1 s", every="10 ms")
        >>> run
        <dualemps square: 11 samples to 0.1 s, 15 signals>
        >>> run["tau:q11"].shape
        (11,)
        """
        return shown(simulate(self, motion, **_paths(options)), SimulationShown)

    @_options_of(inverse)
    def inverse(self, motion: str | Path | Motion | None = None, **options: Any) -> SimulationShown:
        """Forces that make the actuators follow a motion (`tau`, N or N m), and how the bodies bend meanwhile."""
        return shown(inverse(self, motion, **_paths(options)), SimulationShown)

    @_options_of(compare_formulations)
    def compare(self, at: Pose | None = None, **options: Any) -> ComparisonShown:
        """Formulations of the robot side by side: matrices, forces and frequencies, how they differ, and what they cost."""
        return shown(compare_formulations(self, at, **options), ComparisonShown)

    def bodies(self, *, write: Mapping[str, str | Path] | None = None) -> Bodies:
        """Plates, finite-element bodies and reduced beams: what their reduction keeps and what it lost.

        write: body -> file: .npz (its record) or .uff (its modes)."""
        return Bodies(bodies(self, write=write))

    def count(
        self,
        model: str = "inverse",
        *,
        keep: Sequence[str] = (),
        derivative: str | None = None,
        solve_rates: bool = False,
        formulation: str = USUAL,
        compiled: bool = False,
        report: Report = _silent,
    ) -> CountedShown:
        """What one evaluation of a generated model costs, as derived and after every optimiser pass.

        model: mass, inverse, forward, tree, kinematics, linear, regressor, energy, or one of the formulation's own.
        keep: parameters that stay inputs; derivative: the input along which it is differentiated; solve_rates: rates of
        passive joints are solved inside; compiled: time and size of machine code are measured too; report: hears of every
        stage.

        >>> supple.Robot("five_bar").count("forward")
        <five_bar forward: 2063 operations>
        """
        made = count(
            self.keeping(keep or self.keep), model, derivative=derivative, solve_rates=solve_rates, formulation=formulation,
            compiled=compiled, report=report,
        )  # fmt: skip
        return shown(made, CountedShown)

    def function(
        self,
        model: str,
        *,
        keep: Sequence[str] = (),
        derivative: str | None = None,
        solve_rates: bool = False,
        formulation: str = USUAL,
    ) -> Native | Interpreted:
        """A model compiled to machine code (interpreted where there is no compiler): named arrays in, named arrays out.

        A leading axis evaluates many states at once. `.function.inputs` and `.outputs` say what it takes and gives; kept
        parameters are the input p, in the order of `keep`.

        >>> f = supple.Robot("cantilever").function("mass", keep=["E"])
        >>> sorted(f.function.inputs)
        ['g', 'p', 'q', 'v']
        """
        robot = self.keeping(keep or self.keep)
        made = generate(robot, model, wrt=derivative, solve_rates=solve_rates, formulation=formulation)
        return load(made.package.function)

    def generate(
        self,
        model: str,
        target: str,
        folder: str | Path,
        *,
        keep: Sequence[str] = (),
        derivative: str | None = None,
        solve_rates: bool = False,
        formulation: str = USUAL,
        report: Report = _silent,
    ) -> Exported:
        """A model as source code that checks itself and needs nothing else: target c, python, matlab, simulink or rust.

        Its `files` are written to `folder`; `counts` says what one evaluation costs."""
        if target not in TARGETS:
            raise SuppleError(f"there is no target {target!r}; choose one of {', '.join([*TARGETS, 'fmu'])}")
        robot = self.keeping(keep or self.keep)
        made = generate(robot, model, wrt=derivative, solve_rates=solve_rates, formulation=formulation, report=report)
        files = TARGETS[target](made.package, Path(folder))
        return Exported(self.name, model, target, tuple(files), made.package.counts())

    def export_fmu(
        self, folder: str | Path, *, keep: Sequence[str] = (), version: str = "2.0", structural: str = "viscous"
    ) -> Path:
        """The path of an FMU (FMI 2.0 or 3.0) of the whole robot; kept parameters can be set in it."""
        return export_fmu(self.keeping(keep or self.keep), Path(folder), version=version, structural=structural)


@_options_of(compare_formulations)
def compare(robot: Machine, at: Pose | None = None, **options: Any) -> ComparisonShown:
    """Formulations of a robot side by side: matrices, forces and frequencies, how they differ, and what they cost."""
    return shown(compare_formulations(robot, at, **options), ComparisonShown)


def _paths(options: dict[str, Any]) -> dict[str, Any]:
    return options | ({"output": Path(options["output"])} if options.get("output") is not None else {})
