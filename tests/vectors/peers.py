"""What other clients write, what others make of it, and what a reader should conclude.

Every case was seen: bytes come from `clients-captured.jsonl.gz` or stand for a message that the
named client was run with. `clients` says what each does, with the version that was run.
`value` and `out` are conclusions of ours, not Kafka's: of bytes that say too little the most that
they say, of a group an answer that is lawful. Nobody has to agree to pass `lawful`; one who
fails the whole group over one odd member does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.vectors.cases import Case, group, subscription

LIBRDKAFKA = "librdkafka 2.16.0"
SARAMA = "Sarama 1.61.1"
FRANZ_GO = "franz-go 1.22.2"
KAFKA_PYTHON = "kafka-python 3.0.12"
AIOKAFKA = "aiokafka 0.14.0"
JAVA = "kafka-clients 4.4.0"
JAVA_OLD = "kafka-clients 2.4.1"


def peers() -> Iterator[Case]:
    """The lines of `peers.jsonl`, without numbers."""
    yield from _librdkafka()
    yield from _sarama()
    yield from _kafka_python()
    yield from _franz_go()
    yield from _sarama_cluster()


def _librdkafka() -> Iterator[Case]:
    yield group(
        "peer-librdkafka",
        "coop",
        {"t": 4},
        {
            "old": subscription(version=0, topics=("t",)),
            "new": subscription(topics=("t",), owned={"t": (0, 1)}, generation=3),
        },
        {"new": [0, 1], "old": [2, 3]},
        note="a v0 Subscription under cooperative-sticky",
        clients={
            LIBRDKAFKA: "the leader's process dies (segmentation fault)",
            JAVA: "a member that owns nothing",
        },
    )
    yield group(
        "peer-librdkafka",
        "coop",
        {"t": 2},
        {"a": "", "b": subscription(topics=("t",))},
        {"a": [], "b": [0, 1]},
        note="a Subscription of zero bytes",
        clients={
            LIBRDKAFKA: "the leader's process dies (abort)",
            FRANZ_GO: "an error for the whole group",
            SARAMA: "an error for the whole group",
            KAFKA_PYTHON: "an error for the whole group",
            JAVA: "an error for the whole group",
        },
    )
    yield group(
        "peer-librdkafka",
        "coop",
        {"t": 2},
        {
            "a": subscription(topics=("t",), owned={"t": (-1, 0, 99), "gone": (0,)}, generation=3),
            "b": subscription(topics=("t",), owned={"t": (1,)}, generation=3),
        },
        {"a": [0], "b": [1]},
        note="claims of partition -1, partition 99 and of a topic that is gone",
        clients={
            LIBRDKAFKA: "gives all three back to the claimer",
            JAVA: "IllegalStateException where subscriptions are equal, else gives them back",
            KAFKA_PYTHON: "lawful",
            FRANZ_GO: "lawful",
        },
    )
    yield group(
        "peer-librdkafka",
        "coop",
        {"t0": 4, "t1": 1},
        {
            "A": subscription(topics=("t0",), owned={"t0": (0, 1, 2, 3)}, generation=5),
            "B": subscription(topics=("t0",), generation=5),
            "P": subscription(topics=("t1",), owned={"t0": (0,)}, generation=4),
        },
        None,
        note="a stale claim of t0-0 by P, whom nothing can be moved to: it asks for t1 alone",
        clients={
            LIBRDKAFKA: "the leader's process dies (segmentation fault)",
            JAVA: "NullPointerException",
        },
    )
    yield {
        "category": "peer-librdkafka",
        "op": "decode",
        "judge": "accept",
        "in": {
            "algo": "codec-mdcoop",
            "mode": "tolerant",
            "ud": "0000000100087061796d656e7473000000010000000100000003",
            "owned": [["payments", 1]],
            "gen": -1,
        },
        "value": {"owned": [["payments", 1]], "gen": 3},
        "note": "the whole sticky layout under cooperative-sticky, generation 3 at its end",
        "clients": {
            LIBRDKAFKA: "writes it; captured",
            JAVA_OLD: "reads the first four bytes: generation 1, the number of topics",
        },
    }
    yield {
        "category": "peer-librdkafka",
        "op": "decode",
        "judge": "accept",
        "in": {
            "algo": "codec-asg",
            "mode": "tolerant",
            "hex": "00000000000200017400000001000000000001740000000200000001000000020000" + "0000",
        },
        "value": {"owned": [["t", 0], ["t", 1], ["t", 2]], "ud": ""},
        "note": "an Assignment that names a topic twice: both entries are the member's",
        "clients": {
            LIBRDKAFKA: "writes it as leader, and merges it as follower",
            SARAMA: "takes the last entry: 0 belongs to nobody, and the group never rests",
            FRANZ_GO: "its codec keeps both entries; its member takes the last",
            JAVA: "merges it",
        },
    }


def _sarama() -> Iterator[Case]:
    yield group(
        "peer-sarama",
        "sticky",
        {"t": 2},
        {
            "a": subscription(version=0, topics=("t",), user_data=b""),
            "b": subscription(version=0, topics=("t",), user_data=b""),
        },
        {"a": [0], "b": [1]},
        note="sticky UserData of zero bytes, as kafka-python and aiokafka send at first",
        clients={
            SARAMA: "no plan: 'insufficient data to decode packet', the group cannot form",
            KAFKA_PYTHON: f"writes it, as does {AIOKAFKA}; nothing owned",
            FRANZ_GO: "nothing owned",
            JAVA: "nothing owned",
        },
    )
    yield group(
        "peer-sarama",
        "range",
        {"t": 2},
        {
            "a": subscription(topics=("t",)) + "0000",
            "b": subscription(topics=("t",)),
        },
        {"a": [0], "b": [1]},
        note="two bytes after the end of a v3 Subscription",
        clients={
            SARAMA: "'invalid length', an error for the whole group",
            JAVA: "ignores them, as do all others",
        },
    )


def _kafka_python() -> Iterator[Case]:
    yield {
        "category": "peer-kafka-python",
        "op": "decode",
        "judge": "accept",
        "in": {
            "algo": "codec-mdsticky",
            "mode": "tolerant",
            "ud": "00010000000100066f7264657273000000040000000000000001000000020000000300000005",
            "owned": [],
            "gen": -1,
        },
        "value": {"owned": [["orders", number] for number in range(4)], "gen": 5},
        "note": "an int16 before the sticky layout",
        "clients": {
            KAFKA_PYTHON: "writes it, captured, and reads nothing else",
            JAVA: "nothing owned",
            FRANZ_GO: "nothing owned",
            SARAMA: "no plan, the group cannot form",
        },
    }
    yield {
        "category": "peer-kafka-python",
        "op": "decode",
        "judge": "accept",
        "in": {
            "algo": "codec-mdsticky",
            "mode": "tolerant",
            "ud": "0000000100066f7264657273000000020000000000000001",
            "owned": [],
            "gen": -1,
        },
        "value": {"owned": [["orders", 0], ["orders", 1]], "gen": None},
        "note": "the sticky layout V0, without a generation",
        "clients": {
            KAFKA_PYTHON: "nothing owned",
            FRANZ_GO: "writes it while it has no generation, reads it",
            JAVA: "reads it",
        },
    }
    yield group(
        "peer-kafka-python",
        "range",
        {"t": 6},
        {
            member_id: subscription(version=0, topics=("t",))
            for member_id in ("m1", "m2", "m3", "m4")
        },
        {"m1": [0, 1], "m3": [2, 3], "m2": [4], "m4": [5]},
        instances={"m1": "i1", "m3": "i3"},
        note="static members beside dynamic ones: static, dynamic, static, dynamic",
        clients={
            KAFKA_PYTHON: "m1 and m2 get nothing",
            SARAMA: "does not know of static members",
            JAVA: "static members first",
        },
    )
    yield group(
        "peer-kafka-python",
        "roundrobin",
        {"t": 2, "u": 2},
        {
            "a": subscription(version=0, topics=("t", "u")),
            "b": subscription(version=0, topics=("u",)),
        },
        None,
        note="unequal subscriptions",
        clients={KAFKA_PYTHON: "KeyError", JAVA: "skips members that did not ask"},
    )
    yield group(
        "peer-kafka-python",
        "coop",
        {"t": 4},
        {
            "a": subscription(topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=9),
            "b": subscription(topics=("t",), owned={"t": (2, 3)}, generation=3),
        },
        {"a": [0, 1], "b": []},
        note="a partition claimed twice: b missed generations and claims what a consumes",
        clients={
            KAFKA_PYTHON: "the last member's claim counts: b gets partitions that a still consumes",
            SARAMA: "gives b partitions that a still consumes",
            JAVA: "a's claim counts",
        },
    )


def _franz_go() -> Iterator[Case]:
    yield {
        "category": "peer-franz-go",
        "op": "decode",
        "judge": "accept",
        "in": {
            "algo": "codec-mdcoop",
            "mode": "tolerant",
            "ud": "0000000100087061796d656e7473000000040000000000000001000000020000000300000003",
            "owned": [["payments", number] for number in range(4)],
            "gen": -1,
        },
        "value": {"owned": [["payments", number] for number in range(4)], "gen": 3},
        "note": "the whole sticky layout under cooperative-sticky, generation 3 at its end",
        "clients": {
            FRANZ_GO: "writes it; captured",
            JAVA_OLD: "reads the first four bytes: generation 1, the number of topics",
            JAVA: "the Subscription's own generation comes first, so it is not looked at",
        },
    }
    yield {
        "category": "peer-franz-go",
        "op": "decode",
        "judge": "either",
        "in": {"algo": "codec-asg", "mode": "tolerant", "hex": ""},
        "value": {"owned": [], "ud": None},
        "note": "zero bytes: what a broker sends to a member that its leader left out",
        "clients": {
            FRANZ_GO: "an error, joins again",
            KAFKA_PYTHON: "an error, and the old assignment stays in place",
            SARAMA: "nothing assigned",
            LIBRDKAFKA: "nothing assigned",
            JAVA: "SchemaException",
        },
    }


def _sarama_cluster() -> Iterator[Case]:
    yield {
        "category": "peer-sarama-cluster",
        "op": "decode",
        "judge": "accept",
        "in": {
            "algo": "codec-sub",
            "mode": "tolerant",
            "hex": "00010000000300027461000274620002746300000000",
        },
        "value": {"topics": ["ta", "tb", "tc"], "ud": "", "owned": None, "gen": -1, "rack": None},
        "note": "stamped version 1, without the owned partitions of it: not known what it owns",
        "clients": {
            "kafkajs 2.2.4": "writes it in custom assigners; captured",
            "sarama-cluster": "writes it, as does segmentio/kafka-go",
            JAVA: "SchemaException, the group fails",
            KAFKA_PYTHON: "an error, the group fails",
            LIBRDKAFKA: "silently leaves the member out",
            SARAMA: "reads it",
            FRANZ_GO: "its codec refuses it, its balancers read it as version 0",
        },
    }
    yield group(
        "peer-sarama-cluster",
        "range",
        {"t": 2},
        {"a": "00010000000100017400000000", "b": subscription(topics=("t",))},
        {"a": [0], "b": [1]},
        note="the same beside a good member",
        clients={
            JAVA: "SchemaException, the group fails",
            KAFKA_PYTHON: "an error, the group fails",
            LIBRDKAFKA: "silently leaves the member out",
            SARAMA: "lawful",
            FRANZ_GO: "lawful",
        },
    )
