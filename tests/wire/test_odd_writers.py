"""What real clients are known to write, each with the note that says so."""

from __future__ import annotations

import pytest

from wire import (
    Mode,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
)

TOPIC = "00000001000174"
OWNED = "00000001000174000000020000000000000001"
NULL = "ffffffff"

# bytes, codes of the notes, does the value still tell what is owned, who writes that
SUBSCRIPTIONS = [
    ("0000" + TOPIC + NULL, [], False, "version 0 has no owned partitions"),
    ("0001" + TOPIC + NULL, ["owned-missing"], False, "kafkajs, sarama-cluster, kafka-go"),
    ("0001" + TOPIC + NULL + NULL, ["owned-null"], False, "a null array"),
    ("0001" + TOPIC + NULL + OWNED[:-4], ["owned-cut"], False, "cut inside the owned array"),
    ("0001" + TOPIC + NULL + "0000", ["owned-cut"], False, "cut inside its count"),
    ("0001" + TOPIC + "00000000" + OWNED, ["user-data-empty"], True, "kafka-python"),
    ("0002" + TOPIC + NULL + OWNED, ["generation-missing"], True, "generation left out"),
    ("0002" + TOPIC + NULL + OWNED + "0000", ["cut"], True, "cut inside the generation"),
    ("0002" + TOPIC + NULL + OWNED + NULL, [], True, "the sentinel -1"),
    ("0002" + TOPIC + NULL + OWNED + "fffffff0", ["generation-negative"], True, "any negative"),
    ("0003" + TOPIC + NULL + OWNED + "00000007", ["rack-missing"], True, "rack left out"),
    ("0003" + TOPIC + NULL + OWNED + "000000070000", ["rack-empty"], True, "librdkafka"),
    ("0003" + TOPIC + NULL + OWNED + "00000007ffff00", ["trailing-bytes"], True, "a tail"),
    ("0009" + TOPIC + NULL + OWNED + "00000007ffff", ["version-above-3"], True, "a newer version"),
    ("ffff" + TOPIC + NULL, ["version-negative"], False, "version -1"),
    ("0001" + NULL + NULL + OWNED, ["topics-null"], True, "null topics"),
    ("0001" + "00000001ffff" + NULL + OWNED, ["topic-null"], True, "a null name"),
    ("0001" + "00000001000000", ["cut"], False, "cut inside UserData's length"),
    ("0003", ["cut"], False, "nothing but a version"),
    ("0001" + TOPIC + NULL + "00000001000174" + NULL, ["partitions-null"], True, "null list"),
    (
        "0001" + TOPIC + NULL + "00000002" + OWNED[8:] + OWNED[8:],
        ["topic-repeated"],
        True,
        "librdkafka writes a topic twice",
    ),
    ("0001" + "00000002000174000174" + NULL + OWNED, ["topic-repeated"], True, "asked for twice"),
    (
        "0001" + TOPIC + NULL + "0000000100017400000001" + NULL,
        ["partition-negative"],
        True,
        "partition -1",
    ),
    ("0001000000010001ff" + NULL + OWNED, ["invalid-utf8"], True, "no UTF-8"),
]


@pytest.mark.parametrize(("blob", "codes", "known", "who"), SUBSCRIPTIONS)
def test_a_subscription_is_read_and_its_oddity_named(
    blob: str,
    codes: list[str],
    known: bool,  # noqa: FBT001 - a column of the table
    who: str,
) -> None:
    decoded = decode_subscription(bytes.fromhex(blob))
    assert [note.code.value for note in decoded.notes] == codes, who
    assert decoded.require().owned_known is known


def test_cut_bytes_give_what_was_read() -> None:
    blob = bytes.fromhex("0003" + TOPIC + "00000002abcd" + OWNED)
    value = decode_subscription(blob[:-2]).require()
    assert (value.topics, value.user_data, value.owned) == (("t",), b"\xab\xcd", {"t": (0,)})


@pytest.mark.parametrize("blob", [b"", b"\x00"])
def test_below_two_bytes_there_is_no_value(blob: bytes) -> None:
    for mode in Mode:
        for decoded in (decode_subscription(blob, mode=mode), decode_assignment(blob, mode=mode)):
            assert decoded.value is None
            assert decoded.error is not None
            assert [note.code.value for note in decoded.notes] == ["empty-blob"]


ASSIGNMENTS = [
    ("0001" + OWNED, ["cut"], {"t": (0, 1)}),
    ("0001" + OWNED[:-4], ["cut"], {"t": (0,)}),
    ("0001" + NULL + NULL, ["topics-null"], {}),
    ("ffff" + OWNED + NULL, ["version-negative"], {"t": (0, 1)}),
    ("0009" + OWNED + NULL, ["version-above-3"], {"t": (0, 1)}),
    ("0001" + OWNED + NULL + "00", ["trailing-bytes"], {"t": (0, 1)}),
    ("000100000002" + OWNED[8:] + OWNED[8:] + NULL, ["topic-repeated"], {"t": (0, 1, 0, 1)}),
]


@pytest.mark.parametrize(("blob", "codes", "partitions"), ASSIGNMENTS)
def test_an_assignment_is_read_and_its_oddity_named(
    blob: str, codes: list[str], partitions: dict[str, tuple[int, ...]]
) -> None:
    decoded = decode_assignment(bytes.fromhex(blob))
    assert [note.code.value for note in decoded.notes] == codes
    assert decoded.require().partitions == partitions


STICKY = [
    ("", {}, None, None, ["user-data-empty"]),
    (NULL, {}, None, -1, ["owned-null"]),
    ("00000007", {}, None, -1, ["user-data-unreadable"]),
    (OWNED, {"t": (0, 1)}, None, None, []),
    (OWNED + "0000", {"t": (0, 1)}, None, None, ["trailing-bytes"]),
    (OWNED + "00000005", {"t": (0, 1)}, 5, 5, []),
    (OWNED + "0000000500", {"t": (0, 1)}, 5, 5, ["trailing-bytes"]),
    (OWNED + NULL, {"t": (0, 1)}, -1, -1, []),
    ("0001" + OWNED + "00000005", {"t": (0, 1)}, 5, -1, ["int16-prefix"]),
    ("0001" + OWNED, {"t": (0, 1)}, None, -1, ["int16-prefix"]),
    (OWNED[:-2], {"t": (0,)}, None, -1, ["owned-cut"]),
]


@pytest.mark.parametrize(("blob", "owned", "generation", "java", "codes"), STICKY)
def test_sticky_user_data_of_every_writer(
    blob: str, owned: object, generation: int | None, java: int | None, codes: list[str]
) -> None:
    decoded = decode_sticky_user_data(bytes.fromhex(blob))
    value = decoded.require()
    assert (value.owned, value.generation) == (owned, generation)
    assert [note.code.value for note in decoded.notes] == codes
    strict = decode_sticky_user_data(bytes.fromhex(blob), mode=Mode.STRICT).require()
    assert strict.generation == java
    if java is not None and java != generation:
        assert strict.owned == {}, "where Java gives up, it keeps nothing"


COOPERATIVE = [
    ("", None, -1, None),
    ("0000", None, -1, None),
    (NULL, -1, -1, None),
    ("00000007", 7, 7, None),
    ("0000000700", 7, 7, None),
    (OWNED + "00000005", 5, 1, {"t": (0, 1)}),
    (OWNED, None, 1, {"t": (0, 1)}),
    ("0000000000000005", 5, 0, {}),
]


@pytest.mark.parametrize(("blob", "generation", "java", "owned"), COOPERATIVE)
def test_cooperative_user_data_of_every_writer(
    blob: str, generation: int | None, java: int, owned: object
) -> None:
    value = decode_cooperative_user_data(bytes.fromhex(blob)).require()
    assert (value.generation, value.owned) == (generation, owned)
    strict = decode_cooperative_user_data(bytes.fromhex(blob), mode=Mode.STRICT).require()
    assert (strict.generation, strict.owned) == (java, None)


def test_null_user_data_says_nothing() -> None:
    for mode in Mode:
        assert decode_sticky_user_data(None, mode=mode).require().generation is None
        assert decode_cooperative_user_data(None, mode=mode).require().generation is None


def test_a_rule_broken_often_is_one_note_with_a_count() -> None:
    group = "00017400000001" + NULL
    blob = "0001" + TOPIC + NULL + "00000003" + group * 3
    notes = {n.code.value: n for n in decode_subscription(bytes.fromhex(blob)).notes}
    assert set(notes) == {"partition-negative", "topic-repeated"}
    assert notes["partition-negative"].text.endswith("(3 times)")
    assert notes["partition-negative"].offset == 2 + 7 + 4 + 4 + 3 + 4


def test_more_elements_than_kafka_reads_are_read_with_a_note() -> None:
    count = 1_000_001
    blob = bytes.fromhex("0000") + count.to_bytes(4, "big") + b"\x00\x01t" * count
    blob += bytes.fromhex(NULL)
    assert decode_subscription(blob, mode=Mode.STRICT).error is not None
    decoded = decode_subscription(blob)
    assert len(decoded.require().topics) == count
    codes = [note.code.value for note in decoded.notes]
    assert codes == ["count-above-limit", "topic-repeated"]
