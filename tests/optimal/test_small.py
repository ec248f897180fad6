"""Lists and arrays give small groups the same answer: every figure, note and byte of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import compress, product

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member, Rebalance, UserData
from assignors.group_bytes.assignments import Assigned
from assignors.optimal import cooperative_sticky, sticky
from assignors.optimal.assign import assign, assign_by_arrays
from assignors.optimal.quotas import share
from assignors.optimal.small.best import best_owners
from assignors.optimal.small.problem import PARTITIONS_MAX, Numbering, SmallProblem, small_problem
from assignors.optimal.small.share import shared_owners
from assignors.options import Options, Prefer
from assignors.testing import groups
from tests.conftest import cases
from tests.group_bytes.blobs import mutated
from tests.optimal.groups import OWNERS, SHAPES, Arrays, group
from wire import encode_assignment, encode_sticky_user_data

EITHER = pytest.mark.parametrize("kind", [UserData.STICKY, UserData.COOPERATIVE])
OPTIONS = st.builds(
    Options,
    limit=st.sampled_from((None, None, None, 0, 3, 40)),
    prefer=st.sampled_from((Prefer.MOVES, Prefer.MOVES, Prefer.SPREAD)),
)


def shown(answer: Rebalance) -> str:
    """Return everything in the answer, in its order and with its types."""
    return json.dumps(
        {
            "assignment": {
                member_id: {topic: list(numbers) for topic, numbers in given.items()}
                for member_id, given in answer.assignment.items()
            },
            "withheld": dict(answer.withheld),
            "follow_up": answer.follow_up,
            "notes": [str(note) for note in answer.notes],
            "stats": dict(answer.stats),
            "rest": [answer.lists, answer.order, answer.state],
        }
    )


def written(answer: Rebalance) -> list[tuple[str, bytes]]:
    assert isinstance(answer.assignment, Assigned)
    return list(answer.assignment.written().items())


@st.composite
def odd_groups(draw: st.DrawFn) -> Group:
    """Draw a group in which some members also claim the ends of topics, or a number twice."""
    group = draw(groups())
    described = []
    for member in group.members:
        owned = {**member.owned}
        if draw(st.integers(0, 3)) == 0:
            for topic in draw(st.permutations(sorted(group.cluster.topics))):
                numbers = owned.pop(topic, ())
                ends = (-1, 0, group.cluster.topics[topic].partition_count, 2**70)
                more = st.sampled_from((*numbers, *numbers, *ends))
                owned[topic] = (*numbers, *draw(st.lists(more, max_size=3)))
            if member.version is not None:
                writable = {
                    t: tuple(n for n in numbers if n < 2**31) for t, numbers in owned.items()
                }
                user_data = encode_sticky_user_data(writable, draw(st.integers(-2, 6)))
                user_data = draw(st.just(user_data) | mutated(st.just(user_data)))
                member = replace(member, user_data=user_data)  # noqa: PLW2901
        described.append(replace(member, owned=owned))
    return replace(group, members=tuple(described), joined=draw(st.none() | st.integers(0, 8)))


@EITHER
@cases(120)
@given(group=odd_groups(), options=OPTIONS)
def test_lists_give_the_answer_of_arrays(kind: UserData, group: Group, options: Options) -> None:
    answer, expected = assign(group, kind, options), assign_by_arrays(group, kind, options)
    problem = small_problem(group)
    assert (problem is None) == (not group.members)
    if problem is not None:
        event("equal subscriptions" if problem.takes is None else "mixed")
        event("racks" if problem.has_racks else "no racks")
    assert shown(answer) == shown(expected)
    assert answer == expected
    assert written(answer) == written(expected)
    assert dict(written(answer)) == {
        member_id: encode_assignment(given, version=1)
        for member_id, given in expected.assignment.items()
    }


@st.composite
def owned(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    """Draw topic bounds, whom stickiness favours for each partition, and the number of members."""
    sizes = draw(st.lists(st.integers(0, 12), min_size=1, max_size=6))
    member_count = draw(st.integers(1, 12))
    some = draw(st.lists(st.integers(-1, member_count - 1), min_size=1, max_size=4))
    favoured = draw(st.lists(st.sampled_from(some), min_size=sum(sizes), max_size=sum(sizes)))
    return np.cumsum([0, *sizes]).tolist(), favoured, member_count


@given(owned())
def test_lists_share_as_arrays_do(drawn: tuple[list[int], list[int], int]) -> None:
    first, favoured, member_count = drawn
    before = favoured.copy()
    found = shared_owners(first, favoured, member_count)
    expected = share(np.array(first), np.array(favoured, dtype=np.int32), member_count)
    assert found.owner == expected.owner.tolist()
    assert found.changed == expected.changed.tolist() == differing(favoured, found.owner)
    assert favoured == before


@pytest.mark.parametrize(("shape", "owners"), list(product(SHAPES, OWNERS)))
def test_lists_solve_mixed_subscriptions_as_arrays_do(shape: str, owners: str) -> None:
    """Groups with one mean load, and groups whose members have different prices."""
    for seed in range(16):
        sizes = {"member_max": 24, "topic_max": 9 if seed < 12 else 40, "size_max": 12}
        made = _of_taken_topics(group(seed, shape=shape, owners=owners, **sizes))
        favoured = [
            member if member >= 0 and may[member] else -1
            for member, may in zip(made.owner.tolist(), made.may_take().tolist(), strict=True)
        ]
        names = [f"{topic:02d}" for topic in range(len(made.first) - 1)]
        asked = [frozenset(compress(names, taken)) for taken in made.takes.tolist()]
        ids = [str(number) for number in range(made.member_count)]
        problem = SmallProblem(
            members=[Member(member_id=name) for name in ids],
            member_ids=ids,
            numbering=Numbering(tuple(names), tuple(made.first.tolist())),
            takes=[asked[number] for number in made.class_of.tolist()],
            has_racks=False,
        )
        before = favoured.copy()
        found = best_owners(problem, favoured)
        solved = made.solve()
        assert found.owner == solved.owner.tolist()
        assert found.changed == solved.changed.tolist() == differing(favoured, found.owner)
        assert favoured == before


def differing(favoured: list[int], target: list[int]) -> list[int]:
    """Return the partitions that do not stay with whom stickiness favours."""
    return [
        number for number, pair in enumerate(zip(favoured, target, strict=True)) if len({*pair}) > 1
    ]


def _of_taken_topics(made: Arrays) -> Arrays:
    """Return the group without topics to which nobody subscribes: `small_problem` has none."""
    taken = np.bincount(np.nonzero(made.takes[made.class_of])[1], minlength=len(made.first) - 1) > 0
    sizes = np.diff(made.first)[taken]
    return replace(
        made,
        first=np.concatenate([[0], np.cumsum(sizes)]),
        takes=made.takes[:, taken],
        owner=made.owner[taken[made.topic_of]],
    )


@pytest.mark.parametrize("answer_of", [sticky.assign, cooperative_sticky.assign])
def test_the_size_decides(answer_of: Callable[[Group], Rebalance]) -> None:
    for count, kind in ((PARTITIONS_MAX, list), (PARTITIONS_MAX + 1, np.ndarray)):
        member = Member(member_id="a", topics=("t", "gone"))
        answer = answer_of(Group(cluster=Cluster.of({"t": count, "u": 9}), members=(member,)))
        assert isinstance(answer.assignment, Assigned)
        assert isinstance(answer.assignment.owner, kind)
        assert answer.assignment["a"] == {"t": tuple(range(count))}
        assert written(answer) == [("a", encode_assignment(answer.assignment["a"], version=1))]


@EITHER
@pytest.mark.parametrize("seed", range(6))
def test_a_group_that_members_leave_and_join_has_one_history(kind: UserData, seed: int) -> None:
    """Up to 45 members and 900 partitions, round after round, a list beside an array each time.

    Topics change, members come back with what they once had, or subscribe to less than they have.
    """
    dice = random.Random(seed)
    topics = [f"t{number}" for number in range(dice.randint(1, 9))]
    cluster = Cluster.of({topic: dice.randint(0, 100) for topic in topics})
    asked = [tuple(topics), tuple(topics) if seed % 2 else tuple(topics[1:])]
    held: dict[str, Member] = {}
    gone: dict[str, Member] = {}
    kept = 0
    for generation in range(12):
        for _ in range(dice.randint(1, 9)):
            name = f"m{dice.randint(0, 44)}"
            if name in held:
                gone[name] = held.pop(name)
            elif name in gone and dice.random() < 0.3:
                held[name] = replace(gone[name], topics=dice.choice(asked))
            else:
                held[name] = Member(member_id=name, topics=dice.choice(asked))
        if dice.random() < 0.3:
            sizes = {name: topic.partition_count for name, topic in cluster.topics.items()}
            cluster = Cluster.of({**sizes, dice.choice(topics): dice.randint(0, 100)})
        group = Group(cluster=cluster, members=tuple(held.values()))
        answer, expected = assign(group, kind, Options()), assign_by_arrays(group, kind)
        if not held:
            continue
        assert shown(answer) == shown(expected)
        assert written(answer) == written(expected)
        assert isinstance(answer.assignment, Assigned)
        shares = answer.assignment.shares()
        for name, member in held.items():
            owned = shares[name]
            kept += owned is member.owned
            late = dice.random() < 0.1
            held[name] = replace(member, owned=owned, generation=generation - late)
    assert kept, "members whose partitions stay have the same mapping as before"
