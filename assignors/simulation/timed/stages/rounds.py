"""Rounds of a classic group by stage: members at rest join, sync and rest again without an event.

A rebalance lets every member do the same: its next heartbeat reports it, it joins again, waits at
the first barrier, sends SyncGroup, waits at the second, and most get what they had. Where nothing
is special about a member, when each of these messages arrives is arithmetic. So the members at rest
go through a round together: their times are arrays, and the coordinator only learns that they have
joined and synced, and how many requests have taken their turn before another one (`stage.Step`).

Nothing of a member changes before its plan is delivered. Whenever something else happens to a
member, or to the group, what the members have done so far is played once more for them, event by
event, from where the stage began (`EventQueue.rewound`), and they go on as all others do. So does
the leader. Cooperative members that get other partitions go on by events from there, until they
have joined again (`joining`), unless they only gain (`assigning`); eager ones give up all first,
and take what they are given (`consumption`).

That every run ends the same as by events alone is a law (`tests/simulation/timed/test_stages.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.monitors.watch import Watch
from assignors.simulation.timed.network import NEVER
from assignors.simulation.timed.protocols.classic.barriers import ALL_JOINED
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    COMPUTED,
    ClassicCoordinator,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.messages import Heartbeat, SyncGroup
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    Arrived,
    Committed,
    CoordinatorEvent,
    Fired,
)
from assignors.simulation.timed.stages.assigning import assign
from assignors.simulation.timed.stages.at_rest import Kept
from assignors.simulation.timed.stages.consumption import NEVER_TAKES, Consuming
from assignors.simulation.timed.stages.joining import Entering, answer_joins, let_join, stage_of
from assignors.simulation.timed.stages.members import answer_join, await_plan
from assignors.simulation.timed.stages.plain import PlainMembers
from assignors.simulation.timed.stages.stage import Round, Stage, StageDue, Step
from assignors.simulation.timed.stages.subscriptions import Subscriptions
from wire import TopicPartitions

LEAST = 8
"""Fewer members are played by events: to compute them would cost more than it saves. Measured in
turns, CPU time computed to by events, eager and cooperative: rolling restarts of groups of 10 0.76
and 0.97, of 12 0.69 and 0.91. At 6 cooperative groups of 8 take 1.03 and more, eager ones 0.85."""
DUE = (COORDINATOR, ("stage",))


@dataclass(slots=True, kw_only=True)
class ComputedRounds:
    """The members that go through a round together, if any do now."""

    coordinator: ClassicCoordinator
    members: list[ClassicMember]
    heartbeats: Heartbeats
    meter: Meter
    watch: Watch | None
    plain: PlainMembers
    handle: Callable[[Any], None]
    """Lets an event happen."""
    stage: Stage | None = None
    kept: Kept = field(init=False)
    subscriptions: Subscriptions = field(default_factory=Subscriptions)
    entering: Entering = field(init=False)
    is_replaying: bool = False

    def __post_init__(self) -> None:
        """Nobody has gone through a round."""
        self.entering = Entering(heartbeats=self.heartbeats, members=self.members, plain=self.plain)
        self.kept = Kept(
            heartbeats=self.heartbeats,
            members=self.members,
            plain=self.plain,
            consuming=Consuming(members=self.members, meter=self.meter, watch=self.watch),
        )

    @property
    def group(self) -> ClassicGroup:
        """The group."""
        return self.coordinator.group

    def begin(self) -> Collection[int]:
        """Let the members at rest join again together; return who does. Cost: O(members at rest).

        Those that already do so go on.
        """
        if self.stage is not None:
            waiting = self.entering.waiting
            return {*self.stage.rows, *waiting} if waiting else self.stage.rows
        if self.group.state is not GroupState.PREPARING_REBALANCE or self._is_doubtful():
            return ()
        resting = len(self.heartbeats.resting)
        least = self.plain.least(LEAST, len(self.group.members) - resting)
        if resting < least:
            return ()
        self.settle()
        self.stage = stage = stage_of(self.kept, self.group, self.meter.ledger, least)
        if stage is None:
            return ()
        network = self.heartbeats.network
        network.computed, network.sent_at = stage.flight.serve, {}
        self._await_last(stage)
        return stage.rows

    def _is_doubtful(self) -> bool:
        """Return whether monitors look at every event now."""
        return bool(self.meter.ledger.doubled or (self.watch and self.watch.lasting))

    # What else happens

    def wake(self, number: int) -> bool:
        """Let a member go on by events, as something happens to it; return whether it does now.

        Otherwise it rests, and its heartbeats are still to be put into the queue.
        """
        if self.stage is not None and number in self.stage.rows:
            self._replay([number])
            return True
        if number in self.entering.waiting:
            self.entering.put_back([number], self.group)
            return True
        self.kept.wake(number)
        return False

    def touch(self, number: int) -> None:
        """Let a member go on by events if it is not at rest, or does not know all of it."""
        rows = {} if self.stage is None else self.stage.rows
        if number in rows or number in self.kept.rows or number in self.entering.waiting:
            self.heartbeats.wake(number)

    def settle(self) -> bool:
        """Let members go on by events that are still to get their assignment, or to take it.

        So do those that give up something; return whether any does. Cost: O(members).
        """
        stage, late = self.stage, []
        if stage is not None and stage.gives_up.any():
            late = list(stage.rows)
            self._replay(late)
        late += (unsettled := self.kept.not_settled())
        for number in unsettled:
            self.heartbeats.wake(number)
        return bool(late)

    def before_consuming(self, name: str, owned: TopicPartitions) -> None:
        """Let members go on by events if somebody else consumes what is theirs, or may be."""
        stage, consuming = self.stage, self.kept.consuming
        if not owned or self.is_replaying:
            return
        if stage is not None and stage.gives_up.any() and consuming.is_consumed(owned, name):
            self.release()
        elif consuming.is_met_by(owned, self.heartbeats.queue.now):
            self.settle()

    def release(self) -> bool:
        """Let all members go on by events; return whether some had not. Cost: O(members)."""
        if (stage := self.stage) is not None:
            self._replay(list(stage.rows))
        has_some = self.settle() or stage is not None
        self.kept.end()
        return has_some

    def check(self) -> None:
        """Let all members go on by events if monitors look at every event from now on."""
        stage, taking = self.stage, self.kept.consuming.at
        if not (stage or taking) or not self._is_doubtful():
            return
        if taking or (stage and (stage.step is Step.SYNCING or stage.gives_up.any())):
            self.release()

    def before(self, event: CoordinatorEvent) -> None:
        """Prepare for an event of the coordinator that may change more than one member."""
        stage = self.stage
        if self.is_replaying:
            return
        self.entering.saw(event)
        if stage is None:
            return
        if stage.step is not Step.SYNCING:
            if isinstance(event, Fired) and event.key[0] == "join":
                self.release()
        elif isinstance(event, Committed):
            waiting = self.coordinator.appends.get(event.token)
            if waiting is not None and waiting.generation == self.group.generation:
                self._all_synced(stage, waiting.plan)
        elif not (isinstance(event, Arrived) and isinstance(event.request, Heartbeat | SyncGroup)):
            self.release()

    def after(self) -> None:
        """Go on with the next step if the coordinator has come to it."""
        stage = self.stage
        if stage is None or self.is_replaying:
            return
        if stage.step is Step.SYNCING:
            if self.coordinator.tokens != stage.tokens:
                stage.tokens = self.coordinator.tokens
                stage.appended_at = self.heartbeats.queue.now
            if self.group.state is GroupState.STABLE:
                self._delivered(stage)
        elif self.group.state is GroupState.COMPLETING_REBALANCE:
            assert stage.step is Step.WAITING, "who is in the group has joined"
            self._opened(stage)
        else:
            self.entering.enter(self.group)

    # The steps

    def due(self) -> None:
        """Let the last one join; or give up waiting, as requests are given up."""
        stage, queue = self.stage, self.heartbeats.queue
        if stage is None or stage.step is not Step.JOINING:
            self.release()
        elif not stage.is_last_due and queue.next_at == queue.now:
            stage.is_last_due = True  # it comes after what else happens at this moment
            self._call_at(queue.now)
        else:
            self._all_join(stage)
            if self.group.have_all_joined:
                self.handle((COORDINATOR, Fired(ALL_JOINED, 0)))

    def _await_last(self, stage: Stage) -> None:
        """Ask to be called when the last one joins; if all have, let the coordinator know."""
        left, stage.is_last_due = stage.flight.left, False
        if len(left) and left[-1] >= self.heartbeats.queue.now:
            self._call_at(int(left[-1]))
        else:
            self._all_join(stage)

    def _all_join(self, stage: Stage) -> None:
        """Let the coordinator know that all have joined, and ask to be called in time."""
        let_join(stage, self.kept, self.subscriptions, self.group, self.meter)
        stage.step = Step.WAITING
        limits = stage.joins.sent + self.plain.join_limits[stage.joins.numbers]
        self._call_at(int(limits.min()) - 1)

    def _call_at(self, at: int) -> None:
        """Ask to be called at a moment, or now if that is over."""
        queue = self.heartbeats.queue
        queue.start(DUE, max(at, queue.now), (COORDINATOR, StageDue()))

    def _opened(self, stage: Stage) -> None:
        """Answer the JoinGroups: the barrier has opened."""
        answer_joins(stage, self.kept, self.entering, self.group, self.meter.ledger)
        if self.watch is not None:
            generations, generation = self.watch.generations, self.group.generation
            for number in stage.rows:
                generations[number] = generation
        limits = stage.answered + self.plain.sync_limits[stage.joins.numbers]
        self._call_at(int(limits.min()) - 1)
        stage.tokens = self.coordinator.tokens
        network = self.heartbeats.network
        network.computed, network.sent_at = stage.flight.serve, {}
        leader = self.group.leader
        self._replay(
            [n for n, one in zip(stage.rows, stage.members.ids, strict=True) if one == leader]
        )
        self.check()

    def _all_synced(self, stage: Stage, plan: Mapping[str, bytes] | None) -> None:
        """Let the coordinator have all SyncGroups, but those that come after the plan."""
        if plan is None:
            return
        self._replay(stage.late(self.heartbeats.queue.now))
        for number in assign(stage, plan, self.plain, self.kept.consuming):
            self.kept.catch_up(number)
            await_plan(self.heartbeats, self.members[number], self.group, stage, number)
        if (taking := np.flatnonzero(stage.takes)).size:
            owned = list(map(stage.members.owned.__getitem__, taking.tolist()))
            shares = self.kept.consuming.given(stage.joins.numbers[taking].tolist(), owned)
            if shares is None:
                self.release()
                return
            stage.shares = shares
        for row in stage.rows.values():
            stage.members.known[row].waiting_sync = COMPUTED
            self.group.pending_syncs.discard(stage.members.ids[row])

    def _delivered(self, stage: Stage) -> None:
        """Let the members rest: they have had their assignments, or will when these arrive."""
        network, queue = self.heartbeats.network, self.heartbeats.queue
        rows = np.fromiter(stage.rows.values(), np.int64, len(stage.rows))
        resting = stage.resting(rows, network.delays, queue.now)
        network.busy_until = stage.flight.serve(network.busy_until, NEVER, NEVER)
        network.count("SyncGroup", len(rows))
        after = Round(self.group.generation, self.group.protocol, queue.order)
        assigned = resting.returned + self.plain.assign_us[resting.numbers]
        takes = np.where(stage.takes[rows], assigned, NEVER_TAKES)
        self.kept.consuming.take_later(resting.numbers, takes, stage.shares)
        self.kept.rest(resting, stage.members.chosen(rows), after, stage.given, stage.entered)
        self._end()

    def _end(self) -> None:
        """End the stage: nobody is in it any more."""
        self.stage = None
        self.entering.put_back(list(self.entering.waiting), self.group)
        network = self.heartbeats.network
        network.computed, network.sent_at = None, None
        self.heartbeats.queue.stop(DUE)

    # By events

    def _replay(self, numbers: Iterable[int]) -> None:
        """Play for members what they have done in this step, event by event, up to now."""
        stage, network, queue = self.stage, self.heartbeats.network, self.heartbeats.queue
        listed = list(numbers)
        if stage is None or not listed:
            return
        network.busy_until = stage.flight.serve(network.busy_until, queue.now, -1)
        rows = {number: stage.rows.pop(number) for number in listed}
        stage.flight.drop(listed)
        now, busy_until = queue.moment, network.busy_until
        network.computed, self.is_replaying = None, True
        with queue.rewound(stage.began):
            for number, row in rows.items():
                if stage.step is Step.SYNCING:
                    at = int(stage.answered[row])
                    self.heartbeats.network.links[number].arrives = int(stage.joins.arrives[row])
                    member = self.members[number]
                    self.kept.catch_up(number)
                    answer_join(self.heartbeats, member, number, self.group, at)
                    if self.watch is not None:
                        self.watch.generations[number] = member.generation
                else:
                    self.heartbeats.wake(number)
            while (event := queue.take_before(now)) is not None:
                self.handle(event)
        self.is_replaying = False
        network.busy_until, network.computed = busy_until, stage.flight.serve
        if not stage.rows:
            self._end()
        elif stage.step is Step.JOINING:
            self._await_last(stage)
