"""A member of the push protocol: what it has, and what it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.application import Application
from assignors.simulation.timed.protocols.effects import Effect
from assignors.simulation.timed.protocols.push.messages import JoinGroup, Partition, by_topic
from assignors.simulation.timed.scenario import MemberConfig, PushConfig
from wire import TopicPartitions


@dataclass(slots=True, kw_only=True)
class PushClient:
    """A member's side of the protocol."""

    config: MemberConfig
    push: PushConfig
    draw: Callable[[str, int], int]
    """(`"poll"`, limit) -> a random time in microseconds."""
    topics: tuple[str, ...] = ()
    member_id: str = ""
    is_up: bool = False
    is_stopping: bool = False
    version: int = 1
    """Of the assignment that it has."""
    epoch: int = 0
    """Of the group, when its last answer was sent."""
    held: dict[Partition, int] = field(default_factory=dict)
    """What it owns, with the number of each grant; it consumes what no callback has yet to take."""
    target: dict[Partition, int] = field(default_factory=dict)
    """The last assignment, without what it has given up since."""
    given_up: dict[Partition, int] = field(default_factory=dict)
    """Partition -> the last grant that it has given up: an older answer does not bring it back."""
    revoking: dict[Partition, int] = field(default_factory=dict)
    """What the callback that runs gives up."""
    application: Application = field(default_factory=Application)
    is_deferred: bool = False
    """The coordinator has removed it, and the application's thread has no time for that yet."""
    starting: set[Partition] = field(default_factory=set)
    """What the callback that runs takes."""
    arriving: set[Partition] = field(default_factory=set)
    """What the next one will take."""
    awaits_poll: bool = False
    """It has to give something up at its next poll."""
    is_late: bool = False
    """The application's thread was busy at the time of that poll."""
    has_new_topics: bool = False
    """Its subscription has changed since it asked to join."""
    fetches_refused: int = 0
    joined: int | None = None
    """The number of the JoinGroup under which it has its id; answers to older requests are void."""
    awaiting: int | None = None
    """The number of its last request for news."""
    fetching: int | None = None
    number: int = 0
    out: list[Effect] = field(default_factory=list)

    @property
    def owned(self) -> TopicPartitions:
        """What it owns. Cost: O(partitions)."""
        return by_topic(self.held)

    @property
    def beat_us(self) -> int:
        """The time from one of its heartbeats to the next."""
        return self.config.by_its_clock(self.config.heartbeat_interval_ms)

    @property
    def generation(self) -> int:
        """The group epoch that it knows."""
        return self.epoch

    @property
    def join_request(self) -> JoinGroup:
        """What it joins with, or changes its subscription."""
        config = self.config
        return JoinGroup(
            config.name,
            self.member_id,
            self.topics,
            config.rack_id,
            config.session_timeout_ms,
            config.rebalance_timeout_ms,
        )

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        busy = self.awaits_poll or self.application.is_in_callback
        return self.is_member and not busy

    @property
    def is_member(self) -> bool:
        """Whether it is in the group, as far as it knows."""
        return self.is_up and bool(self.member_id) and not self.is_out

    @property
    def is_out(self) -> bool:
        """Whether it is no longer in the group, and has not given up what it consumes."""
        return self.application.has_left or self.is_deferred
