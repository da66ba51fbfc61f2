"""Vibration that commands leave, by shaper: two trapezoidal moves of DualEMPS' square, unshaped and shaped.

    python bench/shapers.py [--free | --arm | --rubbing] [ROW ...]      # rows such as zvd:1 zvd:1@0.1; all if none

--free: without stiction; --arm: serial_arm stretches out, and its frequencies change by more than half; --rubbing: five_bar
with 2 kg at its tool and dry friction of 0.03 N m in its passive joints.

After a move the tip creeps back while friction lets go of the passive joints, and it vibrates. A sum of damped exponentials
(matrix pencil) tells one from the other: `vibration` is the largest distance from the creep at any time after the command,
of all frequencies above 5 Hz together; `swing` is half the diagonal of the box that holds all that moves, creep included
(what `supple simulate` prints), `acceleration` the largest of P. Ratios to the unshaped move, the worse of the two moves.
`start`, `end`: frequencies of the start or the end instead of those along the way; 10 % high, low: those of the start, off.
zvd:1@0.1: with that damping ratio instead of the robot's own, in all columns.
`periods`: how much later the command ends, in periods of mode 1.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

import numpy as np
from timing import show

import supple
from supple.motion.description import Motion, Shaper
from supple.results import Modes

MOVE, REST, STEP, WATCHED = 1.8, 1.4, 0.5e-3, 0.5  # s
ORDER, SLOWEST = 24, 5.0  # of the pencil; Hz


@dataclass(frozen=True)
class Case:
    """A robot, the joints that it moves, where from and to (a move for each), and rows of the table."""

    robot: str
    settings: dict[str, float]
    start: dict[str, float]
    ends: tuple[dict[str, float], ...]
    duration: float
    acceleration: float
    rows: tuple[str, ...]

    def text(self, edge: str) -> str:
        moves = "".join(f"  - {{to: {written(to)}, {edge}}}\n  - {{rest: {REST} s}}\n" for to in self.ends)
        return f"start: {written(self.start)}\nmoves:\n{moves}"

    @property
    def trapezoidal(self) -> str:
        return f"profile: trapezoidal, duration: {self.duration} s, acceleration_time: {self.acceleration} s"


def written(pose: dict[str, float]) -> str:
    return "{" + ", ".join(f"{k}: {x}" for k, x in pose.items()) + "}"


_EDGES = ({"q11": 0.1}, {"q21": 0.1})  # the way back is alike
SQUARE = Case("dualemps", {}, {"q11": -0.1, "q21": -0.1}, _EDGES, MOVE, 0.3, (
    *("zv:1", "zvd:1", "zvd:1@0.1", "zvd:1@0.2", "zvdd:1", "ei:1", "si:1", "average:1", "smooth:1", "together:1"),
    *("zv:1+2", "zvd:1+2", "ei:1+2", "smooth:1+2", "together:1+2"),
    *("zvd:1+2+3", "zvdd:1+2+3", "ei:1+2+3", "smooth:1+2+3", "together:1+2+3"),
))  # fmt: skip
FOLDED, STRETCHED = ({"waist": a, "shoulder": b, "elbow": c} for a, b, c in ((0.0, -1.4, 2.6), (1.0, -0.9, 0.2)))
ARM = Case("serial_arm", {}, FOLDED, (STRETCHED,), 0.9, 0.25, (
    "zvd:1", "zv:1+2+3", "zvd:1+2+3", "zvdd:1+2+3", "ei:1+2+3", "smooth:1+2", "together:1+2",
))  # fmt: skip
_CRANKS = [{"arm1/q1": a, "arm2/q1": b} for a, b in ((2.27, 0.87), (1.92, 0.7), (2.44, 1.22))]
RUBBING = Case("five_bar", {"tool": 2.0}, _CRANKS[0], (_CRANKS[1], _CRANKS[2]), 0.5, 0.1, (
    "zvd:1", "ei:1", "together:1", "together:1+2", "zvd:1+2",
))  # fmt: skip


def rubbing(folder: Path) -> Path:
    """five_bar with dry friction in its passive joints."""
    text = (files("supple") / "gallery" / "five_bar.yaml").read_text()
    plain = "q: q2, body: coupler}"
    assert plain in text
    made = text.replace(plain, plain[:-1] + ", friction: {viscous: 0.002, coulomb: 0.03 Nm, width: 0.001}}")
    (file := folder / "five_bar.yaml").write_text(made)
    return file


@dataclass(frozen=True)
class Left:
    """What each of the moves leaves: swing and vibration (m), acceleration (m/s^2), and when it ends (s)."""

    swing: np.ndarray
    vibration: np.ndarray
    acceleration: np.ndarray
    longer: float


def left(robot: supple.Robot, case: Case, motion: Motion) -> Left:
    run = robot.simulate(motion, every=STEP)
    q = run["position"][:, [list(run.axes["coordinate"]).index(n) for n in case.start]]
    moving = np.abs(np.diff(q, axis=0)).max(axis=1) > 1e-10
    ends = np.flatnonzero(moving[:-1] & ~moving[1:]) + 1
    ends = ends[np.append(np.diff(ends) > 0.5 * REST / STEP, True)]
    made = []
    for k in ends:
        after = slice(k + 1, k + 1 + round(WATCHED / STEP))
        bent, felt = run["point_deformation"][after, 0], run["point_acceleration"][after, 0]
        made.append((0.5 * np.linalg.norm(np.ptp(bent, axis=0)), vibration(bent[::2], 2 * STEP), np.abs(felt).max()))
    swing, shaking, felt = np.array(made).T
    return Left(swing, shaking, felt, float(run.time[ends[0]]) - case.duration)


def vibration(y: np.ndarray, step: float) -> float:
    """The largest of what oscillates in y (times, channels), by the matrix pencil (Hua & Sarkar 1990)."""
    n, y = len(y), y - y.mean(axis=0)
    windows = np.hstack([np.lib.stride_tricks.sliding_window_view(c, n // 3 + 1).T for c in y.T])
    U = np.linalg.svd(windows, full_matrices=False)[0][:, :ORDER]
    poles = np.linalg.eigvals(np.linalg.lstsq(U[:-1], U[1:], rcond=None)[0])
    poles = poles[np.abs(poles) > 1e-3]
    V = poles[None, :] ** np.arange(n)[:, None]
    shares = np.linalg.lstsq(V, y.astype(complex), rcond=None)[0]
    turning = np.abs(np.angle(poles)) > 2 * np.pi * SLOWEST * step
    return float(np.linalg.norm((V[:, turning] @ shares[turning]).real, axis=1).max())


def fixed(law: str, modes: Sequence[int], ratios: Sequence[float], own: Modes, by: float) -> Shaper:
    """A shaper for constant frequencies, so many times those of a pose, with its damping ratios if none are given."""
    undamped, z = own.frequencies_hz[[k - 1 for k in modes]], own.damping_ratios[[k - 1 for k in modes]]
    damped, shown = by * undamped * np.sqrt(1 - z**2), np.array(ratios) if ratios else z
    return Shaper(law, (), tuple((damped / np.sqrt(1 - shown**2)).tolist()), tuple(shown.tolist()))


def main() -> None:
    arguments = sys.argv[1:]
    cases = {"--arm": ARM, "--free": replace(SQUARE, settings={"width": 1.0}), "--rubbing": RUBBING}
    case = next((cases[a] for a in arguments if a in cases), SQUARE)
    with tempfile.TemporaryDirectory() as folder:
        robot = supple.Robot(rubbing(Path(folder)) if case is RUBBING else case.robot, case.settings)
        first, last = (robot.modes(x, count=6) for x in (case.start, case.start | case.ends[-1]))
        period = 1.0 / float(first.frequencies_hz[0])
        (file := Path(folder) / "moves.yaml").write_text(case.text(case.trapezoidal))
        motion = robot.motion(file)
        file.write_text(case.text(f"profile: quintic, duration: {case.duration + period} s"))
        polynomial = left(robot, case, robot.motion(file))
    before = left(robot, case, motion)

    def times(x: np.ndarray, y: np.ndarray) -> str:
        return f"{(x / y).min():.3g}"

    def row(name: str, modes: str, made: Left, others: Sequence[str]) -> list[object]:
        return [
            name, modes, f"{made.vibration.max() * 1e6:.3g}", times(before.vibration, made.vibration), *others,
            times(before.acceleration, made.acceleration), times(before.swing, made.swing), f"{made.longer / period:.2f}",
        ]  # fmt: skip

    rows = [row("none", "", before, ("", "", "", "")), row("quintic", "", polynomial, ("", "", "", ""))]
    for text in [a for a in arguments if not a.startswith("--")] or case.rows:
        law, _, listed = text.partition(":")
        listed, _, damping = listed.partition("@")
        modes = tuple(int(k) for k in listed.split("+"))
        ratios = (float(damping),) * len(modes) if damping else ()
        shapers = [Shaper(law, modes, (), ratios), Shaper(law, modes, (), ratios, along=False)]
        shapers += [fixed(law, modes, ratios, own, by) for own, by in ((last, 1.0), (first, 1.1), (first, 0.9))]
        made, *others = (left(robot, case, replace(motion, shaper=x)) for x in shapers)
        name = f"{law}, {damping}" if damping else law
        rows.append(row(name, listed, made, [times(before.vibration, x.vibration) for x in others]))
        print(*rows[-1], file=sys.stderr, flush=True)
    show(
        f"{case.robot}, trapezoidal moves: vibration left, and how many times less than unshaped",
        ["shaper", "modes", "µm", "times", "start", "end", "10 % high", "10 % low", "acceleration", "swing", "periods"],
        rows,
    )


if __name__ == "__main__":
    main()
