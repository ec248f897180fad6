"""Clusters of clients' metadata, for members that were read together and one by one."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, assignor_named, lead
from assignors.clients.common.translation import cluster_of
from assignors.group_bytes.members import ReadMembers
from assignors.group_bytes.subscriptions import read_members
from assignors.model import Member
from wire import Subscription, encode_subscription

COUNTS = {"t": 3, "u": 2, "v": 0}
RACKS = {0: "r0", 2: "r2"}


class Metadata:
    """What both clients' metadata answer."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return set(range(COUNTS[topic])) if topic in COUNTS else None


def replicas(topic: str, number: int) -> Sequence[int]:
    return (number, len(topic) + 1)


def seen(members: Sequence[Member]) -> Cluster:
    return cluster_of(Metadata(), members, RACKS, replicas)


subscriptions = st.builds(
    Subscription,
    topics=st.lists(st.sampled_from(["t", "u", "v", "gone"]), unique=True).map(tuple),
    rack_id=st.sampled_from([None, None, "r0", ""]),
)


@given(st.lists(subscriptions.map(encode_subscription) | st.just(b"\0\1\0"), max_size=40))
def test_the_cluster_is_the_same_however_members_are_read(blobs: list[bytes]) -> None:
    named = {f"m{number}": blob for number, blob in enumerate(blobs * 2)}
    members = read_members(named)
    cluster = seen(members)
    assert cluster == seen(tuple(members))
    assert set(cluster.topics) == {topic for member in members for topic in member.topics} & {
        *COUNTS
    }
    assert lead(assignor_named("sticky"), seen, named) == lead(
        assignor_named("sticky"), cluster, named
    )


def test_racks_are_those_of_the_brokers_that_have_one() -> None:
    blobs = {
        f"m{number}": encode_subscription(
            Subscription(topics=("t",), rack_id="r0" if number == 7 else None)
        )
        for number in range(100)
    }
    members = read_members(blobs)
    assert isinstance(members, ReadMembers)
    assert seen(members).topics["t"].racks == (("r0", "r2"), ("r2",), ("r2", "r2"))
    del blobs["m7"]
    assert seen(read_members(blobs)).topics["t"].racks == ()
