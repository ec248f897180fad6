"""The page, read by a parser that knows nothing of it; `test_report_browser` opens it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assignors.replay.engines.python import replay
from assignors.replay.history.model import Kind
from assignors.replay.report import ROOM, Limits, page
from assignors.replay.report.details import KINDS
from assignors.replay.report.markup import visible
from assignors.replay.report.overview import MEANINGS
from assignors.replay.sample import incident
from assignors.replay.tables.rows import AnomalyKind, Tables
from tests.replay.reports import BEGIN_MS, HOSTILE, Outline, all_renamed, life, together

ROOT = Path(__file__).resolve().parents[2]

names = st.text(
    st.one_of(st.characters(), st.sampled_from("<>&\"'/!-=`{}\\\0\u202e\ud800")),
    min_size=1,
    max_size=18,
)
"""Short enough not to be cut: what is cut gets the whole as a hint, which is one attribute more."""


def texts(tables: Tables, title: str = "t", limits: Limits = ROOM) -> str:
    """All texts of a page, one after another."""
    found = Outline(page(tables, title=title, limits=limits)).texts
    return " ".join(text for _, text in found)


@given(names)
def test_no_name_changes_what_a_page_is_made_of(name: str) -> None:
    assume(len(visible(name)) <= 18)
    plain = Outline(page(life(), title="t"))
    renamed = Outline(page(all_renamed(life(), name), title=name))
    assert not renamed.faults
    assert renamed.shape == plain.shape


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_and_nothing_else(name: str) -> None:
    text = page(all_renamed(life(), name), title=name)
    outline = Outline(text)
    assert not outline.faults
    assert len(outline.of("script")) == len(outline.of("style")) == 1
    assert not outline.of("img")
    assert not [
        attribute
        for _, attributes in outline.elements
        for attribute in attributes
        if attribute.startswith("on")
    ]
    for where in ("h1", "title", "bdi", "text", "td"):
        assert any(
            visible(name)[:12] in said for tag, said in outline.texts if tag in {where, "bdi"}
        )
    text.encode("utf-8")


@given(names)
def test_every_name_can_be_read(name: str) -> None:
    said = texts(all_renamed(life(), name), title=name)
    assert visible(name).strip() in said


def test_what_cannot_be_seen_is_spelled_out() -> None:
    said = texts(life("a\x1b[2J\u202eb\u200b\ud800"))
    assert r"a\x1b[2J\u202eb\u200b\ud800" in said


def test_a_name_of_any_length_takes_little_room() -> None:
    short, long = (page(all_renamed(life(), "x" * n), title="t") for n in (1_000, 100_000))
    assert len(long) == len(short) < 300_000


def test_nothing_is_asked_of_a_network() -> None:
    text = page(together(life(), life("b")), title="t")
    for _, attributes in Outline(text).elements:
        for name in ("src", "href", "action", "xlink:href", "srcset"):
            assert attributes.get(name) in {None, "data:,"}
    assert not re.findall(r"https?:|@import|url\((?!#look-\d+\))|fetch\(|XMLHttp|import\(", text)


def test_the_policy_allows_our_style_and_our_script_alone() -> None:
    outline = Outline(page(life(), title="t"))
    policy = next(
        attributes["content"]
        for attributes in outline.of("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for element in ("style", "script"):
        (code,) = [text for tag, text in outline.texts if tag == element]
        digest = b64encode(sha256(code.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy
    assert not [attributes for _, attributes in outline.elements if "style" in attributes]


def test_the_same_tables_give_the_same_page_whatever_the_hash_seed() -> None:
    code = """
import hashlib
from assignors.replay.sample import incident
from assignors.replay.report import page
from assignors.replay.engines.python import replay
print(hashlib.sha256(page(replay(incident()), title="t").encode()).hexdigest())
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
    assert "no group had any trouble" in said


def test_a_column_without_anything_in_it_is_left_out() -> None:
    tables = life()
    bare = replace(tables, members=tuple(replace(row, rack_id=None) for row in tables.members))
    for changed, has_rack in ((tables, True), (bare, False)):
        headers = [text for tag, text in Outline(page(changed, title="t")).texts if tag == "th"]
        assert ("rack" in headers) == has_rack


def test_a_topic_may_be_called_like_what_stands_for_nothing() -> None:
    tables = life()
    members = tuple(replace(row, topics=("-",), topic_regex=None) for row in tables.members)
    outline = Outline(page(replace(tables, members=members), title="t"))
    assert ("th", "asks for") in outline.texts


def test_totals_are_those_of_the_tables() -> None:
    tables = replay(incident())
    outline = Outline(page(tables, title="t"))
    said = [text for tag, text in outline.texts if tag in {"dt", "dd"}]
    for label, value in (
        ("groups", len({row.group for row in tables.groups})),
        ("generations", len(tables.generations)),
        ("moves", sum(row.moved for row in tables.generations)),
        ("commits", sum(row.commit_count for row in tables.groups)),
        ("findings", len(tables.anomalies)),
    ):
        assert said[said.index(label) + 1] == f"{value:,}", label


def test_what_if_stands_beside_what_happened() -> None:
    said = [text for tag, text in Outline(page(life(), title="t")).texts if tag in {"bdi", "td"}]
    happened = said.index("what happened")
    assert said[happened + 1 : happened + 7] == ["31", "37", "0-2", "2", "1", "41.0"]
    tried = said.index("server/uniform")
    assert said[tried + 1 : tried + 7] == ["14", "13", "1-2", "0", "0", "13.0"]


def test_loads_are_told_before_and_after_each_rebalance() -> None:
    said = [text for tag, text in Outline(page(life(), title="t")).texts if tag == "td"]
    assert [text for text in said if "→" in text] == ["- → 0-2", "0-2 → 1", "1 → 1", "1 → 1"]


def test_ten_thousand_groups_are_a_page_that_opens() -> None:
    (row,) = life().groups
    rows = tuple(replace(row, group=f"group-{number}") for number in range(10_000))
    text = page(replace(life("group-0"), groups=rows), title="t")
    assert len(text) < 9_000_000
    assert "8,000 groups are left out altogether." in text


def test_bars_beside_figures_stay_in_their_drawing() -> None:
    even = tuple(replace(row, load_min=row.load_max, moved=0) for row in life().outcomes)
    for tables in (life(), replace(life(), outcomes=even)):
        outline = Outline(page(tables, title="t"))
        wide = {float(one["width"] or 0) for one in outline.of("svg", "beside")}
        assert len(wide) == 1
        bars = [(float(one.get("x") or 0), one["width"]) for one in outline.of("rect", "amount")]
        assert len(bars) == 2 * 3 * 4  # in all groups and in this one, three rows of four
        for left, width in bars:
            assert left >= 0
            assert float(width or 0) > 0
            assert left + float(width or 0) <= max(wide) + 0.1


def test_leaders_are_told_with_what_java_makes_again() -> None:
    outline = Outline(page(life(generation_count=8), title="t"))
    said = [text for tag, text in outline.texts if tag in {"bdi", "td"}]
    assert said[said.index("java") : said.index("java") + 4] == ["java", "6", "2", "4"]
    none = replace(life(), generations=())
    assert "Java's bytes" in texts(life())
    assert "Java's bytes" not in texts(none)


def test_what_if_is_summed_over_groups() -> None:
    tables = together(life("a"), life("b"))
    said = [text for tag, text in Outline(page(tables, title="t")).texts if tag in {"bdi", "td"}]
    assert said[said.index("what happened") + 1] == "62"


def test_where_nothing_was_tried_there_is_no_what_if() -> None:
    assert "What if" not in texts(replace(life(), outcomes=()))


def test_five_hundred_groups_all_have_a_line_and_the_page_stays_small() -> None:
    tables = together(*(life(f"group-{number:03}", generation_count=16) for number in range(500)))
    text = page(tables, title="t")
    outline = Outline(text)
    assert len(outline.of("details", "group")) == 500
    assert not [one for one in outline.of("details") if "open" in one]
    assert len(text) < 9_000_000
    said = " ".join(text for _, text in outline.texts)
    assert re.search(r"Of \d+ groups there is no more than a line: the page is full\.", said)
    assert "The page had no room for this group's charts and tables" in said
    for number in (0, 250, 499):
        assert f"group-{number:03}" in said


def test_one_group_alone_is_open_and_told_whatever_it_needs() -> None:
    outline = Outline(page(life(), title="t", limits=Limits(marks=0)))
    assert ["open" in one for one in outline.of("details", "group")] == [True]
    assert outline.of("rect", "bar")


@pytest.mark.parametrize(
    ("limits", "statement"),
    [
        (Limits(generations=3), "Not in the chart: the first 1 of 4 generations."),
        (
            Limits(partitions=1),
            "Not in the chart: 1 of 2 partitions, those that changed hands least",
        ),
        (Limits(findings=1), "1 more findings are left out."),
        (Limits(members=1), "1 more members are left out."),
        (Limits(intervals=3), "5 more intervals are left out; --out has all."),
    ],
)
def test_what_is_left_out_is_said(limits: Limits, statement: str) -> None:
    assert statement not in texts(life())
    assert statement in texts(life(), limits=limits)


def test_groups_that_are_left_out_are_counted() -> None:
    tables = together(life("a"), life("b"), life("c"))
    assert "2 groups are left out altogether." in texts(tables, limits=Limits(groups=1))


def test_groups_with_most_findings_come_first() -> None:
    calm = replace(
        life("a"), anomalies=(), groups=tuple(replace(r, anomaly_count=0) for r in life("a").groups)
    )
    outline = Outline(page(together(calm, life("b")), title="t"))
    found = [one["data-find"] or "" for one in outline.of("details", "group")]
    assert [name.split()[0] for name in found] == ["b", "a"]


def test_lives_of_one_name_are_one_group() -> None:
    second = life("a", number=2)
    tables = together(
        life("a"), replace(second, groups=(replace(second.groups[0], kind="consumer"),))
    )
    said = texts(tables)
    assert len(Outline(page(tables, title="t")).of("details", "group")) == 1
    assert "classic → KIP-848" in said
    assert "Life 2 of 2: KIP-848, range" in said


def test_every_kind_is_explained() -> None:
    assert set(MEANINGS) == set(AnomalyKind)
    assert set(KINDS) == set(Kind)


def test_times_are_those_of_the_records() -> None:
    assert BEGIN_MS == 1_795_220_373_000
    assert "2026-11-21 00:19:33 to 00:20:23 UTC" in texts(life())
    (row,) = life().groups
    ends = {
        BEGIN_MS + 600_000: "2026-11-21 00:19:33 to 00:29:33 UTC",
        BEGIN_MS + 86_400_000: "2026-11-21 00:19:33 to 2026-11-22 00:19:33 UTC",
        None: "2026-11-21 00:19:33 to 00:20:23 UTC",
    }
    for to_ms, said in ends.items():
        assert said in texts(replace(life(), groups=(replace(row, to_ms=to_ms),)))
