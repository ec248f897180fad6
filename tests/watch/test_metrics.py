"""What Prometheus scrapes is what `replay` says of the same records, and nothing grows for ever."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from assignors.replay import replay
from assignors.replay.decode.logged_records import LoggedRecord, group_in
from assignors.replay.sample import incident
from assignors.replay.tables.rows import GenerationRow
from assignors.watch.events import Alert, Event
from assignors.watch.group_state import Cluster, state_bytes, state_from_bytes
from assignors.watch.groups import Watch
from assignors.watch.metrics import Metrics, host_and_port
from assignors.watch.position import Position
from tests.replay.histories import Says, classic, commit, gone, in_order

HERE = Position(where="b", group_count=2, record_count=9, at_ms=1, delay_ms=None)
Series = dict[tuple[str, ...], float]

ALERT = Alert(
    event=Event.OPENED,
    id="5df36e8dd51f287c",
    group="billing",
    life=1,
    kind="unassigned",
    severity="high",
    opened_ms=5,
    at_ms=5,
    evidence="nobody has orders-3",
)


@contextmanager
def served(series_max: int = 10_000) -> Iterator[Metrics]:
    metrics = Metrics(":0", series_max=series_max)
    try:
        yield metrics
    finally:
        metrics.close()


def scraped(metrics: Metrics) -> str:
    with urlopen(f"http://127.0.0.1:{metrics.port}/metrics") as answer:
        text: str = answer.read().decode()
    return text


def series(metrics: Metrics) -> dict[str, Series]:
    """Name -> values of its labels, by the names of the labels -> value."""
    found: dict[str, Series] = {}
    for family in text_string_to_metric_families(scraped(metrics)):
        for sample in family.samples:
            name = sample.name.removeprefix("kafka_assignors_")
            found.setdefault(name, {})[
                tuple(value for _, value in sorted(sample.labels.items()))
            ] = sample.value
    return found


def watched(
    metrics: Metrics, entries: Iterable[LoggedRecord], *, batch: int = 1, watch: Watch | None = None
) -> Watch:
    """Add records, and take a picture behind each batch."""
    watch = watch or Watch()
    for number, entry in enumerate(entries, 1):
        metrics.take(watch.add(entry))
        if number % batch == 0:
            metrics.observe(watch, HERE)
    metrics.observe(watch, HERE)
    return watch


@pytest.mark.parametrize("batch", [1, 50, 1000])
def test_the_last_picture_is_the_last_generation_of_a_replay(batch: int) -> None:
    entries = list(incident())
    generations = [e for e in entries if e.record.name == "GROUP_METADATA" and e.record.value]
    upto = [e for e in entries if e.at_ms <= generations[len(generations) // 3].at_ms]
    last: dict[str, GenerationRow] = {row.group: row for row in replay(upto).generations}
    with served() as metrics:
        watched(metrics, upto, batch=batch)
        found = series(metrics)
    assert {group for (group,) in found["group_members"]} == last.keys()
    assert max(row.member_count for row in last.values()) > 2
    for group, row in last.items():
        assert found["group_generation"][(group,)] == row.generation
        assert found["group_members"][(group,)] == row.member_count
        assert found["group_load_max"][(group,)] == row.load_max
        assert found["group_partitions_double_owned"][(group,)] == row.double
        key = (group, row.kind, row.leader_client_id or "", row.protocol or "")
        assert found["group_info"][key] == 1
        held = [n for (name, _), n in found["group_partitions"].items() if name == group]
        assert sum(held) == row.partition_count


def test_counters_count_what_a_replay_lists() -> None:
    (group, *_) = {row.group: None for row in replay(incident()).groups if row.life == 1}
    entries = [e for e in incident() if group_in(e.record.key) == group]
    rows = [row for row in replay(entries).generations if row.group == group]
    with served() as metrics:
        watched(metrics, entries)
        found = series(metrics)
    assert len(rows) > 30
    assert found["group_rebalances_total"][(group,)] == rows[-1].generation - rows[0].generation
    assert found["group_members_joined_total"][(group,)] == sum(len(row.joined) for row in rows[1:])
    assert found["group_members_left_total"][(group,)] == sum(len(row.left) for row in rows[1:])


def test_no_label_is_the_id_of_a_member() -> None:
    with served() as metrics:
        watched(metrics, incident())
        text = scraped(metrics)
    ids = {row.member_id for row in replay(incident()).members}
    assert len(ids) > 10
    assert not [id_ for id_ in ids if id_ in text]


def test_the_series_of_a_group_end_with_the_group() -> None:
    began = classic(1, 1, {"m": Says(gets={"t": (0,)})}, group="short")
    over = commit(3, "t", 0, None, group="short")
    lived = in_order([began, commit(2, "t", 0, 7, group="short"), over, gone(4, group="short")])
    with served() as metrics:
        watch = watched(metrics, lived[:2])
        assert '"short"' in scraped(metrics)
        watched(metrics, lived[2:], watch=watch)
        assert '"short"' not in scraped(metrics)


def test_series_have_a_cap_and_what_is_left_out_is_counted() -> None:
    one = Says(gets={"t": (0,)})
    entries = [classic(at, 1, {"m": one}, group=f"g{at}") for at in range(1, 21)]
    with served(series_max=60) as metrics:
        watched(metrics, entries)
        found = series(metrics)
    kept = len(found["group_members"])
    assert 0 < kept < 20
    assert found["watch_groups_left_out"][()] == 20 - kept
    of_groups = [s for name, s in found.items() if name.startswith("group_")]
    assert sum(map(len, of_groups)) <= 60


def test_lag_is_what_lies_behind_the_last_commit() -> None:
    began = classic(1, 1, {"m": Says()})
    with served() as metrics:
        watch = watched(metrics, in_order([began, commit(2, "t", 0, 7), commit(3, "t", 1, 5)]))
        assert series(metrics)["group_last_commit_timestamp_seconds"] == {("g",): 0.003}
        assert "group_lag_records" not in series(metrics), "ends are not known"
        watch.add(Cluster(at_ms=4, ends={"t": (10, 5, 90)}))
        assert series(metrics)["group_lag_records"] == {("g", "t"): 3.0}


def test_a_watch_that_was_restored_has_its_groups_at_once() -> None:
    watch, again = Watch(), Watch()
    watch.add(*in_order([classic(1, 1, {"m": Says()})]))
    again.restore(state_from_bytes(state_bytes(watch.groups["g"])))
    with served() as metrics:
        metrics.observe(again, HERE)
        assert series(metrics)["group_members"] == {("g",): 1.0}
        assert again.groups["g"].rest is None, "it stays packed"


def test_alerts_that_are_open_are_a_gauge_and_every_opening_is_counted() -> None:
    over = replace(ALERT, event=Event.RESOLVED, withdrawn=True)
    with served() as metrics:
        metrics.take([ALERT, replace(ALERT, event=Event.REPEATED), replace(ALERT, id="other")])
        found = series(metrics)
        assert found["alerts"] == {("unassigned", "billing", "high"): 2.0}
        assert found["alerts_opened_total"] == {("unassigned",): 2.0}
        metrics.take([over])
        found = series(metrics)
        assert found["alerts"] == {("unassigned", "billing", "high"): 1.0}
        assert found["alerts_withdrawn_total"] == {("unassigned",): 1.0}


def test_the_watch_tells_how_far_it_is() -> None:
    with served() as metrics:
        metrics.observe(Watch(), replace(HERE, delay_ms=1500))
        found = series(metrics)
        metrics.observe(Watch(), HERE)
        assert "watch_behind_seconds" not in series(metrics), "a recording is never late"
    assert found["watch_behind_seconds"] == {(): 1.5}
    assert found["watch_records_total"] == {(): 9.0}


@pytest.mark.parametrize("address", ["", "9308", "host", ":", ":x", ":70000", "host:-1"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        host_and_port(address)
