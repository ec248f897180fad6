"""The table of monitors: a function and a row each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from assignors.simulation.timed.monitors.coordinators import CoordinatorView, Folded
from assignors.simulation.timed.monitors.liveness import (
    Ending,
    balance_can_improve,
    member_not_at_rest,
    partition_with_two_owners,
    partition_without_owner,
    request_unanswered,
    too_many_rounds,
)
from assignors.simulation.timed.monitors.rules import (
    GroupMoment,
    MemberMoment,
    answered_twice,
    assignor_failed,
    callbacks_overlap,
    commit_of_a_stranger,
    double_consumption,
    double_owned_in_epoch,
    double_target,
    epoch_went_back,
    generation_given_twice,
    given_while_owned,
    handed_over_before_commit,
    log_differs,
    stable_group_is_not,
    target_epoch_too_early,
)
from assignors.simulation.timed.protocols.effects import Effect


class Kind(StrEnum):
    """What a monitor judges."""

    MOMENT = "moment"
    """Every moment."""
    STEP = "step"
    """What one event led to."""
    END = "end"
    """What has become of the group once nothing happens to it any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor:
    """A monitor."""

    judge: Callable[..., Iterator[str]]
    """Yields what is wrong: with a `GroupMoment`, an `Ending`, or what it looks at of a step."""
    claim: str
    kind: Kind
    is_of_whole_group: bool = False
    """Whether it looks at all members and partitions: when a rebalance begins or ends."""
    spec: str | None = None
    """The property of the KIP-848 TLA+ specification that says the same, or two that do; none is
    about commits or fetches, so the monitors of these have no name there.

    Source: `consumer_group_protocol_kip_848.tla` of Vanlightly/kafka-tlaplus.
    """


MONITORS: dict[str, Monitor] = {
    "double-owned-in-epoch": Monitor(
        judge=double_owned_in_epoch,
        claim="No two members in the same epoch or generation own a partition.",
        kind=Kind.MOMENT,
        is_of_whole_group=True,
        spec="NoDoubleClientAssignment",
    ),
    "double-consumption": Monitor(
        judge=double_consumption,
        claim="No two members that the coordinator counts as members consume a partition. Only one"
        " that it has removed, and that does not know it yet (a zombie), may consume it too.",
        kind=Kind.MOMENT,
        spec="NoDoubleClientAssignment",
    ),
    "given-while-owned": Monitor(
        judge=given_while_owned,
        claim="No round gives a member a partition that another member still owns.",
        kind=Kind.STEP,
        is_of_whole_group=True,
    ),
    "handed-over-before-commit": Monitor(
        judge=handed_over_before_commit,
        claim="A partition gets its next consumer only after the callback in which the last one"
        " commits is over, or after that member was lost.",
        kind=Kind.MOMENT,
    ),
    "assignor-failed": Monitor(
        judge=assignor_failed,
        claim="The assignor of a leader answers every round with an assignment. One of somebody's"
        " own that raises, or whose answer is none, is replaced for that round by `sticky` or"
        " `cooperative-sticky`; a member with a `client` does what that client does. An answer that"
        " breaks rules goes out, and is reported.",
        kind=Kind.STEP,
    ),
    "commit-of-a-stranger": Monitor(
        judge=commit_of_a_stranger,
        claim="A commit is accepted only from a member, in its generation; in a consumer group also"
        " in an epoch that it has left. From outside it is accepted while there are no members.",
        kind=Kind.STEP,
    ),
    "epoch-went-back": Monitor(
        judge=epoch_went_back,
        claim="The generation or epoch of a member falls only when it leaves or joins anew; that of"
        " the group never does. What the coordinator has of them is read in its records.",
        kind=Kind.STEP,
        spec="ClientSideMemberEpochIsMonotonic, GcSideMemberEpochIsMonotonic",
    ),
    "generation-given-twice": Monitor(
        judge=generation_given_twice,
        claim="A generation has one plan: its record is written again for a static member that"
        " comes back, and with the same assignments.",
        kind=Kind.STEP,
    ),
    "log-differs-from-state": Monitor(
        judge=log_differs,
        claim="What the records say up to here is the coordinator's state.",
        kind=Kind.STEP,
        is_of_whole_group=True,
    ),
    "callbacks-overlap": Monitor(
        judge=callbacks_overlap,
        claim="A member's callbacks run one at a time, and the one for revoked partitions before"
        " the one for assigned ones.",
        kind=Kind.STEP,
    ),
    "answered-twice": Monitor(
        judge=answered_twice,
        claim="The coordinator answers every request once at most.",
        kind=Kind.STEP,
    ),
    "double-target": Monitor(
        judge=double_target,
        claim="The coordinator assigns a partition to one member at most.",
        kind=Kind.MOMENT,
        is_of_whole_group=True,
        spec="LegalTargetAssignment",
    ),
    "target-epoch-too-early": Monitor(
        judge=target_epoch_too_early,
        claim="A member in the epoch of the target owns nothing that the target gives to another.",
        kind=Kind.MOMENT,
        is_of_whole_group=True,
        spec="ValidMemberEpoch",
    ),
    "stable-group-is-not": Monitor(
        judge=stable_group_is_not,
        claim="In a stable group every member has the group's epoch and exactly its target.",
        kind=Kind.MOMENT,
        is_of_whole_group=True,
        spec="ValidStableGroupState",
    ),
    "member-not-at-rest": Monitor(
        judge=member_not_at_rest,
        claim="Every member that runs has its assignment in the end.",
        kind=Kind.END,
        spec="EventuallyConverges",
    ),
    "partition-with-two-owners": Monitor(
        judge=partition_with_two_owners,
        claim="No partition has two consumers in the end.",
        kind=Kind.END,
        spec="NoDoubleClientAssignment",
    ),
    "partition-without-owner": Monitor(
        judge=partition_without_owner,
        claim="Every partition of a subscribed topic has a consumer in the end.",
        kind=Kind.END,
        spec="LegalTargetAssignment",
    ),
    "too-many-rounds": Monitor(
        judge=too_many_rounds,
        claim="Once nothing happens a group needs a bounded number of generations to settle.",
        kind=Kind.END,
    ),
    "request-unanswered": Monitor(
        judge=request_unanswered,
        claim="Every request of a member that runs is answered in the end; under the push protocol"
        " a request may wait for news as long as there are none.",
        kind=Kind.END,
    ),
    "balance-can-improve": Monitor(
        judge=balance_can_improve,
        claim="In the end the assignor itself could not balance the group better.",
        kind=Kind.END,
    ),
}
"""Name -> monitor, the safety monitors first."""

INVARIANTS = {name: each.judge for name, each in MONITORS.items() if each.kind is Kind.MOMENT}
"""Those that judge every moment."""

Found = Iterator[tuple[str, str]]
"""(monitor, what is wrong)."""


def findings_of(name: str, *facts: object) -> Found:
    """Yield what a monitor calls wrong with what it looks at."""
    for text in MONITORS[name].judge(*facts):
        yield name, text


def state_found(
    log: Folded, effects: Iterable[Effect], after: CoordinatorView, members: Iterable[MemberMoment]
) -> Found:
    """Yield what is wrong with the coordinator's state after a step.

    `log` is what the records say after it. Cost: O(partitions of the group).
    """
    yield from findings_of("log-differs-from-state", log, after.logged)
    yield from findings_of("given-while-owned", after, effects, members)


def broken(moment: GroupMoment) -> Found:
    """Yield which invariants do not hold."""
    for name in INVARIANTS:
        yield from findings_of(name, moment)


def end_found(end: Ending) -> Found:
    """Yield what has not come about. Cost: that of the assignor and the optimal solver."""
    for name, each in MONITORS.items():
        if each.kind is Kind.END:
            yield from findings_of(name, end)
