"""Members with the bytes of real clients: as captured, and what becomes of groups with odd ones.

What each client does with odd bytes was tried on a real broker, one odd member and one leader at a
time; the same is played here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assignors.assignor import UserData
from assignors.model import Cluster
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.dialects.dialect import Reaction, subscription_bytes
from assignors.simulation.timed.dialects.following import received
from assignors.simulation.timed.dialects.leading import meet
from assignors.simulation.timed.dialects.user_data import Knowledge
from assignors.simulation.timed.protocols.kafka.records import GroupRecord
from assignors.simulation.timed.scenario import MemberConfig, Scenario
from assignors.simulation.timed.simulation import Played, simulate
from tests.simulation.timed.groups import EXACT
from tests.wire.vectors import captured
from wire import (
    Subscription,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
    encode_sticky_user_data,
    encode_subscription,
)

CLIENTS = {
    ("java", "kafka-clients 2.4.1"): "java-2.4.1",
    ("java", "kafka-clients 3.1.2"): "java-3.1.2",
    ("java", "kafka-clients 4.4.0"): "java-4.4.0",
    ("librdkafka", "confluent-kafka 2.16.1"): "librdkafka-2.16.0",
    ("franz-go", "1.22.2"): "franz-go-1.22.2",
    ("sarama", "1.61.1 (default Config.Version 2.8.0)"): "sarama-1.61.1",
    ("sarama", "1.61.1 (Config.Version 3.6.0)"): "sarama-1.61.1-v3.6",
    ("kafka-python", "3.0.12"): "kafka-python-3.0.12",
    ("aiokafka", "0.14.0"): "aiokafka-0.14.0",
    ("kafkajs", "2.2.4"): "kafkajs-2.2.4",
}
KINDS = {
    "range": UserData.NONE,
    "roundrobin": UserData.NONE,
    "RoundRobinAssigner": UserData.NONE,
    "sticky": UserData.STICKY,
    "cooperative-sticky": UserData.COOPERATIVE,
}
TOPIC_TWICE = 1
"""One captured librdkafka member writes into UserData an assignment that names a topic twice."""


def name_of(case: dict[str, Any]) -> str | None:
    """Return the dialect that a captured message is of."""
    name = CLIENTS.get((case["client"], case["version"]))
    is_custom = name == "kafkajs-2.2.4" and case["protocol"] == "range"
    return "kafkajs-2.2.4-custom" if is_custom else name


def knowledge(blob: bytes, kind: UserData, name: str) -> Knowledge:
    """Return what a member must have known to write a captured Subscription."""
    read = decode_subscription(blob).require()
    layout = decode_sticky_user_data(read.user_data).require()
    assigned, assigned_in = read.owned, read.generation
    if kind is UserData.STICKY or name.startswith(("franz-go", "librdkafka")):
        assigned, assigned_in = layout.owned, -1 if layout.generation is None else layout.generation
    elif kind is UserData.COOPERATIVE:
        written = decode_cooperative_user_data(read.user_data).require().generation
        assigned_in = -1 if written is None else written
    if name == "aiokafka-0.14.0" and read.user_data:
        assigned_in = 0  # it has one, and never writes it
    return Knowledge(
        topics=read.topics,
        consumed=read.owned,
        assigned=assigned,
        assigned_in=assigned_in,
        generation=read.generation if DIALECTS[name].forms[kind].has_generation else 7,
        received=read.user_data,
        rack_id=read.rack_id,
    )


def test_every_client_writes_what_was_captured() -> None:
    compared, different = 0, []
    for case in captured("subscription"):
        name = name_of(case)
        if name is None:  # Kafka Streams has an assignor and UserData of its own
            continue
        blob = bytes.fromhex(case["hex"])
        kind = KINDS[case["protocol"]]
        ours = subscription_bytes(DIALECTS[name], kind, knowledge(blob, kind, name))
        compared += 1
        if ours != blob:
            different.append((name, case["protocol"], blob.hex(), ours.hex()))
    assert compared > 300
    assert len(different) == TOPIC_TWICE, different
    assert all(name == "librdkafka-2.16.0" for name, *_ in different)


# One odd member beside a leader of each client

LEADERS = {
    "java44": "java-4.4.0",
    "java31": "java-3.1.2",
    "java24": "java-2.4.1",
    "sarama": "sarama-1.61.1",
    "franz": "franz-go-1.22.2",
    "ck": "librdkafka-2.16.0",
    "kp": "kafka-python-3.0.12",
    "ours": None,
}
SOUND = "0003000000010001" + "74" + "ffffffff" + "00000000" + "ffffffff" + "ffff"
ODD = {
    "version 0": "0000000000010001" + "74" + "ffffffff",
    "version 1 without owned": "0001000000010001" + "74" + "00000000",
    "version 2 without generation": "0002000000010001" + "74" + "ffffffff" + "00000000",
    "zero bytes": "",
    "version -1": "ffff000000010001" + "74" + "ffffffff",
    "trailing bytes": SOUND + "0000",
    "owned null": "0003000000010001" + "74" + "ffffffff" + "ffffffff" + "ffffffff" + "ffff",
    "truncated": SOUND[:30],
    "claims 99": "0003000000010001" + "74" + "ffffffff"
    "00000001000174" + "0000000100000063" + "00000000" + "ffff",
    "no topics": "000300000000" + "ffffffff" + "00000000" + "ffffffff" + "ffff",
}
OK, OUT, SILENT, STUCK, ENDS, DIES = "ok", "out", "silent", "stuck", "ends", "dies"
SEEN = """
                              java44 java31 java24 sarama franz  ck   kp     ours
version 0                     ok     ok     ok     ok     ok     dies ok     ok
version 1 without owned       ends   ends   ends   ok     ok     out  ends   ok
version 2 without generation  ends   ok     ok     silent stuck  out  ends   ok
zero bytes                    ends   ends   ends   silent stuck  dies ends   ok
version -1                    ends   ends   ends   ok     ok     dies ends   ok
trailing bytes                ok     ok     ok     silent ok     ok   ok     ok
owned null                    ends   ends   ends   ok     ok     out  ok     ok
truncated                     ends   ends   ends   silent stuck  out  ends   ok
claims 99                     ends   ok     ok     ok     ok     ok   ok     ok
no topics                     ok     ok     ok     ok     ok     out  ok     ok
"""
"""What was seen on a broker, under cooperative-sticky; of `java44` without topics see below.

Of Java and `kp` it was an exception out of `poll()`: `ends`. Where an application of `kp` polls on
nonetheless it joins again at once and fails again, and all wait until its session is over.
"""
ROWS = [line.rsplit(maxsplit=8) for line in SEEN.strip("\n").splitlines()[1:]]
CASES = [
    (odd, leader, seen) for odd, *row in ROWS for leader, seen in zip(LEADERS, row, strict=True)
]


def beside(client: str | None, odd: str, **config: Any) -> Scenario:
    """Return a leader of a client, and ten seconds later an odd member."""
    return Scenario(
        until_ms=40_000,
        topics={"t": 6},
        members=(
            MemberConfig(
                name="leader",
                topics=("t",),
                client=client,
                **(EXACT | config),
            ),
            MemberConfig(
                name="odd", topics=("t",), subscription_hex=odd, starts_at_ms=10_000, **EXACT
            ),
        ),
    )


def became(played: Played, before: Played) -> str:
    """Return what became of the leader, by what it and the odd member consume at the end."""
    last = {change.member_id: change for change in played.changes}
    if last["leader"].reason in {"crashed", "ended by an error"}:
        return DIES if last["leader"].reason == "crashed" else ENDS
    joins = played.result.requests["JoinGroup"]
    if not played.result.is_settled:
        return STUCK if joins > before.result.requests["JoinGroup"] + 10 else SILENT
    group = [record for _, record in played.records if isinstance(record, GroupRecord)][-1]
    given = {each.client_id: each.assignment for each in group.members}
    return OK if given["odd"] else OUT


@pytest.mark.parametrize(("odd", "leader", "seen"), CASES)
def test_one_odd_member_beside_each_leader(odd: str, leader: str, seen: str) -> None:
    normal = simulate(beside(LEADERS[leader], SOUND), keeps_history=True)
    played = simulate(beside(LEADERS[leader], ODD[odd]), keeps_history=True)
    assert normal.result.is_settled
    assert became(played, normal) == seen


def stops(client: str, kind: UserData, *odd: bytes) -> Reaction | None:
    """Return what keeps a leader of a client from leading these members."""
    cluster = Cluster.of({"t": 6})
    blobs = {str(number): blob for number, blob in enumerate(odd)}
    return meet(DIALECTS[client], kind, cluster, blobs).stops


def test_the_worst_that_a_leader_meets_decides() -> None:
    ends, dies = bytes.fromhex(ODD["owned null"]), bytes.fromhex(ODD["zero bytes"])
    sound = bytes.fromhex(SOUND)
    assert stops("librdkafka-2.16.0", UserData.COOPERATIVE, sound, ends) is None
    assert stops("librdkafka-2.16.0", UserData.COOPERATIVE, ends, dies, sound) is Reaction.DIES
    assert stops("java-4.4.0", UserData.COOPERATIVE, sound, sound) is None


def test_sarama_gives_up_a_round_over_what_others_pass_over() -> None:
    unknown = encode_subscription(Subscription(topics=("t", "gone")))
    assert stops("sarama-1.61.1", UserData.NONE, unknown) is Reaction.SILENT
    assert stops("java-4.4.0", UserData.NONE, unknown) is None
    for user_data, reaction in (
        (None, None),
        (b"", Reaction.SILENT),
        (bytes.fromhex("ffffffff"), None),
        (b"\0\1" + encode_sticky_user_data({"t": (0,)}, 3), Reaction.SILENT),
        (encode_sticky_user_data({"t": (0,)}, 3), None),
    ):
        blob = encode_subscription(Subscription(topics=("t",), user_data=user_data))
        assert stops("sarama-1.61.1", UserData.STICKY, blob) is reaction
        assert stops("sarama-1.61.1", UserData.NONE, blob) is None


def test_who_is_stuck_waits_longer_each_time() -> None:
    stuck = beside("franz-go-1.22.2", ODD["zero bytes"])
    # Each try ends a round; they come after 0.25, 0.5, 1, 2, 4 and then every 5 seconds.
    ends_ms = (14_000, 18_000, 23_000, 28_000, 33_000)
    rounds = [simulate(replace(stuck, until_ms=end_ms)).result.rounds for end_ms in ends_ms]
    assert rounds == [5, 6, 7, 8, 9]


# Followers

TWICE = bytes.fromhex(
    "000000000002" + "0001740000000100000000" + "0001740000000100000001" + "ffffffff"
)


@pytest.mark.parametrize(
    ("client", "blob", "taken"),
    [
        ("java-4.4.0", b"", Reaction.ENDS),
        ("sarama-1.61.1", b"", {}),
        ("franz-go-1.22.2", b"", Reaction.STUCK),
        ("librdkafka-2.16.0", b"", {}),
        ("kafka-python-3.0.12", b"", {"old": (0,)}),
        ("aiokafka-0.14.0", b"", Reaction.ENDS),
        ("java-4.4.0", "twice", {"t": (0, 1)}),
        ("librdkafka-2.16.0", "twice", {"t": (0, 1)}),
        ("franz-go-1.22.2", "twice", {"t": (1,)}),
        ("sarama-1.61.1", "twice", {"t": (1,)}),
        ("sarama-1.61.1", encode_assignment({"t": (0,)}) + b"\0", Reaction.STUCK),
        ("franz-go-1.22.2", encode_assignment({"t": (0,)}) + b"\0", {"t": (0,)}),
    ],
)
def test_a_follower_reads_as_its_client_does(client: str, blob: bytes | str, taken: Any) -> None:
    given = TWICE if isinstance(blob, str) else blob
    owned, reaction = received(
        DIALECTS[client], given, decode_assignment(given), {"old": (0,)}, ("t",)
    )
    assert (reaction or owned) == taken
