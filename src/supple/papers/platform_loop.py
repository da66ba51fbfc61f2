"""The loop of figure 3 of Long, Khalil & Martinet (2014): a flexible platform led along a path by its inverse model.

The inverse model gives the forces of the actuators for the accelerations that the path wants of the platform at the present
state; the direct model gives the accelerations under these forces, which are integrated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from supple.backends.native import load as compiled
from supple.errors import SuppleError
from supple.formulations.platform_eliminated import deformation_model, platform_forward_model, platform_inverse_model
from supple.model.closing import close
from supple.model.model import Model
from supple.model.posture import posture
from supple.model.turning import body_rates, rotation_vector
from supple.models import builder
from supple.motion.trajectory import Trajectory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Record:
    """Samples of a simulated motion; rows are times."""

    time: Array
    tau: Array  # N
    acceleration: Array  # of the platform, m/s^2 and rad/s^2
    error: Array  # less what was wanted
    displacement: Array  # of attachments, then of the origin, m
    rotation: Array  # rad
    force: Array  # of the legs on the platform, N
    elastic: Array
    pose_error: Array
    closure: Array  # residual of the loops


class Plant:
    """The robot under its inverse model: inverse and direct models, and the rates of the legs; the state is (q, twist of the
    platform, rates of its shape)."""

    def __init__(self, model: Model, path: Trajectory) -> None:
        m = self.m = model.mechanism
        self.model, self.path = model, path
        self.inverse = compiled(platform_inverse_model(m, attachments=True))
        self.direct = compiled(platform_forward_model(m))
        self.loops = compiled(builder("kinematics")(m))
        self.deformed = compiled(deformation_model(m))
        self.platform = m.indices("platform")
        self.elastic = m.indices("elastic")
        self.legs = m.indices("active", "passive")
        self.frame = m.frames[m.platform or 0]

    def velocities(self, q: Array, twist: Array, rates: Array) -> Array:
        """All velocities of the tree from those of the platform and its shape."""
        v = np.zeros(self.model.nv)
        v[self.platform], v[self.elastic] = twist, rates
        J = self.loops(q=q, v=v, a=v, g=self.model.gravity)["jacobian"]
        v[self.legs] = -np.linalg.solve(J[:, self.legs], J @ v)
        return v

    def wanted(self, t: float) -> Array:
        """Accelerations of the platform's coordinates on the path."""
        x, xd, xdd = self.path(t)
        _, spun = body_rates(x[3:], xd[3:], xdd[3:])
        return np.concatenate([xdd[:3], spun])

    def rate(self, t: float, y: Array) -> Array:
        """dy/dt under the forces of the inverse model."""
        q, twist, rates = self.split(y)
        v = self.velocities(q, twist, rates)
        tau = self.inverse(q=q, v=v, a_platform=self.wanted(t), g=self.model.gravity)["tau"]
        found = self.direct(q=q, v=v, tau=tau, g=self.model.gravity)
        return np.concatenate([tree_rate(self.model, q, v), found["a_platform"], found["a_elastic"]])

    def split(self, y: Array) -> tuple[Array, Array, Array]:
        """q, the platform's twist and the rates of its shape."""
        n = self.m.nq
        return y[:n], y[n : n + 6], y[n + 6 :]

    def start(self) -> Array:
        """At rest at the first pose, the plate bent by its weight."""
        q = posture(self.model, dict(zip(self.path.names, self.path(self.path.start)[0], strict=True)))
        zero = np.zeros(self.model.nv)

        def away(shape: Array) -> tuple[Array, Array]:
            bent = q.copy()
            bent[self.frame.e] = shape
            closed = close(self.model, bent, self.legs)
            if closed is None:
                raise SuppleError("the loops do not close at the first pose of the path")
            out = self.inverse(q=closed, v=zero, a_platform=np.zeros(6), g=self.model.gravity)
            return out["a_elastic"], closed

        shape = np.zeros(len(self.elastic))
        for _ in range(8):
            here, _ = away(shape)
            steps = 1e-6 * np.eye(len(shape))
            slope = np.array([(away(shape + d)[0] - away(shape - d)[0]) / 2e-6 for d in steps]).T
            shape = shape - np.linalg.solve(slope, here)
        return np.concatenate([away(shape)[1], np.zeros(6 + len(shape))])


def tree_rate(model: Model, q: Array, v: Array) -> Array:
    """dq/dt of the tree."""
    made = np.zeros(len(q))
    for f in model.mechanism.frames:
        made[f.e] = v[f.ev]
        if f.motion == "spherical":
            w, x, y, z = q[f.q]
            a, b, c = v[f.v]
            made[f.q] = 0.5 * np.array(
                [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
            )
        else:
            made[f.q] = v[f.v]
    return made


def led(model: Model, path: Trajectory, until: float | None = None, tolerance: float = 1e-9, samples: int = 401) -> Record:
    """The motion along a path, sampled at equal times."""
    plant = Plant(model, path)
    end = path.end if until is None else until
    times = np.linspace(path.start, end, samples)
    y = plant.start()
    done = solve_ivp(plant.rate, (path.start, end), y, "DOP853", times, rtol=tolerance, atol=tolerance * 1e-2, max_step=0.01)
    if not done.success:
        raise SuppleError(done.message)
    rows: dict[str, list[Array]] = {name: [] for name in Record.__dataclass_fields__ if name != "time"}
    for t, state in zip(times, done.y.T, strict=True):
        q, twist, rates = plant.split(state)
        v = plant.velocities(q, twist, rates)
        wanted = plant.wanted(t)
        out = plant.inverse(q=q, v=v, a_platform=wanted, g=model.gravity)
        direct = plant.direct(q=q, v=v, tau=out["tau"], g=model.gravity)
        shape = plant.deformed(q=q)
        pose = np.concatenate([q[:3], rotation_vector(q[plant.frame.q])])
        rows["tau"].append(out["tau"])
        rows["acceleration"].append(direct["a_platform"])
        rows["error"].append(direct["a_platform"] - wanted)
        rows["displacement"].append(shape["displacement"])
        rows["rotation"].append(shape["rotation"])
        rows["force"].append(out["force"])
        rows["elastic"].append(q[plant.frame.e])
        rows["pose_error"].append(pose - path(t)[0])
        rows["closure"].append(model.residual(q))
    return Record(times, **{name: np.array(part) for name, part in rows.items()})
