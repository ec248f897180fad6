"""A round led on arrays is the round led member by member: bytes, notes, memory and all."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, assignor_named, lead
from assignors.group_bytes import subscriptions
from assignors.leader import Led
from assignors.weighting import Weighting
from tests.conftest import cases
from tests.group_bytes.blobs import CLUSTERS
from tests.group_bytes.test_subscriptions import GROUPS, always_together
from wire import (
    Subscription,
    TopicPartitions,
    encode_assignment,
    encode_sticky_user_data,
    encode_subscription,
)

ASSIGNORS = ("sticky", "cooperative-sticky", "java/cooperative-sticky", "range")


def shown(led: Led) -> tuple[object, ...]:
    answer = led.rebalance
    return (
        led.assignments,
        {member_id: dict(share) for member_id, share in answer.assignment.items()},
        (answer.withheld, answer.follow_up, answer.notes, dict(answer.stats)),
        (dict(led.memory.plan or {}), led.memory.followed, led.must_follow_up),
    )


@given(
    GROUPS,
    CLUSTERS,
    st.sampled_from(ASSIGNORS),
    st.sampled_from((None, 4, 5)),
)
def test_a_round_on_arrays_is_the_round_member_by_member(
    given_blobs: dict[str, bytes],
    cluster: Cluster,
    name: str,
    generation: int | None,
) -> None:
    assignor = assignor_named(name)
    # Members do not come in the order of their ids.
    blobs = {f"m{number * 3 % 5}": blob for number, blob in enumerate(given_blobs.values())}
    slow = lead(assignor, cluster, blobs, generation=generation)
    with always_together():
        fast = lead(assignor, cluster, blobs, generation=generation)
        assert shown(fast) == shown(slow)
        again = lead(assignor, cluster, blobs, generation=generation, memory=fast.memory)
    assert shown(again) == shown(
        lead(assignor, cluster, blobs, generation=generation, memory=slow.memory)
    )
    assert len(blobs) < subscriptions.MEMBERS_MIN, "or the slow one is the fast one"


TOPICS = ("a", "b", "c")


@st.composite
def settled(draw: st.DrawFn, name: str) -> tuple[dict[str, bytes], int]:
    """Members that share all partitions of some topics, or nearly all, and how many those have."""
    size, in_order = draw(st.sampled_from((1, 3, 8))), draw(st.booleans())
    pairs = draw(st.permutations([(topic, number) for topic in TOPICS for number in range(size)]))
    unowned, owners = draw(st.sampled_from((0, 0, 1, 2))), draw(st.sampled_from((4, 4, 3)))
    owned: list[dict[str, tuple[int, ...]]] = [{} for _ in range(4)]
    for place, (topic, number) in enumerate(pairs[unowned:]):
        has = owned[place % owners]
        has[topic] = (*has.get(topic, ()), number)
    blobs = [draw(written(name, has, in_order=in_order)) for has in owned]
    size += draw(st.sampled_from((0, 0, 0, 1, -1)))
    return {f"m{number}": blob for number, blob in enumerate(blobs)}, size


@st.composite
def written(draw: st.DrawFn, name: str, owned: TopicPartitions, *, in_order: bool) -> bytes:
    """What a member writes that owns these partitions, in their order or as most clients write."""
    is_eager = name in {"sticky", "weighted"}
    has_data = is_eager and (owned or draw(st.booleans()))
    blob = encode_subscription(
        Subscription(
            topics=TOPICS,
            owned={} if is_eager else owned,
            generation=4,
            user_data=encode_sticky_user_data(owned, 4) if has_data else None,
            rack_id=draw(st.sampled_from((None, None, None, "r1"))),
            version=draw(st.sampled_from((3, 3, 3, 3, 1))),
        )
    )
    if in_order:
        return blob
    usual = {topic: tuple(sorted(owned[topic])) for topic in sorted(owned)}
    return blob.replace(section(usual), section(owned))


def section(owned: TopicPartitions) -> bytes:
    """Owned partitions as bytes, in this order."""
    entries = [
        pack(f">h{len(topic)}si{len(numbers)}i", len(topic), topic.encode(), len(numbers), *numbers)
        for topic, numbers in owned.items()
    ]
    return pack(">i", len(entries)) + b"".join(entries)


@pytest.mark.parametrize(
    "name", ["sticky", "cooperative-sticky", "weighted", "cooperative-weighted"]
)
@cases(50)
@given(data=st.data())
def test_members_that_keep_what_they_wrote_get_what_the_encoder_writes(
    name: str, data: st.DataObject
) -> None:
    blobs, size = data.draw(settled(name))
    cluster, assignor = Cluster.of(dict.fromkeys(TOPICS, size)), assignor_named(name)
    heavy = Weighting(weights={"a": tuple(range(1, size + 1))})
    weighting = (lambda _: heavy) if name.endswith("weighted") else None
    with always_together():
        led = lead(assignor, cluster, blobs, joined=6, weighting=weighting)
    assert shown(led) == shown(lead(assignor, cluster, blobs, joined=6, weighting=weighting))
    assert led.assignments == {
        member_id: encode_assignment(led.rebalance.assignment[member_id], version=1)
        for member_id in blobs
    }
