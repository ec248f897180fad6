"""What small groups get without arrays is what the arrays give, in all that an answer has."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, JavaFailure, Member, Options, Topic
from assignors.arrays import partition_arrays
from assignors.conformance.groups import group_of
from assignors.jvm.ordered_assignment import PartitionsByMember, ordered_by_member
from assignors.options import Jdk
from assignors.server.small.plain_mixed import plain_mixed
from assignors.server.small.plain_uniform import PARTITIONS_MAX, plain_answer
from assignors.server.uniform import assign_by_arrays
from tests.conftest import cases
from tests.server.groups import any_groups, equal_groups, lists_of
from tests.server.groups import cases as vectors
from tests.server.test_spec import JDK_TOPICS

UNIFORM_CASES = [case for case in vectors() if case["in"]["algo"] == "srv-uniform"]


def is_plain_and_right(group: Group, jdk: Jdk = 17) -> bool:
    """Whether the group is plain; the answer is that of the arrays then, in every part."""
    options = Options(jdk=jdk)
    figures = {"moved": 0}
    plain = plain_answer(group, jdk, lambda: figures) or plain_mixed(group, lambda: figures)
    if plain is None:
        return False
    arrays = assign_by_arrays(group, options=options)
    assert [*plain.assignment.items()] == [*arrays.assignment.items()]
    assert all(
        [*share.items()] == [*arrays.assignment[member_id].items()]
        for member_id, share in plain.assignment.items()
    ), "topics stand in one order"
    assert plain.lists is not None
    assert arrays.lists is not None
    assert [*plain.lists.items()] == [*arrays.lists.items()]
    assert (plain.order, plain.notes) == (arrays.order, arrays.notes)
    assert plain.stats == figures
    return True


@given(group=any_groups)
def test_any_group_is_answered_alike_or_left_to_the_arrays(group: Group) -> None:
    is_plain_and_right(group)


def test_rows_of_arrays_stay_arrays_where_dictionaries_of_as_many_partitions_take_lists() -> None:
    cluster = Cluster.of({"t": PARTITIONS_MAX})
    dictionaries = {"a": {"t": tuple(range(PARTITIONS_MAX))}, "b": {}}
    arrays = partition_arrays(list(dictionaries.values()), {"t": 0})
    rows = PartitionsByMember(
        ordered_by_member(
            tuple(dictionaries),
            ("t",),
            member=arrays.member_of,
            topic=arrays.topic_of.astype(np.int32),
            number=arrays.number.astype(np.int32),
        )
    )
    for owned, is_plain in ((dictionaries, True), (rows, False)):
        members = [Member(member_id=each, topics=("t",), owned=owned[each]) for each in owned]
        assert is_plain_and_right(Group(cluster=cluster, members=tuple(members))) is is_plain


@given(group=equal_groups())
def test_every_intact_target_of_equal_members_is_plain(group: Group) -> None:
    assert is_plain_and_right(group)


@pytest.mark.parametrize("jdk", [17, 25])
def test_groups_of_all_small_sizes_are_answered_alike(jdk: Jdk) -> None:
    counted = Counter(is_plain_and_right(intact_group(seed), jdk) for seed in range(300))
    assert counted[True] > 290


def test_twelve_topics_are_copied_as_the_jdk_does() -> None:
    topics = {name: Topic(partition_count=1, topic_id=name) for name in JDK_TOPICS}
    members = tuple(Member(member_id=name, topics=tuple(topics)) for name in ("m0", "m1"))
    group = Group(cluster=Cluster(topics=topics), members=members)
    assert is_plain_and_right(group, 17)
    assert is_plain_and_right(group, 25)


@pytest.mark.parametrize("last", [1, 2])
def test_a_map_of_thirteen_topics_is_longer_where_a_number_follows(last: int) -> None:
    """A member gives up most of what it had: its map has 32 buckets, or still 16."""
    sizes = {f"t{number}": 2 for number in range(13)}
    owned = {topic: tuple(range(last)) for topic in sizes}
    members = (
        Member(member_id="a", topics=tuple(sizes), owned=owned),
        *(Member(member_id=name, topics=tuple(sizes)) for name in "bcd"),
    )
    assert is_plain_and_right(Group(cluster=Cluster.of(sizes), members=members))


@pytest.mark.parametrize("case", UNIFORM_CASES, ids=[case["id"] for case in UNIFORM_CASES])
def test_the_vectors_hold_on_arrays_too(case: dict[str, Any]) -> None:
    group, expected = group_of(case["in"]), case["out"]
    if "err" in expected:
        assert plain_answer(group, 17, figures=dict) is None
        assert plain_mixed(group, figures=dict) is None
        with pytest.raises(JavaFailure) as failure:
            assign_by_arrays(group)
        assert str(failure.value) == expected["err"]
        return
    is_plain_and_right(group)
    assert lists_of(assign_by_arrays(group)) == {
        member: sorted(expected["assignment"].get(member, [])) for member in expected["order"]
    }


@cases(300)
@given(seed=st.integers(0, 2**32))
def test_groups_with_different_subscriptions_are_answered_alike(seed: int) -> None:
    assert is_plain_and_right(with_different_topics(intact_group(seed), Random(seed)))


def with_different_topics(group: Group, dice: Random) -> Group:
    """The group in which members list some of the topics; what they had of others stays."""
    listed = group.members[0].topics
    first = Member(member_id="first", topics=listed[:1])
    others = [
        replace(member, topics=tuple(dice.sample(listed, dice.randint(1, len(listed)))))
        for member in group.members
    ]
    last = Member(member_id="last", topics=listed)
    return replace(group, members=(first, *others, last))


def intact_group(seed: int) -> Group:
    """A group with equal subscriptions and an intact target, with numbers and names of all kinds.

    Some members have far more than the others, numbers beyond the tables of their sets, names that
    share buckets.
    """
    dice = Random(seed)
    count = dice.choice((1, 2, 3, 5, 8, 9, 13, 20, 30, 60))
    prefix = dice.choice(("m", "consumer-group-", "Ünï-", "\U0001f600"))
    ids = dice.sample([f"{prefix}{number}" for number in range(3 * count)], count)
    sizes = {
        f"{dice.choice('tTé')}{dice.randint(0, 999)}": dice.choice((0, 1, 3, 7, 20, 90))
        for _ in range(dice.choice((1, 1, 2, 4, 9, 12, 16)))
    }
    while sum(sizes.values()) > PARTITIONS_MAX:
        sizes.popitem()
    sizes = sizes or {"t": 40}
    rich = ids[: dice.randint(1, count)]
    owned: dict[str, dict[str, tuple[int, ...]]] = {member_id: {} for member_id in ids}
    for topic, size in sizes.items():
        for number in dice.sample(range(size), dice.choice((0, size // 2, size))):
            share = owned[dice.choice(rich)]
            share[topic] = (*share.get(topic, ()), number)
    listed = [*sizes, "gone"]
    members = [
        Member(member_id=member_id, topics=tuple(dice.sample(listed, len(listed))), owned=share)
        for member_id, share in owned.items()
    ]
    cluster = Cluster.of(sizes)
    known = {
        name: replace(topic, topic_id=f"{dice.randint(0, 4**21):022d}"[:22])
        for name, topic in cluster.topics.items()
        if dice.random() < 0.8
    }
    return Group(cluster=Cluster(topics={**cluster.topics, **known}), members=tuple(members))
