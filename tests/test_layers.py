"""Who may import whom, read from the syntax trees of every module. docs/architecture.md says why."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "supple"

# room -> the rooms it may import from (besides itself)
ROOMS = {
    "errors": set(),
    "results": set(),
    "measurements": set(),
    "expr": set(),
    "delivery": {"errors"},
    "private": {"errors", "delivery"},
    "remembered": {"errors", "delivery", "private"},
    "checkpoints": {"errors", "delivery", "private"},
    "robot": {"errors", "delivery", "remembered"},
    "motion": {"errors", "robot"},
    "formulations": {"expr", "robot", "errors"},
    "backends": {"expr", "errors", "delivery", "private", "remembered"},
    "model": {"backends", "expr", "formulations", "robot", "motion", "errors", "remembered"},
    "models": {"errors", "expr", "robot", "formulations"},
    "machine": {"errors", "expr", "robot", "motion", "formulations", "model"},
    "control": {"errors", "results", "robot", "motion", "model"},
    "core": {"errors", "remembered", "expr", "robot", "formulations", "backends", "model", "machine"},
    "simulation": {
        "errors", "results", "expr", "robot", "motion", "formulations", "backends", "model", "models", "machine",
    },
    "fmu_parts": {"errors", "expr", "robot", "formulations", "backends", "model", "simulation", "machine"},
    "kept_models": {"expr", "remembered"},
    "generator": {
        "errors", "kept_models", "delivery", "fmu_parts", "expr", "robot", "formulations", "models", "backends", "machine",
    },
    "measured": {
        "errors", "delivery", "storage", "measurements", "expr", "robot", "motion", "formulations", "backends",
        "model", "machine", "core",
    },
    "storage": {"errors", "results", "delivery", "private"},
    "studies": {"errors", "results", "robot", "backends", "model", "machine", "core", "storage"},
    "scene": {"errors", "results", "robot", "model"},
    "live": {
        "errors", "remembered", "results", "expr", "robot", "motion", "formulations", "backends", "model", "machine", "core",
        "simulation",
    },
    "analyses": {
        "errors", "results", "expr", "robot", "motion", "formulations", "backends", "model", "models", "machine",
        "simulation", "generator", "storage", "checkpoints", "measured", "measurements", "core", "studies",
        "scene", "live", "control",
    },
    "views": {"results", "measurements", "errors", "delivery"},
    "shown": {"errors", "results", "storage", "views"},
    "api": {
        "errors", "results", "measurements", "expr", "robot", "motion", "backends", "machine", "generator", "analyses",
        "shown",
    },
    "tour": {"errors", "delivery", "results", "backends", "machine", "views", "api"},
    "beginnings": {"errors", "robot", "machine"},
    "papers": {
        "errors", "results", "expr", "motion", "formulations", "backends", "model", "models", "machine", "measurements",
        "views", "api", "beginnings",
    },
    "cli": {
        "errors", "results", "delivery", "robot", "formulations", "backends", "machine", "views", "api",
        "tour", "papers", "beginnings", "remembered",
    },
    "__main__": {"cli"},
}  # fmt: skip
# files of formulations/ are its methods, but for these, which every room of it may use; its folders are rooms
RECORDS = {"record", "registry"}
# room of formulations/ -> the other rooms it may import from
BELOW = {"tree": set(), "least_constraint": {"tree"}, "rigid_links": {"tree"}}


def modules() -> list[Path]:
    return [p for p in sorted(SOURCE.rglob("*.py")) if p != SOURCE / "__init__.py"]


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def name(path: Path) -> str:
    parts = ("supple", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def graph() -> dict[str, tuple[str, ...]]:
    """Module -> the modules it imports, wherever in its text: lazily or for types only counts too."""
    known = {name(p) for p in modules()}
    found = {}
    for path in modules():
        targets: list[str] = []
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: relative import"
                module = node.module or ""
                targets += [x if (x := f"{module}.{a.name}") in known else module for a in node.names]
            elif isinstance(node, ast.Import):
                targets += [a.name for a in node.names]
        found[name(path)] = tuple(t for t in dict.fromkeys(targets) if t == "supple" or t.startswith("supple."))
    return found


def imports(path: Path) -> tuple[str, ...]:
    return graph()[name(path)]


def circle(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """Names that import each other in a circle, or nothing."""
    try:
        tuple(TopologicalSorter({k: {t for t in targets if t != k} for k, targets in arrows.items()}).static_order())
    except CycleError as found:
        return list(found.args[1])
    return []


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_stay_within_the_house(path: Path) -> None:
    own = room(path)
    assert own in ROOMS, f"{own} has no place in the map; add it to tests/test_layers.py"
    for module in imports(path):
        assert module != "supple", f"{path} imports the root package"
        target = module.split(".")[1]
        assert target == own or target in ROOMS[own], f"{own} must not import {module}"


def test_methods_import_rooms_and_rooms_no_methods() -> None:
    methods = {p.stem for p in (SOURCE / "formulations").glob("*.py")} - {"__init__"} - RECORDS
    for path in modules():
        parts = path.relative_to(SOURCE).parts
        if parts[0] != "formulations":
            continue
        for target in (module.split(".")[2:] for module in imports(path) if module.startswith("supple.formulations.")):
            assert target[0] not in methods, f"{path} imports the method {target[0]}"
            if len(parts) > 2 and target[0] not in RECORDS:
                assert target[0] in {parts[1], *BELOW[parts[1]]}, f"{path} imports the room {target[0]}"


def test_the_rooms_of_formulations_are_on_the_map() -> None:
    assert {p.parent.name for p in (SOURCE / "formulations").glob("*/__init__.py")} == set(BELOW)


def test_analyses_do_not_import_each_other() -> None:
    for path in modules():
        if room(path) == "analyses":
            assert not [m for m in imports(path) if m.split(".")[1] == "analyses"], f"{path} imports an analysis"


def test_the_map_has_no_empty_rooms() -> None:
    assert {room(p) for p in modules()} == set(ROOMS)


def test_no_circles() -> None:
    """Neither rooms nor modules import each other in a circle, not even lazily or for types only."""
    assert not circle(ROOMS)
    assert not circle(graph())
    assert circle({"a": ["b"], "b": ["c"], "c": ["a"]})


def test_every_permission_is_used() -> None:
    used: dict[str, set[str]] = {own: set() for own in ROOMS}
    for path in modules():
        used[room(path)] |= {m.split(".")[1] for m in imports(path)} - {room(path)}
    assert {own: ROOMS[own] - used[own] for own in ROOMS if ROOMS[own] - used[own]} == {}
