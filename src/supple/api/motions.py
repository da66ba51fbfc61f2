"""What is asked of motions over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from supple.machine import USUAL, Machine
from supple.motion.description import Motion
from supple.motion.laws import SampledLaw
from supple.robot.written import Written

if TYPE_CHECKING:  # what only some calls need is loaded when they are made
    from supple.shown import SimulationShown, TunedShown


class Motions(Machine):
    """What is asked of motions over time."""

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
        modes: int = 8,
        every: Written = "1 ms",
        output: str | Path | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> SimulationShown:
        """The same paths in the least time: ways from rest to rest as quick as limits allow, rests as they are.

        limits: speed, acceleration, force: most of any actuator, instead of the motion's own; residual: most vibration (m)
        that each way may leave at the point `of`, of so many modes, those that leave most. The result is the simulation of
        the flexible robot, whose `performance` says what it uses and leaves, `unmet` what is more than was asked for."""
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
