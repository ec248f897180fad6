"""What the page tells of each group: rows put together by life, and what there is room for.

A page that tells everything of five hundred groups is one that nobody can open. So there is a
room, in marks (bars and rows that are drawn), that the groups share: those with most findings
come first, charts before tables, and what is left out of a life, or of the page, is said where
it is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol, TypeVar

from assignors.replay.tables.rows import (
    AnomalyRow,
    AssignmentRow,
    GenerationRow,
    GroupRow,
    MemberRow,
    OutcomeRow,
    Tables,
)
from wire.text import utf16_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a page may hold."""

    marks: int = 20_000
    """Bars and table rows of all groups together: about 400 bytes each."""
    groups: int = 2_000
    """Groups that have a line of their own."""
    generations: int = 120
    """Generations of a life that are told: the last."""
    partitions: int = 64
    """Partitions of a life that have a row in its chart: those that changed hands most."""
    findings: int = 100
    """Findings of a life that are listed."""
    members: int = 60
    """Members of a life that are listed."""
    intervals: int = 400
    """Rows of the table that tells in words what the chart shows."""


FRAME = 16
"""Marks that the chart of any life needs: headings, labels, legend, comparison."""


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
    """The last row of each member, in the order in which they came."""
    assignments: Sequence[AssignmentRow] = ()
    anomalies: Sequence[AnomalyRow] = ()
    outcomes: Sequence[OutcomeRow] = ()
    end_ms: int
    """When it ended, or the last that was heard of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """One group name with its lives."""

    number: int
    """In the order of the page, from 1."""
    name: str
    lives: tuple[LifeView, ...]
    is_told: bool = True
    """Whether there was room for its charts and findings."""
    has_tables: bool = True
    """Whether there was room for its tables."""

    @property
    def anomaly_count(self) -> int:
        """Findings of all its lives."""
        return sum(life.row.anomaly_count for life in self.lives)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of its findings, each once, in the order of the alphabet."""
        return tuple(sorted({one.kind for life in self.lives for one in life.anomalies}))


def stories(tables: Tables, limits: Limits) -> list[GroupView]:
    """Return the groups, those with most findings first, as far as the page has room.

    Cost: linear in the rows, and the sort of the groups.
    """
    lives = list(_lives(tables))
    listed = [
        GroupView(number=0, name=name, lives=tuple(told))
        for name, told in groupby(lives, key=lambda life: life.row.group)
    ]
    listed.sort(key=lambda story: (-story.anomaly_count, utf16_key(story.name)))
    listed = listed[: limits.groups]
    is_shown, room = _fitting([_sum(drawn, story, limits) for story in listed], limits.marks)
    # A group whose charts are left out has no tables either: they take all the room there is.
    tabled, _ = _fitting(
        [
            _sum(tabulated, story, limits) if is_told else limits.marks + 1
            for story, is_told in zip(listed, is_shown, strict=True)
        ],
        room,
    )
    return [
        replace(
            story,
            number=number,
            # One group alone is told whatever it needs: its own limits bound it.
            is_told=is_told or number == 1,
            has_tables=has_tables or number == 1,
        )
        for number, (story, is_told, has_tables) in enumerate(
            zip(listed, is_shown, tabled, strict=True), start=1
        )
    ]


def drawn(life: LifeView, limits: Limits) -> int:
    """Return how many marks the chart and the findings of a life come to, at most."""
    return (
        FRAME
        + len(life.assignments)
        + 3 * min(len(life.generations), limits.generations)
        + min(len(life.anomalies), limits.findings)
    )


def tabulated(life: LifeView, limits: Limits) -> int:
    """Return how many rows the tables of a life come to, at most."""
    return (
        min(len(life.assignments), limits.intervals)
        + min(len(life.generations), limits.generations)
        + min(sum(1 for row in life.outcomes if row.generation is not None), limits.generations)
        + min(len(life.members), limits.members)
    )


def _sum(cost: Callable[[LifeView, Limits], int], story: GroupView, limits: Limits) -> int:
    return sum(cost(life, limits) for life in story.lives)


def _fitting(costs: Iterable[int], room: int) -> tuple[list[bool], int]:
    """Return which of the costs fit, one after another, and the room that is left.

    >>> _fitting([3, 9, 4], 8)
    ([True, False, True], 1)
    """
    found = []
    for cost in costs:
        found.append(cost <= room)
        room -= cost if cost <= room else 0
    return found, room


def _lives(tables: Tables) -> Iterable[LifeView]:
    generations = _by_life(tables.generations)
    members = _by_life(tables.members)
    assignments = _by_life(tables.assignments)
    anomalies = _by_life(tables.anomalies)
    outcomes = _by_life(tables.outcomes)
    ordered = sorted(tables.groups, key=lambda row: (utf16_key(row.group), row.life))
    for row in ordered:
        key = (row.group, row.life)
        told, held = generations.get(key, ()), assignments.get(key, ())
        found = anomalies.get(key, ())
        yield LifeView(
            row=row,
            generations=told,
            members=_once(members.get(key, ())),
            assignments=held,
            anomalies=found,
            outcomes=outcomes.get(key, ()),
            end_ms=row.to_ms if row.to_ms is not None else _last_ms(row, told, held, found),
        )


def _by_life(rows: Iterable[Row]) -> Mapping[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault((row.group, row.life), []).append(row)
    return found


def _once(rows: Iterable[MemberRow]) -> tuple[MemberRow, ...]:
    """Return the last row of each member, where its first stood."""
    return tuple({row.member_id: row for row in rows}.values())


def _last_ms(
    row: GroupRow,
    generations: Iterable[GenerationRow],
    assignments: Iterable[AssignmentRow],
    anomalies: Iterable[AnomalyRow],
) -> int:
    """Return the last time that is heard of a life that has no end."""
    times = [row.from_ms]
    for one in generations:
        times += [one.at_ms, one.until_ms or one.at_ms]
    for two in assignments:
        times += [two.from_ms, two.to_ms or two.from_ms]
    for three in anomalies:
        times += [three.at_ms, three.until_ms or three.at_ms]
    return max(times)
