"""A short history of real groups, and everything a replay says of it, held against the broker.

Members of kafka-python, librdkafka and Java share a classic group, two of Java's have one that
the broker assigns; they come and go. Then the same facts are asked three ways: of the broker,
through its admin requests and its log; of Kafka's own decoder, record by record; and of the
tables that a replay makes of the offsets topic, from the segment files and through Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pytest

from assignors.replay.decode.logged_records import logged_records
from assignors.replay.engines.python import replayed
from assignors.replay.history.fold import histories, learned_names
from assignors.replay.history.model import Kind
from assignors.replay.sources import Raw, read_segments
from assignors.replay.tables.rows import TABLES, Tables
from tests.cli.running import printed_rows
from tests.foreign.judge import Judge
from tests.foreign.test_records_live import check
from tests.interop.admin import DescribedGroup
from tests.interop.broker import Broker
from tests.interop.events import Partition
from tests.interop.group import SETTLES_S, LiveGroup
from tests.waiting import wait

pytestmark = pytest.mark.interop


CLASSIC, MODERN = "classic", "KIP-848"
KINDS = (CLASSIC, MODERN)


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """What the broker said of a group while nothing moved, and its tables at that time."""

    group: str
    described: DescribedGroup
    committed: Mapping[Partition, int]
    leaders: Mapping[int, str]
    """By generation, after the broker's log."""
    tables: Tables


@pytest.fixture(scope="module")
def moments(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Moment]:
    """A classic group and one of KIP-848, each at a moment of rest; they are empty by now."""
    found = {}
    for name, history in ((CLASSIC, _classic), (MODERN, _modern)):
        folder = tmp_path_factory.mktemp("members")
        with LiveGroup(broker, folder=folder, topics={"a": 4, "b": 3}) as group:
            history(group)
            found[name] = _moment(broker, group)
            for member in group.members.values():
                if member.is_alive:
                    member.close()
            wait(partial(_is_empty, group))
    return found


def _classic(group: LiveGroup) -> None:
    group.feed.start()
    for kind in ("kp", "ck", "java44"):
        group.start(kind)
        group.settled(SETTLES_S)
    assert group.members["ck-1"].close() == 0
    group.settled(SETTLES_S)
    group.start("ck")
    group.settled(SETTLES_S)
    group.feed.stop()


def _modern(group: LiveGroup) -> None:
    group.feed.start()
    for kind in ("java848", "java848", "java848"):
        group.start(kind)
        group.settled(SETTLES_S)
    assert group.members["java848-1"].close() == 0
    group.settled(SETTLES_S)
    group.feed.stop()


def _moment(broker: Broker, group: LiveGroup) -> Moment:
    """What is said of a group once its members have committed all that was written."""
    wait(lambda: group.admin.committed(group.name) == group.feed.written)
    return Moment(
        group=group.name,
        described=group.admin.describe(group.name),
        committed=group.admin.committed(group.name),
        leaders=broker.leaders(group.name),
        tables=_tables(broker, group.name),
    )


def _is_empty(group: LiveGroup) -> bool:
    return group.admin.describe(group.name).state == "Empty"


def _raws(broker: Broker) -> Iterator[Raw]:
    return read_segments(broker.folder / "data")


def _tables(broker: Broker, group: str) -> Tables:
    """The tables of one group, from the broker's files as they are now."""
    listed = list(logged_records(_raws(broker)))
    found = histories(listed, topic_names=learned_names(listed))
    (history,) = [history for history in found if history.group == group]
    return replayed(history)


@pytest.mark.parametrize("name", KINDS)
def test_the_last_generation_is_what_the_admin_api_says(
    moments: dict[str, Moment], name: str
) -> None:
    moment = moments[name]
    (life,) = moment.tables.groups
    assert life.kind == (Kind.CLASSIC if name == CLASSIC else Kind.CONSUMER)
    assert life.state == moment.described.state == "Stable"
    assert life.member_count == len(moment.described.members)
    last = max(row.generation for row in moment.tables.generations)
    members = {
        (row.member_id, row.client_id, row.instance_id): tuple(
            sorted((topic, number) for topic, numbers in row.assigned.items() for number in numbers)
        )
        for row in moment.tables.members
        if row.generation == last
    }
    assert members == {
        (one.member_id, one.client_id, one.instance_id): one.partitions
        for one in moment.described.members
    }


@pytest.mark.parametrize("name", KINDS)
def test_who_holds_what_is_what_the_admin_api_says(moments: dict[str, Moment], name: str) -> None:
    moment = moments[name]
    held = {
        (row.topic, row.partition): row.member_id
        for row in moment.tables.assignments
        if row.to_ms is None
    }
    assert held == {
        place: one.member_id for one in moment.described.members for place in one.partitions
    }
    assert len(held) == 7


@pytest.mark.parametrize("name", KINDS)
def test_the_last_commits_are_what_the_admin_api_says(
    moments: dict[str, Moment], name: str
) -> None:
    moment = moments[name]
    last = {(row.topic, row.partition): row.offset for row in moment.tables.offsets}
    assert last == dict(moment.committed)
    assert min(moment.committed.values()) > 0


def test_leaders_are_those_of_the_brokers_log(moments: dict[str, Moment]) -> None:
    moment = moments[CLASSIC]
    told = {row.generation: row.leader_id for row in moment.tables.generations if row.member_count}
    assert len(told) >= 5
    assert told == {number: moment.leaders[number] for number in told}


def test_the_protocol_is_the_one_that_the_broker_chose(moments: dict[str, Moment]) -> None:
    moment = moments[CLASSIC]
    (life,) = moment.tables.groups
    assert life.protocol == moment.described.protocol == "cooperative-sticky"


@pytest.mark.parametrize("name", KINDS)
def test_members_came_and_went_as_they_were_told_to(moments: dict[str, Moment], name: str) -> None:
    tables = moments[name].tables
    clients = {row.member_id: row.client_id for row in tables.members}
    came = [clients[one] for row in tables.generations for one in row.joined]
    went = [clients[one] for row in tables.generations for one in row.left]
    if name == CLASSIC:
        assert came == ["kp-1", "ck-1", "java44-1", "ck-2"]
        assert went == ["ck-1"]
    else:
        assert came == ["java848-1", "java848-2", "java848-3"]
        assert went == ["java848-1"]
    assert not [row for row in tables.assignments if row.is_double]


def test_kafkas_own_decoder_reads_every_record_as_we_do(
    broker: Broker, moments: dict[str, Moment], judge: Judge
) -> None:
    pairs = [(raw.key, raw.value) for raw in _raws(broker) if raw.key is not None]
    assert len(pairs) > 50
    assert check(judge, pairs) == {False: len(pairs)}


@pytest.mark.spark
@pytest.mark.slow
def test_the_live_topic_and_the_files_tell_the_same_of_all_tables(
    broker: Broker, moments: dict[str, Moment]
) -> None:
    names = "|".join(moment.group for moment in moments.values())
    asked = ["--bootstrap", broker.bootstrap, "--group", f"^({names})$"]
    asked += [word for table in TABLES for word in ("--table", table)]
    asked += ["--what-if", "optimal/cooperative-sticky"]
    files = printed_rows(str(broker.folder / "data"), *asked)
    live = printed_rows(*asked)
    assert {document["table"] for document in files} >= set(TABLES) - {"findings"}
    assert {document["row"]["group"] for document in files} - {"*"} == set(names.split("|"))
    assert live == files
