"""Notes on a group's document: keys that have no effect, and topics that nobody describes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from assignors.documents.values import Document
from assignors.model import Group, MemberNote, MemberNoteCode
from assignors.names.nearest import question

USED_BY: dict[str, str] = {
    "assignment": "check",
    "withheld": "check",
    "protocol": "check",
    "seed": "histories",
    "events": "what-if",
}
"""Key of a group that one command alone uses -> that command."""

WEIGHTING = ("budget", "move_costs", "tolerance", "trigger", "weights")
"""Keys of a group for assignors by weight alone."""

TOPICS_NOTED = 20
"""Topics that nobody describes which are noted one by one; the rest is counted."""

MEMBERS_NAMED = 2


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
    keys = [key for key in WEIGHTING if fields.get(key) is not None]
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
