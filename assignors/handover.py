"""Split a target assignment into what is given now and what is withheld for a round.

Under the cooperative protocol members consume during a rebalance, so giving a partition to X
is safe only when no other member can still consume it. The rule for each partition: it is
given to X only

* if nobody else claims it, or
* if X claims it with the group's last completed generation and nobody else claims it with
  that generation: every other claimant has had to revoke it in an earlier generation.

Otherwise it waits a round. A weaker and a stronger rule both fail: "the highest generation
keeps it" believes a claim that is newer than another, but stale as well; "any other claim
withholds it" lets one stale claim keep a partition unassigned for ever. A member whose claims
are not known counts as a claimant of everything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.claims import Claims
from assignors.problem import NOBODY, Bool, Int32, Int64, Problem

NOTHING: Int64 = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """A target assignment split into what may happen now and what waits."""

    given: Int32
    """int32[P]: who gets the partition in this round, `NOBODY` where it waits."""
    withheld: Int64
    """int64[W]: partitions that wait."""
    follow_up: bool
    """Whether a partition waits that no claimant is sure to revoke, and so to rejoin."""


def withhold(
    problem: Problem,
    claims: Claims,
    target: Int32,
    *,
    kept: int = 0,
    changed: Int64 | None = None,
) -> Handover:
    """Return which part of `target` (int32[P]) is safe to hand out in this round.

    At least `kept` partitions stay with a claimant: where that is all claims, nothing waits.
    `changed`, if it is known, has all those that do not, ascending, and may have others that
    nobody claims.
    Cost: O(P + C). Source: KIP-429 for withholding, KAFKA-12984 and KIP-792 for the
    generation; the rule is stricter than Kafka's, see the head of this module.
    """
    if claims.claimant is not None and not claims.unknown:
        if kept == len(claims.partition):
            return Handover(given=target, withheld=NOTHING, follow_up=False)
        return _withhold_from_one(problem, claims, claims.claimant, target, changed)
    partition_count = problem.partition_count
    is_own = claims.member == target[claims.partition]
    is_last = (claims.generation == claims.last) & (claims.last >= 0)
    claimant_count = np.bincount(claims.partition, minlength=partition_count)
    own_claim = _marks(partition_count, claims.partition[is_own])
    last_count = np.bincount(claims.partition[is_last], minlength=partition_count)
    own_last = _marks(partition_count, claims.partition[is_own & is_last])

    is_free = claimant_count == own_claim
    if claims.unknown:
        is_free = np.zeros(partition_count, dtype=np.bool_)
    is_safe = is_free | (own_last & (last_count == 1))
    waits = (target != NOBODY) & ~is_safe
    withheld = np.flatnonzero(waits)
    return Handover(
        given=np.where(waits, np.int32(NOBODY), target),
        withheld=withheld,
        follow_up=bool(len(withheld)) and _nobody_will_rejoin(problem, claims, is_last, withheld),
    )


def _withhold_from_one(
    problem: Problem, claims: Claims, claimant: Int32, target: Int32, changed: Int64 | None
) -> Handover:
    """Return the same where each partition has one claimant, int32[P], or none.

    Then a partition waits where it leaves its claimant, whatever the generations.
    """
    withheld = (claimant != target).nonzero()[0] if changed is None else changed
    from_whom = claimant[withheld]
    if changed is None or (len(from_whom) and from_whom[from_whom.argmin()] == NOBODY):
        waits = (from_whom != NOBODY) & (target[withheld] != NOBODY)
        withheld, from_whom = withheld[waits], from_whom[waits]
    if not len(withheld):
        return Handover(given=target, withheld=withheld, follow_up=False)
    given = target.copy()
    given[withheld] = NOBODY
    will_rejoin = claims.last >= 0
    if will_rejoin:
        revokes = claims.member_generation.take(from_whom) == claims.last
        if len(problem.takes) > 1:  # else everybody takes every topic
            revokes &= problem.may_take(from_whom, withheld)
        will_rejoin = np.count_nonzero(revokes) == len(revokes)
    return Handover(given=given, withheld=withheld, follow_up=not will_rejoin)


def _nobody_will_rejoin(problem: Problem, claims: Claims, is_last: Bool, withheld: Int64) -> bool:
    """Return whether some withheld partition has no claimant that must give it up.

    A subscribed member that says what it owned in the last generation and does not get it
    back revokes it and rejoins by itself. Any other claim may be stale: its member has nothing
    to revoke, so nobody would start the next round.
    """
    revokes = is_last & problem.may_take(claims.member, claims.partition)
    if claims.unknown:  # such a member may not know that it takes part in a hand-over
        revokes &= ~np.isin(claims.member, claims.unknown)
    will_rejoin = _marks(problem.partition_count, claims.partition[revokes])
    return not bool(will_rejoin[withheld].all())


def _marks(size: int, positions: Int64) -> Bool:
    marks = np.zeros(size, dtype=np.bool_)
    marks[positions] = True
    return marks
