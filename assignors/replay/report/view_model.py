"""The groups that the page shows: their rows, joined by life, and how much of each is shown.

A page with everything about five hundred groups would be too large to open. So the groups share a
number of marks (bars and table rows). Groups with the worst findings come first, and charts before
tables. Where the page shows less of a group than there is, it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol, TypeVar

from assignors.replay.findings.table import RANK
from assignors.replay.tables.rows import (
    AssignmentRow,
    FindingRow,
    GenerationRow,
    GroupRow,
    MemberRow,
    OutcomeRow,
    Tables,
)
from wire.text import utf16_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a page may show."""

    marks: int = 20_000
    """Bars and table rows of all groups together: about 400 bytes each."""
    groups: int = 2_000
    """Groups that are in the index."""
    generations: int = 120
    """Generations of a life: the last ones."""
    partitions: int = 64
    """Partitions in the chart of a life: those that moved most often."""
    findings: int = 100
    """Findings of a life."""
    members: int = 60
    """Members of a life."""
    intervals: int = 400
    """Rows in the table of a life's ownership intervals."""


FIXED_MARKS = 16
"""Marks that the chart of any life needs: headings, labels, legend, comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a page calls the same things of recorded groups and of simulated ones."""

    time: str
    finding: str
    members: str
    joined: str
    left: str
    has_dates: bool
    """Whether its times are those of a calendar."""
    has_estimates: bool
    """Whether how long rebalances took is estimated."""


RECORDED = Words(
    time="time, UTC",
    finding="finding",
    members="member",
    joined="joined",
    left="left",
    has_dates=True,
    has_estimates=True,
)
SIMULATED = Words(
    time="time",
    finding="violation",
    members="consuming member",
    joined="began",
    left="stopped",
    has_dates=False,
    has_estimates=False,
)
"""A finding is what a monitor forbids, times begin with the run, and who consumes nothing is no
member of any row."""


class _OfLife(Protocol):
    @property
    def group(self) -> str: ...
    @property
    def life(self) -> int: ...


Row = TypeVar("Row", bound=_OfLife)
Key = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeView:
    """One life of a group, with all its rows."""

    row: GroupRow
    generations: Sequence[GenerationRow] = ()
    members: Sequence[MemberRow] = ()
    """The last row of each member, in the order of the members' first rows."""
    assignments: Sequence[AssignmentRow] = ()
    findings: Sequence[FindingRow] = ()
    outcomes: Sequence[OutcomeRow] = ()
    end_ms: int
    """When it ended; where it did not, the last time in its rows."""
    words: Words = RECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """All lives of one group name."""

    number: int
    """In the order of the page, from 1."""
    name: str
    lives: tuple[LifeView, ...]
    has_details: bool = True
    """Whether its charts and findings are shown."""
    has_tables: bool = True
    """Whether its tables are shown."""

    @property
    def finding_count(self) -> int:
        """Findings of all its lives."""
        return sum(life.row.finding_count for life in self.lives)

    @property
    def rank(self) -> int:
        """The place of its worst severity; without findings behind all of them."""
        return min(RANK.get(life.row.severity or "", len(RANK)) for life in self.lives)

    @property
    def finding_kinds(self) -> tuple[str, ...]:
        """Kinds of its findings, each once, sorted."""
        return tuple(sorted({row.kind for life in self.lives for row in life.findings}))


def group_views(tables: Tables, limits: Limits) -> list[GroupView]:
    """Return the groups that the page shows: worst findings first, then most findings.

    Cost: linear in the rows, and the sort of the groups.
    """
    groups = [
        GroupView(number=0, name=name, lives=tuple(lives))
        for name, lives in groupby(_lives(tables), key=lambda life: life.row.group)
    ]
    groups.sort(key=lambda group: (group.rank, -group.finding_count, utf16_key(group.name)))
    groups = groups[: limits.groups]
    has_details, left = _fitting(
        [_sum(chart_marks, group, limits) for group in groups], limits.marks
    )
    # A group without charts has no tables either: its cost is more than any page may have.
    has_tables, _ = _fitting(
        [
            _sum(table_marks, group, limits) if is_shown else limits.marks + 1
            for group, is_shown in zip(groups, has_details, strict=True)
        ],
        left,
    )
    return [
        replace(
            group,
            number=number,
            # The first group is always shown in full: its own limits bound it.
            has_details=is_shown or number == 1,
            has_tables=is_tabulated or number == 1,
        )
        for number, (group, is_shown, is_tabulated) in enumerate(
            zip(groups, has_details, has_tables, strict=True), start=1
        )
    ]


def chart_marks(life: LifeView, limits: Limits) -> int:
    """Return how many marks the chart and the findings of a life have at most."""
    return (
        FIXED_MARKS
        + len(life.assignments)
        + 3 * min(len(life.generations), limits.generations)
        + min(len(life.findings), limits.findings)
    )


def table_marks(life: LifeView, limits: Limits) -> int:
    """Return how many rows the tables of a life have at most."""
    return (
        min(len(life.assignments), limits.intervals)
        + min(len(life.generations), limits.generations)
        + min(sum(1 for row in life.outcomes if row.generation is not None), limits.generations)
        + min(len(life.members), limits.members)
    )


def _sum(marks: Callable[[LifeView, Limits], int], group: GroupView, limits: Limits) -> int:
    return sum(marks(life, limits) for life in group.lives)


def _fitting(costs: Iterable[int], budget: int) -> tuple[list[bool], int]:
    """Return which costs fit into the budget, one after another, and what is left of it.

    >>> _fitting([3, 9, 4], 8)
    ([True, False, True], 1)
    """
    found = []
    for cost in costs:
        found.append(cost <= budget)
        budget -= cost if cost <= budget else 0
    return found, budget


def _lives(tables: Tables) -> Iterable[LifeView]:
    generations = _by_life(tables.generations)
    members = _by_life(tables.members)
    assignments = _by_life(tables.assignments)
    findings = _by_life(tables.findings)
    outcomes = _by_life(tables.outcomes)
    for row in sorted(tables.groups, key=lambda row: (utf16_key(row.group), row.life)):
        key = (row.group, row.life)
        life = LifeView(
            row=row,
            generations=generations.get(key, ()),
            members=_last_rows(members.get(key, ())),
            assignments=assignments.get(key, ()),
            findings=findings.get(key, ()),
            outcomes=outcomes.get(key, ()),
            end_ms=row.from_ms if row.to_ms is None else row.to_ms,
        )
        yield replace(life, end_ms=_last_ms(life)) if row.to_ms is None else life


def _by_life(rows: Iterable[Row]) -> Mapping[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault((row.group, row.life), []).append(row)
    return found


def _last_rows(rows: Iterable[MemberRow]) -> tuple[MemberRow, ...]:
    """Return the last row of each member, at the place of its first."""
    return tuple({row.member_id: row for row in rows}.values())


def _last_ms(life: LifeView) -> int:
    """Return the last time in the rows of a life."""
    times = [life.row.from_ms]
    for generation in life.generations:
        times += [generation.at_ms, generation.until_ms or generation.at_ms]
    for interval in life.assignments:
        times += [interval.from_ms, interval.to_ms or interval.from_ms]
    for finding in life.findings:
        times += [finding.at_ms, finding.until_ms or finding.at_ms]
    return max(times)
