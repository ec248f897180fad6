"""Play rows of a table in this process, or in several on this machine.

Outcomes come in the order of their rows, whatever the number of processes. Rows are read a few
chunks ahead of the outcomes, so memory does not depend on the number of rows.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from multiprocessing import get_context, resource_tracker
from time import process_time
from typing import TYPE_CHECKING, Any, TypeVar

from assignors.assignor import Assignor
from assignors.documents.failures import error_columns
from assignors.documents.keys import Kind
from assignors.documents.values import DocumentError
from assignors.own_assignors.answers import AssignorError

if TYPE_CHECKING:
    from concurrent.futures import Future

Row = Mapping[str, Any]
"""Column -> value."""

CHUNKS_AHEAD = 4
"""Chunks for each process that are read before their outcomes are taken."""

ENDED_EARLY = "a process ended before its rows were played: it was killed, or memory ran out"

RowT = TypeVar("RowT")
OutcomeT = TypeVar("OutcomeT")


ALONE_SECONDS = 3.0
"""Processor time of this process before others are started: each takes half a second."""


def in_processes(
    rows: Iterable[RowT],
    play: Callable[[RowT], Iterable[OutcomeT]],
    processes: int | None,
    chunk: int,
) -> Iterator[OutcomeT]:
    """Yield what `play` makes of each row, in the order of the rows.

    With more than one process each gets `chunk` rows at a time; `play` must be picklable, and the
    calling program must guard its start (`if __name__ == "__main__"`), as `multiprocessing` asks.
    `None`: one process for `ALONE_SECONDS`, and then one for each processor.
    Raises `ChildProcessError` if one of them ends before its rows are played, and what `play` or
    the rows raise once the outcomes before have been taken. Memory: a row and its outcomes with one
    process; with several, those of `CHUNKS_AHEAD` chunks for each.

    >>> list(in_processes([1, 2, 3], lambda row: [10 * row], 1, 2))
    [10, 20, 30]
    """
    rows = iter(rows)
    if processes is None:
        processes = usable_processors()
        if processes > 1:
            played = yield from _played_alone(rows, play)
            if not played:
                return
            chunk = max(1, min(chunk, played // (2 * processes)))
    if processes > 1:
        yield from _in_pool(rows, play, processes, chunk)
    else:
        for row in rows:
            yield from play(row)


def _in_pool(
    rows: Iterable[RowT], play: Callable[[RowT], Iterable[OutcomeT]], processes: int, chunk: int
) -> Iterator[OutcomeT]:
    # A third of what the help of `simulate` would import.
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - as above
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - as above

    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    waiting: deque[Future[list[OutcomeT]] | Exception] = deque()
    try:
        for read in _chunks(rows, chunk):
            if isinstance(read, Exception):
                waiting.append(read)
                break
            with _without_interrupts():
                waiting.append(pool.submit(partial(_all_of, play), read))
            if len(waiting) == CHUNKS_AHEAD * processes:
                yield from _outcomes(waiting.popleft())
        while waiting:
            yield from _outcomes(waiting.popleft())
    except BrokenProcessPool:
        raise ChildProcessError(ENDED_EARLY) from None
    finally:
        # `terminate_workers` is new in Python 3.14 and reads the same; before that nothing public
        # names the processes.
        for process in list((pool._processes or {}).values()):  # noqa: SLF001 - as above
            process.terminate()
        pool.shutdown(cancel_futures=True)


def _played_alone(
    rows: Iterator[RowT], play: Callable[[RowT], Iterable[OutcomeT]]
) -> Generator[OutcomeT, None, int]:
    """Yield the outcomes of `ALONE_SECONDS`; return how many rows that are, 0 if they were all."""
    begun = process_time()
    for played, row in enumerate(rows, 1):
        yield from play(row)
        if process_time() - begun > ALONE_SECONDS:
            return played
    return 0


def _chunks(rows: Iterable[RowT], size: int) -> Iterator[list[RowT] | Exception]:
    """Yield lists of rows; what the rows raise, which is for whoever has taken all before it."""
    left = iter(rows)
    try:
        while read := list(islice(left, size)):
            yield read
    except Exception as error:  # noqa: BLE001 - raised by `_outcomes`
        yield error


def _outcomes(of_chunk: Future[list[OutcomeT]] | Exception) -> list[OutcomeT]:
    if isinstance(of_chunk, Exception):
        raise of_chunk
    return of_chunk.result()


def _all_of(play: Callable[[RowT], Iterable[OutcomeT]], rows: list[RowT]) -> list[OutcomeT]:
    return [outcome for row in rows for outcome in play(row)]


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that do not receive Ctrl-C: each would end with a traceback of its own.

    They inherit the signals that are blocked as they start. The main thread receives Ctrl-C
    afterwards, and ends them.
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


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def require_names(assignors: Iterable[str | Assignor], processes: int | None) -> None:
    """Raise `ValueError` for an `Assignor` that would have to go to another process."""
    if processes != 1 and any(isinstance(each, Assignor) for each in assignors):
        words = "each of them imports an assignor of your own by its name, 'package.module:object'"
        raise ValueError(f"assignors: with {processes or 'several'} processes {words}")


def failed_row(named: Row, error: Exception) -> dict[str, Any]:
    """Return the row of a run that raised: `error` and `error_kind` after the columns of its name.

    The traceback of an assignor of the user's own begins in the second line of `error`.

    >>> failed_row({"seed": 3}, ZeroDivisionError("division by zero"))
    {'seed': 3, 'error': 'ZeroDivisionError: division by zero', 'error_kind': 'failed'}
    """
    columns = error_columns(error)
    if isinstance(error, AssignorError) and error.trace is not None:
        columns["error"] = f"{error}\n{error.trace}"
    return {**named, **columns}


def readable(row: Row, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the columns of a row that can be read, for the row of its error."""
    found = {}
    for name, kind in kinds.items():
        if row.get(name) is not None:
            with suppress(DocumentError):
                found[name] = kind.read(row[name], (name,))
    return found


def known(columns: Row) -> dict[str, Any]:
    """Return the columns that are not null.

    >>> known({"seed": 3, "assignor": None})
    {'seed': 3}
    """
    return {name: value for name, value in columns.items() if value is not None}
