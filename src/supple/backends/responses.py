"""What the legs of a program yield to forces on their elastic coordinates, as C."""

from __future__ import annotations

from supple.backends import c_source
from supple.backends.program import static
from supple.expr.program import Program


def responses(program: Program) -> str:
    """C functions of a program at rest, to stand after its body, split: what every leg does by itself under forces x and
    given accelerations of the platform (`legs_settled` at a posture, then `legs_held`), the platform's accelerations by the
    sum of the parts (`legs_met`), and K u and D u of every leg (`legs_stiff`)."""
    assert program.stiffness is not None
    n = program.put["a_elastic"].shape[1]
    name = c_source.signature(program.stiffness).name
    return "\n".join([
        static(program.stiffness),
        *_settled(program), *_held(program),
        "static void legs_met(const real *q, const real *total, real *slots)", "{", *_platform(program),
        f"    meet({', '.join(program.meet.inputs)}, slots);", "}", "",
        "static void legs_stiff(const real *q, const real *u, real *stiff, real *damped)", "{", *_each_leg(program),
        f"        {name}(leg_q, leg_c, u, stiff + i * {n}, damped + i * {n});", "    }", "}", "",
    ])  # fmt: skip


def _size(program: Program, name: str) -> int:
    found = [a.size for f in program.functions() for k, a in [*f.inputs.items(), *f.outputs.items()] if k == name]
    return max(found)


def _zeros(name: str, n: int) -> str:
    return f"    real {name}[{max(1, n)}];\n    for (int k = 0; k < {n}; k++) {name}[k] = fill(0.0);"


def _platform(program: Program) -> list[str]:
    """Lines that make `common` of the platform at rest."""
    n = program.platform["q"].size
    return [
        _zeros("own_v", program.platform["v"].size),
        f"    real own_q[{n}], common[{max(1, _size(program, 'common'))}];",
        f"    for (int k = 0; k < {n}; k++) own_q[k] = q[platform_q[0][k]];",
        "    prepare(own_q, own_v, common);",
    ]


def _legs(program: Program) -> str:
    return f"    for (int i = 0; i < {program.legs}; i++) {{"


def _each_leg(program: Program) -> list[str]:
    """The head of a loop over the legs, with the positions and constants of each."""
    places, constants = program.take["q"].shape[1], _size(program, "c")
    return [
        _legs(program), f"        real leg_q[{places}], leg_c[{max(1, constants)}];",
        f"        for (int k = 0; k < {places}; k++) leg_q[k] = q[take_q[i][k]];",
        f"        for (int k = 0; k < {constants}; k++) leg_c[k] = fill(leg_constants[i][k]);",
    ]  # fmt: skip


def _settled(program: Program) -> list[str]:
    """What forces have no part in, of every leg."""
    local = {"q": "leg_q", "v": "leg_v", "drive": "leg_drive", "g": "g", "c": "leg_c", "common": "common"}
    inputs = ", ".join([*(local[k] for k in program.gather.inputs if k != "x"), "settled[i]"])
    return [
        f"SUPPLE_THREAD_LOCAL real settled[{program.legs}][SETTLED];",
        "static void legs_settled(const real *q)", "{",
        *(_zeros(f"leg_{k}", program.take[k].shape[1]) for k in ("v", "drive")), _zeros("g", 3),
        *_platform(program), *_each_leg(program), f"        before_forces({inputs});", "    }", "}", "",
    ]  # fmt: skip


def _held(program: Program) -> list[str]:
    """Parts and accelerations of every leg: elastic ones, then those of actuators that forces drive."""
    kinds = [k for k in ("a_elastic", "a_active") if k in program.put]
    row = sum(program.put[k].shape[1] for k in kinds)
    copies, first = [], 0
    for kind in kinds:
        n = program.put[kind].shape[1]
        copies.append(f"        for (int k = 0; k < {n}; k++) out[i * {row} + {first} + k] = out_{kind}[k];")
        first += n
    spread = ", ".join([*program.spread.inputs, *(f"out_{k}" for k in program.spread.outputs)])
    return [
        "static void legs_held(const real *x, const real *slots, real *part, real *out)", "{", _legs(program),
        *(f"        real out_{k}[{max(1, i.shape[1])}];" for k, i in program.put.items()),
        f"        real carried[{max(1, _size(program, 'carried'))}];",
        f"        with_forces(x, settled[i], part + i * {_size(program, 'part')}, carried);",
        f"        spread({spread});", *copies, "    }", "}", "",
    ]  # fmt: skip
