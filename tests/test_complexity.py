"""No function has more ways through it than can be kept in mind: McCabe's cyclomatic complexity stays at 20 or below.

One way, and one more for every branch, loop, further operand of a boolean operator, comprehension and its conditions,
exception handler, case and assertion. Functions within functions count for themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "supple"
MOST = 20
Definition = ast.FunctionDef | ast.AsyncFunctionDef


def ways(node: ast.AST) -> int:
    """How many ways through one piece of code there are besides the first, functions defined in it left out."""
    if isinstance(node, Definition):
        return 0
    match node:
        case ast.Assert():
            return 1
        case ast.If() | ast.IfExp():
            own = 1
        case ast.For() | ast.While() | ast.AsyncFor():
            own = 1 + bool(node.orelse)
        case ast.BoolOp():
            own = len(node.values) - 1
        case ast.comprehension():
            own = 1 + len(node.ifs)
        case ast.Try() | ast.TryStar():
            own = len(node.handlers) + bool(node.orelse)
        case ast.Match():
            own = len(node.cases) - any(isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None for c in node.cases)
        case _:
            own = 0
    return own + sum(ways(child) for child in ast.iter_child_nodes(node))


def complexity(function: Definition) -> int:
    return 1 + sum(ways(statement) for statement in function.body)


def functions(tree: ast.AST) -> Iterator[Definition]:
    return (node for node in ast.walk(tree) if isinstance(node, Definition))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("return 1", 1),
        ("if a and b or c:\n  return 1\nelif d:\n  return 2", 5),
        ("for x in a:\n  pass\nelse:\n  pass\nwhile b:\n  pass", 4),
        ("return [x if x else 1 for y in a if y if y > 1 for x in y]", 6),
        ("try:\n  a()\nexcept KeyError:\n  pass\nexcept ValueError:\n  pass\nelse:\n  pass\nassert a and b", 5),
        ("match a:\n  case 1:\n    pass\n  case 2:\n    pass\n  case _:\n    pass", 3),
        ("def inner():\n  return a if a else b\nreturn inner() or 1", 2),
    ],
)
def test_ways_are_counted(text: str, wanted: int) -> None:
    """By hand, as McCabe counts them."""
    whole = "def f(a, b, c, d):\n" + "\n".join(f"    {line}" for line in text.splitlines())
    assert complexity(next(functions(ast.parse(whole)))) == wanted


def test_no_function_is_a_maze() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{f.lineno} {f.name}: {complexity(f)}"
        for path in sorted(ROOT.rglob("*.py"))
        for f in functions(ast.parse(path.read_text(encoding="utf-8")))
        if complexity(f) > MOST
    ]
    assert not found, "split these:\n" + "\n".join(found)
