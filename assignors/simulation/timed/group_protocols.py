"""The protocol of a group, and whether it may change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class GroupProtocol(StrEnum):
    """The protocol of the whole group (`group.protocol` of its consumers)."""

    CLASSIC = "classic"
    """JoinGroup and SyncGroup: a leader among the members assigns."""
    CONSUMER = "consumer"
    """KIP-848: the coordinator assigns, and members follow in their heartbeats."""
    PUSH = "push"
    """The alternative of the "New Consumer Design" discussion of July 2014, which Kafka does not
    have: a barrier for each partition, assignments pushed. Instance ids mean nothing to it."""


MIGRATING = frozenset({GroupProtocol.CLASSIC, GroupProtocol.CONSUMER})
"""Protocols whose members one group can have together."""


@dataclass(frozen=True, slots=True)
class ReadBy:
    """Mark of a field (`Annotated`): groups without these protocols do not read it."""

    protocols: frozenset[GroupProtocol]


OF_CLASSIC = ReadBy(frozenset({GroupProtocol.CLASSIC}))
OF_CONSUMER = ReadBy(frozenset({GroupProtocol.CONSUMER}))
OF_PUSH = ReadBy(frozenset({GroupProtocol.PUSH}))
OF_KAFKA = ReadBy(MIGRATING)
NOT_OF_CLASSIC = ReadBy(frozenset({GroupProtocol.CONSUMER, GroupProtocol.PUSH}))
NOT_OF_CONSUMER = ReadBy(frozenset({GroupProtocol.CLASSIC, GroupProtocol.PUSH}))


class MigrationPolicy(StrEnum):
    """Whether a running group may change its protocol (`group.consumer.migration.policy`)."""

    BIDIRECTIONAL = "bidirectional"
    """From each to the other."""
    UPGRADE = "upgrade"
    """From classic to consumer."""
    DOWNGRADE = "downgrade"
    """From consumer to classic."""
    DISABLED = "disabled"
    """A group keeps its protocol as long as it has members."""

    @property
    def allows_upgrade(self) -> bool:
        """Whether a member of the consumer protocol may join a classic group that has members."""
        return self in {MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE}

    @property
    def allows_downgrade(self) -> bool:
        """Whether a consumer group becomes a classic one again when only such members are left."""
        return self in {MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE}
