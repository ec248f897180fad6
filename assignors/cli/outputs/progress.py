"""Show a progress bar on standard error during long work, if it is a terminal.

Nothing is shown, and rich is not imported, during the first second, when standard error is no
terminal, or when the answers themselves appear on the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from threading import Timer
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

DELAY_SECONDS = 1.0
"""How long work runs before a bar is shown."""


def is_visible() -> bool:
    """Return whether standard error is a terminal and standard output is not."""
    return sys.stderr.isatty() and not sys.stdout.isatty()


def with_line_progress(
    lines: Iterable[T], size: int | None, width: Callable[[T], int]
) -> Iterator[T]:
    """Yield the lines; show how many bytes of `size` are done, or how many lines.

    `width` is the number of bytes of a line, without its line feed.
    """
    if not is_visible():
        yield from lines
        return
    unit = "lines" if size is None else "bytes"
    yield from _with_bar(lines, size, unit, lambda line: 1 if size is None else width(line) + 1)


def with_progress(
    items: Iterable[T], count: int | None, unit: str, weight: Callable[[T], int] = lambda _: 1
) -> Iterator[T]:
    """Yield the items; show how many of `count` are done, even if answers appear on a terminal.

    `weight` says how many of `count` an item is.
    """
    if not sys.stderr.isatty():
        yield from items
        return
    yield from _with_bar(items, count, unit, weight)


def _with_bar(
    items: Iterable[T], total: int | None, unit: str, weight: Callable[[T], int]
) -> Iterator[T]:
    """Yield the items; show a bar once the work has taken a second, even before the first item."""
    done = 0
    bars: list[Progress] = []
    timer = Timer(DELAY_SECONDS, lambda: bars.append(_started_bar(total, unit)))
    timer.daemon = True
    timer.start()
    try:
        for item in items:
            yield item
            done += weight(item)
            for bar in bars:
                bar.update(bar.task_ids[0], completed=done)
    finally:
        timer.cancel()
        timer.join()
        for bar in bars:
            bar.stop()


def _started_bar(total: int | None, unit: str) -> Progress:
    """Return a bar on standard error that a thread of its own keeps drawing."""
    from rich.console import Console  # noqa: PLC0415  # only long work pays for the import
    from rich.progress import (  # noqa: PLC0415  # as above
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    of_total = " " if total is None else f" of {total:,} "
    progress = Progress(
        BarColumn(),
        TextColumn("{task.completed:,.0f}" + of_total + unit),
        TimeElapsedColumn(),
        *([] if total is None else [TimeRemainingColumn(), TextColumn("left")]),
        console=Console(stderr=True),
        transient=True,
    )
    progress.add_task("", total=total)
    (task,) = progress.tasks
    task.start_time = progress.get_time() - DELAY_SECONDS  # when the work began
    progress.start()
    return progress
