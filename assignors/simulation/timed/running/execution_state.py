"""A coordinator that a model executes: what the model has, and what the run knows of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from assignors.simulation.timed.execution.policy import Applies
from assignors.simulation.timed.execution.port import Entry, State, apply
from assignors.simulation.timed.execution.state import Coordinator
from assignors.simulation.timed.offsets_topic import key_and_value
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Arrived,
    Fired,
    Record,
    Reply,
    TimerKey,
)
from assignors.simulation.timed.protocols.offsets.messages import (
    NO_PRODUCER,
    EndTransaction,
    OffsetRecord,
)
from assignors.simulation.timed.running.other_groups import OtherGroups

GROUP = 0
"""The number of the run's own group, which is in partition 0; others have other numbers."""


@dataclass(slots=True, kw_only=True)
class Own:
    """A request of the group, or a timer of it that has run out, while the model has it."""

    event: Arrived | Fired
    at: int
    """When it came, in microseconds since the run began."""
    is_handled: bool = False
    entries: tuple[Entry, ...] = ()
    tokens: list[int] = field(default_factory=list)
    """Those of the coordinator's appends."""
    replies: list[Reply] = field(default_factory=list)
    """Answers that leave when the model answers."""


@dataclass(slots=True)
class LogEnd:
    """The end of an offsets partition's log, and when what is in it will be replicated."""

    offset: int = 0
    appends: int = 0
    replicated_at: int = 0


@dataclass(slots=True)
class Figures:
    """What the execution of a run has cost, since costs are counted; microseconds."""

    requests_us: list[int] = field(default_factory=list)
    """From a request of the group to its end."""
    commits_us: list[int] = field(default_factory=list)
    """From a commit that was accepted to its answer."""
    waiting_max: int = 0
    """The most requests that the coordinator had at a time, of all groups."""
    evictions: int = 0
    failed: int = 0

    def columns(self) -> Mapping[str, int | float]:
        """Return what a result says of it."""
        found: dict[str, int | float] = {
            "coordinator_p99_ms": percentile_ms(self.requests_us, 99) or 0.0,
            "coordinator_waiting_max": self.waiting_max,
            "evictions": self.evictions,
            "failed_appends": self.failed,
        }
        if self.commits_us:
            for share in (50, 99):
                found[f"commit_p{share}_ms"] = percentile_ms(self.commits_us, share)
        return found


@dataclass(slots=True, kw_only=True)
class Execution:
    """A coordinator that a model executes."""

    model: Coordinator
    others: OtherGroups
    logs: list[LogEnd]
    """Of the offsets partitions."""
    numbers: int = 0
    """How many requests there were."""
    own: dict[int, Own] = field(default_factory=dict)
    """By the number of their request."""
    check_us: dict[int, int] = field(default_factory=dict)
    """How long the check of a request takes, by its number."""
    run_out: dict[TimerKey, int] = field(default_factory=dict)
    """Timers that have run out and wait for their turn, with their requests' numbers."""
    unwritten: deque[Record] = field(default_factory=deque)
    """Records of the group that are not appended yet, in the order of their steps."""
    records: int = 0
    """How many records the group has made."""
    figures: Figures = field(default_factory=Figures)

    def next_number(self) -> int:
        """Return the number of the next request."""
        self.numbers += 1
        return self.numbers

    def entry(self, record: Record | EndTransaction) -> Entry:
        """Return a record as the model's log has it: its key in the topic, and its place."""
        self.records += 1
        if isinstance(record, EndTransaction):
            return Entry((b"", self.records), (self.records, record))
        self.unwritten.append(record)
        key, value = key_and_value(record, "")
        producer = record.producer_id if isinstance(record, OffsetRecord) else NO_PRODUCER
        return Entry((key, producer), None if value is None else (self.records, record))

    def written(self) -> tuple[Record | EndTransaction, ...]:
        """Return what the group has written, as compaction would leave it. Cost: O(records).

        Where the model applies records once they are replicated, those on their way count too.
        """
        state: State = dict(self.model.partitions[GROUP].state)
        if self.model.policy.applies is Applies.REPLICATION:
            for own in self.own.values():
                for entry in own.entries:
                    apply(state, entry)
        return tuple(record for _, record in sorted(_own_values(state), key=lambda each: each[0]))

    def is_waiting(self, member_id: str) -> bool:
        """Return whether a request of a member waits for its turn. Cost: O(requests)."""
        return any(
            isinstance(each.event, Arrived)
            and not each.is_handled
            and getattr(each.event.request, "member_id", None) == member_id
            for each in self.own.values()
        )


def _own_values(state: State) -> list[tuple[int, Any]]:
    """Return the values of the group's own keys; those of other groups are numbers."""
    return [value for key, value in state.items() if isinstance(key, tuple)]


def percentile_ms(times_us: list[int], share: int) -> float:
    """Return the time that this percentage of them do not exceed, in milliseconds; 0: of none.

    >>> percentile_ms([4000, 1000, 2000, 3000], 50)
    2.0
    """
    if not times_us:
        return 0.0
    place = max(ceil(len(times_us) * share / 100) - 1, 0)
    return sorted(times_us)[place] / MILLISECOND
