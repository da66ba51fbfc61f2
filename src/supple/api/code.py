"""What is asked of the equations: formulations beside each other, operations, source code, FMUs, bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from supple.api.words import At, Report, silent
from supple.machine import USUAL, Machine
from supple.robot.written import Written

if TYPE_CHECKING:  # what only some calls need is loaded when they are made
    from supple.backends.interpreter import Interpreted
    from supple.backends.native import Native
    from supple.results import Exported
    from supple.shown import Bodies, ComparisonShown, CountedShown


class Code(Machine):
    """What is asked of the equations: formulations beside each other, operations, source code, FMUs, bodies."""

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
        report: Report = silent,
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
        report: Report = silent,
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
