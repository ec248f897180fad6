"""A round led on arrays is the round led member by member: bytes, notes, memory and all."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, assignor_named, lead
from assignors.group_bytes import assignments, subscriptions
from assignors.leader import Led
from tests.group_bytes.blobs import CLUSTERS, groups_of_bytes
from tests.group_bytes.test_subscriptions import always_together

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
    groups_of_bytes(),
    CLUSTERS,
    st.sampled_from(ASSIGNORS),
    st.sampled_from((None, 4, 5)),
)
def test_a_round_on_arrays_is_the_round_member_by_member(
    given_blobs: dict[str, bytes], cluster: Cluster, name: str, generation: int | None
) -> None:
    assignor = assignor_named(name)
    # Members do not come in the order of their ids.
    blobs = {f"m{number * 3 % 5}": blob for number, blob in enumerate(given_blobs.values())}
    slow = lead(assignor, cluster, blobs, generation=generation)
    with always_together(), patch.object(assignments, "PARTITIONS_MIN", 0):
        fast = lead(assignor, cluster, blobs, generation=generation)
        assert shown(fast) == shown(slow)
        again = lead(assignor, cluster, blobs, generation=generation, memory=fast.memory)
    assert shown(again) == shown(
        lead(assignor, cluster, blobs, generation=generation, memory=slow.memory)
    )
    assert len(blobs) < subscriptions.MEMBERS_MIN, "or the slow one is the fast one"
