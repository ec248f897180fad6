"""Hypothesis strategies for requests to the judge; what fails shrinks to a few members.

Smaller than the groups of `groups` and without their patterns: a handful of members and topics,
whose every field is drawn on its own, so that each can be made simple on its own.
"""

from __future__ import annotations

from struct import pack
from typing import Any

from hypothesis import strategies as st

from tests.foreign.brokers import SERVER, grouped, topic_id
from tests.foreign.groups import INT32_MAX
from tests.foreign.names import COLLIDING, ODD
from tests.foreign.user_data import sticky_layout

Request = dict[str, Any]
Groups = st.SearchStrategy[Request]

NAMES = ("a", "b", "c", "d", "e", *COLLIDING[:4], *(name for name in ODD if len(name) < 20))
NUMBERS = st.integers(0, 5) | st.sampled_from((-1, 6, 99, INT32_MAX, -(2**31)))
GENERATIONS = st.integers(-1, 3) | st.sampled_from((-(2**31), -7, INT32_MAX - 1, INT32_MAX))
RACKS = st.sampled_from((None, "r0", "r1", "r2", "zz", ""))
TOPIC_IDS = tuple(
    topic_id(pack(">qq", number * 0x1234_5678_9ABC, number % 3)) for number in range(1, 15)
)


def groups(algorithm: str) -> Groups:
    """Groups for an assignor, as the judge takes them."""
    return broker_groups(algorithm) if algorithm in SERVER else client_groups(algorithm)


@st.composite
def client_groups(draw: st.DrawFn, algorithm: str) -> Request:
    """Groups for the assignors of the Java client."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
    has_racks = draw(st.booleans())
    replicas = st.lists(RACKS, max_size=3) if has_racks else st.builds(list)
    topics = {name: draw(st.lists(replicas, max_size=6)) for name in names}
    ids = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=7))
    common = names if draw(st.booleans()) else None
    members: list[Request] = []
    for number, member_id in enumerate(ids):
        known = st.sampled_from((*names, "ghost"))
        member: Request = {
            "id": member_id,
            "topics": list(common) if common else draw(st.lists(known, max_size=4)),
            "rack": draw(RACKS) if has_racks else None,
            "instance": draw(st.sampled_from((None, f"i{9 - number}"))),
        }
        if algorithm in ("sticky", "coop"):
            pairs = draw(st.lists(st.tuples(known, NUMBERS), max_size=6))
            member["owned"] = grouped([list(pair) for pair in pairs])
            member["sgen"] = draw(GENERATIONS)
            member["ud"] = draw(user_data(algorithm, member["owned"], member["sgen"]))
        members.append(member)
    request: Request = {"algo": algorithm, "topics": topics, "members": members}
    if algorithm in ("sticky", "coop") and draw(st.booleans()):
        request["maxGen"] = max(-1, draw(GENERATIONS))
    return request


def user_data(algorithm: str, owned: list[Any], generation: int) -> st.SearchStrategy[str | None]:
    """UserData as hexadecimal digits: what Java writes comes first, so examples shrink to it."""
    stamp = pack(">i", generation)
    layout = sticky_layout(owned)
    usual = layout + stamp if algorithm == "sticky" else stamp
    odd = st.sampled_from((layout, usual + b"\0", usual[:-1], b""))
    blobs = st.just(usual) | odd | st.binary(max_size=9)
    return blobs.map(bytes.hex) | st.none()


@st.composite
def broker_groups(draw: st.DrawFn, algorithm: str) -> Request:
    """Groups for the broker's assignors."""
    ids = draw(st.lists(st.sampled_from(TOPIC_IDS), unique=True, max_size=5))
    topics = {topic: draw(st.integers(0, 6)) for topic in ids}
    common = ids if draw(st.booleans()) else None
    some = st.lists(st.sampled_from(ids), unique=True, max_size=4) if ids else st.builds(list)
    pairs = st.tuples(st.sampled_from((*ids, TOPIC_IDS[0])), st.integers(0, 6))
    members = [
        {
            "id": member_id,
            "topics": list(common) if common else draw(some),
            "owned": grouped(
                [list(pair) for pair in draw(st.lists(pairs, unique=True, max_size=8))]
            ),
            "instance": draw(st.sampled_from((None, f"i{9 - number}"))),
        }
        for number, member_id in enumerate(
            draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=7))
        )
    ]
    return {"algo": algorithm, "topics": topics, "members": members}
