"""Robots to look at, and all that is known of one gathered on a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from supple.api.motions import Motions
from supple.api.postures import Postures
from supple.api.studies import Studies
from supple.api.tests import Tests
from supple.api.words import At, names
from supple.machine import GALLERY
from supple.motion.description import Motion
from supple.robot.written import Written

if TYPE_CHECKING:  # what only some calls need is loaded when they are made
    from supple.results.scene import Scene
    from supple.results.study import Study
    from supple.shown import ReportShown, SceneShown


_LARGEST_MAPPED = 60  # coordinates of robots whose report has a map that nobody asked for


class Pages(Postures, Studies, Motions, Tests):
    """Robots to look at, and all that is known of one gathered on a page."""

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
        if run is not None and run.summary.get("structural_damping"):
            notices.append(f"structural damping: {run.summary['structural_damping']}")
        settings = tuple(x for name, value in self.settings.items() for x in ("--set", f"{name}={value}"))
        first = (poses or [{}])[0]
        study: tuple[Study, tuple[str, ...]] | None = None
        if map is not None and str(map) != "none":
            study = read_map(map), ("...", "-o", Path(map).name)
        elif map is None:
            study = self._small_map(first, over, names(of), assembly, notices)
        made = Report(
            (self._called, *settings), self.check(first, assembly=assembly), self._parameters(),
            tuple(posed), run, study, self._origin(),
            tuple(dict.fromkeys([*notices, *(() if run is None else run.summary["notices"])])),
            str(motion) if isinstance(motion, (str, Path)) else "",
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
            count = self.model().nv
            if count > _LARGEST_MAPPED:
                notices.append(
                    f"no map: the robot has {count} coordinates, more than {_LARGEST_MAPPED}; --over asks for one"
                )
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
