"""A run, moment by moment: records arrive, members process them, the leader measures and decides.

In each step, in this order: members join and leave; a round begins where one is due; records
arrive and are processed by whoever consumes them; the round ends, and members have its answer.
Lag is a fluid: a member divides its time among its partitions by what waits in them, as a consumer
does that fetches from all of them at once. A partition that it starts costs it some work first.
A round is due when members have come or gone, when the last round asked for another, and every
`LeaderConfig.decides_every_s` if the assignor would change something. The rounds that complete a
hand-over have a budget of 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32
from assignors.assignor import Assignor
from assignors.checks import Violation
from assignors.problem import NOBODY
from assignors.simulation.traffic.estimates import Estimates
from assignors.simulation.traffic.group import Round, TrafficGroup
from assignors.simulation.traffic.rates import Draws, Float64, mean_rates, rates, surplus
from assignors.simulation.traffic.scenario import TrafficAction, TrafficScenario, Verb
from assignors.weighting.token_bucket import (
    TimedBudget,
    TokenBucket,
    after_look,
    after_round,
    empty_bucket,
    next_batch_ms,
    round_budget,
)
from assignors.workload import Snapshot, weighting_at

QUANTA = 1_000_000
"""A mean partition in bounds: rates are rounded to so fine a part of it."""
MEASURED_STEPS = 7
"""Steps from one comparison of the use with its bound to the next: with no part in common with
those from one decision to the next, so that all that lies between two of them is seen."""


RETURN_S = 1800
"""A partition that is back at a member within this time has returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The end of a step: P partitions, and M members of the scenario, present or not."""

    at_s: int
    """Seconds since the start of the run."""
    rate: Float64
    """float64[P]: records a second that arrive."""
    lag: Float64
    """float64[P]: records that are not processed yet."""
    owner: Int32
    """int32[P]: who has each partition, -1 for nobody; in a hand-over who had it last."""
    capacity: Float64
    """float64[M]: records a second that a member can process; 0 while it is not there."""
    use_bound: float | None
    """No assignment has a smaller largest use now; `None` where it was not computed."""
    rounds: int
    """Rounds in this step: 0 or 1,"""
    rebalances: int
    """and whether it was the first of a rebalance."""
    moves: int
    """Partitions that another member has now, though the one before is still there,"""
    returns: int
    """of those, the ones that their new member had within the last half hour,"""
    placed: int
    """and those that were given to somebody after their member had left."""
    deferred: int
    """Partitions that the budget puts off."""
    paused: int
    """Partitions that nobody consumed in this step."""
    double: int
    """Partitions that two members consumed."""
    violations: tuple[Violation, ...]
    """Rules that the answer of somebody's own assignor breaks, where a round is in this step."""

    @property
    def use(self) -> Float64:
        """Rate of each member's partitions for its capacity, float64[M], 0 where it has none."""
        has = self.owner >= 0
        load = np.bincount(self.owner[has], weights=self.rate[has], minlength=len(self.capacity))
        found: Float64 = load / np.where(self.capacity > 0, self.capacity, np.inf)
        return found


def moments(scenario: TrafficScenario, assignor: Assignor, *, seed: int = 0) -> Iterator[Moment]:
    """Yield the end of each step of a run. Its arrays are for reading until the next one.

    Cost: that of the assignor for each round and each look at what it would move; beside it about
    a microsecond for each partition and step.
    """
    run = _Run(scenario, assignor, seed)
    plan = sorted(scenario.plan, key=lambda one: one.at_s)
    step_rates = rates(scenario.rates, run.group.topic_of, tick_s=scenario.tick_s, seed=seed)
    for step, relative in zip(range(scenario.tick_count), step_rates, strict=False):
        now_s = step * scenario.tick_s
        while plan and plan[0].at_s <= now_s:
            run.act(plan.pop(0), now_s)
        yield run.step(now_s, relative)


class _Run:
    """The state of a run."""

    def __init__(self, scenario: TrafficScenario, assignor: Assignor, seed: int) -> None:
        self.scenario, self.leader = scenario, scenario.leader
        self.group = group = TrafficGroup(scenario, assignor)
        count = group.partitions.partition_count
        means = mean_rates(scenario.rates, count, seed)
        mean_sum = float(means.sum()) * surplus(scenario.rates)
        self.scale = scenario.records_per_s / max(mean_sum, 1e-9)
        capacity = np.array([one.capacity for one in scenario.members], dtype=np.float64)
        at_start = max(1.0, float(capacity[group.members].sum()))
        self.unit = scenario.records_per_s / scenario.use / at_start
        """Records a second for a capacity of 1."""
        self.capacity: Float64 = capacity * self.unit
        self.queues = Queues(
            lag=_behind(scenario, means * self.scale, seed), warm_up=np.zeros(len(capacity))
        )
        self.estimates = Estimates(scenario.leader, group.partitions, seed=seed)
        self.factor = np.ones(len(scenario.topics))
        self.history = History(count)
        self.has_changed = True
        self.bucket = self._new_bucket(0)

    def act(self, action: TrafficAction, now_s: int) -> None:
        """Do what the plan says."""
        if action.do is Verb.RATE:
            self.factor[self.group.place[action.topic or ""]] = action.factor
            return
        name, leader = action.member or "", self.group.leader
        if action.do is Verb.JOIN:
            self.group.join(name)
        else:
            self.history.left(self.group.leave(name))
        self.has_changed = True
        if leader is not None and leader != self.group.leader:
            self.bucket = self._new_bucket(now_s)
            self.estimates.forget()

    def step(self, now_s: int, relative: Float64) -> Moment:
        """Simulate one step; `relative` is float64[P]."""
        tick_s, group = self.scenario.tick_s, self.group
        if now_s % self.leader.samples_every_s < tick_s:
            self.estimates.sample(now_s, self.queues.lag)
        is_first = not group.must_rejoin
        found = self._round(now_s)
        rate = relative * self.factor[group.topic_of] * self.scale
        arriving = rate * tick_s
        self.estimates.add(arriving)
        stops = found is not None and not group.is_cooperative
        consumed_by = np.full_like(group.owner, NOBODY) if stops else group.owner
        is_there = np.zeros(len(self.capacity), dtype=np.bool_)
        is_there[group.members] = True
        room = np.where(is_there, self.capacity, 0.0)
        self.queues.serve(arriving, consumed_by, room * tick_s)
        paused = int(np.count_nonzero(consumed_by == NOBODY))
        double, changes = 0, Changes()
        if found is not None:
            double = group.apply(found)
            changes = self.history.after(group.owner, now_s)
            self.queues.start(changes.started, group.owner, rate * self.scenario.warm_up_s)
        return Moment(
            at_s=now_s,
            rate=rate,
            lag=self.queues.lag,
            owner=self.history.owner,
            capacity=room,
            use_bound=self._bound(now_s, rate),
            rounds=int(found is not None),
            rebalances=int(found is not None and is_first),
            moves=changes.moves,
            returns=changes.returns,
            placed=changes.placed,
            deferred=0 if found is None else sum(map(len, found.rebalance.deferred.values())),
            paused=paused,
            double=double,
            violations=() if found is None else found.violations,
        )

    def _round(self, now_s: int) -> Round | None:
        """Return the round that begins now, if one is due."""
        group, now_ms = self.group, now_s * 1000
        if group.is_empty:
            return None
        is_due = self.has_changed or group.must_rejoin
        looks = self.leader.decides_every_s > 0 and now_ms >= next_batch_ms(self.bucket)
        if not is_due and not looks:
            return None
        capacities = group.capacities()
        weights = self.estimates.weights(list(capacities.values()))
        weighting = weighting_at(
            Snapshot(at_ms=now_ms, weights=weights) if weights else None,
            now_ms,
            partition_counts=self.scenario.topics,
            capacities=capacities,
            budget=round_budget(self.bucket, now_ms),
            balance=self.leader.balance,
        )
        found = group.answered(weighting)
        taken = (group.owner != NOBODY) & (found.owner != group.owner)
        is_idle = not taken.any() and np.array_equal(found.owner, group.owner)
        if not is_due and is_idle:
            self.bucket = after_look(self.bucket, now_ms)
            return None
        self.has_changed = False
        self.bucket = after_round(
            self.bucket,
            now_ms,
            spent=int(np.count_nonzero(taken)),
            is_cooperative=group.is_cooperative,
        )
        return found

    def _new_bucket(self, now_s: int) -> TokenBucket:
        every_ms = max(1, self.leader.decides_every_s * 1000)
        return empty_bucket(TimedBudget(cost=self.leader.budget, every_ms=every_ms), now_s * 1000)

    def _bound(self, now_s: int, rate: Float64) -> float | None:
        """Return the least largest use that is possible now, of each member's capacity."""
        if (now_s // self.scenario.tick_s) % MEASURED_STEPS or self.group.is_empty:
            return None
        mean = max(float(rate.mean()), 1e-9) if len(rate) else 1.0
        weight = np.rint(rate * (QUANTA / mean)).astype(np.int64)
        return float(self.group.use_bound(weight)) * mean / QUANTA / self.unit


def _behind(scenario: TrafficScenario, means: Float64, seed: int) -> Float64:
    """Return how many records wait at the start, float64[P]."""
    lag = np.zeros(len(means))
    order = np.argsort(Draws(seed, "behind", len(means)).uniform(0), kind="stable")
    chosen = order[: int(scenario.behind_share * len(means))]
    lag[chosen] = means[chosen] * scenario.behind_s
    return lag


@dataclass(slots=True)
class Queues:
    """Records that wait, and work that members still have with partitions they have started."""

    lag: Float64
    """float64[P], records."""
    warm_up: Float64
    """float64[M], records that a member could have processed in the time that its starts take."""

    def start(self, started: NDArray[np.int64], owner: Int32, work: Float64) -> None:
        """Add the work of starting partitions: `started` numbers, `owner` int32[P], `work` [P]."""
        np.add.at(self.warm_up, owner[started], work[started])

    def serve(self, arriving: Float64, owner: Int32, room: Float64) -> Float64:
        """Add arriving records, process what members can, and return what they did, float64[P].

        `arriving` is float64[P], in records; `owner` is int32[P], -1 for a partition that nobody
        consumes now; `room` is float64[M], how many records each member can process in this step.
        Cost: O(P + M).

        >>> queues = Queues(lag=np.array([30.0, 10.0]), warm_up=np.zeros(1))
        >>> queues.serve(np.zeros(2), np.zeros(2, dtype=np.int32), np.array([20.0]))
        array([15.,  5.])
        >>> queues.lag
        array([15.,  5.])
        """
        self.lag += arriving
        spent = np.minimum(self.warm_up, room)
        self.warm_up -= spent
        is_consumed = owner >= 0
        waiting = np.bincount(
            owner[is_consumed], weights=self.lag[is_consumed], minlength=len(room)
        )
        share = np.minimum(1.0, (room - spent) / np.where(waiting > 0, waiting, 1))
        # One place more, so that an owner of -1 finds 0 there.
        done: Float64 = self.lag * np.append(share, 0.0)[owner]
        self.lag -= done
        return done


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a round has changed."""

    started: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Partitions that a member has started."""
    moves: int = 0
    """Those that another member had, which is still there,"""
    returns: int = 0
    """of these, those that were at their new member within the last `RETURN_S`,"""
    placed: int = 0
    """and those that nobody had, or a member that has left."""


class History:
    """The last member of each partition, and when others lost it."""

    def __init__(self, partition_count: int) -> None:
        """Begin with partitions that nobody has had."""
        self.owner: Int32 = np.full(partition_count, NOBODY, dtype=np.int32)
        """int32[P]: who had it last, and is still there."""
        self._lost_s: dict[tuple[int, int], int] = {}

    def left(self, member: int) -> None:
        """Remove a member that has left the group."""
        self.owner = np.where(self.owner == member, np.int32(NOBODY), self.owner)

    def after(self, owner: Int32, now_s: int) -> Changes:
        """Return what has changed; `owner` is int32[P], who consumes now, -1 for nobody.

        Cost: O(P).
        """
        started = np.flatnonzero((owner != NOBODY) & (owner != self.owner))
        moved = started[self.owner[started] != NOBODY]
        returns = 0
        for partition in moved.tolist():
            before, member = int(self.owner[partition]), int(owner[partition])
            returns += self._lost_s.get((partition, member), -RETURN_S - 1) >= now_s - RETURN_S
            self._lost_s[partition, before] = now_s
        self.owner = np.where(owner != NOBODY, owner, self.owner)
        return Changes(
            started=started,
            moves=len(moved),
            returns=returns,
            placed=len(started) - len(moved),
        )
