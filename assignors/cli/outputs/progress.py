"""A bar on standard error while a long piece of work runs with a person watching.

Nothing is shown, and rich is not even imported, for the first second, when standard error is
no terminal, or when the answers themselves appear on the terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 1.0


def is_watched() -> bool:
    """Return whether somebody looks at standard error but not at the answers."""
    return sys.stderr.isatty() and not sys.stdout.isatty()


def counted(lines: Iterable[bytes], size: int | None) -> Iterator[bytes]:
    """Yield the lines; show how many bytes of `size` are done, or how many lines."""
    if not is_watched():
        yield from lines
        return
    unit = "lines" if size is None else "bytes"
    yield from _shown(lines, size, unit, lambda line: 1 if size is None else len(line) + 1)


def worked(items: Iterable[T], count: int | None, unit: str) -> Iterator[T]:
    """Yield the items; show how many of `count` are done. A watched screen is enough here."""
    if not sys.stderr.isatty():
        yield from items
        return
    yield from _shown(items, count, unit, lambda _: 1)


def _shown(
    items: Iterable[T], total: int | None, unit: str, weight: Callable[[T], int]
) -> Iterator[T]:
    """Yield the items, with a bar once the work has taken a second."""
    started = time.monotonic()
    done = 0
    remaining = iter(items)
    for item in remaining:
        yield item
        done += weight(item)
        if time.monotonic() - started > PATIENCE_SECONDS:
            break
    else:
        return
    from rich.console import Console  # noqa: PLC0415  # only long work pays for the import
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        BarColumn(),
        TextColumn("{task.completed:,.0f} " + unit),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=total, completed=done)
        for item in remaining:
            yield item
            progress.advance(bar, weight(item))
