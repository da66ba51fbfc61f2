"""Nastran's coordinate systems: where GRIDs are, and along which axes they move.

A system is given by three points A, B, C of another (CORD2R, CORD2C, CORD2S) or by three GRIDs (CORD1R, ...): A is its
origin, B lies on its z axis, C in its x-z plane. Coordinates are x y z, or r theta z, or r theta phi (theta from the z
axis); angles of places are in degrees. Displacements of a node are along the axes at the node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from supple.errors import SuppleError
from supple.robot.bodies.record import Array


@dataclass(frozen=True)
class Definition:
    """A system as a card defines it: kind R, C or S; points in the system `reference`, or numbers of GRIDs."""

    kind: str
    reference: int
    points: tuple[tuple[float, ...], ...] = ()
    grids: tuple[int, ...] = ()


@dataclass(frozen=True)
class Grid:
    """A GRID: its place in the system `placed`, and the system its displacements are in."""

    placed: int
    coordinates: tuple[float, float, float]
    moves: int


@dataclass(frozen=True)
class _System:
    kind: str
    origin: Array
    axes: Array  # columns x, y, z in the basic system


class Systems:
    """Places and axes of GRIDs in the basic system."""

    def __init__(self, definitions: Mapping[int, Definition], grids: Mapping[int, Grid], file: str) -> None:
        self.definitions, self.grids, self.file = definitions, grids, file
        self._made: dict[int, _System] = {0: _System("R", np.zeros(3), np.eye(3))}
        self._making: list[int] = []

    def place(self, node: int) -> Array:
        """x, y, z of a GRID."""
        grid = self.grids.get(node)
        if grid is None:
            raise SuppleError(f"{self.file}: has no GRID {node}")
        return self._basic(grid.coordinates, grid.placed)

    def axes(self, node: int) -> Array:
        """3 x 3, from displacements as they are given at a GRID to the basic system."""
        system = self._system(self.grids[node].moves)
        if system.kind == "R":
            return system.axes
        x, y, z = system.axes.T @ (self.place(node) - system.origin)
        away, across = float(np.hypot(x, y)), float(np.linalg.norm([x, y, z]))
        c, s = (x / away, y / away) if away > 1e-12 * across else (1.0, 0.0)  # on the axis r is x, as in Nastran
        radial, around = np.array([c, s, 0.0]), np.array([-s, c, 0.0])
        if system.kind == "C":
            local = [radial, around, np.array([0.0, 0.0, 1.0])]
        else:
            up, out = (z / across, away / across) if across > 0 else (1.0, 0.0)
            local = [radial * out + np.array([0.0, 0.0, up]), radial * up - np.array([0.0, 0.0, out]), around]
        made: Array = system.axes @ np.column_stack(local)
        return made

    def _basic(self, coordinates: tuple[float, ...], number: int) -> Array:
        system = self._system(number)
        a, b, c = coordinates
        if system.kind == "R":
            local = np.array([a, b, c])
        elif system.kind == "C":
            local = np.array([a * np.cos(np.radians(b)), a * np.sin(np.radians(b)), c])
        else:
            out = a * np.sin(np.radians(b))
            local = np.array([out * np.cos(np.radians(c)), out * np.sin(np.radians(c)), a * np.cos(np.radians(b))])
        made: Array = system.origin + system.axes @ local
        return made

    def _system(self, number: int) -> _System:
        if number in self._made:
            return self._made[number]
        if number in self._making:
            raise SuppleError(f"{self.file}: coordinate system {number} is defined by itself")
        if number not in self.definitions:
            raise SuppleError(f"{self.file}: coordinate system {number} is not defined by a CORD1 or CORD2 card")
        given = self.definitions[number]
        self._making.append(number)
        if given.grids:
            A, B, C = (self.place(n) for n in given.grids)
        else:
            A, B, C = (self._basic(p, given.reference) for p in given.points)
        self._making.pop()
        z = B - A
        y = np.cross(z, C - A)
        if np.linalg.norm(y) <= 1e-12 * np.linalg.norm(z) * np.linalg.norm(C - A):
            raise SuppleError(f"{self.file}: the three points of coordinate system {number} lie on a line")
        z, y = z / np.linalg.norm(z), y / np.linalg.norm(y)
        self._made[number] = _System(given.kind, A, np.column_stack([np.cross(y, z), y, z]))
        return self._made[number]
