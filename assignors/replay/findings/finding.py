"""A finding, and runs of generations with the same problem.

A problem that lasts for eighty generations is one finding, not eighty: `runs` joins the generations
in a row that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from assignors.replay.analysis.group_analysis import (
    GenerationAnalysis,
    GroupAnalysis,
    LifeAnalysis,
)
from assignors.replay.findings.thresholds import Thresholds
from wire import TopicPartitions

Key = TypeVar("Key", bound=Hashable)

DAY_MS = 86_400_000
DAYS_SHOWN = 2
"""From so many days on a time is shown in days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One occurrence of something that went wrong in a life."""

    kind: str = ""
    """Set by `found`: the name of the row of `FINDINGS` whose function found it."""
    life: int = 1
    """The number of the life; that of a finder for one life is set by `each_life`."""
    generation: int | None
    """`None` where it is about a record of no generation."""
    at_ms: int
    until_ms: int | None
    """`None` where it lasts at the end of the records."""
    evidence: str
    """A sentence for people."""
    count: int = 1
    """How many partitions, generations or messages: `glossary` says which."""
    cause: str = ""
    """Findings of one kind and cause in one life are one row (`causes`)."""
    member_id: str | None = None
    client_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    members: tuple[str, ...] = ()
    """Ids of the members that it touches; `member_id` need not be among them."""
    partitions: TopicPartitions = field(default_factory=dict)
    """The partitions that it touches."""
    is_by_leader: bool = False
    """Whether the leader of `generation` caused it, where its kind does not say so already."""


Finder = Callable[[GroupAnalysis, Thresholds], Iterable[Finding]]
"""A pure function of the rows of one group, and of what is computed from them. The same function
runs over a whole history and over the last rows of a group that is watched."""

LifeFinder = Callable[[LifeAnalysis, Thresholds], Iterable[Finding]]
"""A finder that needs one life of the group alone."""


def each_life(find: LifeFinder) -> Finder:
    """Return the finder that looks at every life of a group."""

    def found(analysis: GroupAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
        for each in analysis.lives:
            for finding in find(each, thresholds):
                yield replace(finding, life=each.life.number)

    return found


def runs(
    generations: Sequence[GenerationAnalysis], keys: Callable[[GenerationAnalysis], Iterable[Key]]
) -> Iterator[tuple[Key, Sequence[GenerationAnalysis]]]:
    """Yield each key with the generations in a row that have it, in order of the first of them.

    Cost: linear in the number of keys of all generations.

    >>> from assignors.replay.analysis.figures import Figures
    >>> from assignors.replay.history.model import Generation
    >>> def analysed(number):
    ...     generation = Generation(number=number, at_ms=number, state="Stable")
    ...     return GenerationAnalysis(generation=generation, before=None, figures=Figures())
    >>> listed = [analysed(number) for number in (1, 2, 3)]
    >>> found = runs(listed, lambda one: ["odd"] if one.generation.number % 2 else ["even"])
    >>> [(key, [one.generation.number for one in found]) for key, found in found]
    [('odd', [1]), ('even', [2]), ('odd', [3])]
    """
    open_: dict[Key, int] = {}
    done: list[tuple[int, int, Key, int]] = []
    for position, analysed in enumerate(generations):
        now = dict.fromkeys(keys(analysed))
        if not now and not open_:
            continue
        for key in [key for key in open_ if key not in now]:
            done.append((open_[key], len(done), key, position))
            del open_[key]
        for key in now:
            open_.setdefault(key, position)
    for key, start in open_.items():
        done.append((start, len(done), key, len(generations)))
    for start, _, key, end in sorted(done, key=lambda one: one[:2]):
        yield key, generations[start:end]


def has_times(analysis: LifeAnalysis) -> bool:
    """Return whether the records of a life have times that differ."""
    first, last = analysis.generations[0].generation, analysis.generations[-1].generation
    return (last.until_ms or last.at_ms) != first.at_ms


def is_transient(
    analysis: LifeAnalysis,
    run: Sequence[GenerationAnalysis],
    thresholds: Thresholds,
    since_ms: int | None = None,
) -> bool:
    """Return whether a problem lasted less than `Thresholds.passing_ms`.

    `since_ms` is when it began, if later than the run. Without times in the records none does.
    """
    until_ms = run[-1].generation.until_ms
    if until_ms is None or not has_times(analysis):
        return False
    begun_ms = run[0].generation.at_ms if since_ms is None else since_ms
    return until_ms - begun_ms < thresholds.passing_ms


def crowded(times: Sequence[int], count: int, window_ms: int) -> Iterator[tuple[int, int]]:
    """Yield the longest spans of times that are all part of a window with `count` or more.

    `times` are sorted; a span is its first place and the one behind its last. Cost: linear.

    >>> list(crowded([0, 10, 20, 500, 900, 905, 910], count=3, window_ms=50))
    [(0, 3), (4, 7)]
    """
    start: int | None = None
    end = 0
    left = 0
    for right, now in enumerate(times):
        while now - times[left] > window_ms:
            left += 1
        if right - left + 1 < count:
            continue
        if start is not None and left >= end:
            yield start, end
            start = None
        start = left if start is None else start
        end = right + 1
    if start is not None:
        yield start, end


def numbers_shown(numbers: Sequence[int | str], limit: int = 12) -> str:
    """Return partition numbers, or names, as text; of a long list the first ones and the count.

    >>> numbers_shown([0, 1, 2, 5], limit=3)
    '0, 1, 2, ... (4)'
    """
    listed = ", ".join(map(str, numbers[:limit]))
    return listed if len(numbers) <= limit else f"{listed}, ... ({len(numbers)})"


def seconds(milliseconds: int) -> str:
    """Return a time as text, with its unit.

    >>> seconds(41_260), seconds(250), seconds(298_000), seconds(691_205_000)
    ('41.3 s', '250 ms', '298 s', '8.0 days')
    """
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds >= DAYS_SHOWN * DAY_MS:
        return f"{milliseconds / DAY_MS:.1f} days"
    return f"{milliseconds / 1000:.{0 if milliseconds >= 100_000 else 1}f} s"


def times(count: int) -> str:
    """Return a number of times as text."""
    return "once" if count == 1 else f"{count} times"


def amount(count: int, noun: str) -> str:
    """Return a count with its noun as text.

    >>> amount(1, "member"), amount(0, "partition")
    ('1 member', '0 partitions')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def span(run: Sequence[GenerationAnalysis]) -> str:
    """Return which generations a run covers, as text."""
    first, last = run[0].generation.number, run[-1].generation.number
    return f"generation {first}" if first == last else f"generations {first} to {last}"
