"""The page in a real browser: wide and narrow, light and dark, with and without scripts."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator

from assignors.registry import assignor_named
from assignors.replay.engines.python import replay_records
from assignors.replay.report import page
from assignors.replay.sample import incident
from assignors.replay.settings import Settings
from tests.replay.browser import Scheme, opened
from tests.replay.report_tables import HOSTILE, all_renamed, joined, one_group


@pytest.fixture(scope="module")
def report() -> str:
    """The report on the incident that is part of the package."""
    tried = (assignor_named("optimal/cooperative-sticky"), assignor_named("server/uniform"))
    return page(replay_records(incident(), Settings(assignors=tried)), title="incident")


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (390, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.deep),
        pytest.param(390, "light", marks=pytest.mark.deep),
    ],
)
def test_the_page_fits_without_console_messages_and_requests(
    browser: Browser, report: str, tmp_path: Path, width: int, scheme: Scheme
) -> None:
    with opened(browser, report, tmp_path, width=width, scheme=scheme) as found:
        assert found.page.title() == "incident"
        assert "2 consumer groups, 2026-11-21" in found.text
        for group in groups(found.page.locator("body"))[1:]:
            group.locator("summary").first.click()
        for more in found.page.locator(".collapsible > summary").all():
            more.click()
        assert "Life 5 of 5: classic, cooperative-sticky" in found.text
        assert found.overflow <= 0
        is_dark = found.page.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g)[0] < 100"
        )
        assert is_dark == (scheme == "dark")
        assert found.messages == []
        assert found.requests == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_chart_shows_every_interval_and_scrolls_within_itself(
    browser: Browser, report: str, tmp_path: Path, width: int
) -> None:
    count = len(
        [row for row in replay_records(incident()).assignments if row.group.startswith("chaos")]
    )
    with opened(browser, report, tmp_path, width=width) as found:
        group = groups(found.page.locator("body"))[0]
        bars = group.locator(".chart rect.bar")
        assert bars.count() == count > 100
        sizes = bars.evaluate_all(
            "all => all.map(e => e.getBoundingClientRect()).map(b => [b.width, b.height])"
        )
        assert all(wide >= 1 and high >= 10 for wide, high in sizes)
        looks = bars.evaluate_all("all => all.map(e => getComputedStyle(e).fill)")
        assert len(set(looks)) == 18, "members look alike"
        scroller = group.locator(".chart .scroll")
        inside, whole = scroller.evaluate("e => [e.clientWidth, e.scrollWidth]")
        assert inside < whole
        assert inside < width
        assert group.locator(".row-labels").is_visible()


def test_the_search_shows_the_groups_that_match(
    browser: Browser, report: str, tmp_path: Path
) -> None:
    with opened(browser, report, tmp_path) as found:
        search = found.page.get_by_label("Search")
        search.fill("MIGRATE classic")
        assert [group.is_visible() for group in groups(found.page.locator("body"))] == [False, True]
        assert found.page.locator("#found").inner_text() == "1 of 2 groups"
        search.fill("no such group")
        assert found.page.locator("#found").inner_text() == "0 of 2 groups"
        search.fill("")
        assert found.page.locator("#found").inner_text() == "2 groups"


def test_a_click_on_a_kind_of_finding_shows_its_groups(
    browser: Browser, report: str, tmp_path: Path
) -> None:
    with opened(browser, report, tmp_path) as found:
        found.page.get_by_role("button", name="rebalance-storm").click()
        assert [group.is_visible() for group in groups(found.page.locator("body"))] == [True, False]


def test_a_chart_is_read_with_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, page(one_group(), title="t"), tmp_path, width=390) as found:
        readout = found.page.locator(".readout")
        found.page.locator(".chart .scroll").focus()
        found.page.keyboard.press("ArrowRight")
        assert readout.inner_text().startswith("clicks-0: member 2, client-b at /10.0.0.1, gen")
        found.page.keyboard.press("ArrowRight")
        assert readout.inner_text().startswith("clicks-0: member 1")
        found.page.keyboard.press("ArrowDown")
        assert readout.inner_text().startswith("clicks-1: member 2")
        assert "another member owned it at the same time" in readout.inner_text()
        found.page.keyboard.press("End")
        assert "still owned at the end of the records" in readout.inner_text()
        assert found.page.locator(".current").is_visible()
        assert found.messages == []


def test_a_tap_shows_the_details_of_a_bar_and_the_legend_highlights_a_member(
    browser: Browser, tmp_path: Path
) -> None:
    with opened(browser, page(one_group(), title="t"), tmp_path) as found:
        found.page.locator(".chart rect.bar").nth(2).click()
        assert "clicks-0" in found.page.locator(".readout").inner_text()
        picked = found.page.get_by_role("button", name="client-a")
        picked.click()
        assert picked.get_attribute("aria-pressed") == "true"
        assert found.page.locator(".chart rect.faded").count() == 4
        picked.click()
        assert found.page.locator(".faded").count() == 0


def test_the_page_opens_at_the_chart_of_the_worst_group(
    browser: Browser, report: str, tmp_path: Path
) -> None:
    with opened(browser, report, tmp_path) as found:
        chart = found.page.locator(".chart").first
        box, view = chart.bounding_box(), found.page.viewport_size
        assert box is not None
        assert view is not None
        assert box["y"] + 200 < view["height"], "seen without scrolling"
        assert "chaos" in groups(found.page.locator("body"))[0].inner_text()
        assert groups(found.page.locator("body"))[1].get_attribute("open") is None


def test_an_address_opens_its_group(browser: Browser, report: str, tmp_path: Path) -> None:
    with opened(browser, report, tmp_path, fragment="#group-2") as found:
        second = groups(found.page.locator("body"))[1]
        assert second.get_attribute("open") is not None
        assert second.locator(".chart").first.is_visible()


def test_without_scripts_everything_but_the_search_is_there(
    browser: Browser, report: str, tmp_path: Path
) -> None:
    with opened(browser, report, tmp_path, is_scripted=False) as found:
        assert not found.page.get_by_label("Search").is_visible()
        group = groups(found.page.locator("body"))[0]
        assert group.locator(".chart rect.bar").first.is_visible()
        assert "ta-0: member 1" in (group.locator("rect.bar title").first.text_content() or "")


@pytest.mark.parametrize(
    "names",
    [HOSTILE, *(pytest.param((name,), marks=pytest.mark.deep, id=name) for name in HOSTILE)],
)
def test_hostile_names_do_nothing(browser: Browser, tmp_path: Path, names: tuple[str, ...]) -> None:
    tables = joined(*(all_renamed(one_group(), name) for name in names), one_group("calm"))
    with opened(browser, page(tables, title=" ".join(names)), tmp_path, width=390) as found:
        for group in groups(found.page.locator("body"))[1:]:
            group.locator("summary").first.click()
        for more in found.page.locator(".collapsible > summary").all():
            more.click()
        found.page.locator(".chart rect.bar").first.click()
        found.page.get_by_label("Search").fill(names[0][:8])
        assert found.page.evaluate("window.hacked") is None
        assert found.page.locator("img").count() == 0
        assert found.overflow <= 0
        assert found.messages == []
        assert found.requests == []


def test_headings_go_down_one_step_at_a_time(browser: Browser, tmp_path: Path) -> None:
    tables = joined(one_group("a"), one_group("b"))
    with opened(browser, page(tables, title="t"), tmp_path) as found:
        levels = found.page.evaluate(
            "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])"
        )
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        unnamed = found.page.evaluate(
            "[...document.querySelectorAll('button, input, [tabindex]')].filter(e => "
            "!(e.textContent || e.getAttribute('aria-label') || e.labels?.length)).length"
        )
        assert unnamed == 0


def groups(body: Locator) -> list[Locator]:
    """The groups of a page, in its order."""
    return body.locator("details.group").all()
