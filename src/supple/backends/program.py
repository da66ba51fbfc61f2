"""Programs evaluated with numpy, and printed as C whose size does not depend on the number of legs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from supple.backends import c_source
from supple.backends.interpreter import interpret
from supple.expr.function import Function, Indices
from supple.expr.passes.hoist import staged
from supple.expr.program import Program


def run(program: Program, **inputs: Any) -> dict[str, Any]:
    """Outputs of a program at one state or a batch of states."""
    given = {k: np.asarray(v, dtype=float) for k, v in inputs.items()}
    given["drive"] = given[_drive(program)]
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in given.values()))
    given = {k: np.broadcast_to(a, (*batch, a.shape[-1])) for k, a in given.items()}
    own = {k: given[k][..., index] for k, index in program.platform.items()}
    common = interpret(program.prepare)(**own)["common"]
    gather, spread = interpret(program.gather), interpret(program.spread)
    total: Any = 0.0
    carried = []
    for leg in range(program.legs):
        part = {k: given[k][..., index[leg]] for k, index in program.take.items()}
        found = gather(**part, g=given["g"], c=program.constants[leg], common=common)
        total = total + found["part"]
        carried.append(found["carried"])
    slots = interpret(program.meet)(total=total, common=common)["slots"]
    outputs = {k: np.zeros((*batch, size)) for k, size in program.outputs.items()}
    for leg in range(program.legs):
        found = spread(carried=carried[leg], slots=slots)
        for key, index in program.put.items():
            outputs[key][..., index[leg]] = found[key]
    return outputs


def _drive(program: Program) -> str:
    return "tau" if "tau" in program.inputs else "a_active"


def source(program: Program) -> str:
    """The program as one self-contained C file."""
    return c_source.header() + "\n" + body(program, program.name)


def body(program: Program, name: str, split: bool = False) -> str:
    """The program as C, to stand after the header: four functions, tables of the legs, and name(inputs..., outputs...).

    `split`: what forces x on elastic coordinates have no part in is computed by a function of its own (`responses`)."""
    sizes = {k: a.size for f in program.functions() for k, a in [*f.inputs.items(), *f.outputs.items()]}
    lines = []
    for f in program.functions():
        lines.append(_split(f) if split and f is program.gather else _static(f))
    lines += [_table(f"take_{k}", index) for k, index in program.take.items()]
    lines += [_table(f"put_{k}", index) for k, index in program.put.items()]
    lines += [_table(f"platform_{k}", index[None]) for k, index in program.platform.items()]
    rows = ",\n    ".join("{" + ", ".join(c_source.literal(x) for x in row) + "}" for row in program.constants)
    lines.append(f"static const double leg_constants[{program.legs}][{max(1, sizes['c'])}] = {{\n    {rows}\n}};\n")
    lines.append(_main(program, name, sizes))
    return "\n".join(lines)


def _static(f: Function) -> str:
    return c_source.body(f).replace("\nvoid ", "\nstatic void ")


def _split(gather: Function) -> str:
    """`gather` in two functions: before_forces (all but x -> settled), and with_forces (x, settled -> its outputs)."""
    before, after = staged(gather, [set(gather.inputs) - {"x"}, {"x"}])
    before, after = replace(before, name="before_forces"), replace(after, name="with_forces")
    inputs = ", ".join(f"const real *restrict {k}" for k in gather.inputs)
    others = ", ".join(k for k in gather.inputs if k != "x")
    return "\n".join([
        _static(before), _static(after), f"#define SETTLED {before.outputs['carried'].size}",
        f"static void gather({inputs}, real *restrict part, real *restrict carried)", "{",
        "    SUPPLE_THREAD_LOCAL real settled[SETTLED];",
        f"    before_forces({others}, settled);", "    with_forces(x, settled, part, carried);", "}", "",
    ])  # fmt: skip


def _table(name: str, index: Indices) -> str:
    rows = ",\n    ".join("{" + ", ".join(str(int(x)) for x in row) + "}" for row in index)
    return f"static const int {name}[{index.shape[0]}][{max(1, index.shape[1])}] = {{\n    {rows}\n}};\n"


def _main(program: Program, name: str, sizes: dict[str, int]) -> str:
    drive = _drive(program)
    n = program.legs
    inputs = ", ".join(f"const real *restrict {k}" for k in program.inputs)
    outputs = ", ".join(f"real *restrict {k}" for k in program.outputs)
    local = {"q": "leg_q", "v": "leg_v", "drive": "leg_drive", "g": "g", "c": "leg_c", "common": "common", "x": "leg_x"}
    gather = ", ".join([*(local[k] for k in program.gather.inputs), "part", "carried[i]"])
    spread_inputs = ", ".join({"carried": "carried[i]", "slots": "slots"}[k] for k in program.spread.inputs)
    spread_outputs = ", ".join(f"out_{k}" for k in program.spread.outputs)
    meet = ", ".join({"total": "total", "common": "common"}[k] for k in program.meet.inputs)
    take = [
        f"        for (int k = 0; k < {index.shape[1]}; k++) leg_{key}[k] = {whole}[take_{key}[i][k]];"
        for key, index in program.take.items()
        for whole in [drive if key == "drive" else key]
    ]
    put = [
        f"        for (int k = 0; k < {index.shape[1]}; k++) {key}[put_{key}[i][k]] = out_{key}[k];"
        for key, index in program.put.items()
    ]
    own = [
        f"    for (int k = 0; k < {index.size}; k++) own_{key}[k] = {key}[platform_{key}[0][k]];"
        for key, index in program.platform.items()
    ]
    declared = [f"    real own_{k}[{max(1, i.size)}];" for k, i in program.platform.items()]
    declared += [f"    real leg_{k}[{max(1, i.shape[1])}];" for k, i in program.take.items()]
    declared += [f"    real out_{k}[{max(1, i.shape[1])}];" for k, i in program.put.items()]
    return "\n".join(
        [
            f"void {name}({inputs}, {outputs})",
            "{",
            *declared,
            f"    real common[{max(1, sizes['common'])}], part[{sizes['part']}], slots[{sizes['slots']}];",
            f"    real total[{sizes['total']}], carried[{n}][{max(1, sizes['carried'])}], leg_c[{max(1, sizes['c'])}];",
            *own,
            "    prepare(own_q, own_v, common);",
            f"    for (int k = 0; k < {sizes['total']}; k++) total[k] = fill(0.0);",
            f"    for (int i = 0; i < {n}; i++) {{",
            *take,
            f"        for (int k = 0; k < {sizes['c']}; k++) leg_c[k] = fill(leg_constants[i][k]);",
            f"        gather({gather});",
            f"        for (int k = 0; k < {sizes['total']}; k++) total[k] = total[k] + part[k];",
            "    }",
            f"    meet({meet}, slots);",
            f"    for (int i = 0; i < {n}; i++) {{",
            f"        spread({spread_inputs}, {spread_outputs});",
            *put,
            "    }",
            "}",
            "",
        ]
    )


def responses(program: Program) -> str:
    """C functions of the same program at rest, to stand after it: what every leg does by itself under forces x on its elastic
    coordinates and given accelerations of the platform (`legs_settled` at a posture, then `legs_held`), the platform's accelerations by the sum of the parts
    (`legs_met`), and K u and D u of every leg (`legs_stiff`)."""
    assert program.stiffness is not None
    sizes = {k: a.size for f in program.functions() for k, a in [*f.inputs.items(), *f.outputs.items()]}
    still = [("own_v", program.platform["v"].size), ("leg_v", program.take["v"].shape[1])]
    still += [("leg_drive", program.take["drive"].shape[1]), ("g", 3)]
    zero = [f"    real {k}[{max(1, n)}];\n    for (int k = 0; k < {n}; k++) {k}[k] = fill(0.0);" for k, n in still]
    local = {"q": "leg_q", "v": "leg_v", "drive": "leg_drive", "g": "g", "c": "leg_c", "common": "common", "x": "x"}
    before = ", ".join([*(local[k] for k in program.gather.inputs if k != "x"), "settled[i]"])
    after = ", ".join([*program.spread.inputs, *(f"out_{k}" for k in program.spread.outputs)])
    meet = ", ".join(program.meet.inputs)
    legs = f"    for (int i = 0; i < {program.legs}; i++) {{"
    own = [
        f"    real own_q[{program.platform['q'].size}], common[{max(1, sizes['common'])}];",
        f"    for (int k = 0; k < {program.platform['q'].size}; k++) own_q[k] = q[platform_q[0][k]];",
        "    prepare(own_q, own_v, common);",
    ]
    places = program.take["q"].shape[1]
    take = [
        legs, f"        real leg_q[{places}], leg_c[{max(1, sizes['c'])}];",
        f"        for (int k = 0; k < {places}; k++) leg_q[k] = q[take_q[i][k]];",
        f"        for (int k = 0; k < {sizes['c']}; k++) leg_c[k] = fill(leg_constants[i][k]);",
    ]  # fmt: skip
    kinds = [k for k in ("a_elastic", "a_active") if k in program.put]
    row = sum(program.put[k].shape[1] for k in kinds)
    copies, first = [], 0
    for kind in kinds:
        n = program.put[kind].shape[1]
        copies.append(f"        for (int k = 0; k < {n}; k++) out[i * {row} + {first} + k] = out_{kind}[k];")
        first += n
    outs = [f"        real out_{k}[{max(1, i.shape[1])}];" for k, i in program.put.items()]
    n = program.put["a_elastic"].shape[1]
    stiff = c_source.body(program.stiffness).replace("\nvoid ", "\nstatic void ")
    name = c_source.signature(program.stiffness).name
    return "\n".join([
        stiff,
        f"SUPPLE_THREAD_LOCAL real settled[{program.legs}][SETTLED];",
        "static void legs_settled(const real *q)", "{", *zero, *own, *take, f"        before_forces({before});", "    }", "}", "",
        "static void legs_held(const real *x, const real *slots, real *part, real *out)", "{", legs, *outs,
        f"        real carried[{max(1, sizes['carried'])}];",
        f"        with_forces(x, settled[i], part + i * {sizes['part']}, carried);", f"        spread({after});", *copies,
        "    }", "}", "",
        "static void legs_met(const real *q, const real *total, real *slots)", "{",
        *zero, "    (void)leg_v; (void)leg_drive; (void)g;", *own, f"    meet({meet}, slots);", "}", "",
        "static void legs_stiff(const real *q, const real *u, real *stiff, real *damped)", "{", *take,
        f"        {name}(leg_q, leg_c, u, stiff + i * {n}, damped + i * {n});", "    }", "}", "",
    ])  # fmt: skip
