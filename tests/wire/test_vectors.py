"""Kafka's own classes as judge: what they write, read and refuse, we write, read and refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.wire.vectors import captured, kafka
from wire import (
    Decoded,
    MemberAssignment,
    Mode,
    Subscription,
    TopicPartitions,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)

VERSIONS = range(4)


def partitions_of(pairs: list[list[Any]]) -> TopicPartitions:
    """[[topic, partition], ...] grouped by topic, in order of first appearance."""
    grouped: dict[str, tuple[int, ...]] = {}
    for topic, partition in pairs:
        grouped[topic] = (*grouped.get(topic, ()), partition)
    return grouped


def ids(cases: list[dict[str, Any]]) -> list[str]:
    return [case["id"] for case in cases]


@pytest.mark.parametrize("case", kafka("codec-mksub"), ids=ids(kafka("codec-mksub")))
def test_subscription_bytes_are_kafkas(case: dict[str, Any]) -> None:
    given = case["in"]
    subscription = Subscription(
        topics=tuple(given["topics"]),
        owned=partitions_of(given["owned"]),
        generation=-1 if given["gen"] is None else given["gen"],
        rack_id=given["rack"],
        user_data=None if given["ud"] is None else bytes.fromhex(given["ud"]),
    )
    for version in VERSIONS:
        assert (
            encode_subscription(replace(subscription, version=version)).hex()
            == (case["out"][f"v{version}"])
        )


@pytest.mark.parametrize("case", kafka("codec-mkasg"), ids=ids(kafka("codec-mkasg")))
def test_assignment_bytes_are_kafkas(case: dict[str, Any]) -> None:
    given = case["in"]
    user_data = None if given["ud"] is None else bytes.fromhex(given["ud"])
    partitions = partitions_of(given["owned"])
    for version in VERSIONS:
        blob = encode_assignment(partitions, user_data=user_data, version=version, keep_order=True)
        assert blob.hex() == case["out"][f"v{version}"]


@pytest.mark.parametrize("case", kafka("codec-sub"), ids=ids(kafka("codec-sub")))
def test_strict_reads_and_refuses_subscriptions_as_kafka(case: dict[str, Any]) -> None:
    decoded = decode_subscription(bytes.fromhex(case["in"]["hex"]), mode=Mode.STRICT)
    assert (decoded.error is not None) == ("err" in case["out"])
    if decoded.value is not None:
        for version in VERSIONS:
            again = encode_subscription(replace(decoded.value, version=version))
            assert again.hex() == case["out"][f"v{version}"]


@pytest.mark.parametrize("case", kafka("codec-asg"), ids=ids(kafka("codec-asg")))
def test_strict_reads_and_refuses_assignments_as_kafka(case: dict[str, Any]) -> None:
    decoded = decode_assignment(bytes.fromhex(case["in"]["hex"]), mode=Mode.STRICT)
    assert (decoded.error is not None) == ("err" in case["out"])
    if decoded.value is not None:
        for version in VERSIONS:
            again = encode_assignment(
                decoded.value.partitions,
                user_data=decoded.value.user_data,
                version=version,
                keep_order=True,
            )
            assert again.hex() == case["out"][f"v{version}"]


def sorted_pairs(partitions: TopicPartitions) -> list[tuple[str, int]]:
    return sorted((topic, number) for topic, numbers in partitions.items() for number in numbers)


@pytest.mark.parametrize("case", kafka("codec-stickyud"), ids=ids(kafka("codec-stickyud")))
def test_sticky_user_data_is_kafkas(case: dict[str, Any]) -> None:
    # Java groups topics in the order of a HashMap: the test takes that order from the bytes.
    blob = bytes.fromhex(case["out"]["ud"])
    read = decode_sticky_user_data(blob, mode=Mode.STRICT).require()
    assert sorted_pairs(read.owned) == sorted_pairs(partitions_of(case["in"]["owned"]))
    assert read.generation == case["in"]["gen"]
    assert encode_sticky_user_data(read.owned, case["in"]["gen"], keep_order=True) == blob


@pytest.mark.parametrize("case", kafka("codec-coopud"), ids=ids(kafka("codec-coopud")))
def test_cooperative_user_data_is_kafkas(case: dict[str, Any]) -> None:
    blob = encode_cooperative_user_data(case["in"]["gen"])
    assert blob.hex() == case["out"]["ud"]


def java_generation(generation: int | None) -> str:
    return "Optional.empty" if generation is None else f"Optional[{generation}]"


@pytest.mark.parametrize("case", kafka("codec-mdsticky"), ids=ids(kafka("codec-mdsticky")))
def test_strict_reads_sticky_user_data_as_kafka(case: dict[str, Any]) -> None:
    blob = None if case["in"]["ud"] is None else bytes.fromhex(case["in"]["ud"])
    read = decode_sticky_user_data(blob, mode=Mode.STRICT).require()
    assert java_generation(read.generation) == case["out"]["generation"]
    shown = ", ".join(f"{t}-{n}" for t, numbers in read.owned.items() for n in numbers)
    assert sorted(shown.split(", ")) == sorted(case["out"]["partitions"][1:-1].split(", "))


@pytest.mark.parametrize("case", kafka("codec-mdcoop"), ids=ids(kafka("codec-mdcoop")))
def test_strict_reads_cooperative_user_data_as_kafka(case: dict[str, Any]) -> None:
    if case["in"]["gen"] is not None and case["in"]["gen"] >= 0:
        assert case["out"]["generation"] == f"Optional[{case['in']['gen']}]"
        return
    blob = None if case["in"]["ud"] is None else bytes.fromhex(case["in"]["ud"])
    read = decode_cooperative_user_data(blob, mode=Mode.STRICT).require()
    assert java_generation(read.generation) == case["out"]["generation"]


def reads_like_java(decoded: Decoded[Any], case: dict[str, Any]) -> bool:
    return (decoded.error is not None) == ("java_error" in case)


def test_captured_subscriptions_are_read_as_the_independent_reader_did() -> None:
    for case in captured("subscription"):
        blob, expected = bytes.fromhex(case["hex"]), case["decoded"]
        assert reads_like_java(decode_subscription(blob, mode=Mode.STRICT), case)
        value = decode_subscription(blob).require()
        assert list(value.topics) == expected["topics"]
        assert value.version == expected["version"]
        assert [[t, list(n)] for t, n in value.owned.items()] == (expected.get("owned") or [])
        generation = expected.get("generation")
        assert value.generation == (-1 if generation is None else max(generation, -1))
        assert value.rack_id == (expected.get("rack") or None)
        if "java" in case:
            java_owned = case["java"].get("ownedPartitions", [])
            pairs = [[p["topic"], p["partitions"]] for p in java_owned if p["partitions"]]
            assert [[t, list(n)] for t, n in value.owned.items()] == pairs


def test_captured_assignments_are_read_as_the_independent_reader_did() -> None:
    for case in captured("assignment"):
        blob = bytes.fromhex(case["hex"])
        assert reads_like_java(decode_assignment(blob, mode=Mode.STRICT), case)
        value: MemberAssignment | None = decode_assignment(blob).value
        assert (value is None) == (len(blob) < 2)
        if value is not None:
            merged: dict[str, list[int]] = {}
            for topic, numbers in case["decoded"]["partitions"]:
                merged.setdefault(topic, []).extend(numbers)
            assert {t: list(n) for t, n in value.partitions.items()} == (
                {topic: numbers for topic, numbers in merged.items() if numbers}
            )


def test_captured_user_data_is_read_by_layout() -> None:
    layouts = set()
    for case in captured("userdata"):
        blob, expected = bytes.fromhex(case["hex"]), case["decoded"]
        layouts.add(expected["layout"])
        if "previous" in expected:
            sticky = decode_sticky_user_data(blob).require()
            owned = [[t, list(n)] for t, n in sticky.owned.items()]
            assert owned == [p for p in map(list, expected["previous"]) if p[1]], case
        if case["protocol"] == "cooperative-sticky" and "generation" in expected:
            read = decode_cooperative_user_data(blob).require()
            assert read.generation == expected["generation"], case
    assert len(layouts) > 1, layouts
