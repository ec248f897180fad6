"""Groups as people had them in public threads: what is found, and what is not.

`data/field` has them, with names and bytes of our own; `data/README.md` says where each is from.
"""

from __future__ import annotations

from dataclasses import replace as replaced
from typing import Any

import pytest

from assignors.replay import replay
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.engines.python import replay_records as tables_of
from assignors.replay.findings.selection import EVERYTHING
from assignors.replay.report import page
from assignors.replay.result import ReplayResult
from assignors.replay.tables.rows import FindingRow
from tests.replay.findings import COOPERATIVE, found, kinds, lower, upper
from tests.replay.histories import DATA, Says, classic, commit, gone, in_order
from tests.replay.html_outline import Outline

BOTH = {"t": (0, 1, 2, 3)}


def field(name: str, **options: Any) -> ReplayResult:
    return replay(DATA / "field" / f"{name}.jsonl.gz", min_severity="note", **options)


def of_kind(rows: list[FindingRow], kind: str) -> FindingRow:
    (row,) = [row for row in rows if row.kind == kind]
    return row


# Instances that fence each other.


def test_two_processes_that_share_an_instance_id_fence_each_other() -> None:
    (row,) = field("fence_fight").findings
    assert (row.kind, row.severity, row.count) == ("fenced-instance", "high", 149)
    assert row.evidence == (
        "instance svc-1 changed hands 149 times in 298 s, between replica-a (/10.0.0.1) and "
        "replica-b (/10.0.0.2)"
    )
    (hidden,) = field("fence_fight", redact=True).findings
    assert "svc-1" not in hidden.evidence
    assert "replica" not in hidden.evidence
    assert "149 times in 298 s" in hidden.evidence


def restarts(times: list[int], *, host: str = "/10.0.0.1") -> list[LoggedRecord]:
    """A static member that comes back under a new id at each of the times, in one generation."""
    return [
        classic(
            at_ms, 1, {"b": upper(), f"i-{at_ms}": lower(instance_id="i", host=host)}, leader="b"
        )
        for at_ms in times
    ]


@pytest.mark.parametrize(
    ("times", "is_found"),
    [
        ([0, 1_000], False),
        ([0, 1_000, 2_000, 3_000], False),
        ([0, 1_000, 2_000, 3_000, 4_000], True),
        ([0, 200_000, 400_000, 600_000, 800_000], False),
    ],
)
def test_a_restart_is_no_fight(times: list[int], is_found: bool) -> None:  # noqa: FBT001
    rows = found(*restarts(times))
    assert kinds(rows) == (["fenced-instance"] if is_found else [])


def test_brokers_keep_the_first_client_and_host_of_an_instance() -> None:
    (row,) = found(*restarts([0, 1_000, 2_000, 3_000, 4_000]))
    assert "4 times in 4.0 s, always client (/10.0.0.1), as brokers keep" in row.evidence


def test_a_fight_that_makes_the_group_rebalance_is_found_too() -> None:
    entries = [
        classic(1_000 * n, n, {"b": upper(), f"i-{n}": lower(instance_id="i")}, leader="b")
        for n in range(1, 8)
    ]
    assert of_kind(found(*entries), "fenced-instance").count == 6


# Commits that go back, offsets that were removed.


def test_commits_begin_lower_after_a_handover() -> None:
    row = of_kind(list(field("rewind").findings), "went-back")
    assert (row.severity, row.count, row.partitions) == ("high", 41_503, {"my-topic": (3,)})
    assert row.evidence.startswith(
        "my-topic[3] went back by 41,503 records at generation 6, from my-app-a-1111 to "
        "my-app-b-2222"
    )


def handed_over(*offsets: int) -> list[LoggedRecord]:
    """Member a commits all but the last of the offsets, then b has the partition."""
    first = [commit(1_000 * n, "t", 2, offset) for n, offset in enumerate(offsets[:-1], start=1)]
    return [
        classic(0, 1, {"a": Says(gets=BOTH)}),
        *first,
        classic(50_000, 2, {"a": lower(), "b": upper()}),
        commit(51_000, "t", 2, offsets[-1]),
    ]


@pytest.mark.parametrize(
    ("offsets", "kind"),
    [
        ((100, 200, 300, 300), None),
        ((100, 200, 300, 299), "repeated-at-handover"),
        ((100, 200, 300, 200), "repeated-at-handover"),
        ((100, 200, 300, 199), "went-back"),
        ((300, 299), "went-back"),
    ],
)
def test_less_than_a_commit_interval_at_a_handover_is_low(
    offsets: tuple[int, ...], kind: str | None
) -> None:
    rows = found(*handed_over(*offsets))
    assert kinds(rows) == ([] if kind is None else [kind])
    if kind is not None:
        assert rows[0].severity == ("high" if kind == "went-back" else "low")
        assert (rows[0].member_id, rows[0].members) == ("b", ("b", "a"))


def test_commits_of_one_owner_that_go_back_are_high() -> None:
    rows = found(
        classic(0, 1, {"a": Says(gets=BOTH)}),
        *(commit(n, "t", 0, offset) for n, offset in enumerate((5, 9, 8), start=1)),
    )
    assert kinds(rows) == ["went-back"]
    assert rows[0].evidence == (
        "t[0] went back by 1 record in generation 1, while a owned it (offset 9, then 8)"
    )


def test_a_reset_by_a_tool_is_said_to_be_one() -> None:
    entries = [
        classic(0, 1, {"a": Says(gets=BOTH)}),
        commit(1, "t", 0, 100),
        classic(1_000, 2, {}),
        commit(2_000, "t", 0, 10),
        classic(3_000, 3, {"a": Says(gets=BOTH)}),
    ]
    assert found(*entries) == []
    row = of_kind(found(*entries, selection=EVERYTHING), "offsets-reset")
    assert "a tool set it back (--reset-offsets)" in row.evidence


def test_aborted_commits_and_topics_made_again_do_not_go_back() -> None:
    member = classic(0, 1, {"a": Says(gets=BOTH)})
    aborted = replaced(commit(2, "t", 0, 500), is_aborted=True)
    assert found(member, commit(1, "t", 0, 100), aborted, commit(3, "t", 0, 200)) == []
    ids = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
    old, new = (
        commit(at_ms, "t", 0, offset, topic_id=topic_id)
        for (at_ms, offset), topic_id in zip(((1, 100), (2, 5)), ids, strict=True)
    )
    assert found(member, old, new) == []
    assert kinds(found(member, commit(1, "t", 0, 100), new)) == ["went-back"]


def test_offsets_that_expired_before_the_group_returned() -> None:
    row = of_kind(list(field("expired").findings), "offsets-removed")
    assert (row.severity, row.life, row.at_ms) == ("high", 1, 1637817382000)
    assert row.evidence == (
        "the offset of my-topic[3] was removed 3600 s before the group returned with generation "
        "1, 8.0 days after its last commit (offsets.retention.minutes): its consumer starts from "
        "auto.offset.reset"
    )


DAY_MS = 86_400_000


def removed(age_ms: int, *, returns: bool, topics: tuple[str, ...] = ("t",)) -> list[LoggedRecord]:
    last = classic(age_ms + 9_000, 1, {"b": Says(gets={}, topics=topics)})
    return [
        classic(0, 1, {"a": Says(gets=BOTH)}),
        commit(1_000, "t", 0, 100),
        classic(2_000, 2, {}),
        commit(1_000 + age_ms, "t", 0, None),
        gone(1_000 + age_ms),
        *([last] if returns else []),
    ]


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        (removed(DAY_MS, returns=True), "offsets-removed"),
        (removed(DAY_MS - 1, returns=True), "offsets-reset"),
        (removed(DAY_MS, returns=False), None),
        (removed(DAY_MS, returns=True, topics=("u",)), None),
    ],
)
def test_offsets_are_missed_where_members_come_back_for_them(
    entries: list[LoggedRecord], kind: str | None
) -> None:
    rows = found(*entries, selection=EVERYTHING)
    wanted = {"offsets-removed", "offsets-reset"}
    assert [one for one in kinds(rows) if one in wanted] == ([] if kind is None else [kind])


def test_offsets_removed_under_the_members_are_missed_at_once() -> None:
    member = classic(0, 1, {"a": Says(gets=BOTH)})
    row = of_kind(
        found(member, commit(1_000, "t", 0, 9), commit(3_000, "t", 0, None)), "offsets-removed"
    )
    assert "while the group had members, 2.0 s after its last commit" in row.evidence
    row = of_kind(found(member, commit(3_000, "t", 0, None)), "offsets-removed")
    assert "its last commit is not in the records" in row.evidence


# Members left out, topics that nobody has.


def test_a_member_that_the_leader_leaves_out() -> None:
    rows = list(field("left_out").findings)
    row = of_kind(rows, "left-out")
    assert (row.severity, row.member_id) == ("high", "m3-cccc")
    assert row.evidence == (
        "the assignment of the leader m2-bbbb leaves out m3-cccc, in generation 2: it got 0 "
        "bytes, on which Java's client throws; the leader was app at /10.0.0.1, guessed to be "
        "kafka-clients 3.5 or newer"
    )
    assert "odd-bytes" not in kinds(rows)


@pytest.mark.parametrize(
    ("name", "at_ms"), [("static", 1764300060000), ("static_days", 1764559200000)]
)
def test_a_topic_counts_from_the_record_that_first_subscribes_to_it(name: str, at_ms: int) -> None:
    result = field(name, partitions={"a": 4, "b": 2})
    row = of_kind(list(result.findings), "unassigned")
    assert (row.at_ms, row.partitions) == (at_ms, {"b": (0, 1)})
    assert "enforceRebalance()" in row.what_to_do
    row = of_kind(list(field(name).findings), "never-assigned")
    assert (row.at_ms, row.severity, row.topic) == (at_ms, "note", "b")


def test_unassigned_time_counts_from_the_record_that_first_subscribes_to_the_topic() -> None:
    entries = [
        classic(0, 1, {"a": Says(gets=BOTH, instance_id="i")}),
        classic(60_000, 1, {"b": Says(gets=BOTH, topics=("t", "u"), instance_id="i")}),
        classic(70_000, 1, {"c": Says(gets=BOTH, topics=("t", "u"), instance_id="i")}),
        classic(90_000, 2, {"c": Says(gets=BOTH | {"u": (0,)}, topics=("t", "u"))}),
    ]
    tables = tables_of(in_order(entries))
    row = of_kind(list(tables.findings), "unassigned")
    assert (row.at_ms, row.until_ms) == (60_000, 90_000)
    assert [group.unassigned_partition_ms for group in tables.groups] == [30_000]


# Rebalances: a clock, Kafka Streams, Kafka Connect.


def test_rebalances_a_week_apart_are_no_loop() -> None:
    assert list(field("loop_in_days").findings) == []


def test_a_loop_needs_times() -> None:
    plan = {"a": lower(), "b": upper()}
    assert found(*(classic(5, number, plan) for number in range(1, 30))) == []
    crowd = [*range(0, 5_000, 1_000), *range(90_000_000, 90_005_000, 1_000)]
    (row,) = found(*(classic(at_ms, number, plan) for number, at_ms in enumerate(crowd, start=1)))
    assert (row.kind, row.occurrences, row.count) == ("rebalance-loop", 2, 10)


def test_probing_rebalances_of_streams_are_a_note_of_their_own() -> None:
    rows = list(field("streams_probing").findings)
    assert "rebalance-loop" not in kinds(rows)
    row = of_kind(rows, "streams-probing")
    assert (row.severity, row.count) == ("note", 8)
    assert "8 rebalances about 600 s apart" in row.evidence
    for name in ("acceptable.recovery.lag", "max.warmup.replicas"):
        assert name in row.evidence
        assert name in row.what_to_do


@pytest.mark.parametrize(
    ("step_ms", "expected"), [(1_000, "rebalance-loop"), (60_000, "streams-probing")]
)
def test_streams_that_rebalance_faster_than_they_can_probe_are_a_loop(
    step_ms: int, expected: str
) -> None:
    plan = {"a": lower(), "b": upper()}
    entries = [classic(step_ms * n, n, plan, protocol="stream") for n in range(1, 7)]
    wanted = {"rebalance-loop", "streams-probing"}
    rows = found(*entries, selection=EVERYTHING)
    assert [kind for kind in kinds(rows) if kind in wanted] == [expected]


def test_workers_of_connect_are_compared_by_bytes_and_not_tried() -> None:
    result = field("connect_moving", what_if="optimal/sticky")
    rows = list(result.findings)
    assert set(kinds(rows)) == {"worker-rebalances", "other-protocol", "classic-only"}
    row = of_kind(rows, "worker-rebalances")
    assert row.evidence == (
        "40 generations in 8.4 s, generations 76030 to 76069, with the same 3 members and "
        "subscriptions; all 39 rebalances after the first changed the assignment, by its bytes: "
        "tasks of protocol type connect are not read"
    )
    assert "workers" in row.what_to_do
    assert [outcome for outcome in result.outcomes if outcome.group != "*"] == []
    one = next(iter(result.generations))
    assert "protocol type connect: assignments are not read" in one.notes
    assert (one.balance_gap, one.moved_minimum, one.downtime_partition_ms) == (None, None, None)


# Figures that agree with the findings.


def test_downtime_is_not_known_where_most_pauses_are_not() -> None:
    plans = [{"a": Says(gets=BOTH)}, {"a": lower(), "b": upper()}, {"b": Says(gets=BOTH)}, {}]
    entries = [classic(1_000 * n, n, plan) for n, plan in enumerate(plans, start=1)]
    assert [row.downtime_partition_ms for row in tables_of(in_order(entries)).groups] == [None]
    timed = [
        classic(1_000 * n, n, plan, state_ms=1_000 * n - 100) for n, plan in enumerate(plans, 1)
    ]
    assert [row.downtime_partition_ms for row in tables_of(in_order(timed)).groups] == [800]
    one = [*entries[:2], timed[2]]
    assert [row.downtime_partition_ms for row in tables_of(in_order(one)).groups] == [None]
    two = [entries[0], *timed[1:3]]
    assert [row.downtime_partition_ms for row in tables_of(in_order(two)).groups] == [800]


def test_the_report_counts_no_double_ownership_as_none_where_it_is_not_recorded() -> None:
    had = {"a": Says(gets=BOTH)}
    early = {"a": lower(owns=BOTH, generation=1), "b": upper()}
    entries = [
        classic(1_000 * n, n, plan, protocol=COOPERATIVE) for n, plan in enumerate((had, early), 1)
    ]
    tables = tables_of(in_order(entries))
    assert [row.kind for row in tables.findings] == ["given-too-early"]
    texts = [text for _, text in Outline(page(tables, title="t")).texts]
    place = texts.index("double-owned")
    assert texts[place + 1 : place + 3] == [
        "-",
        "partition-seconds; 2 given too early, for unrecorded times",
    ]
