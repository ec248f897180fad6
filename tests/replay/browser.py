"""Opens a page in a headless Chromium, and records console messages, script errors and requests.

Playwright drives the Chromium that is installed on the machine: no browser is downloaded.
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
"""Names of the program, by system."""

Scheme = Literal["light", "dark"]


def executable() -> str | None:
    """The path of Chromium, or `None` where it is not installed."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@dataclass(kw_only=True)
class Opened:
    """An open page, and what it did."""

    page: Page
    messages: list[str] = field(default_factory=list)
    """Console messages and script errors."""
    requests: list[str] = field(default_factory=list)
    """Addresses that the page requested, without its own."""

    @property
    def text(self) -> str:
        """The visible text."""
        return self.page.inner_text("body")

    @property
    def overflow(self) -> int:
        """Pixels by which the page is wider than the window; 0 or less if it fits."""
        found: int = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser, and close it at the end of the block."""
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
    """Open HTML from a file, as a reader of the report does."""
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
        found.page.on("console", lambda message: found.messages.append(message.text))
        found.page.on("pageerror", lambda error: found.messages.append(str(error)))
        found.page.on(
            "request",
            lambda request: (
                None if request.url.startswith(address) else found.requests.append(request.url)
            ),
        )
        found.page.goto(f"{address}{fragment}")
        yield found
    finally:
        context.close()
