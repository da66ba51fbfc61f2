"""PacDrive (Vidoni, Gasparetto, Boscariol & Giovagnoni 2012): what the paper says of it, and two of its spanning trees."""

from __future__ import annotations

import numpy as np
import pytest

from supple.analyses.modes import modes
from supple.formulations.erls_compatible import erls_compatible
from supple.formulations.newton_euler import newton_euler
from supple.machine import Machine, locate
from supple.model.model import Model
from supple.model.posture import posture
from supple.robot.assemble import assemble
from supple.robot.reader import describe_text

# Table 2: links by their starting and ending joints, as a tree that starts links 6 and 7 where the paper does.
OTHER_TREE = """
links:
  '1': {parent: base, at: [-base/2, 0, 0], joint: revolute, q: q1, body: arm}
  '2': {parent: base, at: [base/2, 0, 0], joint: revolute, q: q2, body: arm}
  '3': {parent: '1', on: end, joint: revolute, q: q3, body: forearm}
  '4': {parent: '2', on: end, joint: revolute, q: q4, body: forearm}
  '6': {parent: base, at: [base/2, side, 0], joint: revolute, q: q6, body: guide_arm}
  '7': {parent: '6', on: end, joint: revolute, q: q7, body: side}
  '8': {parent: '2', on: end, joint: revolute, q: q8, body: side}
  '9': {parent: '8', on: end, joint: revolute, q: q9, body: side}
  '10': {parent: '8', on: end, joint: revolute, q: q10, body: guide}
  '11': {parent: '10', on: end, joint: revolute, q: q11, body: side}
  '5': {parent: '11', on: end, rotate: {z: -60 deg}, body: tool}
closures:
  joint4: {joint: revolute, from: {link: '2', on: end}, to: {link: '7', on: end}}
  joint5: {joint: revolute, from: {link: '3', on: end}, to: {link: '4', on: end}}
  joint5b: {joint: revolute, from: {link: '3', on: end}, to: {link: '11', on: end}}
  joint7: {joint: revolute, from: {link: '6', on: end}, to: {link: '9', on: end}}
actuators: {q1: {}, q2: {}}
points:
  tip: {link: '5', on: end}
assembly:
  down: {q1: -140 deg, q2: -40 deg, q3: 80 deg, q4: -80 deg, q6: -40 deg, q7: -50 deg, q8: -170 deg, q9: -120 deg,
         q10: 90 deg, q11: 90 deg}
home: {q1: -140 deg, q2: -40 deg}
"""


def test_mass_and_freedom() -> None:
    """Table 1: eleven prisms of density 7840 kg/m^3; two rigid degrees of freedom."""
    model = Machine.read("pacdrive").model()
    volume = (2 * 0.2 + 2 * 0.5) * 6e-4 + 0.05 * 3e-4 + (0.2 + 4 * 0.07 + 0.5) * 2e-4
    assert sum(float(f.body.mass) for f in model.mechanism.frames) == pytest.approx(7840 * volume)
    rigid = Machine.read("pacdrive").model(rigid=True)
    assert rigid.nv - np.linalg.matrix_rank(rigid.jacobian(posture(rigid))) == 2


@pytest.mark.parametrize(("q1", "q2"), [(-170, -10), (-140, -40), (-100, -60), (-150, -80)])
def test_the_tool_stays_upright(q1: float, q2: float) -> None:
    """Link 5-11 is always at 150 degrees in the base, so the tool is perpendicular to the ground, in any posture."""
    model = Machine.read("pacdrive").model()
    q = posture(model, {"q1": np.radians(q1), "q2": np.radians(q2)})
    points = model.call("points", q=q)
    assert points["rotation"][0][:, 0] == pytest.approx([0, -1, 0], abs=1e-12)
    assert points["position"][0] - points["position"][1] == pytest.approx([0, -0.05, 0], abs=1e-12)


@pytest.mark.parametrize("method", [newton_euler, erls_compatible])
def test_the_choice_of_the_tree_does_not_matter(method: object) -> None:
    """Bodies clamped at other ends, loops closed by other joints: without weight the frequencies are the same."""
    text = locate("pacdrive").read_text(encoding="utf-8")
    other = text[: text.index("links:\n")] + OTHER_TREE
    models = [
        Model(method(assemble(describe_text(x, "pacdrive.yaml", {"gravity": 0})))) for x in (text, other)  # type: ignore[operator]
    ]  # fmt: skip
    one, two = (modes(m).frequencies_hz for m in models)
    assert one == pytest.approx(two, rel=1e-8)


def test_default_settings_keep_the_energy() -> None:
    """Torques that jump on arms that are free: with Newton's method too loose, forces out of balance add up."""
    from supple.backends.stepping.settings import Settings
    from supple.simulation.integrate import integrate
    from supple.simulation.simulator import simulator

    made = simulator(Machine.read("pacdrive"), "pick_and_place", duration=0.4)
    found, wanted = integrate(made, Settings()), integrate(made, Settings(method="gauss"))
    assert found.summary["energy_balance_error"] < 5e-3
    assert abs(found["position:q1"][-1] - wanted["position:q1"][-1]) < 2e-3
