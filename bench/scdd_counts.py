"""Operations of the direct dynamics of a rigid five-bar by four formulations; tables 1 and 2 of Stachera & Schumacher.

    python bench/scdd_counts.py

The paper counts symbolic equations simplified by Mathematica, with all that the direct dynamics need (rates of the passive
joints too). Ours are counted with the rates of the passive joints solved inside, as derived and after the optimiser; sines
and cosines are not counted on either side."""

from __future__ import annotations

from collections import Counter

from supple import models
from supple.expr.passes import optimise
from supple.machine import Machine

PAPER = {"SCDD": (192, 80, 432, 38), "L-D'A": (670, 302, 2482, 36)}
OURS = {
    "scdd, as printed": ("scdd", "as_printed"),
    "scdd, exact": ("scdd", "forward"),
    "lagrange_dalembert": ("lagrange_dalembert", "forward"),
    "lagrange": ("lagrange", "forward"),
    "newton_euler (articulated)": ("newton_euler", "forward"),
}
# robot: actuators, passive joints and elastic coordinates per chain, as printed; SCDD and L-D'A as printed
TABLE_1 = {"five-bar": (2, 1, 1, 54, 64), "HEXA": (6, 2, 1, 384, 1728), "Triglide": (3, 2, 1, 162, 729)}


def scdd_size(chains: int, passive: int, elastic: int) -> int:
    """n (1 + n_p + n_e)^3."""
    return chains * (1 + passive + elastic) ** 3


def reduced_size(actuators: int, elastic: int) -> int:
    """(n_a + all elastic coordinates)^3."""
    return (actuators + elastic) ** 3


def row(name: str, counts: Counter[str]) -> str:
    total = sum(counts[k] for k in ("add", "sub", "mul", "div", "neg"))
    return f"{name:42s}{counts['add']:6d}{counts['sub'] + counts['neg']:6d}{counts['mul']:6d}{counts['div']:6d}{total:8d}"


def main() -> None:
    print(f"{'rigid five-bar, direct dynamics':42s}{'+':>6s}{'-':>6s}{'*':>6s}{'/':>6s}{'total':>8s}")
    for name, (plus, minus, times, over) in PAPER.items():
        print(row(f"paper, {name}", Counter(add=plus, sub=minus, mul=times, div=over)))
    mechanism = Machine.read("five_bar_elastic").mechanism(rigid=True)
    for name, (formulation, model) in OURS.items():
        f = models.builder(model, formulation)(mechanism)
        if model != "as_printed":  # which solves them itself
            f = models.with_rates_solved(f, mechanism)
        print(row(f"{name}, derived", f.counts))
        print(row(f"{name}, optimised", optimise(f).function.counts))
    print("\nmatrix inversion, table 1: printed, and by the paper's formulas")
    for name, (actuators, passive, elastic, scdd, reduced) in TABLE_1.items():
        ours = scdd_size(actuators, passive, elastic), reduced_size(actuators, actuators * elastic)
        print(f"{name:10s} SCDD {scdd:5d} {ours[0]:5d}   L-D'A {reduced:5d} {ours[1]:5d}")
    print(f"Triglide with six rods as chains: SCDD {scdd_size(6, 1, 1)}, L-D'A {reduced_size(3, 6)}")


if __name__ == "__main__":
    main()
