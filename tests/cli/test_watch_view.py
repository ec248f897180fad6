"""A terminal shows what is open, a pipe what happens, and no name of a group draws anything."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from assignors.cli.outputs.forms import Form
from assignors.cli.outputs.watch_view import (
    TerminalView,
    event_line,
    json_line,
    printer_of,
)
from assignors.watch.events import Alert, Event
from assignors.watch.position import Position
from tests.cli.running import answers, called

START_MS = 1_795_220_340_000
OPENED = Alert(
    event=Event.OPENED,
    id="5df36e8dd51f287c",
    group="billing",
    life=1,
    kind="unassigned",
    severity="high",
    opened_ms=START_MS,
    at_ms=START_MS,
    evidence="orders[3] unassigned in generation 7",
    leader="app-1 at /10.0.0.7, guessed to be franz-go",
)
STORM = replace(
    OPENED,
    id="other",
    group="mail",
    kind="rebalance-storm",
    severity="critical",
    evidence="34 generations in 80.5 s",
)
RESOLVED = replace(OPENED, event=Event.RESOLVED, at_ms=START_MS + 90_000)
HERE = Position(
    where="broker:9092",
    group_count=2,
    record_count=41_204,
    at_ms=START_MS + 61_000,
    delay_ms=1_200,
)


def view(width: int = 110) -> tuple[TerminalView, io.StringIO]:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, height=40, force_terminal=False, markup=False, highlight=False
    )
    return TerminalView(console), stream


def drawn(shown: TerminalView, width: int = 110) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False).print(shown)
    return stream.getvalue()


def test_open_alerts_are_shown_worst_first_until_they_are_resolved() -> None:
    shown, _ = view()
    shown.take([OPENED, STORM, replace(OPENED, event=Event.REPEATED)])
    shown.show(HERE)
    text = drawn(shown)
    assert "2 groups in trouble" in text
    assert text.index("rebalance-storm") < text.index("unassigned")
    assert "orders[3] unassigned in generation 7" in text
    assert "61.0 s" in text
    assert "41,204 records, read up to 2026-11-21 00:20:01.000Z, 1.2 s behind" in text
    shown.take([RESOLVED])
    assert "unassigned" not in drawn(shown)
    assert "1 group in trouble" in drawn(shown)
    shown.close()


def test_what_opens_and_closes_scrolls_by_and_repeats_do_not() -> None:
    shown, stream = view()
    shown.take([OPENED, replace(OPENED, event=Event.REPEATED), RESOLVED])
    shown.close()
    text = stream.getvalue()
    assert (text.count("opened  high"), text.count("resolved  high")) == (1, 1)
    assert "repeated" not in text


@pytest.mark.parametrize("width", [30, 60, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    shown, _ = view(width)
    shown.take([replace(OPENED, id=str(number), evidence="word " * 80) for number in range(30)])
    lines = drawn(shown, width).splitlines()
    assert max(map(len, lines)) <= width
    assert "and 10 more alerts" in " ".join(lines)
    shown.close()


def test_no_name_draws_anything_on_a_terminal_or_in_a_log() -> None:
    evil = replace(OPENED, group="\x1b[2J[red]x\n", evidence="\x07\x1b]0;title", leader="\r")
    shown, stream = view()
    shown.take([evil])
    shown.close()
    for text in (drawn(shown), stream.getvalue(), event_line(evil)):
        assert not set(text) & set("\x1b\x07\r")
    assert "[red]" in drawn(shown), "no markup"
    assert "\n" not in event_line(evil)
    assert json.loads(json_line(evil))["alert"]["group"] == evil.group


def test_a_pipe_gets_a_line_an_event(capsys: pytest.CaptureFixture[str]) -> None:
    for form in Form:
        printer = printer_of(form)
        printer.take([OPENED, RESOLVED])
        printer.show(HERE)
        printer.close()
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 2
        assert OPENED.id in lines[0]
        assert OPENED.id in lines[1]
    withdrawn = event_line(replace(RESOLVED, withdrawn=True))
    assert "withdrawn  high  unassigned  billing" in withdrawn
    assert "after 90.0 s" in withdrawn


def test_alerts_go_to_every_place_that_is_named(tmp_path: Path) -> None:
    places = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    words = [word for place in places for word in ("--alerts", str(place))]
    lines, code = answers("watch", "--sample", "--metrics", ":0", *words)
    assert code == 1
    assert {line["alert"]["event"] for line in lines} >= {"opened", "resolved"}
    for place in places:
        written = [json.loads(line) for line in place.read_text().splitlines()]
        assert written == [line["alert"] for line in lines]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--metrics", "9308", "not :PORT or HOST:PORT"),
        ("--alerts", "ftp://host", "not http://HOST or https://HOST"),
        ("--alerts", "no/such/folder/file", "No such file"),
    ],
)
def test_a_place_that_is_none_is_refused(option: str, value: str, words: str) -> None:
    done = called("watch", "--sample", option, value)
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert done.stdout == b""
