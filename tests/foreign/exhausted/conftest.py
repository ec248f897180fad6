"""One broker and one process of members for all tests here, which one worker runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Protocol

import pytest

from tests.conftest import need
from tests.foreign.exhausted.groups import Group, Place, joined, started
from tests.interop.install import BROKER
from tests.lab.execution.programs import PROGRAMS


class MakeGroup(Protocol):
    """What the fixture `make_group` gives: takes what each member of the group has."""

    def __call__(self, *, heartbeat_ms: int | None = None, **settings: object) -> Group: ...


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The broker, the proxy before it and the process."""
    for tool in (*PROGRAMS.missing_tools(), *BROKER.missing_tools(), "java"):
        need(tool)
    with started(tmp_path_factory.mktemp("members")) as made:
        yield made


@pytest.fixture
def make_group(place: Place) -> Iterator[MakeGroup]:
    """Makes groups on that broker; their members are closed with the test."""
    with ExitStack() as stack:

        def make(**settings: Any) -> Group:
            return stack.enter_context(joined(place, **settings))

        yield make
