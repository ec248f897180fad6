"""Wrong assignments are found: the reference's own answers, spoilt in every way there is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest

from assignors.conformance.groups import group_of
from assignors.conformance.judges import Strictness, mistakes
from assignors.conformance.laws import broken_laws, waiting
from assignors.conformance.vectors import (
    CLIENT_ALGORITHMS,
    Operation,
    Vector,
)
from tests.conformance.published import KAFKA, vectors
from tests.conformance.references import EXACT, IN_ORDER, LAWFUL, Answer, answerable, right


@cache
def assigned(*algorithms: str) -> list[Vector]:
    """Groups in which somebody got something, and no law is broken by the reference."""
    return [
        vector
        for vector in answerable(Operation.ASSIGN)
        if vector.algorithm in algorithms
        and any(vector.expected["assignment"].values())  # type: ignore[attr-defined]
        and (
            vector.algorithm not in CLIENT_ALGORITHMS
            or not broken_laws(vector.given, lists(right(vector)), None)
        )
    ]


def lists(answer: Answer) -> dict[str, list[tuple[str, int]]]:
    return {
        name: [(topic, n) for topic, n in pairs] for name, pairs in answer["assignment"].items()
    }


@pytest.mark.parametrize("strictness", [LAWFUL, EXACT, IN_ORDER], ids=["lawful", "exact", "order"])
@pytest.mark.parametrize("operation", Operation)
def test_the_references_own_answers_pass(operation: Operation, strictness: Strictness) -> None:
    for vector in answerable(operation):
        assert not mistakes(vector, right(vector), strictness), vector.vector_id


def lose(dice: Random, answer: Answer) -> None:
    """Give a partition to nobody."""
    pairs = dice.choice([pairs for pairs in answer["assignment"].values() if pairs])
    pairs.pop(dice.randrange(len(pairs)))


def give_twice(dice: Random, answer: Answer) -> None:
    """List a partition for a second member as well."""
    owner = dice.choice([name for name, pairs in answer["assignment"].items() if pairs])
    other = dice.choice([*(name for name in answer["assignment"] if name != owner), "somebody"])
    pair = dice.choice(answer["assignment"][owner])
    answer["assignment"].setdefault(other, []).append(pair)


def invent(dice: Random, answer: Answer) -> None:
    """Give a partition that there is not."""
    dice.choice(list(answer["assignment"].values())).append(["no such topic", 0])


def invent_number(dice: Random, answer: Answer) -> None:
    """Give a partition beyond the topic's last."""
    pairs = dice.choice([pairs for pairs in answer["assignment"].values() if pairs])
    pairs.append([pairs[0][0], 1_000_000])


def list_twice(dice: Random, answer: Answer) -> None:
    """List a partition twice for one member."""
    pairs = dice.choice([pairs for pairs in answer["assignment"].values() if pairs])
    pairs.append(pairs[0])


def drop_member(dice: Random, answer: Answer) -> None:
    """Say nothing of a member that has something."""
    name = dice.choice([name for name, pairs in answer["assignment"].items() if pairs])
    del answer["assignment"][name]


WRONG = (lose, give_twice, invent, invent_number, list_twice, drop_member)


@pytest.mark.parametrize("spoil", WRONG, ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize(
    "algorithm", ["range", "roundrobin", "sticky", "srv-uniform", "srv-range", "srv-simple"]
)
def test_a_spoilt_assignment_fails(algorithm: str, spoil: Callable[[Random, Answer], None]) -> None:
    dice = Random(1)
    asked = assigned(algorithm)
    assert len(asked) > 20
    for vector in asked:
        answer = right(vector)
        spoil(dice, answer)
        assert mistakes(vector, answer, LAWFUL), vector.vector_id


@pytest.mark.parametrize("spoil", [give_twice, invent, invent_number, list_twice])
def test_a_spoilt_cooperative_assignment_fails(spoil: Callable[[Random, Answer], None]) -> None:
    dice = Random(1)
    asked = assigned("coop")
    assert len(asked) > 100
    for vector in asked:
        answer = right(vector)
        spoil(dice, answer)
        assert mistakes(vector, answer, LAWFUL), vector.vector_id


def test_a_partition_that_nobody_claims_may_not_wait() -> None:
    found = 0
    for vector in assigned("coop"):
        members: Any = vector.given["members"]
        if any(member.get("owned") for member in members):
            continue
        answer = right(vector)
        lose(Random(1), answer)
        assert mistakes(vector, answer, LAWFUL), vector.vector_id
        found += 1
    assert found > 20


def claims(vector: Vector) -> Counter[tuple[str, int]]:
    """How many members claim a partition."""
    members: Any = vector.given["members"]
    return Counter(
        (topic, n) for member in members for topic, n in map(tuple, member.get("owned") or [])
    )


def with_one_lost(vector: Vector, may_be_lost: Callable[[int], bool]) -> Answer | None:
    """The answer without a partition that so many claim."""
    answer = right(vector)
    for pairs in answer["assignment"].values():
        for pair in pairs:
            if may_be_lost(claims(vector)[tuple(pair)]):
                pairs.remove(pair)
                return answer
    return None


def test_that_one_partition_waits_is_no_reason_for_another() -> None:
    found = 0
    for vector in assigned("coop"):
        if waiting(group_of(vector.given), lists(right(vector))):
            answer = with_one_lost(vector, lambda count: count == 0)
            if answer is not None:
                (words,) = mistakes(vector, answer, LAWFUL)
                assert words.startswith("withheld-without-reason: "), vector.vector_id
                found += 1
    assert found > 20


def test_what_several_claim_may_wait_longer_than_in_java() -> None:
    found = 0
    for vector in assigned("coop"):
        answer = with_one_lost(vector, lambda count: count > 1)
        if answer is not None:
            assert not mistakes(vector, answer, LAWFUL), vector.vector_id
            found += 1
    assert found > 5


def uneven(vector: Vector) -> Answer | None:
    """The answer with one partition moved to whoever has most and asked for it."""
    answer = right(vector)
    members: Any = vector.given["members"]
    by_load = sorted(members, key=lambda member: len(answer["assignment"][member["id"]]))
    for richest in reversed(by_load):
        for poorest in by_load:
            have, take = (answer["assignment"][one["id"]] for one in (richest, poorest))
            wanted = [pair for pair in take if pair[0] in richest["topics"]]
            if wanted and len(have) >= len(take) and have is not take:
                take.remove(wanted[0])
                have.append(wanted[0])
                return answer
    return None


def test_on_a_broker_nothing_says_what_is_right_where_the_reference_fails() -> None:
    failing = [
        vector
        for vector in vectors(KAFKA)
        if vector.is_reference_failing and vector.algorithm.startswith("srv-")
    ]
    assert failing
    for vector in failing:
        assert not mistakes(vector, {"assignment": {}}, LAWFUL)
        assert mistakes(vector, {"assignment": {}}, EXACT)


def test_an_answer_less_even_than_the_references_fails() -> None:
    found = 0
    for vector in assigned("sticky"):
        answer = uneven(vector)
        if answer is not None:
            (words, *_) = mistakes(vector, answer, LAWFUL)
            assert words.startswith("unbalanced: loads"), vector.vector_id
            found += 1
    assert found > 50


def test_exact_is_more_than_lawful() -> None:
    """Where two members of a sticky group trade partitions, it is as lawful as before."""
    traded = 0
    for vector in assigned("sticky"):
        answer = right(vector)
        members: Any = vector.given["members"]
        owners = [one["id"] for one in members if answer["assignment"][one["id"]]]
        if len(owners) < 2 or len({tuple(sorted(one["topics"])) for one in members}) > 1:
            continue
        one, other = (answer["assignment"][name] for name in owners[:2])
        one[0], other[0] = other[0], one[0]
        assert not mistakes(vector, answer, LAWFUL), vector.vector_id
        assert mistakes(vector, answer, EXACT), vector.vector_id
        traded += 1
    assert traded > 20


def test_order_is_more_than_exact() -> None:
    found = 0
    for vector in assigned("range", "roundrobin", "sticky", "coop"):
        answer = right(vector)
        long = [pairs for pairs in answer["assignment"].values() if len(pairs) > 1]
        if long and long[0][0] != long[0][-1]:
            long[0].reverse()
            assert not mistakes(vector, answer, EXACT), vector.vector_id
            assert mistakes(vector, answer, IN_ORDER), vector.vector_id
            found += 1
    assert found > 200


def test_in_order_asks_for_the_order_of_members_and_for_the_state_where_they_are_told() -> None:
    (vector, *_) = [one for one in assigned("sticky") if len(right(one)["order"]) > 1]
    answered = right(vector)
    silent = {"assignment": answered["assignment"]}
    assert not mistakes(vector, silent, IN_ORDER)
    assert mistakes(vector, {**answered, "order": answered["order"][::-1]}, IN_ORDER)
    assert mistakes(vector, {**answered, "maxGen": 77}, IN_ORDER)
    assert not mistakes(vector, {**answered, "maxGen": 77}, EXACT)
    more = {**answered["assignment"], "somebody": []}
    assert mistakes(vector, {"assignment": more}, IN_ORDER) == ["somebody: no member"]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"assignment": None},
        {"assignment": []},
        {"assignment": {"a": None}},
        {"assignment": {"a": [["t"]]}},
        {"assignment": {"a": [["t", "0"]]}},
        {"assignment": {"a": [["t", True]]}},
        {"assignment": {"a": [[0, 0]]}},
        {"assignment": {"a": [["t", 2**40]]}},
        {"assignment": {"a": {"t": [0]}}},
    ],
    ids=json.dumps,
)
def test_an_answer_of_another_form_is_refused_with_its_place(answer: Answer) -> None:
    for vector in (*assigned("sticky")[:1], *assigned("srv-uniform")[:1]):
        (words,) = mistakes(vector, answer, LAWFUL)
        assert words.startswith("not an answer: "), words
