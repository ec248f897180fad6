"""Moves in batches: a budget of a time, kept by client sessions whoever leads.

Sessions, bytes and hand-over are the real ones; what is played is the broker (`session_group`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignors import Member, Weighting
from assignors.group_bytes.capacities import capacities_of
from assignors.model import Group
from assignors.weighting.token_bucket import TimedBudget
from tests.weighted.adversary import Adversary
from tests.weighted.session_group import SessionGroup

TOPICS = {"a": 7, "b": 12, "c": 3}
Weights = dict[str, tuple[int, ...]]
CASES = settings().max_examples
"""`make deep` asks for more."""


def some_topics(random: np.random.Generator) -> tuple[str, ...]:
    return tuple(topic for topic in TOPICS if random.random() < 0.7) or ("b",)


@settings(max_examples=max(CASES // 5, 1))
@given(
    seed=st.integers(0, 2**32 - 1),
    cost=st.sampled_from([None, 0, 1, 2, 5]),
    name=st.sampled_from(["cooperative-weighted", "cooperative-weighted", "weighted"]),
)
def test_weights_against_us_in_every_round_never_give_two_owners_nor_break_the_budget(
    seed: int, cost: int | None, name: str
) -> None:
    """Members come and go, leaders change, answers are lost; each batch rests after two rounds."""
    random = np.random.default_rng(seed)
    group = SessionGroup(
        topics=dict(TOPICS),
        budget=TimedBudget(cost=cost, every_ms=1000),
        weigh=Adversary(random),
        name=name,
    )
    for _ in range(3):
        group.join(some_topics(random))
    group.settle()
    for _ in range(6):
        group.now_ms += int(random.integers(0, 1500))
        change(group, random)
        if random.random() < 0.3:
            deaf = [each for each in group.players if random.random() < 0.4]
            group.round(deaf=deaf, is_confirmed=bool(random.random() < 0.5))
            group.settle()
        assert group.settle() <= 2, "a batch takes two rounds"
        assert (group.look() or 0) <= 2, "as above"
    group.require_within_budget()
    asked = {topic for one in group.players.values() for topic in one.topics}
    owned = [each for one in group.players.values() for each in one.owned]
    assert len(owned) == len(set(owned)) == sum(group.topics[topic] for topic in asked)


def change(group: SessionGroup, random: np.random.Generator) -> None:
    """Let something happen to a group."""
    names = list(group.players)
    some = names[int(random.integers(len(names)))]
    match int(random.integers(5)):
        case 0 if len(names) < 6:
            group.join(some_topics(random))
        case 1 if len(names) > 2:
            group.leave(some)
        case 2:
            group.leader = some
        case 3:
            group.players[some].topics = some_topics(random)
        case _:
            topic = list(TOPICS)[int(random.integers(len(TOPICS)))]
            group.topics[topic] = min(group.topics[topic] + 1, 15)


def skewed(seed: int, count: int) -> Weights:
    drawn = np.random.default_rng(seed).lognormal(0, 0.4, count) * 1000
    return {"t": tuple(drawn.astype(int).tolist())}


def with_newcomer(weights: Weights, cost: int | None, members: int) -> SessionGroup:
    """Return a balanced group at rest, in which a member has joined."""
    weighting = Weighting(weights=weights)
    group = SessionGroup(
        topics={"t": len(weights["t"])}, budget=TimedBudget(cost=None), weigh=lambda _: weighting
    )
    for _ in range(members):
        group.join(("t",))
    group.settle()
    while group.look():
        pass
    for one in group.players.values():
        assert one.session.batches is not None
        one.session.batches.budget = group.budget = TimedBudget(cost=cost, every_ms=60_000)
        one.session.batches.led_by_another()
    group.round()
    group.taken.clear()
    group.join(("t",))
    return group


@pytest.mark.parametrize("weights", [{"t": (1000,) * 400}, skewed(1, 400), skewed(2, 400)])
def test_a_small_budget_ends_after_as_many_moves_as_a_large_one(
    weights: Weights,
) -> None:
    """Creep: the newcomer of a group of ten gets what it is to have, in more batches."""
    moves, use = {}, {}
    for cost in (1, 5, 10):
        group = with_newcomer(weights, cost, members=10)
        group.settle()
        batches = 0
        while rounds := group.look():
            assert rounds == 2, "a batch is two rounds"
            batches += 1
        moves[cost] = sum(count for _, count in group.taken)
        assert batches == -(-moves[cost] // cost)
        use[cost] = max(group.load(weights).values())
        group.require_within_budget()
        assert group.look() == 0, "at rest"
    assert len(set(moves.values())) == 1, moves
    assert max(use.values()) <= 1.01 * min(use.values()), use


def test_what_is_left_is_counted_in_batches_and_counts_down() -> None:
    weights = skewed(1, 400)
    group = with_newcomer(weights, 5, members=10)
    left: list[int] = []
    group.led_by.on_round = lambda led: left.append(int(led.stats["batches_left"]))
    group.settle()
    while group.look():
        pass
    assert left[0] > 1
    assert left == sorted(left, reverse=True), left
    assert left[-1] == 0


def test_a_move_that_costs_more_than_the_budget_starts_no_rounds() -> None:
    weighting = Weighting(weights={"t": (90, 90, 1, 1)}, move_costs={"t": (9, 9, 9, 9)})
    group = SessionGroup(
        topics={"t": 4}, budget=TimedBudget(cost=5, every_ms=1000), weigh=lambda _: weighting
    )
    group.join(("t",))
    group.settle()
    group.join(("t",))
    assert group.settle() == 1
    assert [group.look() for _ in range(5)] == [0] * 5
    assert group.generation == 2


def test_a_group_is_balanced_again_when_weights_change_and_has_no_rounds_at_rest() -> None:
    heavy: Weights = {"t": (10,) * 12}
    group = SessionGroup(
        topics={"t": 12},
        budget=TimedBudget(cost=2, every_ms=1000),
        weigh=lambda _: Weighting(weights=heavy),
    )
    for _ in range(3):
        group.join(("t",))
    group.settle()
    assert [group.look() for _ in range(3)] == [0] * 3
    first = sorted(number for _, number in group.players["m001"].owned)
    heavy["t"] = tuple(100 if number in first else 10 for number in range(12))
    assert group.look() == 2
    assert group.look() == 0
    assert max(group.load(heavy).values()) < 400


@pytest.mark.parametrize(
    "weigh",
    [
        lambda _: 1 / 0,
        lambda _: Weighting(weights={"t": (1,)}),
        lambda _: Weighting(weights={"nowhere": (1, 2)}),
        lambda _: Weighting(weights={"t": (-1, 1, 1, 1)}),
    ],
)
def test_weights_that_raise_or_do_not_fit_mean_that_nothing_moves(weigh: object) -> None:
    group = SessionGroup(topics={"t": 4}, budget=TimedBudget(), weigh=lambda _: None)
    for _ in range(2):
        group.join(("t",))
    group.settle()
    group.settle()
    before = {name: one.owned for name, one in group.players.items()}
    for one in group.players.values():
        assert one.session.batches is not None
        one.session.batches.weighting_of = weigh  # type: ignore[assignment]
    group.join(("t",))
    assert group.settle() == 1
    assert {name: group.players[name].owned for name in before} == before
    assert group.look() == 0


def test_noise_in_the_weights_starts_no_rounds_once_a_group_is_balanced() -> None:
    """Estimates that are off by a tenth: between tolerance and trigger nothing moves."""
    random, true = np.random.default_rng(4), np.array(skewed(4, 200)["t"])

    def noisy(_: Group) -> Weighting:
        found = true * np.maximum(random.normal(1, 0.1, len(true)), 0)
        return Weighting(weights={"t": tuple(found.astype(int).tolist())})

    group = SessionGroup(topics={"t": 200}, budget=TimedBudget(cost=5, every_ms=1000), weigh=noisy)
    for _ in range(5):
        group.join(("t",))
    group.settle()
    group.join(("t",))
    group.settle()
    while group.look():
        pass
    assert [group.look() for _ in range(40)] == [0] * 40


def test_a_look_for_moves_sees_what_members_wrote_as_a_round_does() -> None:
    """Capacities stand there; without them a look would find moves that its round does not make."""
    seen: list[dict[str, bytes | None]] = []

    def weigh(group: Group) -> Weighting:
        seen.append({one.member_id: one.user_data for one in group.members})
        return Weighting(weights={"t": (3, 2, 1, 1)}, capacities=capacities_of(group.members))

    group = SessionGroup(topics={"t": 4}, budget=TimedBudget(every_ms=1000), weigh=weigh)
    for capacity in (1, 6):
        name = group.join(("t",))
        membership = group.players[name].session.membership
        group.players[name].session.membership = replace(membership, capacity=capacity)
    group.settle()
    assert group.look() == 0
    assert seen[-1] == seen[-2]
    assert capacities_of(
        [Member(member_id=name, user_data=data) for name, data in seen[-1].items()]
    ) == {"m001": 1, "m002": 6}
