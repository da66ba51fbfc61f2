"""Optimiser passes: same values, fewer operations, known minima."""

from __future__ import annotations

import cProfile
import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from supple.backends.interpreter import interpret
from supple.expr import passes
from supple.expr.derivative import jacobian
from supple.expr.function import Array, Function, function, symbols
from supple.expr.node import BUILD, FUNCTIONS, Expr, Scalar, _node, add, cos, mul, named, sin, sqrt, sub
from supple.expr.passes import PASSES, Optimised, PassError, dead_inputs, error_growth, optimise, staged
from supple.expr.passes.signed import read
from supple.expr.passes.signs import Orientation
from supple.expr.vector import (
    axis_rotation,
    cross,
    dot,
    identity,
    matmul,
    matvec,
    minus,
    plus,
    quaternion_rotation,
    scale,
    vector,
    zeros,
)

# -- realistic functions


def planar_chain(links: int = 4) -> Function:
    """Inverse dynamics of a planar chain, recursive Newton-Euler with everything kept in the base frame."""
    q, qd, qdd = (symbols(n, links) for n in ("q", "qd", "qdd"))
    m, l, r, inertia = (symbols(n, links) for n in ("m", "l", "r", "I"))  # noqa: E741
    angle: Scalar = 0
    w: Scalar = 0
    wd: Scalar = 0
    a = vector(0, 9.81)
    forces, moments, arms, centres = [], [], [], []
    for i in range(links):
        angle, w, wd = angle + q[i], w + qd[i], wd + qdd[i]
        along = vector(cos(angle), sin(angle))
        across = vector(-sin(angle), cos(angle))
        turning = plus(scale(wd, across), scale(-(w * w), along))
        forces.append(scale(m[i], plus(a, scale(r[i], turning))))
        moments.append(inertia[i] * wd)
        arms.append(scale(l[i], along))
        centres.append(scale(r[i], along))
        a = plus(a, scale(l[i], turning))
    tau = zeros(links)
    force, moment = vector(0, 0), 0
    for i in reversed(range(links)):
        carried = arms[i][0] * force[1] - arms[i][1] * force[0]
        own = centres[i][0] * forces[i][1] - centres[i][1] * forces[i][0]
        moment = moment + moments[i] + own + carried
        force = plus(force, forces[i])
        tau[i] = moment
    inputs = {"q": q, "qd": qd, "qdd": qdd, "m": m, "l": l, "r": r, "inertia": inertia}
    return function("planar_chain", inputs, {"tau": tau})


def spatial_chain(joints: int = 3, numeric: bool = False) -> Function:
    """Inverse dynamics of a spatial chain in link frames; numeric parameters fold, symbolic ones stay."""
    q, qd, qdd = (symbols(n, joints) for n in ("q", "qd", "qdd"))
    p = symbols("p", (joints, 10))
    parameters = np.array(p)
    if numeric:
        source = np.random.default_rng(5)
        for index in np.ndindex(p.shape):
            parameters[index] = Fraction(int(source.integers(1, 400)), 100)
    axes = [vector(0, 0, 1), vector(0, 1, 0), vector(1, 0, 0)]
    w, wd, a = zeros(3), zeros(3), vector(0, 0, 9.81)
    arm = vector(Fraction(3, 10), 0, Fraction(1, 5))
    kept = []
    for i in range(joints):
        axis = axes[i % 3]
        back = axis_rotation(axis, q[i]).T
        rate = scale(qd[i], axis)
        a = matvec(back, plus(a, cross(wd, arm), cross(w, cross(w, arm))))
        w_parent = matvec(back, w)
        wd = plus(matvec(back, wd), cross(w_parent, rate), scale(qdd[i], axis))
        w = plus(w_parent, rate)
        mass, first, inertia = _inertia(parameters[i])
        f = plus(scale(mass, a), cross(wd, first), cross(w, cross(w, first)))
        n = plus(matvec(inertia, wd), cross(w, matvec(inertia, w)), cross(first, a))
        kept.append((axis, back, f, n))
    tau = zeros(joints)
    force, moment = zeros(3), zeros(3)
    for i in reversed(range(joints)):
        axis, back, f, n = kept[i]
        force, moment = plus(force, f), plus(moment, n)
        tau[i] = dot(axis, moment)
        force, moment = matvec(back.T, force), matvec(back.T, moment)
        moment = plus(moment, cross(arm, force))
    inputs = {"q": q, "qd": qd, "qdd": qdd, "p": p}
    return function("spatial_chain", inputs, {"tau": tau})


def _inertia(p: Array) -> tuple[Scalar, Array, Array]:
    xx, yy, zz, xy, xz, yz = p[4:]
    return p[0], p[1:4], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object)


def ldl_solve(n: int) -> Function:
    """x of A x = b, A symmetric positive definite, by LDL^T with shared reciprocals of the pivots."""
    A, b = symbols("A", (n, n)), symbols("b", n)
    low, inverse = identity(n), zeros(n)
    work = zeros(n, n)
    for j in range(n):
        pivot = A[j, j]
        for k in range(j):
            pivot = pivot - work[j, k] * low[j, k]
        inverse[j] = 1 / pivot
        for i in range(j + 1, n):
            value = A[i, j]
            for k in range(j):
                value = value - work[i, k] * low[j, k]
            work[i, j] = value
            low[i, j] = value * inverse[j]
    x = zeros(n)
    for i in range(n):
        x[i] = b[i] - dot(low[i, :i], x[:i])
    x = vector(*(x[i] * inverse[i] for i in range(n)))
    for i in reversed(range(n)):
        x[i] = x[i] - dot(low[i + 1 :, i], x[i + 1 :])
    return function(f"ldl_{n}", {"A": A, "b": b}, {"x": x})


def rotations() -> Function:
    """Products of rotations about three axes and of a quaternion, and a vector turned by them."""
    q, p, v = symbols("q", 3), symbols("p", 4), symbols("v", 3)
    R = identity()
    for axis, angle in zip((vector(0, 0, 1), vector(0, 1, 0), vector(1, 0, 0)), q, strict=True):
        R = matmul(R, axis_rotation(axis, angle))
    Q = quaternion_rotation(p)
    out = {"R": R, "RQ": matmul(R, Q), "turned": matvec(Q, minus(matvec(R, v), v))}
    return function("rotations", {"q": q, "p": p, "v": v}, out)


def sensitivities() -> Function:
    """Jacobians of a spatial chain: derivatives leave much to collect."""
    f = spatial_chain(2)
    wrt = np.concatenate([f.inputs["q"], f.inputs["qd"]])
    tau = f.outputs["tau"]
    return function("sensitivities", f.inputs, {"K": jacobian(tau, wrt), "M": jacobian(tau, f.inputs["qdd"])})


MACHINES: dict[str, Callable[[], Function]] = {
    "planar_chain": planar_chain,
    "spatial_chain": spatial_chain,
    "spatial_numeric": lambda: spatial_chain(numeric=True),
    "ldl_3": lambda: ldl_solve(3),
    "ldl_6": lambda: ldl_solve(6),
    "rotations": rotations,
    "sensitivities": sensitivities,
}
EXACT = ("ldl_3", "ldl_6", "rotations")  # no float constant in them: equal to the last of 50 digits

# Operations given -> reached when this test was written. Only a tripwire: the laws below are the truth.
REACHED = {
    "planar_chain": 115, "spatial_chain": 230, "spatial_numeric": 240, "ldl_3": 27, "ldl_6": 155,
    "rotations": 119, "sensitivities": 64,
}  # fmt: skip


@cache
def machine(name: str) -> tuple[Function, Optimised]:
    f = MACHINES[name]()
    return f, optimise(f)


# -- evaluation


def random_inputs(f: Function, seed: int) -> dict[str, Array]:
    """A well-conditioned point: moderate inputs, matrices diagonally dominant."""
    source = np.random.default_rng(seed)
    point = {name: source.uniform(0.4, 1.6, array.shape) for name, array in f.inputs.items()}
    if "A" in point:
        n = len(point["A"])
        point["A"] = point["A"] + point["A"].T + 4 * n * np.eye(n)
    return point


def evaluate_exactly(f: Function, point: dict[str, Array]) -> list[mpmath.mpf]:
    """The output scalars with 50 digits."""
    calls = {"sin": mpmath.sin, "cos": mpmath.cos, "sqrt": mpmath.sqrt, "sign": _sign, "neg": lambda a: -a}
    calls |= {"add": lambda a, b: a + b, "sub": lambda a, b: a - b}
    calls |= {"mul": lambda a, b: a * b, "div": lambda a, b: a / b}
    values: dict[Expr, mpmath.mpf] = {}
    for name, array in f.inputs.items():
        for x, v in zip(array.ravel(), np.asarray(point[name]).ravel(), strict=True):
            values[x] = mpmath.mpf(float(v))

    def value(x: Scalar) -> mpmath.mpf:
        if isinstance(x, Expr):
            return values[x]
        return mpmath.mpf(x.numerator) / x.denominator if isinstance(x, (int, Fraction)) else mpmath.mpf(x)

    for node in f.nodes:
        if node.op != "symbol":
            values[node] = calls[node.op](*(value(a) for a in node.args))
    return [value(x) for x in f.output_scalars()]


def _sign(a: mpmath.mpf) -> mpmath.mpf:
    return mpmath.mpf(0) if abs(a) < mpmath.mpf(10) ** -40 else mpmath.sign(a)


# -- laws on every machine


@pytest.mark.parametrize("name", MACHINES)
def test_outputs_are_unchanged(name: str) -> None:
    f, made = machine(name)
    old, new = interpret(f), interpret(made.function)
    for seed in range(5):
        point = random_inputs(f, seed)
        before, after = old(**point), new(**point)
        for key in before:
            scale_of = max(1.0, float(np.abs(before[key]).max()))
            np.testing.assert_allclose(after[key], before[key], rtol=1e-11, atol=1e-11 * scale_of)


@pytest.mark.parametrize("name", MACHINES)
def test_fifty_digits_agree(name: str) -> None:
    f, made = machine(name)
    tolerance = mpmath.mpf(10) ** (-40 if name in EXACT else -13)
    with mpmath.workdps(50):
        point = random_inputs(f, 9)
        before, after = evaluate_exactly(f, point), evaluate_exactly(made.function, point)
        scale_of = max(1, *(abs(b) for b in before))
        assert all(abs(a - b) <= tolerance * scale_of for a, b in zip(after, before, strict=True))


@pytest.mark.parametrize("name", MACHINES)
def test_no_stage_adds_operations_or_functions(name: str) -> None:
    f, made = machine(name)
    assert made.stages[0].operations == f.operations
    assert made.stages[-1].operations == made.function.operations
    for before, after in itertools.pairwise(made.stages):
        assert after.operations <= before.operations
        assert all(after.counts[op] <= before.counts[op] for op in FUNCTIONS)
    assert made.function.operations <= REACHED[name]


@pytest.mark.parametrize("name", PASSES)
def test_each_pass_alone_keeps_values_and_runs_twice_the_same(name: str) -> None:
    for build in (lambda: planar_chain(3), rotations, lambda: ldl_solve(4)):
        f = build()
        made = PASSES[name](f)
        error_growth(f, made, name, seed=3)
        assert text(PASSES[name](f)) == text(made)
        assert list(made.inputs) == list(f.inputs)
        assert {k: v.shape for k, v in made.outputs.items()} == {k: v.shape for k, v in f.outputs.items()}


def text(f: Function) -> list[str]:
    """The operations of f in order, for comparison of structures."""
    number_of = {node: i for i, node in enumerate(f.nodes)}
    return [
        f"{n.op} {[number_of[a] if isinstance(a, Expr) else a for a in n.args]}" for n in f.nodes if n.op != "symbol"
    ] + [str(number_of.get(x, x)) if isinstance(x, Expr) else str(x) for x in f.output_scalars()]


# -- known minima


a, b, c, d, e = SYMBOLS = symbols("x", 5)


def of(*outputs: Scalar) -> Function:
    return function("small", {"x": SYMBOLS}, {"y": np.array(outputs, dtype=object)})


MINIMA: dict[str, tuple[Function, int]] = {
    "a common factor": (of(a * b + a * c), 2),
    "a difference both ways": (of(a - b, b - a), 2),
    "a difference both ways inside": (of((a - b) * c, (b - a) * d, (a - b) * e), 5),
    "a polynomial by Horner": (of(a * a * Fraction(7, 3) + a * 0.3 + 2), 4),
    "a common sum": (of(a + b + c, a + d + b), 3),
    "a common sum in reverse": (of(a - b + c, d + b - a), 3),
    "a common product": (of(a * b * c, a * d * b), 3),
    "a complex product": (of(a * c - b * d, a * d + b * c), 6),
    "like terms": (of(2 * a + b - 3 * a), 1),
    "what cancels": (of((a + b) - b + (c - a)), 0),
    "a cancelled factor": (of(a * b / a + c), 1),
    "a common denominator": (of(a / c + b / c), 2),
    "a reciprocal used twice": (of(a * (1 / c), b * (1 / c)), 2),
    "a constant factor": (of(2 * a + 2 * b, a + b), 2),
    "a constant minus a value": (of(3 - a, 3 - a - b), 2),
    "powers by squaring": (of(a**4, a**8), 3),
    "products unshared to be factored": (of(a * b + a * c, a * b + a * d), 4),
    "one negation for two products": (of(-(a + b) * c, -(a + b) * d), 4),
    "a sum of three by one factor": (of(a * b - a * c + a * d), 3),
    "factors of sums": (of(a * c + a * d + b * c + b * d), 3),
    "negative products": (of(c - a * b, -(a * b) - d), 4),
    "nothing to do": (of(a, 3, b), 0),
}


@pytest.mark.parametrize("case", MINIMA)
def test_small_functions_reach_their_minimum(case: str) -> None:
    f, minimum = MINIMA[case]
    assert optimise(f).function.operations == minimum


def test_signs_are_minimal_on_small_graphs() -> None:
    """Against every assignment of signs: the search misses at most one negation in a hundred."""
    found = best = 0
    for seed in range(60):
        graph = read(random_graph(seed))
        orientation = Orientation(graph)
        free = [i for i in orientation.live if graph.ops[i] not in ("symbol", "number")]
        orientation.improved()
        priced = [i for i in orientation.live if i not in graph.values]
        found += sum(map(orientation.cost, priced))
        costs = []
        for assignment in itertools.product((1, -1), repeat=len(free)):
            for i, sign in zip(free, assignment, strict=True):
                orientation.stored[i] = sign
            costs.append(sum(map(orientation.cost, priced)))
        best += min(costs)
    assert found <= best + 1


class Plainly(Orientation):
    """The search that tries every flip, whatever was tried before."""

    def _repaired(self, i: int) -> bool:
        ancestors = self._ancestors(i)
        for u in ancestors:
            gain, done = self._flip(u)
            if gain < 0 or (gain == 0 and u != i and any(self._gains(v) for v in ancestors[:20])):
                return True
            self._undo(done)
        return False

    def _gains(self, v: int) -> bool:
        gain, done = self._flip(v)
        if gain >= 0:
            self._undo(done)
        return gain < 0


def test_flips_tried_before_need_not_be_tried_again() -> None:
    """Against the search that tries all of them: the same signs, and costs as they are counted anew."""
    for seed in range(40):
        graph = read(random_graph(seed, 60))
        quick, plain = Orientation(graph), Plainly(graph)
        assert quick.improved() == plain.improved()
        assert quick.effort == plain.effort
        assert [quick.costs[i] for i in quick.live] == [quick.cost(i) for i in quick.live]


def random_graph(seed: int, size: int | None = None) -> Function:
    source = random.Random(seed)
    pool: list[Scalar] = list(SYMBOLS)
    for _ in range(size or source.randint(4, 9)):
        op = source.choice(("add", "sub", "sub", "mul", "mul", "sin"))
        x, y = source.choice(pool), source.choice(pool)
        made = BUILD[op](x) if op == "sin" else BUILD[op](x, y)
        pool += [made] if isinstance(made, Expr) else []
    return of(*(source.choice((1, -1)) * x for x in source.sample(pool[5:], min(3, len(pool) - 5))))


# -- constants


def test_constants_stay_exact() -> None:
    third, f = Fraction(1, 3), 0.1
    made = optimise(of(third * a + third * b, f * a * c + f * b * c + f, f * c * d + 0.3 * d * e)).function
    constants = {x for n in made.nodes for x in n.args if not isinstance(x, (Expr, str))}
    assert constants <= {third, -third, f, -f, 0.3, -0.3, 1, -1}
    assert any(isinstance(x, Fraction) for x in constants)


# -- random graphs


@st.composite
def graphs(draw: st.DrawFn) -> Function:
    numbers = st.sampled_from([2, -1, 3, Fraction(1, 3), Fraction(-5, 2), 0.1, -0.7, 1.5])
    pool: list[Scalar] = [*SYMBOLS, draw(numbers), draw(numbers)]
    operations = st.sampled_from(["add", "sub", "mul"] * 4 + ["div", "neg", "sin", "cos", "sqrt", "sign"])
    for _ in range(draw(st.integers(1, 30))):
        op = draw(operations)
        arity = 1 if op in (*FUNCTIONS, "neg") else 2
        operands = [pool[draw(st.integers(0, len(pool) - 1))] for _ in range(arity)]
        try:
            pool.append(BUILD[op](*operands))
        except (ZeroDivisionError, ValueError):
            reject()
    return of(*pool[-draw(st.integers(1, 4)) :])


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs())
def test_random_graphs_keep_their_values(f: Function) -> None:
    try:
        made = optimise(f).function
    except ZeroDivisionError:
        reject()
    error_growth(f, made, "all passes", seed=7)
    assert made.operations <= f.operations
    assert all(made.counts[op] <= f.counts[op] for op in FUNCTIONS)
    assert optimise(made).function.operations <= made.operations


# -- labels, gate, size


def test_labels_survive_where_the_node_survives() -> None:
    w = named(a * b - c * d, "w_3")
    made = optimise(of(w * e + a, sin(w), w * c)).function
    labelled = [n for n in made.nodes if n.label == "w_3"]
    assert len(labelled) == 1
    only = function("only", made.inputs, {"w": np.array(labelled, dtype=object)})
    error_growth(of(w), function("small", only.inputs, {"y": only.outputs["w"]}), "labels")


def test_the_gate_names_a_wrong_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(f: Function) -> Function:
        outputs = {k: np.array([x * (1 + 1e-9) for x in v], dtype=object) for k, v in f.outputs.items()}
        return Function(f.name, f.inputs, outputs)

    monkeypatch.setitem(passes.PASSES, "wrong", wrong)
    with pytest.raises(PassError, match="pass wrong changed output y"):
        optimise(of(a * b + c), ["fold", "wrong"])
    with pytest.raises(ValueError, match="no pass named"):
        optimise(of(a), ["nonsense"])


def test_dead_inputs_are_reported() -> None:
    assert dead_inputs(of(a + c)) == {"x": (1, 3, 4)}
    assert dead_inputs(of(a + b + c + d + e)) == {}


def test_divide_trades_reciprocals_for_divisions() -> None:
    made = machine("ldl_6")[1]
    fewer = optimise(made.function, ["divide"]).function
    assert fewer.operations < made.function.operations
    assert fewer.counts["div"] > made.function.counts["div"]


def test_a_division_that_simplifies_to_zero_is_told() -> None:
    with pytest.raises(ZeroDivisionError, match="zero once it is simplified"):
        optimise(of(a / (sub(add(b, c), b) - c)))
    with pytest.raises(ValueError, match="function small: the argument of a square root is negative"):
        optimise(of(sqrt(sub(add(b, c), b) - c - 2)))


def test_long_chains_are_flattened_in_pieces() -> None:
    total: Scalar = 0
    product: Scalar = 1
    for k in range(3000):
        total = mul(SYMBOLS[k % 5], SYMBOLS[(k + 1) % 5]) - total
        product = mul(product, SYMBOLS[k % 5])
    made = optimise(of(total, product)).function
    assert made.operations < 80


def calls_to_optimise(operations: int) -> int:
    """Calls of functions, Python's own included, that it takes to optimise a random Function."""
    x = symbols("x", 40)
    source = random.Random(1)
    pool: list[Scalar] = list(x)
    for _ in range(operations):
        pick = pool[-200:]
        pool.append(add(mul(source.choice(pick), source.choice(list(x))), source.choice(pick)))
    f = function("wide", {"x": x}, {"y": np.array(pool[-30:], dtype=object)})
    profile = cProfile.Profile()
    made = profile.runcall(optimise, f).function
    assert made.operations <= f.operations
    return sum(entry.callcount for entry in profile.getstats())


def test_the_work_of_optimising_thousands_of_operations_is_bounded() -> None:
    """Counted in calls, not in seconds: 3000 per operation today; one pass that looks at all pairs would take 4000 more."""
    assert calls_to_optimise(4000) < 6000 * 4000


# -- hoisting


def chained(functions: tuple[Function, ...], point: dict[str, Array]) -> dict[str, Array]:
    carried: dict[str, Array] = {}
    for f in functions:
        own = {name: point[name] for name in f.inputs if name != "carried"}
        carried = interpret(f)(**own, **carried)
    return carried


@pytest.mark.parametrize("optimised", [False, True])
def test_stages_compose_to_the_whole(optimised: bool) -> None:
    f, made = machine("planar_chain")
    whole = made.function if optimised else f
    stages: list[set[str]] = [{"m", "l", "r", "inertia"}, {"q"}, {"qd", "qdd"}]
    chain = staged(whole, stages)
    point = random_inputs(f, 4)
    np.testing.assert_allclose(chained(chain, point)["tau"], interpret(whole)(**point)["tau"], rtol=1e-14)
    assert sum(part.operations for part in chain) == whole.operations
    assert all(part.counts["sin"] == 0 for part in (chain[0], chain[2]))
    assert set(chain[0].inputs) == stages[0]
    assert set(chain[2].inputs) == {"qd", "qdd", "carried"}


def test_outputs_known_early_pass_through() -> None:
    p, q = symbols("p", 2), symbols("q", 2)
    outputs = {"y": np.array([p[0] * p[1], sqrt(p[0]) * q[1], 4], dtype=object)}
    chain = staged(function("f", {"p": p, "q": q}, outputs), [{"p"}, {"q"}])
    point = {"p": np.array([4.0, 3.0]), "q": np.array([0.0, 5.0])}
    np.testing.assert_array_equal(chained(chain, point)["y"], [12.0, 10.0, 4.0])
    assert chain[1].operations == 1


def test_wrong_stages_are_told() -> None:
    f = of(a)
    with pytest.raises(ValueError, match="exactly; look at q, x"):
        staged(f, [{"q"}])
    with pytest.raises(ValueError, match="look at x"):
        staged(f, [{"x"}, {"x"}])


def test_oriented_nodes_are_read_back() -> None:
    """The signs pass stores b - a as such; another round must not see it as something else."""
    f = of(_node("sub", b, a) * c, _node("sub", 3, a))
    assert optimise(f).function.operations == 3
