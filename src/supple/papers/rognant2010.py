"""Rognant, Courteille & Maurine (2010): the Surgiscope's tables, its frequencies, responses and shapes."""

from __future__ import annotations

import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from supple.api import Robot
from supple.beginnings.bring import bring
from supple.measurements import Correlation, PoseCorrelation
from supple.papers.drawing import across
from supple.results.paper import Entry, Picture, Section

Printed = dict[str, Any]
_FOLDER = files("supple.papers") / "surgiscope"
FILES = {
    name: (_FOLDER / name).read_text(encoding="utf-8")
    for name in (
        "surgiscope_table4.yaml",
        "surgiscope_table4_test.yaml",
        "surgiscope_impact.yaml",
        "table_3a.csv",
        "table_3b.csv",
        "table_3_loops.yaml",
    )
}
SCATTER, NOISE = 0.1, 0.02
_SECTIONS = {
    "Sb": "1.44e-3", "Iyb": "2e-6", "Izb": "2e-6", "Sc": "3.9e-4", "Iyc": "3e-8", "Izc": "3e-8", "Sp": "1e-4", "Iyp": "4e-9",
    "Izp": "4e-9", "Sr": "7e-4", "Iyr": "1e-7", "Izr": "2e-7", "Eal": "70e9", "Gal": "26e9", "rho_al": "2700",
    "Eac": "210e9",
    "Gac": "80e9", "rho_ac": "7850", "Er": "70e9", "Gr": "26e9", "rho_r": "2700",
}  # fmt: skip
_POSES = {"centre": "(a)", "aside": "(b)"}


def sections(printed: Printed) -> list[Section]:
    with as_file(_FOLDER) as folder:
        robot = Robot(folder / "surgiscope_table4.yaml")
        found = robot.correlate(folder / "surgiscope_table4_test.yaml")
        rehearsed = _rehearsed(robot, folder / "surgiscope_impact.yaml")
        read = _tables(folder)
    return [
        _geometry(robot, printed), read,
        _frequencies(found, printed), _shapes(rehearsed, printed), _responses(robot, printed),
        _pictures(robot, printed),
    ]  # fmt: skip


def _geometry(robot: Robot, printed: Printed) -> Section:
    ours = robot.parameters
    made = [Entry("section III", name, x, ours[name], "kg" if name == "mass" else "m") for name, x in
            printed["geometry"].items()]  # fmt: skip
    made.append(Entry("section III", "loss factor eta", printed["eta"], ours["eta"]))
    return Section("Dimensions that are printed", "", tuple(made))


def _tables(folder: Path) -> Section:
    """Tables III(a) and III(b) read as they are printed, beside the gallery's robot, which was written by hand."""
    values = {"Lb": "0.75", "Lc": "0.125", "Lp": "0.95", "Rb": "0.25", "Rn": "0.1"} | _SECTIONS
    text, _ = bring(folder / "table_3a.csv", beams=folder / "table_3b.csv", loops=folder / "table_3_loops.yaml", count=3,
                    settings=values)  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "table_3.yaml").write_text(text, encoding="utf-8")
        read, ours = (
            Robot(x).check({"x": 0.19, "y": -0.33, "z": -0.9}).pose for x in (Path(place) / "table_3.yaml", "surgiscope")
        )
    made = [
        Entry("table III(a)", f"{joint} in the second pose: tables, gallery's file", read[joint], ours[joint], "rad", "")
        for joint in ("leg1/q1", "leg1/q2", "leg1/q5", "leg2/q1", "leg2/q2", "leg2/q5", "leg3/q1", "leg3/q2", "leg3/q5")
    ]  # fmt: skip
    words = (
        "`supple import table_3a.csv --beams table_3b.csv --loops table_3_loops.yaml --count 3 -o robot.yaml` reads them as "
        "printed: 14 beams per chain in six bodies, each along its roll, pitch and yaw; symbols get values by --set. The "
        "column 'printed' is the robot of the tables."
    )
    return Section("Table III: geometry and beams, read as tables", words, tuple(made))


def _frequencies(found: Correlation, printed: Printed) -> Section:
    made = []
    for pose, table in zip(found.poses, ("centre", "aside"), strict=False):
        by_measured = dict(pose.pairs)
        for k, x in enumerate(printed[table]["measured"]):
            group = by_measured.get(k, ())
            ours = float(np.mean([pose.computed_hz[g] for g in group])) if group else None
            twin = (
                "one of an equal pair; the real robot is not symmetric" if len(group) > 1 else "fitted to both poses at once"
            )
            made.append(Entry(f"table IV{_POSES[table]}, measured", f"mode {k + 1}", x, ours, "Hz", twin))
            made.append(Entry(f"table IV{_POSES[table]}, model", f"mode {k + 1}", printed[table]["model"][k], ours, "Hz",
                              "other sections and stiffnesses: those of the paper are not printed"))  # fmt: skip
    words = f"Root mean square of the errors {100 * found.rms_error:.2g} % (the paper's model: 2.7 %); lines 0.49 Hz apart."
    return Section("Table IV: natural frequencies in two poses", words, tuple(made))


def _rehearsed(robot: Robot, test: Path) -> Correlation:
    """The impact test rehearsed on a robot whose joints and bodies differ, and the model laid beside it."""
    with tempfile.TemporaryDirectory() as folder:
        robot.test(test, output=Path(folder) / "measured.uff", scatter=SCATTER, noise=NOISE)
        return robot.correlate(Path(folder) / "measured.yaml", count=9)


def _shapes(found: Correlation, printed: Printed) -> Section:
    made = []
    for pose, table in zip(found.poses, ("centre", "aside"), strict=False):
        for k, x in enumerate(printed[table]["mac"]):
            made.append(Entry(f"table IV{_POSES[table]}", f"MAC of mode {k + 1}", x, _mac(pose, k), "",
                              "measured shapes are not printed: ours of a rehearsed test"))  # fmt: skip
        made.append(Entry("eq. 34", f"J_Q, {table}", printed["J_Q"] if table == "centre" else None, pose.response_error, "",
                          "5 to 100 Hz of the rehearsed test; responses of the real one are not printed"))  # fmt: skip
    words = (
        f"Forty accelerometers, a blow on the platform, {100 * NOISE:g} % of noise, on a robot whose bodies and joints "
        f"scatter by {100 * SCATTER:g} % (surgiscope_impact.yaml), extracted and laid beside the symmetric model."
    )
    return Section("MAC and the error of responses", words, tuple(made))


def _mac(pose: PoseCorrelation, k: int) -> float | None:
    """MAC of the k-th measured mode with what it is paired with."""
    for n, (measured, _) in enumerate(pose.pairs):
        if measured == k and np.isfinite(pose.pair_mac[n]):
            return float(pose.pair_mac[n])
    return None


def _responses(robot: Robot, printed: Printed) -> Section:
    pictures = []
    for table in _POSES:
        at = dict(zip("xyz", printed[table]["at"], strict=True))
        found = robot.frf("E.fz", "E.z", at, band=(0.0, 250.0), points=511)
        H = np.abs(found.values[:, 0, 0])
        pictures.append(across(f"Figure 4(c), {table}", "Accelerance of the platform's centre along z, eta = 0.096.",
                               {"model": (found.frequencies_hz[1:], H[1:])}, "Hz", "m/s²/N", log=True))  # fmt: skip
    return Section("Figure 4: responses to a vertical blow", "", (), tuple(pictures))


def _pictures(robot: Robot, printed: Printed) -> Section:
    """Figure 5: shapes of a mode of the arms and of one of the joints."""
    at = dict(zip("xyz", printed["centre"]["at"], strict=True))
    scene = robot.show(at, count=6)
    pictures = []
    with tempfile.TemporaryDirectory() as folder:
        for mode in (1, 4):
            file = Path(folder) / f"{mode}.png"
            scene.save(file, mode)
            hz = float(scene.modes.frequencies_hz[mode - 1]) if scene.modes else 0.0
            pictures.append(Picture(f"Figure 5, mode {mode}", f"{hz:.1f} Hz at the centre.", file.read_bytes()))
    return Section("Figure 5: mode shapes", "", (), tuple(pictures))
