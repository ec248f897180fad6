"""Random histories of a classic group, played by our coordinator: for Kafka's to play as well.

A history is a list of operations: requests of a few clients, and times that pass. Clients mostly do
what clients do, from what they were answered; now and then one sends an old generation, a wrong
member id, or joins twice. Operation n is request n; its answer may come many operations later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from assignors.simulation.timed.protocols.effects import (
    NotCoordinator,
    Reply,
    Request,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    ClassicResponse,
    ConsumerHeartbeatResponse,
    ErrorCode,
    Heartbeat,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroup,
    OffsetsResponse,
    Protocol,
    SyncGroup,
)
from assignors.simulation.timed.protocols.push import messages as push
from tests.foreign import commits
from tests.foreign.operations import Operation, operation_of
from tests.foreign.player import Drawn, Losses, Player, played
from tests.foreign.plays import Step
from wire import Subscription, encode_subscription

MILLISECOND = 1000
SESSIONS_MS = (6000, 10_000)
REBALANCES_MS = (3000, 8000, 20_000)
PROTOCOLS = (("range",), ("range", "sticky"), ("sticky", "range"), ("sticky",), ("other",))
BROKERS = (
    {"group.initial.rebalance.delay.ms": "3000"},
    {"group.initial.rebalance.delay.ms": "0"},
    {"group.initial.rebalance.delay.ms": "1000", "group.max.size": "2"},
)
TOPICS = ("t", "u")
"""Whose offsets are committed; members subscribe to the first."""


@dataclass
class Client:
    """A client: what it was last answered."""

    name: str
    instance_id: str | None
    member_id: str = ""
    generation: int = -1
    protocol: str | None = None
    members: list[str] = field(default_factory=list)
    is_leader: bool = False
    waits: bool = False


def history(
    seed: int,
    length: int,
    see: Callable[[Player], None] = lambda _: None,
    losses: Losses | None = None,
) -> tuple[dict[str, Any], list[Step]]:
    """Return a request for the judge (`algo`, `broker`, `ops`) and what ours did at each step.

    `see` is called after each step, as long as what it wrote is in `Player.records`.
    With `losses` appends wait, and may be lost.
    """
    random = Random(seed)
    broker = {**random.choice(BROKERS), **random.choice(commits.KEEPING)}
    ours = Player(broker)
    statics = random.random() < 0.4
    clients = [
        Client(name=f"c{i}", instance_id=f"i{i % 3}" if statics and random.random() < 0.6 else None)
        for i in range(random.randint(1, 6))
    ]
    asking: dict[int, Client] = {}

    def draw(number: int) -> Drawn:
        asking[number] = client = random.choice(clients)
        return _next(random, client)

    def learn(_: Request, reply: Reply) -> None:
        of_others = ConsumerHeartbeatResponse | push.Response | NotCoordinator
        assert not isinstance(reply.response, of_others)
        if not isinstance(reply.response, OffsetsResponse):
            _learn(asking[reply.number], reply.response)

    def forget() -> None:
        for client in clients:
            client.waits = False

    ops, steps = played(
        random, ours, length, draw=draw, learn=learn, forget=forget, see=see, losses=losses
    )
    return {"algo": "coordinator", "broker": broker, "ops": ops}, steps


def _next(  # noqa: PLR0911 - one for each kind of operation
    random: Random, client: Client
) -> tuple[Operation, Request | None]:
    """Return what happens next: a request of `client`, or time that passes."""
    dice = random.random()
    if dice < 0.22:
        return {"op": "advance", "ms": random.choice((0, 1, 500, 1000, 3000, 3000, 7000))}, None
    if dice < 0.27:
        return _leave(random, client)
    if dice < 0.42:
        return commits.asked(random, *_identity(random, client), client.generation, TOPICS)
    if client.waits and random.random() < 0.8:
        return {"op": "advance", "ms": random.choice((1, 100))}, None
    if client.generation < 0 or random.random() < 0.35:
        return _join(random, client)
    if random.random() < 0.6:
        return _sync(random, client)
    return _heartbeat(random, client)


def _identity(random: Random, client: Client) -> tuple[str, str | None]:
    """Return the member id and instance id of a request, now and then wrong ones."""
    dice = random.random()
    if dice < 0.02:
        return "nobody", client.instance_id
    if dice < 0.04:
        return client.member_id, None
    return client.member_id, client.instance_id


def _join(random: Random, client: Client) -> tuple[Operation, Request]:
    member_id, instance_id = _identity(random, client)
    if random.random() < 0.05:
        member_id = ""
    names = random.choice(PROTOCOLS[:3] if random.random() < 0.95 else PROTOCOLS)
    owned = {"t": (random.randint(0, 1),)}
    blob = encode_subscription(Subscription(version=1, topics=("t",), owned=owned))
    kind = "consumer" if random.random() < 0.97 else "connect"
    request = JoinGroup(
        client_id=client.name,
        member_id=member_id,
        instance_id=instance_id,
        session_timeout_ms=random.choice(SESSIONS_MS),
        rebalance_timeout_ms=random.choice(REBALANCES_MS),
        protocols=tuple(Protocol(name, blob) for name in names),
        protocol_type=kind,
    )
    client.waits = True
    return operation_of(request), request


def _sync(random: Random, client: Client) -> tuple[Operation, Request]:
    member_id, instance_id = _identity(random, client)
    generation = client.generation - (random.random() < 0.03)
    protocol = client.protocol if random.random() < 0.97 else "other"
    kind = random.choice(("consumer", "consumer", "consumer", None))
    plan: list[tuple[str, bytes]] = []
    if client.is_leader or random.random() < 0.02:
        plan = [(each, random.randbytes(3)) for each in client.members if random.random() < 0.9]
    request = SyncGroup(member_id, instance_id, generation, protocol, tuple(plan), kind)
    client.waits = True
    return operation_of(request), request


def _heartbeat(random: Random, client: Client) -> tuple[Operation, Request]:
    member_id, instance_id = _identity(random, client)
    generation = client.generation - (random.random() < 0.05)
    request = Heartbeat(member_id, instance_id, generation)
    return operation_of(request), request


def _leave(random: Random, client: Client) -> tuple[Operation, Request]:
    member_id, instance_id = _identity(random, client)
    if instance_id is not None and random.random() < 0.3:
        member_id = ""
    client.waits = False
    request = LeaveGroup(member_id, instance_id)
    return operation_of(request), request


def _learn(client: Client, response: ClassicResponse) -> None:
    client.waits = False
    if isinstance(response, JoinGroupResponse):
        if response.error is ErrorCode.MEMBER_ID_REQUIRED:
            client.member_id = response.member_id
        elif response.error is ErrorCode.NONE:
            client.member_id, client.generation = response.member_id, response.generation
            client.protocol = response.protocol
            client.members = [each.member_id for each in response.members]
            client.is_leader = bool(response.members) and not response.skip_assignment
    if response.error is ErrorCode.UNKNOWN_MEMBER_ID:
        client.member_id, client.generation = "", -1
