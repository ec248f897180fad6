"""The five steps of KIP-447's zombie, one by one.

    1. A member processes records of a partition, and commits now and then
    2. It stands still before it commits the last of them
    3. Its session ends, and its partitions go to other members
    4. Whoever gets one begins at the last commit, and processes the same records
    5. The first member wakes up and commits; that is refused, and no position is set back

Source: KIP-447, "Producer scalability for exactly once semantics", Motivation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from assignors.ownership.intervals import ownerships
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.protocols.effects import Answered, Send
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    OffsetCommit,
    OffsetCommitResponse,
    OffsetFetchResponse,
)
from assignors.simulation.timed.protocols.kafka.records import OffsetRecord
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import Played, simulate

SECOND = 1_000_000
STANDS_STILL = 70 * SECOND
WAKES_UP = STANDS_STILL + 100 * SECOND
ZOMBIE = "c3"
Offsets = dict[tuple[str, int], int]


@pytest.fixture(scope="module", params=[GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
def story(request: pytest.FixtureRequest) -> tuple[Played, list[Seen]]:
    """Return the run, and every event of it."""
    seen: list[Seen] = []
    scenario = named("zombie-of-kip-447", seed=5, protocol=request.param)
    return simulate(scenario, keeps_history=True, observe=seen.append), seen


def commits(seen: list[Seen]) -> Iterator[tuple[int, Offsets, ErrorCode]]:
    """Yield the member's commits: when it sent each, of what, and how it was answered."""
    sent: dict[int, tuple[int, Offsets]] = {}
    for each in seen:
        if each.member != ZOMBIE:
            continue
        if isinstance(each.event, Answered) and each.event.number in sent:
            response = each.event.response
            assert isinstance(response, OffsetCommitResponse)
            yield *sent.pop(each.event.number), response.error
        for effect in each.effects:
            if isinstance(effect, Send) and isinstance(effect.request, OffsetCommit):
                offsets = {(topic, n): offset for topic, n, offset in effect.request.offsets}
                sent[effect.number] = each.at_us, offsets


def committed(seen: list[Seen]) -> Offsets:
    """Return what it committed last before it stood still."""
    accepted = [row for row in commits(seen) if row[0] < STANDS_STILL]
    return accepted[-1][1]


def test_1_it_commits_what_it_processes(story: tuple[Played, list[Seen]]) -> None:
    _, seen = story
    before = [row for row in commits(seen) if row[0] < STANDS_STILL]
    assert len(before) > 5
    assert all(error is ErrorCode.NONE for _, _, error in before)
    assert len(committed(seen)) == 10


def test_2_it_stands_still_and_commits_nothing(story: tuple[Played, list[Seen]]) -> None:
    _, seen = story
    assert not [at for at, _, _ in commits(seen) if STANDS_STILL <= at < WAKES_UP]


def test_3_its_partitions_go_to_others(story: tuple[Played, list[Seen]]) -> None:
    played, seen = story
    takes_over = {
        each.topic_partition: each.start
        for each in ownerships(played.changes)
        if each.topic_partition in committed(seen) and STANDS_STILL < each.start < WAKES_UP
    }
    assert takes_over.keys() == committed(seen).keys()
    assert min(takes_over.values()) > STANDS_STILL + 40 * SECOND
    assert max(takes_over.values()) < STANDS_STILL + 52 * SECOND


def test_4_who_gets_one_begins_at_the_last_commit(story: tuple[Played, list[Seen]]) -> None:
    played, seen = story
    begun: Offsets = {}
    for each in seen:
        if isinstance(each.event, Answered) and STANDS_STILL < each.at_us < WAKES_UP:
            response = each.event.response
            if isinstance(response, OffsetFetchResponse):
                begun |= {(topic, n): offset for topic, n, offset in response.offsets}
    assert begun == committed(seen)
    assert played.result.reprocessed_records > 0


def test_5_its_commit_is_refused_and_no_position_is_set_back(
    story: tuple[Played, list[Seen]],
) -> None:
    played, seen = story
    at, offsets, error = next(row for row in commits(seen) if row[0] >= WAKES_UP)
    assert at < WAKES_UP + 10 * SECOND
    assert offsets.keys() == committed(seen).keys()
    assert error in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}
    written: dict[tuple[str, int], list[int]] = {}
    for _, record in played.records:
        if isinstance(record, OffsetRecord) and record.offset is not None:
            written.setdefault((record.topic, record.partition), []).append(record.offset)
    for listed in written.values():
        assert all(earlier <= later for earlier, later in pairwise(listed))
