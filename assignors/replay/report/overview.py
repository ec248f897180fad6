"""The top of the page: totals, findings by kind, what if over all groups, who led them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assignors.replay.analysis.reproduce import Share, shares
from assignors.replay.analysis.what_if import total
from assignors.replay.report.comparison import side_by_side
from assignors.replay.report.listing import Column, figure, name, prose, table, text, unfolding
from assignors.replay.report.markup import Markup, element, together
from assignors.replay.report.view_model import GroupView
from assignors.replay.report.wording import added, number, partition_seconds
from assignors.replay.tables.columns import ESTIMATED, NOT_RECORDED
from assignors.replay.tables.rows import AnomalyKind, Tables

MEANINGS: Mapping[str, str] = {
    AnomalyKind.DOUBLE_OWNERSHIP: "two members had one partition, by what they were given",
    AnomalyKind.GIVEN_TOO_EARLY: (
        "a partition got its next owner while the one before claimed it: both consumed until that "
        "one let go, and when it did is not on record"
    ),
    AnomalyKind.UNASSIGNED: "a partition that was asked for was with nobody, and not on its way",
    AnomalyKind.FOREIGN_TOPIC: "a member was given a topic it did not ask for",
    AnomalyKind.REBALANCE_LOOP: (
        "rebalance after rebalance, though nobody came, left or asked for something else"
    ),
    AnomalyKind.REBALANCE_STORM: "many generations in a short time",
    AnomalyKind.NEVER_CLAIMS: "a member never said what it owned",
    AnomalyKind.STARVED: "a member had less than a balanced assignment gives it",
    AnomalyKind.OVERLOADED: "a member had more than a balanced assignment gives it",
    AnomalyKind.IMBALANCE: "loads were further apart than they need be",
    AnomalyKind.NEEDLESS_MOVES: "more partitions changed hands than a balanced assignment needs",
    AnomalyKind.ODD_BYTES: "a client wrote what the protocol does not say",
    AnomalyKind.UNREADABLE: "a record, or what a member wrote, could not be read",
}
"""Kinds of findings in a sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _KindCount:
    kind: str
    findings: int
    groups: int


def totals(tables: Tables) -> Markup:
    """Return the figures of everything."""
    needed = [row.moved_minimum for row in tables.generations if row.moved_minimum is not None]
    facts = [
        ("groups", number(len({row.group for row in tables.groups})), ""),
        ("generations", number(sum(row.generation_count for row in tables.groups)), ""),
        ("members", number(len({(row.group, row.member_id) for row in tables.members})), ""),
        ("commits", number(sum(row.commit_count for row in tables.groups)), ""),
        (
            "moves",
            number(sum(row.moved for row in tables.groups)),
            f"{sum(needed):,} needed" if needed else "",
        ),
        (
            "held twice",
            partition_seconds(added(row.double_owned_ms for row in tables.groups)),
            "partition-s, on record",
        ),
        (
            "with nobody",
            partition_seconds(added(row.unassigned_partition_ms for row in tables.groups)),
            "partition-s, on record",
        ),
        (
            "down",
            partition_seconds(added(row.downtime_partition_ms for row in tables.groups)),
            "partition-s in rounds, estimate",
        ),
        ("findings", number(len(tables.anomalies)), ""),
    ]
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", label),
                element("dd", said, element("small", unit) if unit else None),
                class_="trouble" if label == "findings" and tables.anomalies else None,
            )
            for label, said, unit in facts
        ),
        class_="totals",
    )


def findings(listed: Sequence[GroupView], tables: Tables) -> Markup:
    """Return findings by kind; a kind is a button that shows its groups."""
    counts: dict[str, int] = {}
    for row in tables.anomalies:
        counts[row.kind] = counts.get(row.kind, 0) + 1
    if not counts:
        return _section("Findings", element("p", "None: no group had any trouble."))
    groups: dict[str, int] = {}
    for story in listed:
        for kind in story.kinds:
            groups[kind] = groups.get(kind, 0) + 1
    rows = [
        _KindCount(kind=kind, findings=many, groups=groups.get(kind, 0))
        for kind, many in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    columns: list[Column[_KindCount]] = [
        text(
            "finding",
            lambda row: element("button", row.kind, type="button", data_query=row.kind),
        ),
        figure("how many", lambda row: number(row.findings)),
        figure("in groups", lambda row: number(row.groups)),
        prose("what it means", lambda row: MEANINGS.get(row.kind)),
    ]
    return _section("Findings", table(columns, rows, caption="By kind", is_captioned=False))


def comparison(tables: Tables) -> Markup | None:
    """Return what if over all groups, where something was tried."""
    sums = list(total(tables.outcomes))
    if not sums:
        return None
    note = (
        "Loads are the widest of any generation, the gap is the worst. Downtime is an estimate: "
        f"{ESTIMATED['generations', 'downtime_partition_ms']}. What was tried takes the pause of "
        "the generation it replaces, in each of its rounds."
    )
    return _section(
        "What if",
        side_by_side(sums, caption="All groups together"),
        element("p", note, class_="quiet"),
    )


def leaders(tables: Tables) -> Markup | None:
    """Return whose plans Java's assignors make again, where they were asked."""
    rows = shares(tables.generations)
    if not rows:
        return None
    columns: list[Column[Share]] = [
        text("written by, a guess", lambda row: name(row.writer)),
        figure("plans", lambda row: number(row.plan_count)),
        figure("Java's bytes", lambda row: number(row.same_count)),
        figure("Java's partitions", lambda row: number(row.agreeing_count)),
    ]
    note = (
        "Leaders of classic groups, recognised by the form of their bytes; and how many of their "
        "plans Java's assignors make again from the same subscriptions: to the byte, or as far "
        "as who gets what."
    )
    return _section(
        "Leaders",
        table(columns, rows, caption="Plans by leader", is_captioned=False),
        element("p", note, class_="quiet"),
    )


def reading() -> Markup:
    """Return how to read the page: models of estimates, and what is not on record."""
    said = [
        element("dt", "The charts"),
        element(
            "dd",
            "A bar is the time in which a member held a partition; the number in it is the "
            "member's. A gap is time in which nobody had it. An outlined bar was held by two "
            "members at a time, a pale one spans generations that have no record. A grey band is "
            "a rebalance. Long spells without a rebalance are drawn shorter than they were, and "
            "say how long that was. Filled moves were not needed.",
        ),
    ]
    for facts, lead in ((ESTIMATED, "estimated"), (NOT_RECORDED, "not on record")):
        for (table_name, column), reason in facts.items():
            said.append(element("dt", element("code", f"{table_name}.{column}"), f" {lead}"))
            said.append(element("dd", reason))
    return element("footer", unfolding("How to read this page", element("dl", together(said))))


def _section(heading: str, *content: Markup) -> Markup:
    return element("section", element("h2", heading), *content)
