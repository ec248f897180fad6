"""Messages on their way between members and the coordinator: delays, order, requests and answers.

Every member has a connection of its own; messages of one connection do not overtake each other. An
answer finds its way back by the number of its request; answers to a process that has ended are
dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from assignors.simulation.dice import Dice
from assignors.simulation.timed.protocols.effects import Answered, Arrived, Response, Send
from assignors.simulation.timed.random_streams import exponential, stream
from assignors.simulation.timed.scenario import NetworkConfig


@dataclass(slots=True)
class Link:
    """A member's connection: its delays, and when the last message each way arrives."""

    delays: Dice
    arrives: int = 0
    returns: int = 0
    life: int = 0
    """Counts the member's processes."""


@dataclass(slots=True, kw_only=True)
class Network:
    """The connections of all members, and the requests that wait for an answer."""

    config: NetworkConfig
    links: list[Link]
    in_flight: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Request -> member, its own number of the request, its life."""
    sent: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    """Requests sent, by type."""

    @classmethod
    def of(cls, config: NetworkConfig, seed: int, names: Iterable[str]) -> Network:
        """Return a network of members with these names. Cost: O(members)."""
        return cls(config=config, links=[Link(stream(seed, name, "network")) for name in names])

    def start(self, member: int) -> None:
        """Begin the life of a process: answers to the one before it are dropped."""
        self.links[member].life += 1

    def send(self, now: int, member: int, effect: Send) -> tuple[int, Arrived]:
        """Return when a request reaches the coordinator, in microseconds, and as what."""
        link = self.links[member]
        arrives = now + effect.after_us + self._delay(link)
        link.arrives = max(arrives, link.arrives)
        self.sent += 1
        self.in_flight[self.sent] = (member, effect.number, link.life)
        self.requests[type(effect.request).__name__] += 1
        return link.arrives, Arrived(self.sent, effect.request)

    def answer(
        self, leaves: int, number: int, response: Response
    ) -> tuple[int, int, Answered] | None:
        """Return when an answer that leaves then reaches which member, and as what.

        `None`: the process that asked has ended.
        """
        member, own_number, life = self.in_flight.pop(number)
        link = self.links[member]
        if life != link.life:
            return None
        link.returns = max(leaves + self._delay(link), link.returns)
        return link.returns, member, Answered(own_number, response)

    def _delay(self, link: Link) -> int:
        return self.config.least_us + exponential(link.delays, self.config.mean_us)
