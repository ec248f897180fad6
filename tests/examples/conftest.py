"""One broker for all examples."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import need
from tests.interop.broker import Broker
from tests.interop.install import BROKER


@pytest.fixture(scope="package")
def broker() -> Iterator[Broker]:
    for tool in BROKER.missing_tools():
        need(tool)
    need("java")
    with Broker() as started:
        yield started
