"""Simultaneous calculation of the direct dynamics, SCDD (Stachera & Schumacher 2008, section 5): chain by chain.

    M_i a_i + c_i = tau_i + J_i^T lam    for every chain i,    sum_i J_i a_i + b = 0

Exact, lam comes from a small system that the chains fill with what each gives by itself. As printed, lam is taken from the
previous evaluation, so that chains need not wait for each other; their ends drift apart. See docs/scdd.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supple.expr.derivative import pull_back
from supple.expr.elimination import factored, solved
from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import Expr, Scalar, mul
from supple.expr.substitution import estimates, substituted
from supple.expr.vector import matvec, plus, scale, vector, zeros
from supple.formulations.record import DENSE, GAIN, Equations, Formulation, Unsupported, Way
from supple.formulations.tree.chains import chains
from supple.formulations.tree.independent import split
from supple.formulations.tree.kinematics import Kinematics
from supple.formulations.tree.lagrangian import energy_equations, load_power
from supple.formulations.tree.loops import closure_function
from supple.formulations.tree.matrices import Matrices, matrices
from supple.formulations.tree.saddle import forward_of, inverse_of, saddle
from supple.robot.mechanism import Mechanism

VARIANTS = ("as_printed", "as_printed_projection", "baumgarte", "exact")


def scdd(mechanism: Mechanism) -> Equations:
    """The Equations of a mechanism from its energies, loops by forces between chains that are solved one by one."""
    return energy_equations(mechanism, FORMULATION)


def mass_model(mechanism: Mechanism) -> Function:
    """M, c and J of every chain by itself, and b of the loops."""
    m = matrices(mechanism)
    outputs: dict[str, Array] = {}
    for n, chain in enumerate(chains(mechanism), 1):
        own = list(chain.v)
        outputs |= {f"M_{n}": m.M[np.ix_(own, own)], f"c_{n}": m.c[own], f"J_{n}": m.J[:, own]}
    return function("mass", m.inputs(), {k: x for k, x in {**outputs, "b": m.b}.items() if x.size})


def forward_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """Accelerations and loop forces from the state and tau; the loop forces of this very evaluation (exact)."""
    return forward_of(matrices(mechanism, loads))


def inverse_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """tau, elastic accelerations and loop forces from the state and the accelerations of the actuators, chain by chain:
    passive and elastic coordinates of every chain by itself, then the loop forces, then what is left for the actuators."""
    return inverse_of(matrices(mechanism, loads))


# As printed ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loops:
    """The loops solved for the coordinates that follow (eqs. 7, 12 and the derivative of 12)."""

    m: Matrices
    free: list[int]
    dependent: list[int]

    def solve(self, right: Array) -> Array:
        """x of J_p x = right."""
        return self._solved(self.m.J[:, self.dependent], right)

    def solve_transposed(self, right: Array) -> Array:
        """lam of J_p^T lam = right."""
        return self._solved(self.m.J[:, self.dependent].T, right)

    def _solved(self, A: Array, right: Array) -> Array:
        try:
            return solved(A, right, self.m.sample())
        except ZeroDivisionError as reason:
            raise Unsupported("loops that do not determine the passive joints") from reason

    def rates(self) -> Array:
        """v with the dependent ones replaced by those that keep the loops closed."""
        v = self.m.s.v.copy()
        v[self.dependent] = scale(-1, self.solve(matvec(self.m.J[:, self.free], v[self.free])))
        return v

    def places(self) -> Array:
        """q with the dependent ones moved by one Newton step towards closed loops."""
        q = self.m.s.q.copy()
        at = _positions(self.m.mechanism)
        step = self.solve(_residual(self.m))
        for n, k in enumerate(self.dependent):
            q[at[k]] = q[at[k]] - step[n]
        return q


def _loops(m: Matrices) -> Loops:
    free, dependent = split(estimates(m.J, m.sample()), [c.kind for c in m.mechanism.coordinates])
    if len(dependent) != len(m.J):
        raise Unsupported("loops that say something twice, whose forces are not unique")
    return Loops(m, free, dependent)


def _residual(m: Matrices) -> Array:
    return closure_function(Kinematics(m.mechanism, m.s)).outputs["residual"]


def _positions(mechanism: Mechanism) -> list[int]:
    """Place in q of every coordinate of v."""
    if any(f.motion == "spherical" for f in mechanism.frames):
        raise Unsupported("spherical joints, whose position is not a number per velocity")
    made = [0] * mechanism.nv
    for frame in mechanism.frames:
        for place, own in ((frame.q, frame.v), (frame.e, frame.ev)):
            for n in range(own.stop - own.start):
                made[own.start + n] = place.start + n
    return made


def printed_model(mechanism: Mechanism, *, loads: bool = False) -> Function:
    """One evaluation as printed: q v tau lam g -> a, lam, with the lam of the previous evaluation on the right.

    (34) accelerations of every chain; then, for the next evaluation, the passive coordinates from the loops, (35) the
    virtual torques of the passive joints and (39) the forces that take their place: J_p^T lam = tau_p. `loads` adds an
    input w: wrenches at the named points, shared by the branches at once (40) and added to the late forces (41)."""
    m = matrices(mechanism)
    tau, lam = symbols("tau", len(mechanism.indices("active"))), symbols("lam", mechanism.equations)
    loops = _loops(m)
    a = zeros(mechanism.nv)
    force = plus(m.driven(tau), matvec(m.J.T, lam))
    inputs = {**m.inputs(tau=tau), "lam": lam}
    if loads:
        inputs["w"] = symbols("w", (len(mechanism.points), 6))
        load = pull_back(vector(load_power(Kinematics(mechanism, m.s), inputs["w"])), vector(1), m.s.v)
        force = plus(force, load, matvec(m.J.T, carried(loops, load)))
    try:
        for chain in chains(mechanism):
            own = list(chain.v)
            a[own] = factored(m.M[np.ix_(own, own)]).solve(force[own])
    except ZeroDivisionError as reason:
        raise Unsupported("a chain with a motion that no mass resists") from reason
    found = _next_forces(loops, a)
    return function("as_printed", inputs, {"a": a, "lam": found})


def carried(loops: Loops, load: Array) -> Array:
    """Loop forces with which branches carry a load of the tree without work on their passive joints (eqs. 27-29, 40):
    what a branch cannot hold by itself, the others do."""
    return scale(-1, loops.solve_transposed(load[loops.dependent]))


def _next_forces(loops: Loops, a: Array) -> Array:
    """Loop forces from accelerations of the independent coordinates, at positions and velocities that close the loops."""
    m, given = loops.m, symbols("a", loops.m.mechanism.nv)
    whole = given.copy()
    whole[loops.dependent] = scale(-1, loops.solve(plus(matvec(m.J[:, loops.free], given[loops.free]), m.b)))
    virtual = plus(matvec(m.M[loops.dependent], whole), m.c[loops.dependent])
    lam = loops.solve_transposed(virtual)
    # rates need the Jacobian at the closed positions: velocities first, then positions into both
    closed = dict(zip(m.s.q, loops.places(), strict=True))
    rates = dict(zip(m.s.v, substituted(loops.rates(), closed), strict=True))
    return substituted(lam, {**closed, **rates, **dict(zip(given, a, strict=True))})


def exact_model(mechanism: Mechanism) -> Function:
    """One exact evaluation, q v tau g gain -> a, lam, with Baumgarte's feedback of gaps (switched off by gain = 0):
    J a + b + 2 gain J v + gain^2 residual = 0."""
    m = matrices(mechanism)
    tau, gain = symbols("tau", len(mechanism.indices("active"))), symbols("gain", ())
    k = gain.item()
    pull = plus(scale(mul(2, k), matvec(m.J, m.s.v)), scale(mul(k, k), _residual(m)))
    wanted = scale(-1, plus(m.b, pull))
    a, lam = saddle(m, list(range(mechanism.nv)), m.driven(tau), wanted)
    return function("exact", {**m.inputs(tau=tau), "gain": gain}, {"a": a, "lam": lam})


# Steps ---------------------------------------------------------------------------------------------------------------


def step_model(mechanism: Mechanism, variant: str) -> Function:
    """One step of the fourth-order Runge-Kutta method: q v lam tau g h gain -> q, v, lam and the gap of the loops.

    as_printed: every evaluation uses the loop forces of the one before it. as_printed_projection: the same, and after
    each step the dependent coordinates are put back on the loops. exact: loop forces of the same evaluation. baumgarte:
    exact, and gaps are pulled together with the gain (1/s)."""
    if variant not in VARIANTS:
        raise ValueError(f"there is no variant {variant!r} of scdd; choose one of {', '.join(VARIANTS)}")
    lagged = variant in ("as_printed", "as_printed_projection")
    f = printed_model(mechanism) if lagged else exact_model(mechanism)
    inputs = {name: symbols(name, x.shape) for name, x in f.inputs.items() if name not in ("p",)}
    lam = inputs.get("lam", symbols("lam", mechanism.equations))
    h, gain = symbols("h", ()), symbols("gain", ())

    def rate(q: Array, v: Array, forces: Array) -> tuple[Array, Array]:
        known = {"q": q, "v": v, "tau": inputs["tau"], "g": inputs["g"], "lam": forces}
        known["gain"] = gain if variant == "baumgarte" else np.array(0, dtype=object)
        values = {
            x: y for key in f.inputs if key in known for x, y in zip(f.inputs[key].ravel(), known[key].ravel(), strict=True)
        }
        return substituted(f.outputs["a"], values), substituted(f.outputs["lam"], values)

    q, v, forces = _runge_kutta(mechanism, inputs["q"], inputs["v"], lam, h.item(), rate)
    if variant == "as_printed_projection":
        q, v = _projected(mechanism, q, v)
    gap = _gap(mechanism, q)
    given = {"q": inputs["q"], "v": inputs["v"], "lam": lam, "tau": inputs["tau"], "g": inputs["g"], "h": h, "gain": gain}
    return function(f"step_{variant}", given, {"q": q, "v": v, "lam": forces, "gap": gap})


Rate = Callable[[Array, Array, Array], tuple[Array, Array]]  # q, v, lam -> a, lam


def _runge_kutta(
    mechanism: Mechanism, q: Array, v: Array, lam: Array, h: Scalar, rate: Rate
) -> tuple[Array, Array, Array]:  # fmt: skip
    at = _positions(mechanism)
    half = mul(0.5, h)

    def moved(speed: Array, k: Scalar) -> Array:
        made = q.copy()
        for n, place in enumerate(at):
            made[place] = made[place] + k * speed[n]
        return made

    a1, lam = rate(q, v, lam)
    v2 = plus(v, scale(half, a1))
    a2, lam = rate(moved(v, half), v2, lam)
    v3 = plus(v, scale(half, a2))
    a3, lam = rate(moved(v2, half), v3, lam)
    v4 = plus(v, scale(h, a3))
    a4, lam = rate(moved(v3, h), v4, lam)
    sixth = mul(h, 1 / 6)
    speed = plus(plus(v, scale(2, v2)), plus(scale(2, v3), v4))
    gained = plus(plus(a1, scale(2, a2)), plus(scale(2, a3), a4))
    return moved(speed, sixth), plus(v, scale(sixth, gained)), lam


def _projected(mechanism: Mechanism, q: Array, v: Array) -> tuple[Array, Array]:
    """q and v with the dependent coordinates put back on the loops."""
    m = matrices(mechanism)
    loops = _loops(m)
    places = substituted(loops.places(), _values(m, q, v))
    return places, substituted(loops.rates(), _values(m, places, v))


def _gap(mechanism: Mechanism, q: Array) -> Array:
    m = matrices(mechanism)
    return substituted(_residual(m), _values(m, q, m.s.v))


def _values(m: Matrices, q: Array, v: Array) -> dict[Expr, Scalar]:
    return dict(zip(m.s.q, q, strict=True)) | dict(zip(m.s.v, v, strict=True))


FORMULATION = Formulation(
    name="scdd",
    about="Lagrange's equations chain by chain, coupled by the loop forces",
    derive=scdd,
    couple="chains",
    expected="rounding",
    models={"mass": mass_model, "inverse": inverse_model, "forward": forward_model, "as_printed": printed_model},
    independent=lambda mechanism: [],  # every chain has a matrix of its own
    largest=DENSE,
    ways={
        "baumgarte": Way("chains", f"chain by chain, exact loop forces, gaps pulled together ({GAIN:g}/s)", GAIN),
        "projection": Way(
            "chains", "chain by chain, exact loop forces, joints put back on the loops after every step", projected=True
        ),
        "exact": Way("chains", "chain by chain, exact loop forces, gaps left as they are"),
        "as_printed": Way("printed", "chain by chain, loop forces of the evaluation before"),
        "as_printed_projection": Way(
            "printed", "chain by chain, loop forces of the evaluation before, passive joints put back on the loops after "
            "every step", projected=True,
        ),
    },
)  # fmt: skip
