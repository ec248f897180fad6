"""A killed watch goes on where its checkpoint was, and says the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.sample import incident
from assignors.watch import checkpoint
from assignors.watch.checkpoint import (
    NAME,
    read_checkpoint,
    write_checkpoint,
    written_in_parts,
)
from assignors.watch.encoding import StateError
from assignors.watch.events import Alert, Event
from assignors.watch.groups import Watch, as_live, end_tick
from assignors.watch.machine import Tick
from assignors.watch.rules import Rules


def from_positions(positions: dict[int, int]) -> Iterator[LoggedRecord]:
    """The records of the sample that a consumer reads from these positions on."""
    for entry in incident():
        assert entry.partition is not None
        assert entry.offset is not None
        if entry.offset >= positions.get(entry.partition, 0):
            yield entry


def killed_in_parts(directory: Path, *, every: int) -> list[Alert]:
    """What a watch says that reads on while its checkpoint is written, and is then killed."""
    events: list[Alert] = []
    while True:
        found = read_checkpoint(directory, Rules())
        watch, positions = found or (Watch(), {})
        saving = None
        for number, entry in enumerate(from_positions(positions), start=1):
            events += watch.add(entry)
            assert entry.partition is not None
            positions[entry.partition] = (entry.offset or 0) + 1
            if number >= every:
                saving = saving or written_in_parts(directory, watch, dict(positions))
                if next(saving, "whole") == "whole":
                    break
        else:
            return events + watch.add(end_tick(watch))


def killed(directory: Path, *, saved_every: int, killed_every: int) -> list[Alert]:
    """What a watch says that is killed again and again, between two checkpoints too."""
    events: list[Alert] = []
    while True:
        found = read_checkpoint(directory, Rules())
        watch, positions = found or (Watch(), {})
        for number, entry in enumerate(from_positions(positions), start=1):
            events += watch.add(entry)
            assert entry.partition is not None
            positions[entry.partition] = (entry.offset or 0) + 1
            if number % saved_every == 0:
                write_checkpoint(directory, watch, positions)
            if number == killed_every:
                break
        else:
            return events + watch.add(end_tick(watch))


@pytest.mark.parametrize(("saved", "killed_at"), [(20, 20), (20, 33), (7, 150)])
def test_a_watch_killed_anywhere_says_the_same_with_the_same_ids(
    tmp_path: Path, saved: int, killed_at: int
) -> None:
    events = killed(tmp_path, saved_every=saved, killed_every=killed_at)
    once = {(one.event, one.id, one.at_ms): one for one in events}
    whole = {(one.event, one.id, one.at_ms): one for one in as_live(incident())}
    assert once == whole
    if saved == killed_at:
        assert len(events) == len(once)


def test_what_was_counted_is_kept(tmp_path: Path) -> None:
    watch = Watch(since_ms=5)
    for entry in incident()[:100]:
        watch.add(entry)
    write_checkpoint(tmp_path, watch, {0: 7})
    found = read_checkpoint(tmp_path, Rules())
    assert found is not None
    again, positions = found
    assert positions == {0: 7}
    assert (again.since_ms, again.record_count, again.clock_ms) == (5, 100, watch.clock_ms)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    later = Tick(watch.clock_ms + 3_600_000)
    assert again.add(later) == watch.add(later)


@pytest.mark.parametrize("count", [0, 150, 300, 427])
def test_what_is_open_is_said_again_after_a_restart(tmp_path: Path, count: int) -> None:
    """A receiver may have forgotten it: Alertmanager does after minutes."""
    watch, is_open = Watch(), dict[str, str]()
    for entry in incident()[:count]:
        for alert in watch.add(entry):
            is_open[alert.id] = alert.kind
            if alert.event is Event.RESOLVED:
                del is_open[alert.id]
    write_checkpoint(tmp_path, watch, {})
    found = read_checkpoint(tmp_path, Rules())
    assert found is not None
    again = found[0].still_open()
    assert {alert.id: alert.kind for alert in again} == is_open
    assert {alert.event for alert in again} <= {Event.REPEATED}
    assert all(group.rest is None for group in found[0].groups.values()), "they stay packed"


def test_another_version_and_damage_are_refused_in_a_sentence(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path, Rules()) is None
    watch = Watch()
    for entry in incident()[:50]:
        watch.add(entry)
    write_checkpoint(tmp_path, watch, {})
    path = tmp_path / NAME
    whole = path.read_bytes()
    head, *groups = whole.splitlines()
    other = {**json.loads(head), "v": 99}
    path.write_bytes(b"\n".join([json.dumps(other).encode(), *groups]))
    with pytest.raises(StateError, match="version 99, this version reads 1; remove"):
        read_checkpoint(tmp_path, Rules())
    for damaged in (b"", b"{}", whole[: len(whole) // 2], head.replace(b"[", b"{", 1)):
        path.write_bytes(damaged)
        with pytest.raises(StateError, match="watch"):
            read_checkpoint(tmp_path, Rules())


@pytest.mark.parametrize("every", [5, 40])
def test_a_watch_may_read_on_while_its_checkpoint_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    monkeypatch.setattr(checkpoint, "PART", 1)
    assert killed_in_parts(tmp_path, every=every) == [*every_event(Watch())]


def every_event(watch: Watch) -> Iterator[Alert]:
    """The events of one run, in the order in which they come."""
    for entry in incident():
        yield from watch.add(entry)
    yield from watch.add(end_tick(watch))
