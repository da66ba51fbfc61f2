"""Finite-element bodies from files, whatever program wrote them: the suffix says which reader."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from supple.errors import SuppleError
from supple.robot.finite_elements import calculix, matrix_files, nastran, universal
from supple.robot.finite_elements.modes import elastic_modes, orthonormal
from supple.robot.finite_elements.nodal import NodalModel
from supple.robot.finite_elements.solid import solid_from_file

_BESIDE = {
    ".mtx": ("nodes", "mass"),
    ".sti": ("nodes",),
    ".mas": ("nodes",),
    ".dof": ("nodes",),
    ".pch": ("nodes",),
    ".op2": ("nodes",),
}
_WITH_MATRICES = (".npz", ".mat", ".frd", *_BESIDE)  # or modes; universal files may hold a mesh


@dataclass(frozen=True)
class FeFile:
    """The files of a body: the main one, tables beside it, and what they are in."""

    file: Path
    nodes: Path | None = None
    mass: Path | None = None
    millimetres: bool = False  # mm, t, s, N, MPa
    elastic: tuple[float, float, float] | None = None  # E, nu, rho of a mesh
    run: bool = False  # an input deck is run by CalculiX


def read_fe(given: FeFile) -> NodalModel:
    """The NodalModel of the files, in SI."""
    suffix = given.file.suffix.lower()
    _check_used(given, suffix)
    scale = 1e-3 if given.millimetres else 1.0
    if given.run:
        if suffix != ".inp":
            raise SuppleError(f"{given.file.name}: CalculiX runs input decks (.inp)")
        return _in_metres(calculix.run_matrices(given.file), scale)
    if suffix == ".npz":
        return _in_metres(matrix_files.from_arrays(matrix_files.read_arrays(given.file), given.file.name), scale)
    if suffix == ".mat":
        return _in_metres(matrix_files.read_matlab(given.file), scale)
    if suffix == ".mtx":
        return _in_metres(matrix_files.read_matrix_market(given.file, given.mass, given.nodes), scale)
    if suffix in (".sti", ".mas", ".dof"):
        return _in_metres(calculix.read_matrices(given.file, given.nodes), scale)
    if suffix == ".frd":
        return _in_metres(calculix.read_results(given.file), scale)
    if suffix == ".pch":
        return _in_metres(nastran.read_punch(given.file, given.nodes), scale)
    if suffix == ".op2":
        return _in_metres(nastran.read_op2(given.file, given.nodes), scale)
    if suffix in (".uff", ".unv", ".uf") and given.elastic is None:
        return _in_metres(universal.read_universal(given.file), scale)
    if given.elastic is None:
        raise SuppleError(f"{given.file.name}: a mesh needs a material:")
    return solid_from_file(given.file, *given.elastic, scale)


def _check_used(given: FeFile, suffix: str) -> None:
    """Refuses what would be passed over in silence."""
    mesh = given.elastic is not None and suffix not in _WITH_MATRICES
    used = () if given.run else _BESIDE.get(suffix, ())
    for key in ("nodes", "mass"):
        if getattr(given, key) is not None and (mesh or key not in used):
            raise SuppleError(f"{key}: is not used with {given.file.name}; leave it out")
    if given.elastic is not None and (given.run or not mesh):
        raise SuppleError(f"material: {given.file.name} brings its own stiffness and mass; leave the material out")


def _in_metres(model: NodalModel, scale: float) -> NodalModel:
    """A model of millimetres, tonnes and newtons in metres, kilograms and newtons."""
    return model if scale == 1.0 else model.in_units(scale, scale)


def modal_model(model: NodalModel, count: int) -> NodalModel:
    """The model as its six rigid and first `count` elastic modes, mass-normalised: what universal files hold."""
    if model.modes is not None:
        return model
    assert model.K is not None and model.M is not None  # a model without modes has matrices
    rigid = model.rigid()
    values, shapes = elastic_modes(model.K, model.M, rigid, count)
    return replace(
        model, M=None, K=None, modes=np.hstack([orthonormal(rigid, model.M), shapes]), squares=np.r_[np.zeros(6), values]
    )
