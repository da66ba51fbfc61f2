"""Closed loops by their sampled linear models, beside simulations of the whole robots.

    python bench/feedback.py [decay] [margins] [kalman] [picture] [names of robots]

decay: simulations that start in the shape of each pole of the loop, over the workspace, against the pole foretold. Every law
is designed in the first pose; no pole is left out but those that are over within a sample. margins: the pole that crosses,
2 % inside and outside of every edge. kalman: errors of estimates against the covariance that the law states.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from closed_loops import crossing, hit_motion, poles_by_start, shapes_of

import supple
from supple.backends.stepping.settings import Settings
from supple.motion.controllers import under_law
from supple.simulation.integrate import integrate
from supple.simulation.replay import replayed
from supple.simulation.simulator import simulator

SAMPLE = 1e-3
SMOOTH = {"width": 1e3}  # of DualEMPS: Coulomb friction spread so wide that nothing is left of it
ACCELEROMETERS = ["P.x,acceleration,noise=0.1", "P.z,acceleration,noise=0.1"]
# Every combination of both ends and the middle of a stroke; platforms: home, and places and turns on all sides of it
DUALEMPS = [{"q11": a, "q21": b} for a, b in sorted(product((0.0, -0.15, 0.15), repeat=2), key=lambda x: x != (0.0, 0.0))]
DELTA = [{}, *({"x": x, "y": y, "z": z} for x, y, z in ((0.1, 0, -0.6), (-0.05, 0.1, -0.65), (-0.1, -0.05, -0.55)))]
GOUGH = [{}, {"x": 0.1, "y": 0.05}, {"x": -0.05, "y": -0.1}, {"rx": 0.1, "ry": -0.05}]
CASES: list[tuple[str, dict[str, Any], str, list[str], Sequence[dict[str, float]]]] = [
    ("dualemps", SMOOTH, "lqg:effort=100,deviation=1e-5,sample=1 ms,delay=0.5 ms", ["q,resolution=1e-6", *ACCELEROMETERS],
     DUALEMPS),
    ("dualemps", SMOOTH, "poles:damping=0.1,bandwidth=3,modes=5,sample=1 ms,delay=1.2 ms", ["q,noise=1e-6"], DUALEMPS),
    ("dualemps", SMOOTH, "pd:kp=1e5,kd=1e3,sample=1 ms,delay=0.5 ms", ["q", "q,velocity"], DUALEMPS),
    ("delta", {}, "lqg:effort=1,deviation=1e-4,sample=1 ms,delay=0.5 ms,disturbance=0.1", ["q,noise=1e-5"], DELTA),
    ("delta", {}, "pd:kp=300,kd=5,sample=1 ms,delay=0.5 ms", ["q", "q,velocity"], DELTA),
    ("gough_stewart_flexible", {}, "lqg:effort=100,deviation=1e-4,sample=1 ms,delay=0.5 ms", ["q,noise=1e-5"], GOUGH),
]  # fmt: skip


def decay() -> None:
    """Decays found and foretold, pose by pose."""
    for name, settings, text, sensors, poses in CASES:
        robot = supple.Robot(name, settings)
        law = robot.control(text, sensors, poses[0]).law
        worst, count, growing = 0.0, 0, 0
        for pose in poses:
            at = dict(robot.control(law, at=pose).poses[0].at)
            held = sorted(poles_by_start(shapes_of(robot, law, at)), key=lambda p: -p.off)
            shown = ", ".join(f"{p.told.real:.4g} / {p.found.real:.4g} 1/s ({p.mode_hz:.4g} Hz)" for p in held[:2])
            print(f"  {name} {pose}: {len(held)} poles, decay off by {held[0].off:.3%} at most: {shown}", flush=True)
            worst, count = max(worst, held[0].off), count + len(held)
            growing += sum(p.told.real > 0 for p in held)
        print(f"{name} {text}: {count} poles in {len(poses)} poses ({growing} grow), decay within {worst:.3%}", flush=True)


def margins() -> None:
    """Growth (1/s) of the pole that crosses, foretold and found, 2 % inside and outside the edges."""
    for name, settings, text, sensors, poses in CASES:
        if name == "gough_stewart_flexible":
            continue
        robot = supple.Robot(name, settings)
        found = robot.control(text, sensors, poses[0], cutoff=0.0)
        one, law = found.poses[0], found.law
        for what, edge in (("most gain", one.most_gain), ("least gain", one.least_gain), ("delay", one.delay_margin)):
            if edge and np.isfinite(edge):
                shares, late = (1.02, 0.98) if what == "least gain" else (0.98, 1.02), what == "delay"
                inside, outside = (
                    replace(law, delay=law.delay + k * edge) if late else law.scaled(k * edge) for k in shares
                )
                told = ", ".join(
                    f"{k:g} of it {p.told.real:+.4g} foretold, {p.found.real:+.4g} found (mode of {p.mode_hz:.4g} Hz)"
                    for k, p in zip(shares, crossing(robot, inside, outside, dict(one.at)), strict=True)
                )
                print(f"{name} {text}: {what} {edge:.4g}: {told}", flush=True)


ENCODERS = ["q,noise=1e-6"]
WATCHED = ["q", "P.x", "P.z"]
FILTERS: list[tuple[str, dict[str, Any], str, list[str], float, list[str]]] = [
    *(("dualemps", SMOOTH, "lqg:effort=300,deviation=1e-4,disturbance=1,sample=1 ms,delay=0.5 ms", sensors, 1.0, WATCHED)
      for sensors in (ENCODERS, [*ENCODERS, "P.x,acceleration,noise=0.05", "P.z,acceleration,noise=0.05"],
                      [*ENCODERS, "strain(13).y,noise=1e-7"], ["q,noise=1e-6,resolution=1e-6"], ["q,resolution=1e-6"])),
    ("delta", {}, "lqg:effort=1,deviation=1e-4,disturbance=0.05,sample=1 ms,delay=0.5 ms", ["q,noise=1e-5"], 0.05,
     ["q", "tool.x", "tool.y", "tool.z"]),
]  # fmt: skip
KEPT = "position,velocity,acceleration,tau,point_position"
RUNS, SECONDS, SETTLING = 24, 20.0, 10.0


def kalman(folder: Path) -> None:
    """Of independent runs, forces at random as the law was told, after settling: the share of errors within 1.96 standard
    deviations, and the mean of e' P^-1 e over the number of outputs with its 95 % bounds by the spread of the runs."""
    for name, settings, text, sensors, force, watched in FILTERS:
        robot = supple.Robot(name, settings)
        runs, seconds, settling = (RUNS, SECONDS, SETTLING) if name == "dualemps" else (8, 4.0, 1.0)  # by the slowest pole
        found = robot.control(text, sensors, {} if name == "delta" else DUALEMPS[0], watch=watched)
        estimate = found.law.parts[0].estimate
        assert estimate is not None
        hit, rows = ("tool.fx" if name == "delta" else "P.fx"), []
        motion = hit_motion(robot, dict(found.poses[0].at), hit, 1e-12, seconds, folder)
        for seed in range(1, runs + 1):
            noisy = replace(found.law, noise=(force,) * len(found.law.noise), seed=seed)
            made = simulator(robot, under_law(robot.motion(motion), noisy))
            run = integrate(made, Settings("radau", 1e-6, 0.0, every=SAMPLE), keep=KEPT)
            e = (np.asarray(replayed(made, run).estimates) - truth(run, estimate.names))[int(settling / SAMPLE) :]
            nees = np.mean(np.einsum("ti,ij,tj->t", e, np.linalg.inv(estimate.covariance), e)) / len(estimate.names)
            rows.append([nees, *(np.abs(e) < 1.96 * estimate.sigma).mean(axis=0)])
        mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(len(rows))
        share = ", ".join(f"{n} {x:.1%}" for n, x in zip(estimate.names, mean[1:], strict=True))
        print(f"{name} {', '.join(sensors)}: {runs} runs: within 1.96 sigma: {share}; e' P^-1 e / n = {mean[0]:.3f} +- "
              f"{1.96 * spread[0]:.3f}", flush=True)  # fmt: skip


def truth(run: Any, names: tuple[str, ...]) -> Any:
    """What is estimated, as the simulation has it, off its start."""
    columns = []
    for name in names:
        point, part = name.rsplit(".", 1) if not name.startswith("q.") else ("", "")
        x = np.asarray(run[f"point_position:{point}" if point else f"position:{name.removeprefix('q.')}"])
        x = x[:, "xyz".index(part)] if point else x
        columns.append(x - x[0])
    return np.column_stack(columns)


GAUGES = ["q,resolution=1e-6", *(f"strain({link}).y,noise=1e-6" for link in ("13", "23", "16"))]
GAUGED = "lqg:effort=100,deviation=1e-5,load=0.05,sample=1 ms,delay=0.5 ms"


def picture(folder: Path) -> None:
    """The tip of DualEMPS after a hit of 10 mN s, Coulomb friction left out: under a pd law, and lqg with
    encoders and gauges; drawn to feedback.png."""
    from matplotlib.figure import Figure

    robot, pose = supple.Robot("dualemps", SMOOTH), DUALEMPS[0]
    figure = Figure(figsize=(9, 4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for name, law, sensors in (("pd", "pd:kp=1e5,kd=1e3,sample=1 ms,delay=0.5 ms", ["q", "q,velocity"]),
                               ("lqg", GAUGED, GAUGES)):  # fmt: skip
        found = robot.control(law, sensors, pose)
        print(name, found.stable, found.worst.damping)
        run = robot.simulate(hit_motion(robot, pose, "P.fx", 1e-2, 1.5, folder), controller=found.law)
        x = np.asarray(run["point_position:P"])[:, 0]
        above.plot(run.time, 1e3 * (x - x[0]), linewidth=0.9, label=name)
        below.plot(run.time, np.asarray(run["tau:q11"]), linewidth=0.9)
    above.set_ylabel("tip off its place (mm)", fontsize=9)
    below.set_ylabel("force of q11 (N)", fontsize=9)
    below.set_xlabel("time (s)", fontsize=9)
    above.legend(frameon=False, fontsize=9)
    for axes in (above, below):
        axes.grid(alpha=0.25)
        axes.tick_params(labelsize=8)
    figure.savefig("feedback.png", dpi=120)


if __name__ == "__main__":
    asked = sys.argv[1:] or ["decay", "margins", "kalman"]
    robots = [x for x in asked if x in {case[0] for case in CASES}]  # of the decays, if named
    CASES = [case for case in CASES if not robots or case[0] in robots]
    FILTERS = [case for case in FILTERS if not robots or case[0] in robots]
    asked = [x for x in asked if x not in robots]
    with tempfile.TemporaryDirectory() as made:
        for word in asked:
            if word in ("decay", "margins"):
                {"decay": decay, "margins": margins}[word]()
            else:
                {"kalman": kalman, "picture": picture}[word](Path(made))
