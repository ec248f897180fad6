"""Play rows of a table in this process, or in several on this machine.

Rows go to processes in chunks and what they lead to comes back in their order, so the answer does
not depend on how many processes there are. Rows are read only a few chunks ahead of the outcomes,
so memory does not depend on how many rows there are.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, resource_tracker
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

from assignors.assignor import Assignor

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

CHUNKS_AHEAD = 4
"""Chunks for each process that are read before their outcomes are taken."""

ENDED_EARLY = "a process ended before its rows were played: it was killed, or memory ran out"

RowT = TypeVar("RowT")
OutcomeT = TypeVar("OutcomeT")


def require_names(assignors: Iterable[str | Assignor], processes: int) -> None:
    """Raise `ValueError` for an assignor that is given as it is and would go to other processes."""
    if processes > 1 and any(isinstance(each, Assignor) for each in assignors):
        words = "each of them imports an assignor of your own by its name, 'package.module:object'"
        raise ValueError(f"assignors: with {processes} processes {words}")


def in_processes(
    rows: Iterable[RowT],
    play: Callable[[list[RowT]], Iterable[OutcomeT]],
    processes: int,
    chunk: int,
) -> Iterator[OutcomeT]:
    """Yield what `play` makes of the rows, in their order.

    With more than one process each gets `chunk` rows at a time; `play` must be picklable, and the
    calling program must guard its start (`if __name__ == "__main__"`), as `multiprocessing` asks.
    Raises `ChildProcessError` if one of them ends before its rows are played, and what `play` or
    the rows raise once the outcomes before have been taken. Memory: a row and its outcomes with one
    process; with several, those of `CHUNKS_AHEAD` chunks for each.

    >>> list(in_processes([1, 2, 3], lambda chunk: [10 * row for row in chunk], 1, 2))
    [10, 20, 30]
    """
    if processes <= 1:
        for row in rows:
            yield from play([row])
        return
    # A third of what `simulate --help` would import.
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - as above
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - as above

    ahead = _Ahead(_chunks(rows, chunk), CHUNKS_AHEAD * processes)
    played: SimpleQueue[Future[list[OutcomeT]] | None] = SimpleQueue()
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    with _without_interrupts():  # a process is started when a chunk is handed in
        Thread(target=_hand_in, args=(ahead, pool, _Listed(play), played), daemon=True).start()
    try:
        while (outcomes := played.get()) is not None:
            listed = outcomes.result()
            ahead.release()
            yield from listed
    except BrokenProcessPool:
        raise ChildProcessError(ENDED_EARLY) from None
    finally:
        ahead.stop()
        _end(pool)


def _hand_in(
    ahead: _Ahead[RowT],
    pool: ProcessPoolExecutor,
    play: _Listed[RowT, OutcomeT],
    played: SimpleQueue[Future[list[OutcomeT]] | None],
) -> None:
    """Hand all chunks to the processes; `played` gets what will be outcomes, and `None` at the end.

    What the rows raise is an outcome as well, and so is the error of a pool that takes no more.
    """
    from concurrent.futures import Future  # noqa: PLC0415 - as above

    try:
        for chunk in ahead:
            played.put(pool.submit(play, chunk))
    except Exception as error:  # noqa: BLE001 - raised where the caller takes it
        failed: Future[list[OutcomeT]] = Future()
        failed.set_exception(error)
        played.put(failed)
    played.put(None)


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes, whatever they are doing."""
    # `terminate_workers` is new in Python 3.14, and reads the same. Before that nothing public
    # names the processes: a context that keeps what it makes has to take the place of two classes
    # of `multiprocessing`, and a number that a process sends may be another's when it has ended.
    for process in list((pool._processes or {}).values()):  # noqa: SLF001 - as above
        process.terminate()
    pool.shutdown(cancel_futures=True)


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let processes and threads that start in here have no part in Ctrl-C, which reaches them too.

    The main thread of this process is told afterwards, and ends them. Each would else end with a
    traceback of its own. They inherit what is blocked as they start, before they run any Python.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # The helper that `multiprocessing` starts once lets signals through again as it starts.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Ahead(Generic[RowT]):
    """Chunks of rows for the thread that feeds the processes: a limited number at a time.

    The thread waits in here until the caller has taken an outcome; `stop` ends that wait.
    """

    def __init__(self, chunks: Iterator[list[RowT]], limit: int) -> None:
        self._chunks = chunks
        self._permits = Semaphore(limit)
        self._is_stopped = False

    def __iter__(self) -> Iterator[list[RowT]]:
        while True:
            self._permits.acquire()
            if self._is_stopped:
                return
            chunk = next(self._chunks, None)
            if chunk is None:
                return
            yield chunk

    def release(self) -> None:
        """Allow one more chunk."""
        self._permits.release()

    def stop(self) -> None:
        """Give no more chunks."""
        self._is_stopped = True
        self._permits.release()


@dataclass(frozen=True, slots=True)
class _Listed(Generic[RowT, OutcomeT]):
    """What `play` makes, as a list: what goes to another process and back."""

    play: Callable[[list[RowT]], Iterable[OutcomeT]]

    def __call__(self, chunk: list[RowT]) -> list[OutcomeT]:
        return list(self.play(chunk))


def _chunks(rows: Iterable[RowT], size: int) -> Iterator[list[RowT]]:
    left = iter(rows)
    while chunk := list(islice(left, size)):
        yield chunk
