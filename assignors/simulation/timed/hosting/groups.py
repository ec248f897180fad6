"""The groups of a coordinator as the handler of its execution model.

A handler changes no state of the model: it reads the records of a group from the state of its
partition, and returns those that a request leads to. A group that runs is kept in between, and
compared with its records at every request (`live_group`): where they differ, an append has failed
or another coordinator has written meanwhile, and the group is made anew.

Answers wait for the model, all of a request's together: also those to others that have waited for
it. Timers start at once, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.jvm.offsets_partition import offsets_partition
from assignors.simulation.timed.execution.port import (
    Answer,
    Failure,
    Handled,
    Refused,
    Request,
    State,
)
from assignors.simulation.timed.hosting.live_group import (
    HostSettings,
    LiveGroup,
    Records,
    Timer,
    is_current,
    live_group,
    load,
    play,
)
from assignors.simulation.timed.hosting.record_bytes import TopicNames, group_of
from assignors.simulation.timed.protocols.effects import Arrived, Fired, Reply
from assignors.simulation.timed.protocols.effects import Request as GroupRequest
from assignors.simulation.timed.protocols.kafka.messages import OffsetCommit, OffsetFetch
from assignors.simulation.timed.sides import new_ids


class Ask(NamedTuple):
    """What a request of the execution model is about: an event of a group, and when it came."""

    at_us: int
    event: Arrived | Fired


class Unserved(NamedTuple):
    """A request that its group does not answer; its client asks again."""

    number: int
    failure: Failure


class GroupTimer(NamedTuple):
    """A timer of a group starts or stops."""

    group: int
    timer: Timer


class Restarted(NamedTuple):
    """A group is made anew, or is gone: none of its timers so far means anything."""

    group: int


AtOnce = Unserved | GroupTimer | Restarted
"""What waits for no record."""


@dataclass(slots=True)
class _Keys:
    """The keys of a partition's records by group."""

    state: State
    of_group: dict[int, dict[Hashable, None]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Groups:
    """The groups of one coordinator."""

    settings: HostSettings
    topics: TopicNames
    partitions: int
    """How many the offsets topic has."""
    new_id: Callable[[str], str]
    names: dict[int, str] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    live: dict[int, LiveGroup] = field(default_factory=dict)
    unanswered: dict[int, int] = field(default_factory=dict)
    """Number of a request of a client -> the group that it is for."""
    replies: dict[int, tuple[Reply, ...]] = field(default_factory=dict)
    """Number of an event whose records are not replicated -> the answers that wait for them."""
    out: list[AtOnce] = field(default_factory=list)
    _keys: dict[int, _Keys] = field(default_factory=dict)

    @classmethod
    def of(
        cls, settings: HostSettings, partitions: int, topics: TopicNames | None = None
    ) -> Groups:
        """Return the groups of a coordinator that has none yet.

        `topics` are the ids that its records have; `None`: those of the settings' cluster.
        """
        return cls(
            settings=settings,
            topics=topics or TopicNames.of_cluster(settings.cluster),
            partitions=partitions,
            new_id=new_ids(settings.seed),
        )

    def number_of(self, name: str, partition: int | None = None) -> int:
        """Return the number of a group; modulo the partitions it is that of its partition.

        A group that is new goes to `partition`, or to the one that Kafka gives it. Cost: O(1).
        """
        number = self.numbers.get(name)
        if number is None:
            place = offsets_partition(name, self.partitions) if partition is None else partition
            number = len(self.names) * self.partitions + place
            self.numbers[name], self.names[number] = number, name
        return number

    def request(self, number: int, name: str, at_us: int, request: GroupRequest) -> Request:
        """Return a client's request for the execution model. Cost: O(1)."""
        group = self.number_of(name)
        self.unanswered[number] = group
        is_commit = isinstance(request, OffsetCommit | OffsetFetch)
        return Request(number, group, Ask(at_us, Arrived(number, request)), is_commit=is_commit)

    def handle(self, state: State, request: Request) -> Handled:
        """Handle a request on the records of its group: the handler of the execution model.

        Raises `Refused` for the request of a client that waits no longer, and for commits in
        transactions. Cost: O(records of the group), and that of the group's step.
        """
        at_us, event = request.what
        if isinstance(event, Arrived):
            if event.number not in self.unanswered:
                raise Refused("its client waits no longer")
            if isinstance(event.request, OffsetCommit) and event.request.is_transactional:
                raise Refused("a commit in a transaction: its markers are not played")
        live = self._current(state, request.group)
        done = play(live, at_us, event)
        self._keys_of(state, request.group).update(dict.fromkeys(each.key for each in done.entries))
        self.out += (GroupTimer(request.group, timer) for timer in done.timers)
        gone = (each for each in done.dropped if self._is_first_answer(each))
        self.out += (Unserved(number, Failure.REFUSED) for number in gone)
        answered = tuple(each for each in done.replies if each.number in self.unanswered)
        self.replies[request.number] = answered
        return Handled(done.entries, answered)

    def settle(self, answer: Answer) -> list[Reply | Unserved]:
        """Return what clients get once the model answers an event: what the group said, or why not.

        Cost: O(answers).
        """
        replies = self.replies.pop(answer.number, ())
        found: list[Reply | Unserved] = []
        if answer.failure is None:
            found += replies
        else:
            numbers = dict.fromkeys((*(each.number for each in replies), answer.number))
            found += (Unserved(number, answer.failure) for number in numbers)
        return [each for each in found if self._is_first_answer(each.number)]

    def _is_first_answer(self, number: int) -> bool:
        group = self.unanswered.pop(number, None)
        if group is None:
            return False
        if group in self.live:
            self.live[group].waiting.discard(number)
        return True

    def lose(self, partition: int) -> None:
        """Give up the groups of a partition: who waits there is answered. Cost: O(groups)."""
        for group in self.of_partition(partition):
            self._give_up(group, Failure.NOT_COORDINATOR)
            del self.live[group]
        self._keys.pop(partition, None)

    def load(self, partition: int, state: State) -> None:
        """Make every group of a partition whose log has been read. Cost: O(bytes)."""
        for group in self._index(state, partition).of_group:
            self._current(state, group)

    def look_again(self, groups: Iterable[int], state: State) -> None:
        """Compare groups of a partition with their records: an append has failed.

        Cost: O(their records).
        """
        for group in groups:
            if group in self.live:
                self._current(state, group)

    def of_partition(self, partition: int) -> list[int]:
        """Return the groups of a partition that run. Cost: O(groups)."""
        return [each for each in self.live if each % self.partitions == partition]

    def taken(self) -> list[AtOnce]:
        """Return what waits for no record, since this was called last."""
        out, self.out = self.out, []
        return out

    def _current(self, state: State, number: int) -> LiveGroup:
        """Return a group as its records are, made anew if it is not."""
        keys = self._keys_of(state, number)
        records: Records = {key: state[key] for key in keys if key in state}
        live = self.live.get(number)
        if live is not None and is_current(live, records):
            return live
        if live is None:
            name = self.names[number]
            live = self.live[number] = live_group(name, self.settings, self.topics, self.new_id)
            if not records:
                return live
        else:
            self._give_up(number, Failure.APPEND)
        self.out += (GroupTimer(number, each) for each in load(live, records))
        return live

    def _give_up(self, number: int, failure: Failure) -> None:
        """Answer all who wait at a group, and forget its timers."""
        waiting = sorted(self.live[number].waiting)
        self.out += (Unserved(n, failure) for n in waiting if self._is_first_answer(n))
        self.out.append(Restarted(number))

    def _keys_of(self, state: State, number: int) -> dict[Hashable, None]:
        of_group = self._index(state, number % self.partitions).of_group
        return of_group.setdefault(number, {})

    def _index(self, state: State, partition: int) -> _Keys:
        """Return the keys of a partition, found in its state where that is another one."""
        known = self._keys.get(partition)
        if known is not None and known.state is state:
            return known
        known = self._keys[partition] = _Keys(state)
        for key in state:
            assert isinstance(key, bytes)
            name = group_of(key)
            if name is not None:
                number = self.number_of(name, partition)
                known.of_group.setdefault(number, {})[key] = None
        return known
