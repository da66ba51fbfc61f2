"""Programs evaluated with numpy, and printed as C whose size does not depend on the number of legs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.backends import c_source
from supple.backends.interpreter import interpret
from supple.expr.function import Function, Indices
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


def body(program: Program, name: str, printed: Callable[[Function], str] = c_source.body) -> str:
    """The program as C, to stand after the header: four functions, each as `printed` says, tables of the legs, and
    name(inputs..., outputs...)."""
    sizes = {k: a.size for f in program.functions() for k, a in [*f.inputs.items(), *f.outputs.items()]}
    lines = [static(printed(f)) for f in program.functions()]
    lines += [_table(f"take_{k}", index) for k, index in program.take.items()]
    lines += [_table(f"put_{k}", index) for k, index in program.put.items()]
    lines += [_table(f"platform_{k}", index[None]) for k, index in program.platform.items()]
    rows = ",\n    ".join("{" + ", ".join(c_source.literal(x) for x in row) + "}" for row in program.constants)
    lines.append(f"static const double leg_constants[{program.legs}][{max(1, sizes['c'])}] = {{\n    {rows}\n}};\n")
    lines.append(_main(program, name, sizes))
    return "\n".join(lines)


def static(text: str) -> str:
    """The text of functions that only their own file sees."""
    return text.replace("\nvoid ", "\nstatic void ")


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
