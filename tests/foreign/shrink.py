"""A failing group made small: leave out what the failure does not need.

Greedy: take the first smaller group that still fails, and start again, until none does or the
budget is spent. Smaller means without some members, without a topic, without a claim, without
a field that has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import pack
from typing import Any

from tests.foreign.user_data import sticky_layout
from wire import Mode, decode_sticky_user_data

Request = dict[str, Any]

ABSENT: tuple[tuple[str, object], ...] = (
    ("rack", None),
    ("instance", None),
    ("ud", None),
    ("sgen", -1),
    ("owned", []),
)


def shrunk(request: Request, fails: Callable[[Request], bool], *, budget: int = 2000) -> Request:
    """The smallest group found that `fails`, in at most `budget` trials."""
    found = True
    while found and budget:
        found = False
        for smaller in smaller_groups(request):
            budget -= 1
            if fails(smaller):
                request, found = smaller, True
                break
            if not budget:
                break
    return request


def smaller_groups(request: Request) -> Iterator[Request]:
    """Groups with a little less than this one, those with much less first."""
    if "maxGen" in request:
        yield {key: value for key, value in request.items() if key != "maxGen"}
    members = request["members"]
    for size in (len(members) // 2, len(members) // 4, 1):
        for start in range(0, len(members), size) if size else ():
            yield {**request, "members": members[:start] + members[start + size :]}
    for topic in request["topics"]:
        yield without_topic(request, topic)
    yield from _fewer_partitions(request)
    for number, member in enumerate(members):
        for smaller in smaller_members(member):
            yield {**request, "members": [*members[:number], smaller, *members[number + 1 :]]}


def without_topic(request: Request, topic: str) -> Request:
    """The group when nobody has heard of the topic."""
    return {
        **request,
        "topics": {name: size for name, size in request["topics"].items() if name != topic},
        "members": [
            {
                **member,
                "topics": [name for name in member["topics"] if name != topic],
                "owned": [pair for pair in member.get("owned") or () if pair[0] != topic],
            }
            for member in request["members"]
        ],
    }


def _fewer_partitions(request: Request) -> Iterator[Request]:
    """Topics with a partition less, or without racks."""
    topics = request["topics"]
    for topic, described in topics.items():
        if isinstance(described, int):
            smaller = [described // 2, described - 1] if described else []
            yield from ({**request, "topics": {**topics, topic: size}} for size in smaller)
        else:
            if described:
                yield {**request, "topics": {**topics, topic: described[:-1]}}
            if any(described):
                yield {**request, "topics": {**topics, topic: [[] for _ in described]}}


def smaller_members(member: Request) -> Iterator[Request]:
    """The member without a field, a topic, or a claim."""
    for field, default in ABSENT:
        if member.get(field, default) != default:
            yield {**member, field: default}
    for position in range(len(member["topics"])):
        topics = member["topics"]
        yield {**member, "topics": topics[:position] + topics[position + 1 :]}
    for owned in _shorter(member.get("owned") or []):
        yield {**member, "owned": owned}
    for user_data in _shorter_user_data(member.get("ud")):
        yield {**member, "ud": user_data}


def _shorter(pairs: list[Any]) -> Iterator[list[Any]]:
    half = len(pairs) // 2
    if half > 1:
        yield pairs[:half]
        yield pairs[half:]
    for position in range(len(pairs)):
        yield pairs[:position] + pairs[position + 1 :]


def _shorter_user_data(digits: str | None) -> Iterator[str]:
    """The sticky layout with fewer claims, where the bytes have it."""
    if digits is None or len(digits) <= 8:
        return
    read = decode_sticky_user_data(bytes.fromhex(digits), mode=Mode.STRICT).value
    if read is None or not read.owned:
        return
    pairs = [[topic, number] for topic, numbers in read.owned.items() for number in numbers]
    stamp = b"" if read.generation is None else pack(">i", read.generation)
    yield from ((sticky_layout(shorter) + stamp).hex() for shorter in _shorter(pairs))
