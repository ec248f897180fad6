"""What `wire` makes of the bytes that the judge is asked about, in the form of its answers.

Ours keep the partitions of a topic together, Java keeps a flat list. Where bytes name a topic
twice with another one between, the two are equal but for that order; everything else must be
equal to the character.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assignors.java.user_data import sticky_user_data
from wire import (
    Mode,
    Subscription,
    TopicPartitions,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
    encode_cooperative_user_data,
    encode_subscription,
)

Request = dict[str, Any]
Out = dict[str, Any]

VERSIONS = range(4)
SHOWN = ("str", "partitions")
"""Fields that are what Java's `toString` makes of a list of partitions, or of what holds one."""
LISTED = re.compile(
    r"(?P<head>.*?artitions=\[|\[)"
    r"(?P<pairs>.*)"
    r"(?P<tail>\](?:, groupInstanceId=.*|(?:, userDataSize=\d+)?\))?)",
    re.DOTALL,
)
REFUSED: Out = {"err": "SchemaException"}


def our_answer(request: Request) -> Out:
    """What we read or write."""
    return READERS[request["algo"]](request)


def agree(request: Request, theirs: Out, ours: Out) -> bool:
    """Whether the answers are equal, refusals by their class."""
    if "err" in theirs:
        return ours == {"err": theirs["err"].partition(":")[0]}
    return _without_order(theirs) == _without_order(ours)


def _without_order(out: Out) -> dict[str, Any]:
    """The answer with the partitions of its text as a sorted list, between what stands around."""
    return {name: _taken_apart(value) if name in SHOWN else value for name, value in out.items()}


def _taken_apart(text: str) -> Any:
    found = LISTED.fullmatch(text)
    return (found["head"], sorted(found["pairs"].split(", ")), found["tail"]) if found else text


def _subscription(request: Request) -> Out:
    read = decode_subscription(bytes.fromhex(request["hex"]), mode=Mode.STRICT).value
    if read is None:
        return REFUSED
    size = "" if read.user_data is None else f"userDataSize={len(read.user_data)}, "
    shown = (
        f"Subscription(topics=[{', '.join(read.topics)}], {size}"
        f"ownedPartitions=[{_listed(read.owned)}], groupInstanceId=null, "
        f"generationId={read.generation}, rackId={_or_null(read.rack_id)})"
    )
    written = {f"v{v}": encode_subscription(replace(read, version=v)).hex() for v in VERSIONS}
    return {"str": shown, "ud": _digits(read.user_data), **written}


def _assignment(request: Request) -> Out:
    read = decode_assignment(bytes.fromhex(request["hex"]), mode=Mode.STRICT).value
    if read is None:
        return REFUSED
    size = "" if read.user_data is None else f", userDataSize={len(read.user_data)}"
    shown = f"Assignment(partitions=[{_listed(read.partitions)}]{size})"
    written = _assignment_bytes(read.partitions, read.user_data)
    return {"str": shown, "ud": _digits(read.user_data), **written}


def _sticky_member_data(request: Request) -> Out:
    read = decode_sticky_user_data(_bytes(request["ud"]), mode=Mode.STRICT).value
    assert read is not None
    return {
        "partitions": f"[{_listed(read.owned)}]",
        "generation": _optional(read.generation),
    }


def _cooperative_member_data(request: Request) -> Out:
    # A generation in the Subscription stands above the UserData: this rule is the assignor's.
    generation: int | None = request["gen"]
    if generation is None or generation < 0:
        read = decode_cooperative_user_data(_bytes(request["ud"]), mode=Mode.STRICT).value
        assert read is not None
        generation = read.generation
    owned = ", ".join(f"{topic}-{number}" for topic, number in request["owned"])
    return {"partitions": f"[{owned}]", "generation": _optional(generation)}


def _make_subscription(request: Request) -> Out:
    subscription = Subscription(
        topics=tuple(request["topics"]),
        owned=_by_topic(request["owned"]),
        generation=-1 if request["gen"] is None else request["gen"],
        rack_id=request["rack"],
        user_data=_bytes(request["ud"]),
    )
    return {
        f"v{version}": encode_subscription(replace(subscription, version=version)).hex()
        for version in VERSIONS
    }


def _make_assignment(request: Request) -> Out:
    return _assignment_bytes(_by_topic(request["owned"]), _bytes(request["ud"]))


def _assignment_bytes(partitions: TopicPartitions, user_data: bytes | None) -> Out:
    return {
        f"v{version}": encode_assignment(
            partitions, user_data=user_data, version=version, keep_order=True
        ).hex()
        for version in VERSIONS
    }


def _make_sticky(request: Request) -> Out:
    owned = [(topic, number) for topic, number in request["owned"]]
    return {"ud": sticky_user_data(owned, request["gen"]).hex()}


def _make_cooperative(request: Request) -> Out:
    return {"ud": encode_cooperative_user_data(request["gen"]).hex()}


READERS: dict[str, Callable[[Request], Out]] = {
    "codec-sub": _subscription,
    "codec-asg": _assignment,
    "codec-mdsticky": _sticky_member_data,
    "codec-mdcoop": _cooperative_member_data,
    "codec-mksub": _make_subscription,
    "codec-mkasg": _make_assignment,
    "codec-stickyud": _make_sticky,
    "codec-coopud": _make_cooperative,
}


def _by_topic(pairs: list[Any]) -> TopicPartitions:
    grouped: dict[str, list[int]] = {}
    for topic, number in pairs:
        grouped.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in grouped.items()}


def _listed(partitions: TopicPartitions) -> str:
    return ", ".join(f"{t}-{number}" for t, numbers in partitions.items() for number in numbers)


def _optional(generation: int | None) -> str:
    return "Optional.empty" if generation is None else f"Optional[{generation}]"


def _or_null(text: str | None) -> str:
    return "null" if text is None else text


def _digits(blob: bytes | None) -> str | None:
    return None if blob is None else blob.hex()


def _bytes(digits: str | None) -> bytes | None:
    return None if digits is None else bytes.fromhex(digits)
