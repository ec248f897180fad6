"""Java's sticky assignor: claims from UserData, then one of two algorithms.

Equal subscriptions take the constrained path, others the general one. Both know claims by
generation, and the assignor remembers the highest generation it ever saw: `Group.state`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from assignors.assignor import Assignor, UserData
from assignors.claims import byte_notes
from assignors.java import constrained, general
from assignors.java.constrained import Placed
from assignors.java.java_input import JavaInput, java_input
from assignors.jvm.ordered_assignment import Lists, Shares
from assignors.metrics import stats
from assignors.model import Group, MemberNote
from assignors.options import JavaFailure, OnFailure, Options
from assignors.problem import NOBODY, Int32, Int64
from assignors.rebalance import Rebalance


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return what `StickyAssignor` returns, lists in its order; `JavaFailure` where it throws.

    Cost: that of `constrained.place` or `general.place`. Source: KIP-54, KIP-341, KIP-881.

    >>> from assignors.model import Cluster, Member
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=1),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> answer = assign(Group(cluster=Cluster.of({"t": 4}), members=members))
    >>> dict(answer.lists), answer.state.max_generation
    ({'a': (('t', 0), ('t', 1)), 'b': (('t', 2), ('t', 3))}, 1)
    """
    intake, placed, notes = place(group, UserData.STICKY, options)
    return answer(intake, placed, (*byte_notes(intake.problem.members), *notes))


def place(
    group: Group, kind: UserData, options: Options
) -> tuple[JavaInput, Placed, tuple[MemberNote, ...]]:
    """Return the group as Java takes it in, who gets what, and notes on what was repaired."""
    intake = java_input(group, kind)
    if options.on_failure is OnFailure.RAISE:
        return intake, _algorithm(intake), ()
    try:
        return intake, _algorithm(intake), ()
    except JavaFailure as failure:
        first = failure
    repairs = [f"Java fails: {first}"]
    intake = java_input(group, kind, drop_phantoms=True)
    if not intake.member_count:
        nobody = np.zeros(0, dtype=np.int32)
        placed = Placed(member=nobody, partition=nobody.astype(np.int64), transferred=None)
    elif intake.is_equal:
        placed = constrained.place(intake)
    else:
        placed = general.place(intake, repaired=repairs.append)
    text = "; ".join(dict.fromkeys(repairs))
    return intake, placed, (MemberNote(code="repaired", text=text),)


def answer(intake: JavaInput, placed: Placed, notes: tuple[MemberNote, ...]) -> Rebalance:
    """Return the answer in names."""
    held = intake.held(placed.member, placed.partition)
    given = owner_of(intake, placed.member, placed.partition)
    stands = intake.stands
    favoured = owner_of(intake, intake.claim_member[stands], intake.claim[stands])
    return Rebalance(
        assignment=Shares(held),
        notes=notes,
        stats=stats(intake.problem, favoured=favoured, given=given),
        lists=Lists(held),
        order=held.members,
        state=intake.state,
    )


def owner_of(intake: JavaInput, member: Int32, partition: Int64) -> Int32:
    """Return who holds each real partition, int32[P]."""
    owner = np.full(len(intake.topic_of), NOBODY, dtype=np.int32)
    owner[partition] = member
    return owner[: intake.partition_count]


def _algorithm(intake: JavaInput) -> Placed:
    return constrained.place(intake) if intake.is_equal else general.place(intake)


STICKY = Assignor(
    family="java",
    name="sticky",
    assign=assign,
    user_data=UserData.STICKY,
    keeps_lists=True,
    configure=lambda options: partial(assign, options=options),
)
