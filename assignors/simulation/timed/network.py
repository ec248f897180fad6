"""Messages on their way between members and the coordinator: delays, order, requests and answers.

Every member has a connection of its own; messages of one connection do not overtake each other. An
answer finds its way back by the number of its request; answers to a process that has ended, and
those on a connection that was closed, are dropped. What is lost is not sent again here but by the
member, as in a client, when the time of its request is over: an answer that is lost means that the
coordinator has done what was asked. Only the fault `duplicate` delivers a request twice.

A connection is like one of TCP. A message does not get lost alone: with it everything on the same
connection does, either way, until the member notices and opens another one. What is sent while the
network is cut waits for the end of the cut, unless the request is given up before.

Source of the time limits: `NetworkClient` and `AbstractCoordinator` of Kafka's Java client.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from assignors.simulation.dice import Dice
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    STANDING,
    Answered,
    Arrived,
    Committed,
    NotCoordinator,
    Request,
    Response,
    Send,
    is_plain,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    JoinGroup,
    JoinGroupResponse,
    SyncGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.random_streams import MEANS_MAX, exponential_at, stream, stream_seed
from assignors.simulation.timed.scenario import (
    Direction,
    GroupProtocol,
    MemberConfig,
    Scenario,
)

MILLION = 1_000_000
ARRIVAL, ANSWER = Rank.ARRIVAL, Rank.ANSWER
WAITING = frozenset({JoinGroup, SyncGroup})
WAITED_FOR = frozenset({JoinGroupResponse, SyncGroupResponse})
NEVER = 1 << 60
"""Microseconds: later than any run."""

Waiting = tuple[int, int, int, int, Rank | None]
"""A request's member, that one's number of it, its life, its deadline, the rank of the answer."""


class TimedOut(NamedTuple):
    """An event at a member: the time of a request is over, and no answer has come."""

    request: int


class Silent(NamedTuple):
    """An event at a member: it last heard of the coordinator a session timeout ago, at `since`."""

    since: int


@dataclass(slots=True, kw_only=True)
class Trouble:
    """The state of a connection with which something has gone wrong; times are microseconds."""

    losses: Dice
    copies: Dice
    requests_cut_until: int = 0
    answers_cut_until: int = 0
    opens_at: int = 0
    """When the network lets the member open its new connection."""
    extra_us: int = 0
    loss: int = 0
    """Chance of a message to get lost, in millionths."""
    duplicates: int = 0
    """Chance of a request to arrive twice, in millionths."""
    copy_late_us: int = 0
    copies_until: int = 0
    """By then every second copy has arrived."""
    is_lost: bool = False
    """The connection is dead, and the member has not noticed."""
    dead: Direction | None = None
    """It is so in this direction alone."""
    watched: int = -1
    """Since when the member had heard nothing when a `Silent` was asked for last."""

    def open(self, now: int) -> None:
        """Open another connection, as soon as no cut is in the way."""
        self.is_lost, self.dead = False, None
        cut_until = max(self.requests_cut_until, self.answers_cut_until)
        self.opens_at = cut_until if cut_until > now else 0

    def is_over(self, now: int) -> bool:
        """Return whether all is well again."""
        is_dead = self.is_lost or self.dead is not None
        is_as_usual = not (is_dead or self.loss or self.extra_us or self.duplicates)
        changes_until = max(self.requests_cut_until, self.answers_cut_until, self.copies_until)
        return is_as_usual and changes_until <= now

    def is_sent_twice(self) -> bool:
        """Return whether the next request arrives twice."""
        return self.duplicates > 0 and self.copies.below(MILLION) < self.duplicates

    def arrival(self, leaves: int, arrives: int, deadline: int, direction: Direction) -> int | None:
        """Return when a message arrives that would arrive then; `None`: not by its deadline.

        Then the connection is dead; in one direction alone, where the other one is not cut.
        """
        cut_until, other = self.requests_cut_until, self.answers_cut_until
        if direction is Direction.ANSWERS:
            cut_until, other = other, cut_until
        late = arrives + self.extra_us + max(cut_until - leaves, self.opens_at - leaves, 0)
        is_lost = self.loss > 0 and self.losses.below(MILLION) < self.loss
        if self.is_lost or is_lost or late > deadline or direction is self.dead:
            if cut_until > leaves >= other and not is_lost:
                self.dead = direction
            else:
                self.is_lost = True
            return None
        return late


@dataclass(slots=True)
class Link:
    """A member's connection: its delays, and when the last message each way arrives."""

    config: MemberConfig
    to: int
    """The seed of the delays on the way to the coordinator."""
    back: int
    limit_us: int
    """How long a request may take that need not wait at the coordinator."""
    arrives: int = 0
    returns: int = 0
    life: int = 0
    """Counts the member's processes and connections."""
    unanswered: int = 0
    """Requests that the coordinator has not answered yet."""
    trouble: Trouble | None = None
    """`None`: nothing has gone wrong so far."""


@dataclass(slots=True, kw_only=True)
class Network:
    """The connections of all members, and the requests that wait for an answer."""

    scenario: Scenario
    queue: EventQueue[Any]
    """Time limits are put there, as events of members."""
    links: list[Link]
    in_flight: dict[int, Waiting] = field(default_factory=dict)
    limits: dict[int, tuple[str | int, ...]] = field(default_factory=dict)
    """The timers by which some of them are given up."""
    copies: dict[int, Request] = field(default_factory=dict)
    """Requests that will arrive a second time."""
    sent: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    """Requests that reach the coordinator, by type."""
    least_us: int
    mean_us: int
    """A message takes the least time and an exponential part with this mean."""
    has_classic: bool
    """Whether some members may be classic."""
    is_executed: bool = False
    """Whether a model executes the coordinator: any request may wait there."""
    busy_until: int = 0
    """When the coordinator has handled what has arrived."""
    detour: Callable[[int, int, int], bool] | None = None
    """(member, request, when it arrives) -> whether a broker that is no coordinator gets it."""
    may_rest: Callable[[int], bool] | None = None
    """Whether a member has heard of the present coordinator; `None`: it is always the same."""

    @classmethod
    def of(cls, scenario: Scenario, queue: EventQueue[Any]) -> Network:
        """Return the network of a scenario. Cost: O(members)."""
        of, config = partial(stream_seed, scenario.seed), scenario.network
        seeds = [(of(each.name, "requests"), of(each.name, "answers")) for each in scenario.members]
        links = [
            Link(each, *ways, each.request_timeout_ms * MILLISECOND)
            for each, ways in zip(scenario.members, seeds, strict=True)
        ]
        classic = GroupProtocol.CLASSIC in scenario.protocols
        return cls(
            scenario=scenario,
            queue=queue,
            links=links,
            least_us=config.least_us,
            mean_us=config.mean_us,
            has_classic=classic,
        )

    def start(self, member: int) -> None:
        """Open the connection of a process: answers to the one before it are dropped."""
        link = self.links[member]
        link.life += 1
        if link.trouble is not None:
            link.trouble.open(self.queue.now)

    @property
    def longest_us(self) -> int:
        """No message takes longer where nothing is wrong."""
        return self.least_us + MEANS_MAX * self.mean_us

    def send(self, now: int, member: int, effect: Send) -> tuple[int, Rank | None, Arrived] | None:
        """Return when a request reaches the coordinator, in microseconds, its rank, and as what.

        `None`: it is lost. Only those that may wait at the coordinator have a timer otherwise.
        """
        link, (own_number, request, after_us) = self.links[member], effect
        kind, leaves = type(request), now + after_us
        arrives = leaves + self._delay(link.to, leaves)
        is_heartbeat, may_wait, limit = is_plain(request), kind in WAITING, link.limit_us
        if may_wait:
            limit = MILLISECOND * (
                link.config.join_limit_ms if kind is JoinGroup else link.config.sync_limit_ms
            )
        deadline = leaves + (NEVER if kind in STANDING else limit)
        self.sent = number = self.sent + 1
        link.unanswered += 1
        if link.trouble is not None:
            deadline += max(link.trouble.opens_at - leaves, 0)
        rank = ANSWER if is_heartbeat else None
        self.in_flight[number] = (member, own_number, link.life, deadline, rank)
        if link.trouble is not None:
            passed = link.trouble.arrival(leaves, arrives, deadline, Direction.REQUESTS)
            if passed is None:
                self._lose(number, min(deadline, leaves + limit))
                return None
            arrives = passed
        if self.detour is not None and self.detour(member, number, max(arrives, link.arrives)):
            return None
        if may_wait or (self.is_executed and kind not in STANDING):
            self._give_up_at(deadline, member, number)
        link.arrives = arrives = max(arrives, link.arrives)
        self.requests[kind.__name__] += 1
        if link.trouble is not None and link.trouble.is_sent_twice():
            self.copies[number] = request
        return arrives, ARRIVAL if is_heartbeat else None, Arrived(number, request)

    def _deliver_again(self, trouble: Trouble, member: int, leaves: int, request: Request) -> None:
        """Let a request arrive a second time whose first answer leaves then.

        A broker reads nothing more of a connection before it has answered. To the second copy it
        answers a number that nobody waits for.
        """
        self.sent += 1
        at = leaves + 1 + trouble.copy_late_us
        trouble.copies_until = max(trouble.copies_until, at)
        self.requests[type(request).__name__] += 1
        rank = ARRIVAL if is_plain(request) else None
        self.queue.put(at, (COORDINATOR, Arrived(self.sent, request)), rank, member)

    def handled(self, now: int, event: object, service_us: int) -> int:
        """Return when the coordinator has handled an event: one request after the other.

        But a heartbeat that says nothing is handled beside the others, and an answer that has
        waited for the log leaves at once.
        """
        if type(event) is Arrived:
            if is_plain(event.request):
                return now + service_us
            self.busy_until = max(now, self.busy_until) + service_us
        elif type(event) is Committed:
            return now
        return max(now, self.busy_until)

    def answer(
        self, leaves: int, number: int, response: Response
    ) -> tuple[int, Rank | None, int, Answered] | None:
        """Return when an answer that leaves then arrives, its rank, at which member, and as what.

        `None`: it is lost, or nobody waits for it any more.
        """
        waiting = self.in_flight.pop(number, None)
        if waiting is None:
            return None
        member, own_number, life, deadline, rank = waiting
        link = self.links[member]
        link.unanswered -= 1
        request = self.copies.pop(number, None) if self.copies else None
        if request is not None and type(response) is not NotCoordinator:
            self._deliver_again(self.trouble(member), member, leaves, request)
        if life != link.life:
            return None
        returns = leaves + self._delay(link.back, leaves)
        if link.trouble is not None:
            passed = link.trouble.arrival(leaves, returns, deadline, Direction.ANSWERS)
            if passed is None:
                self.in_flight[number] = waiting
                link.unanswered += 1
                # One that may wait for as long as it likes has a limit of its own from here on.
                latest = leaves + link.limit_us if deadline >= NEVER else max(deadline, leaves)
                self._lose(number, latest)
                return None
            returns = passed
        if self.is_executed or type(response) in WAITED_FOR:
            self.no_limit(number)
        link.returns = returns = max(returns, link.returns)
        return returns, rank, member, Answered(own_number, response)

    def arrives(self, member: int, at: int) -> int:
        """Return when a request arrives that is sent at `at`, as the next one."""
        link = self.links[member]
        return max(at + self._delay(link.to, at), link.arrives)

    def returns(self, member: int, at: int) -> int:
        """Return when an answer arrives that leaves at `at`, as the next one."""
        link = self.links[member]
        return max(at + self._delay(link.back, at), link.returns)

    def count(self, request: str, count: int) -> None:
        """Count requests that were computed, by the name of their type."""
        if count:
            self.requests[request] += count

    def is_well(self, member: int) -> bool:
        """Return whether nothing goes wrong with a member's connection, or is about to."""
        trouble = self.links[member].trouble
        is_well = trouble is None or trouble.is_over(self.queue.now)
        return is_well and (self.may_rest is None or self.may_rest(member))

    def disconnect(self, member: int) -> list[int]:
        """Close a member's connection, open another one; return which requests have no answer.

        By the member's own numbers, the oldest first. Cost: O(requests in flight).
        """
        listed = [(n, each[1]) for n, each in self.in_flight.items() if each[0] == member]
        for number, _ in listed:
            del self.in_flight[number]
            self.no_limit(number)
            self.copies.pop(number, None)
        self.links[member].unanswered -= len(listed)
        self.start(member)
        return [own_number for _, own_number in listed]

    def trouble(self, member: int) -> Trouble:
        """Return the troubles of a member's connection, none of them if it had none."""
        link = self.links[member]
        if link.trouble is None:
            draws = partial(stream, self.scenario.seed, link.config.name)
            link.trouble = Trouble(losses=draws("loss"), copies=draws("copies"))
        return link.trouble

    def _delay(self, seed: int, at: int) -> int:
        return self.least_us + exponential_at(seed, at, self.mean_us)

    def no_limit(self, number: int) -> None:
        """Let a request wait for its answer without a limit, if it has one. Cost: O(1)."""
        key = self.limits.pop(number, None)
        if key is not None:
            self.queue.stop(key)

    def _give_up_at(self, deadline: int, member: int, number: int) -> None:
        """Give up a request at its deadline, by the member's own timer if that is free."""
        key: tuple[str | int, ...] = ("request", member)
        if self.queue.due(key) is not None:
            key = ("request", member, number)
        self.limits[number] = key
        self.queue.start(key, deadline, (member, TimedOut(number)))

    def _lose(self, number: int, deadline: int) -> None:
        """Lose a message: its member notices when the request's time, or a session, is over."""
        member = self.in_flight[number][0]
        link, trouble = self.links[member], self.trouble(member)
        self.no_limit(number)
        self.queue.put(deadline, (member, TimedOut(number)))
        if self.has_classic and link.returns and trouble.watched != link.returns:
            trouble.watched = link.returns
            over = link.returns + link.config.session_timeout_ms * MILLISECOND
            self.queue.put(max(over, self.queue.now), (member, Silent(link.returns)))
