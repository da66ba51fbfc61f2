"""Pages of all gallery robots in a real browser: size, console, network, modes, motion, drawn places, frames a second; and
what their own code says there: frequencies after actuators were moved, and what a blow of a hammer does.

    PYTHONPATH=tests python bench/pages.py [--still] [--pictures DIR] [ROBOT ...]

Needs chromium, and the ziglang wheel for the last three columns. Drawn places are compared with numpy's (m), frequencies
with those of `supple modes`, a blow with `supple simulate` of a motion file (both relative); frames a second, and
milliseconds of processor time of one, are those of the software renderer (left out with --still); seconds of computing for
one second of a blow are those of the browser.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

import numpy as np
from browser import Browser, browser

import supple
from supple.results.scene import Scene, section_moves, sections

BLOW = 0.05  # s
PLAYED = 4  # s
SPEED = """(async () => { const wait = (s) => new Promise((go) => setTimeout(go, 1000 * s));
supple.play(true);
await wait(PLAYED);  // it finds its own pace
const [frames, from] = [supple.frames, performance.now()];
await wait(PLAYED);
return [supple.frames - frames, (performance.now() - from) / 1000]; })()""".replace("PLAYED", str(PLAYED))


def spent() -> float:
    """Seconds of processor time of the browser: of all processes below this one (Linux)."""
    every = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        every[int(file.parent.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    below = {os.getpid()}
    for _ in range(6):  # generations
        below |= {pid for pid, (parent, _) in every.items() if parent in below}
    return sum(ticks for pid, (_, ticks) in every.items() if pid in below) / os.sysconf("SC_CLK_TCK")


def frames(page: Browser) -> tuple[float, float]:
    """Frames a second, and milliseconds of processor time of a frame, while a mode swings as it does for a reader."""
    page.ask("supple.pick(supple.modes ? 'modes' : 'motion'), null")
    begun = spent()
    count, seconds = page.ask(SPEED)
    used = (spent() - begun) / 2  # half of it was for the pace
    page.ask("supple.play(false), null")
    return count / seconds, 1e3 * used / max(count, 1)


def modes_seen(page: Browser, scene: Scene) -> float:
    """The largest difference (m) between drawn and computed places, over all modes."""
    worst = 0.0
    for mode in range(len(scene.modes.frequencies_hz)):
        page.ask(f"supple.pick('modes'), supple.play(false), supple.modes.choose({mode}), supple.modes.phase = Math.PI / 2")
        factor = page.ask("supple.draw(), supple.modes.amplitude")
        found = np.array(page.ask("Array.from(supple.current)")).reshape(-1, 3, 4)
        moves = scene.modes.moves[mode]
        exact = [sections(scene, m, scene.rest) + factor * section_moves(scene, m, scene.rest, moves) for m in scene.meshes]
        worst = max(worst, float(np.abs(found[..., 3] - np.concatenate(exact)[..., 3]).max()))
    return worst


def motion_seen(page: Browser, scene: Scene) -> float:
    """The same over some samples of its motion."""
    worst = 0.0
    page.ask("supple.pick('motion'), supple.play(false)")
    for k in np.linspace(0, len(scene.motion.time) - 1, 5).astype(int):
        page.ask(f"supple.choice.time = supple.motion.time[{k}], supple.draw()")
        found = np.array(page.ask("Array.from(supple.current)")).reshape(-1, 3, 4)
        exact = np.concatenate([sections(scene, m, scene.motion.placed[k]) for m in scene.meshes])
        worst = max(worst, float(np.abs(found[..., 3] - exact[..., 3]).max()))
    return worst


def moved(page: Browser, robot: supple.Robot, scene: Scene) -> tuple[str, str, str]:
    """Relative differences after all actuators moved a little: of frequencies with `supple modes`, of the motion after a
    blow with `supple simulate`; and seconds of computing for a second of it."""
    if scene.live is None:
        return "-", "-", "-"
    assert page.ask("supple.ready.then(() => Boolean(supple.live))"), "the code does not start"
    pose = [x + 0.02 for x in page.ask("[...supple.live.given]")]
    at = {c["name"]: x for c, x in zip(scene.live.about["given"], pose, strict=True)}
    off = "-"
    if page.ask(f"supple.live.move({pose})") and scene.modes is not None:
        exact = robot.modes(at, count=len(scene.modes.frequencies_hz)).frequencies_hz
        found = np.array(page.ask("supple.modes.data.frequencies"))
        off = f"{np.abs(found[exact > 1] / exact[exact > 1] - 1).max():.1e}"
    if scene.live.hammer is None or not page.ask("Boolean(supple.live.found)"):
        return off, "-", "-"
    page.ask(f"supple.hammer.about.duration = {BLOW}, supple.hammer.hit(0, [1, 0, 0], 0.01), null")
    took = page.ask(
        "(() => { const from = performance.now(); supple.hammer.integrate(1e6); return performance.now() - from })()"
    )
    assert page.ask("supple.hammer.done"), page.ask("document.getElementById('hammer-say').textContent")
    return off, f"{blow_off(page, robot, at):.1e}", f"{took / 1e3 / BLOW:.1f}"


def blow_off(page: Browser, robot: supple.Robot, at: dict[str, float]) -> float:
    """The largest difference of the point that was hit from a simulation of a motion file, by its largest way."""
    point = page.ask("supple.live.about.points[0]")
    found = np.array(page.ask("supple.hammer.answers.map((x) => [...x.position.subarray(0, 3)])"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "blow.yaml"
        blow = {"impulse": {"area": "0.01 N*s", "duration": "1 ms", "at": "1 ms"}}
        held = dict.fromkeys(at, "prescribed")
        motion = {"start": at, "drive": held, "loads": {point: {"fx": blow}}, "duration": f"{BLOW} s"}
        file.write_text(json.dumps(motion), encoding="utf-8")
        run = robot.simulate(file, every=2.5e-4, step=6.25e-5, tol=1e-7)
    exact = run[f"point_position:{point}"][1:]
    return float(np.abs(found - exact).max() / np.abs(exact - exact[0]).max())


def pictures(page: Browser, folder: Path, name: str) -> None:
    """A mode and the motion as they look."""
    for tab, then in (("modes", "supple.modes.choose(1), supple.modes.phase = Math.PI / 2"), ("motion", "0")):
        if page.ask(f"Boolean(supple.{tab})"):
            page.ask(f"supple.pick('{tab}'), supple.play(false), {then}, supple.draw()")
            page.picture(folder / f"{name}_{tab}.jpg", 60)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("robots", nargs="*", default=supple.gallery())
    asked.add_argument("--still", action="store_true", help="leave frames a second out")
    asked.add_argument("--pictures", type=Path, help="a folder for a screenshot or two of every page")
    said = asked.parse_args()
    columns = {"robot": 24, "MB": 6, "modes": 7, "samples": 9, "mode (m)": 11, "motion (m)": 11, "frames/s": 10, "ms": 7}
    columns |= {"moved": 9, "blow": 9, "s/s": 7}
    print("".join(f"{k:24}" if k == "robot" else f"{k:>{w}}" for k, w in columns.items()) + "  problems")
    with tempfile.TemporaryDirectory() as folder, browser() as page:
        for name in said.robots:
            robot = supple.Robot(name)
            scene = robot.show(motion=robot.motions[0], duration="0.5 s", live=True)
            file = scene.save(Path(folder) / "robot.html")
            page.open(file)
            apart = [modes_seen(page, scene) if scene.modes else 0.0, motion_seen(page, scene)]
            speed = (float("nan"),) * 2 if said.still else frames(page)
            if said.pictures:
                said.pictures.mkdir(parents=True, exist_ok=True)
                pictures(page, said.pictures, name)
            answered = moved(page, robot, scene)
            extra = [
                *(n for n in scene.notices if "by itself" in n),
                *(scene.live.notices if scene.live else ()),
                *page.problems,
                *page.requests[1:],
            ]
            modes = 0 if scene.modes is None else len(scene.modes.frequencies_hz)
            size, samples = file.stat().st_size / 1e6, len(scene.motion.time)
            print(
                f"{name:24}{size:6.2f}{modes:7}{samples:9}{apart[0]:11.1e}{apart[1]:11.1e}{speed[0]:10.1f}{speed[1]:7.1f}"
                f"{answered[0]:>9}{answered[1]:>9}{answered[2]:>7}  {extra or 'none'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
