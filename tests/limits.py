"""Guards against tests that never end: by the processor's time, which a busy machine does not use up."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 900  # s that a child process may take, however busy the machine; only one that hangs takes longer


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TimeoutError if this process computes for more than so many seconds; waiting for a turn does not count."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"computed for more than {seconds} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
