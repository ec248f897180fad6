"""What the page tells of one group: a line that is always there, and its lives behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assignors.replay.history.model import Kind
from assignors.replay.report.comparison import what_if
from assignors.replay.report.lanes import round_name
from assignors.replay.report.listing import (
    Column,
    figure,
    left_out,
    name,
    prose,
    table,
    text,
    unfolding,
)
from assignors.replay.report.markup import Markup, element, shortened, together
from assignors.replay.report.member_styles import MemberStyle, legend, member_styles, swatch
from assignors.replay.report.ownership import ENDINGS, Window, chart, window
from assignors.replay.report.view_model import GroupView, LifeView, Limits
from assignors.replay.report.wording import (
    NONE,
    added,
    clock,
    count,
    extent,
    number,
    partition_seconds,
    period,
    span,
)
from assignors.replay.tables.rows import AnomalyRow, AssignmentRow, GenerationRow, MemberRow

LEGEND_MAX = 24
"""Members in a legend."""

KINDS: Mapping[str, str] = {
    Kind.CLASSIC: "classic",
    Kind.CONSUMER: "KIP-848",
    Kind.SHARE: "share",
    Kind.STREAMS: "streams",
    Kind.SIMPLE: "no members",
}
"""Kinds of groups as people call them."""


def group(story: GroupView, limits: Limits, *, is_open: bool) -> Markup:
    """Return a group: its line, and behind it everything there is room for."""
    if story.is_told:
        told = together(_life(life, story, limits) for life in story.lives)
    else:
        told = together([_untold(story)])
    return element(
        "details",
        _line(story),
        element("div", told, class_="told", id=f"group-{story.number}"),
        class_="group",
        open=is_open,
        data_find=_found_by(story),
    )


def _line(story: GroupView) -> Markup:
    """Return the line of a group, which is a row of the index."""
    last = story.lives[-1].row
    rows = [life.row for life in story.lives]
    kinds = " → ".join(dict.fromkeys(KINDS.get(row.kind, row.kind) for row in rows))
    findings = story.anomaly_count
    cells = [
        element("h3", name(story.name)),
        _cell("kind", kinds),
        _cell("state", last.state),
        _cell("members, most", number(max(row.member_count_max for row in rows)), "number"),
        _cell("generations", number(sum(row.generation_count for row in rows)), "number"),
        _cell("moves", number(sum(row.moved for row in rows)), "number"),
        _cell(
            "held twice, partition-s",
            partition_seconds(added(row.double_owned_ms for row in rows)),
            "number",
        ),
        _cell("findings", number(findings), "number trouble" if findings else "number"),
    ]
    return element("summary", *cells)


def _cell(label: str, said: str, class_: str | None = None) -> Markup:
    """Return a cell of a group's line; its label is shown where the line is a card."""
    return element("span", element("span", label, class_="label"), said, class_=class_)


def _found_by(story: GroupView) -> str:
    """Return what a search looks through."""
    words = [shortened(story.name)]
    for life in story.lives:
        row = life.row
        words += [row.kind, KINDS.get(row.kind, ""), shortened(row.state, 80)]
        words.append(shortened(row.protocol or "", 80))
    return " ".join(dict.fromkeys([*words, *story.kinds])).lower()


def _untold(story: GroupView) -> Markup:
    kinds = ", ".join(story.kinds) or "none"
    return left_out(
        f"The page had no room for this group's charts and tables. Findings: {kinds}. "
        "Replay it alone with --group to see them."
    )


def _life(life: LifeView, story: GroupView, limits: Limits) -> Markup:
    """Return one life: facts, chart, findings, what if, tables."""
    row, people = life.row, member_styles(life)
    shown = window(life, limits)
    which = f"Life {row.life} of {len(story.lives)}: " if len(story.lives) > 1 else ""
    kind = KINDS.get(row.kind, row.kind)
    return element(
        "section",
        element("h4", f"{which}{kind}{f', {row.protocol}' if row.protocol else ''}"),
        element("p", _facts(life), class_="facts"),
        _drawing(life, shown, people),
        _findings(life, limits),
        what_if(life.outcomes, limit=limits.generations if story.has_tables else 0),
        _tables(life, people, limits)
        if story.has_tables
        else left_out("The page had no room for the tables of this group: --group has them."),
        class_="life",
    )


def _facts(life: LifeView) -> str:
    row = life.row
    missing = (
        f" ({row.generations_missing:,} more have no record)" if row.generations_missing else ""
    )
    facts = [
        period(row.from_ms, life.end_ms),
        row.state,
        count(row.generation_count, round_name(row.kind)) + missing,
        f"at most {count(row.member_count_max, 'member')}",
        count(row.moved, "move"),
        count(row.commit_count, "commit"),
        *([count(row.tombstone_count, "tombstone")] if row.tombstone_count else []),
    ]
    if row.double_owned_ms:
        facts.append(f"{partition_seconds(row.double_owned_ms)} partition-seconds held twice")
    if row.unassigned_partition_ms:
        nobody = partition_seconds(row.unassigned_partition_ms)
        facts.append(f"{nobody} partition-seconds with nobody")
    if row.downtime_partition_ms is not None:
        down = partition_seconds(row.downtime_partition_ms)
        facts.append(f"{down} partition-seconds down in rebalances (estimate)")
    return " · ".join(facts)


def _drawing(life: LifeView, shown: Window | None, people: Mapping[str, MemberStyle]) -> Markup:
    if shown is None:
        return left_out("No member is on record: nothing to draw.")
    drawn = sorted(
        (people[member_id] for member_id in shown.members), key=lambda person: person.number
    )
    return element(
        "div",
        _left_out(life, shown),
        chart(life, shown, people),
        legend(drawn[:LEGEND_MAX], len(drawn) - len(drawn[:LEGEND_MAX])) if drawn else None,
        class_="figure",
    )


def _left_out(life: LifeView, shown: Window) -> Markup | None:
    missing = []
    if shown.generations_left_out:
        missing.append(
            f"the first {shown.generations_left_out:,} of {len(life.generations):,} generations"
        )
    if shown.partitions_left_out:
        all_of_them = shown.partitions_left_out + len(shown.rows)
        missing.append(
            f"{shown.partitions_left_out:,} of {all_of_them:,} partitions, "
            "those that changed hands least"
        )
    return left_out(f"Not in the chart: {'; '.join(missing)}.") if missing else None


def _findings(life: LifeView, limits: Limits) -> Markup | None:
    if not life.anomalies:
        return element("p", "No findings.", class_="quiet")
    columns: list[Column[AnomalyRow]] = [
        text("finding", lambda row: row.kind),
        text("from, UTC", lambda row: clock(row.at_ms)),
        text(
            "for",
            lambda row: span((row.until_ms or row.at_ms) - row.at_ms or None),
        ),
        figure("generation", lambda row: number(row.generation)),
        prose("evidence", lambda row: row.evidence),
        text("client", lambda row: name(row.client_id)),
    ]
    shown = life.anomalies[: limits.findings]
    missing = len(life.anomalies) - len(shown)
    return together(
        [
            table(columns, shown, caption=count(len(life.anomalies), "finding")),
            left_out(f"{missing:,} more findings are left out.") if missing else None,
        ]
    )


def _tables(life: LifeView, people: Mapping[str, MemberStyle], limits: Limits) -> Markup:
    return together(
        [
            _generations(life, limits),
            _members(life, people, limits),
            _intervals(life, people, limits),
        ]
    )


Pair = tuple[GenerationRow | None, GenerationRow]
"""A generation behind the one before it."""


def _generations(life: LifeView, limits: Limits) -> Markup | None:
    if not life.generations:
        return None
    columns: list[Column[Pair]] = [
        figure("generation", lambda pair: pair[1].generation),
        text("at, UTC", lambda pair: clock(pair[1].at_ms)),
        text("state", lambda pair: name(pair[1].state)),
        text("assignor", lambda pair: name(pair[1].protocol)),
        text("leader", lambda pair: name(pair[1].leader_client_id)),
        text("looks like", lambda pair: name(pair[1].leader_guess)),
        figure("members", lambda pair: pair[1].member_count),
        figure("joined", lambda pair: len(pair[1].joined)),
        figure("left", lambda pair: len(pair[1].left)),
        figure("moved", lambda pair: number(pair[1].moved)),
        figure("needed", lambda pair: number(pair[1].moved_minimum)),
        text("loads, before → after", _loads),
        figure("best most", lambda pair: number(pair[1].load_max_optimum)),
        figure("unassigned", lambda pair: number(pair[1].unassigned)),
        text("pause", lambda pair: span(pair[1].pause_ms)),
        prose("notes", lambda pair: "; ".join(pair[1].notes)),
    ]
    paired = list(zip([None, *life.generations], life.generations, strict=False))
    shown = paired[-limits.generations :]
    missing = len(paired) - len(shown)
    return unfolding(
        f"Generations ({len(paired):,})",
        left_out(f"The first {missing:,} are left out.") if missing else None,
        table(columns, shown, caption="Generations", is_captioned=False),
    )


def _loads(pair: Pair) -> str:
    before, now = pair
    after = extent(now.load_min, now.load_max) if now.member_count else NONE
    if before is None or not before.member_count:
        return f"{NONE} → {after}"
    return f"{extent(before.load_min, before.load_max)} → {after}"


def _members(life: LifeView, people: Mapping[str, MemberStyle], limits: Limits) -> Markup | None:
    if not life.members:
        return None
    columns: list[Column[MemberRow]] = [
        text("member", lambda row: swatch(people[row.member_id])),
        text("client id", lambda row: name(row.client_id)),
        text("host", lambda row: name(row.host)),
        text("instance", lambda row: name(row.instance_id)),
        text("rack", lambda row: name(row.rack_id)),
        figure("last generation", lambda row: row.generation),
        figure("partitions in it", lambda row: row.assigned_count),
        prose("asks for", lambda row: ", ".join(row.topics[:20]) or row.topic_regex),
        prose("odd bytes", lambda row: "; ".join(row.notes)),
        text("member id", lambda row: name(row.member_id)),
    ]
    shown = life.members[: limits.members]
    missing = len(life.members) - len(shown)
    return unfolding(
        f"Members ({len(life.members):,})",
        table(columns, shown, caption="Members", is_captioned=False),
        left_out(f"{missing:,} more members are left out.") if missing else None,
    )


def _intervals(life: LifeView, people: Mapping[str, MemberStyle], limits: Limits) -> Markup | None:
    """Return what the chart shows, in words."""
    if not life.assignments:
        return None
    columns: list[Column[AssignmentRow]] = [
        text("partition", lambda row: name(f"{row.topic}-{row.partition}")),
        figure("member", lambda row: people[row.member_id].number),
        text("client id", lambda row: name(row.client_id)),
        figure("generation", lambda row: row.from_generation),
        text("from, UTC", lambda row: clock(row.from_ms)),
        text("to, UTC", lambda row: clock(row.to_ms)),
        text("for", lambda row: span(None if row.to_ms is None else row.to_ms - row.from_ms)),
        text("then", lambda row: ENDINGS.get(row.ended_by, row.ended_by)),
        prose("mind", lambda row: "; ".join(_mind(row))),
    ]
    shown = life.assignments[: limits.intervals]
    missing = len(life.assignments) - len(shown)
    return unfolding(
        f"Who held what, as a table ({len(life.assignments):,})",
        table(columns, shown, caption="Who held what", is_captioned=False),
        left_out(f"{missing:,} more intervals are left out; --out has all.") if missing else None,
    )


def _mind(row: AssignmentRow) -> Iterator[str]:
    if row.is_double:
        yield "held twice"
    if not row.is_certain:
        yield "generations are missing in between"
