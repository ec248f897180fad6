"""What Java's client gets wrong, by version, as the kit finds it.

The vectors are the answers of 4.4.0, so of that version only the cases remain where other clients
write what it does not expect (`peer-*`): its conclusions there are not the ones we recommend.
"""

from __future__ import annotations

from tests.conformance.known import NO_GENERATION_READ, OTHERS_GET_IT, TWICE, Defect

UNREADABLE = Defect(
    what="one member's unreadable bytes fail the group",
    categories=("peer-librdkafka", "peer-sarama-cluster"),
    words=r"failed: .*SchemaException",
)
INT16 = Defect(
    what="does not know kafka-python's int16 before the sticky layout",
    categories=("peer-kafka-python",),
    note="an int16",
    words=r"(owned: expected a list of 4, got a list of 0|gen: expected 5, got -1)$",
)
TOPIC_TWICE = Defect(
    what="range: who asks for a topic twice is dealt two shares of it",
    categories=("range",),
    note="a topic asked for twice",
    words=OTHERS_GET_IT,
)
CUT = Defect(
    what="reads versions 2 and 3 as version 1: what breaks in generation or rack passes",
    categories=("codec-edge", "codec-dec"),
    words=r"decoded what must be refused",
)
LAYOUT = Defect(
    what="takes the first bytes of librdkafka's and franz-go's UserData under cooperative-sticky,"
    " which is the sticky layout, for the generation",
    categories=("peer-librdkafka", "peer-franz-go"),
    words=r"gen: expected 3, got 1$",
)
GONE = Defect(
    what="fails over claims of partitions or topics that are gone",
    categories=("peer-librdkafka",),
    note="claims of partition -1",
    words=r"failed: .*IllegalStateException: No more unfilled consumers",
)

JAVA_2_4 = (
    TOPIC_TWICE,
    Defect(
        what="cooperative knows no generations: of several claims one counts",
        categories=("coop", "special", "peer-kafka-python"),
        note=TWICE,
        words=r"given-too-early",
    ),
    Defect(
        what="writes no generation under cooperative-sticky",
        categories=("codec-coopud",),
        words=r"ud: expected 4 bytes, got null$",
    ),
    NO_GENERATION_READ,
    CUT,
    INT16,
    UNREADABLE,
)

JAVA_3_1 = (
    TOPIC_TWICE,
    Defect(
        what="sticky: claims of partitions that are not there end in partitions assigned twice, to"
        " members that did not ask for them, or in an exception",
        categories=("sticky", "coop"),
        note="a claim of what is not there",
        words=r"assigned-twice|unknown-partition|given-too-early|not-subscribed|unassigned"
        r"|failed: .*IllegalStateException",
    ),
    Defect(
        what="cooperative reads generations from UserData alone: one that stands in the"
        " Subscription (KIP-792) does not count, so a stale claim passes for a current one",
        categories=("coop", "special"),
        words=r"given-too-early|not-subscribed|unassigned",
    ),
    Defect(
        what="reads no generation of a Subscription, that of UserData alone",
        categories=("codec-md",),
        words=r"gen: expected \d+, got (-1|\d+)$",
    ),
    CUT,
    LAYOUT,
    GONE,
    INT16,
    UNREADABLE,
)

JAVA_4_4 = (
    LAYOUT,
    GONE,
    Defect(
        what="fails over a stale claim of what its claimer does not ask for",
        categories=("peer-librdkafka",),
        note="a stale claim",
        words=r"failed: .*NullPointerException",
    ),
    INT16,
    UNREADABLE,
)
