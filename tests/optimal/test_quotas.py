"""Equal subscriptions: the closed form keeps the most, and spreads every topic."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st

from assignors.optimal.quotas import Holdings, gains, share
from tests.optimal.groups import Arrays, arrays


def most_kept_by_trial(owned: list[int], partition_count: int) -> int:
    """Return the most that any choice of members for the spares keeps, all of them tried."""
    floor, spare = divmod(partition_count, len(owned))
    return max(
        sum(min(floor + (member in chosen), count) for member, count in enumerate(owned))
        for chosen in combinations(range(len(owned)), spare)
    )


def spread(made: Arrays, given: np.ndarray) -> list[int]:
    """Return for each topic the widest gap between two members."""
    gaps: list[int] = []
    for first, end in zip(made.first, made.first[1:], strict=False):
        held = np.bincount(given[first:end], minlength=made.member_count)
        gaps.append(int(held.max() - held.min()))
    return gaps


@given(st.lists(st.integers(0, 9), min_size=1, max_size=7), st.integers(0, 9))
def test_no_other_choice_of_spares_keeps_more(owned: list[int], unowned: int) -> None:
    partition_count = sum(owned) + unowned
    quota = np.array(owned) + gains(np.array(owned), partition_count)
    assert quota.sum() == partition_count
    assert quota.max() - quota.min() <= 1
    assert np.minimum(quota, owned).sum() == most_kept_by_trial(owned, partition_count)


@given(st.integers(1, 9), st.lists(st.integers(0, 30), min_size=1, max_size=6))
def test_a_fresh_group_is_dealt_round_robin(members: int, sizes: list[int]) -> None:
    made = arrays(sizes, [list(range(len(sizes)))] * members)
    answer = made.solve().owner
    assert answer.tolist() == [partition % members for partition in range(sum(sizes))]
    assert max(spread(made, answer)) <= 1


@given(st.integers(2, 9), st.integers(1, 8), st.integers(1, 12))
def test_a_topic_gives_a_newcomer_no_more_than_its_share(
    members: int, topics: int, rounds: int
) -> None:
    # Everybody giving up its first partition would give the newcomer one topic and no other.
    before = members - 1
    made = arrays([before * rounds] * topics, [list(range(topics))] * members)
    owner = np.arange(len(made.owner), dtype=np.int32) % before
    answer, kept, _ = share(made.first, owner, members)
    newcomer = np.bincount(made.topic_of[answer == before], minlength=topics)
    assert newcomer.max() - newcomer.min() <= 1 + before // topics
    assert kept == len(owner) - len(owner) // members
    assert max(spread(made, answer)) <= 2 + before // topics


def test_a_newcomer_gets_some_of_every_topic() -> None:
    made = arrays([100] * 10, [list(range(10))] * 11)
    owner = np.arange(1000, dtype=np.int32) % 10
    answer = share(made.first, owner, 11).owner
    assert np.bincount(made.topic_of[answer == 10]).tolist() == [9] * 9 + [9]


def test_an_over_full_member_gives_up_the_topics_it_holds_most_of() -> None:
    made = arrays([6, 2], [[0, 1]] * 2)
    answer = share(made.first, np.zeros(8, dtype=np.int32), 2).owner
    assert np.bincount(made.topic_of[answer == 0]).tolist() == [2, 2]


def test_the_extra_one_goes_to_who_owns_most_then_to_the_lower_number() -> None:
    assert gains(np.array([0, 2, 3, 2]), partition_count=10).tolist() == [2, 1, 0, 0]
    assert gains(np.array([1, 1, 1]), partition_count=4).tolist() == [1, 0, 0]


def test_a_large_group_is_the_same_problem() -> None:
    members, partitions = 300, 70_000
    made = arrays([partitions // 2] * 2, [[0, 1]] * members)
    owner = np.arange(partitions, dtype=np.int32) % (members // 2)
    answer, kept, _ = share(made.first, owner, members)
    load = np.bincount(answer, minlength=members)
    assert load.max() - load.min() <= 1
    assert kept == int(np.minimum(np.bincount(owner, minlength=members), load).sum())


@st.composite
def held(draw: st.DrawFn) -> tuple[list[int], list[list[int]], list[int]]:
    """Draw sizes of topics, what each member owns in any order, and what is nobody's.

    Often no member owns two partitions of a topic, as in most groups.
    """
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    first = np.cumsum([0, *sizes]).tolist()
    member_count = draw(st.integers(1, 7))
    owned: list[list[int]] = [[] for _ in range(member_count + 1)]  # the last one is nobody
    is_one_each = draw(st.booleans())
    for begin, end in pairwise(first):
        last = member_count if is_one_each and end - begin <= member_count else None
        drawn = st.permutations(range(member_count)) if last else st.just(())
        in_turn = list(draw(drawn))
        for partition in range(begin, end):
            member = in_turn.pop() if in_turn else draw(st.integers(0, member_count))
            owned[member].append(partition)
    return first, [draw(st.permutations(each)) for each in owned[:-1]], owned[-1]


@given(held())
def test_what_each_member_has_changes_nothing(
    drawn: tuple[list[int], list[list[int]], list[int]],
) -> None:
    first, owned, nobody = drawn
    owner = np.full(first[-1], -1, dtype=np.int32)
    for member, partitions in enumerate(owned):
        owner[partitions] = member
    topic_of = np.searchsorted(first, np.arange(first[-1]), side="right")
    holdings = Holdings(
        np.array([partition for each in owned for partition in each], dtype=np.int64),
        np.array(list(map(len, owned))),
        are_of_different_topics=all(len({*topic_of[each]}) == len(each) for each in owned),
    )
    event(f"different topics: {holdings.are_of_different_topics}")
    found = share(np.array(first), owner, len(owned), holdings)
    expected = share(np.array(first), owner, len(owned))
    assert found.owner.tolist() == expected.owner.tolist()
    assert found.kept == expected.kept == np.count_nonzero(found.owner == owner)
    assert found.changed.tolist() == expected.changed.tolist()
    assert found.changed.tolist() == np.flatnonzero(found.owner != owner).tolist()
    assert {*nobody} <= {*found.changed.tolist()}


@given(st.integers(2, 9), st.integers(1, 8), st.integers(1, 12))
def test_members_with_as_many_partitions_give_up_the_same(
    members: int, topics: int, rounds: int
) -> None:
    """A newcomer, and members that have one partition of each topic, in any order."""
    sizes = [members - 1] * topics * rounds
    made = arrays(sizes, [list(range(len(sizes)))] * members)
    owner = np.arange(len(made.owner), dtype=np.int32) % (members - 1)
    partition = np.arange(len(owner)).reshape(-1, members - 1).T[:, ::-1].ravel()
    count = np.bincount(owner, minlength=members)
    found = share(
        made.first, owner, members, Holdings(partition, count, are_of_different_topics=True)
    )
    assert found.owner.tolist() == share(made.first, owner, members).owner.tolist()
