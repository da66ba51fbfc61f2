"""Tests run BLAS on one thread: two are hundreds of times slower on small matrices and a busy machine.

No test depends on the clock: examples drawn at random may take as long as they need.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

gc.set_threshold(100_000, 20, 20)  # as the command line does: equations are many small objects and hardly any garbage
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    import scipy.linalg  # noqa: F401  its BLAS must be loaded before the pools are limited

    with threadpool_limits(limits=1):
        yield
