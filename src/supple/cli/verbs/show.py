"""A robot as it looks: a page with its parts, modes and a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from supple.cli.motions import bar, duration_option, every_option, writable_place
from supple.cli.options import (
    assembly_option,
    at_option,
    json_option,
    load_option,
    named_values,
    print_json,
    remark,
    set_option,
)
from supple.errors import SuppleError

_PAGES = (".html", ".htm")


@click.command()
@click.argument("robot")
@at_option
@set_option
@assembly_option
@load_option
@click.option("--free", is_flag=True, help="Modes with free actuators (constant force) instead of held ones.")
@click.option("--count", type=click.IntRange(0), default=10, show_default=True, help="How many modes.")
@click.option("--mode", type=click.IntRange(1), help="The mode that the page begins with.")
@click.option("--motion", metavar="NAME|FILE", help="A motion to simulate and to play (as of supple simulate).")
@duration_option
@every_option
@click.option("--map", "map_file", type=click.Path(path_type=Path), metavar="FILE.nc", help="A result of supple map.")
@click.option(
    "--measured", type=click.Path(path_type=Path), metavar="TEST.yaml", help="A test whose measured modes are shown beside."
)
@click.option("--pose", metavar="NAME", help="The pose of the test; the first one if not given.")
@click.option("--keep", multiple=True, metavar="NAME", help="A parameter that the page can change.")
@click.option("--live/--static", default=True, show_default=True, help="Whether the page carries the robot's own code.")
@click.option("--beside", metavar="ROBOT", help="A second robot beside it on the page, turned and played together.")
@click.option(
    "--beside-set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    callback=named_values,
    help="A parameter of the second robot (of the same one without --beside).",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE.html", help="The page: one file, no network.")
@click.option("--png", type=click.Path(path_type=Path), metavar="FILE", help="A picture of --mode, or at rest.")
@click.option("--gif", type=click.Path(path_type=Path), metavar="FILE", help="A film of --mode, or of the motion.")
@click.option("--mp4", type=click.Path(path_type=Path), metavar="FILE", help="The same, by ffmpeg.")
@click.option("--glb", type=click.Path(path_type=Path), metavar="FILE", help="glTF, with the mode or motion as animation.")
@click.option("--open", "opened", is_flag=True, help="Show the page in a browser.")
@json_option
def show(
    robot: str, at: dict[str, str], settings: dict[str, str], assembly: str | None, loads: dict[str, list[float]],
    free: bool, count: int, mode: int | None, motion: str | None, duration: float | None, every: float,
    map_file: Path | None, measured: Path | None, pose: str | None, keep: tuple[str, ...], live: bool,
    beside: str | None, changes: dict[str, str], output: Path | None, png: Path | None, gif: Path | None,
    mp4: Path | None, glb: Path | None, opened: bool, as_json: bool,
) -> None:  # fmt: skip
    """A page that shows the robot in three dimensions: its parts, its modes, a motion."""
    files = _places(output, {".png": png, ".gif": gif, ".mp4": mp4, ".glb": glb}, opened)
    _check_film(gif or mp4, mode, motion)
    _check_measured(
        measured, pose, {"--at": at, "--motion": motion, "--map": map_file, "--load": loads, "--beside": beside or changes}
    )
    most = max(count, mode or 0)
    asked: dict[str, Any] = {
        "count": most, "free": free, "motion": motion, "duration": duration, "every": every, "loads": loads,
        "assembly": assembly, "map": map_file, "measured": measured, "pose": pose,
        "live": live and (output is not None or opened),
    }  # fmt: skip
    scene = _scene(robot, settings, keep, at, asked)
    other = None
    if beside is not None or changes:
        other = _scene(beside or robot, {**(settings if beside is None else {}), **changes}, keep, at, asked)
    if mode is not None and scene.modes is None:
        raise SuppleError(scene.notices[-1])
    names = _called(robot, settings), _called(beside or robot, changes)
    for file in files:
        _write(file, scene, other, names, mode)
    remark(dict.fromkeys([*scene.notices, *(() if other is None else other.notices)]))
    _tell(scene, files, as_json)
    if opened:
        import webbrowser

        webbrowser.open(files[0].resolve().as_uri())


def _scene(robot: str, settings: dict[str, str], keep: tuple[str, ...], at: dict[str, str], asked: dict[str, Any]) -> Any:
    """A robot as it looks."""
    from supple.api import Robot

    with bar(f"{robot} {asked['motion'] or ''}") as report:
        return Robot(robot, settings).keeping(keep).show(at, **asked, progress=report)


def _write(file: Path, scene: Any, other: Any, names: tuple[str, str], mode: int | None) -> None:
    with bar(file.name) as report:
        if other is not None and file.suffix.lower() in _PAGES:
            scene.save_beside(other, file, names, mode)
        else:
            scene.save(file, mode, report)


def _called(robot: str, settings: dict[str, str]) -> str:
    """A robot and what was set of it, in words."""
    return " ".join([robot, *(f"{name}={value}" for name, value in settings.items())])


def _tell(scene: Any, files: list[Path], as_json: bool) -> None:
    if as_json:
        print_json(scene.to_json() | {"files": {str(f): f.stat().st_size for f in files}})
        return
    click.echo(f"{scene.robot}: {len(scene.meshes)} parts drawn")
    for file in files:
        click.echo(f"wrote {file} ({file.stat().st_size / 1e6:.2f} MB)")


def _places(output: Path | None, others: dict[str, Path | None], opened: bool) -> list[Path]:
    """The files to write, the page first; complaints come before the work."""
    page = output
    if page is None and opened:
        import tempfile

        page = Path(tempfile.mkdtemp(prefix="supple-show-")) / "robot.html"
    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise SuppleError(f"-o {page}: a page is written to an .html file")
    for suffix, path in others.items():
        if path is not None and path.suffix.lower() != suffix:
            raise SuppleError(f"--{suffix[1:]} {path}: must end with {suffix}")
    files = [f for f in (page, *others.values()) if f is not None]
    if not files:
        raise SuppleError("say what to write: -o robot.html, --png, --gif, --mp4 or --glb FILE (or --open to look at once)")
    for file in files:
        writable_place(file)
    return files


def _check_measured(measured: Path | None, pose: str | None, others: dict[str, Any]) -> None:
    if measured is None and pose is not None:
        raise SuppleError(f"--pose {pose}: names a pose of a test; give the test by --measured")
    given = [name for name, value in others.items() if value]
    if measured is not None and given:
        raise SuppleError(f"--measured {measured}: the test says where the robot stands; leave {', '.join(given)} out")


def _check_film(film: Path | None, mode: int | None, motion: str | None) -> None:
    if film is not None and mode is None and motion is None:
        raise SuppleError(f"{film}: a film shows a mode or a motion; choose --mode or --motion")
