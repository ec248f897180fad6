"""When real clients ask again whose JoinGroup or SyncGroup is not answered, beside the simulator.

The proxy takes away an answer, and what comes after it on its connection, which stays open. Members
are static, so that their first JoinGroup is the one that is answered when the round begins.
"""

from __future__ import annotations

import importlib
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from kio.serial import entity_reader

from assignors.simulation.timed.scenario import (
    BrokerConfig,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import simulate
from tests.foreign.exhausted.conftest import MakeGroup
from tests.foreign.exhausted.groups import PATIENCE_S, Place
from tests.interop.group import LiveGroup
from tests.interop.proxy import HEARTBEAT, JOIN_GROUP, SYNC_GROUP, Link, Request

pytestmark = pytest.mark.interop

SESSION_MS = 6000
DELAY_MS = APPEND_MS = 1000
"""How long the simulated coordinator waits for the first round, and for its plan to be written."""
BUSY_S = 2.5
"""By so much a client may be late on a busy machine."""
EARLY_S = 0.05
PAUSE_S = 0.35
"""By so much later clients ask again."""
LIBRDKAFKA_GRACE_MS, FRANZ_GO_GRACE_MS = 3000, 10_000
REQUEST_MS, AIOKAFKA_MS = 30_000, 40_000
"""Defaults: that of kafka-python, Sarama (`Net.ReadTimeout`) and kafkajs, and that of aiokafka."""
CLIENTS = {
    "ck": "librdkafka-2.16.0",
    "kp": "kafka-python-3.0.12",
    "franz": "franz-go-1.22.2",
    "sarama": "sarama-1.61.1",
    "aio": "aiokafka-0.14.0",
    "kjs": "kafkajs-2.2.4",
}
"""Kind of member -> whose bytes its simulated member has."""


ASKING = {JOIN_GROUP: ("join_group", "JoinGroup"), SYNC_GROUP: ("sync_group", "SyncGroup")}


def member_id_of(request: Request, body: bytes) -> str:
    """Return the member id in a JoinGroup or SyncGroup."""
    folder, name = ASKING[request.key]
    module: Any = importlib.import_module(f"kio.schema.{folder}.v{request.version}.request")
    kind = getattr(module, f"{name}Request")
    _, at = entity_reader(kind.__header_schema__)(body, 0)
    return str(entity_reader(kind)(body, at)[0].member_id)


@dataclass(slots=True)
class Unanswered:
    """Takes away a client's first answer of a kind, and later ones there; when it asks again.

    And the member ids with which it has asked, and asks again.
    """

    client_id: str
    key: int
    lost_at: float = 0.0
    asked_at: float = 0.0
    asked: int = 0
    """What it asks then."""
    beats: int = 0
    """How many heartbeats it sends meanwhile."""
    member_ids: list[str] = field(default_factory=list)
    """Those of its JoinGroups and SyncGroups until then."""
    has_asked: threading.Event = field(default_factory=threading.Event)
    silent: Link | None = None

    def answer(self, link: Link, request: Request, __: bytes) -> bool:
        """Take away the answers: a rule. A client would not take them out of order."""
        if self.silent is None and (request.client_id, request.key) == (self.client_id, self.key):
            self.lost_at, self.silent = time.monotonic(), link
        return link is not self.silent

    def request(self, _: Link, request: Request, body: bytes) -> bool:
        """Note when the client asks again, for whatever it asks then: a rule that lets all pass."""
        if request.client_id != self.client_id or self.asked_at:
            return True
        if request.key in ASKING:
            self.member_ids.append(member_id_of(request, body))
            if self.lost_at:
                self.asked_at, self.asked = time.monotonic(), request.key
                self.has_asked.set()
        elif request.key == HEARTBEAT and self.lost_at:
            self.beats += 1
        return True

    def waited_s(self) -> float:
        """Wait until the client asks again; return after how long it does."""
        assert self.has_asked.wait(PATIENCE_S)
        return self.asked_at - self.lost_at


def simulated_s(key: int, rebalance_ms: int, request_ms: int, client: str | None = None) -> float:
    """How much later a simulated member has its partitions, of whose answers that one is lost.

    A first round again is not counted: whose session is over meanwhile is no longer in the group.
    """
    member = MemberConfig(
        name="a",
        topics=("t",),
        assignors=("java/range",),
        client=client,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=rebalance_ms,
        request_timeout_ms=request_ms,
    )
    scenario = Scenario(
        protocol=GroupProtocol.CLASSIC,
        until_ms=60_000,
        topics={"t": 2},
        members=(member,),
        broker=BrokerConfig(initial_delay_ms=DELAY_MS, append_us=APPEND_MS * 1000),
        network=NetworkConfig(mean_us=100),
    )
    begin_ms = DELAY_MS // 2 if key == JOIN_GROUP else DELAY_MS + APPEND_MS // 2
    loss = Fault(
        kind=FaultKind.LOSS,
        member="a",
        from_ms=begin_ms,
        until_ms=begin_ms + APPEND_MS,
        percent=100,
    )
    without, late = (
        min(change.at for change in simulate(each, keeps_history=True).changes if change.owned)
        for each in (scenario, replace(scenario, faults=(loss,)))
    )
    waited_s = (late - without) / 1_000_000
    is_out = key == SYNC_GROUP and waited_s > SESSION_MS / 1000 + DELAY_MS / 2000
    return waited_s - is_out * DELAY_MS / 1000


@pytest.mark.parametrize(
    ("key", "rebalance_ms", "request_ms", "waits_ms"),
    [
        (JOIN_GROUP, 2000, 3000, 7000),
        (SYNC_GROUP, 2000, 3000, 3000),
        pytest.param(JOIN_GROUP, 2000, 10_000, 10_000, marks=pytest.mark.deep),
        pytest.param(SYNC_GROUP, 2000, 10_000, SESSION_MS, marks=pytest.mark.deep),
    ],
)
def test_java_asks_again_when_the_simulated_member_does(
    make_group: MakeGroup, key: int, rebalance_ms: int, request_ms: int, waits_ms: int
) -> None:
    """The rebalance timeout and five seconds, but not less than the request timeout: a JoinGroup.

    A SyncGroup: the request timeout, but not more than the session timeout.
    """
    assert simulated_s(key, rebalance_ms, request_ms) == pytest.approx(waits_ms / 1000, abs=0.2)
    group = make_group(
        group_protocol="classic",
        partition_assignment_strategy="org.apache.kafka.clients.consumer.RangeAssignor",
        heartbeat_interval_ms=300,
        session_timeout_ms=SESSION_MS,
        max_poll_interval_ms=rebalance_ms,
        request_timeout_ms=request_ms,
    )
    lost = Unanswered(group.full("a"), key)
    group.follow(group.place.proxy.on_answer, lost.answer)
    group.follow(group.place.proxy.on_request, lost.request)
    group.start("a", group_instance_id="i")
    assert -EARLY_S <= lost.waited_s() - waits_ms / 1000 <= BUSY_S
    assert lost.asked == JOIN_GROUP
    assert (lost.beats > 0) == (key == SYNC_GROUP)
    group.wait(lambda: group.of("a", "assigned"))


@pytest.mark.deep
@pytest.mark.parametrize(
    ("kind", "key", "waits_ms"),
    [
        ("ck", JOIN_GROUP, SESSION_MS + LIBRDKAFKA_GRACE_MS),
        ("ck", SYNC_GROUP, SESSION_MS + LIBRDKAFKA_GRACE_MS),
        ("kp", JOIN_GROUP, REQUEST_MS),
        ("kp", SYNC_GROUP, REQUEST_MS),
        ("franz", JOIN_GROUP, SESSION_MS + FRANZ_GO_GRACE_MS),
        ("franz", SYNC_GROUP, SESSION_MS),
        ("sarama", JOIN_GROUP, REQUEST_MS),
        ("sarama", SYNC_GROUP, REQUEST_MS),
        ("aio", JOIN_GROUP, AIOKAFKA_MS),
        ("aio", SYNC_GROUP, AIOKAFKA_MS),
        ("kjs", JOIN_GROUP, REQUEST_MS),
        ("kjs", SYNC_GROUP, REQUEST_MS),
    ],
)
def test_other_clients_ask_again_when_simulated_members_with_their_bytes_do(
    kind: str, key: int, waits_ms: int, place: Place, tmp_path: Path
) -> None:
    """librdkafka waits three seconds more than its session or rebalance timeout, here the same.

    kafka-python waits for its request timeout, which is the longer one of a JoinGroup's here; for
    that of a SyncGroup it does so whatever the session timeout is. So does kafkajs, whose consumer
    starts anew then; Sarama and aiokafka wait for theirs in both cases. franz-go's has nothing to
    do with it: its rebalance timeout has, here the same as its session's. None sends heartbeats.
    """
    request_ms = AIOKAFKA_MS if kind == "aio" else REQUEST_MS
    found = simulated_s(key, SESSION_MS, request_ms, CLIENTS[kind])
    assert found == pytest.approx(waits_ms / 1000, abs=PAUSE_S)
    lost = asked_again(place, tmp_path, kind, key, SESSION_MS)
    assert -EARLY_S <= lost.waited_s() - waits_ms / 1000 <= BUSY_S
    assert lost.asked == JOIN_GROUP
    assert lost.beats == 0
    before, then = lost.member_ids[-2:]
    assert then == ("" if kind == "kjs" else before)


@pytest.mark.deep
def test_franz_go_sends_its_syncgroup_again_within_its_session(
    place: Place, tmp_path: Path
) -> None:
    """After its rebalance timeout, here half of that of its session.

    The assignment is there by then, and no other one has to be written.
    """
    found = simulated_s(SYNC_GROUP, SESSION_MS // 2, REQUEST_MS, CLIENTS["franz"])
    assert found + APPEND_MS / 1000 == pytest.approx(SESSION_MS / 2000, abs=PAUSE_S)
    lost = asked_again(place, tmp_path, "franz", SYNC_GROUP, SESSION_MS // 2)
    assert -EARLY_S <= lost.waited_s() - SESSION_MS / 2000 <= BUSY_S
    assert (lost.asked, lost.beats) == (SYNC_GROUP, 0)
    before, then = lost.member_ids[-2:]
    assert then == before


def asked_again(place: Place, folder: Path, kind: str, key: int, rebalance_ms: int) -> Unanswered:
    """Return what a member that gets no answer to its first request of a kind has asked again."""
    flags: dict[str, Any] = {"session_timeout_ms": SESSION_MS, "rebalance_timeout_ms": rebalance_ms}
    lost = Unanswered(f"{kind}-1", key)
    with LiveGroup(
        place.broker, folder=folder, topics={"s": 2}, assignors=("range",), **flags
    ) as group:
        place.proxy.on_answer.append(lost.answer)
        place.proxy.on_request.append(lost.request)
        try:
            group.start(kind, instance="i")
            lost.waited_s()
        finally:
            place.proxy.on_answer.remove(lost.answer)
            place.proxy.on_request.remove(lost.request)
    return lost
