"""A Scene as a picture (.png) or a film (.gif, .mp4): lit surfaces, drawn by numpy, with what is shown in words."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.delivery import written_whole
from supple.errors import SuppleError
from supple.results.scene import Array, Scene, mode_scale, section_moves, sections
from supple.views.look import COLOURS, Eye, check_mode, eye_of, points, surface
from supple.views.raster import Painted, filled, painted, ruled, sun

_SMOOTH = 2  # pixels of the computed picture per pixel of the shown one, across and down
_SECONDS, _RATE = 2.0, 20  # of a swing; pictures a second
_LONGEST = 400  # pictures of a film


@dataclass(frozen=True)
class Shot:
    """One picture: where the sections of all meshes are, and words."""

    every: list[Array]
    words: tuple[str, ...]


def write_still(scene: Scene, path: Path, mode: int | None = None, size: tuple[int, int] = (960, 640)) -> Path:
    """The path of a .png file of the robot at rest, or of a mode (from 1) at its largest."""
    picture = still_picture(scene, mode, size)
    return written_whole(path, lambda file: picture.save(file))


def still_picture(scene: Scene, mode: int | None, size: tuple[int, int]) -> Any:
    """The same as an image."""
    shot = Shot(surface(scene), (scene.robot,)) if mode is None else _swing(scene, mode, 1.0)
    eye = _eye(scene, [shot.every, surface(scene)], size, len(shot.words))
    return _picture(scene, shot, eye, ghost=None if mode is None else surface(scene))


def write_film(
    scene: Scene, path: Path, mode: int | None = None, size: tuple[int, int] = (640, 440),
    progress: Callable[[float], None] | None = None,
) -> Path:  # fmt: skip
    """The path of a .gif or .mp4 file: a mode that swings, or, without one, the scene's motion."""
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise SuppleError(f"{path}: an .mp4 file needs the program ffmpeg; install it, or write a .gif")
    shots, rate = _shots(scene, mode)
    chosen = [shots(k / 11) for k in range(12)]
    eye = _eye(scene, [s.every for s in chosen], size, len(chosen[0].words))
    count = shots.count

    def pictures() -> Iterator[Any]:
        for k in range(count):
            yield _picture(scene, shots(k / count), eye)
            if progress is not None:
                progress((k + 1) / count)

    if path.suffix.lower() == ".mp4":
        return written_whole(path, lambda file: _encoded(pictures(), file, size, rate))
    return written_whole(path, lambda file: _gif(pictures(), file, rate))


@dataclass(frozen=True)
class _Shots:
    """A film: its shot at a part (0 to 1) of its time, and how many there are."""

    at: Callable[[float], Shot]
    count: int

    def __call__(self, part: float) -> Shot:
        return self.at(part)


def _shots(scene: Scene, mode: int | None) -> tuple[_Shots, float]:
    if mode is not None:
        return _Shots(lambda t: _swing(scene, mode, float(np.sin(2 * np.pi * t))), int(_SECONDS * _RATE)), _RATE
    motion = scene.motion
    if motion is None:
        raise SuppleError(f"{scene.robot}: a film shows a mode or a motion; choose --mode or --motion")
    span = float(motion.time[-1] - motion.time[0])
    count = int(np.clip(span * _RATE, 24, min(_LONGEST, len(motion.time))))

    def at(part: float) -> Shot:
        k = round(min(part, 1.0) * (len(motion.time) - 1))
        every = [sections(scene, m, motion.placed[k]) for m in scene.meshes]
        return Shot(every, (scene.robot, f"{motion.name}: {motion.time[k]:.3f} s", "deformations true to scale"))

    return _Shots(at, count), max(count / max(span, 1e-9), 1.0) if span < 2 else _RATE


def _swing(scene: Scene, mode: int, part: float) -> Shot:
    check_mode(scene, mode)
    modes = scene.modes
    assert modes is not None
    factor = mode_scale(scene, mode - 1)
    changes = [section_moves(scene, m, scene.rest, modes.moves[mode - 1]) for m in scene.meshes]
    largest = max(float(np.linalg.norm(c[..., 3], axis=1).max()) for c in changes)
    damped = f", damping {modes.damping_ratios[mode - 1]:.2%}" if modes.damping_ratios[mode - 1] > 0 else ""
    words = (
        scene.robot,
        f"mode {mode}: {modes.frequencies_hz[mode - 1]:.2f} Hz{damped}",
        f"drawn {1e3 * factor * largest:.3g} mm at most, {factor:.3g} times the mass-normalised shape",
    )
    return Shot(surface(scene, [part * factor * c for c in changes]), words)


def _eye(scene: Scene, shots: list[list[Array]], size: tuple[int, int], lines: int) -> Eye:
    """The eye of a picture of this size, below as many lines of words."""
    every = [x for shot in shots for x in points(scene, shot)]
    return eye_of(scene, every, _SMOOTH * size[0], _SMOOTH * (size[1] - _band(lines)))


def _band(lines: int) -> int:
    """Pixels above the robot that words take."""
    return 14 + 20 * lines


def _picture(scene: Scene, shot: Shot, eye: Eye, ghost: list[Array] | None = None) -> Any:
    """The shot as a PIL image."""
    from PIL import Image, ImageDraw, ImageFont

    down = np.linspace(0, 1, eye.height)[:, None]
    sky = np.array([0.97, 0.978, 0.99]) + down * (np.array([0.86, 0.89, 0.925]) - np.array([0.97, 0.978, 0.99]))
    back = np.repeat(sky, eye.width, axis=0)
    made = points(scene, shot.every)
    first = np.cumsum([0, *(len(p) for p in made)])[:-1]
    triangles = np.vstack([m.triangles + k for m, k in zip(scene.meshes, first, strict=True)])
    normals = [
        np.einsum("vij,vj->vi", a[m.station][..., :3], m.normal) for m, a in zip(scene.meshes, shot.every, strict=True)
    ]
    tints = [np.tile(np.array(COLOURS[m.kind]) / 255, (len(p), 1)) for m, p in zip(scene.meshes, made, strict=True)]
    whole = np.vstack(made)
    size = float(np.ptp(whole, axis=0).max())
    _floor(scene, eye, back, whole, triangles, size)
    canvas = painted(eye, whole, np.vstack(normals), np.vstack(tints), triangles, scene.up, back)
    edges = np.vstack([m.edges + k for m, k in zip(scene.meshes, first, strict=True)])
    if ghost is not None:
        rest = np.vstack(points(scene, ghost))[edges]
        ruled(eye, canvas, rest, np.array([0.35, 0.42, 0.5]), np.full((len(rest), 2), 0.35), 0.0)
    ruled(eye, canvas, whole[edges], np.array([0.06, 0.09, 0.13]), np.full((len(edges), 2), 0.4), 0.004 * size)
    pixels = (255 * np.clip(canvas.colour, 0, 1)).astype(np.uint8).reshape(eye.height, eye.width, 3)
    image = Image.fromarray(pixels).resize((eye.width // _SMOOTH, eye.height // _SMOOTH), Image.Resampling.LANCZOS)
    band, below = _band(len(shot.words)), image
    image = Image.new("RGB", (below.width, below.height + band), tuple((255 * sky[0]).astype(int).tolist()))
    image.paste(below, (0, band))
    pen = ImageDraw.Draw(image)
    for k, text in enumerate(shot.words):
        pen.text(
            (18, 14 + 20 * k), text[:120], fill=(28, 37, 48) if k == 0 else (93, 107, 122), font=ImageFont.load_default(14)
        )
    return image


def _floor(scene: Scene, eye: Eye, back: Array, whole: Array, triangles: Array, size: float) -> None:
    """A grid below the robot, and its shadow on it."""
    up = scene.up
    normal = scene.facing - up * (up @ scene.facing) if scene.planar else up
    normal = normal / np.linalg.norm(normal)
    middle = (whole.min(axis=0) + whole.max(axis=0)) / 2
    height = float((whole @ normal).min()) - 0.03 * size if scene.planar else scene.floor
    foot = middle + (height - middle @ normal) * normal
    along = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    along /= np.linalg.norm(along)
    across = np.cross(normal, along)
    light = sun(eye, up)
    light = light if light @ normal > 0.25 else (light + 0.8 * normal) / np.linalg.norm(light + 0.8 * normal)
    fallen = whole - ((whole @ normal - height) / (light @ normal))[:, None] * light
    pixel, *_ = filled(eye, eye.seen(fallen)[triangles])
    shade = np.zeros(len(back))
    shade[pixel] = 0.13
    back *= (1 - shade)[:, None]
    cell = 10.0 ** np.floor(np.log10(size / 2))
    lines, alphas = [], []
    steps = np.linspace(-1, 1, 33) * 2.2 * size
    for k in range(-40, 41):
        x = k * cell
        if abs(x) > 2.2 * size:
            continue
        for a, b in ((along, across), (across, along)):
            way = foot + x * a + steps[:, None] * b
            fade = 0.3 * np.clip(1 - np.hypot(x, steps) / (2.2 * size), 0, 1)
            lines.append(np.stack([way[:-1], way[1:]], axis=1))
            alphas.append(np.column_stack([fade[:-1], fade[1:]]))
    ground = Painted(np.full(len(back), np.inf), back)
    ruled(eye, ground, np.vstack(lines), np.array([0.35, 0.43, 0.53]), np.vstack(alphas), 0.0)


def _gif(pictures: Iterator[Any], file: Path, rate: float) -> None:
    from PIL import Image

    first, *rest = (p.quantize(128, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE) for p in pictures)
    first.save(file, save_all=True, append_images=rest, duration=int(1000 / rate), loop=0)


def _encoded(pictures: Iterator[Any], file: Path, size: tuple[int, int], rate: float) -> None:
    """A film by ffmpeg, which is given pixels and no names."""
    program = shutil.which("ffmpeg") or "ffmpeg"
    pixels = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{rate:.4g}", "-i", "-"]
    command = [program, "-loglevel", "error", *pixels, "-an", "-pix_fmt", "yuv420p", "-y", f"file:{file.absolute()}"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stderr is not None
    try:
        for picture in pictures:
            process.stdin.write(picture.tobytes())
    except BrokenPipeError:
        pass  # it says why below
    process.stdin.close()
    said = process.stderr.read().decode(errors="replace").strip()
    if process.wait() != 0:
        raise SuppleError(f"ffmpeg could not write the film: {said[:200]}")
