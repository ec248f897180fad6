"""The coordinator goes away in the middle of a rebalance, or takes the assigning over itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.interop.broker import Broker
from tests.interop.conftest import MakeGroup
from tests.interop.events import now_ms
from tests.interop.group import DRAINS_S, SETTLES_S, LiveGroup
from tests.interop.neighbours import COOPERATIVE, STICKY
from tests.waiting import wait

pytestmark = pytest.mark.interop

RECOVERS_S = 50.0

SESSION_MS = 20_000
"""Nobody is killed here: who needs long to notice that the broker is back is still a member."""

RESTARTS: dict[str, Callable[[Broker], None]] = {
    "shut down": Broker.stop,
    "crashed": Broker.kill,
}


@pytest.fixture(scope="module")
def own_broker(built: None) -> Iterator[Broker]:
    """A broker to end and start again: nobody else's groups are on it."""
    with Broker() as started:
        yield started


@pytest.mark.parametrize(
    ("way", "leader"),
    [
        ("shut down", "kpp"),
        ("crashed", "java44"),
        pytest.param("shut down", "java44", marks=pytest.mark.deep),
        pytest.param("crashed", "kpp", marks=pytest.mark.deep),
    ],
)
def test_a_broker_that_returns_in_mid_rebalance_finds_one_owner_each(
    way: str, leader: str, own_broker: Broker, tmp_path: Path
) -> None:
    topics = {"a": 5, "b": 3, "c": 1}
    with LiveGroup(
        own_broker, folder=tmp_path, topics=topics, session_timeout_ms=SESSION_MS
    ) as group:
        group.feed.start()
        group.start_one(leader)
        group.settled(SETTLES_S)
        group.start("kpp", "aiop", "franz", "sarama")
        group.settled(SETTLES_S)
        # Alone: the programs of the others give up where there is no broker to start with.
        group.start("kpp")
        wait(lambda: group.admin.describe(group.name).state.endswith("Rebalance"))
        gone_ms = now_ms()
        RESTARTS[way](own_broker)
        own_broker.start()
        settled = group.settled(RECOVERS_S)
        assert len(settled.partition_counts) == 6
        group.drain(DRAINS_S)
        verdict = group.judge()
        assert not verdict.died, verdict
        assert not verdict.windows, verdict
        assert not verdict.unread, verdict
        assert not verdict.failures, verdict
        # What was consumed while nothing could be committed may be consumed again.
        assert all(one.t_ms >= gone_ms for one in verdict.repeats), verdict


@pytest.mark.parametrize("protocol", [COOPERATIVE, pytest.param(STICKY, marks=pytest.mark.deep)])
def test_members_of_the_new_protocol_come_and_go(protocol: str, make_group: MakeGroup) -> None:
    """KIP-848's online migration: as soon as one member speaks `group.protocol=consumer`, the
    broker assigns, to classic members as well; when the last of them leaves, a classic member
    leads again."""
    group = make_group({"a": 5, "b": 3, "c": 1}, assignors=(protocol,))
    group.feed.start()
    group.start("kpp", "kpp", "aiop")
    assert group.settled(SETTLES_S).protocol == protocol
    newcomers = group.start("java848", "java848")
    assert group.settled(SETTLES_S).protocol == "uniform"
    group.members["kpp-1"].restart()
    settled = group.settled(SETTLES_S)
    assert settled.protocol == "uniform"
    assert len(settled.partition_counts) == 5
    for newcomer in newcomers:
        newcomer.close()
        group.settled(SETTLES_S)
    settled = group.settled(SETTLES_S)
    assert settled.protocol == protocol
    assert sorted(settled.partition_counts) == ["aiop-1", "kpp-1", "kpp-2"]
    group.drain(DRAINS_S)
    verdict = group.judge()
    assert verdict.is_clean, verdict
    assert not verdict.excused, "nobody was killed"
