"""The examples run on the broker that this worker shares, each on topics of its own."""

from __future__ import annotations

import pytest

from tests.interop.broker import Broker


@pytest.fixture(scope="session")
def broker(shared_broker: Broker) -> Broker:
    """A broker that knows none of their topics."""
    return shared_broker
