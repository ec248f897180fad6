"""A group of client sessions: real bytes between them, a clock, and what each really consumes.

What a broker does is here: generations, who leads, and who gets its answer. No member starts a
partition that another one may still consume, in whatever order answers arrive; and in any time the
partitions that are taken from somebody who has a right to them stay within the budget.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from assignors import Cluster, Weighting
from assignors.clients.common.client_session import ClientSession, new_session
from assignors.clients.common.move_batches import MoveBatches
from assignors.model import Group
from assignors.weighting.token_bucket import TimedBudget
from wire import decode_assignment

LOGGER = logging.getLogger("test")
SESSION_S = 45.0
Owned = frozenset[tuple[str, int]]
ROUNDS_MAX = 12


@dataclass(slots=True)
class Player:
    """A member: its session, its subscription, and what it consumes."""

    session: ClientSession
    topics: tuple[str, ...]
    owned: Owned = frozenset()
    generation: int = -1


@dataclass(slots=True)
class SessionGroup:
    """Members by id; `leader` is one of them."""

    topics: dict[str, int]
    budget: TimedBudget
    weigh: Callable[[Group], Weighting | None]
    name: str = "cooperative-weighted"
    players: dict[str, Player] = field(default_factory=dict)
    leader: str = ""
    generation: int = 0
    now_ms: int = 0
    births: int = 0
    taken: list[tuple[int, int]] = field(default_factory=list)
    """(time, partitions taken from members with a right to them), a round each."""

    def join(self, topics: tuple[str, ...]) -> str:
        self.births += 1
        name = f"m{self.births:03d}"
        session = new_session(self.name, logger=LOGGER)
        session.batches = MoveBatches(
            weighting_of=self.weigh, budget=self.budget, logger=LOGGER, clock=lambda: self.now_ms
        )
        self.players[name] = Player(session, topics)
        self.leader = self.leader or name
        return name

    def leave(self, name: str) -> None:
        del self.players[name]
        if self.leader == name:
            self.leader = next(iter(self.players), "")

    @property
    def led_by(self) -> ClientSession:
        return self.players[self.leader].session

    def round(self, *, deaf: Collection[str] = (), is_confirmed: bool = True) -> bool:
        """Play a round; return whether there is a reason for another one."""
        is_cooperative = self.led_by.assignor.is_cooperative
        last, self.generation = self.generation, self.generation + 1
        blobs = {
            name: one.session.join(
                one.topics,
                owned=by_topic(one.owned) if is_cooperative else {},
                generation=one.generation,
            )
            for name, one in self.players.items()
        }
        cluster = Cluster.of(self.topics)
        answer = self.led_by.lead(cluster, blobs, instance_ids={}, joined=self.generation)
        plan = {name: owned_of(blob) for name, blob in answer.items()}
        if is_cooperative:
            for name, given in plan.items():
                for other, one in self.players.items():
                    assert other == name or not given & one.owned, (name, other, "two owners")
        lost = {
            name: {each for each in one.owned - plan[name] if each[0] in one.topics}
            for name, one in self.players.items()
        }
        rightful = [lost[name] for name, one in self.players.items() if one.generation == last]
        self.taken.append((self.now_ms, sum(map(len, rightful))))
        for name in plan.keys() - set(deaf):
            one = self.players[name]
            one.owned, one.generation = plan[name], self.generation
            one.session.applied(by_topic(plan[name]), self.generation)
        follows = is_confirmed and self.leader not in deaf and self.led_by.confirmed()
        rejoins = is_cooperative and any(lost[name] for name in plan.keys() - set(deaf))
        return follows or rejoins or bool(deaf)

    def settle(self) -> int:
        """Play rounds until nobody wants another; return how many."""
        for count in range(1, ROUNDS_MAX + 1):
            if not self.round():
                return count
        raise AssertionError("the group never rests")

    def look(self) -> int | None:
        """Let the time pass until the leader looks for moves; return the rounds that follow.

        `None` where it does not look.
        """
        wait_s = self.led_by.wait_s(SESSION_S)
        if wait_s is None:
            return None
        self.now_ms += round(wait_s * 1000)
        return self.settle() if self.led_by.must_move() else 0

    def require_within_budget(self) -> None:
        """Fail where more was taken in some time than the budget allows."""
        cost, every_ms = self.budget.cost, self.budget.every_ms
        if cost is None:
            return
        for at, (begin_ms, _) in enumerate(self.taken):
            total = 0
            for end_ms, count in self.taken[at:]:
                total += count
                assert total <= cost + cost * (end_ms - begin_ms) // every_ms, "over the budget"

    def load(self, weights: dict[str, tuple[int, ...]]) -> dict[str, int]:
        """Return the weight that each member has."""
        return {
            name: sum(weights[topic][number] for topic, number in one.owned)
            for name, one in self.players.items()
        }


def by_topic(owned: Owned) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for topic, number in sorted(owned):
        found.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in found.items()}


def owned_of(blob: bytes) -> Owned:
    partitions = decode_assignment(blob).require().partitions
    return frozenset((topic, number) for topic, numbers in partitions.items() for number in numbers)
