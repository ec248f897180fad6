"""The keys of a group's document, and remarks on what has no effect in it.

A key that no command knows is refused: it is a typing error. A line may have the keys of several
commands; what this one has no use for is noted. Keys that begin with `_` are the user's own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from assignors.documents.values import Document, DocumentError, ErrorCode, Place
from assignors.model import Group, MemberNote, MemberNoteCode
from assignors.names.nearest import question, suggestion

OWN_PREFIX = "_"
"""What the user's own keys begin with; nobody reads those."""

ANSWER_KEYS = frozenset(
    {
        "schema",
        "assignor",
        "notes",
        "stats",
        "lists",
        "order",
        "deferred",
        "violations",
        "error",
    }
)
"""Keys of `assign`'s answers: an answer with its group beside it is a document too."""

USED_BY: dict[str, str] = {
    "assignment": "check",
    "withheld": "check",
    "protocol": "check",
    "seed": "histories",
    "events": "what-if",
}
"""Key of a group that one command alone uses -> that command."""

WEIGHTING_KEYS = frozenset({"weights", "move_costs", "budget", "tolerance", "trigger"})
"""What partitions weigh, and how far moves may go; beside them a member has `capacity`."""

WEIGHTS_FILE_KEYS = WEIGHTING_KEYS | {"capacities"}
"""Keys of a file of weights, which stands beside groups."""

BUDGET_KEYS = frozenset({"cost", "moves"})
GROUP_KEYS = (
    {"topics", "members", "generation", "state", "id"}
    | WEIGHTING_KEYS
    | USED_BY.keys()
    | ANSWER_KEYS
)
TOPIC_KEYS = frozenset({"partitions", "racks", "id"})
STATE_KEYS = frozenset({"max_generation"})
CLAIM_KEYS = ("topics", "owned", "generation", "rack_id", "user_data")
"""Keys of a member that its Subscription has too."""
MEMBER_KEYS = frozenset({"id", "instance", "subscription", "capacity", *CLAIM_KEYS})

ON_A_CLOCK = "until_ms"
"""A key that every scenario on a clock has, and no other document."""

TOPICS_NOTED = 20
"""Topics that nobody describes which are noted one by one; the rest is counted."""

MEMBERS_NAMED = 2


def require_known(fields: Mapping[str, object], known: Collection[str], place: Place) -> None:
    """Raise `DocumentError` for the first key that is neither known nor the user's own.

    Cost: about 0.1 us where all are known and `known` is a set.
    """
    if isinstance(known, set | frozenset) and fields.keys() <= known:
        return
    for key in fields:
        if key not in known and not key.startswith(OWN_PREFIX):
            words = f"{key!r} is no key here{suggestion(key, sorted(known))}"
            if not place and ON_A_CLOCK in fields:
                words = f"{key!r} is no key here; simulate FILE plays a scenario on a clock"
            raise DocumentError(ErrorCode.UNKNOWN, words, (*place, key))


def unused_keys(fields: Mapping[str, object], used: Collection[str]) -> list[Document]:
    """Return a note for each key that is for another command than the one that uses `used`."""
    return [
        {
            "member": None,
            "code": MemberNoteCode.KEY_UNUSED.value,
            "text": f"{key!r} is for {command} and has no effect here",
        }
        for key, command in USED_BY.items()
        if key not in used and fields.get(key) is not None and "schema" not in fields
    ]


def given_weighting(fields: Mapping[str, Any]) -> list[str]:
    """Return the keys that a group has for assignors by weight alone. Cost: O(members)."""
    keys = [key for key in sorted(WEIGHTING_KEYS) if fields.get(key) is not None]
    if any(member.get("capacity") is not None for member in fields["members"]):
        keys.append("capacity")
    return keys


def key_unused(key: str, assignor: str) -> Document:
    """Return the note on a key for assignors by weight under one that is none."""
    text = f"{key!r} has no effect on what {assignor} assigns: it is for weighted/*"
    return {"member": None, "code": MemberNoteCode.KEY_UNUSED.value, "text": text}


def key_of_nobody(key: str, name: str, known: Collection[str]) -> Document | None:
    """Return the note on a name in a file of weights that the group does not have.

    `None` unless the group has one that is nearly the same: a file may be for many groups.
    """
    near = question(name, known)
    if not near:
        return None
    text = f"{key}[{name!r}] of --weights has no effect: the group has no such name{near}"
    return {"member": None, "code": MemberNoteCode.KEY_UNUSED.value, "text": text}


def topics_not_described(group: Group) -> list[MemberNote]:
    """Return a note for each topic that somebody subscribes to and the group does not describe.

    Nobody gets partitions of it, as where the topic does not exist. Cost: O(members + topics in
    their different subscriptions).

    >>> from assignors.model import Cluster, Member
    >>> members = (Member(member_id="a", topics=("ordres",)),)
    >>> [note] = topics_not_described(Group(cluster=Cluster.of({"orders": 1}), members=members))
    >>> note.text
    "subscribes to 'ordres', which `topics` does not have; did you mean 'orders'?"
    """
    lists: dict[tuple[str, ...], list[str]] = {}
    for member in group.members:
        lists.setdefault(member.topics, []).append(member.member_id)
    subscribers: dict[str, list[str]] = {}
    for topics, member_ids in lists.items():
        for topic in dict.fromkeys(topics):
            if topic not in group.cluster.topics:
                subscribers.setdefault(topic, []).extend(member_ids)
    notes = [
        _note(topic, member_ids, group)
        for topic, member_ids in [*subscribers.items()][:TOPICS_NOTED]
    ]
    if len(subscribers) > TOPICS_NOTED:
        words = f"{len(subscribers) - TOPICS_NOTED} more topics are subscribed to and not described"
        notes.append(MemberNote(code=MemberNoteCode.TOPIC_NOT_DESCRIBED.value, text=words))
    return notes


def _note(topic: str, member_ids: list[str], group: Group) -> MemberNote:
    words = f"to {topic!r}, which `topics` does not have{question(topic, group.cluster.topics)}"
    if len(member_ids) == 1:
        text, member_id = f"subscribes {words}", member_ids[0]
        return MemberNote(
            code=MemberNoteCode.TOPIC_NOT_DESCRIBED.value, text=text, member_id=member_id
        )
    named = ", ".join(member_ids[:MEMBERS_NAMED])
    rest = len(member_ids) - MEMBERS_NAMED
    whose = f"{named} and {rest} more" if rest > 0 else " and ".join(member_ids)
    return MemberNote(
        code=MemberNoteCode.TOPIC_NOT_DESCRIBED.value, text=f"{whose} subscribe {words}"
    )
