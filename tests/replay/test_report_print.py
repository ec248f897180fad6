"""The page on paper, on a phone, and from a finding to its place in the chart and back."""

from __future__ import annotations

import re
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from unicodedata import normalize

import pytest
from playwright.sync_api import Browser, Locator
from pypdf import PdfReader

from assignors.registry import assignor_named
from assignors.replay.engines.python import replay_records
from assignors.replay.report import page
from assignors.replay.report.chart import STRIP_OVERLAP, strips
from assignors.replay.sample import incident
from assignors.replay.settings import Settings
from tests.replay.browser import Opened, opened
from tests.replay.report_tables import joined, one_group

A4 = {"portrait": (595, 842), "landscape": (842, 595)}
"""Points."""


@pytest.fixture(scope="module")
def report() -> str:
    """The report on the incident that is part of the package."""
    return page(
        replay_records(incident(), Settings(assignors=(assignor_named("optimal/sticky"),))),
        title="incident",
    )


def printed(found: Opened, *, is_landscape: bool) -> PdfReader:
    """What a reader of the page gets on paper."""
    return PdfReader(BytesIO(found.page.pdf(format="A4", landscape=is_landscape)))


def words_of(reader: PdfReader) -> list[tuple[str, float, float, int]]:
    """The words of a PDF: text, and where it begins in points, and on which page."""
    found: list[tuple[str, float, float, int]] = []
    for number, sheet in enumerate(reader.pages):

        def visit(text: str, cm: list[float], tm: list[float], *_: object) -> None:
            x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
            y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
            if text.strip():
                found.append((text.strip(), x, y, number))  # noqa: B023 - called in this turn

        sheet.extract_text(visitor_text=visit)
    return found


@pytest.mark.parametrize(
    "orientation", ["portrait", pytest.param("landscape", marks=pytest.mark.deep)]
)
def test_on_paper_nothing_of_the_page_is_lost(
    browser: Browser, report: str, tmp_path: Path, orientation: str
) -> None:
    """A PDF lost what the reader would have scrolled to: half of the chart."""
    width, height = A4[orientation]
    tables = replay_records(incident())
    with opened(browser, report, tmp_path) as found:
        reader = printed(found, is_landscape=orientation == "landscape")
    words = words_of(reader)
    for word, x, y, _ in words:
        assert 0 < x < width, word
        assert 0 < y < height, word
    # Letters that a font joins, as fi, are one character in the PDF.
    text = normalize("NFKC", re.sub(r"\s+", "", "".join(word for word, *_ in words)))
    for row in tables.generations:
        assert f"{row.at_ms // 1000 % 60:02d}.{row.at_ms % 1000:03d}" in text
    for finding in tables.findings:
        assert re.sub(r"\s+", "", finding.evidence) in text
        assert re.sub(r"[\s`]+", "", finding.what_to_do) in text
    for member in {row.member_id for row in tables.members}:
        assert member in text
    for topic in {row.topic for row in tables.assignments}:
        assert f"{topic}-0" in text
    assert "Howtoreadthispage" in text
    assert "Pointatabar" not in text


def test_each_bar_of_a_chart_is_on_paper(browser: Browser, report: str, tmp_path: Path) -> None:
    with opened(browser, report, tmp_path, width=718) as found:
        found.page.emulate_media(media="print")
        found.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        chart = found.page.locator(".figure").first
        assert not chart.locator(".chart").is_visible()
        bars = chart.locator("rect.bar").evaluate_all(
            "all => all.filter(e => e.dataset.member)"
            ".map(e => [+e.getAttribute('x'), +e.getAttribute('width')])"
        )
        views = chart.locator(".strip > svg").evaluate_all(
            "all => all.map(e => e.getAttribute('viewBox').split(' ').map(Number))"
        )
        covered = [(left, left + width) for left, _, width, _ in views]
        assert covered[0][0] == 0
        assert all(after[0] < before[1] for before, after in pairwise(covered))
        assert max(left + width for left, width in bars) <= covered[-1][1]
        boxes = chart.locator(".strip").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect()).map(b => [b.left, b.right, b.height])"
        )
        assert len(boxes) == len(views) > 1
        assert all(left >= 0 and right <= 718 and height > 300 for left, right, height in boxes)
        assert found.overflow <= 0


@pytest.mark.parametrize("width", [1, 57, 600, 640, 641, 992, 3440])
def test_strips_cover_a_chart_and_share_what_one_would_cut(width: int) -> None:
    found = list(strips(width))
    assert found[0].left == 0
    assert found[-1].left + found[-1].width >= width
    for before, after in pairwise(found):
        assert before.left + before.width - after.left == STRIP_OVERLAP


def test_an_open_group_is_printed_alone_and_the_page_is_as_before(
    browser: Browser, report: str, tmp_path: Path
) -> None:
    with opened(browser, report, tmp_path) as found:
        found.page.locator("details.group > summary").first.click()
        second = found.page.locator("details.group").nth(1)
        second.locator("summary").first.click()
        text = "".join(sheet.extract_text() for sheet in printed(found, is_landscape=False).pages)
        assert "Life 5 of 5" in text
        assert "franz.1-" not in text
        assert found.page.locator("details[open]").count() == 1


def test_dark_readers_print_on_white(browser: Browser, report: str, tmp_path: Path) -> None:
    with opened(browser, report, tmp_path, scheme="dark") as found:
        found.page.emulate_media(media="print", color_scheme="dark")
        colour = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [320, pytest.param(360, marks=pytest.mark.deep)])
def test_on_a_phone_the_page_does_not_scroll_sideways_and_findings_are_read_whole(
    browser: Browser, report: str, tmp_path: Path, width: int
) -> None:
    with opened(browser, report, tmp_path, width=width) as found:
        for details in found.page.locator("summary").all():
            if details.is_visible() and details.locator("..").get_attribute("open") is None:
                details.click()
        assert found.overflow <= 0
        for table in found.page.locator("table.stacked").all():
            inside, whole = table.locator("xpath=..").evaluate(
                "e => [e.clientWidth, e.scrollWidth]"
            )
            assert whole <= inside <= width
            labels = table.locator("td").evaluate_all(
                "all => all.map(e => getComputedStyle(e, '::before').content)"
            )
            assert {'"evidence: "', '"meaning: "', '"client ids: "'} & set(labels)
        small = found.page.locator("td, p, dd, h3").evaluate_all(
            "all => all.filter(e => e.offsetParent)"
            ".filter(e => parseFloat(getComputedStyle(e).fontSize) < 11)"
        )
        assert small == []
        heights = found.page.locator(".legend button").evaluate_all(
            "all => all.filter(e => e.offsetParent).map(e => e.offsetHeight)"
        )
        assert heights
        assert min(heights) >= FINGER_PX
        moved = found.page.locator(".scroll:has(> table:not(.stacked))").evaluate_all(ROWS_MOVED)
        assert moved
        assert set(moved) == {0}, "the name of a row stays in sight"


FINGER_PX = 24
"""The smallest target that WCAG 2.2 (AA) asks for."""

ROWS_MOVED = """all => all.filter(e => e.offsetParent && e.scrollWidth > e.clientWidth).map(e => {
  const first = e.querySelector("tbody > tr > *"), before = first.getBoundingClientRect().left;
  e.scrollLeft = 100;
  return first.getBoundingClientRect().left - before;
})"""


def links(found: Opened) -> Locator:
    """The links from the findings of the first group to its chart."""
    return found.page.locator("details.group").first.locator("table.stacked a")


@pytest.mark.parametrize("width", [1280, 360])
def test_a_finding_leads_to_its_mark_in_the_chart_and_back(
    browser: Browser, report: str, tmp_path: Path, width: int
) -> None:
    with opened(browser, report, tmp_path, width=width) as found:
        count = len([r for r in replay_records(incident()).findings if r.group.startswith("chaos")])
        assert links(found).count() == count > 3
        for number in range(count):
            links(found).nth(number).click()
            mark = found.page.locator("a.place:target")
            box, view = mark.bounding_box(), found.page.viewport_size
            assert box is not None
            assert view is not None
            assert 0 <= box["x"] <= view["width"], "scrolled into sight"
            assert 0 <= box["y"] <= view["height"]
            assert mark.evaluate("e => e === document.activeElement")
            mark.click()
            row = found.page.locator("tr:target")
            assert row.count() == 1
            assert "rgba(0, 0, 0, 0)" not in row.locator("td").first.evaluate(
                "e => getComputedStyle(e).backgroundColor"
            )
        assert found.messages == []


def test_findings_and_marks_are_reached_with_the_keyboard(
    browser: Browser, report: str, tmp_path: Path
) -> None:
    with opened(browser, report, tmp_path) as found:
        links(found).nth(1).focus()
        found.page.keyboard.press("Enter")
        assert found.page.locator("a.place:target").evaluate("e => e === document.activeElement")
        readout = found.page.locator(".readout").first.inner_text()
        assert re.match(r"\d findings? at \d\d:\d\d:\d\d", readout)
        found.page.keyboard.press("Enter")
        row = found.page.locator("tr:target")
        assert row.count() == 1
        assert row.locator("a").evaluate("e => e === document.activeElement")


def test_without_scripts_a_finding_still_leads_to_its_mark(
    browser: Browser, tmp_path: Path
) -> None:
    with opened(browser, page(one_group(), title="t"), tmp_path, is_scripted=False) as found:
        found.page.locator("table.stacked a").last.click()
        assert found.page.locator("a.place:target").count() == 1


def test_an_address_of_a_finding_opens_its_group(browser: Browser, tmp_path: Path) -> None:
    """The last of forty groups, far below what the window shows."""
    many = page(joined(*(one_group(f"group-{number:02}") for number in range(40))), title="t")
    with opened(browser, many, tmp_path, fragment="#life-40-1-finding-0") as found:
        row = found.page.locator("tr:target")
        assert row.is_visible()
        box = row.bounding_box()
        assert box is not None
        assert 0 <= box["y"] <= 900


def test_every_link_of_a_page_leads_to_one_place(report: str) -> None:
    ids = re.findall(r' id="([^"]+)"', report)
    assert len(ids) == len(set(ids))
    targets = re.findall(r' href="#([^"]+)"', report)
    assert len(targets) > 20
    assert set(targets) <= set(ids)
