"""Records that are written to a file and read back are the records, group by group."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from assignors.replay import replay
from assignors.replay.decode.logged_records import (
    NO_GROUP,
    LoggedRecord,
    group_in,
    logged_records,
)
from assignors.replay.engines.by_group import RecordsByGroup
from assignors.replay.sample import incident
from assignors.replay.sources import open_source
from tests.replay.damage import damaged
from tests.spark.dumps import some_groups


def seen(entry: LoggedRecord) -> tuple[object, ...]:
    """A record as it compares: two errors with the same words are not equal."""
    return entry.at_ms, entry.partition, entry.offset, repr(entry.record)


@pytest.mark.parametrize("held_max", [0, 7, 10**9])
def test_each_group_has_its_records_in_their_order(held_max: int, tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_bytes(damaged(1) + b"\n" + some_groups())
    entries = list(logged_records(open_source(path)))
    expected = defaultdict(list)
    for entry in entries:
        expected[group_in(entry.record.key) or NO_GROUP].append(seen(entry))
    with RecordsByGroup(held_max=held_max) as records:
        records.add(entries)
        for _ in range(2):
            found = {group: [*map(seen, listed)] for group, listed in records.by_group()}
            assert found == expected
        assert set(records.groups) == expected.keys()


def test_groups_that_do_not_match_give_their_names_of_topics() -> None:
    entries = incident()
    with RecordsByGroup() as whole, RecordsByGroup(re.compile("^chaos")) as some:
        whole.add(entries)
        some.add(entries)
    assert some.topic_names == whole.topic_names
    assert {*some.groups, *some.others} == {*whole.groups}
    assert len(some.groups) == 1


def test_a_table_that_is_not_wanted_is_empty() -> None:
    found = replay(incident(), tables=["members"])
    assert len(found.members) > 100
    assert (len(found.offsets), len(found.groups)) == (0, 0)
    with pytest.raises(ValueError, match="no table 'member'; did you mean 'members'"):
        replay(incident(), tables=["member"])
