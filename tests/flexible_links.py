"""Robots of one bending link, without motions: an arm that turns and a blade that is carried along."""

ARM = """
name: arm
space: planar
gravity: [0, 0, 0]
damping: {modal: 0.005}
materials: {al: {E: 70 GPa, rho: 2700, nu: 0.3}}
sections: {strip: {rectangle: {y: 5 mm, z: 40 mm}}}
bodies:
  beam: {beam: {length: 0.6, section: strip, material: al, elements: 3}}
  tip: {rigid: {mass: 0.3}}
links:
  beam: {parent: base, joint: revolute, axis: z, q: turn, body: beam}
  tip: {parent: beam, on: end, body: tip}
actuators: {turn: {inertia: 0.02 kg*m^2, viscous: 0.05}}
points: {root: {link: beam}, tip: {link: tip}}
"""
SLIDER = """
name: slider
space: planar
gravity: [0, 0, 0]
materials: {steel: {E: 210 GPa, rho: 7800 kg/m^3}}
sections: {blade: {rectangle: {y: 2 mm, z: 20 mm}}}
bodies:
  carriage: {rigid: {mass: 1, inertia: {zz: 1e-3}}}
  blade: {beam: {length: 0.3 m, section: blade, material: steel, elements: 2}}
links:
  carriage: {parent: base, joint: prismatic, axis: y, q: s, body: carriage}
  blade: {parent: carriage, joint: fixed, body: blade}
actuators: {s: {}}
points: {tip: {link: blade, at: [0.3, 0, 0]}}
"""
