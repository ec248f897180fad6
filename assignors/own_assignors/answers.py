"""Call an assignor of somebody else: claims are read for it, and what it returns is checked.

Each protocol has another place for what members own (`claims.reading`). An assignor from outside
reads `Member.owned` and `Member.generation` alone, so it is given what its members claim there,
whether they came as bytes or as structs.

An assignor that raises, returns no `Rebalance`, forgets a member or assigns a partition that does
not exist gets an `AssignorError`, which has the assignor's name and what it did. What is merely
written differently (lists for tuples, numpy integers) is taken. Which assignment is lawful or good
is not decided here: `checks.check` does.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from operator import index
from typing import Any

from assignors.assignor import Assignor, UserData
from assignors.jvm.failure import JavaFailure
from assignors.model import Group, Member, MemberNote, member_ids_of
from assignors.names.nearest import suggestion
from assignors.options import Options
from assignors.rebalance import Rebalance
from wire import TopicPartitions

FAMILIES = frozenset({"java", "optimal", "server", "weighted"})
"""Families of this package, whose answers are right by their own tests."""


class AssignorError(ValueError):
    """An assignor raised, or its answer is none: which assignor, and what it did.

    Where it raised, `__cause__` is what it raised.
    """

    @property
    def trace(self) -> str | None:
        """Python's traceback of what the assignor raised, from its own code on; `None`: nothing.

        Without what this package called it from.
        """
        cause = self.__cause__
        if cause is None:
            return None
        inner = None if cause.__traceback__ is None else cause.__traceback__.tb_next
        return "".join(traceback.format_exception(type(cause), cause, inner))


@dataclass(frozen=True, slots=True)
class CheckedAssign:
    """The function `assign` of an assignor, with claims read for it and its answers checked."""

    name: str
    """What messages call the assignor."""
    assign: Callable[[Group], Rebalance]
    user_data: UserData
    """Where its members claim."""

    def __call__(self, group: Group) -> Rebalance:
        """Return the answer of the assignor for a group.

        Raises `AssignorError` for what is no answer, and where the assignor raises; the failure of
        a copy of Kafka's that it calls stays as it is. Cost: that of the assignor, O(claims) and
        O(its answer).
        """
        try:
            answer = self.assign(with_claims_read(group, self.user_data))
        except (AssignorError, JavaFailure, MemoryError):
            raise
        except Exception as error:
            raise AssignorError(f"{self.name} raised {type(error).__name__}: {error}") from error
        try:
            return checked_rebalance(group, answer)
        except ValueError as error:
            raise AssignorError(f"{self.name} {error}") from None


def checked(assignor: Assignor, name: str | None = None) -> Assignor:
    """Return the assignor with its answers checked; one that is checked already as it is.

    `name` is what messages call it, else its `full_name`.
    """
    if isinstance(assignor.assign, CheckedAssign):
        return assignor
    shown = name or assignor.full_name
    configure = assignor.configure

    def configured(options: Options) -> Callable[[Group], Rebalance] | None:
        assert configure is not None
        assign = configure(options)
        return None if assign is None else CheckedAssign(shown, assign, assignor.user_data)

    return replace(
        assignor,
        assign=CheckedAssign(shown, assignor.assign, assignor.user_data),
        configure=None if configure is None else configured,
    )


def with_checked_answers(assignor: Assignor) -> Assignor:
    """Return the assignor, `checked` if it is from outside this package.

    Raises `ValueError` for what is no assignor, such as its name.
    """
    require_assignor(assignor)
    return checked(assignor) if is_from_outside(assignor) else assignor


def is_from_outside(assignor: Assignor) -> bool:
    """Return whether an assignor is somebody's own, whatever its family is called."""
    return assignor.family not in FAMILIES or isinstance(assignor.assign, CheckedAssign)


def require_assignor(given: object) -> None:
    """Raise `ValueError` for what is no assignor, such as its name."""
    if not isinstance(given, Assignor):
        words = "expected an Assignor, as assignor_named('sticky') returns"
        raise ValueError(f"assignor: {words}, found {given!r}")


def with_claims_for(assignor: Assignor, group: Group) -> Group:
    """Return the group as an assignor reads it that is not `checked`. Cost: O(claims)."""
    if assignor.family in FAMILIES or isinstance(assignor.assign, CheckedAssign):
        return group
    return with_claims_read(group, assignor.user_data)


def with_claims_read(group: Group, kind: UserData) -> Group:
    """Return the group with what members claim under this kind as `owned` and `generation`.

    `owned_known` is false where a member may own anything; bytes and version stay as they are.
    Under `UserData.NONE` nobody claims anything, as in a real group. Cost: O(claims).

    >>> from assignors import Cluster
    >>> data = bytes.fromhex("00000001000174000000010000000200000009")  # t:2, generation 9
    >>> member = Member(member_id="a", topics=("t",), user_data=data, version=1)
    >>> group = Group(cluster=Cluster.of({"t": 3}), members=(member,))
    >>> (read,) = with_claims_read(group, UserData.STICKY).members
    >>> dict(read.owned), read.generation
    ({'t': (2,)}, 9)
    """
    return replace(group, members=tuple([_with_claim_read(each, kind) for each in group.members]))


def _with_claim_read(member: Member, kind: UserData) -> Member:
    from assignors.claims import read_claim  # noqa: PLC0415 - loads numpy, which no --help needs

    claim = read_claim(member, kind)
    seen = member.generation, member.owned_known
    if claim.owned is member.owned and seen == (claim.generation, claim.is_known):
        return member
    return replace(
        member, owned=claim.owned, generation=claim.generation, owned_known=claim.is_known
    )


def checked_rebalance(group: Group, answer: object) -> Rebalance:
    """Return an answer, its partitions as tuples of `int`; `ValueError` with what is wrong in it.

    >>> from assignors import Cluster, Member
    >>> group = Group(cluster=Cluster.of({"t": 2}), members=[Member(member_id="a", topics=["t"])])
    >>> checked_rebalance(group, Rebalance(assignment={"a": {"t": [0, 99]}}))
    Traceback (most recent call last):
    ValueError: assigned partition 99 of topic 't', which has 2, to member 'a'
    """
    if not isinstance(answer, Rebalance):
        raise ValueError(f"returned {_described(answer)}, not an assignors.Rebalance")
    assignment = _mapping(answer.assignment, "assignment")
    member_ids = member_ids_of(group.members)
    missing = [each for each in member_ids if each not in assignment]
    if missing:
        raise ValueError(f"left out {_members(missing)}: every member needs an entry")
    if len(assignment) > len(member_ids):
        first = next(each for each in assignment if each not in set(member_ids))
        words = suggestion(str(first), missing or member_ids)
        raise ValueError(f"assigned to {first!r}, who is no member of the group{words}")
    shares = {
        member_id: _partitions(group, share, f"to member {member_id!r}", "assigned")
        for member_id, share in assignment.items()
    }
    withheld = _partitions(group, answer.withheld, "for the next round", "withheld")
    _mapping(answer.stats, "stats")
    if answer.lists is not None:
        _mapping(answer.lists, "lists")
    if not all(isinstance(note, MemberNote) for note in answer.notes):
        raise ValueError("returned notes that are no assignors.MemberNote")
    return replace(answer, assignment=shares, withheld=withheld)


def _partitions(group: Group, share: object, where: str, verb: str) -> TopicPartitions:
    """Return partitions by topic, as tuples; `ValueError` for any that does not exist."""
    found = {}
    for topic, numbers in _mapping(share, f"what is {verb} {where}").items():
        known = group.cluster.topics.get(topic)
        if known is None:
            words = suggestion(str(topic), group.cluster.topics)
            raise ValueError(f"{verb} topic {topic!r}, which does not exist, {where}{words}")
        if not isinstance(numbers, Collection) or isinstance(numbers, str | bytes | Mapping):
            raise ValueError(
                f"{verb} {_described(numbers)} of topic {topic!r} {where}: "
                "partitions are a tuple of numbers"
            )
        found[topic] = tuple(_number(number, topic) for number in numbers)
        if found[topic] and not 0 <= min(found[topic]) <= max(found[topic]) < known.partition_count:
            odd = next(each for each in found[topic] if not 0 <= each < known.partition_count)
            count = known.partition_count
            raise ValueError(
                f"{verb} partition {odd} of topic {topic!r}, which has {count}, {where}"
            )
    return found


def _number(number: Any, topic: str) -> int:  # noqa: ANN401 - whatever it is
    if type(number) is int:
        return number
    try:
        if not isinstance(number, bool):
            return index(number)
    except TypeError:
        pass
    raise ValueError(f"gave {_described(number)} for a partition number of topic {topic!r}")


def _mapping(value: object, what: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"returned {_described(value)} for {what}, not a mapping")
    return value


def _members(member_ids: list[str]) -> str:
    named = ", ".join(map(repr, member_ids[:3]))
    rest = len(member_ids) - 3
    words = f"{named} and {rest} more" if rest > 0 else named
    return f"member {words}" if len(member_ids) == 1 else f"members {words}"


def _described(value: object) -> str:
    text = repr(value)
    words = text if len(text) <= 40 else f"{text[:37]}..."
    return "None" if value is None else f"{words} ({type(value).__name__})"
