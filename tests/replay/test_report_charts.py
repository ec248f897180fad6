"""The charts of the report: every mark is drawn at its time, and marks can be distinguished."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.report import page
from assignors.replay.report.chart import LEGEND_MAX
from assignors.replay.report.time_scale import WIDTH_MIN, time_scale
from assignors.replay.tables.rows import Tables
from tests.replay.html_outline import Outline
from tests.replay.report_tables import one_group


def test_every_interval_has_a_bar_where_its_time_is() -> None:
    outline = Outline(page(one_group(), title="t"))
    bars = [one for one in outline.of("rect", "bar") if "data-member" in one]
    assert len(bars) == len(one_group().assignments)
    edges = [
        (float(bar["x"] or 0), float(bar["x"] or 0) + float(bar["width"] or 0)) for bar in bars
    ]
    first, second = edges[:4], edges[4:]
    # Two partitions, four generations: neighbours meet, and both rows agree.
    assert first == second
    for (_, end), (begin, _) in pairwise(first):
        assert end == pytest.approx(begin, abs=0.15)


def test_a_bar_says_who_when_and_what_came_after() -> None:
    titles = [said for tag, said in Outline(page(one_group(), title="t")).texts if tag == "title"]
    assert (
        "clicks-1: member 1, client-a at /10.0.0.1, generation 1, from 00:19:43.000 to "
        "00:19:53.000 (10.0 s), then assigned to another member"
    ) in titles
    assert any("another member owned it at the same time" in title for title in titles)
    assert any("some generations of this interval are not recorded" in title for title in titles)
    assert any(title.endswith("still owned at the end of the records") for title in titles)


def test_double_owned_and_uncertain_intervals_look_different() -> None:
    outline = Outline(page(one_group(), title="t"))
    rows = one_group().assignments
    assert len(outline.of("rect", "double")) == sum(row.is_double for row in rows) == 1
    assert len(outline.of("rect", "uncertain")) == sum(not row.is_certain for row in rows) == 2


def test_pauses_and_findings_are_marked() -> None:
    outline = Outline(page(one_group(), title="t"))
    pauses = [
        (float(one["x"] or 0), float(one["width"] or 0)) for one in outline.of("rect", "pause")
    ]
    begins = [float(one["x"] or 0) for one in outline.of("rect", "load")]
    assert len(pauses) == len(begins) == len(one_group().generations) == 4
    # The first began before the chart; half a second of ten is a twentieth of an interval.
    for (left, width), before, begin in zip(pauses[1:], begins, begins[1:], strict=False):
        assert left + width == pytest.approx(begin, abs=0.2)
        assert width == pytest.approx((begin - before) / 20, abs=0.2)
    assert len(outline.of("path", "finding")) == len(one_group().findings)
    titles = [text for tag, text in outline.texts if tag == "title"]
    assert any("rebalance-loop. evidence of rebalance-loop" in title for title in titles)


def test_unnecessary_moves_are_filled() -> None:
    outline = Outline(page(one_group(), title="t"))
    moved = [float(one["height"] or 0) for one in outline.of("rect", "moved")]
    filled = [float(one["height"] or 0) for one in outline.of("rect", "unnecessary")]
    # Two of two moved where one had to, in each generation but the first.
    assert len(moved) == len(filled) == 3
    assert filled == pytest.approx([height / 2 for height in moved], abs=0.1)


def test_loads_are_bands_from_the_smallest_to_the_largest() -> None:
    outline = Outline(page(one_group(), title="t"))
    heights = [float(one["height"] or 0) for one in outline.of("rect", "load")]
    assert heights[0] > 10 * heights[1]
    assert len(set(heights[1:])) == 1
    titles = [text for tag, text in outline.texts if tag == "title"]
    assert "generation 1: 0-2 partitions per member; best possible maximum load 1" in titles


def test_generations_of_one_time_are_drawn_as_one() -> None:
    tables = one_group()
    second = replace(tables.generations[1], at_ms=tables.generations[0].at_ms)
    changed = replace(tables, generations=(tables.generations[0], second, *tables.generations[2:]))
    labels = [text for tag, text in Outline(page(changed, title="t")).texts if tag == "text"]
    assert "1-2" in labels
    assert len(Outline(page(changed, title="t")).of("text", "generation")) == 3


times = st.lists(st.integers(0, 10**12), min_size=1, max_size=60, unique=True)


@given(times, st.integers(0, 10**12), st.lists(st.integers(0, 10**12), min_size=2, max_size=20))
def test_time_never_runs_backwards(starts: list[int], more: int, asked: list[int]) -> None:
    scale = time_scale(starts, end_ms=max(starts) + more)
    drawn = [scale.at(at_ms) for at_ms in sorted(asked)]
    assert drawn == sorted(drawn)
    assert drawn[0] >= 0
    assert drawn[-1] <= scale.width


@given(times, st.integers(1, 10**12))
def test_every_interval_can_be_seen_and_begins_where_it_is_drawn(
    starts: list[int], more: int
) -> None:
    scale = time_scale(starts, end_ms=max(starts) + more)
    assert len(scale.intervals) == len(starts)
    for interval in scale.intervals:
        assert interval.right - interval.left >= WIDTH_MIN - 1e-6
        assert scale.at(interval.from_ms) == pytest.approx(interval.left)
    for before, after in pairwise(scale.intervals):
        assert before.right == after.left


def contrast(first: str, second: str) -> float:
    """The contrast of two colours, after the WCAG's formula."""

    def luminance(colour: str) -> float:
        digits = colour.lstrip("#")
        digits = "".join(2 * d for d in digits) if len(digits) == 3 else digits
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        red, green, blue = (
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_has_contrast_in_light_and_dark() -> None:
    outline = Outline(page(one_group(), title="t"))
    (style,) = [text for tag, text in outline.texts if tag == "style"]
    themes = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    assert len(themes) == 2
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]+)", theme))
        for text in ("ink", "soft", "accent"):
            for ground in ("paper", "wash"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        for look in range(8):
            assert contrast("#111518", colours[f"m{look}"]) >= 4.5, look


def said_on(tables: Tables) -> list[str]:
    """All texts of the page of `tables`."""
    return [text for _, text in Outline(page(tables, title="t")).texts]


def test_a_group_without_members_has_nothing_to_draw() -> None:
    (row,) = one_group().groups
    bare = Tables(groups=(replace(row, kind="simple", downtime_partition_ms=None),))
    said = said_on(bare)
    assert "No members are recorded, so there is no chart." in said
    assert "no members, range" in said
    assert not any("downtime in rebalances (estimate, after the join)" in text for text in said)


def test_an_assignor_that_failed_has_its_error_in_the_table() -> None:
    failed = tuple(replace(row, error="ValueError: no") for row in one_group().outcomes)
    assert "error" in said_on(replace(one_group(), outcomes=failed))
    assert "ValueError: no" in said_on(replace(one_group(), outcomes=failed))
    assert "error" not in said_on(one_group())


def test_a_time_that_is_drawn_shorter_has_its_duration() -> None:
    tables = one_group(generation_count=60)
    late = replace(tables.generations[-1], at_ms=tables.generations[-1].at_ms + 86_400_000)
    changed = replace(tables, generations=(*tables.generations[:-1], late))
    cut = [text for text in said_on(changed) if text.startswith("// ")]
    assert cut == ["// 24 h 0 min //"]
    assert not [text for text in said_on(tables) if text.startswith("// ")]


def test_members_beyond_the_legend_are_counted() -> None:
    (first, *_) = one_group().assignments
    many = tuple(
        replace(first, partition=number, member_id=f"m{number}", client_id=f"c{number}")
        for number in range(LEGEND_MAX + 6)
    )
    tables = replace(one_group(), assignments=many, members=())
    said = said_on(tables)
    assert "and 6 more" in said
    assert len(Outline(page(tables, title="t")).of("button")) == LEGEND_MAX + 2  # two kinds above
    assert not any(text.startswith("Members (") for text in said)


def test_an_empty_generation_has_no_load() -> None:
    *others, last = one_group().generations
    empty = replace(last, member_count=0, load_min=0, load_max=0, load_max_optimum=None)
    outline = Outline(page(replace(one_group(), generations=(*others, empty)), title="t"))
    assert len(outline.of("rect", "load")) == len(others)
    assert len(outline.of("path", "best-load")) == len(others)


def test_a_load_whose_optimum_is_not_known_has_no_dashed_line() -> None:
    first, *others = one_group().generations
    tables = replace(
        one_group(), generations=(replace(first, load_max_optimum=None), *others), outcomes=()
    )
    outline = Outline(page(tables, title="t"))
    assert len(outline.of("rect", "load")) == len(others) + 1
    assert len(outline.of("path", "best-load")) == len(others)
    assert ("title", "generation 1: 0-2 partitions per member") in outline.texts


def test_a_chart_ends_when_the_last_member_goes() -> None:
    *others, last = one_group().generations
    empty = replace(last, member_count=0, load_max_optimum=None)
    held = tuple(row for row in one_group().assignments if row.to_ms is not None)
    tables = replace(one_group(), generations=(*others, empty), assignments=held)
    (row,) = tables.groups
    day_later = replace(tables, groups=(replace(row, to_ms=last.at_ms + 86_400_000),))
    widths = [
        [float(one["width"] or 0) for one in Outline(page(each, title="t")).of("rect", "bar")]
        for each in (tables, day_later)
    ]
    assert widths[0] == widths[1]


def test_without_generations_bars_are_drawn_all_the_same() -> None:
    outline = Outline(page(replace(one_group(), generations=()), title="t"))
    bars = [one for one in outline.of("rect", "bar") if "data-member" in one]
    assert len(bars) == len(one_group().assignments)
    assert not outline.of("rect", "load")


def test_a_range_of_days_and_times_beyond_the_calendar_are_printed() -> None:
    (row,) = one_group().groups
    odd = replace(row, from_ms=0, to_ms=10**18)
    assert any(
        "1970-01-01 00:00:00 to 1000000000000000000" in text
        for text in said_on(replace(one_group(), groups=(odd,)))
    )
