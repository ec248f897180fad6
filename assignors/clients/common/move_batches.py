"""Weights in a member's session: what the next round may move, and when to start one for more.

A round is started for moves where the member that leads finds that they would be made: once the
budget is back, it computes the next round as it would be if nobody joined or left, with the weights
that it knows by then. So moves that an earlier round put off come in batches, a group whose weights
have changed is balanced again, and a group at rest has no rounds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from assignors.assignor import Assignor
from assignors.leader import Led, WeightingOf
from assignors.model import Group
from assignors.weighting import MustHold, Weighting
from assignors.weighting.token_bucket import (
    TimedBudget,
    TokenBucket,
    after_look,
    after_round,
    batches_of,
    empty_bucket,
    next_batch_ms,
    round_budget,
)

HOLD = Weighting(must_hold=MustHold.NO_WEIGHTS)
"""Where weights cannot be had: partitions without an owner are placed, nothing else moves."""


def monotonic_ms() -> int:
    """Return milliseconds of a clock that never goes back."""
    return time.monotonic_ns() // 1_000_000


@dataclass(slots=True)
class MoveBatches:
    """Weights, and the budget for moves by them. Used from one thread, as the session."""

    weighting_of: WeightingOf
    """Called in each round that this member leads, and in each look; it must not block."""
    budget: TimedBudget
    logger: logging.Logger
    clock: Callable[[], int] = monotonic_ms
    bucket: TokenBucket = field(init=False)
    is_unfinished: bool = False
    """Whether the latest round put moves off."""
    latest: Led | None = None
    """The round that this member led last, while nothing is known of another one."""

    def __post_init__(self) -> None:
        """Start with an empty bucket: another leader may have moved partitions just now."""
        self.bucket = empty_bucket(self.budget, self.clock())

    def weighting(self, group: Group) -> Weighting | None:
        """Return the weighting of a round that is led now.

        Its budget is the smaller one of the bucket's and its own. Where the weights raise, or are
        for partitions that the group does not have, nothing moves that has an owner.
        """
        return self._weighting(group, round_budget(self.bucket, self.clock()))

    def led(self, led: Led, assignor: Assignor) -> int | None:
        """Record a round that this member led; return how many batches are to come, if known."""
        self.latest = led
        answer = led.rebalance
        self.is_unfinished = bool(answer.deferred)
        self.bucket = after_round(
            self.bucket,
            self.clock(),
            spent=answer.spent,
            is_cooperative=assignor.is_cooperative,
        )
        left = batches_of(self.budget, answer.deferred_cost)
        if answer.deferred:
            words = "no budget for them" if left is None else f"at least {left} batches left"
            count = sum(map(len, answer.deferred.values()))
            self.logger.info("%d partitions are to move later: %s", count, words)
        return left

    def led_by_another(self) -> None:
        """Record a round that another member led: what it spent is not known."""
        self.latest, self.is_unfinished = None, False
        self.bucket = empty_bucket(self.budget, self.clock())

    def joining(self) -> None:
        """Record that the next round begins."""
        self.latest = None

    def wait_s(self) -> float | None:
        """Return the seconds until it is time to look for moves; `None` where this member cannot.

        That is where it does not lead, and where the budget allows no moves.
        """
        if self.latest is None or self.budget.cost == 0:
            return None
        return max(next_batch_ms(self.bucket) - self.clock(), 0) / 1000

    def is_due(self, assignor: Assignor) -> bool:
        """Return whether a round that begins now would move partitions.

        `assignor` is as `lead` uses it. Cost: that of the assignor, and O(partitions), in the
        client's thread. Where nothing is to move that is 1.5 ms for 100 members and 10,000
        partitions, 14 ms for 1,000 and 100,000.
        """
        latest = self.latest
        if latest is None:
            return False
        now_ms = self.clock()
        group = _after(latest)
        weighting = self._weighting(group, round_budget(self.bucket, now_ms))
        try:
            spent = assignor.assign(replace(group, weighting=weighting)).spent
        except Exception:  # whatever an assignor raises, the group goes on
            self.logger.exception("assignor %s failed", assignor.full_name)
            spent = 0
        if not spent:
            self.bucket = after_look(self.bucket, now_ms)
            return False
        self.logger.info("starting another round: partitions are to move, and may")
        return True

    def _weighting(self, group: Group, budget: int | None) -> Weighting | None:
        try:
            found = self.weighting_of(group)
            if found is None:
                return None
            topics = group.cluster.topics
            found.require_fits({name: topic.partition_count for name, topic in topics.items()})
        except Exception:  # whatever a user's weights raise, the group goes on
            self.logger.exception("no weights: nothing moves")
            return HOLD
        budgets = [one for one in (found.budget, budget) if one is not None]
        balance = replace(found.balance, is_unfinished=self.is_unfinished)
        return replace(found, balance=balance, budget=min(budgets, default=None))


def _after(led: Led) -> Group:
    """Return the group of the next round if all have applied their assignments, and nothing else.

    Cost: O(partitions).
    """
    given = led.rebalance.assignment
    members = tuple(
        replace(
            member,
            version=None,
            owned=given.get(member.member_id, {}),
            generation=0,
            owned_known=True,
        )
        for member in led.group.members
    )
    return replace(led.group, members=members, generation=0, joined=None, weighting=None)
