"""Vibration that commands leave, by shaper: two trapezoidal moves of DualEMPS' square, unshaped and shaped.

    python bench/shapers.py [--free] [ROW ...]      # rows such as zvd:1 smooth:1+2+3; all if none; --free: without stiction

After a move the tip creeps back while friction lets go of the passive joints, and it vibrates. A sum of damped exponentials
(matrix pencil) tells one from the other: `vibration` is the largest distance from the creep at any time after the command,
of all frequencies above 5 Hz together; `swing` is half the diagonal of the box that holds all that moves, creep included
(what `supple simulate` prints), `acceleration` the largest of P. Ratios to the unshaped move, the worse of the two moves.
`start`: frequencies of the start instead of those along the way, `off`: those of the start, 10 % too high or too low.
`periods`: how much later the command ends, in periods of mode 1.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from timing import show

import supple
from supple.motion.description import Motion, Shaper

ROWS = (
    *("zv:1", "zvd:1", "zvdd:1", "ei:1", "si:1", "average:1", "smooth:1"),
    *("zv:1+2", "zvd:1+2", "ei:1+2", "smooth:1+2", "zvd:1+2+3", "zvdd:1+2+3", "ei:1+2+3", "smooth:1+2+3"),
)
MOVE, REST, STEP, WATCHED = 1.8, 1.4, 0.5e-3, 0.5  # s
ORDER, SLOWEST = 24, 5.0  # of the pencil; Hz
EDGE = "profile: trapezoidal, duration: 1.8 s, acceleration_time: 0.3 s"
CORNERS = ("q11: 0.1", "q21: 0.1")  # the way back is alike
QUINTIC = "profile: quintic, duration: "


def square(edge: str) -> str:
    moves = "".join(f"  - {{to: {{{to}}}, {edge}}}\n  - {{rest: {REST} s}}\n" for to in CORNERS)
    return f"start: {{q11: -0.1, q21: -0.1}}\nmoves:\n{moves}"


@dataclass(frozen=True)
class Left:
    """What each of the moves leaves: swing and vibration (m), acceleration (m/s^2), and when it ends (s)."""

    swing: np.ndarray
    vibration: np.ndarray
    acceleration: np.ndarray
    longer: float


def left(robot: supple.Robot, motion: Motion) -> Left:
    run = robot.simulate(motion, every=STEP)
    q = run["position"][:, [list(run.axes["coordinate"]).index(n) for n in ("q11", "q21")]]
    moving = np.abs(np.diff(q, axis=0)).max(axis=1) > 1e-10
    ends = np.flatnonzero(moving[:-1] & ~moving[1:]) + 1
    ends = ends[np.append(np.diff(ends) > 0.5 * REST / STEP, True)]
    made = []
    for k in ends:
        after = slice(k + 1, k + 1 + round(WATCHED / STEP))
        bent, felt = run["point_deformation"][after, 0][:, [0, 2]], run["point_acceleration"][after, 0]
        made.append((0.5 * np.linalg.norm(np.ptp(bent, axis=0)), vibration(bent[::2], 2 * STEP), np.abs(felt).max()))
    swing, shaking, felt = np.array(made).T
    return Left(swing, shaking, felt, float(run.time[ends[0]]) - MOVE)


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


def main() -> None:
    arguments = sys.argv[1:]
    robot = supple.Robot("dualemps", {"width": 1.0} if "--free" in arguments else {})
    rows_wanted = [a for a in arguments if a != "--free"] or ROWS
    start = robot.modes({"q11": -0.1, "q21": -0.1}, count=6)
    period = 1.0 / float(start.frequencies_hz[0])
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder) / "square.yaml").write_text(square(EDGE))
        motion = robot.motion(file)
        file.write_text(square(f"{QUINTIC}{MOVE + period} s"))
        polynomial = left(robot, robot.motion(file))
    before = left(robot, motion)

    def times(x: np.ndarray, y: np.ndarray) -> str:
        return f"{(x / y).min():.3g}"

    def row(name: str, modes: str, made: Left, others: tuple[str, str, str]) -> list[object]:
        return [
            name, modes, f"{made.vibration.max() * 1e6:.3g}", times(before.vibration, made.vibration), *others,
            times(before.acceleration, made.acceleration), times(before.swing, made.swing), f"{made.longer / period:.2f}",
        ]  # fmt: skip

    rows = [row("none", "", before, ("", "", "")), row("quintic", "", polynomial, ("", "", ""))]
    for text in rows_wanted:
        law, _, listed = text.partition(":")
        modes = tuple(int(k) for k in listed.split("+"))
        own = [float(start.frequencies_hz[k - 1]) for k in modes]
        ratios = tuple(float(start.damping_ratios[k - 1]) for k in modes)
        shapers = [Shaper(law, modes), Shaper(law, modes, along=False)]
        shapers += [Shaper(law, (), tuple(by * f for f in own), ratios) for by in (1.1, 0.9)]
        made, *others = (left(robot, replace(motion, shaper=x)) for x in shapers)
        rows.append(row(law, listed, made, tuple(times(before.vibration, x.vibration) for x in others)))  # type: ignore[arg-type]
        print(*rows[-1], file=sys.stderr, flush=True)
    show(
        "DualEMPS, trapezoidal square: vibration left, and how many times less than unshaped",
        ["shaper", "modes", "µm", "times", "start", "10 % high", "10 % low", "acceleration", "swing", "periods"],
        rows,
    )


if __name__ == "__main__":
    main()
