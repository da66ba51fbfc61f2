"""Who may import whom, read from the syntax trees of every module. docs/architecture.md says why."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "supple"

# room -> the rooms it may import from (besides itself)
ROOMS = {
    "errors": set(),
    "results": set(),
    "expr": set(),
    "robot": {"errors"},
    "motion": {"errors", "robot"},
    "formulations": {"expr", "robot"},
    "backends": {"expr", "errors"},
    "model": {"backends", "expr", "formulations", "robot", "motion", "errors"},
    "simulation": {
        "errors", "results", "expr", "robot", "motion", "formulations", "backends", "model", "models", "pipeline",
    },
    "storage": {"errors", "results"},
    "analyses": {"model", "motion", "backends", "simulation", "results", "errors"},
    "views": {"results", "errors"},
    "models": {"errors", "expr", "robot", "formulations"},
    "fmu_parts": {"errors", "expr", "robot", "formulations", "backends", "model", "simulation"},
    "pipeline": {"errors", "models", "expr", "robot", "formulations", "backends", "model"},
    "generator": {"fmu_parts", "errors", "expr", "robot", "formulations", "models", "backends", "pipeline", "simulation"},
    "tour": {"errors", "pipeline", "analyses", "views", "backends", "results", "simulation", "storage"},
    "cli": {
        "errors", "models", "model", "robot", "motion", "pipeline", "analyses", "views", "backends", "generator", "tour",
        "simulation", "storage", "results",
    },
    "__main__": {"cli"},
}  # fmt: skip
# modules of formulations that methods share; the methods themselves never import each other
SHARED = {
    "kinematics", "equations", "quadratic", "polynomial", "bodies", "affine", "folding", "closing", "articulated",
    "solution", "loops", "observed", "lagrangian", "chains", "link_system", "erls_record", "moments", "independent",
    "leg_program", "strain",
}  # fmt: skip


def modules() -> list[Path]:
    return [p for p in sorted(SOURCE.rglob("*.py")) if p != SOURCE / "__init__.py"]


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            found += [f"supple.{a.name}" for a in node.names] if module == "supple" else [module]
        elif isinstance(node, ast.Import):
            found += [a.name for a in node.names]
    return [m for m in found if m == "supple" or m.startswith("supple.")]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_stay_within_the_house(path: Path) -> None:
    own = room(path)
    assert own in ROOMS, f"{own} has no place in the map; add it to tests/test_layers.py"
    for module in imports(path):
        assert module != "supple", f"{path} imports the root package"
        target = module.split(".")[1]
        assert target == own or target in ROOMS[own], f"{own} must not import {module}"


def test_methods_and_analyses_do_not_import_each_other() -> None:
    for path in modules():
        parts = path.relative_to(SOURCE).parts
        for module in imports(path):
            target = module.split(".")[1:]
            if parts[0] == "formulations" and target[0] == "formulations" and len(target) > 1:
                assert target[1] in SHARED, f"{path} imports the method {module}"
            if parts[0] == "analyses":
                assert target[0] != "analyses", f"{path} imports {module}"


def test_the_map_has_no_empty_rooms() -> None:
    assert {room(p) for p in modules()} == set(ROOMS)
