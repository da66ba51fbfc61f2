"""`live`: a robot's own C for its page, and what the page has to know to call it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.backends.compiler import wasm_module
from supple.core.compiled import OUTPUTS, output_shapes
from supple.core.core import Core
from supple.errors import RobotFileError, SuppleError
from supple.expr.node import Expr
from supple.live import core_module, hammer_module
from supple.live.hits import hit_points
from supple.live.kept_live import kept_live
from supple.machine import Machine
from supple.model.algebra import Array
from supple.model.closing import values
from supple.model.model import Model
from supple.model.ports import wrenches_of
from supple.results.scene import LiveModule, SceneLive

_REACH = {"rad": 1.0, "m": 0.3}  # how far sliders of actuators go to both sides
_TIMES = 2.0  # by what sliders of parameters go up and down


def live(
    robot: Machine, q: Array, *, modes: int, free: bool = False, loads: Mapping[str, Any] | None = None,
    assembly: str | None = None,
) -> SceneLive:  # fmt: skip
    """The SceneLive of a robot at a posture q, with its kept parameters as further inputs; remembered, if it can be."""
    asked = (np.asarray(q).tolist(), modes, free, wrenches_of(robot.model(), loads or {}).tolist(), assembly)
    return kept_live(robot.question, asked, lambda: _made(robot, q, modes, free, loads, assembly))


def _made(
    robot: Machine, q: Array, modes: int, free: bool, loads: Mapping[str, Any] | None, assembly: str | None
) -> SceneLive:  # fmt: skip
    marked, names = hit_points(robot)
    model = marked.model()
    active = [model.names[i] for i in model.active]
    kept, notices = _free(marked)
    core = Core(marked.keeping(kept), active, free=free, assembly=assembly, lanes=1)
    marked = core.robot
    if len(core.structure.given) != len(core.chosen):
        raise SuppleError(f"{robot.name}: a ball joint that is driven cannot be moved in a page")
    about: dict[str, Any] = _about(core, modes) | {
        "pose": [float(x) for x in values(model, q)[list(core.chosen)]],
        "loads": wrenches_of(model, loads or {}).ravel().tolist(),
        "hits": names,
    }
    engine = LiveModule(wasm_module(core_module.core_module_source(core), core_module.EXPORTS), _arrays(core))
    hammer, struck = None, {}
    try:
        pose = {c["name"]: x for c, x in zip(about["given"], about["pose"], strict=True)}
        found = hammer_module.hammer(marked, pose, assembly, marked.kept())
        hammer, struck = LiveModule(wasm_module(found.source, found.exports), {}), dict(found.about)
    except SuppleError as reason:
        notices.append(f"no hammer: {reason}")
    return SceneLive(engine, hammer, about | {"hammer": struck}, tuple(notices))


def _free(robot: Machine) -> tuple[list[str], list[str]]:
    """Kept parameters that a page can change, and words for the others."""
    kept, notices = [], []
    for name in robot.keep:
        alone = robot.keeping([name])
        try:
            mechanism = alone.mechanism()
        except RobotFileError as reason:
            notices.append(f"{name} stays as it is in this page: {reason}")
            continue
        if any(isinstance(x, Expr) for x in mechanism.home.values()):
            notices.append(f"{name} stays as it is in this page: where the robot is at home depends on it")
        else:
            kept.append(name)
    return kept, notices


def _arrays(core: Core) -> dict[str, Array]:
    """Numbers in full precision."""
    return {"home": core.home, "shift": core.shift[0], "gravity": np.asarray(core.model.gravity, dtype=float)}


def _about(core: Core, modes: int) -> dict[str, Any]:
    s, model = core.structure, core.model
    mechanism = model.mechanism
    shown = min(modes, len(s.linear.independent))
    shapes = output_shapes(s, shown)
    return {
        "sizes": {
            "q": s.nq, "v": s.nv, "p": int(core.parameters.symbols.size), "w": s.loads,
            "given": len(s.given), "loops": s.loops, "independent": len(s.linear.independent),
            "dependent": len(s.linear.rows), "frames": len(mechanism.frames),
        },
        "modes": shown,
        "outputs": [[name, int(np.prod(shapes.get(name, ())))] for name in OUTPUTS],
        "free": s.free,
        "alike": core.homes.alike,
        "independent": list(s.linear.independent),
        "dependent": list(s.linear.dependent),
        "active": list(s.active),
        "elastic": {
            "q": [i for f in mechanism.frames for i in range(f.e.start, f.e.stop)],
            "v": [i for f in mechanism.frames for i in range(f.ev.start, f.ev.stop)],
        },
        "parts": [f.part for f in mechanism.frames],
        "given": _given(core),
        "platform": _platform(model),
        "points": list(mechanism.points),
        "parameters": _parameters(core),
    }  # fmt: skip


def _given(core: Core) -> list[dict[str, Any]]:
    """Sliders of the actuators, in the order of what is given."""
    made = []
    for i, place in zip(core.chosen, core.structure.given, strict=True):
        c = core.model.mechanism.coordinates[i]
        made.append({"name": c.name, "unit": c.unit, "reach": _REACH[c.unit], "q": place})
    return made


def _platform(model: Model) -> list[dict[str, Any]]:
    """Coordinates of the platform: places in q, or axes of a quaternion there."""
    made = []
    for frame in model.mechanism.frames:
        for k, i in enumerate(range(frame.v.start, frame.v.stop)):
            c = model.mechanism.coordinates[i]
            if c.kind == "platform":
                ball = frame.motion == "spherical"
                place = frame.q.start if ball else frame.q.start + k
                made.append({"name": c.name, "unit": c.unit, "q": place, "axis": k if ball else -1})
    return made


def _parameters(core: Core) -> list[dict[str, Any]]:
    known, kept = core.robot.description.parameters, core.robot.kept()
    if kept is None:
        return []
    listed = []
    for name, value, sign in zip(core.robot.keep, kept.values, kept.signs, strict=True):
        about = getattr(known[name], "about", "") or ""
        low, high = sorted((value / _TIMES, value * _TIMES)) if value else (-1.0, 1.0)
        listed.append({"name": name, "about": str(about), "value": value, "low": low, "high": high, "sign": sign})
    return listed
