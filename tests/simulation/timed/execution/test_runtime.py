"""What Kafka 4.4.0's CoordinatorRuntime does, step by step: batches, timeouts, turns, executor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation.timed.execution.policy import POLICIES, Lingers, Settings
from assignors.simulation.timed.execution.port import (
    Answer,
    Append,
    Appended,
    Asked,
    Background,
    Compute,
    Computed,
    Entry,
    Event,
    Failure,
    Handled,
    Linger,
    Lingered,
    Loaded,
    Loading,
    Lost,
    Park,
    Replicated,
    Request,
    State,
    TimedOut,
    Work,
    Worked,
)
from assignors.simulation.timed.execution.state import Coordinator
from assignors.simulation.timed.execution.step import step

READ, TWO = "read", "two"


def handle(state: State, request: Request) -> Handled:
    """One record of its group, two, none, or one that leaves work behind."""
    key, number = request.group, request.number
    if request.what == READ:
        return Handled((), state.get(key))
    if request.what == TWO:
        return Handled((Entry(key, number), Entry(key, number)), number)
    if isinstance(request.what, Background):
        return Handled((Entry(key, number),), number, request.what)
    return Handled((Entry(key, number),), number)


def coordinator(**settings: Any) -> Coordinator:
    ready = Settings(**{"workers": 1, "partitions": 1, **settings})
    return Coordinator.of(POLICIES["two-stage"], handle, ready)


def asked(number: int, what: Any = None, *, alone: bool = False) -> Asked:
    return Asked(Request(number, 0, what, is_transactional=alone))


def effects(state: Coordinator, *events: Event) -> list[Any]:
    """What these events lead to, work apart."""
    found = [each for event in events for each in step(state, event)]
    return [each for each in found if not isinstance(each, Work)]


def sizes(found: list[Any]) -> list[int]:
    return [len(each.entries) for each in found if isinstance(each, Append)]


def test_an_adaptive_batch_takes_those_that_were_queued_when_it_began() -> None:
    state = coordinator()
    effects(state, asked(0), asked(1), asked(2))
    assert not effects(state, Worked(0), asked(3), Worked(1))
    [append] = effects(state, Worked(2))
    assert [each.value for each in append.entries] == [0, 1, 2]
    # Its append is complete at once, as Kafka's: the next one waits for nobody.
    assert not effects(state, Appended(append.token, 3))
    assert sizes(effects(state, Worked(3))) == [1]


def test_a_batch_that_has_lingered_is_appended_and_an_older_linger_means_nothing() -> None:
    state = coordinator(linger=Lingers.TIMED, batch_max=2)
    effects(state, asked(0), asked(1), asked(2))
    [first] = effects(state, Worked(0))
    assert isinstance(first, Linger)
    [append] = effects(state, Worked(1))
    assert len(append.entries) == 2
    second = effects(state, Appended(append.token, 2), Worked(2))
    assert isinstance(second[-1], Linger)
    assert not effects(state, Lingered(0, first.batch))
    assert sizes(effects(state, Lingered(0, second[-1].batch))) == [1]


def test_without_a_linger_each_request_is_an_append() -> None:
    state = coordinator(linger=Lingers.NOT)
    effects(state, asked(0), asked(1))
    [append] = effects(state, Worked(0))
    assert sizes([append, *effects(state, Appended(append.token, 1), Worked(1))]) == [1, 1]


def test_the_records_of_a_request_are_in_one_batch() -> None:
    state = coordinator(batch_max=3)
    effects(state, asked(0, TWO), asked(1, TWO), asked(2, TWO))
    assert not effects(state, Worked(0))
    [append] = effects(state, Worked(1))
    assert [each.value for each in append.entries] == [0, 0]


def test_a_transaction_is_a_batch_of_its_own_and_waits_for_nobody() -> None:
    state = coordinator(linger=Lingers.TIMED)
    effects(state, asked(0), asked(1, alone=True), asked(2))
    effects(state, Worked(0))
    [first] = effects(state, Worked(1))
    assert [each.value for each in first.entries] == [0]
    [second] = effects(state, Appended(first.token, 1))
    assert [each.value for each in second.entries] == [1]


def test_what_reads_what_is_not_replicated_waits_for_the_last_written_offset() -> None:
    state = coordinator()
    effects(state, asked(0), asked(1, READ))
    assert not effects(state, Worked(0))
    [append] = effects(state, Worked(1))
    assert not effects(state, Appended(append.token, 1))
    assert effects(state, Replicated(0, 1)) == [Answer(0, 0), Answer(1, 0)]
    effects(state, asked(2, READ))
    assert effects(state, Worked(2)) == [Answer(2, 0)]


def test_a_request_that_has_timed_out_is_answered_so_and_its_state_stays() -> None:
    state = coordinator(has_timeout=True)
    effects(state, asked(0))
    append, park = effects(state, Worked(0))
    assert park == Park(0)
    effects(state, Appended(append.token, 1))
    assert effects(state, TimedOut(0)) == [Answer(0, None, Failure.TIMED_OUT)]
    assert not effects(state, Replicated(0, 1), TimedOut(0))
    assert state.partitions[0].state == {0: 0}
    assert not state.tasks


def test_a_high_watermark_waits_for_the_request_that_is_handled_and_goes_before_the_next() -> None:
    state = coordinator(linger=Lingers.NOT)
    effects(state, asked(0), asked(1), asked(2))
    [first] = effects(state, Worked(0))
    [second] = effects(state, Appended(first.token, 1), Worked(1))
    assert not effects(state, Appended(second.token, 2), Replicated(0, 1), Replicated(0, 2))
    step(state, Worked(2))
    assert [each for each in state.out if isinstance(each, Answer)] == [Answer(0, 0), Answer(1, 1)]


def test_a_batch_that_fails_takes_the_state_back_to_what_it_was_before() -> None:
    state = coordinator()
    effects(state, asked(0))
    [append] = effects(state, Worked(0))
    effects(state, Appended(append.token, 1), asked(1))
    [failing] = effects(state, Worked(1))
    effects(state, asked(2), Worked(2))
    assert state.partitions[0].state == {0: 2}
    found = effects(state, Appended(failing.token, None))
    assert found == [Answer(1, None, Failure.APPEND), Answer(2, None, Failure.APPEND)]
    assert state.partitions[0].state == {0: 0}


def work(seen: Any, key: str = "target") -> Background:
    return Background(
        key, seen, lambda state: state.get(0), lambda _, then: Handled((Entry(key, then),), None)
    )


def test_a_result_on_stale_state_is_dropped() -> None:
    state = coordinator()
    effects(state, asked(0, work(0)))
    compute, append = effects(state, Worked(0))
    assert isinstance(compute, Compute)
    effects(state, Appended(append.token, 1), Replicated(0, 1), asked(1))
    [second] = effects(state, Worked(1))
    effects(state, Appended(second.token, 2), Computed(compute.token))
    assert not sizes(effects(state, Worked(-compute.token)))
    executor = state.executor
    assert (executor.stale, executor.applied, executor.jobs) == (1, 0, {})


def test_work_of_a_key_is_accepted_again_once_its_result_is_handled() -> None:
    state = coordinator(linger=Lingers.TIMED)
    effects(state, *(asked(number, work(number)) for number in range(3)))
    compute, _ = effects(state, Worked(0))
    assert not effects(state, Worked(1))
    effects(state, Computed(compute.token), Worked(2))
    assert (state.executor.taken, state.executor.not_taken) == (1, 2)
    effects(state, Worked(-compute.token), asked(3, work(3)))
    assert Compute in [type(each) for each in effects(state, Worked(3))]


def test_the_pool_has_threads_of_its_own_which_partitions_share() -> None:
    state = coordinator(background_threads=1, linger=Lingers.TIMED)
    effects(state, asked(0, work(0, "one")), asked(1, work(1, "other")))
    first, _ = effects(state, Worked(0))
    assert not effects(state, Worked(1))
    [second] = effects(state, Computed(first.token))
    assert (first.key, second.key) == ("one", "other")


def test_what_is_computed_for_a_partition_that_has_gone_means_nothing() -> None:
    state = coordinator()
    effects(state, asked(0, work(0)))
    compute, _ = effects(state, Worked(0))
    found = effects(state, Lost(0), asked(1), Loading(0), asked(2), Loaded(0, (), 0))
    assert [each.failure for each in found] == [
        Failure.NOT_COORDINATOR,
        Failure.NOT_COORDINATOR,
        Failure.LOADING,
    ]
    assert not effects(state, Computed(compute.token))
    assert state.executor.free == 2
    assert not state.tasks


def test_the_next_key_is_the_longest_waiting_or_any_of_those_that_wait() -> None:
    orders = []
    for picks in (None, 1, 2):
        state = coordinator(partitions=6, picks=picks)
        for group in range(6):
            step(state, Asked(Request(group, group, None)))
        order = [0]
        while len(order) < 6:
            found = step(state, Worked(order[-1]))
            order += [each.number for each in found if isinstance(each, Work)]
        orders.append(order)
    assert orders[0] == list(range(6))
    assert all(sorted(each) == orders[0] for each in orders)
    assert orders[0] != orders[1] != orders[2]


@pytest.mark.parametrize("field", ["workers", "partitions", "batch_max", "background_threads"])
@pytest.mark.parametrize("value", [0, -1, 10**9])
def test_settings_that_cannot_be_are_refused_with_their_field(field: str, value: int) -> None:
    changed: dict[str, Any] = {field: value}
    with pytest.raises(DocumentError) as caught:
        replace(Settings(), **changed)
    assert caught.value.path == field
