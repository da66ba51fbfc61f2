"""Robot files written: plain data as YAML with a comment before every part."""

from __future__ import annotations

import io
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

COMMENTS = {
    "space": "planar: all motion in one plane; spatial: in three dimensions",
    "gravity": "in base axes; it bends the robot before anything else is computed",
    "parameters": "numbers by name, which --set changes and sizing, sweeps and fits may vary",
    "materials": "Young's modulus, density, Poisson's ratio",
    "sections": "cross-sections of beams: rectangle, circle, tube, box, or numbers",
    "damping": "of all flexible bodies: modal (ratio), rayleigh or structural (loss factor)",
    "bodies": "what links carry: rigid, beam, plate or fe; two links may carry the same",
    "platform": "the body that the legs carry; its pose is x, y, z, rx, ry, rz",
    "legs": "a leg written once and used count times; i is its number, n the count",
    "links": "frames with their joints; they make a tree that starts at base",
    "closures": "joints that tie two links together and so close loops",
    "actuators": "joints with motors: inertia, gear, friction, stiffness of the drive",
    "points": "places to observe, load and measure at",
    "assembly": "guesses of joint values for each way the robot can be put together",
    "home": "the pose that is taken if none is asked for",
    "motions": "what supple simulate and inverse run by name",
}


def commented(text: str, head: str) -> str:
    """A robot file's text with a head and a comment before each of its parts that has none."""
    lines = [f"# {line}".rstrip() for line in head.splitlines()]
    for line in text.splitlines():
        key = line.partition(":")[0]
        if key in COMMENTS and not lines[-1].startswith("#"):
            lines.append(f"# {COMMENTS[key]}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def dumped(robot: Mapping[str, Any]) -> str:
    """Plain data as YAML: parts on lines of their own, what is in them in one line each."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    def flow(x: Any) -> Any:
        if isinstance(x, Mapping):
            made: Any = CommentedMap({k: flow(v) for k, v in x.items()})
        elif isinstance(x, (list, tuple)):
            made = CommentedSeq([flow(v) for v in x])
        else:
            return (int(x) if x.denominator == 1 else float(x)) if isinstance(x, Fraction) else x
        made.fa.set_flow_style()
        return made

    def opened(x: Any, depth: int) -> Any:
        return CommentedMap({k: opened(v, depth - 1) for k, v in x.items()}) if depth and isinstance(x, Mapping) else flow(x)

    tree = CommentedMap({k: opened(v, 4 if k == "legs" else 1) for k, v in robot.items() if v not in ({}, [], None, "")})
    writer = YAML()
    writer.width = 120
    kept = io.StringIO()
    writer.dump(tree, kept)
    return kept.getvalue()
