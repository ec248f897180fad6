"""Java's cooperative-sticky assignor: the sticky answer less what must be revoked first.

The constrained path says itself which partitions change hands. After the general path Java
compares claims with the answer: what a member gets without having claimed it, while another
claimed it and does not get it, is withheld. So a partition claimed twice in one generation
waits on the one path and may be handed out at once on the other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from assignors.assignor import Assignor, RebalanceProtocol, UserData
from assignors.claims import byte_notes
from assignors.java.constrained import Placed
from assignors.java.java_input import JavaInput
from assignors.java.sticky import answer, owner_of, place
from assignors.metrics import stats
from assignors.model import Group
from assignors.options import Options
from assignors.problem import NOBODY, Bool, name_partitions
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
    intake, placed, notes = place(group, UserData.COOPERATIVE, options)
    is_single = _is_single(intake, placed)
    transferred = placed.transferred
    if transferred is None:
        transferred = _changes_hands(intake, placed) if is_single else None
    if transferred is not None and is_single:
        stays = ~transferred[placed.partition]
    else:
        stays, transferred = _stays(intake, placed, transferred)
    given = replace(placed, member=placed.member[stays], partition=placed.partition[stays])
    said = answer(intake, given, (*byte_notes(intake.problem.members), *notes))
    target = owner_of(intake, placed.member, placed.partition)
    kept = intake.stands
    figures = stats(
        intake.problem,
        favoured=owner_of(intake, intake.claim_member[kept], intake.claim[kept]),
        given=owner_of(intake, given.member, given.partition),
        target=target,
    )
    waits = np.flatnonzero(transferred[: intake.partition_count] & (target != NOBODY))
    withheld = name_partitions(intake.problem, waits) if len(waits) else {}
    return replace(said, withheld=withheld, stats=figures)


def _is_single(intake: JavaInput, placed: Placed) -> bool:
    """Return whether no partition stands in two lists, as phantoms alone can bring about."""
    return len(intake.topic_of) == intake.partition_count or not bool(
        (np.bincount(placed.partition) > 1).any()
    )


def _changes_hands(intake: JavaInput, placed: Placed) -> Bool:
    """Return which partitions somebody gets that did not claim them from one that did, bool[S]."""
    size = len(intake.topic_of)
    owner = np.full(size, NOBODY, dtype=np.int32)
    owner[placed.partition] = placed.member
    stays = intake.claim_member == owner[intake.claim]
    kept = np.zeros(size, dtype=np.bool_)
    kept[intake.claim[stays]] = True
    revoked = np.zeros(size, dtype=np.bool_)
    revoked[intake.claim[~stays]] = True
    changes: Bool = (owner != NOBODY) & ~kept & revoked
    return changes


def _stays(intake: JavaInput, placed: Placed, transferred: Bool | None) -> tuple[Bool, Bool]:
    """Return which entries are handed out now and which partitions wait, pair by pair.

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
    claims = set(zip(intake.claim_member.tolist(), intake.claim.tolist(), strict=True))
    if transferred is None:
        rank = {member: position for position, member in enumerate(intake.order.tolist())}
        added = sorted(entries.keys() - claims, key=lambda pair: rank[pair[0]])
        newest = {partition: member for member, partition in added}
        revoked = {partition for _, partition in claims - entries.keys()}
        waiting = newest.keys() & revoked
    else:
        waiting = newest.keys() & set(np.flatnonzero(transferred).tolist())
    stays = np.ones(len(placed.partition), dtype=np.bool_)
    stays[[entries[newest[partition], partition] for partition in waiting]] = False
    waits = np.zeros(len(intake.topic_of), dtype=np.bool_)
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
