"""A headless Chromium that opens a page and tells what a reader would notice.

Playwright drives the Chromium that the system has: no browser is downloaded. A page that is
opened here is closed with everything it said on the console, every error its scripts threw and
every address it asked for, so that a test can say that there was none.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
"""Names under which systems have it."""

Scheme = Literal["light", "dark"]


def executable() -> str | None:
    """Where Chromium is, if it is there."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@dataclass(kw_only=True)
class Opened:
    """A page, and what went wrong on it."""

    page: Page
    troubles: list[str] = field(default_factory=list)
    """Messages on the console and errors of scripts."""
    asked: list[str] = field(default_factory=list)
    """Addresses asked for, bar the page itself."""

    @property
    def text(self) -> str:
        """What is shown."""
        return self.page.inner_text("body")

    @property
    def overhang(self) -> int:
        """Pixels by which the page is wider than the window."""
        found: int = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, until the end of the block."""
    with sync_playwright() as playwright:
        # A container's root may not make the sandbox; the pages are our own.
        browser = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser,
    html: str,
    folder: Path,
    *,
    width: int = 1280,
    scheme: Scheme = "light",
    fragment: str = "",
    is_scripted: bool = True,
) -> Iterator[Opened]:
    """Open HTML as a file, as its reader would."""
    path = folder / "report.html"
    path.write_text(html, encoding="utf-8")
    address = path.as_uri()
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=is_scripted,
        reduced_motion="reduce",
    )
    try:
        found = Opened(page=context.new_page())
        found.page.on("console", lambda message: found.troubles.append(message.text))
        found.page.on("pageerror", lambda error: found.troubles.append(str(error)))
        found.page.on(
            "request",
            lambda request: (
                None if request.url.startswith(address) else found.asked.append(request.url)
            ),
        )
        found.page.goto(f"{address}{fragment}")
        yield found
    finally:
        context.close()
