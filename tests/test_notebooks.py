"""Notebooks of the documentation, executed by a kernel as Jupyter does, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


@pytest.fixture(scope="module")
def executed() -> Any:
    notebook = nbformat.read(FOLDER / "first_steps.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(FOLDER)}}).execute()
    return notebook


def shown(cell: Any) -> dict[str, Any]:
    """What a cell shows: MIME type -> data."""
    found: dict[str, Any] = {}
    for output in cell.outputs:
        assert output.output_type != "error"
        found |= output.get("data", {})
    return found


def test_first_steps_show_tables_and_pictures(executed: Any) -> None:
    names, robot, modes, mode, run, sweep = (c for c in executed.cells if c.cell_type == "code")
    assert "dualemps" in shown(names)["text/plain"]
    assert "<table>" in shown(robot)["text/html"] and "<table>" in shown(modes)["text/html"]
    for cell in (mode, run, sweep):
        assert "image/png" in shown(cell)


def test_first_steps_take_fifteen_lines() -> None:
    notebook = nbformat.read(FOLDER / "first_steps.ipynb", as_version=4)
    code = [c.source for c in notebook.cells if c.cell_type == "code"]
    assert len([line for source in code for line in source.splitlines() if line.strip()]) <= 15


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.ipynb")), ids=lambda p: p.name)
def test_notebooks_are_kept_without_results(file: Path) -> None:
    for cell in nbformat.read(file, as_version=4).cells:
        assert cell.cell_type != "code" or (not cell.outputs and cell.execution_count is None)
