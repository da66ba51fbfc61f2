"""What `import supple` gives: `Robot`, whose methods are the verbs of the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.machine import GALLERY, USUAL, Machine, locate
from supple.motion.description import Motion
from supple.motion.laws import SampledLaw
from supple.robot.reader import read_source
from supple.robot.written import Written, pose_of

if TYPE_CHECKING:  # what only some calls need is loaded when they are made
    from supple.backends.interpreter import Interpreted
    from supple.backends.native import Native
    from supple.expr.passes import Stage
    from supple.measurements import Correlation, Extracted, Identified, Planned, Rehearsed
    from supple.results import Exported
    from supple.results.scene import Scene
    from supple.results.study import Study
    from supple.shown import (
        Bodies,
        CheckShown,
        ComparisonShown,
        ControlShown,
        CountedShown,
        DifferenceShown,
        FrfShown,
        LinearShown,
        ModesShown,
        ReportShown,
        SceneShown,
        SimulationShown,
        SizingShown,
        StiffnessShown,
        StudyShown,
        TunedShown,
    )

Report = Callable[["Stage"], None]
_LARGEST_MAPPED = 60  # coordinates of robots whose report has a map that nobody asked for
At = Mapping[str, Written]  # joint or platform coordinate -> number in SI, or text with a unit


def _names(given: str | Sequence[str]) -> list[str]:
    return [x.strip() for x in given.split(",") if x.strip()] if isinstance(given, str) else list(given)


def _silent(stage: Stage) -> None:
    pass


def _unheard(text: str) -> None:
    pass


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

    def __getattr__(self, name: str) -> Any:
        """An analysis that has no method of its own here."""
        if name.startswith("_") or find_spec(f"supple.analyses.{name}") is None:
            raise AttributeError(f"a Robot has no {name!r}")
        return partial(getattr(import_module(f"supple.analyses.{name}"), name), self)

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of the robot file and their values in SI."""
        return {name: float(value.number) for name, value in self.description.parameters.items()}

    @property
    def motions(self) -> list[str]:
        """Names of the motions that the robot file has."""
        return list(self.description.robot.motions)

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

    def show(
        self,
        at: At | None = None,
        *,
        count: int | None = 10,
        free: bool = False,
        motion: str | Path | Motion | None = None,
        duration: Written | None = None,
        every: Written = "1 ms",
        map: str | Path | Study | None = None,
        measured: str | Path | None = None,
        pose: str | None = None,
        loads: Mapping[str, Sequence[float]] | None = None,
        assembly: str | None = None,
        live: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> SceneShown:
        """The robot as it looks, at rest, in its modes and through a motion: `save` writes a page that any browser shows.

        count: how many modes (0: none); motion: one to simulate (as of `simulate`, with its duration and the time between
        samples) and to play; map: a result of `map` or its .nc file, drawn where the first named point is (poses that it
        held still are given by `at`); measured: a test file whose measured modes in one of its poses (`pose`; the first) are
        shown beside the computed ones that they pair with; live: the page carries the robot's own code, so that it can be
        moved and hit there (kept parameters can be changed; needs the ziglang wheel); other options as of `modes`.

        >>> supple.Robot("cantilever").show(count=2)
        <cantilever: 3 parts drawn, modes>
        """
        from supple.analyses.show import show
        from supple.errors import SuppleError
        from supple.shown import SceneShown, read_map, shown

        if measured is not None:
            return shown(self._beside_measured(measured, pose), SceneShown)
        found, why = None, ""
        if count != 0:
            try:
                found = self.modes(at, free=free, count=count, loads=loads, assembly=assembly)
            except SuppleError as reason:
                why = f"no modes: {reason}"
        run = None
        if motion is not None:
            run = self.simulate(motion, duration=duration, every=every, progress=progress)
        study = read_map(map) if isinstance(map, (str, Path)) else map
        made = show(self, found, run, study, at, loads=loads, assembly=assembly, live=live)
        return shown(replace(made, notices=(*made.notices, why)) if why else made, SceneShown)

    def _beside_measured(self, test: str | Path, pose: str | None) -> Scene:
        """The Scene of computed modes beside measured ones."""
        from supple.analyses.modes import modes
        from supple.analyses.show import show, show_measured, test_pose

        marked, read, where = test_pose(self, test, pose)
        found = next(p for p in self.correlate(test).poses if p.pose == where.name)
        own = modes(marked.model(), where.at, free=where.free, assembly=where.assembly)
        return show_measured(show(marked, own, assembly=where.assembly), read, found)

    def report(
        self,
        poses: Sequence[At] | None = None,
        *,
        motion: str | Path | Motion | None = None,
        duration: Written | None = None,
        count: int = 6,
        over: Mapping[str, str | Sequence[float]] | None = None,
        of: str | Sequence[str] = ("f1",),
        map: str | Path | None = None,
        assembly: str | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> ReportShown:
        """What the robot is and does, gathered as one page: picture, parameters, masses, modes and stiffness at poses (home
        if None), a motion, a map, and where all of it comes from; `save` writes it.

        over, of: a map to make about the first pose, as of `map`; map: one that is made already (.nc file), or "none".
        Without them, robots with up to 60 coordinates get a small one, over two coordinates of the platform or actuators.

        >>> supple.Robot("cantilever").report(count=1).check.mass > 0
        True
        """
        from supple.errors import SuppleError
        from supple.results.report import Posed, Report
        from supple.shown import ReportShown, read_map, shown

        posed, notices = [], []
        for at in poses or [{}]:
            scene = self.show(at, count=count, assembly=assembly)
            try:
                modes = None if scene.modes is None else self.modes(at, count=count, assembly=assembly)
                stiff = tuple(self.stiffness(p, at, assembly=assembly) for p in self.mechanism().points)
            except SuppleError as reason:
                modes, stiff = None, ()
                notices.append(str(reason))
            options = tuple(x for name, value in at.items() for x in ("--at", f"{name}={value}"))
            posed.append(Posed(options, scene, modes, stiff))
            notices += scene.notices
        run = None if motion is None else self.simulate(motion, duration=duration, progress=progress)
        settings = tuple(x for name, value in self.settings.items() for x in ("--set", f"{name}={value}"))
        first = (poses or [{}])[0]
        study: tuple[Study, tuple[str, ...]] | None = None
        if map is not None and str(map) != "none":
            study = read_map(map), ("...", "-o", Path(map).name)
        elif map is None:
            study = self._small_map(first, over, _names(of), assembly, notices)
        made = Report(
            (self._called, *settings), self.check(first, assembly=assembly), self._parameters(),
            tuple(posed), run, study, self._origin(),
            tuple(dict.fromkeys([*notices, *(() if run is None else run.summary["notices"])])),
        )  # fmt: skip
        return shown(made, ReportShown)

    def _small_map(
        self, at: At, over: Mapping[str, str | Sequence[float]] | None, of: Sequence[str], assembly: str | None,
        notices: list[str],
    ) -> tuple[Study, tuple[str, ...]] | None:  # fmt: skip
        """A map about a pose with the words of the command line for it; what prevents one that nobody asked for is noted."""
        from supple.errors import SuppleError

        grid = dict(over) if over else self._about(at)
        if not grid:
            return None
        kept = {name: value for name, value in at.items() if name not in grid}
        try:
            study = self.map(grid, of, kept, assembly=assembly, workers=1)
        except SuppleError as reason:
            if over:
                raise
            notices.append(f"no map: {reason}")
            return None
        told = [
            x
            for name, span in grid.items()
            for x in ("--over", f"{name}={span}" if isinstance(span, str) else f"{name}=...")
        ]
        told += [x for name, value in kept.items() for x in ("--at", f"{name}={value}")]
        return study, (*told, "--of", ",".join(of))

    def _about(self, at: At) -> dict[str, str]:
        """Two coordinates of the platform, or two actuators, a little to both sides of a pose; none of a large robot."""
        model = self.model()
        if model.nv > _LARGEST_MAPPED or not model.mechanism.points:
            return {}
        pose = self.modes(at, count=1).pose
        coordinates = model.mechanism.coordinates
        chosen = [c for c in coordinates if c.kind == "platform"] or [c for c in coordinates if c.kind == "active"]
        grid = {}
        for c in chosen[:2]:
            reach = 0.1 if c.unit == "rad" else 0.03
            grid[c.name] = f"{pose[c.name] - reach:.4g}:{pose[c.name] + reach:.4g}:7"
        return grid

    @property
    def _called(self) -> str:
        """What the command line calls it: a name of the gallery, or its file."""
        file = Path(self.source.tree.file)
        return file.stem if file.parent == GALLERY else file.name

    def _parameters(self) -> dict[str, tuple[str, str]]:
        """Values of parameters, in SI, and what they are."""
        about = {n: " ".join(p.about.split()) for n, p in self.source.robot.parameters.items() if hasattr(p, "about")}
        return {n: (f"{float(x.number):.6g}", about.get(n, "")) for n, x in self.description.parameters.items()}

    def _origin(self) -> dict[str, str]:
        """Versions and hashes."""
        from importlib.metadata import version
        from platform import platform, python_version

        made = {"robot file": self._called, "sha256 of the robot file": self.source.sha256}
        made |= {"settings": ", ".join(f"{k} = {x}" for k, x in self.settings.items()) or "none"}
        return made | {n: version(n) for n in ("supple", "numpy", "scipy")} | {"python": python_version(), "on": platform()}

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
        band: tuple[float, float] = (0.0, 250.0),
        points: int = 1001,
        quantity: str = "acceleration",
        free: bool | None = None,
        loads: Mapping[str, Sequence[float]] | None = None,
        assembly: str | None = None,
    ) -> FrfShown:
        """Responses to unit harmonic inputs at a pose, with viscous and structural damping.

        inputs: 'tau', 'tau.NAME' (actuators), 'POINT', 'POINT.fx' ... 'POINT.mz' (loads); outputs: 'q', 'q.NAME' (actuated
        joints), 'POINT', 'POINT.x' ... 'POINT.rz'; names in lists or separated by commas. band (Hz) and points: where;
        quantity: displacement, velocity or acceleration. free: actuators free or held (None: free if they are inputs).

        >>> found = supple.Robot("cantilever").frf("tip.fz", "tip.z", band=(0, 100), points=201)
        >>> found.values.shape
        (201, 1, 1)
        """
        from supple.analyses.frf import frf
        from supple.shown import FrfShown, shown

        made = frf(
            self, _names(inputs), _names(outputs), at, band=band, points=points, quantity=quantity, free=free, loads=loads,
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
        band: tuple[float, float] | None = None,
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
            self, _names(inputs), _names(outputs), at, order=order, reduction=reduction, quantity=quantity, band=band,
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

    def map(
        self,
        over: Mapping[str, str | Sequence[float]] | None = None,
        of: str | Sequence[str] = ("f1",),
        at: At | None = None,
        *,
        poses: str | Path | None = None,
        along: str | None = None,
        samples: int = 201,
        free: bool = False,
        follow: bool = False,
        loads: Mapping[str, Sequence[float]] | None = None,
        assembly: str | None = None,
        workers: int | None = None,
        dask: str | None = None,
        output: str | Path | None = None,
        resume: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> StudyShown:
        """Quantities (f1, f2 ..., stiffness, deflection, torque, dexterity, place, mass) over the workspace.

        over: coordinate -> values, or text as in '-0.2:0.2:41'; or poses: a table (.csv) with their names in its first row;
        or along: a motion of the robot file, at so many samples. at: what stays the same; free, loads, assembly: as of
        `modes`; follow: f1, f2 ... are modes that are followed by their shapes from near home. workers: processes (None: one
        for every processor); dask: 'local' or the address of a cluster; output: a file (.nc, .csv, .mat), with the parts
        done beside it, from which `resume` goes on.

        >>> supple.Robot("dualemps").map({"q11": [0.0, 0.05]}, "f1,f2", {"q21": "50 mm"})
        <dualemps map: 2 cases, 2 answered, f1, f2>
        """
        from supple.analyses.map import map
        from supple.shown import StudyShown, shown

        made = map(
            self, over, _names(of), at, poses=poses, along=along, samples=samples, free=free, follow=follow, loads=loads,
            assembly=assembly, workers=workers, dask=dask, output=output, resume=resume, progress=progress,
        )  # fmt: skip
        return shown(made, StudyShown)

    def sweep(
        self,
        vary: Mapping[str, str | Sequence[float]] | None = None,
        of: str | Sequence[str] = ("f1",),
        at: At | None = None,
        *,
        grid: bool = False,
        latin: int | None = None,
        normal: Mapping[str, str] | None = None,
        seed: int = 1,
        over: Mapping[str, str | Sequence[float]] | None = None,
        poses: str | Path | None = None,
        free: bool = False,
        follow: bool = False,
        loads: Mapping[str, Sequence[float]] | None = None,
        assembly: str | None = None,
        workers: int | None = None,
        dask: str | None = None,
        output: str | Path | None = None,
        resume: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> StudyShown:
        """Quantities (as of `map`) over designs, each in every pose, with exact sensitivities about the robot's own values.

        vary: parameter -> values, or text as in '15mm:60mm:10', all combinations; with latin (a Latin hypercube of so many
        designs): '15mm:60mm'. normal: parameter -> mean and deviation, as in '70GPa:3%'. over, poses: poses as of `map`
        (none: `at` or home). Other options as of `map`.

        >>> supple.Robot("dualemps").sweep({"E": "60 GPa:80 GPa:3"}, "f1,mass").sensitivities["mass"]
        {'E': 0.0}
        """
        from supple.analyses.sweep import sweep
        from supple.shown import StudyShown, shown

        made = sweep(
            self, vary, _names(of), at, grid=grid, latin=latin, normal=normal, seed=seed, over=over, poses=poses, free=free,
            follow=follow, loads=loads, assembly=assembly, workers=workers, dask=dask, output=output, resume=resume,
            progress=progress,
        )  # fmt: skip
        return shown(made, StudyShown)

    def size(
        self,
        free: Mapping[str, str | Sequence[float]],
        want: str | Sequence[str] = (),
        at: At | None = None,
        *,
        least: str | None = None,
        most: str | None = None,
        poses: str | Path | None = None,
        over: Mapping[str, str | Sequence[float]] | None = None,
        loads: Mapping[str, Sequence[float]] | None = None,
        assembly: str | None = None,
        starts: int = 5,
        seed: int = 1,
        trade: str | None = None,
        points: int = 9,
        evolve: int | None = None,
        output: str | Path | None = None,
        resume: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> SizingShown:
        """Values of parameters that make a quantity (as of `map`) least or most while wants are kept in all poses.

        free: parameter -> range, as in '15mm:60mm'; want: as in 'f1>=40 Hz' or 'deflection(tool)<=0.1 mm'. Exact
        derivatives; from so many starts, the robot's own values first. trade: a second quantity and so many points of the
        curve of best compromises, by derivatives, or in so many generations by evolution (pymoo). output: a
        file (.nc, .csv, .mat, .json), with the designs looked at beside it, from which `resume` goes on."""
        from supple.analyses.size import size
        from supple.shown import SizingShown, shown

        wants = _names(want)
        made = size(
            self, free, wants, at, least=least, most=most, poses=poses, over=over, loads=loads, assembly=assembly,
            starts=starts, seed=seed, trade=trade, points=points, evolve=evolve, output=output,
            resume=resume, progress=progress,
        )  # fmt: skip
        return shown(made, SizingShown)

    def simulate(
        self,
        motion: str | Path | Motion | None = None,
        *,
        duration: Written | None = None,
        method: str = "radau",
        step: Written | None = None,
        tol: float | None = None,
        rho: float = 0.8,
        cutoff: float = 1000.0,
        every: Written = "1 ms",
        controller: str | SampledLaw | None = None,
        shaper: str | None = None,
        start: str = "equilibrium",
        rigid: bool = False,
        formulation: str = USUAL,
        loops: str | None = None,
        structural: str = "viscous",
        vary: Mapping[str, str | Sequence[float]] | None = None,
        threads: int | None = None,
        output: str | Path | None = None,
        resume: bool = False,
        filter: float | None = None,
        against: str | Path | None = None,
        also: str | Sequence[str] = (),
        accept: bool = False,
        keep: str | Sequence[str] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> SimulationShown:
        """A motion over time; it ends early, and says why, where the motion cannot go on.

        motion: a name of the robot file (its only one if None), a motion file (.yaml), a table (.csv), or a Motion.
        duration, step, every: numbers in s or text such as '1 ms': how long (the motion's own if None), a fixed step (chosen
        for `tol` if None), and the time between samples.
        method: radau, gauss, generalised_alpha (with its spectral radius `rho`), dormand_prince or cvode.
        tol: error of accelerations, relative to those of late; None: what suits the method. cutoff (Hz): vibrations faster
        than that may die away, not be followed; 0: none.
        controller: as in 'pd:kp=1e4,kd=200,sample=1 ms', or the law of `control` or its file (.json), instead of the
        motion's own.
        shaper: as in 'zvd:modes=1+2', instead of the motion's own: the path leaves these modes at rest.
        start: 'equilibrium' (bent by its weight) or 'undeformed'; rigid: the same robot without its flexibility.
        loops: how a formulation that integrates all coordinates keeps loops closed; structural: 'viscous' or 'none'.
        vary: values, one for each of several runs side by side, of parameters or start coordinates.
        output: a file (.nc, .csv, .mat) for the result, with checkpoints beside it from which `resume` goes on.
        filter: cutoff (Hz) of a zero-phase low-pass for the samples of a measured table; against: a table (.csv) of what was
        measured meanwhile, with which the result is compared (`summary["against"]`) and drawn; also: signals on demand,
        loop_force, joint_force, beam_stress.
        accept: a run that lost its accuracy, or whose bodies bend far beyond their theory, is `complete` all the same.
        keep: names of the signals that are wanted, as in 'tau,point_deformation' (None: all).
        progress: is told the share done.

        >>> run = supple.Robot("dualemps").simulate("square", duration="0.1 s", every="10 ms")
        >>> run
        <dualemps square: 11 samples to 0.1 s, 18 signals>
        >>> run["tau:q11"].shape
        (11,)
        """
        from supple.analyses.simulate import simulate
        from supple.shown import SimulationShown, shown

        made = simulate(
            self, motion, duration=duration, method=method, step=step, tol=tol, rho=rho, cutoff=cutoff, every=every,
            controller=controller, shaper=shaper, start=start, rigid=rigid, formulation=formulation, loops=loops,
            structural=structural, vary=vary, threads=threads, output=output, resume=resume, filter=filter, against=against,
            also=also, accept=accept, keep=keep, progress=progress,
        )  # fmt: skip
        return shown(made, SimulationShown)

    def inverse(
        self,
        motion: str | Path | Motion | None = None,
        *,
        duration: Written | None = None,
        quasi_static: bool = False,
        of: str | None = None,
        method: str = "exact",
        lead: Written | None = None,
        shaper: str | None = None,
        tol: float | None = None,
        every: Written = "1 ms",
        rigid: bool = False,
        formulation: str = USUAL,
        structural: str = "viscous",
        filter: float | None = None,
        against: str | Path | None = None,
        accept: bool = False,
        output: str | Path | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> SimulationShown:
        """Forces that make the actuators follow a motion (`tau`, N or N m), and how the bodies bend meanwhile.

        quasi_static: bodies bend as the loads of the moment ask, without vibrating; of: a point, or platform, of the
        flexible robot goes where the path leads it on the rigid one; method: exact (the actuators move before it where they
        must: `lead`, in s, before and after the motion), quasi-static, or rigid; other options as of `simulate`."""
        from supple.analyses.inverse import inverse
        from supple.shown import SimulationShown, shown

        made = inverse(
            self, motion, duration=duration, quasi_static=quasi_static, of=of, method=method, lead=lead, shaper=shaper,
            tol=tol, every=every, rigid=rigid,
            formulation=formulation, structural=structural, filter=filter, against=against, accept=accept,
            output=output, progress=progress,
        )  # fmt: skip
        return shown(made, SimulationShown)

    def optimise_motion(
        self,
        motion: str | Path | Motion | None = None,
        *,
        limits: Mapping[str, Written] | None = None,
        residual: Written | None = None,
        of: str | None = None,
        modes: int = 4,
        every: Written = "1 ms",
        output: str | Path | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> SimulationShown:
        """The same paths in the least time: ways from rest to rest as quick as limits allow, rests as they are.

        limits: speed, acceleration, force: most of any actuator, instead of the motion's own; residual: most vibration (m)
        that each way may leave at the point `of`, of so many modes. Forces are those of the rigid robot; the result is
        the simulation of the flexible one, whose `performance` says what it uses and leaves."""
        from supple.analyses.optimise_motion import optimise_motion
        from supple.shown import SimulationShown, shown

        made = optimise_motion(
            self, motion, limits=limits, residual=residual, of=of, modes=modes, every=every, output=output, progress=progress
        )
        return shown(made, SimulationShown)

    def tune(
        self,
        motions: str | Path | Motion | Sequence[str | Path | Motion] = (),
        *,
        of: str = "shaper",
        by: str | None = None,
        point: str | None = None,
        vary: Mapping[str, str | Sequence[float]] | None = None,
        shapers: Sequence[str] = (),
        modes: int = 2,
        enough: Written | None = None,
        controller: str | None = None,
        tries: int = 30,
        within: float = 30.0,
        saturated: float = 0.0,
        every: Written = "1 ms",
        accept: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> TunedShown:
        """The shaper, or the gains (`of`), that is best where it is worst, of all motions and payloads.

        by: residual (m; of shapers), settled (s), peak, rms (m; rms: of gains) of a point or of all, tracking (actuators).
        vary: parameters, a list each, one robot for every entry; path, shaper and inverse dynamics stay those of this robot.
        shapers: those that are tried (all kinds, for mode 1 up to `modes`); enough: the shortest that is as good as this.
        controller: where the search for gains begins, by factors of at most `within`, in so many `tries`; saturated: share
        of the time that a force may be at its limit."""
        from supple.analyses.tune import tune
        from supple.shown import TunedShown, shown

        made = tune(
            self, motions, of=of, by=by, point=point, vary=vary, shapers=shapers, modes=modes, enough=enough,
            controller=controller, tries=tries, within=within, saturated=saturated, every=every, accept=accept,
            progress=progress,
        )  # fmt: skip
        return shown(made, TunedShown)

    def compare(
        self,
        at: At | None = None,
        *,
        only: Sequence[str] = (),
        assembly: str | None = None,
        count: int = 6,
        motion: str | None = None,
        tol: Sequence[float] = (),
        duration: Written | None = None,
        timed: bool = True,
    ) -> ComparisonShown:
        """Formulations side by side: matrices, forces and frequencies, how they differ, and what they cost.

        only: formulations beside the first (all if empty); count: how many frequencies; timed: forces are compiled and
        timed; motion: one that each simulates too, at the tolerances `tol` (if empty the usual one, a tenth and a
        hundredth of it)."""
        from supple.analyses.compare import compare
        from supple.shown import ComparisonShown, shown

        made = compare(
            self, at, only=only, assembly=assembly, count=count, motion=motion, tol=tol, duration=duration, timed=timed
        )
        return shown(made, ComparisonShown)

    def bodies(self, *, write: Mapping[str, str | Path] | None = None) -> Bodies:
        """Plates, finite-element bodies and reduced beams: what their reduction keeps and what it lost.

        write: body -> file: .npz (its record) or .uff (its modes)."""
        from supple.analyses.bodies import bodies
        from supple.shown import Bodies

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

        >>> supple.Robot("five_bar_elastic").count("mass")
        <five_bar_elastic mass: 243 operations>
        """
        from supple.analyses.count import count
        from supple.shown import CountedShown, shown

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

        >>> f = supple.Robot("five_bar_elastic").function("mass", keep=["k"])
        >>> sorted(f.function.inputs)
        ['g', 'p', 'q', 'v']
        """
        from supple.backends.native import load
        from supple.generator import generate

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
        structural: str = "viscous",
        motion: str | None = None,
        controller: str | None = None,
        shaper: str | None = None,
        solve_rates: bool = False,
        formulation: str = USUAL,
        report: Report = _silent,
    ) -> Exported:
        """A model as source code that checks itself and needs nothing else: target c, python, matlab, simulink or rust.

        Its `files` are written to `folder`; `counts` says what one evaluation costs. model plant (c, simulink, rust): the
        whole robot with its integrator, to go on by fixed steps; structural: as of `simulate`; model controller (c): that of
        `motion`, or `controller`, along its path, shaped by its own or `shaper`."""
        from supple.analyses.generate import generate

        robot = self.keeping(keep or self.keep)
        return generate(
            robot, model, target, Path(folder), derivative=derivative, structural=structural, motion=motion,
            controller=controller, shaper=shaper, solve_rates=solve_rates, formulation=formulation, report=report,
        )  # fmt: skip

    def export_fmu(
        self, folder: str | Path, *, keep: Sequence[str] = (), version: str = "2.0", structural: str = "viscous"
    ) -> Path:
        """The path of an FMU (FMI 2.0 or 3.0) of the whole robot; kept parameters can be set in it."""
        from supple.generator import export_fmu

        return export_fmu(self.keeping(keep or self.keep), Path(folder), version=version, structural=structural)

    def correlate(self, test: str | Path, *, count: int | None = None) -> Correlation:
        """The robot beside its measurements: paired modes with frequency errors and MAC, autoMAC, coMAC, FRAC, in words.

        test: a test file, with poses and what was measured in them; count: how many modes to extract from each pose's
        responses, if that is known."""
        from supple.analyses.correlate import correlate

        return correlate(self, test, count=count)

    def identify(
        self,
        test: str | Path,
        free: str | Sequence[str],
        *,
        use: str = "auto",
        robust: bool = False,
        count: int | None = None,
        profile: str | Sequence[str] = (),
        advise: bool = False,
        output: str | Path | None = None,
        report: Callable[[str], None] = _unheard,
    ) -> Identified:
        """Parameters fitted to a test: values, deviations, correlation, what the data hold of them in words, held-out poses.

        free: parameters, as a list or separated by commas; "k1=k2" share a factor, "k@leg" has a value for every leg; or
        "base": base inertial and friction parameters, from the test's motions. use: modes, responses, two-step (stiffness by
        modes, then loss factors by responses), or auto: modes first, then responses
        where there are any. robust: data far off count less. count: how many modes to extract from each pose's responses, if
        known. profile: parameters whose likelihood is followed with all others fitted again. advise: say which further pose
        would tell what is not known yet. output: the robot file with fitted values. report: hears of every step."""
        from supple.analyses.identify import identify

        return identify(
            self, test, free, use=use, robust=robust, count=count, profile=profile, advise=advise, output=output,
            report=report,
        )  # fmt: skip

    def plan(
        self,
        free: str | Sequence[str],
        *,
        sensors: int = 8,
        poses: int = 3,
        test: str | Path | None = None,
        band: tuple[float, float] | None = None,
        noise: float = 0.02,
        seed: int = 0,
        output: str | Path | None = None,
        report: Callable[[str], None] = _unheard,
    ) -> Planned:
        """Where to strike, where to listen and in which poses, so that a test tells the free parameters best (D-optimal).

        With it comes the accuracy to expect. free: as of `identify`; sensors, poses: how many are chosen; test: a test file
        whose sensors, exciters and poses are the candidates (default: every link, named points, random poses around home by
        `seed`); band: frequencies in Hz (default: about ten modes); noise: of a channel, by the strongest response; output:
        the plan as a test file."""
        from supple.analyses.plan import plan

        return plan(
            self, free, sensors=sensors, poses=poses, test=test, band=band, noise=noise, seed=seed, output=output,
            report=report,
        )  # fmt: skip

    @staticmethod
    def extract(
        file: str | Path,
        *,
        band: tuple[float, float] | None = None,
        orders: int = 40,
        count: int | None = None,
        decay: float = 0.0,
        units: str | None = None,
        output: str | Path | None = None,
    ) -> Extracted:
        """Natural modes of measured frequency responses (datasets 58 of a universal file), with deviations and reasons.

        band: frequencies in Hz; orders: highest order of the models that are tried; count: how many modes there are, if that
        is known; decay: rate (1/s) of an exponential window, taken out of the damping; units: "SI" for files that do not say
        theirs; output: modes as a universal file (dataset 55)."""
        from supple.analyses.extract import extract

        return extract(file, band=band, orders=orders, count=count, decay=decay, units=units, output=output)

    def test(
        self,
        file: str | Path,
        *,
        output: str | Path,
        by: str = "responses",
        noise: float | None = None,
        scatter: float = 0.0,
        double_hits: int = 0,
        seed: int = 0,
        progress: Callable[[float], None] | None = None,
    ) -> Rehearsed:
        """A test rehearsed: what its instruments would write if the robot were as its file says, sensors on.

        file: a test file (.yaml); output: measured.uff, beside which files of further poses, static tables and measured.yaml
        (the test file that names them) are written. by: 'responses' (of averaged blows) or 'records' (of blows over time:
        filtered, sampled, with `double_hits` more blows of every exciter that hit twice).
        noise: standard deviation relative to the root mean square of each response or record (None: the test file's);
        scatter: relative standard deviation by which the stiffness of every body and joint differs, so that legs do."""
        from supple.analyses.test import test

        return test(
            self, file, output=output, by=by, noise=noise, scatter=scatter, double_hits=double_hits, seed=seed,
            progress=progress,
        )  # fmt: skip


def compare(robot: Robot, at: At | None = None, **options: Any) -> ComparisonShown:
    """Formulations of a robot side by side; options as of `Robot.compare`."""
    return robot.compare(at, **options)


def differences(old: str | Path, new: str | Path) -> DifferenceShown:
    """Two results in .nc files, quantity by quantity; `save` writes a page with what changed."""
    from supple.shown import read_differences

    return read_differences(Path(old), Path(new))
