"""What is asked of many poses and designs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from supple.api.words import At, names
from supple.machine import Machine

if TYPE_CHECKING:  # what only some calls need is loaded when they are made
    from supple.shown import SizingShown, StudyShown


class Studies(Machine):
    """What is asked of many poses and designs."""

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
            self, over, names(of), at, poses=poses, along=along, samples=samples, free=free, follow=follow, loads=loads,
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
            self, vary, names(of), at, grid=grid, latin=latin, normal=normal, seed=seed, over=over, poses=poses, free=free,
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

        wants = names(want)
        made = size(
            self, free, wants, at, least=least, most=most, poses=poses, over=over, loads=loads, assembly=assembly,
            starts=starts, seed=seed, trade=trade, points=points, evolve=evolve, output=output,
            resume=resume, progress=progress,
        )  # fmt: skip
        return shown(made, SizingShown)
