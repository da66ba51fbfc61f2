"""Modes over a workspace and over designs: the compiled core against `modes` pose by pose, scipy and Exudyn, in one run.

    python bench/map.py [--poses 100000] [dualemps | designs | delta | gough_stewart_flexible | surgiscope ...]

Processor time of one core, microseconds a pose, everything included that `Core.answer` does (posture walked from home,
equilibrium, linear model, modes). `arithmetic`: the share of it inside the compiled C. scipy solves the pencils that the
core made, nothing else. Exudyn (dualemps only, where it is installed) is asked for the modes of the same postures, by
changing the state of one model and by making the model anew; its sliders are as good as held by a mass of 1e7 kg.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh

from supple.analyses.modes import modes
from supple.core.compiled import Compiled
from supple.core.core import Core
from supple.machine import GALLERY, Machine
from supple.model.algebra import one_thread
from supple.model.closing import values

SPANS = {"dualemps": 0.1, "delta": 0.1, "gough_stewart_flexible": 0.02, "surgiscope": 0.1}  # m or rad about home
BARS = {"dualemps": 10.0, "designs": 10.0, "delta": 300.0, "gough_stewart_flexible": 300.0, "surgiscope": 10_000.0}
FEW = {"dualemps": 1.0, "designs": 1.0, "delta": 0.1, "gough_stewart_flexible": 0.05, "surgiscope": 0.002}
KEPT = ("E", "thick", "wide", "blade")


def taken(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time in seconds, and what came back."""
    begin = time.process_time()
    made = call()
    return time.process_time() - begin, made


def with_sides() -> Machine:
    """DualEMPS with the sides of its blades and the length of the long ones as parameters."""
    text = (GALLERY / "dualemps.yaml").read_text(encoding="utf-8")
    text = text.replace("{y: 4 mm, z: 50 mm}", "{y: thick, z: wide}").replace("length: 0.4505 m", "length: blade")
    text = text.replace("sigma: 2, d: 0.4505", "sigma: 2, d: blade")
    return Machine.parse(text.replace("parameters:", "parameters:\n  thick: 4 mm\n  wide: 50 mm\n  blade: 0.4505 m", 1))


def poses_of(core: Core, count: int, span: float) -> Any:
    home = values(core.model, core.home)[[core.model.names.index(n) for n in core.names]]
    return home + np.random.default_rng(1).uniform(-span, span, (count, len(core.names)))


@one_thread
def measured(name: str, count: int) -> bool:
    robot = with_sides().keeping(KEPT) if name == "designs" else Machine.read(name)
    model = robot.model()
    core = Core(robot, [model.names[i] for i in model.active])
    poses = poses_of(core, count, SPANS.get(name, 0.1))
    p = None
    if name == "designs":
        p = np.array(robot.values) * np.random.default_rng(2).uniform(0.95, 1.05, (count, len(KEPT)))
    wanted = min(10, len(core.structure.linear.independent))
    core.answer(poses[:64], None if p is None else p[:64], modes=wanted)  # compiles
    inside = watched(core.compiled)
    seconds, answers = taken(lambda: core.answer(poses, p, modes=wanted))
    each = seconds / count * 1e6
    print(f"{name}: {count} poses, {int(answers.answered.sum())} answered, {wanted} modes")
    print(f"    core      {each:12.1f} us a pose (bar {BARS[name]:g}), {inside[0] / seconds:.0%} of it arithmetic in C")
    other_ways(name, core, robot, poses, p, answers, wanted, each)
    return each <= BARS[name] and inside[0] >= 0.5 * seconds


def watched(compiled: Compiled) -> list[float]:
    """Seconds spent in the library's calls from now on, in the first place of a list."""
    spent, call = [0.0], compiled.library.supple_core

    def timed(*given: Any) -> Any:
        begin = time.process_time()
        made = call(*given)
        spent[0] += time.process_time() - begin
        return made

    compiled.library.supple_core = timed
    return spent


def other_ways(
    name: str, core: Core, robot: Machine, poses: Any, p: Any, answers: Any, wanted: int, each: float
) -> None:  # fmt: skip
    some = 3 if name == "surgiscope" else 10
    hz = np.sqrt(np.abs(answers["squares"])) / (2 * np.pi)

    def loop() -> Any:
        found = []
        for k in range(some):
            own = robot if p is None else robot.changed(dict(zip(KEPT, p[k].tolist(), strict=True)))
            at = dict(zip(core.names, poses[k].tolist(), strict=True))
            found.append(modes(own.model(), at, count=wanted).frequencies_hz)
        return np.array(found)

    seconds, found = taken(loop)
    off = float(np.abs(hz[:some] / found - 1).max())
    us = seconds / some * 1e6
    print(f"    modes     {us:12.1f} us, {us / each:.0f} times; frequencies differ by {off:.0e}")
    few = core.answer(poses[:100], None if p is None else p[:100], wanted=("M", "K"))
    pencils = [(M, 0.5 * (K + K.T)) for M, K in zip(few["M"], few["K"], strict=True)][: 10 * some]
    last = len(pencils[0][0])
    seconds, _ = taken(
        lambda: [eigh(M, K, subset_by_index=(last - wanted, last - 1), driver="gvx") for M, K in pencils]
    )  # fmt: skip
    print(f"    scipy     {seconds / len(pencils) * 1e6:12.1f} us for the eigenproblem alone")
    if name == "dualemps":
        exudyn(core, answers, hz, each)


def exudyn(core: Core, answers: Any, hz: Any, each: float) -> None:
    try:
        from batch_exudyn import Robot, coordinates, exu
    except ImportError:
        print("    Exudyn is not installed")
        return
    robot, many, few = Robot(1e7), 200, 20
    initial = exu.ConfigurationType.Initial  # the state that Exudyn linearises about
    state = coordinates(answers["q"][:many]) - robot.reference

    def moved() -> Any:
        found = []
        for x in state:
            robot.mbs.systemData.SetODE2Coordinates(x, initial)
            found.append(robot.frequencies())
        return np.array(found)

    seconds, found = taken(moved)
    off = float(np.abs(found[:, 2:7] / hz[:many, :5] - 1).max())
    us = seconds / many * 1e6
    print(f"    Exudyn    {us:12.1f} us by changing the state, {us / each:.0f} times; frequencies differ by {off:.0e}")

    def anew() -> Any:
        for x in state[:few]:
            own = Robot(1e7)
            own.mbs.systemData.SetODE2Coordinates(x, initial)
            own.frequencies()

    seconds, _ = taken(anew)
    print(f"    Exudyn    {seconds / few * 1e6:12.1f} us by making the model anew, {seconds / few * 1e6 / each:.0f} times")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=list(BARS))
    parser.add_argument("--poses", type=int, default=100_000)
    asked = parser.parse_args()
    met = [measured(name, max(20, int(asked.poses * FEW[name]))) for name in asked.robots]
    print("all bars are met" if all(met) else "a bar is missed")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
