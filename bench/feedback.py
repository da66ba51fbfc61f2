"""Closed loops by their sampled linear models, beside simulations of the whole robots.

    python bench/feedback.py [decay] [margins] [kalman] [picture] [names of robots]

decay: poles found in records of robots that were hit, over the workspace, against those foretold; margins: growth just
inside and outside the edges; kalman: errors of estimates against the covariance that the filter states.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from closed_loops import after_hit, compared, foretold_poles, found_poles, hit_motion, quiet

import supple
from supple.backends.stepping.settings import Settings
from supple.motion.controllers import under_law
from supple.simulation.integrate import integrate
from supple.simulation.replay import replayed
from supple.simulation.simulator import simulator

SAMPLE = 1e-3
ACCELEROMETERS = ["P.x,acceleration,noise=0.1", "P.z,acceleration,noise=0.1"]
CORNERS = [{"q11": a, "q21": b} for a, b in ((0.0, 0.0), (0.1, -0.1), (-0.1, 0.1), (0.15, 0.0), (0.0, 0.15))]
DELTA = [{}, {"x": 0.1, "y": 0.0, "z": -0.6}, {"x": -0.05, "y": 0.1, "z": -0.65}]
GOUGH = [{}, {"x": 0.1, "y": 0.05}, {"rx": 0.1, "ry": -0.05}]
CASES: list[tuple[str, dict[str, Any], str, list[str], list[dict[str, float]], str, float]] = [
    ("dualemps", {"width": 1e3}, "lqg:effort=100,deviation=1e-5,sample=1 ms,delay=0.5 ms",
     ["q,resolution=1e-6", *ACCELEROMETERS], CORNERS, "P.fx", 1e-4),
    ("dualemps", {"width": 1e3}, "poles:damping=0.1,bandwidth=3,modes=5,sample=1 ms,delay=1.2 ms", ["q,noise=1e-6"], CORNERS,
     "P.fx", 1e-4),
    ("dualemps", {"width": 1e3}, "pd:kp=1e5,kd=1e3,sample=1 ms,delay=0.5 ms", ["q", "q,velocity"], CORNERS, "P.fx", 1e-4),
    ("delta", {}, "lqg:effort=1,deviation=1e-4,sample=1 ms,delay=0.5 ms,disturbance=0.1", ["q,noise=1e-5"], DELTA, "tool.fx",
     1e-4),
    ("delta", {}, "pd:kp=300,kd=5,sample=1 ms,delay=0.5 ms", ["q", "q,velocity"], DELTA, "tool.fx", 1e-4),
    ("gough_stewart_flexible", {}, "lqg:effort=100,deviation=1e-4,sample=1 ms,delay=0.5 ms", ["q,noise=1e-5"], GOUGH,
     "centre.fx", 1e-2),
]  # fmt: skip


def decay(folder: Path) -> None:
    """Decays found and foretold, pose by pose."""
    for name, settings, law, sensors, poses, hit, area in CASES:
        robot = supple.Robot(name, settings)
        worst, count = 0.0, 0
        for pose in poses:
            found = robot.control(law, sensors, pose)
            at = dict(found.poses[0].at)
            run = robot.simulate(
                hit_motion(robot, at, hit, area, 1.0, folder), controller=quiet(found.law), every=SAMPLE, tol=1e-8,
                keep="position,velocity",
            )  # fmt: skip
            Y, told = after_hit(run), foretold_poles(robot, found.law, at)
            held = compared(found_poles(Y, SAMPLE), *told) or compared(found_poles(Y, SAMPLE, (76, 84, 92), 30), *told)
            off = max((x[2] for x in held), default=0.0)
            worst, count = max(worst, off), count + len(held)
            shown = ", ".join(f"{s.real:.3f}{s.imag:+.2f}i ({d:.2%})" for s, _, d, _ in held[:4])
            print(f"  {name} {pose}: {len(held)} poles, decay off by {off:.2%} at most: {shown}", flush=True)
        print(f"{name} {law}: {count} poles in {len(poses)} poses, decay within {worst:.2%}", flush=True)


def margins(folder: Path) -> None:
    """Growth of forces from 0.6 s to 1.2 s before the end of 2 s, 2 % inside and outside the edges."""
    for name, settings, law, sensors, hit_at, area in (
        ("dualemps", {"width": 1e3}, "lqg:effort=300,deviation=1e-4,sample=1 ms,delay=0.5 ms", ["q,resolution=1e-6"],
         "P.fx", 1e-3),
        ("delta", {}, "lqg:effort=1,deviation=1e-4,sample=1 ms,delay=0.5 ms,disturbance=0.1", ["q,noise=1e-5"],
         "tool.fz", 1e-4),
    ):  # fmt: skip
        robot = supple.Robot(name, settings)
        found = robot.control(law, sensors)
        one, own = found.poses[0], quiet(found.law)
        hit = hit_motion(robot, dict(one.at), hit_at, area, 2.0, folder)
        edges = (("most gain", one.most_gain), ("least gain", one.least_gain), ("delay", one.delay_margin))
        for what, edge in edges:
            if not edge or not np.isfinite(edge):
                continue
            told = []
            for k in (0.98, 1.02):
                chosen = replace(own, delay=own.delay + k * edge) if what == "delay" else own.scaled(k * edge)
                tau = np.asarray(robot.simulate(hit, controller=chosen, every=SAMPLE, tol=1e-7, keep="tau")["tau"])
                tau = np.abs(tau - tau[0]).max(axis=1)
                told.append(f"{k:.2f} of it: times {tau[-300:].max() / tau[-900:-600].max():.3f}")
            print(f"{name} {law}: {what} {edge:.4g}; {'; '.join(told)}", flush=True)


def kalman(folder: Path) -> None:
    """Share of errors within 1.96 standard deviations, and the mean of e' P^-1 e over the number of outputs."""
    for name, settings, law, sensors, force, hit, watched in (
        ("dualemps", {"width": 1e3}, "lqg:effort=300,deviation=1e-4,disturbance=1,sample=1 ms,delay=0.5 ms",
         ["q,noise=1e-6"], 1.0, "P.fx", ["q", "P.x", "P.z"]),
        ("dualemps", {"width": 1e3}, "lqg:effort=300,deviation=1e-4,disturbance=1,sample=1 ms,delay=0.5 ms",
         ["q,noise=1e-6", "P.x,acceleration,noise=0.05", "P.z,acceleration,noise=0.05"], 1.0, "P.fx", ["q", "P.x", "P.z"]),
        ("dualemps", {"width": 1e3}, "lqg:effort=300,deviation=1e-4,disturbance=1,sample=1 ms,delay=0.5 ms",
         ["q,noise=1e-6", "strain(13).y,noise=1e-7"], 1.0, "P.fx", ["q", "P.x", "P.z"]),
        ("dualemps", {"width": 1e3}, "lqg:effort=300,deviation=1e-4,disturbance=1,sample=1 ms,delay=0.5 ms",
         ["q,resolution=1e-6"], 1.0, "P.fx", ["q", "P.x", "P.z"]),
        ("delta", {}, "lqg:effort=1,deviation=1e-4,disturbance=0.05,sample=1 ms,delay=0.5 ms", ["q,noise=1e-5"], 0.05,
         "tool.fx", ["q", "tool.x", "tool.y", "tool.z"]),
    ):  # fmt: skip
        robot = supple.Robot(name, settings)
        found = robot.control(law, sensors, {} if name == "delta" else CORNERS[0], watch=watched)
        covered, nees = [], []
        for seed in range(1, 5):
            noisy = replace(found.law, noise=(force,) * len(found.law.noise), seed=seed)
            motion = under_law(robot.motion(hit_motion(robot, dict(found.poses[0].at), hit, 1e-12, 3.0, folder)), noisy)
            made = simulator(robot, motion)
            run = integrate(made, Settings("radau", 1e-6, 0.0, every=SAMPLE))
            e = (replayed(made, run).estimates - truth(run, found.law.parts[0].estimate.names))[300:]
            P = found.law.parts[0].estimate.covariance
            covered.append((np.abs(e) < 1.96 * np.sqrt(np.diag(P))).mean(axis=0))
            nees.append(np.mean(np.einsum("ti,ij,tj->t", e, np.linalg.inv(P), e)) / len(P))
        share = ", ".join(
            f"{n} {x:.1%}" for n, x in zip(found.law.parts[0].estimate.names, np.mean(covered, axis=0), strict=True)
        )
        print(f"{name} {', '.join(sensors)}: within 1.96 sigma: {share}; e' P^-1 e / n = {np.mean(nees):.2f}", flush=True)


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

    robot, pose = supple.Robot("dualemps", {"width": 1e3}), CORNERS[0]
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
    asked = [x for x in asked if x not in robots]
    with tempfile.TemporaryDirectory() as made:
        for word in asked:
            {"decay": decay, "margins": margins, "kalman": kalman, "picture": picture}[word](Path(made))
