"""How many operations the models take: after each pass, beside published counts, and as robots grow.

Operations are + - * / and negation; sine, cosine and root are listed apart. Robot constants are numbers here; published
counts may have kept them as symbols and counted other outputs, so they give a scale and no contest.
"""

from __future__ import annotations

import numpy as np
from timing import show

from supple.expr.function import Function
from supple.expr.passes import optimise
from supple.formulations.least_constraint.articulated import forward_model, inverse_model
from supple.machine import Machine
from supple.models import builder
from supple.robot.assemble import assemble
from supple.robot.mechanism import Mechanism
from supple.robot.reader import describe_text

PAPER = "1287 + -, 1555 * / (2842) and 1041 intermediates"  # Briot & Khalil 2014
PUBLISHED = {"SCDD": 192 + 80 + 432 + 38, "L-D'A": 670 + 302 + 2482 + 36}  # Stachera & Schumacher 2008, table 2

FIVE_BAR = """
name: rigid_five_bar
space: planar
gravity: [0, -9.81, 0]
bodies:
  crank: {rigid: {mass: 0.4, first_moments: [0.06, 0.002, 0], inertia_at_origin: {zz: 0.013}}}
  coupler: {rigid: {mass: 0.3, first_moments: [0.07, 0.003, 0], inertia_at_origin: {zz: 0.017}}}
legs:
  arm:
    count: 2
    vary: {side: [-1, 1]}
    links:
      crank: {parent: base, at: [side*0.1, 0, 0], joint: revolute, q: q1, body: crank}
      coupler: {parent: crank, at: [0.3, 0, 0], joint: revolute, q: q2, body: coupler}
    actuators: {q1: {inertia: 0.002, viscous: 0.05}}
closures:
  tool: {joint: revolute, from: {link: arm1/coupler, at: [0.4, 0, 0]}, to: {link: arm2/coupler, at: [0.4, 0, 0]}}
"""

# The legs of the gallery's gough_stewart with flexible rods, on circles; turned by 0.1 so that no cosine is zero.
STEWART = """
name: stewart
space: spatial
gravity: [0, 0, -9.81]
materials: {steel: {E: 210 GPa, rho: 7800 kg/m^3, nu: 0.3}}
sections: {rod: {circle: {diameter: 40 mm}}}
bodies:
  hip: {rigid: {mass: 3.176, inertia_at_origin: {zz: 5.11}}}
  cylinder: {rigid: {mass: 30.176, first_moments: [4.29, -12.628, 0],
                     inertia_at_origin: {xx: 4.823, yy: 0.945, zz: 5.11, xy: 0.215}, unphysical: allowed}}
  rod: {beam: {length: 0.5 m, section: rod, material: steel, elements: ELEMENTS}}
  plate: {rigid: {mass: 73.069, inertia: {xx: 3.8, yy: 3.8, zz: 7.6}}}
platform: {body: plate, at: [0, 0, 1]}
legs:
  leg:
    count: LEGS
    links:
      '1': {a: base, sigma: 0, gamma: 2*pi*i/n + 0.1, alpha: -pi/2, d: 0.8, q: q1, body: hip}
      '2': {a: '1', sigma: 0, alpha: pi/2, q: q2, body: cylinder}
      '3': {a: '2', mu: 1, sigma: 1, alpha: pi/2, q: q3}
      rod: {parent: '3', rotate: {y: -pi/2}, body: rod}
    closures:
      ball:
        joint: spherical
        from: {link: platform, at: [0.5*cos(2*pi*i/n + 0.1), 0.5*sin(2*pi*i/n + 0.1), 0]}
        to: {link: rod, on: end}
    actuators: {q3: {inertia: 45.89 kg}}
"""


def stewart(legs: int, elements: int) -> Mechanism:
    text = STEWART.replace("LEGS", str(legs)).replace("ELEMENTS", str(elements))
    return assemble(describe_text(text, "stewart.yaml"))


def passes(name: str, f: Function) -> None:
    """The size of a model as derived and after each pass that changed it."""
    rows, last = [], -1
    for stage in optimise(f).stages:
        if stage.operations != last:
            c, last = stage.counts, stage.operations
            rows.append([stage.name.replace("given", "as derived"), stage.operations, c["add"] + c["sub"] + c["neg"],
                         c["mul"], c["div"], c["sin"] + c["cos"], c["sqrt"], stage.intermediates])  # fmt: skip
    show(name, ["", "operations", "+ -", "*", "/", "sin cos", "root", "intermediates"], rows)


def growth(title: str, sizes: list[int], counts: list[int]) -> None:
    """A table of counts and the exponent p of counts - constant ~ size^p.

    The line through the first two sizes gives the constant, so only the later ones test p; the differences assume nothing.
    One element has no inner node and costs less than the rule: sizes from two on are fitted.
    """
    n, c = (np.array(x[sizes[0] == 1 :]) for x in (sizes, counts))
    constant = c[0] - n[0] * (c[1] - c[0]) / (n[1] - n[0])
    exponent = np.polyfit(np.log(n), np.log(c - constant), 1)[0]
    steps = ["", *(f"{x:.0f}" for x in np.diff(counts) / np.diff(sizes))]
    show(
        f"inverse model as derived: {title}; constant part {constant:.0f}, exponent {exponent:.3f}",
        ["", "operations", "each one more"],
        zip(sizes, counts, steps, strict=True),
    )


def stiffened() -> None:
    """Models of flexible robots of papers with and without the work of axial loads on bending."""
    rows = []
    models = {"mass": builder("mass"), "inverse": inverse_model, "forward": forward_model}
    for robot, wanted in (
        ("dualemps", models),
        ("pacdrive", {"inverse": inverse_model}),
        ("surgiscope", {"inverse": inverse_model}),
    ):
        for name, make in wanted.items():
            for setting in ("second_order", "none"):
                f = make(Machine.read(robot, {"stiffening": setting}).mechanism())
                small = optimise(f).stages[-1].operations if robot == "dualemps" else ""
                rows.append([f"{robot} {name}", setting, f.operations, small])
    show("stiffening of beams under axial load", ["", "stiffening", "as derived", "optimised"], rows)


def main() -> None:
    stiffened()
    dualemps = Machine.read("dualemps").mechanism()
    passes(f"DualEMPS, inverse model; the paper: {PAPER}", inverse_model(dualemps))
    passes("DualEMPS, forward model", forward_model(dualemps))
    published = ", ".join(f"{name} {count}" for name, count in PUBLISHED.items())
    passes(f"rigid five-bar, forward model; published: {published}",
           forward_model(assemble(describe_text(FIVE_BAR, "five_bar.yaml"))))  # fmt: skip

    legs, elements = [3, 4, 6, 8], [1, 2, 4, 8]
    growth("Stewart robot, legs", legs, [inverse_model(stewart(n, 1)).operations for n in legs])
    growth("Stewart robot, elements in each of six rods", elements,
           [inverse_model(stewart(6, n)).operations for n in elements])  # fmt: skip
    growth("DualEMPS, elements a blade", elements,
           [inverse_model(Machine.read("dualemps", {"elements": n}).mechanism()).operations for n in elements])  # fmt: skip


if __name__ == "__main__":
    main()
