"""Mesh files, read by meshio with their sizes limited and their faults in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.robot.named_files import checked_file

# Of meshio's formats those whose files name other files, which would be opened unseen
_NAMES_OTHERS = {".xdmf": ".vtu", ".xmf": ".vtu", ".ele": ".vtk", ".node": ".vtk"}


def read_mesh(path: Path) -> Any:
    """The meshio mesh of a file."""
    other = _NAMES_OTHERS.get(checked_file(path).suffix.lower())
    if other is not None:
        raise SuppleError(f"{path.name}: {path.suffix} files name other files; save the mesh as {other}")
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
        raise SuppleError(f"{path.name}: cannot be read as a mesh; it is cut off, broken or of another format") from error
    points = np.asarray(mesh.points, dtype=float)
    if not len(points) or not np.isfinite(points).all():
        raise SuppleError(f"{path.name}: has no nodes, or nodes that are no numbers")
    for block in mesh.cells:
        data = np.asarray(block.data)
        if data.size and (data.min() < 0 or data.max() >= len(points)):
            raise SuppleError(f"{path.name}: a {block.type} cell names a node that does not exist")
    return mesh
