"""Whatever stands in the topic, the tables come, and all of them.

Records in any order, of groups that never were, with members that are listed twice, bytes that say
nothing and numbers that cannot be: a replay never raises, and what it says holds together.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from assignors.registry import assignor_named
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.engines.python import replay_records
from assignors.replay.settings import Settings
from assignors.replay.tables.arrow import as_arrow
from assignors.replay.tables.rows import TABLES
from tests.replay.histories import (
    Says,
    classic,
    commit,
    current,
    epoch,
    gone,
    in_order,
    member,
    record,
    target,
    target_of,
)
from tests.replay.laws import broken
from wire.records import decode_record

IDS = ("AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg")
NAMES = ("a", "b", "ü", "")

times = st.integers(-5, 60_000)
numbers = st.integers(-2, 5)
names = st.sampled_from(NAMES)
partitions = st.dictionaries(
    st.sampled_from(["t", "u", "nope"]),
    st.lists(st.one_of(st.integers(0, 4), st.sampled_from([-1, 99, 2**31 - 1])), max_size=4).map(
        tuple
    ),
    max_size=2,
)
by_id = st.dictionaries(
    st.sampled_from(IDS), st.lists(st.integers(0, 4), max_size=3).map(tuple), max_size=2
)
blobs = st.one_of(st.none(), st.binary(max_size=20))
said = st.builds(
    Says,
    gets=partitions,
    topics=st.lists(st.sampled_from(["t", "u"]), max_size=3).map(tuple),
    owns=partitions,
    generation=numbers,
    instance_id=st.one_of(st.none(), st.sampled_from(["i", "j"])),
    subscription=blobs,
    assignment=blobs,
)
protocols = st.sampled_from(
    ["range", "roundrobin", "sticky", "cooperative-sticky", "stream", "own", "", None]
)
classics = st.builds(
    classic,
    times,
    numbers,
    st.dictionaries(names, said, max_size=3),
    protocol=protocols,
    protocol_type=st.sampled_from(["consumer", "connect", ""]),
    leader=st.one_of(st.none(), names),
    state_ms=times,
)
streams_current = st.builds(
    lambda at_ms, name, tasks: record(
        at_ms,
        "STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT",
        {"groupId": "g", "memberId": name},
        {
            "memberEpoch": 2,
            "previousMemberEpoch": 1,
            "state": 7,
            "activeTasks": [{"subtopologyId": "0", "partitions": list(tasks)}],
            "standbyTasks": [],
            "warmupTasks": [],
            "activeTasksPendingRevocation": [],
            "standbyTasksPendingRevocation": [],
            "warmupTasksPendingRevocation": [],
        },
    ),
    times,
    names,
    st.lists(st.integers(0, 3), max_size=3),
)
garbage = st.builds(
    lambda at_ms, key, value: LoggedRecord(record=decode_record(key, value), at_ms=at_ms),
    times,
    st.one_of(st.none(), st.binary(max_size=12)),
    st.one_of(st.none(), st.binary(max_size=12)),
)
anything = st.one_of(
    classics,
    st.builds(gone, times),
    st.builds(
        commit,
        times,
        st.sampled_from(["t", "u"]),
        st.integers(0, 9),
        st.one_of(st.none(), st.integers(0, 9)),
        topic_id=st.one_of(st.none(), st.sampled_from(IDS)),
    ),
    st.builds(epoch, times, st.one_of(st.none(), numbers)),
    st.builds(member, times, names, st.one_of(st.none(), st.just(("t",))), regex=st.just("x.*")),
    st.builds(target, times, numbers),
    st.builds(target_of, times, names, st.one_of(st.none(), by_id)),
    st.builds(
        current,
        times,
        names,
        numbers,
        st.one_of(st.none(), by_id),
        state=st.integers(-1, 3),
        revoking=by_id,
    ),
    streams_current,
    garbage,
)
SETTINGS = Settings(
    assignors=tuple(
        assignor_named(name)
        for name in ("java/sticky", "java/cooperative-sticky", "optimal/cooperative-sticky")
    )
)


@given(st.lists(anything, max_size=14))
def test_whatever_stands_in_the_topic_the_tables_come_and_agree(listed: list[LoggedRecord]) -> None:
    entries = in_order(listed)
    tables = replay_records(entries, SETTINGS)
    readable = [e for e in entries if e.record.error is None and e.record.name == "OFFSET_COMMIT"]
    assert len(tables.offsets) == len(readable)
    counted = sum(row.commit_count + row.tombstone_count for row in tables.groups)
    assert counted == len(readable)
    assert broken(tables) == []
    unreadable = [e for e in entries if e.record.error is not None]
    reported = sum(row.count for row in tables.findings if row.kind == "unreadable")
    assert reported >= len(unreadable)
    members = Counter((row.group, row.life, row.generation) for row in tables.members)
    for generation in tables.generations:
        assert (
            generation.member_count
            == members[generation.group, generation.life, generation.generation]
        )
    for name, table in TABLES.items():
        rows = getattr(tables, name)
        assert as_arrow(table, rows).num_rows == len(rows)
    hidden = replay_records(entries, SETTINGS, hide_names=True)
    assert [len(getattr(hidden, name)) for name in TABLES] == [
        len(getattr(tables, name)) for name in TABLES
    ]


def twice() -> LoggedRecord:
    """A record in which one member is listed twice."""
    once = classic(1, 1, {"a": Says(gets={"t": (0,)})}).record
    assert once.value is not None
    value = {**once.value, "members": [*once.value["members"], *once.value["members"]]}
    return record(1, "GROUP_METADATA", {"group": "g"}, value, version=3)


def test_a_member_that_is_listed_twice_is_one_member_with_a_note() -> None:
    tables = replay_records(in_order([twice()]), SETTINGS)
    assert [row.member_id for row in tables.members] == ["a"]
    assert "a member is listed twice" in tables.generations[0].notes
