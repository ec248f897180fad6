"""Messages on their way between members and the coordinator: delays, order, requests and answers.

Every member has a connection of its own; messages of one connection do not overtake each other. An
answer finds its way back by the number of its request; answers to a process that has ended are
dropped. How long a message takes depends on when it is sent, not on how many were sent before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.effects import (
    Answered,
    Arrived,
    Response,
    Send,
    is_plain,
)
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.random_streams import MEANS_MAX, exponential_at, stream_seed
from assignors.simulation.timed.scenario import NetworkConfig


@dataclass(slots=True)
class Link:
    """A member's connection: its delays, and when the last message each way arrives."""

    to: int
    """The seed of the delays on the way to the coordinator."""
    back: int
    arrives: int = 0
    returns: int = 0
    life: int = 0
    """Counts the member's processes."""
    unanswered: int = 0
    """Requests that the coordinator has not answered yet."""


@dataclass(slots=True, kw_only=True)
class Network:
    """The connections of all members, and the requests that wait for an answer."""

    config: NetworkConfig
    links: list[Link]
    in_flight: dict[int, tuple[int, int, int, Rank | None]] = field(default_factory=dict)
    """Request -> member, its own number of the request, its life, the rank of the answer."""
    sent: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    """Requests sent, by type."""
    busy_until: int = 0
    """When the coordinator has handled what has arrived."""

    @classmethod
    def of(cls, config: NetworkConfig, seed: int, names: Iterable[str]) -> Network:
        """Return a network of members with these names. Cost: O(members)."""
        return cls(
            config=config,
            links=[
                Link(stream_seed(seed, name, "requests"), stream_seed(seed, name, "answers"))
                for name in names
            ],
        )

    def start(self, member: int) -> None:
        """Begin the life of a process: answers to the one before it are dropped."""
        self.links[member].life += 1

    @property
    def longest_us(self) -> int:
        """No message takes longer."""
        return self.config.least_us + MEANS_MAX * self.config.mean_us

    def send(self, now: int, member: int, effect: Send) -> tuple[int, Rank | None, Arrived]:
        """Return when a request reaches the coordinator, in microseconds, its rank, and as what."""
        link = self.links[member]
        link.arrives = arrives = self.arrives(member, now + effect.after_us)
        link.unanswered += 1
        self.sent = number = self.sent + 1
        is_heartbeat = is_plain(effect.request)
        rank = Rank.ANSWER if is_heartbeat else None
        self.in_flight[number] = (member, effect.number, link.life, rank)
        self.requests[type(effect.request).__name__] += 1
        return arrives, Rank.ARRIVAL if is_heartbeat else None, Arrived(number, effect.request)

    def handled(self, now: int, event: object, service_us: int) -> int:
        """Return when the coordinator has handled an event: one request after the other.

        But a heartbeat that says nothing is handled beside the others.
        """
        if isinstance(event, Arrived):
            if is_plain(event.request):
                return now + service_us
            self.busy_until = max(now, self.busy_until) + service_us
        return max(now, self.busy_until)

    def answer(
        self, leaves: int, number: int, response: Response
    ) -> tuple[int, Rank | None, int, Answered] | None:
        """Return when an answer that leaves then arrives, its rank, at which member, and as what.

        `None`: the process that asked has ended.
        """
        member, own_number, life, rank = self.in_flight.pop(number)
        link = self.links[member]
        link.unanswered -= 1
        if life != link.life:
            return None
        link.returns = returns = self.returns(member, leaves)
        return returns, rank, member, Answered(own_number, response)

    def arrives(self, member: int, at: int) -> int:
        """Return when a request arrives that is sent at `at`, as the next one."""
        link, config = self.links[member], self.config
        return max(at + config.least_us + exponential_at(link.to, at, config.mean_us), link.arrives)

    def returns(self, member: int, at: int) -> int:
        """Return when an answer arrives that leaves at `at`, as the next one."""
        link, config = self.links[member], self.config
        delay = config.least_us + exponential_at(link.back, at, config.mean_us)
        return max(at + delay, link.returns)

    def passed(self, member: int, arrives: int, returns: int) -> None:
        """Let later messages of a member wait for a request and its answer that were computed."""
        link = self.links[member]
        link.arrives, link.returns = arrives, returns

    def count(self, request: str, count: int) -> None:
        """Count requests that were computed, by the name of their type."""
        if count:
            self.requests[request] += count
