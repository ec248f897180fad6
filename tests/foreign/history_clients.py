"""Clients in histories of mixed groups: what they ask next, and what they learn from the answers.

Clients of the classic protocol join, lead with real assignments, and go on consuming or give
everything up when they join again; now and then a client restarts with the other protocol. Members
of the consumer protocol subscribe by name or by pattern, and ask for one of the broker's assignors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from assignors.simulation.timed.protocols.effects import (
    Reply,
    Request,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    CONSUMER,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
    Heartbeat,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroup,
    OffsetsResponse,
    Protocol,
    SyncGroup,
    SyncGroupResponse,
)
from tests.foreign import commits
from tests.foreign.operations import Operation, operation_of
from wire import (
    Subscription,
    TopicPartitions,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)

TOPICS = ("t", "v", "y")
PATTERNS = ("t.*", "[tv]", "v|y", ".*", "(")
"""Of topics; the last one is none."""
PROTOCOLS = (("range",), ("range", "sticky"), ("sticky", "range"), ("sticky",))
SESSIONS_MS = (6000, 10_000)
REBALANCES_MS = (3000, 8000, 20_000)
ADVANCES_MS = (0, 1, 100, 500, 1000, 1000, 3000, 5000, 7000, 11_000, 46_000)


@dataclass
class Client:
    """A client: which protocol it speaks now, and what it was last answered."""

    name: str
    instance_id: str | None
    is_classic: bool
    life: int = 0
    member_id: str = ""
    epoch: int = 0
    """The generation or member epoch; 0: it has to join."""
    protocol: str | None = None
    members: list[tuple[str, bytes]] = field(default_factory=list)
    """As a leader: everybody with its Subscription."""
    topics: tuple[str, ...] = ("t",)
    owned: TopicPartitions = field(default_factory=dict)
    wanted: TopicPartitions = field(default_factory=dict)
    waits: bool = False
    must_sync: bool = False
    must_join: bool = False

    def restart(self, *, is_classic: bool) -> None:
        """Begin anew, with nothing."""
        self.is_classic, self.life, self.epoch = is_classic, self.life + 1, 0
        self.member_id = "" if is_classic else f"{self.name}-{self.life}"
        self.members, self.protocol = [], None
        self.owned, self.wanted = {}, {}
        self.waits = self.must_sync = self.must_join = False


@dataclass(frozen=True)
class Habits:
    """What may happen in a history."""

    has_patterns: bool
    has_assignors: tuple[str, ...]
    deletes_topics: bool
    restarts: float
    """How often a client comes back with the other protocol."""


def next_of(
    random: Random, habits: Habits, client: Client, counts: dict[str, int]
) -> tuple[Operation, Request | None]:
    """Return what happens next: a request of `client`, or something else."""
    dice = random.random()
    if dice < 0.17:
        return {"op": "advance", "ms": random.choice(ADVANCES_MS)}, None
    if dice < 0.21:
        name = random.choice(TOPICS)
        is_gone = habits.deletes_topics and random.random() < 0.3
        counts[name] = 0 if is_gone else counts.get(name, 0) + 1
        return {"op": "topics", "topics": {name: counts[name]}}, None
    if habits.has_patterns and dice < 0.3:
        return {"op": "tasks"}, None
    if random.random() < 0.12:
        generation = client.epoch or -1
        return commits.asked(random, client.member_id, client.instance_id, generation, TOPICS)
    if random.random() < habits.restarts:
        client.restart(is_classic=not client.is_classic)
    if client.is_classic:
        return _classic_request(random, client)
    request = _heartbeat(random, habits, client)._replace(client_id=client.name)
    return operation_of(request), request


# Members of the consumer protocol


def _heartbeat(random: Random, habits: Habits, client: Client) -> ConsumerHeartbeat:
    instance_id = client.instance_id if random.random() < 0.97 else None
    if random.random() < 0.08:
        epoch = STATIC_LEAVE_EPOCH if random.random() < 0.5 else LEAVE_EPOCH
        return ConsumerHeartbeat(client.member_id, epoch, instance_id)
    is_join = client.epoch <= 0 or random.random() < 0.02
    if random.random() < 0.7:
        client.owned = dict(client.wanted)
    owned = dict(client.owned) if random.random() < 0.75 else None
    topics, pattern = _subscription(random, habits)
    assignor = None
    if habits.has_assignors and random.random() < (0.6 if is_join else 0.1):
        assignor = random.choice(habits.has_assignors)
    says_topics = is_join or random.random() < 0.08
    return ConsumerHeartbeat(
        client.member_id,
        0 if is_join else client.epoch + random.choice((-1, 1)) * (random.random() < 0.04),
        instance_id,
        None,
        random.choice(REBALANCES_MS) if is_join or random.random() < 0.2 else -1,
        topics if says_topics else None,
        {} if is_join else owned,
        pattern=pattern if says_topics else None,
        assignor=assignor,
    )


def _subscription(random: Random, habits: Habits) -> tuple[tuple[str, ...] | None, str | None]:
    """Return topics and pattern; at least one of them."""
    names = tuple(sorted(random.sample(TOPICS, random.randint(1, 3))))
    if not habits.has_patterns or random.random() < 0.4:
        return names, None if random.random() < 0.7 else ""
    number = random.choice((0, 0, 0, 1, 1, 2, 3, 4 if random.random() < 0.3 else 0))
    pattern = PATTERNS[number]
    return random.choice((None, (), names)), pattern


# Members of the classic protocol


def _classic_request(random: Random, client: Client) -> tuple[Operation, Request | None]:
    if random.random() < 0.06:
        return _leave(random, client)
    if client.waits and random.random() < 0.8:
        return {"op": "advance", "ms": random.choice((1, 100))}, None
    if client.must_sync and random.random() < (0.4 if client.members else 0.9):
        return _sync(random, client)  # leaders take their time
    if client.epoch <= 0 or client.must_join or random.random() < 0.1:
        return _join(random, client)
    if random.random() < 0.2:
        return _sync(random, client)
    request = Heartbeat(
        client.member_id, _instance(random, client), client.epoch - (random.random() < 0.04)
    )
    return operation_of(request), request


def _instance(random: Random, client: Client) -> str | None:
    return None if random.random() < 0.02 else client.instance_id


def _join(random: Random, client: Client) -> tuple[Operation, Request]:
    member_id = "" if random.random() < 0.04 else client.member_id
    if random.random() < 0.02:
        member_id = "nobody"
    if random.random() < 0.1:
        client.topics = tuple(sorted(random.sample(TOPICS, random.randint(1, 3))))
    if random.random() < 0.3:
        client.owned = {}  # an eager member
    version = random.choice((0, 1, 1, 2, 3))
    rack = random.choice((None, None, "r1")) if version == 3 else None
    blob = encode_subscription(
        Subscription(version=version, topics=client.topics, owned=client.owned, rack_id=rack)
    )
    if random.random() < 0.01:
        blob = b"\0"
    names = random.choice(PROTOCOLS[:3] if random.random() < 0.96 else PROTOCOLS)
    request = JoinGroup(
        client_id=client.name,
        member_id=member_id,
        instance_id=_instance(random, client),
        session_timeout_ms=random.choice(SESSIONS_MS),
        rebalance_timeout_ms=random.choice(REBALANCES_MS),
        protocols=tuple(Protocol(name, blob) for name in names),
        protocol_type=CONSUMER if random.random() < 0.99 else "connect",
    )
    client.waits, client.must_sync = True, False
    return operation_of(request), request


def _sync(random: Random, client: Client) -> tuple[Operation, Request]:
    plan = _plan(random, client.members)
    request = SyncGroup(
        client.member_id,
        _instance(random, client),
        client.epoch - (random.random() < 0.03),
        client.protocol if random.random() < 0.97 else "other",
        tuple(plan),
        random.choice((CONSUMER, CONSUMER, CONSUMER, None)),
    )
    client.waits, client.must_sync = True, False
    return operation_of(request), request


def _plan(random: Random, members: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Deal out seven partitions of each topic; now and then something goes wrong."""
    shares: dict[str, dict[str, tuple[int, ...]]] = {member_id: {} for member_id, _ in members}
    topics: dict[str, list[str]] = {}
    for member_id, blob in members:
        read = decode_subscription(blob).value
        for topic in () if read is None else read.topics:
            topics.setdefault(topic, []).append(member_id)
    for topic, takers in topics.items():
        for number in range(random.randint(0, 7)):
            taker = random.choice(takers)
            shares[taker][topic] = (*shares[taker].get(topic, ()), number)
    dice = random.random()
    if dice < 0.02 and len(shares) > 1:
        one, other, *_ = shares
        shares[one] = shares[other]
    data = b"x" if 0.02 < dice < 0.12 else None
    plan = [
        (each, encode_assignment(share, version=1, user_data=data))
        for each, share in shares.items()
        if random.random() < 0.97
    ]
    return [(each, b"\0\1\xff") for each, _ in plan] if 0.12 < dice < 0.13 else plan


def _leave(random: Random, client: Client) -> tuple[Operation, Request]:
    member_id, instance_id = client.member_id, _instance(random, client)
    if instance_id is not None and random.random() < 0.3:
        member_id = ""
    if random.random() < 0.8:
        client.restart(is_classic=client.is_classic)
    request = LeaveGroup(member_id, instance_id)
    return operation_of(request), request


# Answers


def learn(client: Client, request: Request, reply: Reply) -> None:
    response = reply.response
    if isinstance(response, OffsetsResponse):
        return
    client.waits = False
    if isinstance(response, ConsumerHeartbeatResponse):
        assert isinstance(request, ConsumerHeartbeat)
        _learn_from_heartbeat(client, request, response)
        return
    if response.error in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID}:
        client.restart(is_classic=client.is_classic)
    client.must_join = client.must_join or response.error is ErrorCode.REBALANCE_IN_PROGRESS
    if isinstance(response, JoinGroupResponse):
        if response.error is ErrorCode.MEMBER_ID_REQUIRED:
            client.member_id = response.member_id
        elif response.error is ErrorCode.NONE:
            client.member_id, client.epoch = response.member_id, response.generation
            client.protocol = response.protocol
            client.members = [(each.member_id, each.metadata) for each in response.members]
            client.must_sync, client.must_join = True, False
    elif isinstance(response, SyncGroupResponse) and response.error is ErrorCode.NONE:
        read = decode_assignment(response.assignment).value
        client.owned = {} if read is None else dict(read.partitions)


def _learn_from_heartbeat(
    client: Client, request: ConsumerHeartbeat, response: ConsumerHeartbeatResponse
) -> None:
    if response.error is not ErrorCode.NONE:
        if response.error is not ErrorCode.UNRELEASED_INSTANCE_ID:
            client.epoch, client.owned, client.wanted = 0, {}, {}
    elif request.epoch in {LEAVE_EPOCH, STATIC_LEAVE_EPOCH}:
        client.restart(is_classic=False)
    else:
        client.epoch = response.epoch
        if response.assignment is not None:
            client.wanted = dict(response.assignment)
