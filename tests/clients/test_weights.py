"""Weights in a strategy: read in a round, found elsewhere; what goes wrong there moves nothing."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from kafka.errors import KafkaConfigurationError

from assignors import Cluster, Group, Member, UserData, Weighting
from assignors.clients.common.client_session import LedRound
from assignors.clients.common.weight_source import WeightOptions, WeightSource
from assignors.clients.kafka_python import (
    Strategy,
    Weighted,
    cooperative_weighted,
    strategy,
    weighted,
)
from assignors.weighting import MustHold
from tests.clients.blocking import watched
from tests.clients.local_group import LocalGroup

COUNTS = {"t": 6}
LOGGER = logging.getLogger("tests.weights")


class Clock:
    def __init__(self) -> None:
        self.now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def group() -> Iterator[LocalGroup]:
    made = LocalGroup(COUNTS)
    yield made
    made.close()


def read_twice(source: WeightSource, clock: Clock, rates: list[int]) -> None:
    """Two samples ten seconds apart, of partitions at these rates."""
    for seconds in (0, 10):
        clock.now_ms += 1000 * seconds
        ends = {"t": [rate * seconds for rate in rates]}
        source.sampled(log_end=ends, committed=ends, at_ms=clock())


def owned(group: LocalGroup) -> dict[str, list[int]]:
    return {
        name: sorted(number for _, number in member.assigned)
        for name, member in group.members.items()
    }


def test_a_round_uses_what_was_found_before_it_and_old_figures_move_nothing(
    group: LocalGroup,
) -> None:
    rounds: list[LedRound] = []
    clock = Clock()
    leader = cooperative_weighted(on_round=rounds.append)
    leader._source._clock = clock
    leader._source.led_by_another()
    group.add("a", [leader], ["t"])
    group.settle()
    group.add("b", [cooperative_weighted()], ["t"])
    group.settle()
    assert owned(group) == {"a": [0, 1, 2, 3, 4, 5], "b": []}
    assert {led.stats["hold"] for led in rounds} == {"no-weights"}

    read_twice(leader._source, clock, [50, 10, 10, 10, 10, 10])
    clock.now_ms += 301_000
    group.settle()
    assert owned(group)["b"] == []
    assert rounds[-1].stats["hold"] == "stale"

    read_twice(leader._source, clock, [50, 10, 10, 10, 10, 10])
    group.settle()
    group.settle()
    assert sorted(owned(group).values()) == [[0], [1, 2, 3, 4, 5]]
    assert not [note for led in rounds for note in led.notes]


@pytest.mark.parametrize("made", [cooperative_weighted, weighted])
def test_in_a_new_group_members_that_start_later_share_at_once(
    group: LocalGroup, made: Callable[..., Weighted]
) -> None:
    for count, name in enumerate("abc", start=1):
        group.add(name, [made()], ["t"])
        group.settle()
        assert {len(numbers) for numbers in owned(group).values()} == {6 // count}


@pytest.mark.parametrize("made", [cooperative_weighted, weighted])
def test_a_new_leader_of_an_old_group_moves_nothing_before_it_has_weights(
    group: LocalGroup, made: Callable[..., Weighted]
) -> None:
    """Members that own few partitions may have the busy ones: by count it would take from all."""
    for name in "ab":
        group.add(name, [made()], ["t"])
    group.settle()
    rounds: list[LedRound] = []
    before = owned(group)
    group.add("c", [made(on_round=rounds.append)], ["t"])
    group.members = dict(reversed(group.members.items()))
    group.settle()
    assert owned(group) == {**before, "c": []}
    assert rounds[-1].stats["hold"] == "no-weights"


def test_members_carry_by_their_capacity(group: LocalGroup) -> None:
    clock = Clock()
    leader = weighted(capacity=4)
    leader._source._clock = clock
    read_twice(leader._source, clock, [10] * 6)
    group.add("a", [leader], ["t"])
    group.add("b", [weighted(capacity=2)], ["t"])
    group.settle()
    assert {name: len(numbers) for name, numbers in owned(group).items()} == {"a": 4, "b": 2}


def test_a_partition_that_is_far_behind_does_not_hide_the_load_of_others() -> None:
    """Its 9,000 records are the work of one member, however many there are."""
    clock = Clock()
    source = WeightSource(
        WeightOptions(horizon_s=100),
        kind=UserData.COOPERATIVE,
        weights=None,
        logger=LOGGER,
        clock=clock,
    )
    members = tuple(Member(member_id=name, topics=("t",)) for name in "abc")
    source.weighting(Group(cluster=Cluster.of(COUNTS), members=members))
    for seconds in (0, 10):
        read = [rate * seconds for rate in (1, 3, 3, 1, 1, 1)]
        clock.now_ms += 1000 * seconds
        ends = [9000 + read[0], *read[1:]]
        source.sampled(log_end={"t": ends}, committed={"t": read}, at_ms=clock())
    assert source.snapshot is not None
    assert source.snapshot.weights == {"t": (450, 300, 300, 100, 100, 100)}


def test_no_assignment_waits_for_anything(group: LocalGroup) -> None:
    """The control is a function for weights that waits in the round."""
    with watched((Strategy, "assign")) as waits:
        group.add("a", [cooperative_weighted()], ["t"])
        group.settle()
        assert waits == []

    def wait(_: Group) -> Weighting:
        time.sleep(0)
        return Weighting()

    with watched((Strategy, "assign")) as waits:
        group.remove("a")
        group.add("b", [strategy("cooperative-weighted", weighting=wait)], ["t"])
        group.settle()
        assert set(waits) == {"sleep"} or set(waits) == {"time.sleep"}


def test_only_the_member_that_leads_refreshes(group: LocalGroup) -> None:
    first, second = cooperative_weighted(), cooperative_weighted()
    group.add("a", [first], ["t"])
    group.add("b", [second], ["t"])
    group.settle()
    assert first._is_leading
    assert not second._is_leading
    group.members = dict(reversed(group.members.items()))
    group.settle()
    assert second._is_leading
    assert not first._is_leading


def test_a_strategy_by_weight_must_know_its_consumer() -> None:
    with pytest.raises(KafkaConfigurationError, match="bind"):
        weighted().metadata(["t"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"capacity": 0}, "capacity: 0"),
        ({"capacity": -3}, "capacity: -3"),
        ({"horizon_s": 0}, "horizon_s"),
        ({"refresh_s": math.nan}, "refresh_s"),
        ({"half_life_s": -1}, "half_life_s"),
        ({"max_age_s": math.inf}, "max_age_s"),
        ({"tolerance": -0.1}, "tolerance"),
        ({"tolerance": math.nan}, "expected a number"),
        ({"trigger": 0.01}, "trigger"),
        ({"move_batch": -1}, "cost"),
        ({"batch_every_s": 0}, "batch_every_s"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Weighted("weighted", **options)


def asked(
    weights: Callable[[Mapping[str, int]], Any], clock: Clock, before: WeightSource | None = None
) -> WeightSource:
    """A source that has called this function once."""
    source = before or WeightSource(
        WeightOptions(), kind=UserData.COOPERATIVE, weights=weights, logger=LOGGER, clock=clock
    )
    source._weights = weights
    source.weighting(Group(cluster=Cluster.of(COUNTS), members=(Member(member_id="a"),)))
    source.ask()
    assert source._asking is not None
    source._asking.join(10)
    return source


def weights_now(source: WeightSource) -> Mapping[str, tuple[int, ...]]:
    return {} if source.snapshot is None else source.snapshot.weights


def test_a_function_gets_the_topics_and_says_what_their_partitions_weigh() -> None:
    given: list[Mapping[str, int]] = []

    def weights(topics: Mapping[str, int]) -> dict[str, list[int]]:
        given.append(topics)
        return {"t": [5, 4, 3, 2, 1, 0], "elsewhere": [7]}

    source = asked(weights, Clock())
    assert given == [COUNTS]
    assert weights_now(source) == {"t": (5, 4, 3, 2, 1, 0)}


def test_weights_with_fractions_keep_their_proportions() -> None:
    found = weights_now(asked(lambda _: {"t": [0.5, 0.25, 0.125, 0, 0.1, 0.025]}, Clock()))["t"]
    assert found[:4] == (found[0], found[0] // 2, found[0] // 4, 0)
    assert found[4] / found[5] == pytest.approx(4, rel=0.01)


NONSENSE: Mapping[str, Any] = {
    "nothing": None,
    "a number": 3,
    "a text": "t",
    "no topics": {},
    "NaN": {"t": [math.nan] * 6},
    "negative": {"t": [-1] * 6},
    "infinite": {"t": [math.inf] * 6},
    "absurdly large": {"t": [10**400] * 6},
    "texts": {"t": list("abcdef")},
    "no list": {"t": 7},
    "lists": {"t": [[1], [2]]},
    "other topics": {"u": [1, 2, 3]},
}


@pytest.mark.parametrize("found", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_of_a_function_leaves_what_was_known(found: object) -> None:
    clock = Clock()
    source = asked(lambda _: found, clock)
    assert weights_now(source) == {}
    group = Group(cluster=Cluster.of(COUNTS), members=(Member(member_id="a"),))
    assert source.weighting(group).must_hold is None, "a new group goes by count"
    source.led_by_another()
    assert source.weighting(group).must_hold is MustHold.NO_WEIGHTS

    source = asked(lambda _: {"t": [6, 5, 4, 3, 2, 1]}, clock)
    asked(lambda _: found, clock, before=source)
    assert weights_now(source) == {"t": (6, 5, 4, 3, 2, 1)}


def test_a_function_that_raises_is_named_once_and_its_weights_grow_old(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: Mapping[str, int]) -> Any:
        raise ZeroDivisionError("no figures today")

    clock = Clock()
    source = asked(lambda _: {"t": [6, 5, 4, 3, 2, 1]}, clock)
    clock.now_ms += 301_000
    for _ in range(3):
        asked(broken, clock, before=source)
    group = Group(cluster=Cluster.of(COUNTS), members=(Member(member_id="a"),))
    assert source.weighting(group).must_hold is MustHold.STALE
    assert source.weighting(group).weights == {"t": (6, 5, 4, 3, 2, 1)}
    warnings = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert ["no figures today" in one.getMessage() for one in warnings] == [True]


def test_one_value_that_is_not_known_stays_as_it_was() -> None:
    clock = Clock()
    source = asked(lambda _: {"t": [6, 5, 4, 3, 2, 1]}, clock)
    asked(lambda _: {"t": [60, None, math.nan, -1, 20]}, clock, before=source)
    assert weights_now(source) == {"t": (60, 5, 4, 3, 20, 1)}


def test_samples_without_any_offset_do_not_keep_weights_young() -> None:
    clock = Clock()
    source = WeightSource(
        WeightOptions(), kind=UserData.COOPERATIVE, weights=None, logger=LOGGER, clock=clock
    )
    read_twice(source, clock, [1, 2, 3, 4, 5, 6])
    clock.now_ms += 301_000
    source.sampled(log_end={"t": [None] * 6}, committed={"t": [None] * 6}, at_ms=clock())
    group = Group(cluster=Cluster.of(COUNTS), members=(Member(member_id="a"),))
    assert source.weighting(group).must_hold is MustHold.STALE


@pytest.mark.parametrize(("offsets", "warnings"), [({}, 0), ({"t": [None]}, 1)])
def test_a_client_that_knows_no_topic_yet_has_not_failed(
    offsets: Mapping[str, list[int | None]], warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    source = WeightSource(
        WeightOptions(), kind=UserData.COOPERATIVE, weights=None, logger=LOGGER, clock=Clock()
    )
    source.sampled(log_end=offsets, committed=offsets, at_ms=0)
    assert len([one for one in caplog.records if one.levelno >= logging.WARNING]) == warnings


def test_a_function_is_not_called_twice_at_a_time() -> None:
    calls: list[int] = []
    release = threading.Event()

    def slow(_: Mapping[str, int]) -> dict[str, list[int]]:
        calls.append(1)
        release.wait(10)
        return {"t": [1] * 6}

    source = WeightSource(WeightOptions(), kind=UserData.COOPERATIVE, weights=slow, logger=LOGGER)
    source.weighting(Group(cluster=Cluster.of(COUNTS), members=(Member(member_id="a"),)))
    for _ in range(3):
        source.ask()
    release.set()
    assert source._asking is not None
    source._asking.join(10)
    assert len(calls) == 1
