"""The table of monitors: what each claims, for which protocols, and where else it has a name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from assignors.simulation.timed.scenario import GroupProtocol


class Kind(StrEnum):
    """What a monitor judges."""

    MOMENT = "moment"
    """Every moment."""
    STEP = "step"
    """What one event led to."""
    END = "end"
    """What has become of the group once nothing happens to it any more."""


class Monitoring(StrEnum):
    """How much of a run is watched."""

    OFF = "off"
    BASIC = "basic"
    """All of them: those of a step and of consumption at every event, those of the whole group when
    a rebalance begins or ends, those of the end once the group is settled, or had the time."""
    FULL = "full"
    """Those of the whole group at every event too: O(partitions) each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor:
    """A monitor."""

    claim: str
    kind: Kind
    is_of_whole_group: bool = False
    """Whether it looks at all members and partitions: when a rebalance begins or ends."""
    protocols: frozenset[GroupProtocol] = frozenset(GroupProtocol)
    spec: str | None = None
    """The property of the KIP-848 TLA+ specification that says the same, or two that do; none is
    about commits or fetches, so the monitors of these have no name there.

    Source: `consumer_group_protocol_kip_848.tla` of Vanlightly/kafka-tlaplus.
    """


CONSUMER = frozenset({GroupProtocol.CONSUMER})
CLASSIC = frozenset({GroupProtocol.CLASSIC})

MONITORS: dict[str, Monitor] = {
    "double-owned-in-epoch": Monitor(
        claim="No two members in the same epoch or generation own a partition.",
        kind=Kind.MOMENT,
        is_of_whole_group=True,
        spec="NoDoubleClientAssignment",
    ),
    "double-consumption": Monitor(
        claim="No two members that the coordinator counts as members consume a partition. Only one"
        " that it has removed, and that does not know it yet (a zombie), may consume it too.",
        kind=Kind.MOMENT,
        spec="NoDoubleClientAssignment",
    ),
    "given-while-owned": Monitor(
        claim="No round gives a member a partition that another member still owns.",
        kind=Kind.STEP,
        is_of_whole_group=True,
        protocols=CLASSIC,
    ),
    "handed-over-before-commit": Monitor(
        claim="A partition gets its next consumer only after the callback in which the last one"
        " commits is over, or after that member was lost.",
        kind=Kind.MOMENT,
    ),
    "assignor-failed": Monitor(
        claim="The assignor of a leader answers every round with an assignment. One of somebody's"
        " own that raises, or whose answer is none, is replaced for that round by `sticky` or"
        " `cooperative-sticky`; a member with a `client` does what that client does. An answer that"
        " breaks rules goes out, and is reported.",
        kind=Kind.STEP,
        protocols=CLASSIC,
    ),
    "commit-of-a-stranger": Monitor(
        claim="A commit is accepted only from a member, in its generation; in a consumer group also"
        " in an epoch that it has left. From outside it is accepted while there are no members.",
        kind=Kind.STEP,
    ),
    "epoch-went-back": Monitor(
        claim="The generation or epoch of a member falls only when it leaves or joins anew; that of"
        " the group never does. What the coordinator has of them is judged with `--history` alone.",
        kind=Kind.STEP,
        spec="ClientSideMemberEpochIsMonotonic, GcSideMemberEpochIsMonotonic",
    ),
    "generation-given-twice": Monitor(
        claim="A generation has one plan: its record is written again for a static member that"
        " comes back, and with the same assignments.",
        kind=Kind.STEP,
        protocols=CLASSIC,
    ),
    "log-differs-from-state": Monitor(
        claim="What the records say up to here is the coordinator's state.",
        kind=Kind.STEP,
        is_of_whole_group=True,
    ),
    "callbacks-overlap": Monitor(
        claim="A member's callbacks run one at a time, and the one for revoked partitions before"
        " the one for assigned ones.",
        kind=Kind.STEP,
    ),
    "answered-twice": Monitor(
        claim="The coordinator answers every request once at most.",
        kind=Kind.STEP,
    ),
    "double-target": Monitor(
        claim="The coordinator assigns a partition to one member at most.",
        kind=Kind.MOMENT,
        is_of_whole_group=True,
        spec="LegalTargetAssignment",
    ),
    "target-epoch-too-early": Monitor(
        claim="A member in the epoch of the target owns nothing that the target gives to another.",
        kind=Kind.MOMENT,
        is_of_whole_group=True,
        protocols=CONSUMER,
        spec="ValidMemberEpoch",
    ),
    "stable-group-is-not": Monitor(
        claim="In a stable group every member has the group's epoch and exactly its target.",
        kind=Kind.MOMENT,
        is_of_whole_group=True,
        protocols=CONSUMER,
        spec="ValidStableGroupState",
    ),
    "member-not-at-rest": Monitor(
        claim="Every member that runs has its assignment in the end.",
        kind=Kind.END,
        spec="EventuallyConverges",
    ),
    "partition-without-owner": Monitor(
        claim="Every partition of a subscribed topic has a consumer in the end.",
        kind=Kind.END,
        spec="LegalTargetAssignment",
    ),
    "balance-can-improve": Monitor(
        claim="In the end the assignor itself could not balance the group better.",
        kind=Kind.END,
    ),
    "too-many-rounds": Monitor(
        claim="Once nothing happens a group needs a bounded number of generations to settle.",
        kind=Kind.END,
    ),
    "request-unanswered": Monitor(
        claim="Every request of a member that runs is answered in the end; under the push protocol"
        " a request may wait for news as long as there are none.",
        kind=Kind.END,
        protocols=frozenset({GroupProtocol.CLASSIC, GroupProtocol.CONSUMER}),
    ),
}
"""Name -> monitor, the safety monitors first."""
