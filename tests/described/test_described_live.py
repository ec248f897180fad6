"""The tool of the newest release describes a real group of this moment, and the broker judges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assignors.documents.described import described_groups
from tests.conftest import need
from tests.described.capture import TOOLS, printed
from tests.interop.broker import Broker
from tests.interop.group import LiveGroup
from tests.interop.install import missing_tools

pytestmark = [pytest.mark.interop, pytest.mark.deep]


@pytest.mark.parametrize("kind", ["java44", "java848"])
def test_what_is_read_is_what_the_broker_says(
    kind: str, shared_broker: Broker, tmp_path: Path
) -> None:
    for tool in missing_tools():
        need(tool)
    with LiveGroup(shared_broker, folder=tmp_path, topics={"a": 5, "b": 2}) as group:
        group.start(kind, instance="static-1")
        group.start(kind, kind)
        group.settled(30.0)
        text = printed(
            max(TOOLS), shared_broker.bootstrap, "--group", group.name, "--members", "--verbose"
        )
        described = group.admin.describe(group.name)
    (found,) = described_groups(text)
    assert found.error is None
    members: Any = found.document["members"]
    assert {
        (member["id"], member.get("instance")): sorted(
            (topic, number) for topic, numbers in member["owned"].items() for number in numbers
        )
        for member in members
    } == {(one.member_id, one.instance_id): list(one.partitions) for one in described.members}
    assert found.document["topics"] == group.partition_counts
