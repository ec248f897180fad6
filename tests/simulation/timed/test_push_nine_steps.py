"""The worked example of the proposal of July 2014, step by step: 3 members, 12 partitions, a 4th.

    1. 3 consumers running with 12 partitions balanced, 4 each
    2. New consumer starts and sends JoinGroupRequest to coordinator
    3. Coordinator computes rebalance with 4 consumers: each existing consumer will lose a partition
    4. Coordinator informs all live brokers of partition reassignments
    5. Brokers receive reassignments, start failing unauthorized fetch requests and ack back
    6. Coordinator receives all broker acks and sends HeartbeatResponses with partition removals
    7. Existing consumers can continue to fetch messages from correctly assigned partitions
    8. When an existing consumer fails a fetch for a partition or gets a HeartbeatResponse with a
       partition removal, it commits and sends a PartitionCommittedNotification
    9. As the coordinator receives it, it sends the addPartition to consumer 4

Source: R. Withers on users@kafka.apache.org, "New Consumer Design", 16 July 2014.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assignors.ownership.intervals import ownerships
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Arrived,
    Consume,
    Fired,
    Reply,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.push.messages import (
    FetchResponse,
    HeartbeatResponse,
    JoinGroup,
    PartitionCommittedNotification,
)
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    PushConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate

BROKERS = 4
JOIN_MS = 60_000
NEWCOMER = "c3"
Seens = list[Seen]


def scenario(fetch_ms: int) -> Scenario:
    return Scenario(
        protocol=GroupProtocol.PUSH,
        until_ms=JOIN_MS + 10_000,
        count_from_ms=JOIN_MS,
        topics={"t": 12},
        members=tuple(
            MemberConfig(name=f"c{n}", topics=("t",), starts_at_ms=None if n == 3 else n * 1000)
            for n in range(4)
        ),
        plan=(Action(at_ms=JOIN_MS, do=Verb.START, member=NEWCOMER),),
        broker=BrokerConfig(push=PushConfig(brokers=BROKERS, fetch_ms=fetch_ms)),
    )


def played(fetch_ms: int) -> tuple[Played, Seens]:
    """Return the run, and every event from the join on."""
    seen: Seens = []
    run = simulate(scenario(fetch_ms), keeps_history=True, observe=seen.append)
    return run, [each for each in seen if each.at_us >= JOIN_MS * 1000]


def at_coordinator(seen: Seens) -> Seens:
    return [each for each in seen if each.member is None]


def answers(each: Seen) -> Iterator[HeartbeatResponse]:
    for effect in each.effects:
        response = effect.response if isinstance(effect, Reply) else None
        if isinstance(response, HeartbeatResponse) and response.assigned is not None:
            yield response


def notifications(seen: Seens) -> list[Seen]:
    return [
        each
        for each in at_coordinator(seen)
        if isinstance(each.event, Arrived)
        and isinstance(each.event.request, PartitionCommittedNotification)
    ]


@pytest.fixture(params=[60_000, 0], ids=["by heartbeat response", "by refused fetch"])
def example(request: pytest.FixtureRequest) -> tuple[Played, Seens]:
    return played(request.param)


def test_1_three_members_have_four_partitions_each(example: tuple[Played, Seens]) -> None:
    run, _ = example
    before = {e.member_id: e.owned for e in run.changes if e.at < JOIN_MS * 1000}
    assert {name: len(owned["t"]) for name, owned in before.items()} == {"c0": 4, "c1": 4, "c2": 4}


def test_2_to_5_brokers_refuse_old_owners_before_anybody_is_asked(
    example: tuple[Played, Seens],
) -> None:
    _, seen = example
    join, *rest = at_coordinator(seen)
    assert isinstance(join.event, Arrived)
    assert isinstance(join.event.request, JoinGroup)
    # 3 and 4: one message to each broker that leads one of the three partitions, and one time at
    # which all of them have acknowledged; nobody is asked for anything yet.
    keys = [each.key for each in join.effects if isinstance(each, Schedule)]
    informed = [key for key in keys if key[0] == "broker"]
    assert 1 <= len(informed) <= 3
    assert [key[0] for key in keys].count("acknowledged") == 1
    assert not any(response.removed for response in answers(join))
    # 5: they get it one by one, and the coordinator waits for the last one.
    reached = [e.at_us for e in rest if isinstance(e.event, Fired) and e.event.key in informed]
    (all_acked,) = [
        e.at_us for e in rest if isinstance(e.event, Fired) and e.event.key[0] == "acknowledged"
    ]
    assert len(reached) == len(informed)
    assert join.at_us < min(reached)
    assert max(reached) < all_acked
    assert not any(r.removed for e in rest if e.at_us < all_acked for r in answers(e))


def test_6_each_old_owner_is_asked_for_one_partition() -> None:
    _, seen = played(fetch_ms=60_000)
    (acked,) = [
        each
        for each in at_coordinator(seen)
        if isinstance(each.event, Fired) and each.event.key[0] == "acknowledged"
    ]
    asked = list(answers(acked))
    assert [(len(each.removed), len(each.assigned or {})) for each in asked] == [(1, 3)] * 3
    assert len({partition for each in asked for partition in each.removed}) == 3


def test_7_nine_partitions_go_on_without_a_pause(example: tuple[Played, Seens]) -> None:
    run, _ = example
    spans = list(ownerships(run.changes))
    moved = {each.partition for each in spans if each.member_id == NEWCOMER}
    assert len(moved) == 3
    going_on = [e for e in spans if e.partition not in moved and e.until > JOIN_MS * 1000]
    assert len(going_on) == 9
    assert all(each.start < JOIN_MS * 1000 for each in going_on)
    assert (run.result.moves, run.result.gaps) == (3, 3)


def test_8_an_old_owner_commits_and_says_so(example: tuple[Played, Seens]) -> None:
    run, seen = example
    for name in ("c0", "c1", "c2"):
        own = [each for each in seen if each.member == name]
        heard = [
            type(each.event.response)
            for each in own
            if isinstance(each.event, Answered)
            and (
                (isinstance(each.event.response, HeartbeatResponse) and each.event.response.removed)
                or (isinstance(each.event.response, FetchResponse) and each.event.response.refused)
            )
        ]
        stopped = [e for e in own if any(isinstance(f, Consume) for f in e.effects)]
        told = [
            effect.request.partitions
            for each in own
            for effect in each.effects
            if isinstance(effect, Send)
            and isinstance(effect.request, PartitionCommittedNotification)
        ]
        assert heard[0] is (FetchResponse if run.result.fetches_refused else HeartbeatResponse)
        assert len(stopped) == 1
        assert [len(partitions) for partitions in told[:1]] == [1]


def test_9_the_newcomer_gets_each_partition_with_its_notification(
    example: tuple[Played, Seens],
) -> None:
    run, seen = example
    gained = []
    for each in notifications(seen):
        assert isinstance(each.event, Arrived)
        assert isinstance(each.event.request, PartitionCommittedNotification)
        (partition,) = each.event.request.partitions
        added = [response for response in answers(each) if partition in (response.assigned or {})]
        if added:
            gained.append(partition)
            spans = [e for e in ownerships(run.changes) if e.topic_partition == partition]
            assert spans[-1].member_id == NEWCOMER
            assert each.at_us < spans[-1].start
    assert len(gained) == len(set(gained)) == 3
    assert run.result.is_settled
