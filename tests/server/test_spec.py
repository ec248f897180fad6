"""How a group becomes what the broker's assignors see."""

from __future__ import annotations

import pytest

from assignors import Cluster, Group, Member, OnFailure, Options, Topic, assignor_named
from assignors.jvm.failure import JavaFailure
from assignors.server.spec import made_id, spec_of
from tests.server.groups import places_of

IDS = ("AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg")
CROWDED = "kpcG90740WhnJnL-E1vk_g"
JDK_TOPICS = (
    *("zQcs2L5vn2KsTAnCggbn4w", "VZSqazQvXQo6XkhC-rQo9w", "YubiguXBZXx4w6lns2cR6w"),
    *("OQanyGA9cdQJ56VNh73B9w", "BEICeq8fqVt_hliVeN9D5A", "ExZ66Nnc6zd2KDOBGnGnIw"),
    *("c4YmSC9hxiN5YnzBJNRGGA", "PG5NnqGlpcz3LiFAwwS9_A", "aiHl6BIXVog11Jf7ISuGtA"),
    *("nmVqzwZBFpoLWfTmKUOfJQ", "2dRlT-yNSBn7QNa6ssjgEg", "HEQa5hSnuNkqkhmvHs6HVA"),
)


def group(topics: dict[str, Topic], **owned: dict[str, tuple[int, ...]]) -> Group:
    return Group(
        cluster=Cluster(topics=topics),
        members=tuple(
            Member(member_id=member_id, topics=tuple(topics), owned=share)
            for member_id, share in owned.items()
        ),
    )


@pytest.mark.parametrize("bad", ["", "t", IDS[0][:-1], IDS[0] + "A", "AAAAAAAAAAAAAAAAAAAA+/"])
@pytest.mark.parametrize("name", ["uniform", "range", "simple"])
def test_a_topic_id_that_is_none_is_refused_by_name(bad: str, name: str) -> None:
    described = group({"orders": Topic(partition_count=1, topic_id=bad)}, a={})
    with pytest.raises(
        ValueError, match=r"topic 'orders': id .* is not 22 characters of base64url"
    ):
        assignor_named(f"server/{name}").assign(described)


def test_one_id_for_two_topics_is_refused() -> None:
    topics = {name: Topic(partition_count=1, topic_id=IDS[0]) for name in ("t", "u")}
    with pytest.raises(ValueError, match="topics 't' and 'u' have the same id"):
        spec_of(group(topics, a={}))


@pytest.mark.parametrize("partition_count", [2, 5_000])
def test_a_topic_made_anew_has_its_new_id(partition_count: int) -> None:
    """Also in the answer: of lists in a small group, of arrays in a large one."""
    first, then = (Topic(partition_count=partition_count, topic_id=topic_id) for topic_id in IDS)
    other = Topic(partition_count=1, topic_id=CROWDED)
    topics = {"t": first, "u": other}
    described = group(topics, a={}, b={})
    uniform = assignor_named("server/uniform")
    for topic in (first, then, Topic(partition_count=partition_count)):
        topics["t"] = topic
        for _ in range(2):
            asked, known = spec_of(described), spec_of(group({**topics}, a={}, b={}))
            assert asked.topic_ids == known.topic_ids
            assert asked.topic_hash.tolist() == known.topic_hash.tolist()
            answer, expected = uniform.assign(described), uniform.assign(known.group)
            assert answer.notes == expected.notes
            assert dict(answer.assignment) == dict(expected.assignment)


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**70])
def test_a_number_beyond_32_bits_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="does not fit in 32 bits"):
        spec_of(group({"t": Topic(partition_count=1)}, a={"t": (number,)}))


def test_who_made_an_id_says_so_where_it_may_matter() -> None:
    topics = {"t": Topic(partition_count=1, topic_id=IDS[0]), "u": Topic(partition_count=1)}
    described = group(topics, a={})
    for name, expected in (
        ("uniform", ["topic-id-made"]),
        ("simple", ["topic-id-made"]),
        ("range", []),
    ):
        answer = assignor_named(f"server/{name}").assign(described)
        assert [note.code for note in answer.notes] == expected
    (note,) = assignor_named("server/uniform").assign(described).notes
    assert "1 topics" in note.text
    assert note.text.endswith("'u'")
    given = {**topics, "u": Topic(partition_count=1, topic_id=made_id("u"))}
    assert not assignor_named("server/uniform").assign(group(given, a={})).notes
    assert spec_of(described).topic_ids == spec_of(group(given, a={})).topic_ids


def test_many_made_ids_are_one_note() -> None:
    described = group({f"t{n}": Topic(partition_count=1) for n in range(5)}, a={})
    (note,) = assignor_named("server/uniform").assign(described).notes
    assert "5 topics" in note.text
    assert note.text.endswith("'t0', 't1', 't2', ...")


@pytest.mark.parametrize(
    ("jdk", "first"),
    [(17, {1, 3, 5, 6, 8, 9}), (25, {1, 2, 3, 4, 6, 8})],
)
def test_twelve_topics_stand_in_another_order_under_another_jdk(jdk: int, first: set[int]) -> None:
    """As both JDKs answered: HashSet(collection) asks for another table from 12 elements on."""
    topics = {name: Topic(partition_count=1, topic_id=name) for name in JDK_TOPICS}
    options = Options(jdk=25 if jdk == 25 else 17)
    answer = (
        assignor_named("server/uniform").configured(options).assign(group(topics, m0={}, m1={}))
    )
    assert places_of(answer)["m0"] == {(JDK_TOPICS[n], 0) for n in first}


def test_a_topic_the_broker_does_not_know_any_more_is_dropped_from_the_target() -> None:
    described = Group(
        cluster=Cluster.of({"t": 2}),
        members=(
            Member(member_id="a", topics=("t", "gone"), owned={"gone": (0, 1, 2), "t": (0,)}),
            Member(member_id="b", topics=("gone", "t")),
        ),
    )
    answer = assignor_named("server/uniform").assign(described)
    assert places_of(answer) == {"a": {("t", 0)}, "b": {("t", 1)}}


def test_a_number_written_twice_stands_once_in_the_target() -> None:
    described = group({"t": Topic(partition_count=2)}, a={"t": (1, 1)}, b={"t": (0,)})
    assert spec_of(described).target.number.tolist() == [1, 0]
    answer = assignor_named("server/uniform").assign(described)
    assert answer.stats["moved"] == 0


SIMPLE_FAILS = group({"t": Topic(partition_count=1, topic_id=CROWDED)}, a={"t": (70_000,)}, b={})
"""a's number that does not exist takes the place that t-0 needs (as Java answered)."""


def test_simple_fails_as_java_does_when_a_phantom_takes_a_place() -> None:
    simple = assignor_named("server/simple")
    with pytest.raises(JavaFailure, match="NoSuchElementException"):
        simple.assign(SIMPLE_FAILS)
    answer = simple.configured(Options(on_failure=OnFailure.REPAIR)).assign(SIMPLE_FAILS)
    assert places_of(answer) == {"a": {("t", 0)}, "b": {("t", 0)}}
    assert [note.code for note in answer.notes] == ["repaired"]


def test_where_subscriptions_differ_both_holders_keep_a_partition() -> None:
    topics = {
        name: Topic(partition_count=2, topic_id=topic_id)
        for name, topic_id in zip("tu", IDS, strict=True)
    }
    members = (
        Member(member_id="a", topics=("t",), owned={"t": (0, 1)}),
        Member(member_id="b", topics=("t", "u"), owned={"t": (1,), "u": (0,)}),
    )
    answer = assignor_named("server/uniform").assign(
        Group(cluster=Cluster(topics=topics), members=members)
    )
    assert places_of(answer) == {"a": {("t", 0), ("t", 1)}, "b": {("t", 1), ("u", 0), ("u", 1)}}
    assert answer.stats["load_square_sum"] == 4 + 9
