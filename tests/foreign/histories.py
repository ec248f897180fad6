"""Random histories of a group, played by our coordinator: for Kafka's to play as well.

A history is a list of operations: requests of a few clients (`history_clients`), topics that come
and go, and times that pass. Clients mostly do what clients do, from what they were answered; now
and then one sends an old generation, a wrong member id, or joins twice. Operation n is request n;
its answer may come many operations later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from assignors.simulation.timed.protocols.effects import (
    Reply,
    Request,
)
from tests.foreign import commits
from tests.foreign.history_clients import TOPICS, Client, Habits, learn, next_of
from tests.foreign.player import Drawn, Losses, Player, played
from tests.foreign.plays import Step


def history(
    seed: int,
    length: int,
    see: Callable[[Player], None] = lambda _: None,
    losses: Losses | None = None,
    *,
    classics: float | None = None,
) -> tuple[dict[str, Any], list[Step]]:
    """Return a request for the judge (`algo`, `broker`, `ops`) and what ours did at each step.

    `classics` is the share of clients of the classic protocol. Without it the share is drawn, and
    clients change their protocol.

    `see` is called after each step, as long as what it wrote is in `Player.records`.
    With `losses` appends wait, and may be lost.
    """
    random = Random(seed)
    broker = _broker(random)
    habits = _habits(random, broker)
    ours = Player(broker)
    counts = {topic: random.randint(1, 7) for topic in TOPICS[: random.randint(1, 3)]}
    statics, drawn = random.random() < 0.5, random.choice((0.0, 0.2, 0.5, 0.8, 1.0, 1.0))
    if classics is not None:
        habits, drawn = replace(habits, restarts=0.0), classics
    clients = []
    for i in range(random.choice((1, 2, 2, 3, 3, 4, 6))):
        instance_id = f"i{i % 4}" if statics and random.random() < 0.6 else None
        client = Client(name=f"c{i}", instance_id=instance_id, is_classic=False)
        client.restart(is_classic=random.random() < drawn)
        clients.append(client)
    asking: dict[int, tuple[Client, int]] = {}

    def draw(number: int) -> Drawn:
        if number == 0:
            return {"op": "topics", "topics": dict(counts)}, None
        client = random.choice(clients)
        op, request = next_of(random, habits, client, counts)
        asking[number] = client, client.life
        return op, request

    def learned(request: Request, reply: Reply) -> None:
        client, life = asking[reply.number]
        if life == client.life:
            learn(client, request, reply)

    def forget() -> None:
        for client in clients:
            client.waits = False

    ops, steps = played(
        random, ours, length, draw=draw, learn=learned, forget=forget, see=see, losses=losses
    )
    return {"algo": "coordinator", "broker": broker, "ops": ops}, steps


HISTORIES: dict[str, Callable[..., tuple[dict[str, Any], list[Step]]]] = {
    "classic": partial(history, classics=1.0),
    "consumer": partial(history, classics=0.0),
    "mixed": history,
}


def _broker(random: Random) -> dict[str, str]:
    return {
        **random.choice(commits.KEEPING),
        "group.initial.rebalance.delay.ms": random.choice(("3000", "0", "0")),
        "group.consumer.assignors": random.choice(
            ("uniform,range", "range,uniform", "uniform", "range")
        ),
        "group.consumer.assignment.interval.ms": random.choice(("1000", "1000", "0")),
        "group.consumer.migration.policy": random.choice(
            ("bidirectional", "bidirectional", "upgrade", "downgrade", "disabled")
        ),
        **random.choice(({}, {}, {"group.max.size": "2"}, {"group.consumer.max.size": "2"})),
    }


def _habits(random: Random, broker: Mapping[str, str]) -> Habits:
    names = tuple(broker["group.consumer.assignors"].split(","))
    return Habits(
        has_patterns=random.random() < 0.4,
        has_assignors=names if random.random() < 0.5 else (),
        deletes_topics=random.random() < 0.3,
        restarts=random.choice((0.0, 0.01, 0.02, 0.05, 0.1)),
    )
