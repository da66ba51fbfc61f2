"""Results as notebooks show them: the records of `results`, with their tables, pictures and files at hand."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from supple import results
from supple.errors import SuppleError
from supple.results.control import Control
from supple.results.report import Difference, Report
from supple.results.scene import Scene
from supple.results.sizing import Sizing
from supple.results.study import Study
from supple.results.tuning import Tuned

if TYPE_CHECKING:  # what shows results takes longer to load than many results to compute
    import xarray

    from supple.views.figures import Figure
    from supple.views.page import Page

R = TypeVar("R")


@dataclass(frozen=True)
class Picture:
    """A picture: shown by a notebook, changed through its matplotlib `figure`, written by `save`."""

    figure: Figure

    def save(self, file: str | Path) -> Path:
        """Write it to a .png, .svg or .pdf file."""

        from supple.views.figures import written

        return written(self.figure, Path(file))

    def _repr_png_(self) -> bytes:
        from supple.views.figures import plain

        made = io.BytesIO()
        plain(self.figure).savefig(made, format="png", dpi=100)
        return made.getvalue()


class _Shown:
    def _page(self) -> Page:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from supple.views.page import html

        return html(self._page())


class CheckShown(_Shown, results.Check):
    """What a robot is made of, and how it can move at a pose."""

    def _page(self) -> Page:
        from supple.views.tables import check_page

        return check_page(self)


class ControlShown(_Shown, Control):
    """A control law and its closed loops."""

    def _page(self) -> Page:
        from supple.views.control_page import control_page

        return control_page(self)

    def save(self, file: str | Path) -> Path:
        """Write the law to a file (.json), which `simulate` takes as a controller."""
        from supple.storage.controls import save_control

        return save_control(self, Path(file))

    def plot(self, file: str | Path | None = None) -> Picture:
        """Poles of all poses, root locus and Nyquist curves of the worst as a picture; `file` writes it too."""
        from supple.views.control_plot import control_figure
        from supple.views.figures import written

        made = control_figure(self)
        if file is not None:
            written(made, Path(file))
        return Picture(made)

    def to_control(self) -> Any:
        """The law as a sampled StateSpace of python-control, from what sensors read to forces, without its delay."""
        if self.parts > 1:
            raise SuppleError("to_control: a scheduled law is not one linear system; make it for one pose")
        (part,) = self.law.parts
        A, B = part.A + part.E @ part.C, part.B + part.E @ part.D
        names = {"inputs": _undotted(self.sensors), "outputs": _undotted(f"tau.{n}" for n in self.forces)}
        return _python_control().ss(A, B, part.C, part.D, self.sample, name=f"{self.robot}_law", **names)


class TunedShown(_Shown, Tuned):
    """Shapers or gains tried."""

    def _page(self) -> Page:
        from supple.views.tuning_page import tuning_page

        return tuning_page(self)

    def save(self, file: str | Path) -> Path:
        """Write the best one to a file (.yaml), as a motion file has it."""
        from supple.storage.controls import save_tuned

        return save_tuned(self, Path(file))


class ModesShown(_Shown, results.Modes):
    """Natural modes about a static equilibrium."""

    def _page(self) -> Page:
        from supple.views.tables import modes_page

        return modes_page(self)

    def plot(self, mode: int = 1, file: str | Path | None = None) -> Picture:
        """A mode (from 1) as a picture; `file` writes it too, .gif as a film."""

        from supple.views.mode_picture import MOVING, draw_mode, mode_figure

        made = Picture(mode_figure(self, mode))
        if file is not None and Path(file).suffix.lower() in MOVING:
            draw_mode(self, mode, Path(file))
        elif file is not None:
            made.save(file)
        return made

    def to_xarray(self) -> xarray.Dataset:
        """Frequencies, damping ratios, shapes and energy shares with named axes and units."""

        from supple.storage import modes_dataset

        return modes_dataset(self)


class SimulationShown(_Shown, results.Simulation):
    """A motion over time: signals by name, as in run["tau"] or run["tau:q11"]."""

    def _page(self) -> Page:
        from supple.views.tables import simulation_page

        return simulation_page(self)

    def plot(self, file: str | Path | None = None) -> Picture:
        """Actuators, forces, points and deformations over time; `file` writes the picture too."""

        from supple.views.time_plot import time_figure

        made = Picture(time_figure(self))
        if file is not None:
            made.save(file)
        return made

    def to_xarray(self) -> xarray.Dataset:
        """All signals with named axes, units and provenance."""

        from supple.storage import dataset

        return dataset(self)

    def save(self, file: str | Path) -> Path:
        """Write it to a .nc (netCDF), .csv or .mat file."""

        from supple.storage import save

        save(self, Path(file))
        return Path(file)


class ComparisonShown(_Shown, results.Comparison):
    """Formulations of one robot at one pose."""

    def _page(self) -> Page:
        from supple.views.comparison import comparison_page

        return comparison_page(self)

    def plot(self, file: str | Path | None = None) -> Picture:
        """Differences and costs as a picture; `file` writes it too."""

        from supple.views.comparison import comparison_figure

        made = Picture(comparison_figure(self))
        if file is not None:
            made.save(file)
        return made


class StiffnessShown(_Shown, results.Stiffness):
    """How a named point gives way."""

    def _page(self) -> Page:
        from supple.views.tables import stiffness_page

        return stiffness_page(self)

    def save(self, file: str | Path) -> Path:
        """Write it to a .nc, .csv, .mat or .json file."""

        from supple.storage.tables import save_stiffness

        save_stiffness(self, Path(file))
        return Path(file)

    def plot(self, file: str | Path | None = None) -> Picture:
        """How soft every direction is and who gives way; `file` writes the picture too."""

        from supple.views.stiffness_plot import stiffness_figure

        made = Picture(stiffness_figure(self))
        if file is not None:
            made.save(file)
        return made


class FrfShown(_Shown, results.Frf):
    """Frequency responses: frf["tool.z", "tool.fz"] is one of them."""

    def _page(self) -> Page:
        from supple.views.tables import frf_page

        return frf_page(self)

    def plot(self, file: str | Path | None = None) -> Picture:
        """Magnitude and phase; `file` writes the picture too."""

        from supple.views.bode import bode_figure

        made = Picture(bode_figure(self))
        if file is not None:
            made.save(file)
        return made

    def to_xarray(self) -> xarray.Dataset:
        """Real and imaginary parts with named axes."""

        from supple.storage import frf_dataset

        return frf_dataset(self)

    def save(self, file: str | Path) -> Path:
        """Write it to a .nc, .csv, .mat or .uff file."""

        from supple.storage import save_frf

        save_frf(self, Path(file))
        return Path(file)


class LinearShown(_Shown, results.LinearModel):
    """A, B, C, D with names."""

    def _page(self) -> Page:
        from supple.views.tables import linear_page

        return linear_page(self)

    def save(self, file: str | Path) -> Path:
        """Write it to a .mat, .nc, .csv, .npz, .json or .c file."""

        from supple.storage import save_linear

        save_linear(self, Path(file))
        return Path(file)

    def plot(self, file: str | Path | None = None, band: tuple[float, float] = (0.0, 250.0)) -> Picture:
        """Bode plots within a band (Hz); `file` writes the picture too."""
        import numpy as np

        from supple.results.resonances import near_poles
        from supple.views.bode import bode_figure

        f = np.linspace(max(band[0], 1e-3), band[1], 2001)
        f = np.union1d(f, near_poles(np.linalg.eigvals(self.A), f))
        names = (self.inputs, self.outputs, self.input_units, self.output_units)
        found = results.Frf(self.robot, self.free, "response", f, self.response(f), *names)
        made = Picture(bode_figure(found, f"under {self.controller}" if self.controller else None))
        if file is not None:
            made.save(file)
        return made

    def to_control(self) -> Any:
        """The model as a StateSpace of python-control, with names, in which it allows no dots: tool_fz for tool.fz."""
        names = {key: _undotted(getattr(self, key)) for key in ("states", "inputs", "outputs")}
        return _python_control().ss(self.A, self.B, self.C, self.D, name=self.robot, **names)


class StudyShown(_Shown, Study):
    """Numbers of a robot over many poses or designs: study.quantities["f1"].values."""

    def _page(self) -> Page:
        from supple.views.study_page import study_page

        return study_page(self)

    def plot(self, file: str | Path | None = None) -> Picture:
        """Lines, maps, slices or a scatter of every quantity; `file` writes the picture too."""

        from supple.views.study_plot import study_figure

        made = Picture(study_figure(self))
        if file is not None:
            made.save(file)
        return made

    def to_xarray(self) -> xarray.Dataset:
        """Quantities over the axes of the grid, or over cases, with units."""

        from supple.storage.studies import study_dataset

        return study_dataset(self)

    def save(self, file: str | Path) -> Path:
        """Write it to a .nc (netCDF), .csv or .mat file."""

        from supple.storage.studies import save_study

        save_study(self, Path(file))
        return Path(file)


def read_map(file: str | Path) -> Study:
    """The study in a .nc file."""

    from supple.storage.studies import read_study

    return read_study(Path(file))


class SceneShown(Scene):
    """A robot as it looks; a notebook shows its page."""

    def page(self, mode: int = 1, first: str = "") -> str:
        """The text of its page; mode: the one to begin with; first: modes or motion, what it opens with."""

        from supple.views.look import check_mode
        from supple.views.show_page import show_page

        check_mode(self, mode if self.modes is not None else None)
        return show_page(self, mode, first)

    def save(
        self, file: str | Path, mode: int | None = None, progress: Callable[[float], None] | None = None
    ) -> Path:  # fmt: skip
        """Write a page (.html), a picture (.png), a film (.gif, .mp4) or a glTF file (.glb).

        mode: the one (from 1) that a page begins with and that pictures, films and glTF files show; None: the motion, if
        there is one, else a page begins with the first mode and pictures show the robot at rest."""

        from supple.views.gltf import write_glb
        from supple.views.show_page import write_page
        from supple.views.still import write_film, write_still

        path = Path(file)
        match path.suffix.lower():
            case ".png":
                return write_still(self, path, mode)
            case ".gif" | ".mp4":
                return write_film(self, path, mode, progress=progress)
            case ".glb":
                return write_glb(self, path, mode)
        if self.measured is not None:
            return self.save_beside(self.measured, path, (f"{self.robot}, computed", f"{self.robot}, measured"), mode)
        return write_page(self.page(mode or 1, self._first(mode)), path)

    def save_beside(
        self, other: Scene, file: str | Path, names: tuple[str, str] | None = None, mode: int | None = None
    ) -> Path:  # fmt: skip
        """Write a page (.html) with two robots, or two results of one, beside each other: turned and played together."""
        from supple.views.look import check_mode
        from supple.views.show_page import beside_page, write_page

        for scene in (self, other):
            check_mode(scene, mode if scene.modes is not None else None)
        text = beside_page((self, other), names or (self.robot, other.robot), mode or 1, self._first(mode))
        return write_page(text, Path(file))

    def _first(self, mode: int | None) -> str:
        """What its page opens with."""
        if mode is not None:
            return "modes"
        return "motion" if self.motion is not None else "map" if self.map is not None else "modes"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.page())}" style="width:100%;height:520px;border:0"></iframe>'


class ReportShown(Report):
    """What a robot is and does, as one page."""

    def page(self) -> str:
        """The text of the page."""
        from supple.views.report_page import report_page

        return report_page(self)

    def save(self, file: str | Path) -> Path:
        """Write the page to an .html file."""
        from supple.views.show_page import write_page

        return write_page(self.page(), Path(file))

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.page())}" style="width:100%;height:640px;border:0"></iframe>'


class DifferenceShown(Difference):
    """Two results beside each other, as one page."""

    def page(self) -> str:
        """The text of the page."""
        from supple.views.report_page import difference_page

        return difference_page(self)

    def save(self, file: str | Path) -> Path:
        """Write the page to an .html file."""
        from supple.views.show_page import write_page

        return write_page(self.page(), Path(file))


def read_differences(old: Path, new: Path) -> DifferenceShown:
    """Two .nc files beside each other."""
    from supple.storage.differences import differences

    return shown(differences(old, new), DifferenceShown)


class SizingShown(_Shown, Sizing):
    """The best values of parameters, and what holds them back."""

    def _page(self) -> Page:
        from supple.views.sizing import sizing_page

        return sizing_page(self)

    def save(self, file: str | Path) -> Path:
        """Write it to a .nc, .csv, .mat or .json file."""

        from supple.storage.tables import save_sizing

        save_sizing(self, Path(file))
        return Path(file)

    def plot(self, file: str | Path | None = None) -> Picture:
        """How the runs went, and the trade-off if there is one; `file` writes the picture too."""

        from supple.views.sizing import sizing_figure

        made = Picture(sizing_figure(self))
        if file is not None:
            made.save(file)
        return made


class CountedShown(_Shown, results.Counted):
    """What one evaluation of a generated model costs."""

    def _page(self) -> Page:
        from supple.views.tables import counts_page

        return counts_page(self)


class Bodies(list[dict[str, Any]]):
    """Flexible bodies of a robot, one entry each."""

    def _repr_html_(self) -> str:
        from supple.views.page import html
        from supple.views.tables import bodies_page

        return html(bodies_page(self))


def shown(result: Any, kind: type[R]) -> R:
    """A record as the `kind` that notebooks show; nothing is copied."""
    made = object.__new__(kind)
    made.__dict__.update(vars(result))
    return made


def _python_control() -> Any:
    try:
        import control  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as missing:
        raise SuppleError("to_control needs python-control: pip install supple[control]") from missing
    return control


def _undotted(names: Iterable[str]) -> list[str]:
    """Names as python-control allows them: tool_fz for tool.fz."""
    return [name.replace(".", "_") for name in names]
