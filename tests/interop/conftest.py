"""One broker for all tests with real groups, and groups that end with their test.

Each worker of the suite has a broker, and starts it with its first test that is marked
`interop`. Groups have names and topics of their own and never meet.

Half a dozen programs of other people race in each of these tests, on a machine that others use
as well. So what fails is played once more, with names of its own, and the first failure is shown
at the end of the run: a fault of ours comes again, a process that got no time does not. What the
tests of a file share is made anew for it: else it would judge what was recorded at first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.conftest import need
from tests.interop.broker import Broker
from tests.interop.group import LiveGroup
from tests.interop.install import missing_tools


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Play what fails in a real group once more."""
    for item in items:
        if item.get_closest_marker("interop") is not None:
            item.add_marker(pytest.mark.flaky(reruns=1))


class MakeGroup(Protocol):
    """What the fixture `make_group` gives: takes what `LiveGroup` takes, bar broker and folder."""

    def __call__(
        self,
        topics: Mapping[str, int],
        *,
        assignors: tuple[str, ...] = ("cooperative-sticky",),
        **flags: Any,
    ) -> LiveGroup: ...


@pytest.fixture(scope="session")
def built() -> None:
    """Every program under test, built; skipped (in CI: failed) where a toolchain is missing."""
    for tool in missing_tools():
        need(tool)


@pytest.fixture(scope="session")
def broker(built: None, shared_broker: Broker) -> Broker:
    """The broker that all tests share: what breaks it starts one of its own."""
    return shared_broker


@pytest.fixture
def make_group(broker: Broker, tmp_path: Path) -> Iterator[MakeGroup]:
    """Makes groups on the shared broker; their members end with the test."""
    with ExitStack() as stack:

        def make(
            topics: Mapping[str, int],
            *,
            assignors: tuple[str, ...] = ("cooperative-sticky",),
            **flags: Any,
        ) -> LiveGroup:
            group = LiveGroup(broker, folder=tmp_path, topics=topics, assignors=assignors, **flags)
            return stack.enter_context(group)

        yield make
