"""The pages about `watch` show what the terminal shows, and name the metrics that are served."""

from __future__ import annotations

import io
import re
from urllib.request import urlopen

from rich.console import Console

from assignors.cli.outputs.watch_view import TerminalView
from assignors.replay.sample import incident
from assignors.watch.events import WatchKind
from assignors.watch.group_state import Cluster
from assignors.watch.groups import Watch
from assignors.watch.metrics import Metrics
from assignors.watch.position import Position
from assignors.watch.rules import OWN, rule_of
from tests.docs.examples import blocks
from tests.docs.source import DOCS
from tests.replay.histories import classic, commit, in_order

COLUMNS = 80
PLAYED_MS = 90_000
"""How much of the sample the picture shows."""


def drawn() -> str:
    """What a terminal shows after the beginning of the sample."""
    stream = io.StringIO()
    view = TerminalView(Console(file=stream, width=COLUMNS, markup=False, highlight=False))
    watch, entries = Watch(), list(incident())
    for entry in entries:
        if entry.at_ms <= entries[0].at_ms + PLAYED_MS:
            view.take(watch.add(entry))
    view.show(
        Position(
            where="broker:9092",
            group_count=len(watch.groups),
            record_count=watch.record_count,
            at_ms=watch.clock_ms,
            delay_ms=400,
        )
    )
    view.close()
    return stream.getvalue()


def lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_the_picture_of_the_terminal_is_what_it_shows() -> None:
    (block,) = blocks("docs/watch.md", "text")
    assert lines_of(block.text) == lines_of(drawn())


def test_the_table_of_alerts_has_each_kind_with_a_rule_of_its_own_and_its_severity() -> None:
    page = (DOCS / "watch.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    listed = {name: row[2].strip() for row in rows for name in re.findall(r"`([a-z-]+)`", row[1])}
    assert listed == {kind: rule_of(kind).severity.value for kind in listed}
    assert {*OWN, *WatchKind} == listed.keys()


def test_the_recipe_names_the_metrics_that_are_served_and_no_others() -> None:
    watch = Watch()
    at = Position(where="b", group_count=1, record_count=2, at_ms=3, delay_ms=1)
    metrics = Metrics(":0")
    try:
        for alert_of in (*incident(), *in_order([classic(1, 1, {}), commit(2, "t", 0, 7)])):
            metrics.take(watch.add(alert_of))
        watch.add(Cluster(at_ms=3, ends={"t": (9,)}))
        metrics.observe(watch, at)
        with urlopen(f"http://127.0.0.1:{metrics.port}/metrics") as answer:
            text = answer.read().decode()
    finally:
        metrics.close()
    served = set(re.findall(r"^# TYPE (kafka_assignors_\w+)", text, flags=re.MULTILINE))
    page = (DOCS / "recipes" / "prometheus.md").read_text(encoding="utf-8")
    assert set(re.findall(r"kafka_assignors_\w+", page)) == served
