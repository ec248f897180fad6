"""One finding a cause, worst first: what somebody reads who was woken up by it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields

import pytest

from assignors.replay.analysis.group_analysis import analysed_group
from assignors.replay.engines.python import replay_records
from assignors.replay.findings import FINDINGS, Selection, Severity, findings
from assignors.replay.findings.selection import EVERYTHING
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.history.fold import histories
from assignors.replay.settings import Settings
from assignors.replay.tables.rows import FindingRow
from tests.replay.findings import COOPERATIVE, found, kinds, lower, upper
from tests.replay.histories import Says, captured, classic

REAL = replay_records(captured("real"), Settings(selection=EVERYTHING)).findings

EARLY = (
    classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}, protocol=COOPERATIVE),
    classic(
        5_000,
        2,
        {"a": lower(owns={"t": (0, 1, 2, 3)}, generation=1), "b": upper()},
        protocol=COOPERATIVE,
    ),
)


def test_a_skewed_range_group_of_200_members_is_one_finding() -> None:
    """It gave 243: one for each member with too much or too little, and one for the group."""
    topics = [f"t{number}" for number in range(20)]
    plan = {
        f"m{number:03}": Says(
            topics=tuple(topics), gets={topic: (number,) for topic in topics if number < 150}
        )
        for number in range(200)
    }
    counts = dict.fromkeys(topics, 150)
    (row,) = found(classic(0, 1, plan), classic(90_000, 2, plan), counts=counts)
    assert (row.kind, row.severity, row.occurrences) == ("imbalance", "low", 1)
    assert len(row.members) == 200
    assert "50 members had less and 150 had more than in any balanced assignment" in row.evidence


def test_what_one_leader_does_again_and_again_is_one_finding_with_all_it_touched() -> None:
    back = classic(
        9_000,
        3,
        {
            "a": Says(gets={"t": (0, 1, 2, 3)}, owns={"t": (0, 1)}, generation=2),
            "b": Says(owns={"t": (2, 3)}, generation=2),
        },
        protocol=COOPERATIVE,
    )
    (row, *_) = found(*EARLY, back)
    assert (row.kind, row.severity, row.occurrences) == ("given-too-early", "critical", 4)
    assert (row.at_ms, row.last_ms, row.until_ms) == (5_000, 9_000, None)
    assert (row.generations, row.members) == ((2, 3), ("b", "a"))
    assert row.partitions == {"t": (2, 3)}
    assert row.count == 2
    assert "to the end of the records" in row.evidence, "the evidence of the one that lasts"


def test_findings_come_worst_first() -> None:
    ranks = {(row.group, row.life): [] for row in REAL}  # type: dict[tuple[str, int], list[int]]
    for row in REAL:
        ranks[row.group, row.life].append(list(FINDINGS).index(row.kind))
    assert all(listed == sorted(listed) for listed in ranks.values())
    assert any(len(set(listed)) > 2 for listed in ranks.values())


def test_kinds_are_listed_worst_first() -> None:
    severities = [known.severity for known in FINDINGS.values()]
    assert severities == sorted(severities, key=list(Severity).index)
    assert next(iter(FINDINGS)) == "double-ownership"
    notes = [kind for kind, known in FINDINGS.items() if known.severity is Severity.NOTE]
    assert {"client-layout", "classic-only"} <= {*notes}
    for kind, known in FINDINGS.items():
        for text in (known.meaning, known.how_sure, known.what_to_do, known.count):
            assert text, kind
            assert not text.endswith("."), kind


def test_every_threshold_decides_some_kind_and_no_kind_names_another() -> None:
    named = {name for kind in FINDINGS.values() for name in kind.thresholds}
    assert named == {field.name for field in fields(Thresholds)}


def test_a_row_says_what_to_do() -> None:
    for row in REAL:
        known = FINDINGS[row.kind]
        assert row.severity == known.severity
        unnamed = re.sub(r" \([^()]* at /127\.0\.0\.1[^()]*\)", "", row.what_to_do)
        assert unnamed == known.what_to_do


def test_the_normal_layouts_of_librdkafka_and_franz_go_are_notes() -> None:
    layouts = [row for row in REAL if "sticky-layout" in row.evidence]
    assert layouts
    assert {(row.kind, row.severity) for row in layouts} == {("client-layout", "note")}
    (history,) = [h for h in histories(captured("real")) if h.group == "shop.07-franz"]
    assert findings(analysed_group(history)) == []
    asked = findings(analysed_group(history), selection=EVERYTHING)
    assert kinds(asked) == ["client-layout"]
    assert len(asked[0].members) == asked[0].occurrences == 4


def test_what_repeats_in_a_life_is_one_row() -> None:
    """Causes of their own: odd bytes of each rule, unreadable records, libraries that led."""
    causes = Counter(
        (row.group, row.life, row.kind, row.leader_guess or row.leader_client_id)
        for row in REAL
        if row.kind not in {"odd-bytes", "client-layout", "unreadable"}
    )
    assert set(causes.values()) == {1}
    assert sum(row.occurrences for row in REAL) > len(REAL) + 20


def _kept(selection: Selection) -> list[FindingRow]:
    return list(replay_records(captured("real"), Settings(selection=selection)).findings)


@pytest.mark.parametrize("severity", Severity)
def test_a_severity_keeps_what_is_as_bad_or_worse(severity: Severity) -> None:
    wanted = list(Severity)[: list(Severity).index(severity) + 1]
    expected = [row for row in REAL if row.severity in wanted]
    assert _kept(Selection(min_severity=severity)) == expected


def test_kinds_keep_what_is_of_them() -> None:
    kinds_ = ("imbalance", "client-layout")
    kept = _kept(Selection(min_severity=Severity.NOTE, kinds=kinds_))
    assert kept == [row for row in REAL if row.kind in kinds_]


@pytest.mark.parametrize(
    ("since_ms", "until_ms", "occurrences"),
    [
        (None, None, 4),
        (5_000, None, 4),
        (8_999, 9_000, 2),
        (9_001, None, 2),
        (None, 5_000, 0),
        (None, 5_001, 2),
    ],
)
def test_a_time_keeps_what_lasted_into_it(
    since_ms: int | None, until_ms: int | None, occurrences: int
) -> None:
    """Two partitions are given too early at 5 s, and for good at 9 s."""
    plan = {"a": Says(gets={"t": (0, 1, 2, 3)}), "b": Says(gets={"t": (2, 3)})}
    entries = (
        classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)}), "b": Says()}),
        classic(5_000, 2, plan),
        classic(9_000, 3, {"a": lower(), "b": upper()}),
        classic(9_000, 4, plan),
    )
    selection = Selection(kinds=("double-ownership",), since_ms=since_ms, until_ms=until_ms)
    rows = found(*entries, selection=selection)
    assert sum(row.occurrences for row in rows) == occurrences
