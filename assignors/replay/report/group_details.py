"""One group on the page: its row of the index, and each of its lives when that row is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assignors.replay.findings.causes import repetition
from assignors.replay.report.chart import ENDINGS, Chart, chart, interval_notes
from assignors.replay.report.comparison import comparison, comparison_by_generation
from assignors.replay.report.formats import (
    KIND_NAMES,
    NONE,
    clock,
    count,
    duration,
    generation_name,
    known_sum,
    number,
    partition_seconds,
    period,
    value_range,
)
from assignors.replay.report.member_styles import MemberStyle, member_styles
from assignors.replay.report.table_view import Column, Form, Link, TableView, table_view
from assignors.replay.report.view_model import GroupView, LifeView, Limits, Words
from assignors.replay.tables.rows import AssignmentRow, FindingRow, GenerationRow, MemberRow


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCell:
    """A cell of a group's row in the index; narrow screens show its label beside it."""

    label: str
    value: str
    css_class: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeDetails:
    """One life of a group; a table or chart is `None` where it would be empty."""

    heading: str
    facts: str
    chart: Chart | None
    findings: TableView | None
    words: Words
    comparison: TableView | None
    comparison_by_generation: TableView | None
    has_inferred_counts: bool
    """Whether the comparison rests on inferred partition counts."""
    tables: Sequence[TableView] | None
    """`None` where the page has no space for them."""


def index_cells(group: GroupView) -> Iterator[IndexCell]:
    """Yield the cells of a group's row in the index; its name stands before them."""
    rows = [life.row for life in group.lives]
    kinds = dict.fromkeys(KIND_NAMES.get(row.kind, row.kind) for row in rows)
    double_owned_ms = known_sum(row.double_owned_ms for row in rows)
    findings = group.finding_count
    yield IndexCell(label="kind", value=" → ".join(kinds))
    yield IndexCell(label="state", value=rows[-1].state)
    for label, value in (
        ("maximum members", number(max(row.member_count_max for row in rows))),
        ("generations", number(sum(row.generation_count for row in rows))),
        ("moves", number(sum(row.moved for row in rows))),
        ("double-owned, partition-s", partition_seconds(double_owned_ms)),
    ):
        yield IndexCell(label=label, value=value, css_class="number")
    yield IndexCell(
        label="findings",
        value=number(findings),
        css_class="number alert" if findings else "number",
    )


def search_words(group: GroupView) -> list[str]:
    """Return the words by which a search finds a group, in lower case."""
    words = [group.name]
    for life in group.lives:
        row = life.row
        words += [row.kind, KIND_NAMES.get(row.kind, ""), row.state, row.protocol or ""]
    return [word.lower() for word in dict.fromkeys([*words, *group.finding_kinds]) if word]


def omitted_details(group: GroupView) -> str | None:
    """Return the sentence in place of a group's lives, or `None` where the page shows them."""
    if group.has_details:
        return None
    kinds = ", ".join(group.finding_kinds) or "none"
    return (
        "The charts and tables of this group are not shown: the page has reached its maximum "
        f"size. Findings: {kinds}. To see everything, report this group alone with --group."
    )


def life_details(life: LifeView, group: GroupView, limits: Limits) -> LifeDetails:
    """Return one life: facts, chart, findings, other assignors, tables.

    Cost: linear in the rows of the life.
    """
    row, styles = life.row, member_styles(life)
    which = f"Life {row.life} of {len(group.lives)}: " if len(group.lives) > 1 else ""
    assignor = f", {row.protocol}" if row.protocol else ""
    sums = [outcome for outcome in life.outcomes if outcome.generation is None]
    by_generation = comparison_by_generation(
        life.outcomes, limit=limits.generations if sums and group.has_tables else 0
    )
    anchor = f"life-{group.number}-{row.life}"
    drawn = chart(life, limits, styles, anchor=anchor)
    return LifeDetails(
        heading=f"{which}{KIND_NAMES.get(row.kind, row.kind)}{assignor}",
        facts=" · ".join(_facts(life)),
        chart=drawn,
        findings=_findings(life, limits, places_in_chart(drawn), anchor),
        words=life.words,
        comparison=comparison(sums, caption="What if another assignor had been used")
        if sums
        else None,
        comparison_by_generation=by_generation,
        has_inferred_counts=any(outcome.counts_inferred for outcome in sums),
        tables=list(_tables(life, styles, limits)) if group.has_tables else None,
    )


def _facts(life: LifeView) -> Iterator[str]:
    row = life.row
    missing = f" ({row.generations_missing:,} more not recorded)" if row.generations_missing else ""
    yield period(row.from_ms, life.end_ms)
    yield row.state
    yield count(row.generation_count, generation_name(row.kind)) + missing
    yield f"maximum {count(row.member_count_max, 'member')}"
    yield count(row.moved, "move")
    yield count(row.commit_count, "commit")
    if row.tombstone_count:
        yield count(row.tombstone_count, "tombstone")
    if row.double_owned_ms:
        yield f"double-owned: {partition_seconds(row.double_owned_ms)} partition-seconds"
    if row.unassigned_partition_ms:
        yield f"unassigned: {partition_seconds(row.unassigned_partition_ms)} partition-seconds"
    if row.downtime_partition_ms is not None:
        downtime = partition_seconds(row.downtime_partition_ms)
        yield f"downtime in rebalances (estimate, after the join): {downtime} partition-seconds"


def places_in_chart(drawn: Chart | None) -> dict[int, str]:
    """Return the place of a finding among those of its life -> the id of its first mark."""
    places: dict[int, str] = {}
    for mark in drawn.findings if drawn is not None else ():
        for place in mark.findings:
            places.setdefault(place, mark.anchor)
    return places


def _findings(
    life: LifeView, limits: Limits, places: Mapping[int, str], anchor: str
) -> TableView | None:
    """Return the findings, worst first; the time of each leads to its mark in the chart."""
    if not life.findings:
        return None
    columns: list[Column[tuple[int, FindingRow]]] = [
        Column("finding", lambda pair: pair[1].kind),
        Column("severity", lambda pair: pair[1].severity),
        Column(
            "start, UTC",
            lambda pair: Link(clock(pair[1].at_ms), places.get(pair[0])),
            Form.LINK,
        ),
        Column("duration", lambda pair: _duration(pair[1])),
        Column("generation", lambda pair: number(pair[1].generation), Form.NUMBER),
        Column("evidence", lambda pair: _evidence(pair[1]), Form.PROSE),
        Column("what to do", lambda pair: pair[1].what_to_do, Form.PROSE),
        Column("client", lambda pair: pair[1].leader_client_id or pair[1].client_id, Form.NAME),
    ]
    missing = len(life.findings) - limits.findings
    return table_view(
        columns,
        enumerate(life.findings[: limits.findings]),
        caption=count(len(life.findings), "finding"),
        omitted=f"{count(missing, 'more finding')} not shown." if missing > 0 else None,
        anchor=anchor,
        is_stacked=True,
    )


def _duration(row: FindingRow) -> str:
    lasted = duration((row.until_ms or row.at_ms) - row.at_ms or None)
    return f"{lasted}, first to last" if row.occurrences > 1 and lasted != NONE else lasted


def _evidence(row: FindingRow) -> str:
    places = sum(map(len, row.partitions.values()))
    more = repetition(row.occurrences, row.generations, len(row.members), places)
    return f"{row.evidence} ({more}; this is the worst)" if more else row.evidence


def _tables(
    life: LifeView, styles: Mapping[str, MemberStyle], limits: Limits
) -> Iterator[TableView]:
    if life.generations:
        yield _generations(life, limits)
    if life.members:
        yield _members(life, styles, limits)
    if life.assignments:
        yield _intervals(life, styles, limits)


Pair = tuple[GenerationRow | None, GenerationRow]
"""The generation before, and a generation."""


def _generations(life: LifeView, limits: Limits) -> TableView:
    columns: list[Column[Pair]] = [
        Column("generation", lambda pair: pair[1].generation, Form.NUMBER),
        Column("time, UTC", lambda pair: clock(pair[1].at_ms)),
        Column("state", lambda pair: pair[1].state, Form.NAME),
        Column("assignor", lambda pair: pair[1].protocol, Form.NAME),
        Column("leader", lambda pair: pair[1].leader_client_id, Form.NAME),
        Column("leader's client (guess)", lambda pair: pair[1].leader_guess, Form.NAME),
        Column("members", lambda pair: pair[1].member_count, Form.NUMBER),
        Column("joined", lambda pair: len(pair[1].joined), Form.NUMBER),
        Column("left", lambda pair: len(pair[1].left), Form.NUMBER),
        Column("moves", lambda pair: number(pair[1].moved), Form.NUMBER),
        Column(
            "moves to the best balance", lambda pair: number(pair[1].moved_minimum), Form.NUMBER
        ),
        Column("load per member, before → after", _loads),
        Column(
            "best possible maximum load", lambda pair: number(pair[1].load_max_optimum), Form.NUMBER
        ),
        Column("unassigned", lambda pair: number(pair[1].unassigned), Form.NUMBER),
        Column("pause", lambda pair: duration(pair[1].pause_ms)),
        Column("notes", lambda pair: "; ".join(pair[1].notes), Form.PROSE),
    ]
    pairs = list(zip([None, *life.generations], life.generations, strict=False))
    missing = len(pairs) - limits.generations
    return table_view(
        columns,
        pairs[-limits.generations :],
        caption="Generations",
        heading=f"Generations ({len(pairs):,})",
        omitted=f"The first {missing:,} generations are not shown." if missing > 0 else None,
    )


def _loads(pair: Pair) -> str:
    before, now = pair
    after = value_range(now.load_min, now.load_max) if now.member_count else NONE
    if before is None or not before.member_count:
        return f"{NONE} → {after}"
    return f"{value_range(before.load_min, before.load_max)} → {after}"


def _members(life: LifeView, styles: Mapping[str, MemberStyle], limits: Limits) -> TableView:
    columns: list[Column[MemberRow]] = [
        Column("member", lambda row: styles[row.member_id], Form.MEMBER),
        Column("client id", lambda row: row.client_id, Form.NAME),
        Column("host", lambda row: row.host, Form.NAME),
        Column("group instance id", lambda row: row.instance_id, Form.NAME),
        Column("rack", lambda row: row.rack_id, Form.NAME),
        Column("last generation", lambda row: row.generation, Form.NUMBER),
        Column("assigned partitions", lambda row: row.assigned_count, Form.NUMBER),
        Column(
            "subscription", lambda row: ", ".join(row.topics[:20]) or row.topic_regex, Form.PROSE
        ),
        Column("decoding notes", lambda row: "; ".join(row.notes), Form.PROSE),
        Column("member id", lambda row: row.member_id, Form.NAME),
    ]
    missing = len(life.members) - limits.members
    return table_view(
        columns,
        life.members[: limits.members],
        caption="Members",
        heading=f"Members ({len(life.members):,})",
        omitted=f"{count(missing, 'more member')} not shown." if missing > 0 else None,
    )


def _intervals(life: LifeView, styles: Mapping[str, MemberStyle], limits: Limits) -> TableView:
    """Return what the chart shows, as a table."""
    columns: list[Column[AssignmentRow]] = [
        Column("partition", lambda row: f"{row.topic}-{row.partition}", Form.NAME),
        Column("member", lambda row: styles[row.member_id].number, Form.NUMBER),
        Column("client id", lambda row: row.client_id, Form.NAME),
        Column("generation", lambda row: row.from_generation, Form.NUMBER),
        Column("start, UTC", lambda row: clock(row.from_ms)),
        Column("end, UTC", lambda row: clock(row.to_ms)),
        Column(
            "duration",
            lambda row: duration(None if row.to_ms is None else row.to_ms - row.from_ms),
        ),
        Column("then", lambda row: ENDINGS.get(row.ended_by, row.ended_by)),
        Column("notes", lambda row: "; ".join(interval_notes(row)), Form.PROSE),
    ]
    missing = len(life.assignments) - limits.intervals
    return table_view(
        columns,
        life.assignments[: limits.intervals],
        caption="Ownership intervals",
        heading=f"Ownership intervals: the chart as a table ({len(life.assignments):,})",
        omitted=(
            f"{count(missing, 'more interval')} not shown; --out writes all of them."
            if missing > 0
            else None
        ),
    )
