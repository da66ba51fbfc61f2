"""All code blocks of the documentation as printed, those marked by hand and commands without a fence too, with their
processor times. Commands that name files of the reader's own are left out, and said to be.

python bench/docs.py [PAGE ...]
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from docs_blocks import ROOT, Block, blocks, indented, pages, run, words


def spent() -> float:
    own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


_OWN = (".yaml", ".uff", ".nc", ".csv", ".par", ".urdf")


def lacking(block: Block, folder: Path) -> list[str]:
    """Files that a command reads and that nothing on its page has made."""
    given = words(block.text)
    written = {given[k + 1] for k, w in enumerate(given[:-1]) if w in ("-o", "--output", "--plot", "--overlay", "--shapes")}
    return [w for w in given[1:] if w.endswith(_OWN) and w not in written and not (folder / w).exists()]


def main() -> int:
    failed = 0
    for page in pages():
        if sys.argv[1:] and page.stem not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
            names: dict[str, object] = {}
            for block in sorted([*blocks(page), *indented(page)], key=lambda b: b.line):
                if (
                    block.language == "sh"
                    and block.by_hand
                    and "\n" not in block.text
                    and (absent := lacking(block, folder))
                ):
                    print(f"{block.name}: reads {', '.join(absent)}, which is yours: not run")
                    continue
                begun = spent()
                try:
                    run(block, folder, names)
                except (Exception, SystemExit) as problem:
                    failed += 1
                    print(f"{block.name}: {type(problem).__name__}: {str(problem)[:400]}")
                if block.language in ("sh", "python"):
                    print(f"{block.name}: {spent() - begun:.1f} s{', by hand' if block.by_hand else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
