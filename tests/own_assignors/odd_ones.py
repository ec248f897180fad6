"""Assignors with a mistake each, as somebody's first ones have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from assignors import Assignor, Group, MemberNote, Rebalance, RebalanceProtocol


def own(name: str, assign: Callable[[Group], Any]) -> Assignor:
    """Return an assignor of this name that answers so."""
    cooperative = frozenset({RebalanceProtocol.COOPERATIVE})
    return Assignor(family="own", name=name, assign=assign, protocols=cooperative)


def everybody(share: Any) -> Callable[[Group], Any]:
    """Return an `assign` that gives every member this."""
    return lambda group: Rebalance(assignment={m.member_id: share for m in group.members})


def _raises(group: Group) -> Rebalance:
    return _helper(group)


def _helper(group: Group) -> Rebalance:
    return group.nothing  # type: ignore[attr-defined, no-any-return]  # the mistake


def _with(**odd: Any) -> Callable[[Group], Rebalance]:
    return lambda group: Rebalance(assignment={m.member_id: {} for m in group.members}, **odd)


def _forgets(group: Group) -> Rebalance:
    return Rebalance(assignment={group.members[0].member_id: {}})


def _stranger(group: Group) -> Rebalance:
    return Rebalance(assignment={"aa": {}, **{m.member_id: {} for m in group.members}})


def _all_to_first(group: Group) -> Rebalance:
    """Lists, a range and numpy's integers in place of tuples of integers: taken as they are."""
    first, *others = [member.member_id for member in group.members]
    numbers = {t: range(topic.partition_count) for t, topic in group.cluster.topics.items()}
    share: Any = {t: np.arange(len(n)) if t > "t" else [*n] for t, n in numbers.items()}
    nothing: Any = {"t": []}
    return Rebalance(assignment={first: share, **dict.fromkeys(others, nothing)})


RAISES = own("raises", _raises)
WRONG: dict[str, tuple[Assignor, str]] = {
    "NINETY_NINE": (
        own("ninety-nine", everybody({"t": (0, 99)})),
        "assigned partition 99 of topic 't', which has 4, to member 'a'",
    ),
    "NEGATIVE": (own("negative", everybody({"t": (-1,)})), "assigned partition -1 of topic 't'"),
    "TOPIC": (own("topic", everybody({"tt": (0,)})), "assigned topic 'tt', which does not exist"),
    "FORGETS": (own("forgets", _forgets), "left out member 'b': every member needs an entry"),
    "STRANGER": (own("stranger", _stranger), "assigned to 'aa', who is no member of the group"),
    "DICT": (own("dict", lambda _: {"a": {}}), "returned {'a': {}} (dict), not an assignors.Reb"),
    "NOTHING": (own("nothing", lambda _: None), "returned None, not an assignors.Rebalance"),
    "LIST": (own("list", lambda _: Rebalance(assignment=[])), "returned [] (list) for assignment"),  # type: ignore[arg-type]
    "SHARE": (own("share", everybody([0])), "returned [0] (list) for what is assigned to member"),
    "TEXT": (own("text", everybody({"t": "01"})), "assigned '01' (str) of topic 't' to member"),
    "HALF": (own("half", everybody({"t": (0.5,)})), "gave 0.5 (float) for a partition number"),
    "TRUTH": (own("truth", everybody({"t": (True,)})), "gave True (bool) for a partition number"),
    "WITHHELD": (own("withheld", _with(withheld=None)), "returned None for what is withheld"),
    "LATER": (own("later", _with(withheld={"t": (7,)})), "withheld partition 7 of topic 't'"),
    "STATS": (own("stats", _with(stats=3)), "returned 3 (int) for stats, not a mapping"),
    "NOTES": (own("notes", _with(notes=("x",))), "returned notes that are no assignors.MemberNote"),
    "LISTS": (own("lists", _with(lists=[])), "returned [] (list) for lists, not a mapping"),
    "RAISES": (RAISES, "raised AttributeError: 'Group' object has no attribute 'nothing'"),
}
"""Attribute of this module -> the assignor, and how the sentence goes on behind its name."""

globals().update({name: assignor for name, (assignor, _) in WRONG.items()})

TAKEN = own("taken", _all_to_first)
NOTED = own("noted", _with(notes=(MemberNote(code="mine", text="a remark"),)))
