"""What members on their way ask the coordinator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.protocols.consumer.assignment.joined import joined
from assignors.simulation.timed.protocols.consumer.assignment.unwritten import (
    Kept,
    brought_on,
    released,
    to_give_up,
    told,
)
from assignors.simulation.timed.protocols.consumer.coordinator import heartbeat
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient, next_request
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.consumer.step import CLOCK_STARTS_MS, WaitingCoordinator
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    Arrived,
    CoordinatorEvent,
    Fired,
    TimerKey,
)
from assignors.simulation.timed.protocols.partitions import count
from assignors.simulation.timed.stages.reconciling.way import report_of

SESSION = "session"


@dataclass(slots=True, kw_only=True)
class Asking:
    """The coordinator, and what has to know of its steps."""

    waiting: WaitingCoordinator
    heartbeats: Heartbeats
    meter: Meter
    take_note: Callable[[CoordinatorEvent, int], object]
    """Takes note of a step of the coordinator; with the epoch before it."""

    def answer(
        self, client: ConsumerClient, *, is_report: bool
    ) -> tuple[ConsumerHeartbeatResponse, bool]:
        """Return the answer to a report, or to a heartbeat that says nothing, which has arrived.

        With it whether it waits for records. The member's session is left out. Cost: O(its
        partitions), plus the assignor where a target is computed.
        """
        state = self.waiting.coordinator
        before, now_ms = state.group.epoch, self._now_ms()
        member, found = state.group.members.get(client.member_id), None
        if member is not None:
            owned = client.confirmed if is_report else None
            found = brought_on(state, now_ms, member, client.epoch, owned)
        if found is not None:
            response, timer = found
            self._count(response, before)
            if timer is not None:
                self._start(*timer)
            return response, timer is not None
        request = report_of(client) if is_report else next_request(client)
        changes = heartbeat(state, now_ms, request)
        for key, after_us, data in changes.timers:
            if key[0] != SESSION:
                self._start(key, after_us, data)
        self.take_note(Arrived(0, request), before)
        assert isinstance(changes.response, ConsumerHeartbeatResponse)
        return changes.response, bool(changes.records)

    def join(self, request: ConsumerHeartbeat) -> ConsumerHeartbeatResponse | None:
        """Return the answer to a request to join that only lets its member join, and has arrived.

        It waits for records. `None`: nothing has changed. Cost: O(1).
        """
        return joined(self.waiting.coordinator, self._now_ms(), request)

    def to_give_up(self, client: ConsumerClient) -> Kept | None:
        """Return what a member has only to give up, whose heartbeat arrives now; nothing changes.

        `None`: it has to do something else, or others would see that. Cost: O(its partitions).
        """
        if self.meter.began is None:
            return None
        kept = to_give_up(self.waiting.coordinator, self._now_ms(), client.member_id, client.epoch)
        if kept is None:
            return None
        return kept if count(kept.member.assigned) == count(client.owned) else None

    def tell(self, kept: Kept, at: int) -> ConsumerHeartbeatResponse:
        """Return the answer to a heartbeat that arrived at `at`: its member gives something up."""
        response, (key, after_us, data) = told(self.waiting.coordinator, kept)
        assert after_us is not None, "it has so much time"
        self._start(key, after_us, data, since=at)
        return response

    def release(self, client: ConsumerClient, kept: Kept) -> ConsumerHeartbeatResponse | None:
        """Return the answer to a report in which a member that only gives something up has done so.

        It waits for records. `None`: it has another target by now. Cost: O(its partitions).
        """
        state = self.waiting.coordinator
        before, now_ms = state.group.epoch, self._now_ms()
        response = released(state, now_ms, client.epoch, kept)
        if response is not None:
            self._count(response, before)
        return response

    def _now_ms(self) -> int:
        """Return the time by the coordinator's clock."""
        return CLOCK_STARTS_MS + self.heartbeats.queue.now // MILLISECOND

    def _count(self, response: ConsumerHeartbeatResponse, before: int) -> None:
        """Count a step by which no record but of its member was written; `before`: the epoch.

        While the group rebalances, one that is on its way only shows that it goes on.
        """
        if self.meter.began is None or response.epoch == before:
            self.meter.count(self.heartbeats.queue.now, self.heartbeats.sides, before)

    def _start(
        self, key: TimerKey, after_us: int | None, data: int, *, since: int | None = None
    ) -> None:
        """Start or stop a timer of the coordinator; it runs since then, or from now on."""
        queue, known = self.heartbeats.queue, (COORDINATOR, key)
        if after_us is None:
            queue.stop(known)
        else:
            event = (COORDINATOR, Fired(key, data))
            begins = queue.now if since is None else since
            queue.start(known, begins + after_us, event, None, key[-1])
