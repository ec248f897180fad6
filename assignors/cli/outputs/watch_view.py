"""Print the alerts of a watch: JSON lines, lines of text, or a view that a terminal keeps current.

On a terminal each event scrolls by, and below it are the groups in trouble, worst first, and the
line of the watch itself: how far it is, and how old what it reads is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from assignors.cli.outputs.cells import clean, console_of, dumps
from assignors.cli.outputs.forms import Form
from assignors.cli.outputs.replay_tables import time_cell
from assignors.cli.outputs.table import INDENT, Column, Table, wrapped
from assignors.documents.failures import NO_ERROR
from assignors.documents.values import SCHEMA
from assignors.replay.findings.finding import amount, seconds
from assignors.replay.findings.table import RANK
from assignors.watch.events import Alert, Event, as_document
from assignors.watch.position import Position
from assignors.watch.sinks import Sink

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

SHOWN = 20
"""Most open alerts that a terminal shows, worst first."""

REFRESHES = 4
"""How often a second a terminal is drawn."""

STYLES = {"critical": "bold red", "high": "red", "medium": "yellow"}
"""Severity -> how its rows are drawn."""


class Printer(Sink, Protocol):
    """What prints a watch."""

    def show(self, position: Position) -> None:
        """Show how far the watch is, where that is shown."""


def printer_of(form: Form) -> Printer:
    """Return what prints in this form: a view where a terminal reads tables."""
    if form is Form.JSONL:
        return Lines(json_line)
    return TerminalView(console_of()) if sys.stdout.isatty() else Lines(event_line)


class Lines:
    """Each event as a line, written at once, as its reader may be waiting for it."""

    def __init__(self, line_of: Callable[[Alert], str]) -> None:
        """Print what `line_of` makes of each event."""
        self._line_of = line_of

    def take(self, alerts: Sequence[Alert]) -> None:
        """Print a line for each event."""
        sys.stdout.writelines(f"{self._line_of(alert)}\n" for alert in alerts)
        sys.stdout.flush()

    def show(self, position: Position) -> None:
        """Print nothing: the position is no event."""

    def close(self) -> None:
        """Do nothing: every line is written."""


class TerminalView:
    """Events that scroll by, above the alerts that are open."""

    def __init__(self, console: Console) -> None:
        """Start to draw on this console."""
        from rich.live import Live  # noqa: PLC0415 - only a terminal pays for the import

        self._console = console
        self._open: dict[str, tuple[Alert, int]] = {}
        self._position: Position | None = None
        self._live = Live(self, console=console, refresh_per_second=REFRESHES)
        self._live.start()

    def close(self) -> None:
        """Leave what was drawn last."""
        self._live.stop()

    def take(self, alerts: Sequence[Alert]) -> None:
        """Print each event above the view, and change what is open."""
        for alert in alerts:
            if alert.event is Event.RESOLVED:
                self._open.pop(alert.id, None)
            else:
                _, times = self._open.get(alert.id, (alert, 0))
                self._open[alert.id] = (alert, times + 1)
            if alert.event is not Event.REPEATED:
                style = STYLES.get(alert.severity) if alert.event is Event.OPENED else "green"
                self._print(_head(alert), style)
                self._print(clean(alert.evidence), style, INDENT)

    def _print(self, text: str, style: str | None, indent: str = "") -> None:
        for line in wrapped(text, max(self._console.width - len(indent), 1)):
            self._console.print(indent + line, style=style)

    def show(self, position: Position) -> None:
        """Show a new position with the next refresh."""
        self._position = position

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table of open alerts, and the line of the watch."""
        from rich.text import Text  # noqa: PLC0415 - as above

        del console
        if self._open:
            yield self._table()
        for line in wrapped(self._footer(), options.max_width):
            yield Text(line, style="dim", no_wrap=True, overflow="ignore")

    def _table(self) -> Table:
        # A copy, as the terminal is drawn by a thread of rich.
        worst = sorted(
            self._open.values(), key=lambda one: (RANK[one[0].severity], one[0].opened_ms)
        )
        groups = {alert.group for alert, _ in worst if alert.group}
        table = Table(COLUMNS, title=f"{amount(len(groups), 'group')} in trouble")
        now_ms = self._position.at_ms if self._position else None
        for alert, times in worst[:SHOWN]:
            table.add_row(
                alert.severity,
                alert.kind,
                clean(alert.group),
                time_cell(alert.opened_ms),
                seconds(max((now_ms or alert.at_ms) - alert.opened_ms, 0)),
                str(times),
                clean(alert.leader or "-"),
                style=STYLES.get(alert.severity),
                below=partial(_sentences, alert),
            )
        return table

    def _footer(self) -> str:
        left_out = len(self._open) - SHOWN
        more = "" if self._open else "no group in trouble; "
        more = f"and {left_out} more alerts; " if left_out > 0 else more
        return more + ("starting" if self._position is None else position_line(self._position))


def _sentences(alert: Alert, _missing: Sequence[str]) -> Sequence[str]:
    return [clean(alert.evidence)]


COLUMNS = (
    Column(header="SEVERITY"),
    Column(header="KIND"),
    Column(header="GROUP", is_text=True, is_name=True),
    Column(header="OPENED", rank=3),
    Column(header="FOR", rank=1, is_number=True),
    Column(header="#TIMES", rank=4, is_number=True),
    Column(header="LEADER", rank=2, is_text=True, is_name=True),
)
"""Columns of the open alerts."""


def json_line(alert: Alert) -> str:
    """Return an event as a line of JSON."""
    return dumps({"schema": SCHEMA, "alert": as_document(alert), **NO_ERROR})


def event_line(alert: Alert) -> str:
    """Return an event as one line: when, what happened, how bad, where, and why."""
    lasted_ms = alert.at_ms - alert.opened_ms
    after = "" if alert.event is Event.OPENED else f", after {seconds(lasted_ms)}"
    return f"{_head(alert)}  {alert.id}{after}: {clean(alert.evidence)}"


def _head(alert: Alert) -> str:
    what = "withdrawn" if alert.withdrawn else alert.event.value
    group = alert.group or "(the watch)"
    return clean("  ".join((time_cell(alert.at_ms), what, alert.severity, alert.kind, group)))


def position_line(position: Position) -> str:
    """Return how far a watch is, as a line.

    >>> position_line(Position(where="broker:9092", group_count=1, record_count=41_204,
    ...                        at_ms=1795220373651, delay_ms=1_200))
    'broker:9092: 1 group, 41,204 records, read up to 2026-11-21 00:19:33.651Z, 1.2 s behind'
    """
    return ", ".join(_position_parts(position))


def _position_parts(position: Position) -> Iterator[str]:
    yield f"{position.where}: {amount(position.group_count, 'group')}"
    yield amount(position.record_count, "record")
    if position.at_ms is not None:
        yield f"read up to {time_cell(position.at_ms)}"
    if position.delay_ms is not None:
        yield f"{seconds(max(position.delay_ms, 0))} behind"
