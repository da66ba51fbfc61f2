"""A linear Delta as `linear_delta_exudyn.py` and the model in Exudyn have it: its numbers, and the robot file."""

from __future__ import annotations

import numpy as np

END = 0.7  # s
RADIUS, PLATFORM, HALF, ROD = 0.35, 0.06, 0.05, 0.6  # m: towers, balls of the platform, half the distance of rods, rods
DEPTH = float(np.sqrt(ROD**2 - (RADIUS - PLATFORM) ** 2))
OUTER, INNER, E, RHO, MASS = 0.012, 0.009, 120e9, 1600.0, 0.8
BETA = 1e-4  # s
AREA, BENDING = np.pi / 4 * (OUTER**2 - INNER**2), np.pi / 64 * (OUTER**4 - INNER**4)
MOVES = ((0.02, 0.02, 0.02, 0.15), (0.12, -0.08, -0.05, 0.4), (-0.02, -0.02, -0.02, 0.15))  # of the sliders in m, and s
ROBOT = f"""
name: linear_delta
space: spatial
gravity: [0, 0, 0]
parameters: {{elements: 1, Rp: {PLATFORM} m, w: {HALF} m}}
materials: {{carbon: {{E: {E}, rho: {RHO}, nu: 0.3}}}}
sections: {{rod: {{tube: {{diameter: {OUTER}, wall: {(OUTER - INNER) / 2}}}}}}}
damping: {{rayleigh: {{alpha: 0, beta: {BETA}}}}}
bodies:
  carriage: {{rigid: {{mass: 0.5 kg}}}}
  rod: {{beam: {{length: {ROD}, section: rod, material: carbon, elements: elements}}}}
  plate: {{rigid: {{mass: {MASS}, inertia: {{xx: 1e-3, yy: 1e-3, zz: 2e-3}}}}}}
platform: {{body: plate, at: [0, 0, {-DEPTH}]}}
legs:
  leg:
    count: 3
    links:
      slide:
        parent: base
        at: [{RADIUS}*cos(2*pi*(i-1)/n), {RADIUS}*sin(2*pi*(i-1)/n), 0]
        rotate: {{z: 2*pi*(i-1)/n}}
        joint: prismatic
        axis: z
        q: s
        body: carriage
      rod1: {{parent: slide, at: [0, {HALF}, 0], joint: universal, axis: [y, z], q: [q2, q3], body: rod}}
      rod2: {{parent: slide, at: [0, {-HALF}, 0], joint: universal, axis: [y, z], q: [q4, q5], body: rod}}
    closures:
      ball1:
        joint: spherical
        from:
          link: platform
          at: [Rp*cos(2*pi*(i-1)/n) - w*sin(2*pi*(i-1)/n), Rp*sin(2*pi*(i-1)/n) + w*cos(2*pi*(i-1)/n), 0]
        to: {{link: rod1, on: end}}
      ball2:
        joint: spherical
        from:
          link: platform
          at: [Rp*cos(2*pi*(i-1)/n) + w*sin(2*pi*(i-1)/n), Rp*sin(2*pi*(i-1)/n) - w*cos(2*pi*(i-1)/n), 0]
        to: {{link: rod2, on: end}}
    actuators:
      s: {{}}
points: {{tool: {{link: platform}}}}
assembly:
  down: {{leg/s: 0, leg/q2: 120 deg, leg/q4: 120 deg}}
home: {{x: 0, y: 0, z: {-DEPTH}}}
motions:
  pick:
    start: {{leg1/s: 0, leg2/s: 0, leg3/s: 0}}
    moves:
{chr(10).join(f"      - {{by: {{leg1/s: {a}, leg2/s: {b}, leg3/s: {c}}}, duration: {t}}}" for a, b, c, t in MOVES)}
"""


def reduced(modes: int) -> str:
    """The robot with few modes of the free rod."""
    return ROBOT.replace("elements: elements}", f"elements: 4, reduction: {{free_free: {{modes: {modes}}}}}}}")
