"""UserData as Java's sticky assignors write it, byte for byte.

The eager one groups its last assignment by topic in a hash map, so its bytes list topics in
hash order: two members with the same partitions may write them differently. A member that
never had an assignment writes none at all (null); the cooperative one always writes its four
bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignors.jvm.hash_order import compute_order, string_hashes
from wire import encode_cooperative_user_data, encode_sticky_user_data


def sticky_user_data(partitions: Sequence[tuple[str, int]], generation: int) -> bytes:
    """Return what `StickyAssignor` writes after it was assigned `partitions`, in their order.

    Cost: O(N). Source: `StickyAssignor.serializeTopicPartitionAssignment`, layout V1.

    >>> sticky_user_data([("b", 1), ("a", 0), ("b", 0)], 7).hex()
    '00000002000161000000010000000000016200000002000000010000000000000007'
    """
    grouped: dict[str, list[int]] = {}
    calls_follow = False
    for topic, number in partitions:
        calls_follow = topic in grouped
        grouped.setdefault(topic, []).append(number)
    topics = list(grouped)
    order = compute_order(string_hashes(topics), calls_follow=calls_follow)
    owned = {topics[place]: tuple(grouped[topics[place]]) for place in order.tolist()}
    return encode_sticky_user_data(owned, generation, keep_order=True)


def cooperative_user_data(generation: int | None) -> bytes:
    """Return what `CooperativeStickyAssignor` writes; `None` before its first assignment."""
    return encode_cooperative_user_data(generation)
