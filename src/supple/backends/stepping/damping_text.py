"""The C text of damping beside the equations of a plant: the tables of damping.h, and functions that add its forces."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.backends import c_source
from supple.backends.stepping.plant import Plant
from supple.backends.stepping.tables import rows, table

_STATE = "const real *q, const real *v, "
AHEAD = 16  # numbers that are read beyond a matrix
ACCELERATED = f"{_STATE}const real *given, const real *effort,\n    const real *g, const real *w, "


def further_damping(plant: Plant) -> str:
    """model_accelerations or model_tree, and model_power, with damping of elastic coordinates."""
    names = {f.name: c_source.signature(f).name for f in (plant.tree, plant.accelerations, plant.power) if f is not None}
    forces = f"    real all[{plant.nv}];\n    further_damping(q, v, all);\n"
    each = f"    for (int i = 0; i < {len(plant.elastic)}; i++)\n        "
    text = [
        *_tables(plant),
        (Path(__file__).parent / "damping.h").read_text(encoding="ascii"),
        f"static void model_power({_STATE}const real *tau, const real *w, const real *p, real *power)\n{{\n{forces}"
        f"    {names[plant.power.name]}(q, v, tau, w, p, power);\n"
        f"{each}power[0] = power[0] - all[ELASTIC_V[i]] * v[ELASTIC_V[i]];\n}}\n",
    ]
    if plant.tree is not None:
        text.append(
            f"static void model_tree({_STATE}const real *g, const real *w, const real *p, real *M, real *c)\n{{\n{forces}"
            f"    {names[plant.tree.name]}(q, v, g, w, p, M, c);\n"
            f"{each}c[ELASTIC_V[i]] = c[ELASTIC_V[i]] + all[ELASTIC_V[i]];\n}}\n"
        )
    elif plant.coupled is not None:
        text.append("#define FURTHER_DAMPING")  # chains add it themselves
    else:
        own = "damped_accelerations" if plant.accelerations is None else names[plant.accelerations.name]
        text.append(
            f"static void model_accelerations({ACCELERATED}const real *p, real *f, real *tau_given)\n{{\n{forces}"
            f"    real x[{len(plant.elastic)}];\n{each}x[i] = all[ELASTIC_V[i]];\n"
            f"    {own}(q, v, given, effort, g, w, x, p, f, tau_given);\n}}\n"
        )
    return "\n".join(text)


def _tables(plant: Plant) -> list[str]:
    """DAMPED_BLOCK: of every block its coordinates in DAMPED_AT, its matrix in DAMPING (zeros at its end: rows are read in
    fours), and what stretches it in STRETCHED (rows of equal length, zeros behind); equal numbers stand once."""
    numbers = {"DAMPING": list[str](), "STRETCHED_BY": list[str]()}
    blocks, stretched = list[tuple[int, int, int, int, int]](), list[tuple[int, int]]()
    at, bending = list[int](), list[tuple[int, int]]()
    known: dict[bytes, int] = {}

    def kept(name: str, x: np.ndarray, zeros: int = 0) -> int:
        found = np.ascontiguousarray(x, dtype=float)
        key = name.encode() + found.tobytes()
        if key not in known:
            known[key] = len(numbers[name])
            numbers[name] += [*map(c_source.literal, found.ravel().tolist()), *["0"] * zeros]
        return known[key]

    sizes = [x.stretched.G.shape[:2] for x in plant.damping if x.stretched is not None]
    wide = max([1, *(columns for _, columns in sizes)])
    for x in plant.damping:
        n, t = len(x.at), x.stretched
        D, own = kept("DAMPING", x.D.T, max(-n % 4 * n, AHEAD)), [] if t is None else [*zip(*t, strict=True)]
        blocks.append((len(at), n, D, len(stretched), len(own)))
        at += [plant.elastic[k] for k in x.at]
        for first, q, v, G in own:
            few = wide - len(q)
            stretched.append((int(first), kept("STRETCHED_BY", np.pad(G, (0, few)))))
            bending += [*zip(q.tolist(), v.tolist(), strict=True), *[(q[0], v[0])] * few]
    return [
        f"#define DAMPED_V {plant.nv}\n#define MOST_DAMPED {max(len(x.at) for x in plant.damping)}",
        f"#define DAMPED_AHEAD {AHEAD} /* numbers that may be read beyond a matrix */",
        f"#define BENDING {wide} /* coordinates in a row of STRETCHED */\n#define ALL_STRETCHES {max(1, len(stretched))}",
        f"#define MOST_STRETCHES {max([1, *(count for count, _ in sizes)])}",
        "typedef struct {\n    int at, n, D, stretch, stretches;\n} Damped;",
        "typedef struct {\n    int first, G;\n} Stretched;",
        "#ifndef DAMPING_TABLE\n#define DAMPING_TABLE static const double\n#endif",
        *(
            f"{kind} {k}[{max(1, len(numbers[k]))}] = {{{', '.join(numbers[k]) or '0'}}};"
            for k, kind in (("DAMPING", "DAMPING_TABLE"), ("STRETCHED_BY", "static const double"))
        ),
        f"#define DAMPED_BLOCKS {len(blocks)}\nstatic const Damped DAMPED_BLOCK[] = {{{rows(blocks)}}};",
        f"static const Stretched STRETCHED[] = {{{rows(stretched or [(0, 0)])}}};",
        table("BENDING_Q", [q for q, _ in bending]), table("BENDING_V", [v for _, v in bending]),
        table("DAMPED_AT", at), table("ELASTIC_V", plant.elastic),
    ]  # fmt: skip
