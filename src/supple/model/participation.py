"""Which links of a robot share in the energy of small motions."""

from __future__ import annotations

import numpy as np

from supple.model.algebra import Array
from supple.model.model import Model


def link_energies(model: Model, q: Array, motions: Array) -> tuple[tuple[str, ...], Array, Array]:
    """Names of links (and springs of joints), and twice the kinetic and elastic energy of each in every motion (column)."""
    parts = [f.part for f in model.mechanism.frames]
    names = tuple(dict.fromkeys(parts))
    rows = np.array([names.index(part) for part in parts])
    kinetic, elastic = np.zeros((len(names), motions.shape[1])), np.zeros((len(names), motions.shape[1]))
    np.add.at(kinetic, rows, 2 * model.call("energy", q=q, v=motions.T)["kinetic"].T)
    np.add.at(elastic, rows, model.strain_energies(q, motions))
    return names, kinetic, elastic


def drive_energies(model: Model, motions: Array) -> tuple[tuple[str, ...], Array]:
    """Names of actuators whose servo gives way, and twice the elastic energy in each."""
    names = tuple(f"drive {model.names[i]}" for i in model.servos)
    stiffness = np.array(list(model.servos.values()), dtype=float)
    return names, stiffness[:, None] * motions[list(model.servos)] ** 2


def by_kind(model: Model, names: tuple[str, ...], elastic: Array) -> dict[str, Array]:
    """Elastic energy (rows per name) of the joints' springs, the platform, the legs and the other links, where there are
    any."""
    frames, side = model.mechanism.frames, model.mechanism.platform_side()
    found: dict[str, Array] = {}
    for name, part in zip(names, elastic, strict=True):
        own = [(j, f) for j, f in enumerate(frames) if f.part == name]
        if not any(f.body.flexible for _, f in own):
            continue
        platform, leg = any(j in side for j, _ in own), any(f.leg for _, f in own)
        spring = all(f.role == "spring" for _, f in own)
        kind = "joints" if spring else "platform" if platform else "legs" if leg else "links"
        found[kind] = found.get(kind, np.zeros_like(part)) + part
    return {kind: found[kind] for kind in ("legs", "joints", "platform", "links") if kind in found}


def shares(energies: Array) -> Array:
    """Energies as shares of each column's sum; zero where there is none."""
    total = energies.sum(axis=0)
    made: Array = energies / np.where(total > 0, total, 1.0)
    return made
