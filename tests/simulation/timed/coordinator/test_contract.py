"""What every execution model keeps, over every kind of log: synchronous, asynchronous, failing.

What happens next is drawn; of the histories in which something is wrong the shortest one is shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.coordinator import holding, writes
from assignors.simulation.timed.coordinator.log import Entry, Log, fold
from assignors.simulation.timed.coordinator.policy import POLICIES, Applies, Holds, Policy
from assignors.simulation.timed.coordinator.port import Failure
from assignors.simulation.timed.coordinator.state import Settings
from tests.simulation.timed.coordinator.world import (
    ASYNC,
    COUNT,
    FAILING,
    READ,
    REFUSE,
    REORDERING,
    SYNC,
    Appends,
    World,
    failures,
)

KINDS = {"sync": SYNC, "async": ASYNC, "failing": FAILING, "reordering": REORDERING}
POLICY = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
LOGS = pytest.mark.parametrize("appends", KINDS.values(), ids=KINDS)
HISTORIES = 400 * int(os.environ.get("DEEP", "1"))


def world_of(random: Random, policy: Policy, appends: Appends) -> World:
    settings = Settings(
        workers=random.randint(1, 3),
        partitions=2,
        linger=policy.has_batches and random.random() < 0.5,
        batch_max=random.choice([1, 2, 1000]),
    )
    return World(policy, appends, random.randrange, settings)


def play(random: Random, world: World, *, fails_over: bool = False) -> World:
    """Up to a dozen requests, and what becomes of them, in any order."""
    for _ in range(random.randint(1, 30)):
        dice = random.random()
        if dice < 0.35:
            kind = random.choice([COUNT, COUNT, COUNT, READ, REFUSE])
            world.ask(random.randint(0, 3), kind, is_checked=random.random() < 0.5)
        elif dice < 0.42 and world.asked:
            world.time_out(random.choice(sorted(world.asked)))
        elif dice < 0.5 and fails_over:
            world.fail_over(random.randint(0, 1))
        else:
            world.go_on()
    world.settle()
    assert not world.left(), world.told(str(world.left()))
    return world


def broken(policy: Policy, appends: Appends, *, fails_over: bool = False) -> Iterator[str]:
    """Yield what is wrong with histories, each with the history."""
    for seed in range(HISTORIES):
        random = Random(seed)
        try:
            play(random, world_of(random, policy, appends), fails_over=fails_over)
        except (AssertionError, KeyError) as error:
            yield str(error)


def shortest(policy: Policy, appends: Appends, *, fails_over: bool = False) -> str:
    """What is wrong in the shortest history, empty if nothing is in any."""
    found = broken(policy, appends, fails_over=fails_over)
    return min(found, key=lambda each: len(each.splitlines()), default="")


@POLICY
@LOGS
def test_every_request_is_answered_once_after_the_high_watermark_and_nothing_is_lost(
    policy: Policy, appends: Appends
) -> None:
    assert not shortest(policy, appends)


@POLICY
@LOGS
def test_a_failover_loses_what_is_not_replicated_and_says_so_to_whoever_waits(
    policy: Policy, appends: Appends
) -> None:
    assert not shortest(policy, appends, fails_over=True)


@POLICY
def test_histories_meet_every_kind_of_failure(policy: Policy) -> None:
    met: set[Failure | None] = set()
    for seed in range(100):
        random = Random(seed)
        world = play(random, world_of(random, policy, FAILING), fails_over=True)
        met |= failures(world)
    assert met == {None, *Failure}


@given(st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 9)))), st.data())
def test_what_a_cleaner_leaves_says_the_same(
    written: list[tuple[int, int | None]], data: st.DataObject
) -> None:
    log = Log()
    log.append(Entry(*each) for each in written)
    until = data.draw(st.integers(0, log.end))
    dropped = data.draw(st.integers(0, log.end))
    assert fold(log.compacted(until, dropped)) == fold(log.entries)


def test_a_high_watermark_never_falls_and_never_passes_the_end() -> None:
    log = Log()
    log.append([Entry("a", 1), Entry("a", 2)])
    log.replicate(1)
    for offset in (0, 3):
        with pytest.raises(ValueError, match="no high watermark"):
            log.replicate(offset)
    assert log.truncate() == 1
    assert log.entries == [Entry("a", 1)]


def test_a_state_that_changes_with_the_replication_is_held_until_then() -> None:
    for policy in POLICIES.values():
        late = policy.applies is Applies.REPLICATION
        assert late == (policy.in_replication is not Holds.NOTHING)


# Faults put into a step: each of them is found, and its shortest history is short.


def appends_outside_the_lock(patch: pytest.MonkeyPatch) -> None:
    original = writes._append

    def hasty(state: Any, partition: int, entries: Any, whose: Any) -> None:
        original(state, partition, entries, whose)
        holding.release_worker(state, whose)
        holding.release_key(state, whose)

    patch.setattr(writes, "_append", hasty)


def answers_early(patch: pytest.MonkeyPatch) -> None:
    original = writes._park

    def early(partition: Any, task: Any) -> None:
        original(partition, task)
        partition.high_watermark = max(partition.high_watermark, task.end)

    patch.setattr(writes, "_park", early)


def forgets_to_revert(patch: pytest.MonkeyPatch) -> None:
    original = writes._take_back

    def forgetful(state: Any, partition: Any, batch: Any) -> None:
        kept = dict(partition.state)
        original(state, partition, batch)
        partition.state.update(kept)

    patch.setattr(writes, "_take_back", forgetful)


def keeps_what_was_made_on_top(patch: pytest.MonkeyPatch) -> None:
    original = writes._take_back

    def partial(state: Any, partition: Any, batch: Any) -> None:
        later, partition.batch = partition.batch, None
        original(state, partition, batch)
        partition.batch = later

    patch.setattr(writes, "_take_back", partial)


def stays_locked(patch: pytest.MonkeyPatch) -> None:
    original = holding.release

    def forgetful(state: Any, task: Any) -> None:
        task.has_key &= task.end > 0
        original(state, task)

    patch.setattr(writes, "release", forgetful)


def unlocks_twice(patch: pytest.MonkeyPatch) -> None:
    original = holding.release_key

    def again(state: Any, task: Any) -> None:
        original(state, task)
        task.has_key = task.key in state.keys

    patch.setattr(writes, "release_key", again)


def applies_as_appends_complete(patch: pytest.MonkeyPatch) -> None:
    original = writes._drain

    def hasty(state: Any, partition: Any) -> None:
        if partition.parked:
            partition.ahead = max(partition.ahead, partition.parked[0][2].start)
        original(state, partition)

    patch.setattr(writes, "_drain", hasty)


@pytest.mark.parametrize(
    ("mutate", "model", "appends"),
    [
        (appends_outside_the_lock, "blocking", ASYNC),
        (answers_early, "blocking", SYNC),
        (answers_early, "two-stage", SYNC),
        (forgets_to_revert, "pipelined", FAILING),
        (keeps_what_was_made_on_top, "pipelined", FAILING),
        (stays_locked, "per-group", FAILING),
        (unlocks_twice, "two-stage", ASYNC),
        (applies_as_appends_complete, "per-group", REORDERING),
    ],
)
def test_a_fault_in_a_step_is_found(
    monkeypatch: pytest.MonkeyPatch, mutate: Any, model: str, appends: Appends
) -> None:
    mutate(monkeypatch)
    found = shortest(POLICIES[model], appends)
    assert found
    assert len(found.splitlines()) < 30
