"""Published papers made again: `paper(name)` returns every number that can be had beside the printed one."""

from __future__ import annotations

import time
import tomllib
from importlib import import_module
from importlib.resources import files

from supple.errors import SuppleError
from supple.results.paper import Reproduction

PAPERS = ("briot2014", "long2014", "stachera2008", "rognant2010", "vidoni2012")


def paper(name: str) -> Reproduction:
    """A paper made again: its tables and figures beside what is printed, with the reasons for differences."""
    if name not in PAPERS:
        raise SuppleError(f"there is no paper {name!r}; choose one of {', '.join(PAPERS)}")
    begun = time.process_time()
    printed = tomllib.loads((files("supple.papers") / "printed" / f"{name}.toml").read_text(encoding="utf-8"))
    module = import_module(f"supple.papers.{name}")
    sections = module.sections(printed)
    return Reproduction(
        name,
        printed["citation"],
        printed["about"],
        tuple(sections),
        time.process_time() - begun,
        getattr(module, "FILES", {}),
    )
