"""What is special about a group, in words: the note of a vector, for whoever failed it.

Clients differ where a group is odd. A note names the oddities, so that an author who fails forty
vectors sees at once that all forty have, say, static members beside dynamic ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

Group = dict[str, Any]
"""The `in` of a vector."""

MANY_PARTITIONS = 10
"""From partition 10 on, sorting names as text is another order: t-10 comes before t-2."""


def remarks(group: Group) -> str:
    """Return all that is said of a group.

    >>> remarks({"topics": {"t": [[]]}, "members": [
    ...     {"id": "a", "topics": ["t", "t"], "instance": "i"}, {"id": "b", "topics": ["u"]}]})
    'static members beside dynamic ones; a topic asked for twice; a topic asked for that is not \
there; unequal subscriptions'
    """
    return "; ".join(words for words, is_so in REMARKS.items() if is_so(group))


def _static(group: Group) -> set[bool]:
    return {member.get("instance") is not None for member in group["members"]}


def _names(group: Group) -> list[str]:
    members = group["members"]
    instances = [member["instance"] for member in members if member.get("instance") is not None]
    return [*group["topics"], *(member["id"] for member in members), *instances]


def _has_odd_order(group: Group) -> bool:
    names = _names(group)
    return sorted(names) != sorted(
        names, key=lambda name: name.encode("utf-16-be", "surrogatepass")
    )


def _counts(group: Group) -> dict[str, int]:
    """Partition counts: a broker's groups have them, a client's the racks of each partition."""
    topics = group["topics"].items()
    return {name: known if isinstance(known, int) else len(known) for name, known in topics}


def _asks_for_what_is_not_there(group: Group) -> bool:
    return any(set(member["topics"]) - set(group["topics"]) for member in group["members"])


def _claims(group: Group) -> list[tuple[str, int]]:
    owned = (member.get("owned") or [] for member in group["members"])
    return [(topic, number) for pairs in owned for topic, number in map(tuple, pairs)]


def _has_shared_claims(group: Group) -> bool:
    return any(times > 1 for times in Counter(_claims(group)).values())


def _has_impossible_claims(group: Group) -> bool:
    counts = _counts(group)
    return any(not 0 <= number < counts.get(topic, 0) for topic, number in _claims(group))


REMARKS: dict[str, Callable[[Group], bool]] = {
    "nobody": lambda group: not group["members"],
    "static members": lambda group: _static(group) == {True},
    "static members beside dynamic ones": lambda group: len(_static(group)) > 1,
    "racks": lambda group: any(member.get("rack") for member in group["members"]),
    "a topic asked for twice": lambda group: any(
        len(set(member["topics"])) < len(member["topics"]) for member in group["members"]
    ),
    "a topic asked for that is not there": _asks_for_what_is_not_there,
    "a member that asks for nothing": lambda group: any(
        not member["topics"] for member in group["members"]
    ),
    "unequal subscriptions": lambda group: (
        len({frozenset(member["topics"]) for member in group["members"]}) > 1
    ),
    "a topic without partitions": lambda group: 0 in _counts(group).values(),
    "more than ten partitions": lambda group: (
        max(_counts(group).values(), default=0) > MANY_PARTITIONS
    ),
    "a partition claimed twice": _has_shared_claims,
    "a claim of what is not there": _has_impossible_claims,
    "names that code points put in another order than UTF-16": _has_odd_order,
}
