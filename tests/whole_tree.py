"""Motions by scipy on the whole virtual tree, as a reference for the integrators in C, which use other equations.

Unknown are all coordinates: M a + A^T lam = forces, A a = given, where A holds the loops and the prescribed actuators, which
Baumgarte's feedback keeps (it vanishes on the exact solution). The integrators in C eliminate the dependent coordinates
instead, close the loops at every step and take accelerations from closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from supple.backends.native import load
from supple.model.model import Model
from supple.motion.trajectory import Trajectory

FEEDBACK = 200.0  # 1/s

Torque = Callable[[float, np.ndarray, np.ndarray], np.ndarray]  # of all actuators, from t and states in rows


class WholeTree:
    """Rates of many states (q, v) of a robot without ball joints at once."""

    def __init__(self, model: Model, path: Trajectory | None, torque: Torque | None, loads: Trajectory | None) -> None:
        assert model.mechanism.nq == model.nv, "no spherical joints here"
        self.model, self.path, self.torque, self.loads = model, path, torque, loads
        self.f = {k: load(getattr(model.equations, k)) for k in ("forces", "inertia", "closure", "closure_motion")}
        self.given = [] if path is None else [model.index(n) for n in path.names]

    def call(self, name: str, **given: np.ndarray) -> dict[str, np.ndarray]:
        f = self.f[name]
        zeros = {k: np.zeros(x.shape) for k, x in f.function.inputs.items() if k not in given}
        return f(**{**zeros, **given})

    def wrench(self, t: float) -> np.ndarray:
        points = list(self.model.mechanism.points)
        w = np.zeros((len(points), 6))
        if self.loads is not None:
            for name, value in zip(self.loads.names, self.loads(t)[0], strict=True):
                point, part = name.rsplit(".", 1)
                w[points.index(point), ("fx", "fy", "fz", "mx", "my", "mz").index(part)] = value
        return w

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        model, n, m = self.model, self.model.nv, self.model.mechanism.equations
        q, v, k = y[:, :n], y[:, n:], m + len(self.given)
        out = self.call(
            "forces", q=q, v=v, g=model.gravity, w=np.broadcast_to(self.wrench(t), (len(y), *self.wrench(t).shape))
        )
        right = np.concatenate([-(out["f"] + out["coulomb"]), np.zeros((len(y), k))], axis=1)
        if self.torque is not None:
            right[:, model.active] += self.torque(t, q, v)
        whole = np.zeros((len(y), n + k, n + k))
        whole[:, :n, :n] = self.call("inertia", q=q[:, None, :], direction=np.eye(n)[None])["f"]
        J = np.swapaxes(self.call("closure_motion", q=q[:, None, :], v=np.eye(n)[None])["velocity"], 1, 2)
        now = self.call("closure_motion", q=q, v=v)
        gap = self.call("closure", q=q)["residual"]
        whole[:, :n, n : n + m], whole[:, n : n + m, :n] = np.swapaxes(J, 1, 2), J
        right[:, n : n + m] = -(now["acceleration"] + 2 * FEEDBACK * now["velocity"] + FEEDBACK**2 * gap)
        if self.path is not None:
            x, xd, xdd = self.path(t)
            for i, j in enumerate(self.given):
                whole[:, n + m + i, j] = whole[:, j, n + m + i] = 1.0
                off = 2 * FEEDBACK * (xd[i] - v[:, j]) + FEEDBACK**2 * (x[i] - q[:, j])
                right[:, n + m + i] = xdd[i] + off
        return np.concatenate([v, np.linalg.solve(whole, right[..., None])[:, :n, 0]], axis=1)

    def slope(self, t: float, y: np.ndarray) -> np.ndarray:
        h = 1e-7 * np.maximum(1.0, np.abs(y))
        moved = self.rate(t, np.concatenate([y + np.diag(h), y - np.diag(h)]))
        return np.asarray(((moved[: y.size] - moved[y.size :]) / (2 * h[:, None])).T)


def follow_tree(
    model: Model, q: np.ndarray, v: np.ndarray, times: np.ndarray, *, path: Trajectory | None = None,
    torque: Torque | None = None, loads: Trajectory | None = None, breaks: np.ndarray | None = None,
    at_break: Callable[[float, np.ndarray, np.ndarray], None] | None = None, rtol: float = 1e-10, atol: float = 1e-13,
) -> np.ndarray:  # fmt: skip
    """(q, v) in rows at the given times, the first of which is the start; `at_break` gets t, q and v at every break."""
    tree, y, begin = WholeTree(model, path, torque, loads), np.concatenate([q, v]), float(times[0])
    inner = np.zeros(0) if breaks is None else breaks[(breaks > begin + 1e-12) & (breaks < times[-1] - 1e-12)]
    found = [y[None]]
    if at_break is not None:
        at_break(begin, y[: model.nv], y[model.nv :])
    for end in [*inner, times[-1]]:
        wanted = times[(times > begin + 1e-12) & (times <= end + 1e-12)]
        ask = np.append(wanted[wanted < end - 1e-12], end)
        inside = np.nextafter(end, begin)  # a signal that jumps at the end has not jumped yet
        solved = solve_ivp(
            lambda t, y, last=inside: tree.rate(min(t, last), y[None])[0], (begin, end), y, "Radau", t_eval=ask,
            jac=lambda t, y, last=inside: tree.slope(min(t, last), y), rtol=rtol, atol=atol,
        )  # fmt: skip
        assert solved.success, solved.message
        found.append(solved.y.T[: len(wanted)])
        y, begin = solved.y[:, -1], end
        if at_break is not None:
            at_break(begin, y[: model.nv], y[model.nv :])
    return np.concatenate(found)
