"""How many records of `__consumer_offsets` a plain loop reads in a second and core.

    python -m tests.benchmarks.bench_record_loop

Groups of fifty members of the cooperative protocol, every Subscription and Assignment another one.
Processor time, the best of several runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

from wire import Subscription, encode_assignment
from wire import encode_subscription as subscription_bytes
from wire.records import decode_record, encode_key, encode_value, members_of

MEMBERS = 50
TOPICS = ("orders", "payments", "clicks.v2", "tiny")

Pairs = list[tuple[bytes, bytes]]


def group(dice: Random) -> tuple[bytes, bytes]:
    """The record of a group that nobody has seen yet."""

    def numbers() -> tuple[int, ...]:
        return (dice.randrange(100), 100 + dice.randrange(100))

    members = []
    for number in range(MEMBERS):
        said = Subscription(
            topics=TOPICS,
            user_data=dice.randbytes(4),
            owned={"orders": numbers(), "payments": numbers()[:1]},
            generation=dice.randrange(10**6),
        )
        members.append(
            {
                "memberId": f"client-{number}-{dice.getrandbits(128):032x}",
                "groupInstanceId": None,
                "clientId": f"client-{number}",
                "clientHost": f"/10.0.0.{number}",
                "rebalanceTimeout": 300_000,
                "sessionTimeout": 45_000,
                "subscription": subscription_bytes(said),
                "assignment": encode_assignment({"orders": numbers(), "payments": numbers()[:1]}),
            }
        )
    value = {
        "protocolType": "consumer",
        "generation": 5,
        "protocol": "cooperative-sticky",
        "leader": members[0]["memberId"],
        "currentStateTimestamp": 1,
        "members": members,
    }
    return encode_key("GROUP_METADATA", {"group": "g"}), encode_value("GROUP_METADATA", 3, value)


def commit(dice: Random) -> tuple[bytes, bytes]:
    """The record of a committed offset."""
    key = {"group": "g", "topic": "orders", "partition": dice.randrange(100)}
    value = {"offset": dice.getrandbits(40), "metadata": "", "commitTimestamp": 1}
    return encode_key("OFFSET_COMMIT", key), encode_value("OFFSET_COMMIT", 4, value)


def records(pairs: Pairs) -> None:
    """Read the records and leave the members' bytes closed."""
    for pair in pairs:
        decode_record(*pair)


def opened(pairs: Pairs) -> None:
    """Read the records and open the members' bytes."""
    for pair in pairs:
        members_of(decode_record(*pair))


def seconds(work: Callable[[], None], *, best_of: int = 7) -> float:
    """Processor time of the best of several runs."""
    found = []
    for _ in range(best_of):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Print the table."""
    dice = Random(1)
    groups = [group(dice) for _ in range(100)]
    commits = [commit(dice) for _ in range(10_000)]
    rows: list[tuple[str, Pairs, Callable[[], None]]] = [
        ("commits", commits, lambda: records(commits)),
        ("groups, bytes closed", groups, lambda: records(groups)),
        ("groups, bytes opened", groups, lambda: opened(groups)),
    ]
    print(f"groups of {MEMBERS} members, {len(groups[0][1]):,} bytes each")
    for name, pairs, work in rows:
        print(f"{name:24}{len(pairs) / seconds(work):>10,.0f} records/s")


if __name__ == "__main__":
    main()
