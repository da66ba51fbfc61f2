"""A test rehearsed: what its instruments would write if the robot were as its file says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.machine import Machine
from supple.measured import rehearsed_files as files
from supple.measured.instrumented import instrumented
from supple.measured.measured_run import noisy_run
from supple.measured.observed_motion import accelerations
from supple.measured.rehearsal import PoseTruth, rehearsed_blows, rehearsed_responses, shaking, truth
from supple.measured.scattered import Scattered, scattered
from supple.measured.statics import static_displacements
from supple.measured.tables import MOVED, read_poses
from supple.measured.test import Test, read_test
from supple.measurements import Rehearsed
from supple.robot.named_files import files_below, is_outside_allowed
from supple.robot.yaml_tree import read_text
from supple.simulation.states import run_along
from supple.storage.universal import Function58

_WAYS = ("responses", "records")
_VISCOUS = "in records over time, structural damping is the viscous damping of every mode"


def test(
    robot: Machine,
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
    """A test of a robot rehearsed; options as of `api.Robot.test`."""
    if by not in _WAYS:
        raise SuppleError(f"by {by!r}: must be one of {', '.join(_WAYS)}")
    read = read_test(Path(file), robot.description, robot.mechanism())
    level = float(read.written.record.noise) if noise is None else noise
    if not 0 <= level < float("inf"):
        raise SuppleError(f"noise {level:g}: must be zero or more")
    if not 0 <= double_hits <= 100 or (double_hits and by != "records"):
        raise SuppleError(f"{double_hits} double hits: must be 0 to 100, and of records (by records)")
    moved = [name for name, x in read.written.motions.items() if x.motion is not None]
    if not read.written.static and not moved and not (read.outputs and shaking(read)):
        raise SuppleError(f"{read.file}: needs sensors, and a hammer or shaker among its exciters, to rehearse it")
    kept = [Path(file), *(read.folder / x.table for x in read.written.static.values())]
    tables = (beside(Path(output), name, ".csv") for name in (*read.written.static, *moved))
    for path in (Path(output).with_suffix(".yaml"), *tables):
        if any(path.resolve() == other.resolve() for other in kept):
            raise SuppleError(f"{path} is what the test is read from and would be overwritten; choose another output")
    whole = scattered(instrumented(robot, read), scatter, seed)
    work = _Rehearsal(whole, read, Path(output), by, level, double_hits, np.random.default_rng(seed), progress)
    return work.done(read_text(Path(file)), seed)


test.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


@dataclass(frozen=True)
class _Rehearsal:
    robot: Machine
    test: Test
    output: Path
    by: str
    noise: float
    twice: int
    rng: np.random.Generator
    progress: Callable[[float], None] | None

    def done(self, text: str, seed: int) -> Rehearsed:
        nodes = files.numbered(self.test)
        shaken = self.test.poses if self.test.outputs and shaking(self.test) else ()
        made: dict[str, Path] = {}
        truths: dict[str, dict[str, list[float]]] = {}
        notices: list[str] = []
        for k, pose in enumerate(shaken):
            known = truth(self.robot, self.test, pose)
            path = beside(self.output, pose.name if len(shaken) > 1 else "", self.output.suffix)
            files.write_pose(path, self._functions(known, nodes), known.places(), nodes)
            made[pose.name], truths[pose.name] = path, _modes(known, self.test.band)
            notices += [_VISCOUS] if self.by == "records" and known.motions.H.any() else []
            if self.progress is not None:
                self.progress((k + 1) / len(shaken))
        tables = {("static", name): self._static(name) for name in self.test.written.static}
        tables |= {("motions", n): self._run(n) for n, x in self.test.written.motions.items() if x.motion is not None}
        named = {name: {self.by: path.name} for name, path in made.items()}
        filled = files.filled_in(text, nodes, named, {key: path.name for key, path in tables.items()})
        own = self.output.with_suffix(".yaml")
        files.write_text(own, filled)
        factors = self.robot.factors(self.robot.mechanism()) if isinstance(self.robot, Scattered) else {}
        every = tuple(str(path) for path in (*made.values(), *tables.values()))
        return Rehearsed(
            self.robot.name, self.by, str(own), every, truths, self.noise, seed, factors, tuple(dict.fromkeys(notices))
        )

    def _functions(self, known: PoseTruth, nodes: dict[str, int]) -> list[Function58]:
        record = self.test.written.record
        if self.by == "responses":
            found = rehearsed_responses(known, self.test, self.noise, self.rng)
            return files.response_functions(found, known.outputs, known.inputs, nodes)
        step, made, case = float(record.duration) / record.samples, [], 1
        for k, exciter in enumerate(known.inputs):
            blows = rehearsed_blows(known, record, k, self.twice, self.noise, self.rng)
            made += files.record_functions(blows, known.outputs, exciter, nodes, step, case)
            case += len(blows)
        return made

    def _static(self, name: str) -> Path:
        """The table of a static entry: the poses of its own table, and how far the sensor moved in each."""
        entry = self.test.written.static[name]
        known = (c for c in self.robot.mechanism().coordinates if c.kind != "elastic")
        units = {c.name: "length" if c.unit == "m" else "angle" for c in known}
        with files_below(self.test.folder, is_outside_allowed()):
            poses = read_poses(self.test.folder / entry.table, units)
        exciter = next(c for c in self.test.inputs if c.name == entry.exciter)
        outputs = [c for c in self.test.outputs if c.place == entry.sensor]
        moved = static_displacements(self.robot.model(), poses, exciter, float(entry.force), outputs)
        moved = moved + float(entry.deviation) * self.rng.standard_normal(moved.shape)
        columns = {key: np.array([p[key] for p in poses]) for key in poses[0]}
        columns |= {MOVED[abs(c.code) - 1]: np.sign(c.code) * moved[:, k] for k, c in enumerate(outputs)}
        path = beside(self.output, name, ".csv")
        files.write_table(path, columns)
        return path

    def _run(self, name: str) -> Path:
        """The table of a motion: positions and forces of the actuators."""
        entry = self.test.written.motions[name]
        run = run_along(self.robot, self.robot.motion(entry.motion), 1.0 / float(entry.rate))
        names = run.axes["actuator"]
        positions = np.stack([run[f"position:{n}"] for n in names], axis=1)
        positions, tau = noisy_run(positions, run["tau"], entry, self.rng)
        columns = {"t": run.time} | {n: positions[:, k] for k, n in enumerate(names)}
        columns |= {f"tau {n}": tau[:, k] for k, n in enumerate(names)}
        for c in (c for c in self.test.outputs if c.order == 2):
            felt = accelerations(run, c)
            columns[c.name] = felt + float(entry.acceleration_noise) * self.rng.standard_normal(felt.shape)
        path = beside(self.output, name, ".csv")
        files.write_table(path, columns)
        return path


def beside(output: Path, name: str, suffix: str) -> Path:
    """The file of a pose or table: the output's name with the pose's behind it."""
    return output.with_name(output.stem + (f"-{name}" if name else "") + suffix)


def _modes(known: PoseTruth, band: tuple[float, float]) -> dict[str, list[float]]:
    """Undamped frequencies (Hz) within the band, and damping ratios."""
    made = known.motions
    omega = np.sqrt(np.maximum(made.squares, 0.0))
    f = omega / (2 * np.pi)
    inside = (f >= band[0]) & (f <= band[1]) & (f > 0)
    ratios = np.diag(made.viscous())[inside] / (2 * omega[inside])
    return {"frequencies_hz": f[inside].tolist(), "damping_ratios": ratios.tolist()}
