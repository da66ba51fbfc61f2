"""The C text of damping beside the equations of a plant: forces D v by tables."""

from __future__ import annotations

import numpy as np

from supple.backends import c_source
from supple.backends.stepping.plant import Plant
from supple.backends.stepping.tables import rows, table

_STATE = "const real *q, const real *v, "
ACCELERATED = f"{_STATE}const real *given, const real *effort,\n    const real *g, const real *w, "


def further_damping(plant: Plant) -> str:
    """model_accelerations or model_tree, and model_power, with the forces D v on elastic coordinates."""
    n = len(plant.elastic)
    names = {f.name: c_source.signature(f).name for f in (plant.tree, plant.accelerations, plant.power) if f is not None}
    text = [
        *_damping_tables(plant),
        "static SUPPLE_WIDE void further_damping(const real *v, real *restrict x)\n{\n"
        f"    for (int i = 0; i < {n}; i++)\n        x[i] = fill(0.0);\n"
        "    for (int b = 0; b < DAMPED_BLOCKS; b++) {\n"
        "        const int n = DAMPED[b][1], *at = DAMPED_AT + DAMPED[b][0];\n"
        "        const double *a = DAMPING + DAMPED[b][2];\n"
        f"        real sum[{max(len(x.at) for x in plant.damping)}];\n"
        "        for (int i = 0; i < n; i++)\n            sum[i] = fill(0.0);\n"
        "        for (int k = 0; k < n; k += 4, a += 4 * n) { /* four at a time: fewer sums are read and written */\n"
        "            real rate[4];\n"
        "            for (int j = 0; j < 4; j++)\n"
        "                rate[j] = k + j < n ? v[ELASTIC_V[at[k + j]]] : fill(0.0);\n"
        "            for (int i = 0; i < n; i++)\n"
        "                sum[i] = sum[i] + (a[i] * rate[0] + a[n + i] * rate[1])\n"
        "                    + (a[2 * n + i] * rate[2] + a[3 * n + i] * rate[3]);\n        }\n"
        "        for (int i = 0; i < n; i++)\n            x[at[i]] = x[at[i]] + sum[i];\n    }\n}\n",
        f"static void model_power({_STATE}const real *tau, const real *w, const real *p, real *power)\n{{\n"
        f"    real x[{n}];\n    further_damping(v, x);\n    {names[plant.power.name]}(q, v, tau, w, p, power);\n"
        f"    for (int i = 0; i < {n}; i++)\n        power[0] = power[0] - x[i] * v[ELASTIC_V[i]];\n}}\n",
    ]
    if plant.tree is not None:
        text.append(
            f"static void model_tree({_STATE}const real *g, const real *w, const real *p, real *M, real *c)\n{{\n"
            f"    real x[{n}];\n    further_damping(v, x);\n    {names[plant.tree.name]}(q, v, g, w, p, M, c);\n"
            f"    for (int i = 0; i < {n}; i++)\n        c[ELASTIC_V[i]] = c[ELASTIC_V[i]] + x[i];\n}}\n"
        )
    elif plant.coupled is not None:
        text.append(f"#define FURTHER_DAMPING {n}")  # chains add it themselves
    else:
        own = "damped_accelerations" if plant.accelerations is None else names[plant.accelerations.name]
        text.append(
            f"static void model_accelerations({ACCELERATED}const real *p, real *f, real *tau_given)\n{{\n"
            f"    real x[{n}];\n    further_damping(v, x);\n"
            f"    {own}(q, v, given, effort, g, w, x, p, f, tau_given);\n}}\n"
        )
    return "\n".join(text)


def _damping_tables(plant: Plant) -> list[str]:
    """DAMPED: first of DAMPED_AT, size and first of DAMPING of every block; equal ones stand once, zeros at their end."""
    blocks, numbers, kept, first = [], list[str](), dict[bytes, int](), 0
    for x in plant.damping:
        n, D = len(x.at), np.ascontiguousarray(x.D.T, dtype=float)
        key = D.tobytes()
        if key not in kept:
            kept[key] = len(numbers)
            numbers += [*map(c_source.literal, D.ravel().tolist()), *["0"] * (-n % 4 * n)]
        blocks.append((first, n, kept[key]))
        first += n
    return [
        "#ifndef DAMPING_TABLE\n#define DAMPING_TABLE static const double\n#endif",
        f"DAMPING_TABLE DAMPING[{len(numbers)}] = {{{', '.join(numbers)}}};",
        f"#define DAMPED_BLOCKS {len(blocks)}\nstatic const int DAMPED[][3] = {{{rows(blocks)}}};",
        table("DAMPED_AT", [k for x in plant.damping for k in x.at]), table("ELASTIC_V", plant.elastic),
    ]  # fmt: skip
