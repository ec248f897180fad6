"""Subscription bytes: what clients wrote, what could be written, and both with something broken."""

from __future__ import annotations

from hypothesis import strategies as st

from assignors import Cluster, Topic
from tests.wire.vectors import captured
from wire import Subscription, encode_sticky_user_data, encode_subscription

NAMES = ("a", "b", "orders", "orders-events-2", "orders-events-3", "é", "\U00010000" * 9)
CAPTURED = sorted({bytes.fromhex(case["hex"]) for case in captured("subscription")})
USER_DATA = (None, None, b"", b"\0\0\0\7", b"data", b"\xff" * 3 + b"\0")
TOPICS = st.builds(
    lambda count, racks: Topic(partition_count=count, racks=(racks,) * count),
    st.integers(0, 5),
    st.sampled_from([("r1",), ("r1",), ("é", "r2")]),
)
CLUSTERS = st.one_of(
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 5), max_size=6).map(Cluster.of),
    st.dictionaries(st.sampled_from(NAMES), TOPICS, max_size=6).map(lambda t: Cluster(topics=t)),
)


def sticky_user_data() -> st.SearchStrategy[bytes]:
    """UserData of the eager sticky assignor: V1, V0, one with odd bytes, one of kafka-python."""
    numbers = st.lists(st.integers(0, 5), max_size=3).map(tuple)
    owned = st.dictionaries(st.sampled_from(NAMES), numbers, max_size=3)
    whole = st.builds(encode_sticky_user_data, owned, st.sampled_from((4, 4, 5, -1, -7)))
    return st.one_of(
        whole,
        whole,
        whole.map(lambda data: data[:-4]),
        mutated(whole),
        whole.map(lambda data: b"\0\1" + data),
    )


def plain() -> st.SearchStrategy[bytes]:
    """What an honest client could write."""
    names = st.lists(st.sampled_from(NAMES), unique=True, max_size=4).map(tuple)
    numbers = st.lists(st.integers(0, 5), max_size=4).map(tuple)
    return st.builds(
        Subscription,
        version=st.sampled_from((3, 3, 3, 2, 1, 0)),
        topics=names,
        user_data=st.sampled_from((None, None, b"", b"\0\0\0\7", b"data", b"\xff" * 3 + b"\0"))
        | sticky_user_data(),
        owned=st.dictionaries(st.sampled_from(NAMES), numbers, max_size=4),
        generation=st.sampled_from((4, 4, 5, 3, -1)),
        rack_id=st.sampled_from((None, None, "r1", "é")),
    ).map(encode_subscription)


@st.composite
def mutated(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """Bytes with some cut off, left out, put in or changed."""
    blob = bytearray(draw(whole))
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(blob)))
        how = draw(st.sampled_from(("cut", "drop", "insert", "set")))
        if how == "cut":
            del blob[place:]
        elif how == "drop":
            del blob[place : place + 1]
        elif how == "insert":
            blob.insert(place, draw(st.integers(0, 255)))
        elif place < len(blob):
            blob[place] = draw(st.sampled_from((0, 1, 2, 127, 128, 255)))
    return bytes(blob)


def groups_of_bytes(max_size: int = 5) -> st.SearchStrategy[dict[str, bytes]]:
    """Member id -> Subscription bytes: plain, captured, mutated and random ones side by side."""
    whole = st.one_of(plain(), st.sampled_from(CAPTURED))
    blob = st.one_of(plain(), whole, mutated(whole), st.binary(max_size=30))
    return st.lists(blob, min_size=1, max_size=max_size).map(
        lambda blobs: {f"m{number}": blob for number, blob in enumerate(blobs)}
    )
