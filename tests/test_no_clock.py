"""No test looks at a clock: a busy machine is no fault of the code. Guards against hanging are in `limits`."""

from __future__ import annotations

import re
from pathlib import Path

# a process's own timers and clocks; seconds of computing are limited by `limits.limited` only
CLOCKS = re.compile(r"\b(perf_counter|monotonic|process_time|thread_time|timeit|SIGALRM|setitimer)\b")


def test_no_test_reads_a_clock() -> None:
    files = [f for f in Path(__file__).parent.glob("*.py") if f.name not in ("limits.py", Path(__file__).name)]
    found = [
        f"{file.name}:{number}: {line.strip()}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if CLOCKS.search(line)
    ]
    assert len(files) > 50 and not found
