"""Measured modes of a robot drawn like computed ones: the nearest combination of computed modes, and what sensors saw."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.errors import SuppleError
from supple.results.scene import Array, Placed, Scene, SceneModes, section_moves

_FEWER = 2  # channels for every computed mode that a measured shape is made of
_LEAST = 1e-3  # of the largest: singular values of modes at the sensors that still count


@dataclass(frozen=True)
class MeasuredShapes:
    """Measured modes at sensors that are named points of the robot: where channels are, along what (channels x 3), the real
    shapes (channels x modes), and what is known of each; computed: modes of the scene that each is paired with."""

    sensors: tuple[str, ...]
    axes: Array
    shapes: Array
    frequencies_hz: Array
    damping_ratios: Array
    likeness: Array  # MAC with the computed ones
    computed: tuple[tuple[int, ...], ...]
    pose: str


def beside_measured(scene: Scene, measured: MeasuredShapes) -> tuple[Scene, Scene]:
    """The computed modes of a scene that were measured, in the order and with the signs of the measured ones; and these."""
    if scene.modes is None:
        raise SuppleError("there are no computed modes to show beside the measured ones")
    seen = _at_sensors(scene, measured)
    weights = _nearest(seen, measured)
    most = int((weights != 0).sum(axis=0).max())
    left = [1 - _share(measured.shapes[:, k], seen @ weights[:, k]) for k in range(measured.shapes.shape[1])]
    model = replace(scene, modes=_computed(scene.modes, seen, measured))
    words = (
        f"Measured in pose {measured.pose}. Arrows are what the sensors saw; the robot between them is drawn as the "
        f"combination of at most {most} computed modes that is nearest to it, which leaves "
        f"{100 * max(left):.2g} % of the squares of a shape at most."
    )
    arrows = _arrows(scene, measured)
    shown = replace(
        _combined(scene.modes, weights), frequencies_hz=measured.frequencies_hz, damping_ratios=measured.damping_ratios,
        arrows=arrows, words=_words(scene.modes, measured),
    )  # fmt: skip
    return model, replace(scene, modes=shown, notices=(*scene.notices, words))


def _nearest(seen: Array, measured: MeasuredShapes) -> Array:
    """Weights of computed modes (modes x measured ones): of those paired with a measured mode, and of those paired with its
    neighbours as far as there are channels enough to tell."""
    made = np.zeros((seen.shape[1], len(measured.computed)))
    for k, group in enumerate(measured.computed):
        near = sorted(range(len(measured.computed)), key=lambda j: abs(j - k))
        columns = list(group)
        for other in near[1:]:
            if len(columns) + len(measured.computed[other]) <= len(seen) // _FEWER:
                columns += measured.computed[other]
        columns = list(dict.fromkeys(columns))
        made[columns, k] = np.linalg.lstsq(seen[:, columns], measured.shapes[:, k], rcond=_LEAST)[0]
    return made


def _at_sensors(scene: Scene, measured: MeasuredShapes) -> Array:
    """What the channels would see of every computed mode (channels x modes)."""
    assert scene.modes is not None
    places = _places(scene, measured)
    moves = [scene.modes.moves[k] for k in range(len(scene.modes.frequencies_hz))]
    rows = []
    for name, axis in zip(measured.sensors, measured.axes, strict=True):
        mesh = scene.meshes[places[name]]
        rows.append([axis @ section_moves(scene, mesh, scene.rest, m)[0, :, 3] for m in moves])
    return np.array(rows)


def _places(scene: Scene, measured: MeasuredShapes) -> dict[str, int]:
    """Meshes of the sensors' points."""
    known = {m.name: k for k, m in enumerate(scene.meshes) if m.kind == "point"}
    return {name: known[name] for name in measured.sensors}


def _share(measured: Array, found: Array) -> float:
    return float((found @ found) / max(float(measured @ measured), 1e-300))


def _combined(modes: SceneModes, weights: Array) -> SceneModes:
    """Combinations of the first modes, a column of weights each; shares of energy are not known of them."""
    first = modes.moves[: len(weights)]

    def mixed(x: Array) -> Array:
        made: Array = np.einsum("km,k...->m...", weights, x)
        return made

    moves = Placed(mixed(first.rotation), mixed(first.position), mixed(first.elastic), mixed(first.strain))
    none = np.zeros((len(modes.bodies), weights.shape[1]))
    return replace(modes, moves=moves, kinetic=none, elastic=none)


def _computed(modes: SceneModes, seen: Array, measured: MeasuredShapes) -> SceneModes:
    """Computed modes in the order and with the size and signs of the measured ones; of multiple ones the nearest shape."""
    weights = np.zeros((len(modes.frequencies_hz), len(measured.computed)))
    for k, group in enumerate(measured.computed):
        columns = list(group)
        weights[columns, k] = np.linalg.lstsq(seen[:, columns], measured.shapes[:, k], rcond=None)[0]
    squares = weights**2 / np.maximum((weights**2).sum(axis=0), 1e-300)
    return replace(
        _combined(modes, weights), frequencies_hz=_means(modes.frequencies_hz, measured),
        damping_ratios=_means(modes.damping_ratios, measured), kinetic=modes.kinetic @ squares,
        elastic=modes.elastic @ squares,
    )  # fmt: skip


def _means(values: Array, measured: MeasuredShapes) -> Array:
    return np.array([values[list(group)].mean() for group in measured.computed])


def _words(modes: SceneModes, measured: MeasuredShapes) -> tuple[str, ...]:
    """What is said of every measured mode."""
    made = []
    for hz, mac, computed in zip(
        measured.frequencies_hz, measured.likeness, _means(modes.frequencies_hz, measured), strict=True
    ):
        made.append(f"computed {computed:.5g} Hz ({100 * (computed / hz - 1):+.2g} %), MAC {mac:.3f}")
    return tuple(made)


def _arrows(scene: Scene, measured: MeasuredShapes) -> tuple[tuple[int, Array], ...]:
    """Of every sensor its mesh and what it saw in every mode (modes x 3), in base axes."""
    made: dict[int, Array] = {}
    places = _places(scene, measured)
    for name, axis, row in zip(measured.sensors, measured.axes, measured.shapes, strict=True):
        made[places[name]] = made.get(places[name], np.zeros((len(row), 3))) + np.outer(row, axis)
    return tuple(made.items())


def real_shapes(shapes: Array) -> Array:
    """Complex shapes (channels x modes) at the phase at which most of them is real."""
    turned = shapes * np.exp(-0.5j * np.angle((shapes**2).sum(axis=0)))
    made: Array = turned.real
    return made
