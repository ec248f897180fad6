"""How a case of `peers.py` is written down: a group of members who bring bytes."""

from __future__ import annotations

from typing import Any

from wire import Subscription, encode_subscription

Case = dict[str, Any]
"""A line of `peers.jsonl`, without its id."""


def group(
    category: str,
    algorithm: str,
    counts: dict[str, int],
    subscriptions: dict[str, str],
    numbers: dict[str, list[int]] | None,
    *,
    note: str,
    clients: dict[str, str],
    instances: dict[str, str] | None = None,
) -> Case:
    """A group of bytes; `numbers` is a lawful answer where the group has one topic."""
    named = instances or {}
    case: Case = {
        "category": category,
        "op": "assign",
        "judge": "equal" if numbers and algorithm in {"range", "roundrobin"} else "lawful",
        "in": {
            "algo": algorithm,
            "topics": {topic: [[] for _ in range(count)] for topic, count in counts.items()},
            "members": [
                {"id": member_id, "subscription": blob, "instance": named.get(member_id)}
                for member_id, blob in subscriptions.items()
            ],
        },
    }
    if numbers is not None:
        (topic,) = counts
        answer = {name: [[topic, number] for number in listed] for name, listed in numbers.items()}
        case["out"] = {"assignment": answer}
    return {**case, "note": note, "clients": clients}


def subscription(**fields: Any) -> str:
    """The bytes of a Subscription, in hexadecimal."""
    return encode_subscription(Subscription(**fields)).hex()
