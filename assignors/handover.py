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

from collections.abc import Iterable
from typing import Generic, NamedTuple

from assignors.claims import Claims, Owners
from assignors.problem import NOBODY


class Handover(NamedTuple, Generic[Owners]):
    """A target assignment split into what may happen now and what waits."""

    given: Owners
    """P: who gets the partition in this round, `NOBODY` where it waits."""
    withheld: list[int]
    """Partitions that wait, ascending."""
    follow_up: bool
    """Whether a partition waits that no claimant is sure to revoke, and so to rejoin."""


def withhold(claims: Claims[Owners], target: Owners, changed: Iterable[int]) -> Handover[Owners]:
    """Return which part of `target`, P members, is safe to hand out in this round.

    `changed` has all partitions that do not stay with whom stickiness favours, ascending.
    Cost: O(changes), O(P) where the claims of some member are not known. Source: KIP-429 for
    withholding, KAFKA-12984 and KIP-792 for the generation; the rule is stricter than Kafka's, see
    the head of this module.
    """
    claimant = claims.claimant
    # Each of these leaves a claimant.
    withheld: list[int] = [partition for partition in changed if claimant[partition] != NOBODY]
    if claims.unknown or claims.contested:
        in_doubt: Iterable[int] = sorted({*withheld, *claims.contested})
        if claims.unknown:
            in_doubt = range(len(target))
        withheld = [
            partition
            for partition in in_doubt
            if target[partition] != NOBODY
            and claims.last_claimants(partition) != [target[partition]]
        ]
    if not withheld:
        return Handover(target, withheld, follow_up=False)
    given = target.copy()
    for partition in withheld:
        given[partition] = NOBODY
    return Handover(given, withheld, follow_up=not _will_rejoin(claims, withheld))


def _will_rejoin(claims: Claims[Owners], withheld: Iterable[int]) -> bool:
    """Return whether each withheld partition has a claimant that must give it up.

    A subscribed member that says what it owned in the last generation and does not get it
    back revokes it and rejoins by itself. Any other claim may be stale: its member has nothing
    to revoke, so nobody would start the next round. A member whose claims are not known may not
    know that it takes part in a hand-over.
    """
    if not (claims.contested or claims.unsubscribed or claims.unknown):
        claimants = {claims.claimant[partition] for partition in withheld}
        return all(claims.generation[member] == claims.last >= 0 for member in claimants)
    return all(
        any(
            (partition, member) not in claims.unsubscribed and member not in claims.unknown
            for member in claims.last_claimants(partition)
        )
        for partition in withheld
    )
