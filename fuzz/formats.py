"""Every format that supple reads: whole files to start from, how they are damaged, and what is done with what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz import seeds, trees
from fuzz.mutations import Mutation, noise, text
from fuzz.seeds import Seed

_YAML = (text, trees.yaml_tree)
_TEXT = (text, text, noise)
_NPZ = (noise, trees.arrays(trees.read_npz, trees.write_npz))


@dataclass(frozen=True)
class Format:
    """A format: `seeds` makes whole files below a folder, `ways` are the mutations that are drawn from."""

    name: str
    seeds: Callable[[Path], list[Seed]]
    ways: Sequence[Mutation]


FORMATS = {
    f.name: f
    for f in (
        Format("robots", seeds.robots, _YAML),
        Format("motions", seeds.motions, _YAML),
        Format("tests", seeds.tests, _YAML),
        Format("imports", seeds.imports, _TEXT),
        Format("controllers", seeds.controllers, _TEXT),
        Format("csv", seeds.tables, _TEXT),
        Format("inp", seeds.abaqus, _TEXT),
        Format("bdf", seeds.bulk_data, _TEXT),
        Format("op2", seeds.output2, (noise,)),
        Format("pch", seeds.punch, _TEXT),
        Format("unv", seeds.universal, _TEXT),
        Format("frd", seeds.results, _TEXT),
        Format("mtx", seeds.market, _TEXT),
        Format("dof", seeds.stored_matrices, _TEXT),
        Format("mat", seeds.matlab, (noise, trees.arrays(trees.read_mat, trees.write_mat))),
        Format("npz", seeds.npz, _NPZ),
        Format("nc", seeds.netcdf, (noise, trees.arrays(trees.read_nc, trees.write_nc))),
        Format("checkpoints", seeds.checkpoints, (noise,)),
        Format("parts", seeds.parts, (noise,)),
    )
}


@dataclass(frozen=True)
class Mutant:
    """A damaged file: which seed it comes from, what it holds, and whether all that can be asked of it is asked."""

    seed: int
    content: bytes
    deep: bool


def mutant(chosen: Format, whole: Sequence[bytes], run: int, number: int) -> Mutant:
    """The mutant of a number, always the same for a seed `run` and the same whole files."""
    chance = Random(f"{chosen.name} {run} {number}")
    k = chance.randrange(len(whole))
    deep = chance.random() < 0.1
    return Mutant(k, chance.choice(chosen.ways)(chance, whole[k], whole), deep)
