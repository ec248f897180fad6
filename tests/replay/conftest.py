"""The browser in which the pages are opened: one for the tests of a file.

While it runs its thread has an event loop, so it does not outlive the file.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.conftest import need
from tests.replay.browser import chromium, executable


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need(executable() or "chromium")
    with chromium() as started:
        yield started
