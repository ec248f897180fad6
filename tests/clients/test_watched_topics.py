"""A kafka-python leader starts a round when a topic of its group changes, and only then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assignors.clients.kafka_python import strategy
from tests.clients.local_group import Joined, LocalGroup
from wire import Subscription, encode_subscription


@pytest.fixture
def group() -> Iterator[LocalGroup]:
    found = LocalGroup({"t": 6, "u": 2})
    yield found
    found.close()


def look_again(group: LocalGroup, leader: Joined) -> None:
    """What the host does with an answer to its question about topics."""
    group._describe_cluster(leader.consumer)
    leader.coordinator._metadata_snapshot = None
    leader.coordinator._handle_metadata_update(leader.coordinator._cluster)


@pytest.mark.parametrize("foreign", ["u", "nowhere"])
def test_topics_of_other_members_start_no_round(group: LocalGroup, foreign: str) -> None:
    """A subscription to a topic that does not exist kept the group in rounds without end."""
    leader = group.add("a", [strategy("range")], ["t"])
    asked = encode_subscription(Subscription(topics=("t", foreign)))
    group.add_bytes("b", {"range": asked})
    group.round()
    look_again(group, leader)
    assert not leader.coordinator.need_rejoin()


@pytest.mark.parametrize(("topic", "count"), [("nowhere", 3), ("u", 4), ("t", 7)])
def test_a_topic_of_the_group_that_changes_starts_one(
    group: LocalGroup, topic: str, count: int
) -> None:
    leader = group.add("a", [strategy("range")], ["t"])
    asked = encode_subscription(Subscription(topics=("t", "u", "nowhere")))
    group.add_bytes("b", {"range": asked})
    group.round()
    group.counts[topic] = count
    look_again(group, leader)
    assert leader.coordinator.need_rejoin()
