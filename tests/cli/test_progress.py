from __future__ import annotations

import io
import sys

import pytest

from assignors.cli.outputs import progress


class Terminal(io.StringIO):
    """Standard error with a person in front of it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("patience", [-1.0, 60.0])
def test_a_bar_takes_nothing_away(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", watched)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", patience)
    lines = [b"a", b"", b"bcd"]
    assert list(progress.counted(lines, 7)) == lines
    assert list(progress.counted(iter(lines), None)) == lines
    assert list(progress.worked(range(5), 5, "outcomes")) == list(range(5))
    assert ("outcomes" in watched.getvalue()) == (patience < 0)


def test_nobody_is_shown_a_bar_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", -1.0)
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    assert list(progress.counted([b"a"], 2)) == [b"a"]
    assert list(progress.worked([1], 1, "outcomes")) == [1]
    assert screen.getvalue() == ""
