"""What clients do to each other, so that a group is only asked for what its members can do.

Every entry is a fault seen in real groups without any of our members, in the versions under
test; `test_odd_members.py` shows the gravest ones as they are. Our members stand in no entry:
where they fail, a test fails.
"""

from __future__ import annotations

from collections.abc import Iterable

COOPERATIVE, STICKY, RANGE = "cooperative-sticky", "sticky", "range"
WEIGHTED = "cooperative-weighted"

OURS = frozenset({"kpp", "aiop"})

LEADERS = {
    COOPERATIVE: ("java44", "java31", "java24", "sarama", "franz", "ck", "kp", "kpp", "aiop"),
    STICKY: ("java44", "java31", "java24", "sarama", "franz", "kp", "aio", "kpp", "aiop"),
    RANGE: (
        *("java44", "java31", "java24", "sarama", "franz", "ck", "kp", "aio", "kjs"),
        *("kpp", "aiop"),
    ),
}
"""The kinds that know a protocol: librdkafka has no sticky, aiokafka no cooperative assignor of
its own, kafkajs a range as its documentation tells users to write one."""

ONLY_OURS = {WEIGHTED: ("kpp", "aiop")}
"""The same for a protocol that no other client has: chaos plays it, with weights that are drawn
anew in each round."""

STUMBLES = {
    # It writes a topic twice in one assignment; those two read the last entry alone, believe the
    # rest lost, and the group never rests (librdkafka 2.16.0; franz-go 1.22.2, Sarama 1.61.1).
    (COOPERATIVE, "ck"): frozenset({"franz", "sarama", "sarama36"}),
    # User data of no bytes ends its round: "insufficient data to decode packet" (Sarama 1.61.1;
    # kafka-python 3.0.12 and aiokafka 0.14.0 send it).
    (STICKY, "sarama"): frozenset({"kp", "aio"}),
    # A Subscription of version 1 without owned partitions: poll() throws (kafka-clients 4.4.0,
    # 3.1.2, 2.4.1, kafka-python 3.0.12), or the member gets nothing (librdkafka 2.16.0).
    (RANGE, "java44"): frozenset({"kjs"}),
    (RANGE, "java31"): frozenset({"kjs"}),
    (RANGE, "java24"): frozenset({"kjs"}),
    (RANGE, "kp"): frozenset({"kjs"}),
    (RANGE, "ck"): frozenset({"kjs"}),
}
"""Protocol and leader to followers that such a leader cannot lead, or that cannot follow it."""

DEALS_TWICE = frozenset({(COOPERATIVE, "java31")})
"""Leaders that hand out partitions which somebody else still has: kafka-clients 3.1.2 takes the
first four bytes of anybody's user data for a generation, and forgets claims below the highest."""


READS_AGAIN = frozenset({(STICKY, "kp"), (RANGE, "kp")})
"""Members that may consume what somebody else has consumed: kafka-python 3.0.12 keeps its positions
in partitions it gave up, and goes on from them when it missed the round in which they were
somebody else's. Ours forgets them."""


def followers(protocol: str, leader: str) -> list[str]:
    """The kinds that can follow such a leader, ours among them."""
    refused = STUMBLES.get((protocol, leader), frozenset())
    kinds = {**LEADERS, **ONLY_OURS}[protocol]
    return [kind for kind in kinds if kind not in refused]


def can_all_lead(protocol: str, kinds: Iterable[str]) -> bool:
    """Whether any of these kinds can lead all of them: where leaders are killed, any may."""
    found = set(kinds)
    return not any(found & STUMBLES.get((protocol, kind), frozenset()) for kind in found)
