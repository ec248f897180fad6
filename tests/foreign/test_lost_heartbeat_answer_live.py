"""Two members of a KIP-848 group own one partition after one lost answer: Kafka 4.4.0 itself.

Exhausting small groups found it (`tests/simulation/timed/EXHAUSTED.md`). Here Java's clients and a
broker play it. Member `a` gets both partitions, and its callback for them runs; member `b` joins;
the coordinator asks `a` to give up partition 1, and that answer is lost with its connection. The
client repeats everything, and as the callback is not over it reports that it owns nothing. For the
coordinator partition 1 is given up: `b` gets it, while `a` has never been asked. Without more
trouble `a` gives it up as soon as its callback is over; while the next answer is late it reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import need
from tests.foreign.execution.programs import PROGRAMS, Clients, Line, clients
from tests.interop.admin import Admin
from tests.interop.install import BROKER
from tests.interop.proxy import LosesAnAnswer

pytestmark = pytest.mark.interop

HEARTBEAT_MS = 300
SETTINGS = {
    "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.session.timeout.ms": "45000",
}
PATIENCE_S = 60.0
WHOLE_S = 10 * HEARTBEAT_MS / 1000
"""Long enough for a member to get what nobody has to give up for it."""


@pytest.fixture(autouse=True)
def _tools() -> None:
    for tool in (*PROGRAMS.missing_tools(), *BROKER.missing_tools(), "java"):
        need(tool)


@contextmanager
def group(folder: Path, *, loses: bool) -> Iterator[tuple[Clients, LosesAnAnswer]]:
    """Two members; the callback of `a` waits, and `b` has come since it began."""

    def asks_to_revoke(client_id: str, answer: Any) -> bool:
        given = answer.assignment
        count = sum(len(each.partitions) for each in given.topic_partitions) if given else 2
        return loses and client_id == "a" and count == 1

    proxy = LosesAnAnswer(asks_to_revoke)
    with (
        proxy.broker(SETTINGS) as broker,
        clients(proxy.address, folder / "members.err") as process,
    ):
        Admin(broker.bootstrap).create_topics({"t": 2})
        process.fill("t", partitions=2, records=2000)
        start(process, "a", assign__waits="yes")
        assert process.wait(lambda: bool(of(process, "a", "assigned")), timeout_s=PATIENCE_S)
        assert of(process, "a", "assigned")[0].partitions == ("t-0", "t-1")
        start(process, "b")
        yield process, proxy


def start(process: Clients, name: str, **settings: object) -> None:
    """Start a member of the group."""
    own = {
        "group_id": "g",
        "topics": "t",
        "group_protocol": "consumer",
        "records": "yes",
        "seeks": "yes",
    }
    process.start(name, **own, **settings)


def of(process: Clients, name: str, event: str, partition: str = "t") -> list[Line]:
    """What a member has reported of a kind, of a partition or of all of them."""
    return [
        line
        for line in process.of(name)
        if line.event == event and any(each.startswith(partition) for each in line.partitions)
    ]


def test_a_lost_answer_lets_two_members_read_one_partition(tmp_path: Path) -> None:
    """Both read it until the next answer brings `a` its target; only then does it give it up."""
    with group(tmp_path, loses=True) as (process, proxy):
        assert proxy.has_lost.wait(PATIENCE_S)
        assert process.wait(lambda: bool(of(process, "b", "record", "t-1")), timeout_s=PATIENCE_S)
        process.do("a", "resume")
        assert process.wait(lambda: bool(of(process, "a", "record", "t-1")), timeout_s=PATIENCE_S)
        assert not of(process, "a", "revoked")
        proxy.is_over.set()
        assert process.wait(lambda: bool(of(process, "a", "revoked")), timeout_s=PATIENCE_S)
        (given,), (taken,) = of(process, "b", "assigned", "t-1"), of(process, "a", "revoked")
        assert given.at_us < of(process, "a", "record", "t-1")[0].at_us < taken.at_us
        assert not of(process, "b", "revoked") + of(process, "b", "lost")


def test_without_a_loss_the_partition_is_given_up_first(tmp_path: Path) -> None:
    with group(tmp_path, loses=False) as (process, _):
        assert not process.wait(
            lambda: bool(of(process, "b", "assigned", "t-1")), timeout_s=WHOLE_S
        )
        process.do("a", "resume")
        assert process.wait(lambda: bool(of(process, "b", "assigned", "t-1")), timeout_s=PATIENCE_S)
        (revoked,) = of(process, "a", "revoked", "t-1")
        assert revoked.at_us < of(process, "b", "assigned", "t-1")[0].at_us
