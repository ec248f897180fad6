"""What other clients are known to get wrong, as the kit finds it: by client and version.

A defect explains a failed vector if it is of one of its categories, if the vector's note says
what the defect needs, and if each sentence that was found wrong fits its pattern.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assignors.conformance.outcomes import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One thing a client gets wrong."""

    what: str
    categories: tuple[str, ...]
    words: str
    """A pattern that every sentence fits."""
    note: str = ""
    """Part of the notes of all vectors that show it."""

    def explains(self, outcome: Outcome) -> bool:
        """Whether the failure is this one."""
        return (
            outcome.vector.category in self.categories
            and self.note in outcome.vector.note
            and all(re.match(self.words, reason) for reason in outcome.reasons)
        )


BY_NAME = ("range", "roundrobin", "peer-kafka-python")
OTHERS_GET_IT = r".*: (without|.* too much|no entry)|unbalanced|unassigned"
TWICE = "a partition claimed twice"

NO_GENERATION_READ = Defect(
    what="reads no generation from UserData under cooperative-sticky",
    categories=("codec-md", "peer-librdkafka", "peer-franz-go"),
    words=r"gen: expected \d+, got -1$",
)

KAFKA_PYTHON = (
    Defect(
        what="beside dynamic members, static ones have their partitions dealt to nobody",
        categories=BY_NAME,
        note="static members beside dynamic ones",
        words=OTHERS_GET_IT,
    ),
    Defect(
        what="who asks for a topic twice counts twice: a share of it is given to nobody",
        categories=("range",),
        note="a topic asked for twice",
        words=OTHERS_GET_IT,
    ),
    Defect(
        what="round-robin fails with KeyError where subscriptions differ",
        categories=("roundrobin", "peer-kafka-python"),
        note="unequal subscriptions",
        words=r"failed: KeyError",
    ),
    Defect(
        what="sorts names by code point",
        categories=("roundrobin",),
        note="names that code points put in another order",
        words=OTHERS_GET_IT,
    ),
    Defect(
        what="sticky leaves loads uneven where subscriptions differ",
        categories=("sticky",),
        note="unequal subscriptions",
        words=r"unbalanced",
    ),
    Defect(
        what="cooperative: the claim of whom it reads last counts, whatever its generation",
        categories=("coop", "peer-kafka-python"),
        note=TWICE,
        words=r"given-too-early",
    ),
    Defect(
        what="sticky UserData starts with an int16, which no other client reads",
        categories=("codec-stickyud",),
        words=r"ud: (owned|gen): expected",
    ),
    Defect(
        what="reads no sticky UserData but its own",
        categories=("codec-md", "peer-kafka-python"),
        words=r"(owned: expected a list of \d+, got a list of 0|gen: expected \d+, got -1)$",
    ),
    Defect(
        what="writes no generation under cooperative-sticky",
        categories=("codec-coopud",),
        words=r"ud: byte 0: expected [0-9a-f]{8}, got the end$",
    ),
    NO_GENERATION_READ,
    Defect(
        what="cooperative fails over a stale claim of what its claimer does not ask for",
        categories=("peer-librdkafka",),
        note="a stale claim",
        words=r"failed: KeyError",
    ),
    Defect(
        what="one member's unreadable bytes fail the group",
        categories=("peer-librdkafka", "peer-sarama-cluster"),
        words=r"failed: error\('unpack requires a buffer of \d bytes'\)",
    ),
)

SARAMA = (
    Defect(
        what="knows no static members: orders by member id alone",
        categories=BY_NAME,
        note="static members",
        words=OTHERS_GET_IT,
    ),
    Defect(
        what="round-robin sorts partitions as text: 10 before 2",
        categories=("roundrobin",),
        note="more than ten partitions",
        words=OTHERS_GET_IT,
    ),
    Defect(
        what="round-robin fails where nobody asks for anything",
        categories=("roundrobin",),
        note="a member that asks for nothing",
        words=r"failed: members and topics are not provided",
    ),
    Defect(
        what="sorts names by their UTF-8 bytes",
        categories=("roundrobin",),
        note="names that code points put in another order",
        words=OTHERS_GET_IT,
    ),
    Defect(
        what="no plan if one member's UserData is empty or anything but the sticky layout",
        categories=("sticky", "peer-sarama"),
        words=r"failed: kafka: .*(insufficient data|invalid length|invalid array length|error dec)",
    ),
    Defect(
        what="sticky leaves loads uneven, depending on the order of its maps",
        categories=("sticky", "coop"),
        words=r"unbalanced",
    ),
    Defect(
        what="cooperative: of two claims of one generation one counts, of two unequal ones both",
        categories=("coop", "special", "peer-kafka-python"),
        note=TWICE,
        words=r"given-too-early",
    ),
    Defect(
        what="a partition whose former owner cannot be given anything else goes to nobody",
        categories=("special",),
        note="previous owner is a fixed consumer",
        words=r"unassigned: t0-0",
    ),
    Defect(
        what="refuses bytes after the end, so newer versions too",
        categories=("codec-edge", "codec-dec", "peer-sarama", "range"),
        words=r"failed: kafka: error decoding packet: invalid length",
    ),
    Defect(
        what="refuses lengths below -1, which Kafka takes for null",
        categories=("codec-edge", "codec-dec"),
        words=r"failed: kafka: error decoding packet: invalid (string|byteslice) length",
    ),
    Defect(
        what="whatever breaks at the length of the owned partitions counts as none owned",
        categories=("codec-edge", "codec-dec"),
        words=r"decoded what must be refused",
    ),
    Defect(
        what="of a topic named twice in an Assignment, reads the last entry only",
        categories=("codec-edge", "codec-dec", "peer-librdkafka"),
        words=r"owned: expected a list of 3, got a list of \d$",
    ),
    Defect(
        what="one member's unreadable bytes fail the group",
        categories=("peer-librdkafka",),
        note="zero bytes",
        words=r"failed: kafka: insufficient data",
    ),
)

FRANZ_GO = (
    Defect(
        what="range: who asks for a topic twice is dealt two shares of it",
        categories=("range",),
        note="a topic asked for twice",
        words=OTHERS_GET_IT,
    ),
    Defect(
        what="sorts names by their UTF-8 bytes",
        categories=("roundrobin",),
        note="names that code points put in another order",
        words=OTHERS_GET_IT,
    ),
    Defect(
        what="cooperative: of two claims of one generation one counts",
        categories=("coop", "special"),
        note=TWICE,
        words=r"given-too-early",
    ),
    Defect(
        what="writes the whole sticky layout under cooperative-sticky",
        categories=("codec-coopud",),
        words=r"ud: byte \d: expected",
    ),
    Defect(
        what="reads no UserData with bytes after its end",
        categories=("codec-md",),
        words=r"owned: expected a list of \d+, got a list of 0$",
    ),
    Defect(
        what="does not know kafka-python's int16 before the sticky layout",
        categories=("peer-kafka-python",),
        note="an int16",
        words=r"(owned: expected a list of 4, got a list of 0|gen: expected 5, got -1)$",
    ),
    Defect(
        what="one member's unreadable bytes fail the group",
        categories=("peer-librdkafka",),
        note="zero bytes",
        words=r"failed: unable to read member metadata",
    ),
    Defect(
        what="its codec refuses version 1 without owned partitions",
        categories=("peer-sarama-cluster",),
        words=r"failed: response did not contain enough data",
    ),
)

OTHERS_TURN = r".*: (without|.* too much|no entry)"

AIOKAFKA = (
    Defect(
        what="knows no static members: orders by member id alone",
        categories=BY_NAME,
        note="static members",
        words=OTHERS_TURN,
    ),
    Defect(
        what="range: who asks for a topic twice is dealt two shares and gets one of them",
        categories=("range",),
        note="a topic asked for twice",
        words=OTHERS_GET_IT,
    ),
    Defect(
        what="sorts names by code point",
        categories=("roundrobin",),
        note="names that code points put in another order",
        words=OTHERS_TURN,
    ),
    Defect(
        what="reads version 0 alone: whatever breaks behind it, in the owned partitions, the"
        " generation or the rack, passes",
        categories=("codec-edge", "codec-dec"),
        words=r"decoded what must be refused",
    ),
    Defect(
        what="reads no owned partitions of a Subscription, nor sticky UserData without generation",
        categories=("codec-md", "peer-kafka-python"),
        words=r"(owned: expected a list of \d+, got a list of 0|gen: expected \d+, got -1)$",
    ),
)

KAFKAJS = (
    Defect(
        what="round-robin deals the topics that the leader asks for, in the leader's order, to all"
        " members, whatever they ask for",
        categories=("roundrobin", "peer-kafka-python"),
        words=f"{OTHERS_GET_IT}|not-subscribed",
    ),
    Defect(
        what="decodes messages that are cut off, or whose lengths and counts are wrong",
        categories=("codec-edge", "codec-dec"),
        words=r"decoded what must be refused",
    ),
    Defect(
        what="reads lengths below -1, which Kafka takes for null, as empty",
        categories=("codec-edge",),
        words=r'ud: expected null, got ""',
    ),
    Defect(
        what="of a topic named twice in an Assignment, reads the last entry only",
        categories=("codec-edge", "peer-librdkafka"),
        words=r"owned: expected a list of 3, got a list of \d$",
    ),
)
