"""What a join or a leave cost, by who consumed what when: the same figures for both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assignors.ownership.changes import Change, pairs
from assignors.simulation.timed.ledger import Ledger
from tests.lab.calibrate.plan import TOPIC
from wire import TopicPartitions

MICROSECONDS = 1_000_000
"""Of a second: changes are in microseconds, figures in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The cost of one verb, from the moment at which the member's process was asked to do it."""

    moves: int
    generations: int
    """Of the classic protocol; epochs of the group under KIP-848."""
    idle_s: float
    """Partitions times seconds without a consumer."""
    longest_s: float
    """The longest time that one partition had none."""
    duration_s: float
    """To the moment at which the last partition was taken."""
    is_settled: bool
    """Whether every partition had one consumer, and loads were even, at the end."""


def figures_of(
    changes: Iterable[Change],
    generations: Iterable[int],
    *,
    windows: Sequence[tuple[int, int]],
    partitions: int,
) -> list[Figures]:
    """Return the figures of each window, a verb's time and the next one's.

    Times are microseconds; `generations` are the times at which one began. Cost: O(changes), plus
    the partitions for each window.
    """
    begun = sorted(generations)
    rest = sorted(changes, key=lambda change: change.at)
    owned: dict[str, TopicPartitions] = {}
    found, taken = [], 0
    for start, end in windows:
        while taken < len(rest) and rest[taken].at < start:
            owned[rest[taken].member_id] = rest[taken].owned
            taken += 1
        first = taken
        while taken < len(rest) and rest[taken].at < end:
            taken += 1
        count = sum(start <= at < end for at in begun)
        found.append(_figures(owned, rest[first:taken], (start, end), partitions, count))
        owned.update({change.member_id: change.owned for change in rest[first:taken]})
    return found


def spreads_of(changes: Iterable[Change], *, windows: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each eager rebalance how long after the first member the last one was assigned.

    In microseconds; windows in which fewer than two members were assigned anything are left out.
    Cost: O(changes log changes).
    """
    rest = sorted(changes, key=lambda change: change.at)
    found, taken = [], 0
    for start, end in windows:
        given = []
        while taken < len(rest) and rest[taken].at < end:
            if rest[taken].at >= start and rest[taken].owned:
                given.append(rest[taken].at)
            taken += 1
        if len(given) > 1:
            found.append(given[-1] - given[0])
    return found


def _figures(
    before: dict[str, TopicPartitions],
    changes: Sequence[Change],
    window: tuple[int, int],
    partitions: int,
    generations: int,
) -> Figures:
    start, end = window
    ledger = Ledger(count_from=start)
    ledger.grow(start, TOPIC, partitions)
    for member_id, owned in before.items():
        ledger.consume(start, member_id, owned, "before")
    last = start
    for change in changes:
        if pairs(change.owned).keys() - pairs(ledger.consumed.get(change.member_id, {})).keys():
            last = change.at
        ledger.consume(change.at, change.member_id, change.owned, change.reason or "")
    loads = [len(pairs(owned)) for owned in ledger.consumed.values() if owned]
    without = ledger.close(end, {TOPIC})
    return Figures(
        moves=ledger.moves,
        generations=generations,
        idle_s=ledger.unavailable / MICROSECONDS,
        longest_s=ledger.longest_gap / MICROSECONDS,
        duration_s=(last - start) / MICROSECONDS,
        is_settled=not without and bool(loads) and max(loads) - min(loads) <= 1,
    )
