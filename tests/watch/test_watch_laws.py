"""How records reach a watch changes nothing: batches, ticks, restarts, records that come again."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.decode.logged_records import LoggedRecord, group_in
from assignors.replay.sample import incident
from assignors.watch.events import Alert, Event
from assignors.watch.group_state import state_bytes, state_from_bytes
from assignors.watch.groups import Watch, as_live, end_tick
from assignors.watch.machine import Tick
from tests.conftest import cases
from tests.replay.histories import captured

SOURCES = ("real", "incident")


@cache
def entries_of(source: str) -> Sequence[LoggedRecord]:
    """The records of a captured topic."""
    return captured("real") if source == "real" else incident()


@cache
def events_of(source: str) -> Sequence[Alert]:
    """The events of one run over all of them."""
    return as_live(entries_of(source))


def ended(watch: Watch, events: list[Alert]) -> list[Alert]:
    """The events with those of the last tick, in the order of `as_live`."""
    return sorted([*events, *watch.add(end_tick(watch))], key=lambda one: (one.at_ms, one.group))


def mixed(entries: Sequence[LoggedRecord], dice: random.Random) -> list[LoggedRecord]:
    """The records with their partitions mixed at random, each partition in its order."""
    by_partition: dict[int | None, list[LoggedRecord]] = defaultdict(list)
    for entry in entries:
        by_partition[entry.partition].append(entry)
    turns = [partition for partition, listed in by_partition.items() for _ in listed]
    dice.shuffle(turns)
    iterators = {partition: iter(listed) for partition, listed in by_partition.items()}
    return [next(iterators[partition]) for partition in turns]


@pytest.mark.parametrize("source", SOURCES)
@cases(2)
@given(seed=st.integers(0, 2**32))
def test_partitions_in_any_mixture_give_the_same_events(source: str, seed: int) -> None:
    assert as_live(mixed(entries_of(source), random.Random(seed))) == events_of(source)


@pytest.mark.parametrize("source", SOURCES)
@cases(2)
@given(seed=st.integers(0, 2**32))
def test_ticks_that_pass_no_record_change_nothing(source: str, seed: int) -> None:
    dice = random.Random(seed)
    entries = sorted(entries_of(source), key=lambda entry: entry.at_ms)
    watch, events = Watch(), list[Alert]()
    for entry in entries:
        if dice.random() < 0.1:
            events += watch.add(Tick(entry.at_ms - dice.randrange(500)))
        events += watch.add(entry)
    assert ended(watch, events) == as_live(entries)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("every", [101])
def test_a_watch_goes_on_from_the_bytes_of_its_state(source: str, every: int) -> None:
    watch, events = Watch(), list[Alert]()
    for number, entry in enumerate(entries_of(source)):
        events += watch.add(entry)
        if number % every == 0:
            for group, state in watch.groups.items():
                watch.groups[group] = state_from_bytes(state_bytes(state))
    assert ended(watch, events) == list(events_of(source))


@pytest.mark.parametrize("source", SOURCES)
@cases(2)
@given(seed=st.integers(0, 2**32))
def test_records_that_come_again_or_late_give_no_event(source: str, seed: int) -> None:
    dice = random.Random(seed)
    entries = entries_of(source)
    watch, events, again = Watch(), list[Alert](), 0
    for number, entry in enumerate(entries):
        events += watch.add(entry)
        if dice.random() < 0.2:
            old = entries[dice.randrange(max(number - 50, 0), number + 1)]
            assert watch.add(old) == []
            again += group_in(old.record.key) is not None
    assert ended(watch, events) == list(events_of(source))
    assert sum(state.late_count for state in watch.groups.values()) == again


@pytest.mark.parametrize("source", SOURCES)
def test_an_alert_opens_once_and_is_resolved_once(source: str) -> None:
    seen: dict[str, list[Event]] = defaultdict(list)
    for event in events_of(source):
        seen[event.id].append(event.event)
    assert seen
    for happened in seen.values():
        assert happened[0] is Event.OPENED
        assert happened.count(Event.OPENED) == 1
        assert Event.RESOLVED not in happened[:-1]
