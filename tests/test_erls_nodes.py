"""Nodes of the ERLS and their numbering, and parameters that stay symbols in its equations."""

from __future__ import annotations

import numpy as np
import pytest
from erls_robots import FIVE_BAR, METHODS, made, robot

from supple.backends.interpreter import interpret
from supple.expr.function import parameters
from supple.formulations.erls_compatible import erls_compatible
from supple.formulations.rigid_links.nodes import nodal_displacements, nodes
from supple.machine import Machine
from supple.model.equilibrium import equilibrium
from supple.model.posture import posture
from supple.robot.assemble import assemble
from supple.robot.reader import describe_text


@pytest.mark.parametrize(("name", "inner"), [("pacdrive", 54), ("five_bar", 12)])
def test_nodal_displacements_are_as_many_as_motions(name: str, inner: int) -> None:
    """Vidoni et al.: shared displacements of joint nodes, turns of all links there and three freedoms of each inner node,
    less one per generalised coordinate of the ERLS and plus those: the number of motions of the flexible robot."""
    model = robot(name, erls_compatible)
    numbered = {k for node in nodes(model.mechanism) for k in (*node.numbers, *(k for row in node.turns for k in row))}
    assert numbered == set(range(len(numbered)))
    assert len(numbered) + inner == model.nv - model.mechanism.equations


def test_axes_of_joint_nodes() -> None:
    """The rule for the axes of a joint: the first link that starts there, else the first that ends there (PacDrive)."""
    frames = Machine.read("pacdrive").mechanism().frames
    found = {
        frozenset(frames[k].name for k in (*node.starting, *node.ending)): frames[node.axes].name
        for node in nodes(Machine.read("pacdrive").mechanism())
    }
    assert found[frozenset({"1", "3"})] == "3"
    assert found[frozenset({"2", "4", "7", "8"})] == "4"
    assert found[frozenset({"3", "4", "5", "11"})] == "5"
    assert found[frozenset({"1"})] == "1"
    assert len(found) == 10


def test_nodal_displacements_are_differences_of_places() -> None:
    """u of the tip in its node's axes is the way from where the rigid robot has it; turns of rigid motion are zero."""
    model = robot("pacdrive", erls_compatible)
    f = interpret(nodal_displacements(model.mechanism))
    rigid = posture(model)
    bent = equilibrium(model, rigid).q
    assert np.abs(f(q=rigid, rigid=rigid)["u"]).max() < 1e-15
    found = f(q=bent, rigid=rigid)
    here, there = (model.call("points", q=q)["position"][0] for q in (bent, rigid))
    tips = [k for k, node in enumerate(nodes(model.mechanism)) if node.name == "5"]
    assert len(tips) == 1
    assert np.linalg.norm(found["u"][tips[0]]) == pytest.approx(np.linalg.norm(here - there), rel=1e-12)
    assert np.linalg.norm(here - there) > 1e-4


def test_kept_parameters() -> None:
    """Young's modulus as an input of the equations."""
    E = parameters(["E"])
    for method in METHODS.values():
        equations = method(assemble(describe_text(FIVE_BAR, "test.yaml", {"E": E[0]})))
        f = interpret(equations.forces)
        q = np.linspace(-0.01, 0.01, equations.mechanism.nq)
        given = {k: np.zeros(x.shape) for k, x in f.function.inputs.items()} | {"q": q}
        for value in (1e9, 3e9):
            true = made(method, FIVE_BAR, E=value).call("forces", q=q, g=np.zeros(3))["f"]
            assert f(**given | {"p": np.array([value])})["f"] == pytest.approx(true, rel=1e-12)
