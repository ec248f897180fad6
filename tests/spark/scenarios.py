"""The rows that every engine plays, good and bad ones."""

from __future__ import annotations

from typing import Any

from wire import Subscription, encode_subscription

ASSIGNORS = ["range", "roundrobin", "sticky", "cooperative-sticky"]
SIZES_DDL = (
    "id string, seed bigint, members int, topics int, partitions int, subscription string, "
    "events int, wire boolean"
)
GROUPS_DDL = (
    "id string, seed bigint, events int, topics map<string, int>, "
    "members array<struct<id: string, instance: string, subscription: binary>>"
)


def size_rows() -> list[dict[str, Any]]:
    """Scenarios to generate, every shape, and rows that are no scenario."""
    shapes = ["equal", "half", "few", "chain", "disjoint"]
    rows = [
        {
            "id": f"s{seed}",
            "seed": seed,
            "members": 1 + seed % 6,
            "topics": 1 + seed % 4,
            "partitions": seed % 13,
            "subscription": shapes[seed % 5],
            "events": 3,
            "wire": seed % 2 == 0,
        }
        for seed in range(30)
    ]
    rows.append({**rows[0], "id": "no seed", "seed": None})
    rows.append({**rows[0], "id": "too few", "members": -1})
    rows.append({**rows[0], "id": "no shape", "subscription": "ring"})
    return rows


def group_rows() -> list[dict[str, Any]]:
    """Groups given member by member, one of them odd in every way, and rows that are none."""
    owned = Subscription(topics=("t", "u"), owned={"t": (0, 1, 2)}, generation=4)
    fresh = Subscription(topics=("t",), version=1)
    blobs = [encode_subscription(owned), encode_subscription(fresh), b"\x00\x01", b""]
    members = [
        {"id": f"m{number}", "instance": "i" if number == 1 else None, "subscription": blob}
        for number, blob in enumerate(blobs)
    ]
    topics = {"t": 5, "u": 2}
    good = {"id": "g", "seed": 5, "events": 2, "topics": topics, "members": members}
    return [
        good,
        {**good, "id": "alone", "members": members[:1], "events": 0},
        {**good, "id": "null topics", "topics": None},
        {**good, "id": "twice", "members": [members[0], members[0]]},
        {**good, "id": "no bytes", "members": [{**members[0], "subscription": None}]},
        {**good, "id": "nobody", "members": []},
    ]
