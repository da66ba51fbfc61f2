# ruff: noqa: E501
"""Unusual robots: every generated model equals the general solution, or says why there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from closed_states import closed_state
from robots import build

from supple import models
from supple.analyses.modes import modes
from supple.backends.interpreter import interpret
from supple.backends.program import run
from supple.errors import PoseError, SuppleError
from supple.expr.function import Function, parameters
from supple.formulations.least_constraint.composite import independent_names
from supple.formulations.least_constraint.leg_program import leg_program
from supple.formulations.tree.undriven import undriven
from supple.robot.assemble import assemble
from supple.robot.reader import describe_text

# fmt: off
ROBOTS = {
    "spherical joint with friction": """
space: spatial
gravity: [1, -9, 3]
bodies:
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  l1: {parent: base, joint: revolute, axis: y, q: q1, body: b}
  l2: {parent: l1, at: [0.3,0.1,0.05], rotate: {x: 1}, joint: spherical, q: s, body: b, friction: {viscous: 0.5, coulomb: 0.2}}
  l3: {parent: l2, at: [0.2,-0.1,0.1], rotate: {y: 0.5}, joint: revolute, axis: y, q: q3, body: b, friction: {viscous: 0.4}}
actuators:
  q1: {inertia: 0.01}
""",
    "undriven joint in a rigid chain": """
space: spatial
gravity: [1, -9, 3]
bodies:
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  l1: {parent: base, joint: revolute, axis: z, q: q1, body: b, friction: {viscous: 0.3, coulomb: 0.2}}
  l2: {parent: l1, at: [0.3,0.1,0.05], rotate: {x: 1}, joint: revolute, axis: [1,1,0], q: q2, body: b, friction: {viscous: 0.2, coulomb: 0.1}}
  l3: {parent: l2, at: [0.2,-0.1,0.1], rotate: {y: 0.5}, joint: revolute, axis: y, q: q3, body: b}
actuators:
  q1: {inertia: 0.01, gear: 3, viscous: 0.2, coulomb: 0.3}
  q3: {inertia: 0.03, viscous: 0.1, coulomb: 0.3, width: 0}
""",
    "nothing driven": """
space: spatial
gravity: [1, -9, 3]
bodies:
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  l1: {parent: base, joint: revolute, axis: y, q: q1, body: b}
  l2: {parent: l1, at: [0.3,0.1,0.05], joint: universal, q: [u1,u2], body: b, friction: {viscous: 0.5}}
  l3: {parent: l2, at: [0.3,0.1,0.05], joint: spherical, q: t, body: b}
""",
    "joint on a torsion spring": """
space: spatial
gravity: [1, -9, 3]
bodies:
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  l1: {parent: base, joint: revolute, axis: z, q: q1, body: b, friction: {viscous: 0.3, coulomb: 0.2}}
  l2: {parent: l1, at: [0.3,0.1,0.05], rotate: {x: 1}, joint: revolute, axis: z, q: q2, body: b, friction: {viscous: 0.2, coulomb: 0.1}, stiffness: {rx: 30, ry: 40}, damping: {rx: 3, ry: 4}}
actuators:
  q1: {inertia: 0.01}
  q2: {viscous: 0.1}
""",
    "oblique torsion spring": """
space: spatial
gravity: [1, -9, 3]
bodies:
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  l1: {parent: base, joint: revolute, axis: z, q: q1, body: b, friction: {viscous: 0.3, coulomb: 0.2}}
  l2: {parent: l1, at: [0.3,0.1,0.05], rotate: {x: 1}, joint: revolute, axis: y, q: q2, body: b, friction: {viscous: 0.2, coulomb: 0.1}, stiffness: {rz: 50}, damping: {rz: 5}}
actuators:
  q1: {inertia: 0.01}
  q2: {inertia: 0.02, viscous: 0.1}
""",
    "spring in x, y and z": """
space: spatial
gravity: [1, -9, 3]
bodies:
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  l1: {parent: base, joint: revolute, axis: z, q: q1, body: b, friction: {viscous: 0.3, coulomb: 0.2}}
  l2: {parent: l1, at: [0.3,0.1,0.05], rotate: {x: 1}, joint: revolute, axis: [1,1,1], q: q2, body: b, friction: {viscous: 0.2, coulomb: 0.1}, stiffness: {x: 1e4, y: 1e4, z: 2e4}, damping: {x: 1, y: 1, z: 2}}
actuators:
  q1: {inertia: 0.01}
  q2: {inertia: 0.02, viscous: 0.1}
""",
    "joints turned on one node": """
space: spatial
gravity: [1, -9, 3]
materials:
  m: {E: 5 GPa, rho: 2000}
sections:
  s: {rectangle: {y: 20 mm, z: 30 mm}}
damping: {rayleigh: {alpha: 0.5, beta: 1e-4}}
bodies:
  k: {beam: {length: 0.4, section: s, material: m, elements: 2}}
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  l1: {parent: base, joint: revolute, axis: y, q: q1, body: k}
  l2: {parent: l1, on: end, rotate: {x: 0.3}, joint: revolute, axis: x, q: q2, body: b, friction: {viscous: 0.3, coulomb: 0.1}}
  l3: {parent: l1, on: end, rotate: {y: 0.7}, joint: revolute, axis: z, q: q3, body: k, friction: {viscous: 0.3, coulomb: 0.1}}
actuators:
  q1: {inertia: 0.01}
  q3: {inertia: 0.02}
""",
    "slider to the base": """
space: spatial
gravity: [1, -9, 3]
bodies:
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  x: {parent: base, joint: prismatic, axis: x, q: x, body: {rigid: {mass: 0.3}}}
  y: {parent: x, joint: prismatic, axis: y, q: y, body: {rigid: {mass: 0.3}}}
  z: {parent: y, joint: prismatic, axis: z, q: z, body: {rigid: {mass: 0.3}}}
  a: {parent: z, joint: spherical, q: turn, body: b, friction: {viscous: 0.1}}
actuators:
  x: {inertia: 0.01, viscous: 0.2, coulomb: 0.3}
closures:
  end:
    joint: cylindrical
    from: {link: a, at: [0.2, 0.05, 0.01], rotate: [{x: 0.3}, {y: 0.4}]}
    to: {link: base, at: [0.2,0.05,0.01], rotate: [{x: 0.3}, {y: 0.4}]}
""",
    "point on a line of the base": """
space: spatial
gravity: [1, -9, 3]
bodies:
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  x: {parent: base, joint: prismatic, axis: x, q: x, body: {rigid: {mass: 0.3}}}
  y: {parent: x, joint: prismatic, axis: y, q: y, body: {rigid: {mass: 0.3}}}
  z: {parent: y, joint: prismatic, axis: z, q: z, body: {rigid: {mass: 0.3}}}
  a: {parent: z, joint: spherical, q: turn, body: b, friction: {viscous: 0.1}}
actuators:
  x: {inertia: 0.01, viscous: 0.2, coulomb: 0.3}
closures:
  end:
    joint: point_on_line
    from: {link: base, at: [0.2, 0.05, 0.01], rotate: [{x: 0.3}, {y: 0.4}]}
    to: {link: a, at: [0.2,0.05,0.01], rotate: [{x: 0.3}, {y: 0.4}]}
""",
    "beam tied to the base": """
space: spatial
gravity: [1, -9, 3]
materials:
  m: {E: 5 GPa, rho: 2000}
sections:
  s: {rectangle: {y: 20 mm, z: 30 mm}}
damping: {rayleigh: {alpha: 0.5, beta: 1e-4}}
bodies:
  k: {beam: {length: 0.4, section: s, material: m, elements: 2}}
  b: {rigid: {mass: 1.3, centre: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.002, xz: -0.001, yz: 0.003}}}
links:
  x: {parent: base, joint: prismatic, axis: x, q: x, body: {rigid: {mass: 0.3}}}
  y: {parent: x, joint: prismatic, axis: y, q: y, body: {rigid: {mass: 0.3}}}
  z: {parent: y, joint: prismatic, axis: z, q: z, body: b}
  a: {parent: z, joint: spherical, q: turn, body: k, friction: {viscous: 0.1}}
actuators:
  x: {inertia: 0.01, viscous: 0.2, coulomb: 0.3}
closures:
  end:
    joint: spherical
    from: {link: a, on: end, at: [0.01, 0.05, 0.01], rotate: [{x: 0.3}, {y: 0.4}]}
    to: {link: base, at: [0.41,0.05,0.01], rotate: [{x: 0.3}, {y: 0.4}]}
""",
    "two loops share a joint": """
space: planar
gravity: [1,-9,0]
materials:
  m: {E: 5 GPa, rho: 2000}
sections:
  s: {rectangle: {y: 20 mm, z: 30 mm}}
bodies:
  k: {beam: {length: 0.3, section: s, material: m}}
  b: {rigid: {mass: 1, centre: [0.15,0.01,0], inertia: {zz: 0.01}}}
links:
  a: {parent: base, joint: revolute, q: q1, body: k}
  c: {parent: a, on: end, joint: revolute, q: q2, body: b}
  d: {parent: base, at: [0.5,0,0], joint: revolute, q: q3, body: b}
  e: {parent: base, at: [0.8,0,0], joint: revolute, q: q4, body: b}
closures:
  e: {joint: revolute, from: {link: c, at: [0.5,0,0]}, to: {link: d, at: [0.3,0,0]}}
  f: {joint: revolute, from: {link: c, at: [0.8,0,0]}, to: {link: e, at: [0.3,0,0]}}
actuators: {q1: {inertia: 0.01}}
assembly: {a: {q1: 90 deg, q2: -90 deg, q3: 90 deg, q4: 90 deg}}
""",
    "platform tied to the base": """
space: planar
gravity: [1,-9,0]
parameters: {R: 0.5, rp: 0.1, la: 0.3, lb: 0.3, n0: 4}
materials:
  m: {E: 5 GPa, rho: 2000}
sections:
  s: {rectangle: {y: 20 mm, z: 30 mm}}
bodies:
  crank: {rigid: {mass: 1, centre: [0.15,0.01,0], inertia: {zz: 0.01}}}
  rod: {beam: {length: lb, section: s, material: m}}
  plate: {rigid: {mass: 1.2, centre: [0.01,0.02,0], inertia: {zz: 0.02}}}
platform: {body: plate, at: [0,0,0]}
legs:
  leg:
    count: 3
    links:
      crank: {parent: base, at: [R*cos(2*pi*(i-1)/n), R*sin(2*pi*(i-1)/n), 0], rotate: {z: 2*pi*(i-1)/n + pi}, joint: revolute, q: q, body: crank, friction: {viscous: 0.1}}
      rod: {parent: crank, at: [la,0,0], joint: revolute, q: h, body: rod, friction: {viscous: 0.2, coulomb: 0.3, width: 0}}
    closures:
      w: {joint: revolute, from: {link: platform, at: [rp*cos(2*pi*(i-1)/n), rp*sin(2*pi*(i-1)/n), 0]}, to: {link: rod, at: [lb,0,0]}}
    actuators:
      q: {inertia: 0.01, viscous: 0.1}
closures:
  rail: {joint: revolute, from: {link: base}, to: {link: platform}}
assembly: {a: {leg/q: 50 deg, leg/h: -90 deg}}
""",
    "platform that bends": """
space: planar
gravity: [1,-9,0]
parameters: {R: 0.5, rp: 0.1, la: 0.3, lb: 0.3, n0: 4}
materials:
  m: {E: 5 GPa, rho: 2000}
sections:
  s: {rectangle: {y: 20 mm, z: 30 mm}}
bodies:
  crank: {rigid: {mass: 1, centre: [0.15,0.01,0], inertia: {zz: 0.01}}}
  rod: {beam: {length: lb, section: s, material: m}}
  plate: {beam: {length: 0.2, start: [-0.1,0,0], elements: 2, section: s, material: m}}
platform: {body: plate, at: [0,0,0]}
legs:
  leg:
    count: 3
    links:
      crank: {parent: base, at: [R*cos(2*pi*(i-1)/n), R*sin(2*pi*(i-1)/n), 0], rotate: {z: 2*pi*(i-1)/n + pi}, joint: revolute, q: q, body: crank, friction: {viscous: 0.1}}
      rod: {parent: crank, at: [la,0,0], joint: revolute, q: h, body: rod, friction: {viscous: 0.2, coulomb: 0.3, width: 0}}
    closures:
      w: {joint: revolute, from: {link: platform, at: [rp*cos(2*pi*(i-1)/n), rp*sin(2*pi*(i-1)/n), 0]}, to: {link: rod, at: [lb,0,0]}}
    actuators:
      q: {inertia: 0.01, viscous: 0.1}
assembly: {a: {leg/q: 50 deg, leg/h: -90 deg}}
""",
    "spring in a closing joint": """
space: planar
gravity: [1,-9,0]
parameters: {R: 0.5, rp: 0.1, la: 0.3, lb: 0.3, n0: 4}
materials:
  m: {E: 5 GPa, rho: 2000}
sections:
  s: {rectangle: {y: 20 mm, z: 30 mm}}
bodies:
  crank: {rigid: {mass: 1, centre: [0.15,0.01,0], inertia: {zz: 0.01}}}
  rod: {beam: {length: lb, section: s, material: m}}
  plate: {rigid: {mass: 1.2, centre: [0.01,0.02,0], inertia: {zz: 0.02}}}
platform: {body: plate, at: [0,0,0]}
legs:
  leg:
    count: 3
    links:
      crank: {parent: base, at: [R*cos(2*pi*(i-1)/n), R*sin(2*pi*(i-1)/n), 0], rotate: {z: 2*pi*(i-1)/n + pi}, joint: revolute, q: q, body: crank, friction: {viscous: 0.1}}
      rod: {parent: crank, at: [la,0,0], joint: revolute, q: h, body: rod, friction: {viscous: 0.2, coulomb: 0.3, width: 0}}
    closures:
      w: {joint: revolute, stiffness: {x: 1e5, y: 1e5}, damping: {x: 10, y: 10}, from: {link: platform, at: [rp*cos(2*pi*(i-1)/n), rp*sin(2*pi*(i-1)/n), 0]}, to: {link: rod, at: [lb,0,0]}}
    actuators:
      q: {inertia: 0.01, viscous: 0.1}
assembly: {a: {leg/q: 50 deg, leg/h: -90 deg}}
""",
    "friction at the platform": """
space: planar
gravity: [1,-9,0]
parameters: {R: 0.5, rp: 0.1, la: 0.3, lb: 0.3, n0: 4}
materials:
  m: {E: 5 GPa, rho: 2000}
sections:
  s: {rectangle: {y: 20 mm, z: 30 mm}}
bodies:
  crank: {rigid: {mass: 1, centre: [0.15,0.01,0], inertia: {zz: 0.01}}}
  rod: {beam: {length: lb, section: s, material: m}}
  plate: {rigid: {mass: 1.2, centre: [0.01,0.02,0], inertia: {zz: 0.02}}}
platform: {body: plate, at: [0,0,0]}
legs:
  leg:
    count: 3
    links:
      crank: {parent: base, at: [R*cos(2*pi*(i-1)/n), R*sin(2*pi*(i-1)/n), 0], rotate: {z: 2*pi*(i-1)/n + pi}, joint: revolute, q: q, body: crank, friction: {viscous: 0.1}}
      rod: {parent: crank, at: [la,0,0], joint: revolute, q: h, body: rod, friction: {viscous: 0.2, coulomb: 0.3, width: 0}}
      tip: {parent: rod, at: [lb,0,0], joint: revolute, q: t, friction: {viscous: 0.3, coulomb: 0.2}}
    closures:
      w: {joint: fixed, from: {link: platform, at: [rp*cos(2*pi*(i-1)/n), rp*sin(2*pi*(i-1)/n), 0], rotate: {z: 2*pi*(i-1)/n + pi}}, to: {link: tip}}
    actuators:
      q: {inertia: 0.01, viscous: 0.1}
assembly: {a: {leg/q: 50 deg, leg/h: -90 deg, leg/t: 40 deg}}
""",
    "driven joint at the platform": """
space: planar
gravity: [1,-9,0]
parameters: {R: 0.5, rp: 0.1, la: 0.3, lb: 0.3, n0: 4}
materials:
  m: {E: 5 GPa, rho: 2000}
sections:
  s: {rectangle: {y: 20 mm, z: 30 mm}}
bodies:
  crank: {rigid: {mass: 1, centre: [0.15,0.01,0], inertia: {zz: 0.01}}}
  rod: {beam: {length: lb, section: s, material: m}}
  plate: {rigid: {mass: 1.2, centre: [0.01,0.02,0], inertia: {zz: 0.02}}}
platform: {body: plate, at: [0,0,0]}
legs:
  leg:
    count: 3
    links:
      crank: {parent: base, at: [R*cos(2*pi*(i-1)/n), R*sin(2*pi*(i-1)/n), 0], rotate: {z: 2*pi*(i-1)/n + pi}, joint: revolute, q: q, body: crank, friction: {viscous: 0.1}}
      rod: {parent: crank, at: [la,0,0], joint: revolute, q: h, body: rod, friction: {viscous: 0.2, coulomb: 0.3, width: 0}}
      tip: {parent: rod, at: [lb,0,0], joint: revolute, q: t, friction: {viscous: 0.3, coulomb: 0.2}}
    closures:
      w: {joint: fixed, from: {link: platform, at: [rp*cos(2*pi*(i-1)/n), rp*sin(2*pi*(i-1)/n), 0], rotate: {z: 2*pi*(i-1)/n + pi}}, to: {link: tip}}
    actuators:
      t: {viscous: 0.1}
assembly: {a: {leg/q: 50 deg, leg/h: -90 deg, leg/t: 40 deg}}
""",
}
LOOSE = """
space: planar
plane: xz
gravity: [1,0,-9]
bodies:
  b: {rigid: {mass: 1.3, centre: [0.1,0,0.02], inertia: {xx: 0.02, yy: 0.02, zz: 0.02}}}
links:
  c: {parent: base, joint: revolute, axis: "-y", q: q1, body: b}
  x: {parent: base, joint: prismatic, axis: x, q: x, body: {rigid: {mass: 0.2}}}
  y: {parent: x, joint: prismatic, axis: z, q: y, body: {rigid: {mass: 0.2}}, friction: {viscous: 0.1}}
  a: {parent: y, joint: revolute, axis: "-y", q: t, body: b, friction: {viscous: 0.1}}
actuators:
  q1: {inertia: 0.01, viscous: 0.2, coulomb: 0.3}
closures:
  end:
    joint: prismatic
    from: {link: c, at: [0.2,0,0.05], rotate: {}}
    to: {link: a, at: [0.2,0,0.05], rotate: {}}
"""
# fmt: on
WITHOUT = {  # robots that have no inverse and forward model, and a word of the reason
    "two loops share a joint": "rigid leg",
    "platform tied to the base": "ties the platform to the base",
}


def call(f: Function, **given: Any) -> dict[str, np.ndarray]:
    return dict(interpret(f)(**{k: given.get(k, np.zeros(a.shape)) for k, a in f.inputs.items()}))


def same(found: np.ndarray, true: np.ndarray, size: float = 1e-3) -> None:
    assert np.abs(found - true).max(initial=0.0) <= 1e-9 * max(np.abs(true).max(initial=0.0), size)


@pytest.mark.parametrize("name", [n for n in ROBOTS if n not in WITHOUT])
def test_inverse_and_forward_models(name: str) -> None:
    model = build(ROBOTS[name])
    elastic, passive = model.mechanism.indices("elastic"), [model.index(n) for n in undriven(model.mechanism)]
    inverse, forward = models.inverse(model.mechanism), models.forward(model.mechanism)
    for seed in range(2):
        state, rng = closed_state(model, seed), np.random.default_rng(seed)
        given = {"q": state.q, "v": state.v, "g": model.gravity}
        a = rng.uniform(-1, 1, len(model.active))
        true, found = model.inverse(state.q, state.v, a), call(inverse, a_active=a, **given)
        same(found["tau"], true.tau, float(np.abs(model.forces(state.q, state.v)).max()))
        same(found["a_elastic"], true.a[elastic])
        tau = true.tau + rng.uniform(-1, 1, len(model.active))
        true, found = model.forward(state.q, state.v, tau), call(forward, tau=tau, **given)
        same(found["a_active"], true.a[model.active], float(np.abs(true.a).max()))
        same(found["a_elastic"], true.a[elastic])
        if "a_passive" in found:
            same(found["a_passive"], true.a[passive])


@pytest.mark.parametrize("name", WITHOUT)
def test_models_that_do_not_exist_say_why(name: str) -> None:
    mechanism = build(ROBOTS[name]).mechanism
    for make in (models.inverse, models.forward):
        with pytest.raises(SuppleError, match=WITHOUT[name]):
            make(mechanism)


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_model(name: str) -> None:
    """M and c in independent coordinates where these determine the motion, of the whole tree otherwise."""
    model = build(ROBOTS[name])
    f, state = models.builder("mass")(model.mechanism), closed_state(model, 1)
    given = {"q": state.q, "v": state.v, "g": model.gravity}
    if "M" in f.outputs:
        M, c = model.reduced(state.q, state.v, [model.index(n) for n in independent_names(model.mechanism)])
        found = call(f, **given)
        same(found["M"], M)
        same(found["c"], c)
    else:
        found = call(f, direction=np.ones(model.nv), **given)
        same(found["M_direction"], model.mass(state.q).sum(axis=1))
        same(found["c"], model.forces(state.q, state.v))


@pytest.mark.parametrize("forward", [False, True])
def test_shared_legs_have_the_friction_of_joints_at_the_platform(forward: bool) -> None:
    model = build(ROBOTS["friction at the platform"])
    state, drive = closed_state(model, 1), np.array([1.0, -2.0, 3.0])
    given = {"q": state.q, "v": state.v, "g": model.gravity, "tau" if forward else "a_active": drive}
    true = call((models.forward if forward else models.inverse)(model.mechanism), **given)
    found = run(leg_program(model.mechanism, forward), **given)
    for key, value in true.items():
        same(found[key], value, 1.0)


def test_coordinates_that_loops_do_not_determine_are_named() -> None:
    model = build(ROBOTS["undriven joint in a rigid chain"])
    state = closed_state(model, 0)
    with pytest.raises(SuppleError, match="'q2'"):
        model.reduced(state.q, state.v, list(model.active))


def test_a_motion_that_nothing_holds_is_an_error_of_the_pose() -> None:
    with pytest.raises(PoseError, match="nothing holds"):
        modes(build(LOOSE))


def test_a_model_without_rates_has_none_to_solve() -> None:
    mechanism = build(LOOSE).mechanism
    with pytest.raises(SuppleError, match="no rates to solve"):
        models.with_rates_solved(models.builder("linear")(mechanism), mechanism)


def test_a_regressor_keeps_parameters_of_flexible_bodies() -> None:
    """E scales the stiffness column, whose parameter is a factor."""
    text = ROBOTS["beam tied to the base"].replace("space: spatial", "space: spatial\nparameters: {E: 5 GPa}")
    text = text.replace("{E: 5 GPa, rho", "{E: E, rho")
    kept = parameters(["E"])
    found = models.builder("regressor")(assemble(describe_text(text, "test.yaml", {"E": kept[0]})))
    model = build(text, {"E": "4 GPa"})
    state, true = closed_state(model, 0), models.builder("regressor")(model.mechanism)
    given = {"q": state.q, "v": state.v, "g": model.gravity, "a": np.ones(model.nv)}
    same(call(found, p=np.array([4e9]), **given)["Y"], call(true, **given)["Y"])
