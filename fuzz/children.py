"""Verbs of the command line in child processes that are copies of this one: quick to start, and free to die."""

from __future__ import annotations

import os
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


def prepare() -> None:
    """Import once what every child needs."""
    import h5netcdf  # type: ignore[import-untyped]  # noqa: F401
    import matplotlib.animation
    import matplotlib.backends.backend_agg  # noqa: F401
    import scipy.io  # noqa: F401
    import xarray  # noqa: F401

    import supple.analyses.map
    import supple.analyses.simulate  # noqa: F401
    from supple.api import Robot

    Robot("cantilever").frf("tip", "tip", points=2)


@dataclass
class Child:
    """A verb under way: its process, and the end of what it says."""

    process: int
    end: int

    def wait(self, seconds: float = 900.0) -> tuple[int | None, str]:
        """Exit code (below zero: the signal that ended it; None: still running after `seconds`, and killed) and words."""
        said, until = b"", time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and select.select([self.end], [], [], left)[0]:
            piece = os.read(self.end, 65536)
            if not piece:
                break
            said += piece
        else:
            os.kill(self.process, signal.SIGKILL)
        os.close(self.end)
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return None if code == -signal.SIGKILL else code, said.decode(errors="replace")


def started(words: Sequence[str], environment: Mapping[str, str], become: Callable[[], None] | None = None) -> Child:
    """A verb of the command line with its words, in a process of its own; `become` is called there first."""
    end, begin = os.pipe()
    child = os.fork()
    if child:
        os.close(begin)
        return Child(child, end)
    os.close(end)
    os.dup2(begin, 1)
    os.dup2(begin, 2)
    os.environ.update(environment)
    tempfile.tempdir = None
    if become is not None:
        become()
    os._exit(_ended(words))


def _ended(words: Sequence[str]) -> int:
    from supple.cli.main import main as supple

    try:
        supple(list(words), standalone_mode=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 99
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
