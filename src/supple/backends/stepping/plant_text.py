"""The C text of a plant: its equations, sizes and tables, and the integrators that work with them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

from supple.backends import c_source
from supple.backends.assembly import PROLOGUE, assembled, for_lanes
from supple.backends.program import body as program_body
from supple.backends.stepping.collocation import collocation_tables
from supple.backends.stepping.damping_text import ACCELERATED, further_damping
from supple.backends.stepping.layout import (
    BALL,
    CHOSEN,
    initialiser,
    layout_text,
    struct_text,
    table_text,
)
from supple.backends.stepping.limb_text import limb_sizes, limb_tables
from supple.backends.stepping.plant import Ball, Controlled, Coupled, Place, Plant
from supple.backends.stepping.tables import rows, table
from supple.expr.function import Function

_COUPLED = ("coupled", "multipliers", "chains", "printed")
_COLUMNS = (
    "algebra",
    "plant",
    "layout",
    "signals",
    "rotations",
    "loops",
    "motion",
    "dense",
    *_COUPLED,
    "state_space",
    "control",
    "columns",
)
_METHODS = (
    "complex",
    "bent",
    "limbs",
    "limb_teams",
    "limb_numbers",
    "limb_factors",
    "limb_solve",
    "limb_factors",  # the same of other numbers
    "limb_solve",
    "limb_answers",
    "newton",
    "collocation",
    "generalised_alpha",
    "dormand_prince",
    "quasi_static",
)
_PARTS = (*_COLUMNS, *_METHODS, "recording", "run", "entries")


_GCC = "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC {}\n#endif"
# integrators run as fast with -O1 if small functions are inlined, without copies of functions for constant sizes and without
# vectors but where they are asked for, equations without a search for dead stores; all are compiled sooner
_PLAINLY = (
    _GCC.format('optimize ("O1", "inline-small-functions", "no-ipa-cp", "no-tree-vectorize")') + "\n#define SUPPLE_QUICKLY"
)
_QUICKLY = "\n".join(_GCC.format(x) for x in ("push_options", 'optimize ("O1", "no-tree-dse", "no-dse")'))
_THOROUGHLY = _GCC.format("pop_options")
_WIDE = """/* loops over the rows of matrices go several rows at a time, which gcc's -O2 leaves undone */
#if defined(__GNUC__) && !defined(__clang__)
#define SUPPLE_WIDE __attribute__((optimize("O3", "tree-vectorize")))
#else
#define SUPPLE_WIDE
#endif"""


@cache
def _file(name: str) -> str:
    """The text of a header; that of the layout is generated."""
    if name == "layout":
        return layout_text()
    return (Path(__file__).parent / f"{name}.h").read_text(encoding="ascii")


def plant_source(plant: Plant, lanes: int = 1, registers: int = 0) -> str:
    """The C text of a plant with its integrators for some lanes; with `registers` its equations are assembly."""
    printed = for_lanes("\n".join(_printed(plant, registers=registers)), lanes)
    return "\n".join([printed, *_definitions(plant, plant.stages), stepping_source(plant.stages)])


def plant_sources(plant: Plant, wide: int = 1, registers: int = 0) -> tuple[str, str]:
    """The C text of a plant with its integrators, and that which computes columns of their derivatives side by side."""
    printed = "\n".join(_printed(plant, registers=registers))
    columns = (_file(part) for part in _COLUMNS)
    return (
        "\n".join([for_lanes(printed, 1), *_definitions(plant, plant.stages), stepping_source(plant.stages)]),
        "\n".join([for_lanes(printed, wide), *_definitions(plant, 0), *columns]),
    )


def stepping_source(stages: int) -> str:
    """The C text of the integrators, to stand after the equations of a plant."""
    return "\n".join([collocation_tables(stages), *(_file(part) for part in _PARTS), table_text()])


def plant_equations(plant: Plant, also: Sequence[Function] = ()) -> str:
    """The C text of a plant's equations, and of others, and its sizes and tables."""
    return "\n".join([*_printed(plant, also), *_definitions(plant, plant.stages)])


def _printed(plant: Plant, also: Sequence[Function] = (), registers: int = 0) -> list[str]:
    """The text of a plant's equations, and of others, in C; with `registers` as assembly."""
    printed = partial(assembled, count=registers) if registers else c_source.body
    own = [plant.loops, plant.rates, plant.square, plant.resolved, plant.drift, plant.accelerations, plant.tree, plant.power]
    own += [] if plant.limbs is None else [plant.limbs.posture, plant.limbs.balance]
    rigid = [] if plant.rigid is None else _rigid_functions(plant.rigid)
    coupled = [] if plant.coupled is None else [plant.coupled.gap, *(part.model for part in plant.coupled.parts)]
    text = [_PLAINLY, c_source.header(), PROLOGUE if registers else "", "#include <stdlib.h>", _WIDE, _QUICKLY]
    text += [printed(f) for f in (*own, *rigid, *coupled, *also) if f is not None]
    if plant.program is not None:
        text += [program_body(plant.program, "leg_by_leg", printed), _glue(plant)]
    if plant.damping:
        text.append(further_damping(plant))
    return [*text, _THOROUGHLY]


def chosen_text(plant: Plant) -> str:
    """Macros that say which coordinates are free and which follow, and how long the arm is at whose end angles show."""
    values = {
        "free_v": [p.v for p in plant.free],
        "free_q": [p.q for p in plant.free],
        "dependent_v": [p.v for p in plant.dependent],
        "dependent_q": [p.q for p in plant.dependent],
        "free_unit": [int(p.angle) for p in plant.free],
        "dependent_unit": [int(p.angle) for p in plant.dependent],
        "closure_row": plant.rows,
        "balls": plant.balls,
    }
    chosen = initialiser(CHOSEN, {k: x for k, x in values.items() if x})
    return f"#define MODEL_CHOSEN {chosen}\n#define MODEL_REACH {c_source.literal(plant.reach)}"


def _definitions(plant: Plant, stages: int) -> list[str]:
    lines = [*struct_text(BALL)]
    lines += [f"#define {key} {value}" for key, value in plant_sizes(plant, stages).items()]
    if plant.tree is not None:
        lines.append("#define DENSE")
    lines += [f"#define {k.upper()} {'NULL' if plant.resolved is None else f'model_{k}'}" for k in ("square", "resolved")]
    lines += [f"#define MULTIPLIED {plant.multipliers}", f"#define ODD {int(plant.odd)}"]
    lines += _places("GIVEN", plant.given)
    lines += [table("GIVEN_UNIT", [int(p.angle) for p in plant.given])] if stages else []
    lines += _places("TAU", plant.torque)
    lines += [] if plant.coupled is None else _couplings(plant, plant.coupled)
    lines += [] if plant.rigid is None else _rigid_tables(plant, plant.rigid)
    lines += [] if plant.limbs is None else limb_tables(plant, plant.limbs)
    return lines


def plant_sizes(plant: Plant, stages: int) -> dict[str, int]:
    """Numbers of coordinates, rows and tables by the names of their macros."""
    n, loop = len(plant.dependent), 0 if plant.coupled is None else len(plant.coupled.rows)
    aligned, rows = _alignments(plant.loops), _rates(plant.rates)
    wide = max(_wide(plant.rates), 0 if plant.rigid is None else _wide(plant.rigid.rates))
    rigid = _rigid_sizes(plant.rigid)
    return {
        "N_Q": plant.nq, "N_V": plant.nv, "N_FREE": len(plant.free), "N_GIVEN": len(plant.given), "N_DEP": n,
        "N_TAU": len(plant.torque), "N_DRIVEN": len(plant.given) + len(plant.torque), "N_W": plant.loads,
        "N_P": len(plant.parameters), "N_BALLS": len(plant.balls), "N_ALIGNED": aligned,
        "STAGES": stages, "PAIRS": stages // 2,
        **{k: rigid[k] for k in ("N_CQ", "N_CV", "N_CDEP", "N_CALIGNED", "N_CBALLS", "N_DRIVES")},
        "N_ROW": rows, "N_CROW": rigid["N_CROW"],
        "MOST_ROWS": max(rows, rigid["N_CROW"]), "MOST_DEP": max(n, rigid["N_CDEP"], loop), "N_LOOP": loop,
        "N_LATE": loop if plant.coupled is not None and plant.coupled.way == "printed" else 0,
        "MOST_WIDE": wide, "MOST_ALIGNED": max(aligned, rigid["N_CALIGNED"]), "MOST_Q": max(plant.nq, rigid["N_CQ"]),
        **limb_sizes(plant.limbs),
        "MOST_CHANNELS": max(len(plant.given), len(plant.torque), plant.loads),
    }  # fmt: skip


def _rigid_sizes(rigid: Controlled | None) -> dict[str, int]:
    """Sizes of the rigid robot in the controller; zeros where there is none."""
    if rigid is None:
        return dict.fromkeys(("N_CQ", "N_CV", "N_CDEP", "N_CALIGNED", "N_CBALLS", "N_DRIVES", "N_CROW"), 0)
    return {
        "N_CQ": len(rigid.start), "N_CV": rigid.inverse.inputs["v"].size, "N_CDEP": len(rigid.dependent),
        "N_CALIGNED": _alignments(rigid.loops), "N_CBALLS": len(rigid.balls), "N_DRIVES": len(rigid.drives),
        "N_CROW": _rates(rigid.rates),
    }  # fmt: skip


def _rigid_functions(rigid: Controlled) -> list[Function | None]:
    return [rigid.loops, rigid.rates, rigid.square, rigid.resolved, rigid.inverse]


def _wide(rates: Function | None) -> int:
    """Numbers in a Jacobian, or in its factors."""
    return 0 if rates is None else rates.outputs["jacobian"].size


def _alignments(loops: Function | None) -> int:
    return 0 if loops is None else loops.outputs["alignment"].size


def _rates(rates: Function | None) -> int:
    return 0 if rates is None else rates.outputs["velocity"].size


def _rigid_tables(plant: Plant, rigid: Controlled) -> list[str]:
    """Tables of the rigid robot in the controller."""
    given = [p.v for p in plant.given]
    return [
        *_places("CDEP", rigid.dependent), *_places("DRIVE", rigid.drives), *_places("MEASURED", rigid.measured),
        table("DRIVE_TAU", rigid.torques), table("CROW", rigid.rows),
        table("DRIVE_GIVEN", [given.index(p.v) if p.v in given else -1 for p in rigid.measured]),
        f"#define CMULTIPLIED {rigid.multipliers}", _balls("CBALLS", rigid.balls),
    ]  # fmt: skip


def _couplings(plant: Plant, by: Coupled) -> list[str]:
    """Macros and tables of what is coupled by forces."""
    free = [p.v for p in plant.free]
    lines = [table("LOOP_ROW", by.rows), table("V_FREE", [free.index(k) if k in free else -1 for k in range(plant.nv)])]
    lines += [f"#define GAIN {by.gain!r}"] if by.gain else []
    if by.moved:
        lines += ["#define MENDS", f"#define N_MOVED {len(by.moved)}", f"#define N_MOVED_BALLS {len(by.moved_balls)}"]
        lines += [*_places("MOVED", by.moved), _balls("MOVED_BALLS", by.moved_balls)]
    if by.way == "multipliers":
        return [*lines, "#define MULTIPLIERS"]
    lines += _chains(plant, by, free)
    if by.way == "printed":
        lines += ["#define PRINTED", f"#define N_TIED_BALLS {len(by.tied_balls)}"]
        lines += [*_places("TIED", by.tied), _balls("TIED_BALLS", by.tied_balls)]
    return lines


def _chains(plant: Plant, by: Coupled, free: list[int]) -> list[str]:
    """Macros and tables of chains that are solved one by one."""
    order = [k for part in by.parts for k in part.v]
    at = [sum(len(part.v) for part in by.parts[:n]) for n in range(len(by.parts) + 1)]
    light = [order.index(k) for part in by.parts for k in part.light]
    heavy = [int(k in free and i not in light) for i, k in enumerate(order)]
    names = ", ".join(c_source.signature(part.model).name for part in by.parts)
    inputs = ", ".join(f"const real *{x}" for x in ("q", "v", "g", "w", "p"))
    outputs = ", ".join(f"real *{x}" for x in ("M", "c", "load", "J"))
    return [
        "#define CHAINS", f"#define N_CHAINS {len(by.parts)}", f"#define N_LIGHT {len(light)}",
        f"#define MOST_CHAIN {max(len(part.v) for part in by.parts)}",
        table("CHAIN_AT", at), table("CHAIN_V", order), table("V_CHAIN", [order.index(k) for k in range(plant.nv)]),
        table("IS_HEAVY", heavy), table("LIGHT", light),
        f"static void (*const CHAIN_MODEL[])({inputs}, {outputs}) = {{{names}}};",
    ]  # fmt: skip


def _balls(name: str, balls: Sequence[Ball]) -> str:
    return f"static const Ball {name}[{max(1, len(balls))}] = {{{rows(balls) or '{0}'}}};"


def _places(name: str, places: Sequence[Place]) -> list[str]:
    return [table(f"{name}_V", [p.v for p in places]), table(f"{name}_Q", [p.q for p in places])]


def _glue(plant: Plant) -> str:
    """model_accelerations on top of the leg program, whose outputs come by kind of coordinate."""
    program = plant.program
    assert program is not None
    forward, damped = "tau" in program.inputs, "x" in program.inputs
    arguments = ("q, v, effort, g" if forward else "q, v, given, g") + (", x" if damped else "")
    declared = "".join(f"    real {k}[{max(1, size)}];\n" for k, size in program.outputs.items())
    outs = ", ".join(program.outputs)
    copies = "".join(f"    f[{i}] = {array}[{k}];\n" for i, (array, k) in enumerate(plant.outputs))
    if not forward:
        copies += f"    for (int i = 0; i < {len(plant.given)}; i++)\n        tau_given[i] = tau[i];\n"
    return (
        f"static void {'damped' if damped else 'model'}_accelerations({ACCELERATED}{'const real *x, ' if damped else ''}"
        "const real *p, real *f, real *tau_given)\n{\n"
        f"{declared}    (void)given; (void)effort; (void)w; (void)p; (void)tau_given;\n"
        f"    leg_by_leg({arguments}, {outs});\n{copies}}}\n"
    )
