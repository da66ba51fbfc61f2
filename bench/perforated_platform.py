"""A milled platform: gough_stewart_flexible with lightening holes, a boss and ribs below instead of a thick plate.

Prints mass and first frequencies of both, and of the milled one without its eccentricity; draws its first mode.

    python bench/perforated_platform.py FOLDER
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from supple.analyses.modes import modes
from supple.machine import GALLERY, Machine
from supple.views.mode_picture import draw_mode

MILLED = """
  plate:
    plate:
      corners: [[side, 0], [side/2, side*sqrt(3)/2], [-side/2, side*sqrt(3)/2],
                [-side, 0], [-side/2, -side*sqrt(3)/2], [side/2, -side*sqrt(3)/2]]
      holes:
        - {centre: [0, 0], radius: 60 mm}
HOLES
      patches:
        - {circle: {centre: [0, 0], radius: 100 mm}, thickness: 20 mm, offset: 6 mm}
      thickness: 8 mm
      material: aluminium
      element: kirchhoff
      in_plane: true
      tolerance: 0.01
      stiffeners:
RIBS
      attachments:
CORNERS
      reduction: {static: {modes: 10}}
"""


def milled() -> str:
    """The robot file with the milled platform."""
    text = (GALLERY / "gough_stewart_flexible.yaml").read_text()
    turn = "pi*{}/6"
    holes = [f"{{centre: [0.3*cos({turn.format(k)}), 0.3*sin({turn.format(k)})], radius: 70 mm}}" for k in range(1, 12, 2)]
    ribs = []
    for k in range(0, 12, 2):
        ends = (f"[{r}*cos({turn.format(k)}), {r}*sin({turn.format(k)})]" for r in ("0.06", "side"))
        ribs.append("{{from: {}, to: {}, section: rib, offset: -24 mm}}".format(*ends))
    start, end = text.index("  plate:\n    plate:"), text.index("platform:")
    corners = [f"        c{k}: {{at: [side*cos({turn.format(2 * k)}), side*sin({turn.format(2 * k)})]}}" for k in range(6)]
    own = MILLED.replace("HOLES", _listed(holes)).replace("RIBS", _listed(ribs)).replace("CORNERS", "\n".join(corners))
    text = text[:start] + own.lstrip("\n") + "\n" + text[end:]
    text = text.replace("centre: {link: platform}", "rim: {link: platform, at: [60 mm, 0, 0]}")
    return text.replace("sections:\n", "sections:\n  rib: {rectangle: {y: 8 mm, z: 40 mm}}\n")


def _listed(entries: list[str]) -> str:
    return "\n".join(f"        - {e}" for e in entries)


def main(folder: Path) -> None:
    flat = milled().replace(", offset: -24 mm", "").replace(", offset: 6 mm", "")
    with tempfile.TemporaryDirectory() as place:
        files = {}
        for name, text in (("milled_platform", milled()), ("milled, all in the middle plane", flat)):
            files[name] = Path(place) / f"{name.split(',')[0]}{len(files)}.yaml"
            files[name].write_text(text.replace("gough_stewart_flexible", "milled_platform", 1))
        for name, robot in {"25 mm plate": "gough_stewart_flexible", **files}.items():
            model = Machine.read(robot).model()
            found = modes(model, count=4)
            mass = float(model.mechanism.frames[model.mechanism.platform or 0].body.mass)
            print(f"{name:32s} {mass:6.2f} kg  ", ", ".join(f"{f:.2f}" for f in found.frequencies_hz[:4]), "Hz")
            if name == "milled_platform":
                print(draw_mode(found, 1, folder / "perforated_platform_mode1.png"))


if __name__ == "__main__":
    main(Path(sys.argv[1])) if len(sys.argv) > 1 else sys.exit(__doc__)
