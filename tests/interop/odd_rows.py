"""What odd members say: the rows that every leader of ours is shown, in groups of real clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.interop.odd_bytes import subscription
from wire import encode_sticky_user_data

Topics = tuple[str, ...]

SHARED = {"a": 8, "b": 7}
"""The topics of the group, whose real names the rows are given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Odd:
    """What an odd member says, and what may be expected of a leader of ours."""

    says: Callable[[Topics], bytes]
    """Subscription bytes for the group's two topics."""
    note: str | None
    """The code under which the leader names it; None where nothing is odd to us."""
    gets: bool
    """Whether it gets partitions: as long as one topic can be read."""
    recovers: bool = False
    """Whether it tells the truth from its second join on."""


def ok(topics: Topics) -> bytes:
    return subscription(3, topics)


def claims_all(version: int, generation: int) -> Callable[[Topics], bytes]:
    return lambda t: subscription(
        version, t, owned=[(t[0], range(8)), (t[1], range(7))], generation=generation
    )


ANY = {
    "no bytes": Odd(says=lambda _: b"", note="empty-blob", gets=False),
    "one byte": Odd(says=lambda _: b"\0", note="empty-blob", gets=False),
    "cut in a topic": Odd(says=lambda t: ok(t)[:9], note="cut", gets=False),
    "cut after a topic": Odd(says=lambda t: ok(t)[: 8 + len(t[0])], note="cut", gets=True),
    "v0": Odd(says=lambda t: subscription(0, t), note=None, gets=True),
    "v1 without owned": Odd(
        says=lambda t: subscription(1, t, fields=0), note="owned-missing", gets=True
    ),
    "v2 cut before the generation": Odd(
        says=lambda t: subscription(2, t, fields=1), note="generation-missing", gets=True
    ),
    "v3 without rack": Odd(
        says=lambda t: subscription(3, t, fields=2), note="rack-missing", gets=True
    ),
    "version -1": Odd(says=lambda t: subscription(-1, t), note="version-negative", gets=True),
    "version 9 and a tail": Odd(
        says=lambda t: subscription(9, t) + b"tail!", note="version-above-3", gets=True
    ),
    "v3 and a tail": Odd(says=lambda t: ok(t) + b"xx", note="trailing-bytes", gets=True),
    "topics null": Odd(says=lambda _: subscription(3, None), note="topics-null", gets=False),
    "a topic null": Odd(
        says=lambda t: subscription(3, [t[0], None, t[1]]), note="topic-null", gets=True
    ),
    "no topics": Odd(says=lambda _: subscription(3, []), note=None, gets=False),
    "a topic twice": Odd(
        says=lambda t: subscription(3, [*t, t[0]]), note="topic-repeated", gets=True
    ),
    "a topic that is no UTF-8": Odd(
        says=lambda t: subscription(3, [t[0], b"\xff\xfe", t[1]]), note="invalid-utf8", gets=True
    ),
    "a topic that does not exist": Odd(
        says=lambda t: subscription(3, [*t, "nowhere"]), note=None, gets=True
    ),
    "a topic with a name none can have": Odd(
        says=lambda t: subscription(3, [*t, "no such/topic", "."]), note=None, gets=True
    ),
    "two billion topics": Odd(
        says=lambda t: b"\0\3\x7f\xff\xff\xff" + ok(t)[6:], note="count-above-limit", gets=True
    ),
    "900 kB of user data": Odd(
        says=lambda t: subscription(3, t, user_data=b"\xab" * 900_000), note=None, gets=True
    ),
}

COOPERATIVE = {
    **ANY,
    "v0": Odd(says=lambda t: subscription(0, t), note="claims-not-known", gets=True),
    "owned null": Odd(says=lambda t: subscription(1, t, owned=None), note="owned-null", gets=True),
    "owned numbers null": Odd(
        says=lambda t: subscription(3, t, owned=[(t[0], None)]),
        note="partitions-null",
        gets=True,
    ),
    "owned cut": Odd(
        says=lambda t: subscription(1, t, owned=[(t[0], [0, 1])])[:-3],
        note="owned-cut",
        gets=True,
    ),
    "owns -1 and 99": Odd(
        says=lambda t: subscription(3, t, owned=[(t[0], [-1, 99])]),
        note="partition-out-of-range",
        gets=True,
    ),
    "owns of an unknown topic": Odd(
        says=lambda t: subscription(3, t, owned=[("nowhere", [0])]),
        note="unknown-topic",
        gets=True,
    ),
    "claims all, long ago": Odd(says=claims_all(3, 0), note=None, gets=True, recovers=True),
    "claims all, in the future": Odd(
        says=claims_all(3, 99_999), note="generation-in-the-future", gets=True, recovers=True
    ),
    "claims all, no generation": Odd(says=claims_all(1, -1), note=None, gets=True, recovers=True),
    "user data is garbage": Odd(
        says=lambda t: subscription(1, t, user_data=b"\xde\xad\xbe\xef\1"),
        note=None,
        gets=True,
    ),
}

STICKY = {
    **ANY,
    "user data of length 0": Odd(
        says=lambda t: subscription(1, t, user_data=b""), note="user-data-empty", gets=True
    ),
    "user data of four bytes": Odd(
        says=lambda t: subscription(1, t, user_data=b"\0\0\0\7"), note=None, gets=True
    ),
    "user data is garbage": Odd(
        says=lambda t: subscription(1, t, user_data=b"\xde\xad\xbe\xef\1"),
        note=None,
        gets=True,
    ),
    "user data claims all": Odd(
        says=lambda t: subscription(
            1,
            t,
            user_data=encode_sticky_user_data(
                {t[0]: tuple(range(8)), t[1]: tuple(range(7))}, 99_999
            ),
        ),
        note=None,
        gets=True,
    ),
}

TABLES = {"cooperative-sticky": COOPERATIVE, "sticky": STICKY, "range": ANY}
