"""Robots of the ERLS tests, made by a formulation."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import test_laws as laws

from supple.formulations.erls import erls
from supple.formulations.erls_compatible import erls_compatible
from supple.machine import Machine, gallery
from supple.model.model import Model
from supple.robot.assemble import assemble
from supple.robot.reader import describe_text

METHODS = {"erls": erls, "erls_compatible": erls_compatible}

# A small five-bar with flexible arms, heavy damping and, if asked, elastic joints.
FIVE_BAR = """
space: planar
gravity: [0, -gravity, 0]
parameters:
  gravity: {value: 9.81 m/s^2}
  E: {value: 2 GPa}
  beta: {value: 20 ms}
  k: {value: 1e9 N/m}
materials: {m: {E: E, rho: 2700 kg/m^3}}
sections: {s: {rectangle: {y: 10 mm, z: 20 mm}}}
damping: {rayleigh: {alpha: 0, beta: beta}}
bodies:
  crank: {beam: {length: 0.3, section: s, material: m, elements: 1}}
  coupler: {beam: {length: 0.4, section: s, material: m, elements: 1}}
  tool: {rigid: {mass: 0.2}}
links:
  a1: {parent: base, at: [-0.1, 0, 0], joint: revolute, q: q1, body: crank}
  a2: {parent: a1, on: end, joint: revolute, q: q2, body: coupler}
  tool: {parent: a2, on: end, body: tool}
  b1: {parent: base, at: [0.1, 0, 0], joint: revolute, q: q3, body: crank}
  b2: {parent: b1, on: end, joint: revolute, q: q4, body: coupler}
closures:
  tool: {joint: revolute, from: {link: tool}, to: {link: b2, on: end}}
actuators: {q1: {inertia: 0.01, viscous: 0.1}, q3: {inertia: 0.01, viscous: 0.1}}
points: {tool: {link: tool}}
assembly:
  up: {q1: 130 deg, q2: -75 deg, q3: 50 deg, q4: 75 deg}
home: {q1: 130 deg, q3: 50 deg}
"""
SPRUNG = (
    FIVE_BAR.replace("joint: revolute, q: q2", "joint: revolute, stiffness: {x: k, y: k}, q: q2")
    .replace("joint: revolute, q: q4", "joint: revolute, stiffness: {x: k, y: k}, q: q4")
    .replace("tool: {joint: revolute, from", "tool: {joint: revolute, stiffness: {x: k, y: k}, from")
)


def made(method: Any, text: str, **settings: Any) -> Model:
    return Model(method(assemble(describe_text(text, "test.yaml", settings))))


@lru_cache(maxsize=6)
def robot(name: str, method: Any) -> Model:
    """A robot of the gallery or of the laws, by a formulation."""
    kind, _, joint = name.rpartition("closing ")
    if name in gallery():
        return Model(method(Machine.read(name).mechanism()))
    lay = "y: 90 deg" if "p" in joint else ""
    text = laws.PLANAR_CLOSING_ROBOT.format(joint=joint, lay=lay) if kind else laws.CLOSING_ROBOT.format(joint=joint)
    return made(method, text)
