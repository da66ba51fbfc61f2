"""All code blocks of the documentation as printed, those marked by hand too, with their processor times.
--list tells which are run by hand, and why.

python bench/docs.py [--list] [PAGE ...]
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from docs_blocks import ROOT, Block, blocks, pages, run


def spent() -> float:
    own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> int:
    failed, asked = 0, [w for w in sys.argv[1:] if w != "--list"]
    for page in (p for p in pages() if not asked or p.stem in asked):
        if "--list" in sys.argv:
            for block in (b for b in blocks(page) if b.by_hand):
                print(f"{block.name}: {block.by_hand}: {block.text.splitlines()[0]}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            failed += sum(not well(b, Path(folder), names) for names in [{}] for b in prepared(page, Path(folder)))
    return 1 if failed else 0


def prepared(page: Path, folder: Path) -> list[Block]:
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
    return blocks(page)


def well(block: Block, folder: Path, names: dict[str, object]) -> bool:
    """Runs a block and says how long it took; False if it fails."""
    begun, fine = spent(), True
    try:
        run(block, folder, names)
    except (Exception, SystemExit) as problem:
        fine = False
        print(f"{block.name}: {type(problem).__name__}: {str(problem)[:400]}")
    if block.language in ("sh", "python") or "$ supple" in block.text:
        print(f"{block.name}: {spent() - begun:.1f} s{', by hand' if block.by_hand else ''}", flush=True)
    return fine


if __name__ == "__main__":
    sys.exit(main())
