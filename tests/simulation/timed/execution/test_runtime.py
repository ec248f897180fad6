"""What Kafka 4.4.0's CoordinatorRuntime does, step by step: batches and turns."""

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
    Entry,
    Event,
    Failure,
    Handled,
    Linger,
    Lingered,
    Replicated,
    Request,
    State,
    Work,
    Worked,
)
from assignors.simulation.timed.execution.state import Coordinator
from assignors.simulation.timed.execution.step import step

READ, TWO = "read", "two"


def handle(state: State, request: Request) -> Handled:
    """One record of its group, two, or none."""
    key, number = request.group, request.number
    if request.what == READ:
        return Handled((), state.get(key))
    if request.what == TWO:
        return Handled((Entry(key, number), Entry(key, number)), number)
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


@pytest.mark.parametrize("field", ["workers", "partitions", "batch_max"])
@pytest.mark.parametrize("value", [0, -1, 10**9])
def test_settings_that_cannot_be_are_refused_with_their_field(field: str, value: int) -> None:
    changed: dict[str, Any] = {field: value}
    with pytest.raises(DocumentError) as caught:
        replace(Settings(), **changed)
    assert caught.value.path == field
