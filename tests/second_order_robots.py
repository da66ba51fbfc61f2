"""Robot files of loaded, heavy and spinning beams, as text; their judges are in judges/systems.py and judges/ritz.py.

All have the parameters `elements` and `segments`.
"""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data" / "second_order"
HEADS = {"pinned": {"planar": "revolute", "spatial": "spherical"}, "clamped": {"planar": "fixed", "spatial": "fixed"}}


def column(ends: str, space: str) -> str:
    """A column pinned at both ends, clamped at both, or clamped and free; point tip carries the thrust."""
    text = _text("column").replace("SPACE", space)
    if ends == "free":
        guide = text.index("  guide:")
        points = text.index("points:")
        return (text[:guide] + text[points:]).replace("ROOT", "{parent: base, body: column}")
    pin = {"planar": "joint: revolute, q: foot", "spatial": "joint: universal, axis: [y, z], q: [fy, fz]"}[space]
    root = f"{{parent: base, {pin}, body: column}}" if ends == "pinned" else "{parent: base, body: column}"
    # the closing joint's free axis is z: `fixed` leaves none, and the guide slides along x
    head = f"{{joint: {HEADS[ends][space]}, from: {{link: guide}}, to: {{link: column, on: end}}}}"
    return text.replace("ROOT", root).replace("HEAD", head)


def heavy_beam(ends: str) -> str:
    """A strip along the plumb line, pinned at both ends, or clamped at its root and free."""
    text = _text("heavy_beam")
    if ends == "free":
        return text[: text.index("  guide:")].replace("ROOT", "{parent: base, body: strip}")
    return text.replace("ROOT", "{parent: base, joint: revolute, q: foot, body: strip}")


def blade(space: str) -> str:
    """A blade on a hub without radius, driven about z."""
    return _text("blade").replace("SPACE", space)


def spin_up() -> str:
    return _text("spin_up")


def stewart() -> str:
    return _text("stewart")


def _text(name: str) -> str:
    return (DATA / f"{name}.yaml").read_text()
