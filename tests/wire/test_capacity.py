"""The capacity at the end of UserData: read whatever stands before it, and never in the way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member, UserData, assignor_named
from assignors.claims import claims_of
from assignors.documents.groups import group_from_document
from assignors.group_bytes.capacities import capacities_of
from assignors.group_bytes.members import ReadMembers
from assignors.group_bytes.subscriptions import read_members
from assignors.group_bytes.user_data import sticky_claims
from assignors.membership import Membership, applied, subscribe
from assignors.problem import problem_of
from tests.group_bytes.test_subscriptions import always_together, one_by_one
from wire import (
    Mode,
    Subscription,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)
from wire.protocol.capacity import MARK, SIZE

OWNED = st.dictionaries(
    st.sampled_from(["t", "orders", "x" * 40]),
    st.sets(st.integers(0, 2**31 - 1), min_size=1, max_size=4).map(lambda s: tuple(sorted(s))),
)
GENERATION = st.integers(-1, 2**31 - 1)
CAPACITY = st.integers(1, 2**31 - 1)
WRITTEN = st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1), CAPACITY, st.integers(1, 9))


@given(OWNED, GENERATION, CAPACITY)
def test_a_capacity_is_read_and_all_before_it_is_read_as_without(
    owned: dict[str, tuple[int, ...]], generation: int, capacity: int
) -> None:
    sticky = decode_sticky_user_data(encode_sticky_user_data(owned, generation, capacity=capacity))
    read = sticky.require()
    assert (read.owned, read.generation, read.capacity) == (owned, generation, capacity)
    blob = encode_cooperative_user_data(generation, capacity=capacity)
    cooperative = decode_cooperative_user_data(blob)
    found = cooperative.require()
    assert (found.owned, found.generation, found.capacity) == (None, generation, capacity)
    assert not sticky.notes
    assert not cooperative.notes
    assert decode_cooperative_user_data(blob, mode=Mode.STRICT).require().generation == generation


@pytest.mark.parametrize("capacity", [0, -1, 2**31])
def test_no_capacity_below_1_is_written(capacity: int) -> None:
    with pytest.raises(ValueError, match="capacity"):
        encode_cooperative_user_data(3, capacity=capacity)


@given(st.binary(max_size=40), st.integers(0, 5000))
def test_any_bytes_before_any_number_of_marks_are_read(data: bytes, repeats: int) -> None:
    blob = data + (MARK + b"\0\0\0\7") * repeats
    for read in (decode_sticky_user_data(blob), decode_cooperative_user_data(blob)):
        assert read.require().capacity == (7 if repeats else None) or not repeats


def data_of(kind: UserData, written: int | None, owned: dict[str, tuple[int, ...]]) -> bytes:
    """UserData of a member, with any number where the capacity stands."""
    generation = 4
    plain = (
        encode_cooperative_user_data(generation)
        if kind is UserData.COOPERATIVE
        else encode_sticky_user_data(owned, generation)
    )
    number = b"" if written is None else MARK + written.to_bytes(4, "big", signed=True)
    return plain + number


@given(
    st.lists(st.tuples(WRITTEN, st.integers(0, 3)), min_size=1, max_size=8),
    st.sampled_from((UserData.STICKY, UserData.COOPERATIVE)),
)
def test_members_read_together_claim_what_they_claim_one_by_one_and_have_the_same_capacity(
    members: list[tuple[int | None, int]], kind: UserData
) -> None:
    blobs = {}
    for place, (written, count) in enumerate(members):
        owned = {"t": tuple(range(4 * place, 4 * place + count))} if count else {}
        data = data_of(kind, written, owned)
        blobs[f"m{place}"] = encode_subscription(
            Subscription(topics=("t",), user_data=data, owned=owned, generation=4)
        )
    cluster = Cluster.of({"t": 32})
    with always_together():
        together = Group(cluster=cluster, members=read_members(blobs))
    alone = Group(cluster=cluster, members=one_by_one(blobs))
    claims = claims_of(problem_of(together), together, kind)
    expected = claims_of(problem_of(alone), alone, kind)
    assert claims.claimant.tolist() == expected.claimant.tolist()
    assert np.count_nonzero(claims.claimant >= 0) == sum(count for _, count in members)
    assert not claims.notes
    assert capacities_of(together.members) == capacities_of(alone.members)
    assert isinstance(together.members, ReadMembers)
    if kind is UserData.STICKY:
        everybodys = together.members.arrays.everybodys_user_data()
        with always_together():
            claimed = sticky_claims(everybodys, ["t"])
        assert claimed is not None, "none has to be read by itself"


@given(st.lists(WRITTEN, min_size=1, max_size=9))
def test_a_capacity_that_is_nonsense_counts_as_the_usual_one(written: list[int | None]) -> None:
    members = [
        Member(member_id=f"m{place}", user_data=data_of(UserData.COOPERATIVE, one, {}))
        for place, one in enumerate(written)
    ]
    found = capacities_of(members)
    honest = sorted(one for one in written if one is not None and one > 0)
    assert bool(found) == bool(honest)
    if not found:
        return
    usual = honest[(len(honest) - 1) // 2]
    for place, one in enumerate(written):
        is_sane = one is not None and 0 < usual <= 100 * one <= 10_000 * usual
        assert found[f"m{place}"] == (one if is_sane else usual)


@pytest.mark.parametrize("kind", [UserData.STICKY, UserData.COOPERATIVE])
def test_a_repeated_join_is_the_same_bytes_and_a_capacity_costs_eight(kind: UserData) -> None:
    owned = {"t": (0, 1)}
    joined = []
    for capacity in (None, 4):
        member = applied(Membership(kind=kind, capacity=capacity), owned, 3)
        member, first = subscribe(member, ["t"], owned=owned, generation=3)
        member, again = subscribe(member, ["t"], owned=owned, generation=3)
        assert first == again
        _, later = subscribe(member, ["t"], owned=owned, generation=3)
        written = [decode_subscription(one).require().user_data for one in (first, later)]
        assert written[0] == written[1]
        joined.append(first)
    assert len(joined[1]) == len(joined[0]) + SIZE


def test_under_other_names_nothing_is_written() -> None:
    member = Membership(kind=UserData.NONE, capacity=4)
    _, blob = subscribe(member, ["t"], owned={})
    assert blob == subscribe(Membership(kind=UserData.NONE), ["t"], owned={})[1]


def test_a_group_of_captured_bytes_has_the_capacities_that_stand_in_them() -> None:
    """As `assign` and `check` read it; a key of the document counts more than the bytes."""
    members = [
        {
            "id": name,
            "subscription": encode_subscription(
                Subscription(
                    topics=("t",), user_data=encode_cooperative_user_data(-1, capacity=capacity)
                )
            ).hex(),
        }
        for name, capacity in (("a", 4), ("b", 2))
    ]
    group = group_from_document({"topics": {"t": 6}, "members": members})
    assert group.weighting is not None
    assert group.weighting.capacities == {"a": 4, "b": 2}
    answer = assignor_named("weighted").assign(group)
    assert {name: len(share["t"]) for name, share in answer.assignment.items()} == {"a": 4, "b": 2}
    told: list[dict[str, object]] = [{**members[0], "capacity": 1}, {**members[1]}]
    again = group_from_document({"topics": {"t": 6}, "members": told})
    assert again.weighting is not None
    assert again.weighting.capacities == {"a": 1, "b": 2}
