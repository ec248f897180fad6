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
from assignors.java.intake import Intake
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
    transferred = placed.transferred
    if transferred is None:
        transferred = _changes_hands(intake, placed)
    stays = _stays(intake, placed, transferred)
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


def _changes_hands(intake: Intake, placed: Placed) -> Bool:
    """Return which partitions somebody gets that did not claim them from one that did, bool[S].

    After the general path a partition has one owner.
    """
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


def _stays(intake: Intake, placed: Placed, transferred: Bool) -> Bool:
    """Return which entries of the lists are handed out now.

    Java takes a partition out of its new owner's list, where it first stands: in a list that
    has it twice, as a phantom can bring about, the copy that was kept.
    """
    waits = transferred[placed.partition]
    seen = np.bincount(placed.partition, minlength=len(intake.topic_of))
    if not (seen > 1).any():
        return ~waits
    given = zip(placed.partition[waits].tolist(), placed.member[waits].tolist(), strict=True)
    newest = dict(given)  # partition -> who got it last
    stays = np.ones(len(waits), dtype=np.bool_)
    for partition, member in newest.items():
        mine = (placed.partition == partition) & (placed.member == member)
        stays[np.argmax(mine)] = False
    return stays


COOPERATIVE_STICKY = Assignor(
    family="java",
    name="cooperative-sticky",
    assign=assign,
    protocols=frozenset({RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER}),
    user_data=UserData.COOPERATIVE,
    keeps_lists=True,
    configure=lambda options: partial(assign, options=options),
)
