from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator, Sequence
from threading import Timer
from typing import TypeVar

import pytest

from assignors.cli.outputs import progress

T = TypeVar("T")


class Terminal(io.StringIO):
    """Standard error of a terminal."""

    def isatty(self) -> bool:
        return True


def watched_screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal in place of standard error; called in a test, as pytest sets it too."""
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    return screen


def test_a_bar_takes_nothing_away(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watched_screen(monkeypatch)
    lines = [b"a", b"", b"bcd"]
    assert list(progress.with_line_progress(lines, 7, len)) == lines
    assert watched.getvalue() == ""
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    assert list(progress.with_line_progress(slowly(watched, lines), 7, len)) == lines
    assert list(progress.with_line_progress(slowly(watched, lines), None, len)) == lines
    assert "lines" in watched.getvalue()


def test_a_bar_is_shown_before_the_first_item_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """`histories --topics 10000000` printed nothing for 100 seconds: no item, no bar."""
    watched = watched_screen(monkeypatch)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    assert list(progress.with_progress(slowly(watched, [7]), 1, "outcomes")) == [7]
    assert "0 of 1 outcomes" in watched.getvalue()


def test_a_bar_counts_from_the_begin_of_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watched_screen(monkeypatch)
    monkeypatch.setattr(progress, "Timer", lambda _, show: Timer(0, show))
    monkeypatch.setattr(progress, "DELAY_SECONDS", 3600.0)
    assert list(progress.with_progress(slowly(watched, [7]), 1000, "runs")) == [7]
    assert "0 of 1,000 runs" in watched.getvalue()
    assert "1:00:0" in watched.getvalue()
    assert "left" in watched.getvalue()


def slowly(screen: Terminal, items: Sequence[T]) -> Iterator[T]:
    """Yield the items, the first one when something is on the screen."""
    deadline = time.monotonic() + 20
    before = len(screen.getvalue())
    while len(screen.getvalue()) == before and time.monotonic() < deadline:
        time.sleep(0.01)
    yield from items


def test_no_bar_where_standard_error_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    assert list(progress.with_line_progress([b"a"], 2, len)) == [b"a"]
    assert list(progress.with_progress([1], 1, "outcomes")) == [1]
    assert screen.getvalue() == ""
