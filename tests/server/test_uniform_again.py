"""Uniform asked again on the arrays of the last question: the shares that change are its shares."""

from __future__ import annotations

from hypothesis import event, given
from hypothesis import strategies as st

from assignors.jvm.failure import JavaFailure
from assignors.jvm.hash_order import string_hashes
from assignors.model import Cluster, Group, Member
from assignors.server.uniform import assign
from assignors.server.uniform_again import Question, asked, shares_that_change
from tests.conftest import cases
from wire import TopicPartitions

NAMES = [f"c{number}" for number in range(5)] + ["Aa", "BB"]
"""The last two have one hash code."""
Target = dict[str, TopicPartitions]


@st.composite
def histories(draw: st.DrawFn) -> tuple[Cluster, tuple[str, ...], list[tuple[list[str], Target]]]:
    """Topics, what all subscribe to, and who is there each time, with targets put in between."""
    counts = {name: draw(st.integers(0, 12)) for name in "tuv"}
    topics = draw(st.sampled_from([("t",), ("u", "t"), ("t", "u", "gone"), ("v", "u", "t")]))
    share: st.SearchStrategy[TopicPartitions] = st.dictionaries(
        st.sampled_from([*topics, "v"]),
        st.lists(st.integers(0, 12), min_size=1, max_size=2, unique=True).map(tuple),
        max_size=2,
    )
    names = st.lists(st.sampled_from(NAMES[: draw(st.sampled_from([5, 7]))]), min_size=4)
    put = st.dictionaries(st.sampled_from(NAMES[:3]), share, min_size=1, max_size=1)
    turns = st.lists(
        st.tuples(names.map(dict.fromkeys).map(list), st.one_of(st.just({}), put)),
        min_size=3,
        max_size=6,
    )
    return Cluster.of(counts), topics, draw(turns)


@cases(60)
@given(histories())
def test_shares_that_change_are_those_of_the_whole_answer(
    history: tuple[Cluster, tuple[str, ...], list[tuple[list[str], Target]]],
) -> None:
    cluster, topics, turns = history
    target: Target = {}
    last: Question | None = None
    answered: Question | None = None
    changed: set[str] = set()
    for ids, put in turns:
        since_answer = put.keys() | (set(ids) ^ target.keys())
        changed |= since_answer
        target = {each: share for each, share in target.items() if each in ids} | {
            each: share for each, share in put.items() if each in ids
        }
        hashes = string_hashes(ids)
        question = asked(
            cluster,
            topics,
            ids=ids,
            hashes=hashes,
            previous=target,
            changed=ids if last is None else [each for each in ids if each in changed],
            last=last,
        )
        again = asked(
            cluster,
            topics,
            ids=ids,
            hashes=hashes,
            previous=target,
            changed=ids if answered is None else [each for each in ids if each in since_answer],
            last=answered,
        )
        assert question or put or {"Aa", "BB"} <= set(ids)
        event("asked again" if last and question else "asked" if question else "left")
        owned = [(each, target.get(each, {})) for each in ids]
        members = tuple(Member(member_id=each, topics=topics, owned=has) for each, has in owned)
        try:
            whole = assign(Group(cluster=cluster, members=members)).lists
        except JavaFailure:
            event(f"fails {question is None}")
            assert question is again is None
            return
        assert whole is not None
        found: dict[str, dict[str, tuple[int, ...]]] = {}
        for each in whole:
            share: dict[str, list[int]] = {}
            for topic, number in whole[each]:
                share.setdefault(topic, []).append(number)
            found[each] = {topic: tuple(sorted(numbers)) for topic, numbers in share.items()}
        assert (again is None) == (question is None)
        if question is None or again is None:
            last = answered = None
            before: Target = {}
        else:
            new = [each for each in ids if each not in target]
            changes, answered = shares_that_change(question, new, 17)
            assert shares_that_change(again, new, 17)[0] == changes
            assert {each: found[each] for each in changes} == changes
            assert [each for each in found if each in changes] == list(changes)
            assert set(new) <= changes.keys()
            same = {each: share for each, share in target.items() if each not in changes}
            assert {each: found[each] for each in same} == same
            last, before = question, dict(target)
        target = dict(found)
        changed = {each for each in target if target[each] != before.get(each)}
