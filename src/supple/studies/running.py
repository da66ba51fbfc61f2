"""A study run: its cases in parts, each kept as soon as it is answered, in this process, in many, or on a cluster."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for_sentinel
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import BackendError, SuppleError
from supple.model.algebra import Array
from supple.model.equilibrium import AWAY
from supple.results.study import Column, Study
from supple.storage.studies import Parts, save_study
from supple.studies.question import Cases, Part, Question, part_elsewhere
from supple.studies.tracking import check_follow, with_followed_modes

_AHEAD = 3  # parts handed out for every worker
_SMALL = 3  # parts that are not worth starting processes for
_BREAKS = 5  # pools of processes that may break without a new answer in between


@dataclass(frozen=True)
class Workers:
    """Who works: so many processes (None: one for every processor), or a dask cluster ('local', or its address)."""

    count: int | None = None
    dask: str | None = None
    output: Path | None = None  # a file for the study, with its parts beside it while it is under way
    resume: bool = False
    progress: Callable[[float], None] | None = None

    @property
    def processes(self) -> int:
        return self.count or os.cpu_count() or 1

    def parts(self) -> Parts | None:
        """Where parts are kept, emptied unless the study goes on from them."""
        if self.output is None:
            if self.resume:
                raise SuppleError("--resume needs -o FILE, beside which the parts of a study are")
            return None
        made = Parts(self.output)
        if self.resume and not made.there():
            raise SuppleError(f"there are no parts in {made.folder} to go on from; start without --resume")
        if not self.resume:
            made.remove()
        return made


def study(
    question: Question, cases: Cases, kind: str, shape: tuple[int, ...], chosen: Mapping[str, Column], workers: Workers, *,
    axes: tuple[str, ...],
) -> Study:  # fmt: skip
    """The Study of all cases, written to the workers' output; parts that are kept there are not computed again."""
    check_follow(question, len(cases), axes)
    keeper = workers.parts()
    slices = [slice(begin, min(begin + question.size, len(cases))) for begin in range(0, len(cases), question.size)]
    found = _Run(question, cases, slices, workers, keeper).parts()
    values = np.concatenate([part.values for part in found]) if found else np.zeros((0, len(question.asked)))
    problems = {
        s.start + k: text
        for s, part in zip(slices, found, strict=True)
        for k, text in part.problems.items()
        if not part.answered[k]
    }
    quantities = {q.name: Column(q.unit, values[:, k], q.about, q.low_is_bad) for k, q in enumerate(question.quantities)}
    regular = np.concatenate([part.regular for part in found])
    answered = np.concatenate([part.answered for part in found])
    notices = _away(question.robot.name, np.concatenate([part.away for part in found]), len(cases))
    made = Study(question.robot.name, kind, shape, axes, chosen, quantities, answered, problems, regular, notices=notices)
    if question.follow:
        made = with_followed_modes(made, question, cases, found)
    if keeper is not None and workers.output is not None:
        save_study(made, workers.output)
        keeper.remove()
    return made


def _away(robot: str, away: Array, count: int) -> tuple[str, ...]:
    """What is to be said of poses out of which weight or loads push the robot, a line for all of them."""
    far = int((away > AWAY).sum())
    if not far:
        return ()
    return (
        f"{robot}: in {far} of {count} poses weight and loads push it out of the pose asked for, joints by up to "
        f"{away.max():.2g} rad or m; answers are for the postures in which it comes to rest",
    )


class _Run:
    def __init__(
        self, question: Question, cases: Cases, slices: Sequence[slice], workers: Workers, keeper: Parts | None
    ) -> None:  # fmt: skip
        self.question, self.cases, self.slices, self.workers, self.keeper = question, cases, slices, workers, keeper
        self.found: dict[int, Part] = {}

    def parts(self) -> list[Part]:
        for k in range(len(self.slices)) if self.workers.resume else ():
            kept = self.keeper.kept(self._key(k)) if self.keeper is not None else None
            if kept is not None:
                self.found[k] = Part(**kept)
        left = [k for k in range(len(self.slices)) if k not in self.found]
        if self.workers.dask is not None and left:
            with _cluster(self.workers) as (pool, count):
                self._handed_out(pool, left, count)
        elif self.workers.processes > 1 and len(left) > _SMALL:
            self._in_processes(min(self.workers.processes, len(left)))
        else:
            for k in left:
                self._done(k, self.question.part(self._cases(k), self.workers.processes))
        return [self.found[k] for k in range(len(self.slices))]

    def _cases(self, k: int) -> Cases:
        return self.cases.taken(self.slices[k])

    def _key(self, k: int) -> str:
        cases = self._cases(k)
        made = hashlib.sha256(self.question.fingerprint.encode())
        for table in (cases.poses, cases.p):
            made.update(b"-" if table is None else np.ascontiguousarray(table).tobytes())
        return made.hexdigest()

    def _done(self, k: int, part: Part) -> None:
        self.found[k] = part
        if self.keeper is not None:
            self.keeper.keep(self._key(k), vars(part))
        if self.workers.progress is not None:
            self.workers.progress(len(self.found) / len(self.slices))

    def _in_processes(self, count: int) -> None:
        """All parts that are left, in processes; where one was killed, the others' work is kept and the rest begun anew."""
        breaks, before = 0, -1
        while len(self.found) < len(self.slices):
            breaks, before = (breaks + 1 if len(self.found) == before else 0), len(self.found)
            if breaks > _BREAKS:
                raise BackendError("processes that work on this study die again and again; is there enough memory?")
            left = [k for k in range(len(self.slices)) if k not in self.found]
            pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_worker)
            try:
                self._handed_out(pool, left, count)
            except BrokenExecutor:
                continue
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _handed_out(self, pool: Executor, left: Sequence[int], count: int) -> None:
        """Answers to the parts that are left, a few of them handed out at a time."""
        waiting = list(reversed(left))
        out: dict[Future[Part], int] = {}
        try:
            while waiting or out:
                while waiting and len(out) < _AHEAD * count:
                    k = waiting.pop()
                    out[pool.submit(part_elsewhere, self.question, self._cases(k))] = k
                for done in wait(out, return_when=FIRST_COMPLETED)[0]:
                    self._done(out.pop(done), done.result())
        finally:
            for future in out:
                future.cancel()


def _worker() -> None:
    """A process that leaves Ctrl-C to the one that started it, and ends when that one does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait_for_sentinel([sentinel])
    os._exit(1)


@contextmanager
def _cluster(workers: Workers) -> Iterator[tuple[Executor, int]]:
    """An executor on a dask cluster and how many workers there are; a local one listens to this machine only."""
    try:
        from dask import distributed
    except ImportError as missing:
        raise SuppleError("--dask needs dask: pip install 'supple[cluster]'") from missing
    dask: Any = distributed
    address = workers.dask or "local"
    if address == "local":
        cluster = dask.LocalCluster(
            n_workers=workers.processes, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        )
        with cluster, dask.Client(cluster) as client:
            yield client.get_executor(retries=3), workers.processes
        return
    try:
        client = dask.Client(address, timeout="5s")
    except (OSError, ValueError, TypeError) as problem:
        raise SuppleError(f"--dask {address}: there is no cluster that answers: {problem}") from problem
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise SuppleError(f"--dask {address}: the cluster has no workers")
        yield client.get_executor(retries=3), threads
