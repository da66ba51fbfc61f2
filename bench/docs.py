"""All code blocks of tutorials and how-to pages as printed, those marked by hand too, with their processor times.

python bench/docs.py [PAGE ...]
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from docs_blocks import blocks, pages, run


def spent() -> float:
    own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> int:
    failed = 0
    for page in pages():
        if page.parent.name not in ("tutorials", "how_to") or (sys.argv[1:] and page.stem not in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            names: dict[str, object] = {}
            for block in blocks(page):
                begun = spent()
                try:
                    run(block, Path(folder), names)
                except (Exception, SystemExit) as problem:
                    failed += 1
                    print(f"{block.name}: {type(problem).__name__}: {str(problem)[:400]}")
                if block.language in ("sh", "python"):
                    print(f"{block.name}: {spent() - begun:.1f} s{', by hand' if block.by_hand else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
