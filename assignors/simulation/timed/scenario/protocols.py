"""The protocol of a group."""

from __future__ import annotations

from enum import StrEnum


class GroupProtocol(StrEnum):
    """The protocol of the whole group (`group.protocol` of its consumers)."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    """KIP-848."""
