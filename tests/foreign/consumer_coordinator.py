"""Random histories of a consumer group (KIP-848), played by ours: for Kafka's to play as well.

Members do what members do: they join, report what they own once they have given up what they had
to, leave and come back; now and then one repeats an old epoch, reports nothing, or claims too much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from assignors.simulation.timed.protocols.effects import (
    Reply,
    Request,
    Response,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
)
from tests.foreign import commits
from tests.foreign.operations import Operation, operation_of
from tests.foreign.player import Drawn, Losses, Player, played
from tests.foreign.plays import Step

BROKERS = (
    {"group.consumer.assignors": "uniform"},
    {"group.consumer.assignors": "range"},
    {"group.consumer.assignors": "uniform", "group.consumer.assignment.interval.ms": "0"},
    {"group.consumer.assignors": "range", "group.consumer.max.size": "2"},
)
TOPICS = ("t", "v", "y")
"""Their ids fall into different buckets of Java's maps: in one bucket the order is that in which
records listed them, which our coordinator does not follow."""
REBALANCES_MS = (5000, 20_000)


@dataclass
class Client:
    """A member: what it was last answered, and what it owns."""

    name: str
    instance_id: str | None
    life: int = 0
    epoch: int = 0
    owned: dict[str, tuple[int, ...]] = field(default_factory=dict)
    wanted: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def member_id(self) -> str:
        """A new one for every life of the process."""
        return f"{self.name}-{self.life}"


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
    counts = {topic: random.randint(1, 7) for topic in TOPICS[: random.randint(1, 3)]}
    statics = random.random() < 0.4
    clients = [
        Client(name=f"c{i}", instance_id=f"i{i}" if statics and random.random() < 0.6 else None)
        for i in range(random.randint(1, 6))
    ]
    asking: dict[int, Client] = {}

    def draw(number: int) -> Drawn:
        if number == 0:
            return {"op": "topics", "topics": dict(counts)}, None
        op, request, asking[number] = _next(random, clients, counts)
        counts.update(op.get("topics") or {} if op["op"] == "topics" else {})
        return op, request

    def learn(request: Request, reply: Reply) -> None:
        _learn(asking[reply.number], request, reply.response)

    ops, steps = played(
        random, ours, length, draw=draw, learn=learn, forget=lambda: None, see=see, losses=losses
    )
    return {"algo": "coordinator", "broker": broker, "ops": ops}, steps


def _next(
    random: Random, clients: list[Client], counts: dict[str, int]
) -> tuple[Operation, Request | None, Client]:
    client = random.choice(clients)
    dice = random.random()
    if dice < 0.2:
        times = (0, 1, 400, 1000, 1000, 5000, 6000, 20_000, 46_000)
        return {"op": "advance", "ms": random.choice(times)}, None, client
    if dice < 0.24:
        name = random.choice(TOPICS)
        return {"op": "topics", "topics": {name: counts.get(name, 0) + 1}}, None, client
    if dice < 0.4:
        instance_id = client.instance_id
        return (
            *commits.asked(random, client.member_id, instance_id, client.epoch, TOPICS),
            client,
        )
    request = _request(random, client)._replace(client_id=client.name)
    return operation_of(request), request, client


def _request(random: Random, client: Client) -> ConsumerHeartbeat:
    member_id = "nobody" if random.random() < 0.02 else client.member_id
    instance_id = client.instance_id if random.random() < 0.97 else None
    if random.random() < 0.08:
        epoch = STATIC_LEAVE_EPOCH if random.random() < 0.6 else LEAVE_EPOCH
        return ConsumerHeartbeat(member_id, epoch, instance_id)
    topics = tuple(sorted(random.sample(TOPICS, random.randint(0, 3)))) or ("t",)
    if client.epoch == 0 or random.random() < 0.03:
        rebalance = random.choice(REBALANCES_MS)
        return ConsumerHeartbeat(member_id, 0, instance_id, None, rebalance, topics, {})
    epoch = client.epoch
    if random.random() < 0.06:
        epoch += random.choice((-1, 1))
    if random.random() < 0.7:
        # It gives up what it has to and takes what it gets, then says so.
        client.owned = dict(client.wanted)
    owned = dict(client.owned) if random.random() < 0.75 else None
    if owned is not None and random.random() < 0.03:
        owned["t"] = (0, 1)
    return ConsumerHeartbeat(
        member_id,
        epoch,
        instance_id,
        None,
        random.choice(REBALANCES_MS) if random.random() < 0.2 else -1,
        topics if random.random() < 0.08 else None,
        owned,
    )


def _learn(client: Client, request: Request, answer: Response) -> None:
    if not isinstance(request, ConsumerHeartbeat):
        return
    assert isinstance(answer, ConsumerHeartbeatResponse)
    if answer.error is not ErrorCode.NONE:
        # Fenced or unknown: everything is lost, and it joins again, now and then under a new id.
        if answer.error is not ErrorCode.UNRELEASED_INSTANCE_ID:
            client.epoch, client.owned, client.wanted = 0, {}, {}
            client.life += answer.error is ErrorCode.FENCED_INSTANCE_ID
    elif request.epoch in {LEAVE_EPOCH, STATIC_LEAVE_EPOCH}:
        client.epoch, client.owned, client.wanted = 0, {}, {}
        client.life += 1
    else:
        client.epoch = answer.epoch
        if answer.assignment is not None:
            client.wanted = dict(answer.assignment)
