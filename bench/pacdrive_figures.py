"""Figures 6 to 11 of Vidoni, Gasparetto, Boscariol & Giovagnoni (2012): PacDrive let fall, and pick and place.

    python bench/pacdrive_figures.py FOLDER

Integrated by scipy's Radau on the equations of erls_compatible, at two tolerances whose difference is printed; rigid curves
by the same formulation without flexibility and with E = 5e12 Pa, as the paper does it. Takes about ten minutes."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from whole_tree import WholeTree, follow_tree

from supple.machine import Machine
from supple.model.algebra import least_squares
from supple.model.closing import close
from supple.model.model import Model
from supple.model.posture import posture

METHOD = "erls_compatible"


def start(model: Model, motion: str) -> tuple[np.ndarray, np.ndarray]:
    """Undeformed posture and velocities of a motion of the robot file."""
    told = Machine.read("pacdrive").motion(motion)
    q = posture(model, {k: float(x) for k, x in told.start.items()})
    joints = [i for i, c in enumerate(model.mechanism.coordinates) if c.kind != "elastic"]
    A = np.vstack([model.jacobian(q)[:, joints], model.held(model.active)[:, joints]])
    wanted = np.zeros(len(A))
    for k, i in enumerate(model.active):
        wanted[model.mechanism.equations + k] = float(told.rates.get(model.names[i], 0.0))
    v = np.zeros(model.nv)
    v[joints] = least_squares(A, wanted)
    return q, v


BREAKS = {"fall": np.array([0.1, 0.2]), "pick_and_place": 0.1 * np.arange(1, 10)}


def run(model: Model, motion: str, times: np.ndarray, rtol: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and a at the given times."""
    breaks = BREAKS[motion]

    def drive(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        piece = int(np.searchsorted(breaks, t, side="right"))
        up = (0.0, 20.0, 0.0)[piece] if motion == "fall" else (15.0, -5.0)[piece % 2]
        return np.array([-up, up])  # against gravity is negative for q1 and positive for q2

    q, v = start(model, motion)
    y = follow_tree(model, q, v, times, torque=drive, breaks=breaks, rtol=rtol, atol=1e-3 * rtol)
    tree = WholeTree(model, None, drive, None)
    a = np.array([tree.rate(t + 1e-9, x[None])[0, model.nv :] for t, x in zip(times, y, strict=True)])
    return y[:, : model.nv], y[:, model.nv :], a


def tips(model: Model, q: np.ndarray) -> np.ndarray:
    return model.call("points", q=q)["position"][:, 0, :2]


def rigid_tips(model: Model, q: np.ndarray, rigid: Model) -> np.ndarray:
    """Where the equivalent rigid-link system has the tip: the rigid robot with the same q1 and q2."""
    at, found = posture(rigid, {"q1": q[0, model.index("q1")], "q2": q[0, model.index("q2")]}), []
    free = [i for i in range(rigid.nv) if i not in set(rigid.active.tolist())]
    for x in q:
        at = at.copy()
        at[rigid.active] = x[model.active]
        shut = close(rigid, at, free)
        assert shut is not None
        at = shut
        found.append(at)
    return tips(rigid, np.array(found))


def plot(folder: Path, name: str, t: np.ndarray, curves: dict[str, np.ndarray], unit: str, title: str) -> None:
    fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for (label, y), style in zip(curves.items(), ("-", "-", "--", "--"), strict=False):
        ax.plot(t, y, style, label=label, lw=1.3)
    ax.set(xlabel="time (s)", ylabel=unit, title=title)
    ax.grid(alpha=0.3)
    if len(curves) > 1:
        ax.legend(fontsize=8)
    fig.savefig(folder / f"{name}.png", dpi=110)
    plt.close(fig)


def case(folder: Path, motion: str, duration: float) -> None:
    times = np.linspace(0, duration, round(duration / 1e-3) + 1)
    flexible, rigid = Machine.read("pacdrive").model(METHOD), Machine.read("pacdrive").model(METHOD, rigid=True)
    coarse, fine = (run(flexible, motion, times, rtol) for rtol in (1e-5, 1e-6))
    settled = np.abs(times[:, None] - [0, *BREAKS[motion]]).min(axis=1) > 2e-3  # away from jumps of the torque
    position = np.abs(coarse[0] - fine[0]).max()
    acceleration = np.abs(coarse[2] - fine[2])[settled].max() / np.abs(fine[2]).max()
    print(f"{motion}: tolerances 1e-5 and 1e-6 differ by {position:.1e} (m, rad), accelerations {acceleration:.1e} of peak")
    q = fine[0]
    hard = run(rigid, motion, times, 1e-8)[0]
    angles = {f"{n} flexible": np.degrees(q[:, flexible.index(n)]) for n in ("q1", "q2")}
    angles |= {f"{n} rigid": np.degrees(hard[:, rigid.index(n)]) for n in ("q1", "q2")}
    u = tips(flexible, q) - rigid_tips(flexible, q, rigid)
    apart = max(float(np.abs(angles[f"{n} flexible"] - angles[f"{n} rigid"]).max()) for n in ("q1", "q2"))
    print(f"  flexible and rigid coordinates at most {apart:.2f} deg apart; tip displaced by at most "
          f"{1e3 * np.abs(u[:, 0]).max():.2f} mm in x, {1e3 * np.abs(u[:, 1]).max():.2f} mm in y")  # fmt: skip
    drawn = {"fall": ("7", "8", None), "pick_and_place": ("9", "10", "11")}[motion]
    title = f"PacDrive, {motion}: free coordinates (fig. {drawn[0]})"
    plot(folder, f"pacdrive_{motion}_coordinates", times, angles, "deg", title)
    for axis, number in zip("xy", drawn[1:], strict=True):
        title = f"PacDrive, {motion}: elastic displacement of the tip in {axis}" + (f" (fig. {number})" if number else "")
        plot(folder, f"pacdrive_{motion}_tip_{axis}", times, {axis: 1e3 * u[:, "xy".index(axis)]}, "mm", title)
    if motion == "fall":
        stiff = Machine.read("pacdrive", {"E": 5e12}).model(METHOD)
        q = run(stiff, motion, times, 1e-5)[0]
        apart = max(np.abs(q[:, stiff.index(n)] - hard[:, rigid.index(n)]).max() for n in ("q1", "q2"))
        print(f"  E = 5e12 Pa (fig. 6): at most {np.degrees(apart):.1e} deg from the rigid robot")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    case(target, "fall", 0.4)
    case(target, "pick_and_place", 1.0)
