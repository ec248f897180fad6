"""Java's sticky assignor: claims from UserData, then one of two algorithms.

Equal subscriptions are assigned by the constrained algorithm, others by the general one. Both
compare claims by generation, and the assignor keeps the highest generation it has seen:
`Group.state`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from assignors.assignor import Assignor, UserData
from assignors.claims import byte_notes, counted_owners
from assignors.java import constrained, general
from assignors.java.constrained import Placed
from assignors.java.java_input import JavaInput, read_group
from assignors.jvm.failure import JavaFailure
from assignors.jvm.ordered_assignment import PairsByMember, assigned
from assignors.metrics import lazy_stats
from assignors.model import Group, MemberNote, MemberNoteCode
from assignors.options import OnFailure, Options
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
    java_input, placed, notes = place(group, UserData.STICKY, options)
    notes = (*byte_notes(java_input.problem.members), *notes)
    favoured = partial(counted_owners, java_input.problem, group, UserData.STICKY)
    return rebalance_of(java_input, placed, notes, favoured)


def place(
    group: Group, kind: UserData, options: Options
) -> tuple[JavaInput, Placed, tuple[MemberNote, ...]]:
    """Return the group as Java reads it, who gets what, and notes on what was repaired."""
    java_input = read_group(group, kind)
    if options.on_failure is OnFailure.RAISE:
        return java_input, _algorithm(java_input), ()
    try:
        return java_input, _algorithm(java_input), ()
    except JavaFailure as failure:
        first = failure
    repairs = [f"Java fails: {first}"]
    java_input = read_group(group, kind, drop_nonexistent=True)
    if not java_input.member_count:
        nobody = np.zeros(0, dtype=np.int32)
        placed = Placed(member=nobody, partition=nobody.astype(np.int64), transferred=None)
    elif java_input.is_equal:
        placed = constrained.place(java_input)
    else:
        placed = general.place(java_input, repaired=repairs.append)
    text = "; ".join(dict.fromkeys(repairs))
    return java_input, placed, (MemberNote(code=MemberNoteCode.REPAIRED.value, text=text),)


def rebalance_of(
    java_input: JavaInput,
    placed: Placed,
    notes: tuple[MemberNote, ...],
    favoured: Callable[[], Int32],
    *,
    target: Int32 | None = None,
) -> Rebalance:
    """Return the assignment by name, with Java's lists and the figures.

    `favoured` returns the owners that moves are counted from (`claims.counted_owners`).
    `target`, int32[P], is who has each partition once nothing waits; `None` where nothing does.
    """
    held = java_input.held(placed.member, placed.partition)
    given = owner_of(java_input, placed.member, placed.partition)
    return Rebalance(
        assignment=assigned(java_input.problem, given, held),
        notes=notes,
        stats=lazy_stats(java_input.problem, favoured=favoured, given=given, target=target),
        lists=PairsByMember(held),
        order=held.members,
        state=java_input.state,
    )


def owner_of(java_input: JavaInput, member: Int32, partition: Int64) -> Int32:
    """Return who holds each real partition, int32[P]."""
    owner = np.full(len(java_input.topic_of), NOBODY, dtype=np.int32)
    owner[partition] = member
    return owner[: java_input.partition_count]


def _algorithm(java_input: JavaInput) -> Placed:
    return constrained.place(java_input) if java_input.is_equal else general.place(java_input)


STICKY = Assignor(
    family="java",
    name="sticky",
    assign=assign,
    user_data=UserData.STICKY,
    keeps_lists=True,
    configure=lambda options: partial(assign, options=options),
)
