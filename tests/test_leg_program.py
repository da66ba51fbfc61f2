"""One leg's code for all legs: the same numbers as the model written out, code that does not grow, linear cost."""

from __future__ import annotations

import ctypes
import subprocess
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from closed_states import closed_state

from supple import models
from supple.backends.compiler import find_compiler
from supple.backends.interpreter import interpret
from supple.backends.program import run, source
from supple.expr.program import Program
from supple.formulations.least_constraint.leg_program import leg_program
from supple.formulations.record import Unsupported
from supple.formulations.tree.identical_legs import Varying
from supple.machine import GALLERY, Machine
from supple.model.model import Model
from supple.robot.assemble import assemble
from supple.robot.mechanism import Mechanism
from supple.robot.reader import describe_text

ROBOTS = ["3rrr", "gough_stewart", "delta", "surgiscope"]

LEGS = """
name: legs
space: spatial
gravity: [0, 0, -9.81]
materials: {{aluminium: {{E: 70 GPa, rho: 2700 kg/m^3, nu: 0.33}}}}
sections: {{rod: {{tube: {{diameter: 30 mm, wall: 2 mm}}}}}}
bodies:
  slider: {{rigid: {{mass: 1 kg}}}}
  rod: {{beam: {{length: 0.8, section: rod, material: aluminium, elements: {elements}}}}}
  plate: {{rigid: {{mass: 4 kg, inertia: {{xx: 0.05, yy: 0.06, zz: 0.1}}}}}}
platform: {{body: plate, at: [0, 0, 0.75]}}
legs:
  leg:
    count: {legs}
    links:
      slider: {{parent: base, at: [0.5*cos(2*pi*i/n + 0.1), 0.5*sin(2*pi*i/n + 0.1), 0], rotate: {{z: 2*pi*i/n + 0.1}},
               joint: prismatic, axis: z, q: q1, body: slider}}
      rod: {{parent: slider, joint: universal, axis: [y, z], q: [q2, q3], body: rod}}
    closures:
      ball:
        joint: spherical
        from: {{link: platform, at: [0.2*cos(2*pi*i/n + 0.3), 0.2*sin(2*pi*i/n + 0.3), 0]}}
        to: {{link: rod, on: end}}
    actuators: {{q1: {{inertia: 2 kg}}}}
assembly: {{up: {{leg/q2: -115 deg}}}}
"""


def robot(legs: int, elements: int = 1) -> Mechanism:
    return assemble(describe_text(LEGS.format(legs=legs, elements=elements), "legs.yaml"))


@cache
def inverse_program(legs: int, elements: int = 1) -> Program:
    return leg_program(robot(legs, elements), forward=False)


@cache
def loaded(name: str) -> Model:
    return Machine.read(name).model()


@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_the_program_says_what_the_model_says(name: str, forward: bool) -> None:
    model = loaded(name)
    state = closed_state(model, 2)
    given = {"q": state.q, "v": state.v, "g": model.gravity}
    given["tau" if forward else "a_active"] = np.linspace(1, 2, len(model.active))
    written_out = (models.forward if forward else models.inverse)(model.mechanism)
    true, found = interpret(written_out)(**given), run(leg_program(model.mechanism, forward), **given)
    for key, value in true.items():
        assert np.abs(found[key] - value).max() <= 1e-12 * np.abs(value).max()


@pytest.mark.parametrize("name", ROBOTS)
def test_the_program_costs_hardly_more(name: str) -> None:
    """Numbers that differ between legs are inputs instead of constants; that is all the price."""
    mechanism = loaded(name).mechanism
    assert leg_program(mechanism, False).operations <= 1.1 * models.inverse(mechanism).operations


def test_operations_grow_linearly_with_the_legs_and_code_does_not_grow() -> None:
    counts = np.array([3, 4, 6, 8])
    operations = np.array([inverse_program(int(n)).operations for n in counts])
    per_leg = np.diff(operations) / np.diff(counts)
    assert np.all(per_leg == per_leg[0])
    slope = np.polyfit(np.log(counts), np.log(operations), 1)[0]
    assert slope <= 1.05
    sizes = np.array([len(source(inverse_program(int(n)))) for n in counts])
    assert sizes.max() <= 1.1 * sizes.min()


def test_operations_grow_linearly_with_the_elements_of_a_leg() -> None:
    counts = np.array([1, 2, 4, 8])
    operations = np.array([inverse_program(3, int(n)).operations for n in counts])
    slope = np.polyfit(np.log(counts), np.log(operations), 1)[0]
    assert slope <= 1.05
    later = np.diff(operations)[1:] / np.diff(counts)[1:]
    assert later[1] <= 1.02 * later[0]


def test_operations_do_not_depend_on_how_elements_round() -> None:
    """Legs that hang on a shear-flexible beam's end, whose shape functions round there: nearly as many operations more for
    every four elements (some numbers are equal by chance); without full damping, which grows with their square."""
    text = (GALLERY / "delta.yaml").read_text(encoding="utf-8").replace("damping: {modal: 0.01}\n", "")
    made = [leg_program(Machine.parse(text, {"elements": str(n)}).mechanism(), False).operations for n in (12, 16, 20, 24)]
    more = np.diff(made)
    assert more.max() <= 1.02 * more.min()


@pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
def test_its_c_is_clean_and_says_the_same(tmp_path: Path) -> None:
    model = loaded("gough_stewart")
    program, state = leg_program(model.mechanism, False), closed_state(model, 4)
    (tmp_path / "inverse.c").write_text(source(program), encoding="utf-8")
    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    compiler = list(find_compiler() or ())
    subprocess.run([*compiler, *strict, "inverse.c", "-o", "inverse.so", "-lm"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "inverse.so"))
    a = np.linspace(1, 2, len(model.active))
    arrays = [np.ascontiguousarray(x, dtype=float) for x in (state.q, state.v, a, model.gravity)]
    tau, elastic = np.zeros(6), np.zeros(6)
    library.inverse(*(x.ctypes.data_as(ctypes.c_void_p) for x in (*arrays, tau, elastic)))
    true = run(program, q=state.q, v=state.v, a_active=a, g=model.gravity)
    np.testing.assert_allclose(tau, true["tau"], rtol=1e-12)
    np.testing.assert_allclose(elastic, true["a_elastic"], rtol=1e-12)


@pytest.mark.parametrize("name", ["dualemps", "five_bar", "cantilever", "bricard"])
def test_robots_without_identical_legs_and_platform_say_so(name: str) -> None:
    with pytest.raises(Unsupported):
        leg_program(loaded(name).mechanism, forward=False)


def test_arrays_of_legs_are_unified_entry_by_entry() -> None:
    """Numbers that are equal stay, those that differ become symbols in their order, as entry by entry."""
    rows = [np.array([[1, 0.5], [Fraction(1, 3), x]], dtype=object) for x in (2.0, 3.0, -1.0)]
    varying = Varying(3)
    made = varying.unified(rows)
    assert made[0, 0] == 1 and made[0, 1] == 0.5 and made[1, 0] == Fraction(1, 3)
    assert list(varying.rows) == [(2.0, 3.0, -1.0)]
    assert made[1, 1] is varying.rows[(2.0, 3.0, -1.0)]
