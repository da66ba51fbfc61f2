"""How a Scene is looked at and what its parts are coloured; the page of `page3d` looks the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.results.scene import Array, Scene, points_of, sections

COLOURS = {
    "beam": (74, 134, 204), "plate": (88, 150, 190), "solid": (96, 142, 196), "rod": (138, 150, 165),
    "platform": (222, 165, 62), "joint": (62, 71, 84), "motor": (206, 84, 48), "spring": (66, 158, 108),
    "base": (164, 173, 184), "rail": (150, 160, 172), "point": (224, 49, 90),
}  # fmt: skip
_ANGLE = 0.6  # of the picture's height, rad


@dataclass(frozen=True)
class Eye:
    """Where the eye is, the axes of the picture (right, up, towards the eye), and its size in pixels."""

    place: Array
    axes: Array  # 3 x 3, rows
    width: int
    height: int

    def seen(self, points: Array) -> Array:
        """Pixels across and down, and the distance along the line of sight, of points (... x 3)."""
        x = (points - self.place) @ self.axes.T
        scale = 0.5 * self.height / np.tan(_ANGLE / 2) / -x[..., 2]
        return np.stack([0.5 * self.width + scale * x[..., 0], 0.5 * self.height - scale * x[..., 1], -x[..., 2]], axis=-1)


def check_mode(scene: Scene, mode: int | None) -> None:
    """A complaint if the scene does not have a mode (from 1)."""
    known = 0 if scene.modes is None else len(scene.modes.frequencies_hz)
    if mode is not None and not 1 <= mode <= known:
        raise SuppleError(f"there is no mode {mode}; {known} were computed")


def eye_of(scene: Scene, every: list[Array], width: int, height: int) -> Eye:
    """The eye that has all the given points (arrays of n x 3) in view."""
    points = np.vstack(every)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    right = np.cross(scene.up, scene.facing)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(scene.facing, right), scene.facing])
    x = (points - middle) @ axes.T
    tall = np.tan(_ANGLE / 2)
    wide = tall * width / height
    far = float((1.1 * np.maximum(np.abs(x[:, 0]) / wide, np.abs(x[:, 1]) / tall) + x[:, 2]).max())
    return Eye(middle + far * scene.facing, axes, width, height)


def surface(scene: Scene, changes: list[Array] | None = None) -> list[Array]:
    """Sections of all meshes at rest, with changes (of a mode) added."""
    made = [sections(scene, m, scene.rest) for m in scene.meshes]
    return made if changes is None else [a + b for a, b in zip(made, changes, strict=True)]


def points(scene: Scene, every: list[Array]) -> list[Array]:
    """Points of all surfaces whose sections are given."""
    return [points_of(m, at) for m, at in zip(scene.meshes, every, strict=True)]
