"""The page of a simulated scenario shows what the ledger knows, drawn as replay draws it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from assignors.ownership.intervals import ownerships
from assignors.replay.report.chart import chart
from assignors.replay.report.formats import clock
from assignors.replay.report.member_styles import member_styles
from assignors.replay.report.view_model import Limits
from assignors.simulation.page import simulation_page
from assignors.simulation.page.figures import differences
from assignors.simulation.page.life import life_of
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario import Action, GroupProtocol, Scenario, Verb
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.tables.rows import result_rows
from assignors.simulation.timed.tables.summary import summary_rows
from tests.replay.browser import opened
from tests.simulation.timed.groups import group, planned, with_members

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
HOSTILE = "</script><img src=x onerror=alert(1)>"


def run(name: str, protocol: GroupProtocol, seed: int = 0) -> tuple[Scenario, Played]:
    scenario = named(name, seed=seed, protocol=protocol)
    return scenario, simulate(scenario, keeps_history=True)


def page_of(
    name: str,
    *,
    seeds: int = 2,
    title: str = "two protocols",
    protocols: Sequence[GroupProtocol] = (CLASSIC, CONSUMER),
) -> str:
    rows = [
        {"scenario": name, "seed": seed, "protocol": protocol.value}
        for protocol in protocols
        for seed in range(seeds)
    ]
    runs = [run(name, CLASSIC), run(name, CONSUMER)]
    return simulation_page(runs, list(result_rows(rows)), title=title, text="First.\n\nThen\nmore.")


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
def test_every_interval_of_the_ledger_is_a_bar(protocol: GroupProtocol) -> None:
    scenario, played = run("scale-out", protocol)
    life = life_of(scenario, played)
    drawn = chart(life, Limits(partitions=100), member_styles(life), anchor="run-1")
    assert drawn is not None
    bars = [bar for row in drawn.partitions for bar in row.bars]
    assert len(bars) == len(ownerships(played.changes))
    assert drawn.words.time == "time"
    assert "(estimate)" not in "".join(pause.title for pause in drawn.pauses)


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
def test_moves_and_members_of_rebalances_are_those_of_the_run(protocol: GroupProtocol) -> None:
    scenario, played = run("rolling-restart", protocol)
    rows = life_of(scenario, played).generations
    counted = [row for row in rows if row.at_ms >= scenario.count_from_ms]
    assert sum(row.moved for row in counted) == played.result.moves == 200
    # Each restart is a leave and a join, and nothing else is.
    assert [len(row.left) for row in counted if row.left] == [1] * 10
    assert [len(row.joined) for row in counted if row.joined] == [1] * 10
    assert {row.member_count for row in counted} == {9, 10}


def test_members_are_counted_by_what_they_consume_and_the_chart_says_so() -> None:
    """Three members of two partitions: one joins all rounds, and consumes nothing."""
    scenario = group(count=3, partitions=2)
    life = life_of(scenario, simulate(scenario, keeps_history=True))
    drawn = chart(life, Limits(), member_styles(life), anchor="run-1")
    assert drawn is not None
    title = drawn.generations[-1].mark.title
    assert "2 consuming members, " in title
    assert "began" in title
    assert "joined" not in title


def test_a_static_member_that_returns_has_neither_left_nor_joined() -> None:
    scenario, played = run("rolling-restart-static", CONSUMER)
    rows = life_of(scenario, played).generations
    counted = [row for row in rows if row.at_ms >= scenario.count_from_ms]
    assert not [row for row in counted if row.joined or row.left or row.moved]


def test_a_member_that_was_away_between_two_rebalances_counts_with_the_second() -> None:
    static = with_members(group(count=3, partitions=6), metadata_age_ms=1000)
    members = tuple(replace(each, instance_id=each.name) for each in static.members)
    plan = [
        Action(at_ms=70_000, do=Verb.STOP, member="c1"),
        Action(at_ms=75_000, do=Verb.START, member="c1"),
        Action(at_ms=90_000, do=Verb.GROW, topic="orders", partitions=7),
    ]
    scenario = planned(replace(static, members=members), plan)
    rows = life_of(scenario, simulate(scenario, keeps_history=True)).generations
    assert [(row.member_count, row.partition_count) for row in rows[-2:]] == [(3, 6), (3, 7)]


def test_intervals_that_overlap_are_outlined_and_violations_are_findings() -> None:
    scenario, played = run("generation-from-user-data", CLASSIC)
    life = life_of(scenario, played)
    assert any(row.is_double for row in life.assignments)
    assert len(life.findings) == len(played.violations) > 0
    text = simulation_page([(scenario, played)], [], title="")
    said = re.sub(r"\s+", " ", text)
    first = played.violations[0]
    assert f"1 violation at {clock(first.at_us // 1000)}: {first.monitor}. {first.text}" in said
    assert f">{first.monitor}</td>" in said
    assert "Violation(" not in said
    # What a balanced assignment needs is not computed for each rebalance of a run.
    assert "arrow keys. The dashed line" in said
    targets = set(re.findall(r' href="#([^"]+)"', text))
    assert {"run-1-at-0", "run-1-finding-0", "run-1-drawing"} <= targets
    assert targets <= set(re.findall(r' id="([^"]+)"', text))


def test_protocols_stand_side_by_side_with_their_differences() -> None:
    page = page_of("crash")
    headings = re.findall(r"<h([1-6])[^>]*>(?:<bdi>)?([^<]*)", page)
    assert headings == [
        *(("1", "two protocols"), ("2", "Figures"), ("2", "Runs")),
        *(("3", "classic"), ("4", "Seed 0"), ("3", "consumer"), ("4", "Seed 0")),
    ]
    assert "Mean difference from classic over the same seeds" in page
    assert "<p>Then more.</p>" in page
    assert "Mean difference" not in page_of("crash", seeds=1)


def test_one_variant_has_no_bars_as_there_is_nothing_to_compare() -> None:
    bar = 'class="inline-bar"'
    assert bar in page_of("crash")
    assert bar not in page_of("crash", protocols=(CLASSIC,))


def test_figures_are_rows_and_variants_columns_in_the_order_asked_for() -> None:
    """A figure whose column lies beyond the edge of the window is not compared by anybody."""
    page = page_of("crash", protocols=(CONSUMER, CLASSIC))
    table = page.partition("<table")[2].partition("</table>")[0]
    assert re.findall(r"<th scope=\"col\"[^>]*>([^<]*)", table) == ["figure", "consumer", "classic"]
    figures = re.findall(r"<th scope=\"row\"[^>]*>([^<]*)", table)
    assert {"runs", "partitions moved", "settled"} <= {*figures}
    assert table.count("inline-bar") == 2 * len(figures)
    assert "Mean difference from consumer over the same seeds" in page


def test_backticks_are_code_and_what_is_in_them_is_no_markup() -> None:
    page = simulation_page([], [], title="t", text="Under `<b>` and <i> it waits.")
    assert "<p>Under <code>&lt;b&gt;</code> and &lt;i&gt; it waits.</p>" in page


def test_runs_with_errors_are_named() -> None:
    rows = list(result_rows([{"scenario": "crash"}, {"scenario": "?", "protocol": "x"}]))
    assert "x, seed None: no scenario" in simulation_page([], rows, title="")
    one = [{**rows[0], "variant": "classic"}]
    assert differences(summary_rows(one, by=(), between="variant")) is None


def test_the_policy_is_that_of_the_report_and_no_name_is_markup() -> None:
    scenario, played = run("crash", CLASSIC)
    first, *others = scenario.members
    hostile = replace(scenario, members=(replace(first, name=HOSTILE), *others), name=HOSTILE)
    page = simulation_page([(hostile, simulate(hostile, keeps_history=True))], [], title=HOSTILE)
    assert "default-src &#39;none&#39;" in page
    assert "<img" not in page
    assert played.result.moves == 10


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_is_silent(browser: Browser, tmp_path: Path, width: int) -> None:
    with opened(browser, page_of("crash"), tmp_path, width=width, scheme="light") as found:
        assert found.overflow <= 0
        assert (found.messages, found.requests) == ([], [])
        assert "10 moves" in found.text
