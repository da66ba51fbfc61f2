"""The inverse model of DualEMPS: supple's C against CasADi's C of the paper's recursion, state for state.

All contestants see the same closed states, are compared number for number first, and are then timed inside C, turn by turn
on one core: 100,000 states (336 bytes each) that stream from memory, and 2,000 that stay in the cache. The last rows are
calls from Python. "CasADi, supple's operations" is supple's optimised graph printed by CasADi: what remains is the back-end.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import paper_recursion
from compiled import Compiled, bind, bind_native, compile_casadi, to_casadi
from dualemps_states import closed_states
from timing import best_times, show

from supple.backends.compiler import FLAGS
from supple.backends.native import native
from supple.expr.passes import optimise
from supple.formulations.least_constraint.articulated import inverse_model
from supple.machine import Machine

STREAMED, RESIDENT, REPEATS, ROUNDS = 100_000, 2_000, 20, 25
PLAIN = ("-O3", "-march=native")
CASADI, SCALAR = "CasADi, paper's recursion", "supple, 1 lane"


def main() -> None:
    mechanism = Machine.read("dualemps").mechanism()
    derived = inverse_model(mechanism)
    model = optimise(derived).function
    paper = paper_recursion.inverse_model(mechanism.names())
    q, v, a = closed_states(mechanism.names(), STREAMED)
    states = {"q": q, "v": v, "a_active": a, "g": np.array([0.0, 0.0, 9.81])}
    print(f"operations: CasADi {operations(paper)}, supple {derived.operations}, optimised {model.operations}")

    casadi = {
        CASADI: compile_casadi(paper, PLAIN),
        "  the same, supple's flags": compile_casadi(paper, (*FLAGS, "-march=native")),
        "CasADi, supple's operations": compile_casadi(to_casadi(model), PLAIN),
    }
    sizes = {"tau": 2, "a_elastic": 9}
    lanes = {f"supple, {n} lane{'s'[: n > 1]}{', float' * single}": native(model, lanes=n, single=single)
             for single in (False, True) for n in (1, 4, 8)}  # fmt: skip
    few = {k: x[:RESIDENT] if x.ndim > 1 else x for k, x in states.items()}
    bound, resident = (
        {k: bind(x, sizes, given) for k, x in casadi.items()} | {k: bind_native(x, given) for k, x in lanes.items()}
        for given in (states, few)
    )
    compare(bound)

    calls = {k: x.run for k, x in bound.items()}
    for threads in (1, 2):
        whole = native(model, lanes=8, threads=threads)
        calls[f"supple, 8 lanes, {threads} thread{'s'[: threads > 1]}, from Python"] = lambda whole=whole: whole(**states)
    streaming = {k: t / STREAMED * 1e9 for k, t in best_times(calls, ROUNDS).items()}
    again = best_times({k: lambda x=x: [x.run() for _ in range(REPEATS)] for k, x in resident.items()}, ROUNDS)
    cached = {k: t / RESIDENT / REPEATS * 1e9 for k, t in again.items()}

    def columns(name: str, of: dict[str, float]) -> list[str]:
        if name not in of:
            return ["", "", ""]
        return [f"{of[name]:.1f}", f"{of[CASADI] / of[name]:.2f}", f"{of[SCALAR] / of[name]:.2f}"]

    show(
        "inverse model of DualEMPS, one core: ns a state, and how many times faster than CasADi and than one lane",
        ["", "100,000 states", "x CasADi", "x 1 lane", "in cache", "x CasADi", "x 1 lane"],
        [[name, *columns(name, streaming), *columns(name, cached)] for name in streaming],
    )


def operations(f: ca.Function) -> int:
    """+ - * / and negations, as supple counts them."""
    arithmetic = (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV)
    return sum(f.instruction_id(k) in arithmetic for k in range(f.n_instructions()))


def compare(bound: dict[str, Compiled]) -> None:
    """Stop unless all agree: each output to 1e-9 of its largest value, 1e-3 in single precision."""
    for contestant in bound.values():
        contestant.run()
    for name, contestant in bound.items():
        worst = max(
            float((np.abs(x - bound[CASADI].outputs[key]).max(0) / np.abs(bound[CASADI].outputs[key]).max(0)).max())
            for key, x in contestant.outputs.items()
        )
        print(f"{name:30s} differs from CasADi by {worst:.1e}")
        assert worst < (1e-3 if "float" in name else 1e-9), name


if __name__ == "__main__":
    main()
