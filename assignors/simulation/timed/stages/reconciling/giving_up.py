"""Members that a heartbeat only tells to give something up: nothing is done until they report.

Until its report arrives nobody has to do with what such a member is told, nor with what it stops
to consume. So the coordinator brings it from where it was to all that it keeps, once. When somebody
looks before, it is told as it was when its heartbeat arrived (`tell`).
"""

from __future__ import annotations

from dataclasses import dataclass

from assignors.simulation.timed.protocols.consumer.assignment.unwritten import Kept
from assignors.simulation.timed.protocols.consumer.messages import ConsumerHeartbeatResponse
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.stages.reconciling.asking import Asking
from assignors.simulation.timed.stages.reconciling.member import Answer, Reconciling
from assignors.simulation.timed.stages.reconciling.steps import MemberSteps
from assignors.simulation.timed.stages.reconciling.way import sets_out_at


@dataclass(slots=True, kw_only=True)
class GivingUp:
    """The coordinator and the steps of such members."""

    asking: Asking
    steps: MemberSteps

    def begin(self, one: Reconciling, leaves: int) -> int | None:
        """Let a member give something up whose heartbeat arrives; return when it reports that.

        Its answer leaves then, but for the time of an append. `None`: it is not to give anything
        up, or it gains something, or others have to do with it; nothing has changed. Cost: O(its
        partitions).
        """
        client, heartbeats = one.client, self.asking.heartbeats
        config = client.config
        if config.poll_spread_ms or self.steps.are_looked_at(one.number):
            return None
        kept = self.asking.to_give_up(client)
        if kept is None:
            return None
        network, now = heartbeats.network, heartbeats.queue.now
        link, leaves = network.links[one.number], leaves + heartbeats.broker.append_us
        returns = max(leaves + network.delays.one(link.back, leaves), link.returns)
        stops_at = sets_out_at(client, returns)
        reports_at = stops_at + (config.revoke_ms + config.poll_ms) * MILLISECOND
        limit = min(one.due, now + config.rebalance_timeout_ms * MILLISECOND)
        if reports_at + network.longest_us >= limit:
            return None
        link.arrives, link.returns, one.session_over = now, returns, now + one.session_timeout
        one.answer, one.pending, one.report = None, (returns, None), None
        one.kept, one.asked_at, one.stops_at = kept, now, stops_at
        return reports_at

    def tell(self, one: Reconciling) -> None:
        """Let a member have been told what it is to give up, if it is one of these. Cost: O(1)."""
        kept, pending = one.kept, one.pending
        if kept is not None and pending is not None:
            response, client = self.asking.tell(kept, one.asked_at), one.client
            one.answer = Answer(client.number, response, pending[0], Rank.ANSWER, client.epoch)
            one.kept = None

    def report(self, one: Reconciling, kept: Kept) -> ConsumerHeartbeatResponse | None:
        """Return the answer to the report of one of these, which waits for records.

        `None`: it has another target by now: then it has to be asked for.
        """
        self.steps.have_released(one, kept)
        response = self.asking.release(one.client, kept)
        if response is None:
            self.asking.tell(kept, one.asked_at)
        one.kept = None
        return response
