"""Java's cooperative-sticky assignor: the sticky assignment less what must be revoked first.

The constrained algorithm itself lists which partitions change their owner. After the general one
Java compares claims and assignment: a partition that a member gets without having claimed it,
while another claimed it and does not get it, is withheld. So a partition claimed twice in one
generation waits after the one algorithm and may be given at once after the other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from assignors.assignor import Assignor, RebalanceProtocol, UserData
from assignors.claims import byte_notes, counted_owners
from assignors.java.constrained import Placed
from assignors.java.java_input import JavaInput
from assignors.java.sticky import owner_of, place, rebalance_of
from assignors.model import Group
from assignors.options import Options
from assignors.problem import NOBODY, Bool, partitions_by_topic
from assignors.rebalance import Rebalance


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return what `CooperativeStickyAssignor` returns; `JavaFailure` where it throws.

    Cost: as for `java/sticky`. Source: KIP-429, KAFKA-12984, KIP-792.

    >>> from assignors.model import Cluster, Member
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=1),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> answer = assign(Group(cluster=Cluster.of({"t": 4}), members=members))
    >>> dict(answer.lists), answer.withheld
    ({'a': (('t', 0), ('t', 1)), 'b': ()}, {'t': (2, 3)})
    """
    java_input, placed, notes = place(group, UserData.COOPERATIVE, options)
    is_single = _is_single(java_input, placed)
    transferred = placed.transferred
    if transferred is None:
        transferred = _changes_hands(java_input, placed) if is_single else None
    if transferred is not None and is_single:
        stays = ~transferred[placed.partition]
    else:
        stays, transferred = _stays(java_input, placed, transferred)
    given = replace(placed, member=placed.member[stays], partition=placed.partition[stays])
    notes = (*byte_notes(java_input.problem.members), *notes)
    target = owner_of(java_input, placed.member, placed.partition)
    favoured = partial(counted_owners, java_input.problem, group, UserData.COOPERATIVE)
    rebalance = rebalance_of(java_input, given, notes, favoured, target=target)
    waits = np.flatnonzero(transferred[: java_input.partition_count] & (target != NOBODY))
    withheld = partitions_by_topic(java_input.problem, waits) if len(waits) else {}
    return replace(rebalance, withheld=withheld)


def _is_single(java_input: JavaInput, placed: Placed) -> bool:
    """Return whether no partition is in two lists; only nonexistent ones make that happen."""
    return len(java_input.topic_of) == java_input.partition_count or not bool(
        (np.bincount(placed.partition) > 1).any()
    )


def _changes_hands(java_input: JavaInput, placed: Placed) -> Bool:
    """Return which partitions go from a claimant to a member that did not claim them, bool[S]."""
    size = len(java_input.topic_of)
    owner = np.full(size, NOBODY, dtype=np.int32)
    owner[placed.partition] = placed.member
    stays = java_input.claim_member == owner[java_input.claim]
    kept = np.zeros(size, dtype=np.bool_)
    kept[java_input.claim[stays]] = True
    revoked = np.zeros(size, dtype=np.bool_)
    revoked[java_input.claim[~stays]] = True
    changes: Bool = (owner != NOBODY) & ~kept & revoked
    return changes


def _stays(java_input: JavaInput, placed: Placed, transferred: Bool | None) -> tuple[Bool, Bool]:
    """Return which entries are given now and which partitions wait, pair by pair.

    Java takes a waiting partition out of its new owner's list, where it first stands there:
    in a list that has it twice that is the copy that was kept. The new owner is the last one
    given it, by the constrained path; after the general one, the last in map order that had
    not claimed it.
    """
    entries: dict[tuple[int, int], int] = {}  # (member, partition) -> its first entry
    newest: dict[int, int] = {}
    for entry, pair in enumerate(
        zip(placed.member.tolist(), placed.partition.tolist(), strict=True)
    ):
        entries.setdefault(pair, entry)
        newest[pair[1]] = pair[0]
    claims = set(zip(java_input.claim_member.tolist(), java_input.claim.tolist(), strict=True))
    if transferred is None:
        rank = {member: position for position, member in enumerate(java_input.order.tolist())}
        added = sorted(entries.keys() - claims, key=lambda pair: rank[pair[0]])
        newest = {partition: member for member, partition in added}
        revoked = {partition for _, partition in claims - entries.keys()}
        waiting = newest.keys() & revoked
    else:
        waiting = newest.keys() & set(np.flatnonzero(transferred).tolist())
    stays = np.ones(len(placed.partition), dtype=np.bool_)
    stays[[entries[newest[partition], partition] for partition in waiting]] = False
    waits = np.zeros(len(java_input.topic_of), dtype=np.bool_)
    waits[list(waiting)] = True
    return stays, waits


COOPERATIVE_STICKY = Assignor(
    family="java",
    name="cooperative-sticky",
    assign=assign,
    protocols=frozenset({RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER}),
    user_data=UserData.COOPERATIVE,
    keeps_lists=True,
    configure=lambda options: partial(assign, options=options),
)
