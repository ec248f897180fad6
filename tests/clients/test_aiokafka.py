"""The adapter with aiokafka's own classes, without a broker."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

import pytest
from aiokafka.cluster import ClusterMetadata
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka.structs import BrokerMetadata, PartitionMetadata

from assignors import Assignor, RebalanceProtocol, assignor_named
from assignors.clients.aiokafka import Strategy, cooperative_sticky, decoding, strategy
from tests.clients.test_kafka_python import GARBAGE
from wire import (
    Mode,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)


@pytest.fixture
def cluster() -> ClusterMetadata:
    found = ClusterMetadata()
    found._brokers = {node: BrokerMetadata(node, "h", 9092, f"r{node}") for node in range(2)}
    found._partitions = {
        "t": {
            number: PartitionMetadata("t", number, 0, [number % 2], [number % 2], None)
            for number in range(4)
        }
    }
    return found


def led(made: Strategy, cluster: Any, blobs: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    """Lead as the host does: it decodes every member first."""
    members = {name: ConsumerProtocol.METADATA.decode(blob) for name, blob in blobs.items()}
    return {
        name: dict(decode_assignment(blob, mode=Mode.STRICT).require().partitions)
        for name, blob in made.assign(cluster, members).items()
    }


def joined(**fields: Any) -> bytes:
    return encode_subscription(Subscription(topics=("t",), **fields))


def test_claims_of_cooperative_members_are_read(cluster: ClusterMetadata) -> None:
    """The host drops owned partitions; a leader without them gives one partition to two."""
    made = strategy("cooperative-sticky")
    owner = joined(owned={"t": (0, 1, 2, 3)}, generation=4)
    given = led(made, cluster, {"me": made.metadata({"t"}), "owner": owner})
    assert given == {"me": {}, "owner": {"t": (0, 1)}}


def test_a_subscription_with_the_topics_of_the_one_before_is_left_to_the_leader(
    cluster: ClusterMetadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each was decoded when it arrived and again by the leader, which reads all together."""
    gc.collect()  # strategies of other tests share what was read last
    decoded: list[bytes] = []

    def counted(blob: bytes) -> Any:
        decoded.append(blob)
        return decode_subscription(blob)

    monkeypatch.setattr(decoding, "decode_subscription", counted)
    made = strategy("cooperative-sticky", rack_id="r0")
    blobs = {"me": made.metadata({"t"}), "other": joined(rack_id="r1")}
    led(made, cluster, blobs)
    assert decoded == [blobs["me"]]


def test_members_that_aiokafka_decoded_itself_are_led(cluster: ClusterMetadata) -> None:
    """Decoded before the first strategy was made: topics are all that is left of the bytes."""
    plain = ConsumerProtocolMemberMetadata(1, ["t"], b"")
    answer = strategy("range").assign(cluster, {"a": plain, "b": plain})
    given = [decode_assignment(blob).require().partitions for blob in answer.values()]
    assert given == [{"t": (0, 1)}, {"t": (2, 3)}]


def test_a_member_here_claims_nothing(cluster: ClusterMetadata) -> None:
    made = strategy("cooperative-sticky")
    made.on_assignment(ConsumerProtocolMemberAssignment.decode(encode_assignment({"t": (0, 1)})))
    read = decode_subscription(made.metadata({"t"})).value
    assert read is not None
    assert (read.owned, read.owned_known, read.version) == ({}, True, 3)


def test_under_sticky_it_remembers_in_user_data(cluster: ClusterMetadata) -> None:
    made = strategy("sticky")
    given = led(made, cluster, {"a": made.metadata({"t"}), "b": joined()})
    made._session.applied(given["a"], 1)
    again = led(made, cluster, {"a": made.metadata({"t"}), "b": joined(), "c": joined()})
    assert set(again["a"]["t"]) <= set(given["a"]["t"])


def test_racks_of_members_and_brokers_are_used(cluster: ClusterMetadata) -> None:
    made = strategy("cooperative-sticky", rack_id="r0")
    given = led(made, cluster, {"me": made.metadata({"t"}), "other": joined(rack_id="r1")})
    assert given == {"me": {"t": (0, 2)}, "other": {"t": (1, 3)}}


@pytest.mark.parametrize("blob", GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("name", ["range", "sticky", "cooperative-sticky"])
def test_no_bytes_of_a_member_stop_the_leader(
    cluster: ClusterMetadata, name: str, blob: bytes
) -> None:
    made = strategy(name)
    given = led(made, cluster, {"me": made.metadata({"t"}), "odd": blob})
    assert set(given) == {"me", "odd"}


def test_other_assignors_go_on_as_before(cluster: ClusterMetadata) -> None:
    blobs = {"a": joined(), "b": joined()}
    before = RoundRobinPartitionAssignor.assign(cluster, members_of(blobs))
    made = strategy("range")
    assert ConsumerProtocol.METADATA is not ConsumerProtocolMemberMetadata
    after = RoundRobinPartitionAssignor.assign(cluster, members_of(blobs))
    assert {name: found.encode() for name, found in before.items()} == {
        name: found.encode() for name, found in after.items()
    }
    del made
    gc.collect()
    assert ConsumerProtocol.METADATA is ConsumerProtocolMemberMetadata
    assert ConsumerProtocol.ASSIGNMENT is ConsumerProtocolMemberAssignment


def members_of(blobs: Mapping[str, bytes]) -> dict[str, Any]:
    return {name: ConsumerProtocol.METADATA.decode(blob) for name, blob in blobs.items()}


def test_cooperative_sticky_has_a_name_of_its_own() -> None:
    made = cooperative_sticky(on_note=print)
    assert isinstance(made, Strategy)
    assert repr(made) == repr(strategy("cooperative-sticky"))


def test_an_assignor_that_only_cooperates_is_refused() -> None:
    mine = Assignor(
        family="mine",
        name="mine",
        assign=assignor_named("cooperative-sticky").assign,
        protocols=frozenset({RebalanceProtocol.COOPERATIVE}),
    )
    with pytest.raises(ValueError, match="gives up everything"):
        strategy(mine)


def test_state_is_the_instances_own() -> None:
    one, other = strategy("sticky"), strategy("sticky")
    one._session.applied({"t": (0,)}, 3)
    assert other._session.membership.assigned == {}
    assert other.metadata({"t"}) == strategy("sticky").metadata({"t"})
