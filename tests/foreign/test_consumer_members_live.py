"""What Java's members of a KIP-848 group do about answers that are lost or taken back, on a broker.

Two members own one partition after one lost answer. Exhausting small groups found it
(`tests/simulation/timed/EXHAUSTED.md`); here Java's clients and a broker play it. Member `a` gets
both partitions, and its callback for them runs; member `b` joins; the coordinator asks `a` to give
up partition 1, and that answer is lost with its connection. The client repeats everything, and as
the callback is not over it reports that it owns nothing. For the coordinator partition 1 is given
up: `b` gets it, while `a` has never been asked. Without more trouble `a` gives it up as soon as its
callback is over; while the next answer is late it reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
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


@pytest.fixture(autouse=True)
def _tools() -> None:
    for tool in (*PROGRAMS.missing_tools(), *BROKER.missing_tools(), "java"):
        need(tool)


@dataclass
class Group:
    """Members of a group, and what their heartbeats were answered."""

    process: Clients
    proxy: LosesAnAnswer
    given: list[tuple[str, int]]
    """(Member, how many partitions it is assigned) of each answer with an assignment."""

    def wait(self, is_so: Callable[[], object]) -> None:
        """Wait for something that must come."""
        assert self.process.wait(lambda: bool(is_so()), timeout_s=PATIENCE_S)

    def wait_given(self, name: str, count: int) -> None:
        """Wait until a member's last assignment has so many partitions."""
        until = monotonic() + PATIENCE_S
        while [each for whose, each in self.given if whose == name][-1:] != [count]:
            assert monotonic() < until
            sleep(HEARTBEAT_MS / 1000)


@contextmanager
def started(folder: Path, *, loses: bool = False, **settings: object) -> Iterator[Group]:
    """Start a group whose only member, `a`, has both partitions; it may lose an answer later."""
    given: list[tuple[str, int]] = []

    def asks_to_revoke(client_id: str, answer: Any) -> bool:
        if answer.assignment is None:
            return False
        count = sum(len(each.partitions) for each in answer.assignment.topic_partitions)
        given.append((client_id, count))
        return loses and (client_id, count) == ("a", 1)

    proxy = LosesAnAnswer(asks_to_revoke)
    with (
        proxy.broker(SETTINGS) as broker,
        clients(proxy.address, folder / "members.err") as process,
    ):
        Admin(broker.bootstrap).create_topics({"t": 2})
        process.fill("t", partitions=2, records=2000)
        group = Group(process, proxy, given)
        start(process, "a", **settings)
        group.wait(lambda: of(process, "a", "assigned"))
        assert of(process, "a", "assigned")[0].partitions == ("t-0", "t-1")
        yield group


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
    with started(tmp_path, loses=True, assign__waits="yes") as group:
        process, proxy = group.process, group.proxy
        start(process, "b")
        assert proxy.has_lost.wait(PATIENCE_S)
        group.wait(lambda: of(process, "b", "record", "t-1"))
        process.do("a", "resume")
        group.wait(lambda: of(process, "a", "record", "t-1"))
        assert not of(process, "a", "revoked")
        proxy.is_over.set()
        group.wait(lambda: of(process, "a", "revoked"))
        (given,), (taken,) = of(process, "b", "assigned", "t-1"), of(process, "a", "revoked")
        assert given.at_us < of(process, "a", "record", "t-1")[0].at_us < taken.at_us
        assert not of(process, "b", "revoked") + of(process, "b", "lost")


def test_without_a_loss_the_partition_is_given_up_first(tmp_path: Path) -> None:
    with started(tmp_path, assign__waits="yes") as group:
        process = group.process
        start(process, "b")
        group.wait_given("a", 1)
        process.do("a", "resume")
        group.wait(lambda: of(process, "b", "assigned", "t-1"))
        (revoked,) = of(process, "a", "revoked", "t-1")
        assert revoked.at_us < of(process, "b", "assigned", "t-1")[0].at_us


def test_a_newcomer_is_called_back_for_nothing_before_it_gets_anything(tmp_path: Path) -> None:
    """So it has to poll before it gets anything, and its next heartbeat counts from then on."""
    with started(tmp_path) as group:
        process = group.process
        start(process, "b")
        group.wait(lambda: of(process, "b", "assigned", "t-1"))
        assigned = [line.partitions for line in process.of("b") if line.event == "assigned"]
        assert assigned == [(), ("t-1",)]


@pytest.mark.parametrize("commits", [True, False])
def test_a_change_that_is_taken_back_delays_nobody_but_by_callbacks(
    tmp_path: Path, *, commits: bool
) -> None:
    """The application of `a` does not poll while it gets partition 1 and loses it again.

    With automatic commits its client sets out for an assignment when the application polls: it has
    what it is assigned again, and says so at once. Else it has set out, and its callbacks come
    first.
    """
    with started(tmp_path, enable_auto_commit=str(commits).lower()) as group:
        process = group.process
        start(process, "b")
        group.wait(lambda: of(process, "b", "assigned", "t-1"))
        process.do("a", "rest")
        group.wait(lambda: [line for line in process.of("a") if line.event == "does-rest"])
        process.do("b", "close", "5000")
        group.wait_given("a", 2)
        start(process, "c")
        group.wait_given("a", 1)
        if not commits:
            process.do("a", "resume")
        group.wait(lambda: of(process, "c", "assigned", "t-1"))
        (given,) = of(process, "c", "assigned", "t-1")
        again = of(process, "a", "revoked", "t-1")[1:]
        assert [line.at_us < given.at_us for line in again] == ([] if commits else [True])
