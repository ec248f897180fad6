"""UserData byte for byte as Java writes it: also which topic comes first."""

from __future__ import annotations

from typing import Any

import pytest

from assignors.java.user_data import cooperative_user_data, sticky_user_data
from tests.wire.vectors import kafka

STICKY, COOPERATIVE = kafka("codec-stickyud"), kafka("codec-coopud")


@pytest.mark.parametrize("case", STICKY, ids=[case["id"] for case in STICKY])
def test_sticky_bytes_are_javas(case: dict[str, Any]) -> None:
    given = case["in"]
    pairs = [(topic, number) for topic, number in given["owned"]]
    assert sticky_user_data(pairs, given["gen"]).hex() == case["out"]["ud"]


@pytest.mark.parametrize("case", COOPERATIVE, ids=[case["id"] for case in COOPERATIVE])
def test_cooperative_bytes_are_javas(case: dict[str, Any]) -> None:
    assert cooperative_user_data(case["in"]["gen"]).hex() == case["out"]["ud"]
