"""What is asked of measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from supple.api.words import unheard
from supple.machine import Machine
from supple.robot.written import Band

if TYPE_CHECKING:  # what only some calls need is loaded when they are made
    from supple.measurements import Correlation, Extracted, Identified, Planned, Rehearsed


class Tests(Machine):
    """What is asked of measurements."""

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
        report: Callable[[str], None] = unheard,
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
        band: Band | None = None,
        noise: float = 0.02,
        seed: int = 0,
        output: str | Path | None = None,
        report: Callable[[str], None] = unheard,
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
        band: Band | None = None,
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
