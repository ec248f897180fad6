"""What a member claims to own when it joins: the truth, or one of the ways in which it is not."""

from __future__ import annotations

from enum import StrEnum


class Claims(StrEnum):
    """What a member writes as its owned partitions."""

    TRUE = "true"
    """What it consumes; or what its client writes (`MemberConfig.client`)."""
    STALE = "stale"
    """Its last assignment, even if it has lost it since."""
    ABSENT = "absent"
    """Nothing, in a version without owned partitions."""
    SENTINEL = "sentinel"
    """What it consumes, with generation -1."""
    EVERYTHING = "everything"
    """All partitions of its topics, those of other members too."""
