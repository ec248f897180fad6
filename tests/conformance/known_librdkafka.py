"""What librdkafka gets wrong, as a member of a group whose broker says what the kit asks.

The version is that of confluent-kafka, which carries librdkafka. What kills its process is a defect
too: the leader of a real group would die of it.
"""

from __future__ import annotations

from tests.conformance.known import BY_NAME, OTHERS_GET_IT, OTHERS_TURN, TWICE, Defect

CODECS = ("codec-edge", "codec-dec")

LIBRDKAFKA = (
    Defect(
        what="the leader's process dies of a Subscription of zero bytes",
        categories=(*CODECS, "peer-librdkafka"),
        words=r"it was ended by SIGABRT",
    ),
    Defect(
        what="cooperative: the leader's process dies where a member's Subscription is of version 0"
        " or cannot be read",
        categories=("coop", "peer-librdkafka"),
        words=r"it was ended by SIGSEGV",
    ),
    Defect(
        what="refuses a Subscription without topics: where nobody asks for anything, nobody gets an"
        " answer",
        categories=("range", "roundrobin", "coop", *CODECS),
        words=r"failed: RefusedError\('nothing in",
    ),
    Defect(
        what="refuses lengths below -1, which Kafka takes for null",
        categories=CODECS,
        words=r"failed: RefusedError\(.PROTO",
    ),
    Defect(
        what="an Assignment of zero bytes passes for an empty one",
        categories=CODECS,
        words=r"decoded what must be refused",
    ),
    Defect(
        what="static members stand where dynamic ones would: orders by member id alone",
        categories=BY_NAME,
        note="static members",
        words=OTHERS_TURN,
    ),
    Defect(
        what="sorts names by their UTF-8 bytes",
        categories=("roundrobin",),
        note="names that code points put in another order",
        words=OTHERS_TURN,
    ),
    Defect(
        what="range with racks leaves partitions to nobody",
        categories=("range",),
        note="racks",
        words=r"unassigned",
    ),
    Defect(
        what="round-robin goes on with another member than Kafka where subscriptions differ",
        categories=("roundrobin",),
        note="unequal subscriptions",
        words=OTHERS_TURN,
    ),
    Defect(
        what="cooperative: of two claims of one generation one counts",
        categories=("coop", "special"),
        note=TWICE,
        words=r"given-too-early",
    ),
    Defect(
        what="cooperative hands out what members claim, be it there or asked for or not",
        categories=("coop", "special", "peer-librdkafka"),
        words=r"unknown-topic|unknown-partition|not-subscribed|withheld-without-reason"
        r"|given-too-early|assigned-twice|unassigned",
    ),
    Defect(
        what="a member whose Subscription of version 1 has no owned partitions is left out",
        categories=("peer-sarama-cluster",),
        words=OTHERS_GET_IT + r"|failed",
    ),
)
