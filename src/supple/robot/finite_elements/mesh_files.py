"""Mesh files, read by meshio with their sizes limited and their faults in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError

LARGEST = 200_000_000  # bytes of any file of a body


def checked_file(path: Path, most: int = LARGEST) -> Path:
    """The path, if it is a file of a size that can be read."""
    if path.is_dir():
        raise SuppleError(f"{path}: is a folder; name a file in it")
    if not path.is_file():
        raise SuppleError(f"{path.name}: no such file; it is looked for in {path.parent}")
    size = path.stat().st_size
    if size == 0:
        raise SuppleError(f"{path.name}: is empty")
    if size > most:
        raise SuppleError(f"{path.name}: has {size / 1e6:.0f} MB; at most {most / 1e6:.0f} MB are read")
    return path


def read_mesh(path: Path) -> Any:
    """The meshio mesh of a file."""
    checked_file(path)
    try:
        import meshio
    except ImportError as error:
        raise SuppleError("meshes need meshio; install supple[fe]") from error
    import contextlib
    import io

    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            mesh = meshio.read(path)
    except SystemExit as error:
        raise SuppleError(f"{path.name}: no mesh that meshio can read; check its suffix and format") from error
    except Exception as error:
        detail = " ".join(str(error).split())[:120] or type(error).__name__
        raise SuppleError(f"{path.name}: cannot be read as a mesh: {detail}") from error
    points = np.asarray(mesh.points, dtype=float)
    if not len(points) or not np.isfinite(points).all():
        raise SuppleError(f"{path.name}: has no nodes, or nodes that are no numbers")
    for block in mesh.cells:
        data = np.asarray(block.data)
        if data.size and (data.min() < 0 or data.max() >= len(points)):
            raise SuppleError(f"{path.name}: a {block.type} cell names a node that does not exist")
    return mesh
