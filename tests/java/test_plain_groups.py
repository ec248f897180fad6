"""What `plain_lists` gives without arrays is what the copies of Java's assignors give."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given

from assignors import Assignor, Cluster, Group, Member, State, UserData
from assignors.java.cooperative_sticky import COOPERATIVE_STICKY
from assignors.java.range import RANGE
from assignors.java.small.plain_groups import plain_lists
from assignors.java.small.plain_range import plain_range
from assignors.java.sticky import STICKY
from assignors.jvm.failure import JavaFailure
from assignors.testing import groups
from wire import encode_cooperative_user_data, encode_sticky_user_data

EACH = pytest.mark.parametrize("assignor", [STICKY, COOPERATIVE_STICKY, RANGE])


def is_plain_and_right(assignor: Assignor, group: Group) -> bool:
    """Return whether the group is plain; assert that the lists are right then."""
    found = plain_range(group) if assignor is RANGE else plain_lists(group, assignor.user_data)
    if found is None:
        return False
    lists, state = found
    answer = assignor.assign(group)
    assert answer.lists is not None
    assert {member_id: tuple(pairs) for member_id, pairs in lists.items()} == dict(answer.lists)
    assert state == (answer.state or group.state)
    return True


@EACH
@given(group=groups())
def test_any_group_is_answered_alike_or_left_alone(assignor: Assignor, group: Group) -> None:
    is_plain_and_right(assignor, group)


@EACH
def test_groups_in_which_claims_are_sound_are_plain(assignor: Assignor) -> None:
    counted: Counter[bool] = Counter()
    for seed in range(400):
        counted[is_plain_and_right(assignor, sound_group(seed, assignor.user_data))] += 1
    assert counted[True] > 9 * counted[False]


def test_what_java_fails_on_is_left_to_the_assignor() -> None:
    """A claim of a number that the topic does not have: `No more unfilled consumers`."""
    members = (
        Member(member_id="a", topics=("t",), owned={"t": (7,)}, generation=1),
        Member(member_id="b", topics=("t",)),
    )
    group = Group(cluster=Cluster.of({"t": 1}), members=members)
    assert plain_lists(group, UserData.COOPERATIVE) is None
    with pytest.raises(JavaFailure):
        COOPERATIVE_STICKY.assign(group)


def sound_group(seed: int, kind: UserData) -> Group:
    """Return a group in which what is claimed exists.

    In half of them some partitions have several claimants. Where nobody claims, subscriptions
    differ in half of them; elsewhere they are equal.
    """
    dice = Random(seed)
    sizes = {f"t{dice.randint(0, 999_999)}": dice.randint(0, 6) for _ in range(dice.randint(1, 14))}
    ids = [f"{dice.choice('abcX')}-{number}" for number in range(dice.randint(1, 12))]
    dice.shuffle(ids)
    few = ids[: dice.randint(1, len(ids))]
    owned: dict[str, dict[str, tuple[int, ...]]] = {member_id: {} for member_id in ids}
    for topic, size in sizes.items():
        for number in dice.sample(range(size), dice.randint(0, size)):
            claimants = dice.sample(ids, min(3, len(ids))) if dice.random() < seed % 2 / 4 else few
            for member_id in claimants if claimants is not few else [dice.choice(few)]:
                owned[member_id][topic] = (*owned[member_id].get(topic, ()), number)
    members = []
    topics = tuple(dice.sample([*sizes, "gone"], len(sizes) + 1))
    differ = kind is UserData.NONE and seed % 2 == 1
    for member_id, share in owned.items():
        generation = dice.randint(-1, 9)
        said = generation + dice.choice((0, 0, 0, 1))
        is_sticky = kind is UserData.STICKY
        data = (
            encode_sticky_user_data(share, said)
            if is_sticky
            else encode_cooperative_user_data(said)
        )
        version = dice.choice((None, 1, 3))
        members.append(
            Member(
                member_id=member_id,
                topics=tuple(
                    dice.sample(topics, dice.randint(1, len(topics)) if differ else len(topics))
                ),
                instance_id=f"i{dice.randint(0, 99)}-{member_id}" if dice.random() < 0.3 else None,
                owned=share,
                generation=generation,
                version=version,
                user_data=None if version is None else data,
            )
        )
    state = State(max_generation=dice.randint(-1, 9))
    return Group(cluster=Cluster.of(sizes), members=tuple(members), state=state)
