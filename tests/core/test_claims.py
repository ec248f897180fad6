"""Where each assignor looks for claims, which it believes, and what it says about the rest."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member, UserData
from assignors.claims import Claims, claims_of, favoured_owners, read_claim
from assignors.problem import NOBODY, Int32, problem_of
from wire import encode_sticky_user_data

OWNED = {"t": (0, 1)}
FOUR_BYTES = bytes.fromhex("00000007")
LAYOUT = encode_sticky_user_data({"t": (2,)}, 9)

# member, what sticky reads (owned, generation), what cooperative reads (owned, generation, known)
READINGS = [
    ("a struct", Member(member_id="a", owned=OWNED, generation=5), (OWNED, 5), (OWNED, 5, True)),
    (
        "a struct with UserData",
        Member(member_id="a", owned=OWNED, generation=5, user_data=LAYOUT),
        ({"t": (2,)}, 9),
        (OWNED, 5, True),
    ),
    (
        "version 0",
        Member(member_id="a", version=0, owned_known=False, user_data=LAYOUT),
        ({"t": (2,)}, 9),
        ({"t": (2,)}, 9, False),
    ),
    (
        "version 1 with four bytes",
        Member(member_id="a", version=1, owned=OWNED, user_data=FOUR_BYTES),
        ({}, -1),
        (OWNED, 7, True),
    ),
    (
        "version 1 with the sticky layout",
        Member(member_id="a", version=1, owned=OWNED, user_data=LAYOUT),
        ({"t": (2,)}, 9),
        (OWNED, 9, True),
    ),
    (
        "version 1 and nothing",
        Member(member_id="a", version=1, owned=OWNED),
        ({}, -1),
        (OWNED, -1, True),
    ),
    (
        "version 2: the field wins",
        Member(member_id="a", version=2, owned=OWNED, generation=5, user_data=FOUR_BYTES),
        ({}, -1),
        (OWNED, 5, True),
    ),
    (
        "version 3 without a generation",
        Member(member_id="a", version=3, owned=OWNED, user_data=FOUR_BYTES),
        ({}, -1),
        (OWNED, 7, True),
    ),
    (
        "the first generation of a group is one",
        Member(member_id="a", version=3, owned=OWNED, generation=0, user_data=FOUR_BYTES),
        ({}, -1),
        (OWNED, 0, True),
    ),
    (
        "version 3, cut inside owned",
        Member(member_id="a", version=3, owned=OWNED, owned_known=False, user_data=FOUR_BYTES),
        ({}, -1),
        (OWNED, -1, False),
    ),
    (
        "a sentinel generation",
        Member(member_id="a", version=1, owned=OWNED, user_data=b"\xff" * 4),
        ({}, -1),
        (OWNED, -1, True),
    ),
]


@pytest.mark.parametrize(("who", "member", "sticky", "cooperative"), READINGS)
def test_each_assignor_reads_its_own_place(
    who: str, member: Member, sticky: object, cooperative: object
) -> None:
    read = read_claim(member, UserData.STICKY)
    assert (read.owned, read.generation) == sticky, who
    assert read.is_known, "eager members have let go: what is not said is not owned"
    read = read_claim(member, UserData.COOPERATIVE)
    assert (read.owned, read.generation, read.is_known) == cooperative, who
    assert read_claim(member, UserData.NONE).owned == {}


def gathered(*members: Member, generation: int | None = None) -> tuple[Group, Claims[Int32]]:
    group = Group(
        cluster=Cluster.of({"t": 3, "u": 2, "v": 1}), members=members, generation=generation
    )
    return group, claims_of(problem_of(group), group, UserData.COOPERATIVE)


def claimed(claims: Claims[Int32]) -> list[int]:
    return np.flatnonzero(claims.claimant != NOBODY).tolist()


def codes(claims: Claims[Int32]) -> list[tuple[str | None, str]]:
    return [(note.member_id, note.code) for note in claims.notes]


def test_claims_that_name_nothing_are_dropped_with_a_note() -> None:
    owned = {"t": (0, 3, -1), "gone": (0,), "v": (0,)}
    _, claims = gathered(Member(member_id="a", topics=("t",), owned=owned, generation=1))
    assert claimed(claims) == [0], "v is known, but nobody asks for it"
    assert codes(claims) == [("a", "unknown-topic"), ("a", "partition-out-of-range")]
    assert "t[3, -1], which has 3 partitions" in claims.notes[1].text


def test_many_claims_that_name_nothing_are_one_note() -> None:
    owned = {"t": tuple(range(3, 100))}
    _, claims = gathered(Member(member_id="a", topics=("t",), owned=owned))
    assert len(claims.notes) == 1
    assert claims.notes[0].text.startswith("claims t[3, 4, 5, 6, 7, ...]")


def test_a_number_of_any_size_is_a_number_that_names_nothing() -> None:
    owned = {"t": (2**70, 0, -(2**70))}
    _, claims = gathered(Member(member_id="a", topics=("t",), owned=owned))
    assert claimed(claims) == [0]
    assert codes(claims) == [("a", "partition-out-of-range")]


def test_a_claim_made_twice_by_one_member_is_one_claim() -> None:
    _, claims = gathered(Member(member_id="a", topics=("t",), owned={"t": (1, 0, 1)}))
    assert (claimed(claims), dict(claims.contested)) == ([0, 1], {})


def test_a_generation_that_has_not_been_is_none() -> None:
    members = (
        Member(member_id="a", topics=("t",), owned={"t": (0,)}, generation=8),
        Member(member_id="b", topics=("t",), owned={"t": (0,)}, generation=7),
    )
    _, claims = gathered(*members, generation=7)
    assert list(claims.generation) == [-1, 7]
    assert codes(claims) == [("a", "generation-in-the-future")]
    assert favoured_owners(claims)[0] == 1
    _, claims = gathered(*members)
    assert claims.last == 8, "without the group's own number the highest claimed stands for it"


def test_a_claim_of_a_topic_without_subscription_favours_nobody() -> None:
    owned = {"t": (0,), "u": (1,)}
    _, claims = gathered(
        Member(member_id="a", topics=("t",), owned=owned, generation=1),
        Member(member_id="b", topics=("u",)),
    )
    assert claims.claimant.tolist() == [0, NOBODY, NOBODY, NOBODY, 0]
    assert favoured_owners(claims).tolist() == [0, NOBODY, NOBODY, NOBODY, NOBODY]


def test_a_member_with_unknown_claims_is_kept_in_sight() -> None:
    _, claims = gathered(Member(member_id="b", topics=("t",), version=0, owned_known=False))
    assert claims.unknown == {0}
    assert codes(claims) == [("b", "claims-not-known")]


@given(
    generations=st.lists(st.integers(-1, 3), min_size=1, max_size=4),
    asks=st.lists(st.booleans(), min_size=4, max_size=4),
    seed=st.integers(0, 5),
)
def test_the_favoured_owner_is_the_only_highest_subscribed_claimant(
    generations: list[int], asks: list[bool], seed: int
) -> None:
    members = [
        Member(
            member_id=f"m{i}",
            topics=("t",) if asks[i] else ("u",),
            owned={"t": (1,)},
            generation=generation,
        )
        for i, generation in enumerate(generations)
    ]
    random.Random(seed).shuffle(members)
    group, claims = gathered(*members, Member(member_id="z", topics=("t",)))
    problem = problem_of(group)
    place = int(problem.first[problem.topics.index("t")]) + 1
    owner = favoured_owners(claims)
    able = [member for member in members if "t" in member.topics]
    best = max((member.generation for member in able), default=None)
    top = [member.member_id for member in able if member.generation == best]
    favoured = None if owner[place] == NOBODY else problem.members[owner[place]].member_id
    assert favoured == (top[0] if len(top) == 1 else None)
    assert np.count_nonzero(owner != NOBODY) == (favoured is not None)
