"""Say what bytes are that were taken for something else.

A whole JoinGroup, SyncGroup or DescribeGroups message has parts in known places. An Assignment is
easily taken for a Subscription, and the other way round.
"""

from __future__ import annotations

from assignors.documents.values import DocumentError, ErrorCode, Place
from wire import Decoded, Mode, Subscription, decode_assignment, decode_subscription
from wire.frames import ASSIGNMENT, SUBSCRIPTION, UNSOUND, GroupFrame, Part, group_frames

PARTS_SHOWN = 12
"""Most parts that the sentence about a frame names."""

NAMES = {SUBSCRIPTION: "Subscription", ASSIGNMENT: "Assignment"}
OTHERS = {SUBSCRIPTION: ASSIGNMENT, ASSIGNMENT: SUBSCRIPTION}


def other_kind_sentence(blob: bytes, kind: str) -> str | None:
    """Return that the bytes read whole as the kind that was not asked for; `None` if they do not.

    >>> other_kind_sentence(bytes.fromhex("000100000000ffffffff"), "subscription")
    'the bytes read whole as an Assignment'
    """
    other = OTHERS.get(kind)
    if other is None or not reads_whole(blob, other):
        return None
    return f"the bytes read whole as {'an' if other == ASSIGNMENT else 'a'} {NAMES[other]}"


def reads_whole(blob: bytes, kind: str) -> bool:
    """Return whether Kafka's class of this kind reads the bytes, to the last one."""
    decode = decode_subscription if kind == SUBSCRIPTION else decode_assignment
    found = decode(blob, mode=Mode.STRICT)
    return found.error is None and not {note.code for note in found.notes} & UNSOUND


def frame_sentence(blob: bytes) -> str | None:
    """Return what frame the bytes are, as a sentence; `None` if they are none."""
    frames = group_frames(blob)
    return sentence(frames[0], list(frames[0].parts)) if len(frames) == 1 else None


def subscription_alone(blob: bytes, place: Place) -> Decoded[Subscription]:
    """Return what a Subscription holds; `DocumentError` for a whole message, or an Assignment."""
    decoded = decode_subscription(blob)
    if decoded.error is not None or {note.code for note in decoded.notes} & UNSOUND:
        words = frame_sentence(blob)
        if words is not None:
            raise DocumentError(ErrorCode.WRONG_TYPE, f"{words}: give those bytes alone", place)
    words = other_kind_sentence(blob, SUBSCRIPTION) if decoded.notes else None
    if words is not None and not reads_whole(blob, SUBSCRIPTION):
        raise DocumentError(ErrorCode.WRONG_TYPE, f"{words}, not as a Subscription", place)
    return decoded


def sentence(frame: GroupFrame, parts: list[Part]) -> str:
    """Return what a frame is and where its parts are.

    >>> part = Part(kind="subscription", owner="range", start=40, end=52)
    >>> sentence(GroupFrame(message="JoinGroup request", versions=(9,), fields={"member_id": "m",
    ...     "group_id": "shop"}, parts=(part,), start=4), [part])
    'this is a JoinGroup request v9 of member m of group shop; its Subscription (range) is bytes \
40..51'
    """
    fields = frame.fields
    member, group = fields.get("member_id"), fields.get("group_id")
    words = f"this is a {frame_name(frame)}"
    words += f" of member {member}" if member else ""
    words += f" of group {group}" if group else ""
    if not parts:
        return words
    name = NAMES[parts[0].kind]
    shown = [
        f"bytes {part.start}..{part.end - 1}" if part.end > part.start else "empty"
        for part in parts[:PARTS_SHOWN]
    ]
    owners = [f" ({part.owner})" if part.owner else "" for part in parts]
    if len(parts) == 1:
        return f"{words}; its {name}{owners[0]} is {shown[0]}"
    places = [f"{place}{owner}" for place, owner in zip(shown, owners, strict=False)]
    more = ["..."] if len(parts) > PARTS_SHOWN else []
    return f"{words}; its {len(parts)} {name}s are {', '.join(places + more)}"


def frame_name(frame: GroupFrame) -> str:
    """Return the name of a message with its version, or the versions that it may be."""
    first, last = frame.versions[0], frame.versions[-1]
    return f"{frame.message} v{first}" + (f" to v{last}" if last != first else "")
