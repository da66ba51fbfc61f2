"""Long, Khalil & Martinet (2014): a flexible platform on six legs, its modes, its first pose, and the loop of its models."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.machine import Machine
from supple.model.model import Model
from supple.model.posture import posture
from supple.papers.drawing import over_time
from supple.papers.platform_loop import Record, led
from supple.results.paper import Entry, Picture, Section

Printed = dict[str, Any]


def sections(printed: Printed) -> list[Section]:
    machine = Machine.read("gough_stewart_plate", {"gravity": 9.81})
    model = machine.model()
    path = machine.motion("poses").path
    assert path is not None
    return [_legs(model, printed), _plate(model, printed), _pose(model, printed), _loop(led(model, path))]


_INERTIA = (("XX", 0, 0), ("YY", 1, 1), ("ZZ", 2, 2), ("XY", 0, 1), ("XZ", 0, 2), ("YZ", 1, 2))


def _legs(model: Model, printed: Printed) -> Section:
    """Tables 1 and 3, of the mechanism that is computed with: every leg has the same."""
    mechanism, made = model.mechanism, []
    frames = {f.link: f for f in mechanism.frames if f.role == "link"}
    for j, (mu, sigma, alpha) in printed["table_1"].items():
        frame = frames[f"leg1/{j}"]
        R = frame.marker.rotation.astype(float)
        coordinate = mechanism.coordinates[frame.v.start]
        ours = (float(coordinate.kind == "active"), float(frame.motion == "prismatic"), float(np.arctan2(R[2, 1], R[2, 2])))
        for name, unit, x, y in zip(("mu", "sigma", "alpha"), ("", "", "rad"), (mu, sigma, alpha), ours, strict=True):
            made.append(Entry("table 1", f"{name} of joint {j}", x, y, unit))
    for j, row in printed["table_3"].items():
        body, motor = frames[f"leg1/{j}"].body, mechanism.coordinates[frames[f"leg1/{j}"].v.start].inertia
        own = [("kg m²", n, body.I_rr[a, b]) for n, a, b in _INERTIA]
        own += [("kg m", n, x) for n, x in zip(("MX", "MY", "MZ"), body.MS_r, strict=True)]
        own += [("kg", "M", body.mass), ("kg" if j == "3" else "kg m²", "IA", motor)]
        for (unit, name, y), x in zip(own, row, strict=True):
            if x or float(y):
                made.append(Entry("table 3", f"{name} of link {j}", x, float(y), unit, _WHY.get((name, j), "")))
    words = (
        "The parameters of a leg as the equations have them; those that are zero in print and here are left out. As "
        "printed, links 2 and 3 are no bodies: XX of link 2 is less than MY²/M, that of link 3 less than MZ²/M."
    )
    return Section("Tables 1 and 3: the legs", words, tuple(made))


_WHY = {("IA", "3"): "printed in kg m², though the joint slides: kg"}


def _plate(model: Model, printed: Printed) -> Section:
    m = model.mechanism
    body = m.frames[m.platform or 0].body
    K, D = (np.diag(x.astype(float)) for x in (body.K_ee, body.D_ee))
    made = [Entry("section 6.1", "mass of the plate", printed["mass"], float(body.mass), "kg", "area of the hexagon's mesh")]
    for k, (w, k_e) in enumerate(zip(printed["frequencies"], printed["stiffness"], strict=True)):
        coarse = (
            "a coarse mesh in the paper: converged meshes are 8 to 9 % below" if k > 6 else "nu = 0.3 chosen; finer mesh"
        )
        made.append(Entry("table 2", f"frequency of mode {k + 7}", w, float(np.sqrt(K[k])), "rad/s", coarse))
        made.append(Entry("table 2", f"generalised stiffness of mode {k + 7}", k_e, float(K[k]), "1/s²", "the square of it"))
        zeta = float(D[k] / (2 * np.sqrt(K[k])))
        made.append(Entry("table 2", f"damping ratio of mode {k + 7}", printed["damping_ratio"], zeta))
    return Section("Table 2: modes of the free plate", "Modes are mass-normalised.", tuple(made))


def _pose(model: Model, printed: Printed) -> Section:
    q, made = posture(model), []
    places = {c.name: model.mechanism.frames[c.frame].q.start for c in model.mechanism.coordinates if "/" in c.name}
    for joint, unit in (("q1", "rad"), ("q2", "rad"), ("q3", "m")):
        for leg, x in enumerate(printed["table_4"][joint], 1):
            ours = float(q[places[f"leg{leg}/{joint}"]])
            made.append(Entry("table 4", f"{joint} of leg {leg}", x, ours, unit, "printed to three decimals"))
    words = "The platform undeformed in its first pose; b_j of the same table are the robot's base points."
    return Section("Table 4: joints at the first pose", words, tuple(made))


def _loop(record: Record) -> Section:
    """Figures 3 to 7."""
    unknown = "only drawn in the paper, and along another path"
    made = (
        Entry("figure 4", "largest force of an actuator", None, float(np.abs(record.tau).max()), "N", unknown),
        Entry("figure 5", "direct less wanted acceleration, at most", 0.0, float(np.abs(record.error).max()), "SI",
              "printed: almost zero; ours is rounding"),
        Entry("figure 3", "pose less wanted pose, at most", None, float(np.abs(record.pose_error).max()), "m, rad",
              "tolerance of the integration"),
        Entry("figure 3", "loops open by, at most", None, float(np.abs(record.closure).max()), "m", "rounding"),
        Entry("figure 6", "deformation at the origin, at most", None, float(1e3 * np.abs(record.displacement[:, -1]).max()),
              "mm", unknown),
        Entry("figure 7", "deformation at the attachments, at most", None,
              float(1e3 * np.abs(record.displacement[:, :-1]).max()), "mm", unknown),
    )  # fmt: skip
    words = (
        "The inverse model gives forces for the accelerations that the path wants at the present state; the direct model "
        "gives the accelerations under these forces, which are integrated (Dormand-Prince of order 8, 1e-9)."
    )
    return Section("The loop of inverse and direct model: figures 3 to 7", words, made, _figures(record))


def _figures(record: Record) -> tuple[Picture, ...]:
    t, legs = record.time, [f"leg {k + 1}" for k in range(6)]
    worst = np.abs(record.error).max(axis=1) + 1e-18
    return (
        over_time("Figure 4", "Forces of the actuators.", t, [("N", dict(zip(legs, record.tau.T, strict=True)))]),
        over_time("Figure 5", "Accelerations of the platform by the direct model, and less the wanted ones.", t,
                  [("m/s²", dict(zip("xyz", record.acceleration[:, :3].T, strict=True))),
                   ("rad/s²", dict(zip("xyz", record.acceleration[:, 3:].T, strict=True))),
                   ("largest of six (SI)", {"direct less wanted": worst})], log=(2,)),
        over_time("Figure 6", "Deformation at the platform's origin, in its axes.", t,
                  [("mm", dict(zip("xyz", 1e3 * record.displacement[:, -1].T, strict=True))),
                   ("mrad", dict(zip("xyz", 1e3 * record.rotation[:, -1].T, strict=True)))]),
        over_time("Figure 7", "Deformation along z at the attachments.", t,
                  [("mm", dict(zip(legs, 1e3 * record.displacement[:, :6, 2].T, strict=True)))]),
    )  # fmt: skip
