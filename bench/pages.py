"""Pages of all gallery robots in a real browser: size, console, network, modes, motion, drawn places, frames a second.

    PYTHONPATH=tests python bench/pages.py [ROBOT ...]

Needs chromium. Drawn places are compared with numpy's (m); frames a second are those of the software renderer at its best.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from browser import Browser, browser

import supple
from supple.results.scene import Scene, section_moves, sections

SPEED = """(() => { const gl = supple.renderer.gl, pixel = new Uint8Array(4), from = performance.now();
for (let k = 0; k < 10; k++) {
  supple.show?.advance(0.02);
  supple.draw();
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
}
return 10000 / (performance.now() - from); })()"""


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


def main() -> None:
    names = sys.argv[1:] or supple.gallery()
    print(f"{'robot':24}{'MB':>6}{'modes':>7}{'samples':>9}{'mode (m)':>11}{'motion (m)':>11}{'frames/s':>10}  problems")
    with tempfile.TemporaryDirectory() as folder, browser() as page:
        for name in names:
            robot = supple.Robot(name)
            scene = robot.show(motion=robot.motions[0], duration="0.5 s")
            file = scene.save(Path(folder) / "robot.html")
            page.open(file)
            apart = [modes_seen(page, scene) if scene.modes else 0.0, motion_seen(page, scene)]
            speed = page.ask(SPEED)
            extra = [*page.problems, *page.requests[1:]]
            modes = 0 if scene.modes is None else len(scene.modes.frequencies_hz)
            size, samples = file.stat().st_size / 1e6, len(scene.motion.time)
            print(
                f"{name:24}{size:6.2f}{modes:7}{samples:9}{apart[0]:11.1e}{apart[1]:11.1e}{speed:10.1f}  {extra or 'none'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
