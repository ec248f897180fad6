"""A budget of moves in time: a token bucket, as a value that goes in and comes out.

A budget for each round is not enough. A member that loses a partition under the cooperative
protocol rejoins, which is a round; if that round moved others, their owners would rejoin, and the
group would never rest. So the budget is for a time (`TimedBudget`), and the round that completes a
hand-over has no budget: each batch of moves takes two rounds, then the group rests until the next.

Only the leader knows what a round moved. What another leader's round cost is not known, so all of
the budget then counts as spent, and a hand-over as begun. Whichever member leads, a group never
moves more than the budget. A new bucket begins the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedBudget:
    """Highest cost of a group's moves in a time."""

    cost: int | None = None
    """Highest cost of all moves in `every_ms`, by `Weighting.move_costs`: 1 a partition by default.
    `None` is no limit; with 0 no owned partition moves."""
    every_ms: int = 60_000
    """Shortest time between the beginnings of two batches while no member joins or leaves."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a negative cost, and a time below a millisecond."""
        if self.cost is not None and (type(self.cost) is not int or self.cost < 0):
            raise ValueError(f"cost: expected a whole number from 0 on, found {self.cost!r}")
        if type(self.every_ms) is not int or self.every_ms < 1:
            raise ValueError(
                f"every_ms: expected a whole number from 1 on, found {self.every_ms!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBucket:
    """The rest of a budget. A token pays a cost of 1. The caller has the clock."""

    budget: TimedBudget
    at_ms: int
    """The time of `filling`."""
    filling: int = 0
    """Tokens times `every_ms`. Each millisecond adds `cost`, up to `cost` tokens."""
    since_ms: int
    """When the latest batch began or may have begun, or when no batch was needed."""
    is_handing_over: bool = True
    """Whether the next round completes a hand-over, or may complete one."""


def empty_bucket(budget: TimedBudget, now_ms: int) -> TokenBucket:
    """Return the bucket of a member that does not know earlier spending. Cost: O(1)."""
    return TokenBucket(budget=budget, at_ms=now_ms, since_ms=now_ms)


def round_budget(bucket: TokenBucket, now_ms: int) -> int | None:
    """Return the budget of a round that is led now, as `Weighting.budget`: `None` is no limit.

    It is 0 if the round completes a hand-over. Cost: O(1).

    >>> bucket = empty_bucket(TimedBudget(cost=5, every_ms=1000), 0)
    >>> round_budget(bucket, 1000)
    0
    >>> bucket = after_round(bucket, 1000, spent=0, is_cooperative=True)
    >>> round_budget(bucket, 1000), round_budget(bucket, 9000)
    (5, 5)
    >>> bucket = after_round(bucket, 9000, spent=3, is_cooperative=True)
    >>> round_budget(bucket, 9300)
    0
    >>> bucket = after_round(bucket, 9300, spent=0, is_cooperative=True)
    >>> round_budget(bucket, 9300), round_budget(bucket, 9400)
    (3, 4)
    """
    if bucket.is_handing_over:
        return 0
    if bucket.budget.cost is None:
        return None
    return _filling(bucket, now_ms) // bucket.budget.every_ms


def after_round(
    bucket: TokenBucket, now_ms: int, *, spent: int, is_cooperative: bool
) -> TokenBucket:
    """Return the bucket after a round that this member led, with moves that cost `spent`.

    The cost stays spent if an answer is lost: some members may have received theirs. Under an eager
    protocol a round completes itself. Cost: O(1).
    """
    left = max(_filling(bucket, now_ms) - spent * bucket.budget.every_ms, 0)
    return replace(
        bucket,
        at_ms=now_ms,
        filling=left,
        since_ms=now_ms if spent else bucket.since_ms,
        is_handing_over=is_cooperative and spent > 0,
    )


def next_batch_ms(bucket: TokenBucket) -> int:
    """Return when the leader may start a round to move more. All tokens are back by then."""
    return bucket.since_ms + bucket.budget.every_ms


def after_look(bucket: TokenBucket, now_ms: int) -> TokenBucket:
    """Return the bucket after the leader found nothing to move. Cost: O(1)."""
    return replace(bucket, since_ms=now_ms)


def batches_of(budget: TimedBudget, cost: int) -> int | None:
    """Return how many batches pay a cost; `None` if the budget never pays it.

    >>> batches_of(TimedBudget(cost=5), 12), batches_of(TimedBudget(), 12)
    (3, 1)
    """
    if budget.cost is None or not cost:
        return min(cost, 1)
    return -(-cost // budget.cost) if budget.cost else None


def _filling(bucket: TokenBucket, now_ms: int) -> int:
    """Return `filling` at a later time. A clock that goes back adds nothing."""
    cost = bucket.budget.cost or 0
    full = cost * bucket.budget.every_ms
    return min(full, bucket.filling + cost * max(now_ms - bucket.at_ms, 0))
