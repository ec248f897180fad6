"""The HTML of the report, read by an independent parser; `test_report_browser` opens the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from assignors.replay.engines.python import replay_records
from assignors.replay.history.model import Kind
from assignors.replay.report import DEFAULT_LIMITS, Limits, page
from assignors.replay.report.chart import ENDINGS
from assignors.replay.report.formats import KIND_NAMES
from assignors.replay.sample import incident
from assignors.replay.tables.rows import Tables
from tests.replay.html_outline import Outline
from tests.replay.report_tables import BEGIN_MS, joined, one_group

ROOT = Path(__file__).resolve().parents[2]


def texts(tables: Tables, title: str = "t", limits: Limits = DEFAULT_LIMITS) -> str:
    """All texts of the page, joined by spaces."""
    return Outline(page(tables, title=title, limits=limits)).text


def test_the_page_is_made_from_a_zipped_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "assignors.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for package in ("assignors", "wire"):
            for path in (ROOT / package).rglob("*"):
                if path.is_file() and "__pycache__" not in path.parts:
                    archive.write(path, path.relative_to(ROOT))
    code = """
import assignors
from assignors.replay.report import page
from assignors.replay.tables.rows import Tables
assert ".whl" in assignors.__file__, assignors.__file__
print(page(Tables(), title="zipped"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.strip() == page(Tables(), title="zipped").strip()


def test_the_same_tables_give_the_same_page_whatever_the_hash_seed() -> None:
    code = """
import hashlib
from assignors.replay.sample import incident
from assignors.replay.report import page
from assignors.replay.engines.python import replay_records
print(hashlib.sha256(page(replay_records(incident()), title="t").encode()).hexdigest())
"""
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_without_groups_there_is_a_page_that_says_so() -> None:
    said = texts(Tables())
    assert "No groups." in said
    assert "No findings in any group." in said


def test_a_column_that_is_empty_in_every_row_is_not_shown() -> None:
    tables = one_group()
    bare = replace(tables, members=tuple(replace(row, rack_id=None) for row in tables.members))
    for changed, has_rack in ((tables, True), (bare, False)):
        headers = [text for tag, text in Outline(page(changed, title="t")).texts if tag == "th"]
        assert ("rack" in headers) == has_rack


def test_a_topic_named_like_an_empty_cell_keeps_its_column() -> None:
    tables = one_group()
    members = tuple(replace(row, topics=("-",), topic_regex=None) for row in tables.members)
    outline = Outline(page(replace(tables, members=members), title="t"))
    assert ("th", "subscription") in outline.texts


def test_totals_are_those_of_the_tables() -> None:
    tables = replay_records(incident())
    outline = Outline(page(tables, title="t"))
    said = [text for tag, text in outline.texts if tag in {"dt", "dd"}]
    for label, value in (
        ("groups", len({row.group for row in tables.groups})),
        ("generations", len(tables.generations)),
        ("moves", sum(row.moved for row in tables.generations)),
        ("commits", sum(row.commit_count for row in tables.groups)),
        ("findings", len(tables.findings)),
    ):
        assert said[said.index(label) + 1] == f"{value:,}", label


def test_what_if_stands_beside_what_happened() -> None:
    said = [
        text for tag, text in Outline(page(one_group(), title="t")).texts if tag in {"bdi", "td"}
    ]
    happened = said.index("actual")
    assert said[happened + 1 : happened + 7] == ["31", "37", "0-2", "2", "1", "41.0"]
    tried = said.index("server/uniform")
    assert said[tried + 1 : tried + 7] == ["14", "13", "1-2", "0", "0", "13.0"]


def test_loads_are_shown_before_and_after_each_rebalance() -> None:
    said = [text for tag, text in Outline(page(one_group(), title="t")).texts if tag == "td"]
    assert [text for text in said if "→" in text] == ["- → 0-2", "0-2 → 1", "1 → 1", "1 → 1"]


def test_ten_thousand_groups_are_a_page_that_opens() -> None:
    (row,) = one_group().groups
    rows = tuple(replace(row, group=f"group-{number}") for number in range(10_000))
    text = page(replace(one_group("group-0"), groups=rows), title="t")
    assert len(text) < 9_000_000
    assert "8,000 groups not listed." in text


def test_bars_beside_figures_stay_in_their_drawing() -> None:
    even = tuple(replace(row, load_min=row.load_max, moved=0) for row in one_group().outcomes)
    for tables in (one_group(), replace(one_group(), outcomes=even)):
        outline = Outline(page(tables, title="t"))
        wide = {float(one["width"] or 0) for one in outline.of("svg", "inline-bar")}
        assert len(wide) == 1
        bars = [(float(one.get("x") or 0), one["width"]) for one in outline.of("rect", "amount")]
        assert len(bars) == 2 * 3 * 4  # in all groups and in this one, three rows of four
        for left, width in bars:
            assert left >= 0
            assert float(width or 0) > 0
            assert left + float(width or 0) <= max(wide) + 0.1


def test_findings_are_grouped_by_the_leader_that_caused_them() -> None:
    tables = one_group()
    blamed = tuple(
        replace(
            row,
            severity="low" if place else "critical",
            leader_id="m",
            leader_client_id=f"leader-{place}",
            leader_guess="librdkafka",
        )
        for place, row in enumerate(tables.findings)
    )
    outline = Outline(page(replace(tables, findings=blamed), title="t"))
    said = [text for tag, text in outline.texts if tag in {"bdi", "td"}]
    at = said.index("librdkafka")
    assert said[at + 1 : at + 4] == ["1", str(len(blamed) - 1), "1"]
    assert "leader-0, leader-1" in said[at + 5]
    assert "leader-0" in said, "the client to look at, in the findings of the group"
    assert "Findings by leader" not in texts(tables)


def test_what_if_is_summed_over_groups() -> None:
    tables = joined(one_group("a"), one_group("b"))
    said = [text for tag, text in Outline(page(tables, title="t")).texts if tag in {"bdi", "td"}]
    actual = [said[place + 1] for place, text in enumerate(said) if text == "actual"]
    assert sorted(actual) == ["31", "31", "62"]


def test_where_nothing_was_tried_there_is_no_what_if() -> None:
    assert "What if" not in texts(replace(one_group(), outcomes=()))


def test_five_hundred_groups_all_are_in_the_index_and_the_page_stays_small() -> None:
    tables = joined(
        *(one_group(f"group-{number:03}", generation_count=16) for number in range(500))
    )
    text = page(tables, title="t")
    outline = Outline(text)
    assert len(outline.of("details", "group")) == 500
    assert ["open" in one for one in outline.of("details", "group")] == [True] + 499 * [False]
    assert len(text) < 9_000_000
    said = " ".join(text for _, text in outline.texts)
    assert re.search(r"\d+ groups listed without charts and tables: the page has reached", said)
    assert "The charts and tables of this group are not shown" in said
    for number in (0, 250, 499):
        assert f"group-{number:03}" in said


def test_one_group_alone_is_open_and_shown_whatever_it_needs() -> None:
    outline = Outline(page(one_group(), title="t", limits=Limits(marks=0)))
    assert ["open" in one for one in outline.of("details", "group")] == [True]
    assert outline.of("rect", "bar")


@pytest.mark.parametrize(
    ("limits", "statement"),
    [
        (Limits(generations=3), "Not in the chart: the first 1 of 4 generations."),
        (
            Limits(partitions=1),
            "Not in the chart: 1 of 2 partitions, those that moved least often",
        ),
        (Limits(findings=1), "1 more finding not shown."),
        (Limits(members=1), "1 more member not shown."),
        (Limits(intervals=3), "5 more intervals not shown; --out writes all of them."),
    ],
)
def test_what_is_not_shown_is_counted(limits: Limits, statement: str) -> None:
    assert statement not in texts(one_group())
    assert statement in texts(one_group(), limits=limits)


def test_charts_come_before_tables_where_the_page_is_full() -> None:
    tables = joined(one_group("a"), one_group("b"))
    said = texts(tables, limits=Limits(marks=80))
    assert "1 group shown with charts, without tables." in said
    assert "The tables of this group are not shown" in said
    assert "charts and tables of this group are not shown" not in said
    assert "not shown" not in texts(tables)


def test_groups_that_are_not_listed_are_counted() -> None:
    tables = joined(one_group("a"), one_group("b"), one_group("c"))
    assert "2 groups not listed." in texts(tables, limits=Limits(groups=1))


def test_groups_with_most_findings_come_first() -> None:
    calm = replace(
        one_group("a"),
        findings=(),
        groups=tuple(replace(r, finding_count=0) for r in one_group("a").groups),
    )
    outline = Outline(page(joined(calm, one_group("b")), title="t"))
    found = [one["data-find"] or "" for one in outline.of("details", "group")]
    assert [name.split()[0] for name in found] == ["b", "a"]


def test_lives_of_one_name_are_one_group() -> None:
    second = one_group("a", number=2)
    tables = joined(
        one_group("a"), replace(second, groups=(replace(second.groups[0], kind="consumer"),))
    )
    said = texts(tables)
    assert len(Outline(page(tables, title="t")).of("details", "group")) == 1
    assert "classic → KIP-848" in said
    assert "Life 2 of 2: KIP-848, range" in said


def test_every_way_in_which_an_interval_ends_has_words() -> None:
    for reason in ("moved", "left", "withheld", "group-ended", "converted"):
        (first, *others) = one_group().assignments
        ended = (replace(first, ended_by=reason), *others)
        said = texts(replace(one_group(), assignments=ended))
        assert f"then {ENDINGS[reason]}" in said


def test_every_kind_is_explained() -> None:
    assert set(KIND_NAMES) == set(Kind)


def test_times_are_those_of_the_records() -> None:
    assert BEGIN_MS == 1_795_220_373_000
    assert "2026-11-21 00:19:33 to 00:20:23 UTC" in texts(one_group())
    (row,) = one_group().groups
    ends = {
        BEGIN_MS + 600_000: "2026-11-21 00:19:33 to 00:29:33 UTC",
        BEGIN_MS + 86_400_000: "2026-11-21 00:19:33 to 2026-11-22 00:19:33 UTC",
        None: "2026-11-21 00:19:33 to 00:20:23 UTC",
    }
    for to_ms, said in ends.items():
        assert said in texts(replace(one_group(), groups=(replace(row, to_ms=to_ms),)))
