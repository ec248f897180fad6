"""The events of a run up to its first violation, a line each, of all or of what is named.

A member's lines are what happens at it, and what the coordinator does about its requests, its
timers and its records. A partition's lines are those that name it, and those in which a member
stops consuming it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from assignors.names.nearest import LISTED_MAX, question
from assignors.ownership.changes import TopicPartition
from assignors.simulation.timed.explore.words import line_of, short
from assignors.simulation.timed.monitors.rules import Monitoring, Seen, described
from assignors.simulation.timed.plan import with_arrivals
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Arrived,
    Consume,
    Reply,
    Send,
)
from assignors.simulation.timed.scenario import Scenario, Verb
from assignors.simulation.timed.simulation import simulate

Lines = Callable[[Seen], str | None]
"""An event -> its line, `None` where it has none or is about something else."""


NOTHING = "no violation"
"""The last line of a run in which monitors find nothing."""
LINES_MAX = 10_000
"""So many of the last lines before a violation are kept."""


def history(scenario: Scenario, subjects: Sequence[str] = ()) -> Iterator[str]:
    """Return the lines of a run up to its first violation, which is the last line.

    Of a run without one, all its lines, and one that says so. With `subjects`, names of members
    and partitions (`orders:3`), only lines about one of these. Runs under `Monitoring.FULL`; raises
    what `simulate` raises, and before that `ValueError` for a name that the scenario does not have.
    Cost: that of the run, plus O(size of its messages) for each subject.
    """
    return _history(scenario, lines_of(scenario, subjects) or [line_of])


def _history(scenario: Scenario, of_subjects: Sequence[Lines]) -> Iterator[str]:
    lines: deque[tuple[int, str]] = deque(maxlen=LINES_MAX)

    def observe(seen: Seen) -> None:
        found = [of_one(seen) for of_one in of_subjects]
        line = next(filter(None, found), None)
        if line is not None:
            at_ms = seen.at_us / MILLISECOND
            lines.append((seen.number, f"{seen.number:>7} {at_ms:>12.3f} ms  {line}"))

    played = simulate(scenario, monitoring=Monitoring.FULL, observe=observe)
    first = played.violations[0] if played.violations else None
    yield from (line for number, line in lines if first is None or number <= first.event)
    yield NOTHING if first is None else described(first, scenario.seed)


def lines_of(scenario: Scenario, subjects: Iterable[str]) -> list[Lines]:
    """Return how to see each of the members and partitions that are named; those keep a state.

    A partition is `topic:number` or `topic-number`; what is a member's name is that member. Raises
    `ValueError` for a name that the scenario does not have, with the nearest or the known ones.
    """
    members = [each.name for each in with_arrivals(scenario).members]
    counts = dict(scenario.topics)
    for action in scenario.plan:
        if action.do in {Verb.CREATE, Verb.GROW} and action.topic is not None:
            counts[action.topic] = max(counts.get(action.topic, 0), action.partitions)
    found: list[Lines] = []
    for subject in subjects:
        if subject in members:
            found.append(_Member(name=subject).line)
            continue
        topic, _, digits = subject.rpartition(":" if ":" in subject else "-")
        if topic not in counts or not (digits.isascii() and digits.isdecimal()):
            raise ValueError(
                f"no member or partition {subject!r}{_known(subject, members, counts)}"
            )
        if int(digits) >= counts[topic]:
            raise ValueError(f"no partition {subject!r}: {topic} has {counts[topic]} at most")
        found.append(_Partition(one=(topic, int(digits))).line)
    return found


def _known(subject: str, members: list[str], topics: Iterable[str]) -> str:
    """Return the end of the sentence that refuses a name: the nearest one, else those known."""
    known = [*(f"{topic}:0" for topic in topics), *members]
    rest = len(known) - LISTED_MAX
    more = f" and {rest} more" if rest > 0 else ""
    return question(subject, known) or f"; known: {', '.join(known[:LISTED_MAX])}{more}"


@dataclass(slots=True, kw_only=True)
class _Member:
    """What is known of a member so far."""

    name: str
    ids: set[str] = field(default_factory=set)
    """Its member ids."""
    requests: set[int] = field(default_factory=set)
    """Numbers that its requests have at the coordinator."""

    def line(self, seen: Seen) -> str | None:
        """Return the line of an event that is about this member."""
        if seen.member == self.name:
            sent = [each.request for each in seen.effects if isinstance(each, Send)]
            got = [seen.event.response] if isinstance(seen.event, Answered) else []
            self.ids.update(filter(None, (getattr(each, "member_id", "") for each in sent + got)))
            return line_of(seen)
        if seen.member is not None:
            return None
        is_its = False
        if isinstance(seen.event, Arrived):
            request = seen.event.request
            is_its = getattr(request, "member_id", None) in self.ids
            is_its |= getattr(request, "client_id", None) == self.name
            if is_its:
                self.requests.add(seen.event.number)
        own = [
            each
            for each in seen.effects
            if not isinstance(each, Reply) or each.number in self.requests
        ]
        is_its |= any(isinstance(each, Reply) for each in own)
        line = line_of(seen._replace(effects=own))
        if line is None or is_its:
            return line
        return line if any(_names(line, short(each)) for each in self.ids) else None


@dataclass(slots=True, kw_only=True)
class _Partition:
    """Who consumes a partition so far."""

    one: TopicPartition
    consumers: set[str] = field(default_factory=set)
    """Names of members."""

    def line(self, seen: Seen) -> str | None:
        """Return the line of an event that names the partition, or ends its consumption."""
        (topic, number), has_ended = self.one, False
        for effect in seen.effects:
            if not isinstance(effect, Consume) or seen.member is None:
                continue
            if number in effect.owned.get(topic, ()):
                self.consumers.add(seen.member)
            elif seen.member in self.consumers:
                self.consumers.discard(seen.member)
                has_ended = True
        line = line_of(seen, self.one)
        if line is None:
            return None
        if has_ended:
            return f"{line}; no longer {topic}-{number}"
        return line if _names(line, f"{topic}-{number}") else None


def _names(line: str, name: str) -> bool:
    """Return whether a name is in a line, and not as a part of another one.

    >>> _names("c1: consumes t-1, t-12", "t-1"), _names("c1: consumes t-12, my.t-1", "t-1")
    (True, False)
    """
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", line) is not None
