"""Read what partitions weigh and members can carry from the keys of a group's document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assignors.documents.group_keys import (
    BUDGET_KEYS,
    WEIGHTING_KEYS,
    WEIGHTS_FILE_KEYS,
    key_of_nobody,
    require_known,
)
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_integer,
    as_list,
    as_object,
    as_string,
    described,
)
from assignors.model import Topic
from assignors.weighting import LARGEST, Balance, Weighting


def weighting_from_document(
    fields: Mapping[str, object], topics: Mapping[str, Topic], capacities: Mapping[str, int]
) -> Weighting | None:
    """Return the weighting of a group, `None` where nothing of it is given.

    Raises `DocumentError` for weights of partitions that do not exist, and for what is no whole
    number from 0 on.

    >>> weighting_from_document({"weights": {"t": [900, 20]}}, {"t": Topic(partition_count=2)}, {})
    ... # doctest: +ELLIPSIS
    Weighting(weights={'t': (900, 20)}, ...)
    """
    if not capacities and all(fields.get(key) is None for key in WEIGHTING_KEYS):
        return None
    weights = _by_topic(fields, "weights", topics)
    costs = _by_topic(fields, "move_costs", topics)
    budget = _budget(fields.get("budget"), costs, ("budget",))
    balance = _balance(fields)
    try:
        return Weighting(
            weights=weights,
            move_costs=costs,
            capacities=capacities,
            budget=budget,
            balance=balance,
        )
    except ValueError as error:  # sums that are too large: each value has been looked at
        key = "weights" if str(error).startswith("weights") else "capacities"
        place = (key if key in fields else "members",)
        raise DocumentError(ErrorCode.OUT_OF_RANGE, str(error), place) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenWeights:
    """What a file has for any group: keys of a group's document, with the values of JSON."""

    by_topic: Mapping[str, Mapping[str, object]]
    """`weights` and `move_costs`, as far as they are given: topic -> numbers."""
    capacities: Mapping[str, int]
    """Member id -> capacity."""
    limits: Mapping[str, object]
    """`budget`, `tolerance` and `trigger`, as far as they are given."""


def weights_from_document(document: object) -> GivenWeights:
    """Return the weights of a file, which knows topics and members that a group need not have.

    Raises `DocumentError` with the place of the first value that is wrong, as
    `weighting_from_document`; how many partitions a topic has is for each group to say.

    >>> weights_from_document({"weights": {"t": [900, 20]}, "capacities": {"a": 2}}).capacities
    {'a': 2}
    """
    fields = as_object(document, ())
    require_known(fields, WEIGHTS_FILE_KEYS, ())
    by_topic = {
        key: as_object(fields[key], (key,))
        for key in ("weights", "move_costs")
        if fields.get(key) is not None
    }
    given = fields.get("capacities")
    capacities = {
        as_string(member_id, ("capacities",)): _whole(value, ("capacities", member_id), least=1)
        for member_id, value in as_object({} if given is None else given, ("capacities",)).items()
    }
    topics: dict[str, Topic] = {}
    for key, by_name in by_topic.items():
        for topic, listed in by_name.items():
            topics.setdefault(topic, Topic(partition_count=len(as_list(listed, (key, topic)))))
    weighting_from_document(fields, topics, capacities)
    limits = {
        key: fields[key]
        for key in ("budget", "tolerance", "trigger")
        if fields.get(key) is not None
    }
    return GivenWeights(by_topic=by_topic, capacities=capacities, limits=limits)


def with_weights_of(
    document: Mapping[str, Any], given: GivenWeights
) -> tuple[Document, list[Document]]:
    """Return a group's document with the keys of a file, and notes on names that are nearly right.

    Topics and members that the group does not have are left out. What is no group stays as it is,
    for its reader to refuse. Cost: O(members + topics of the file).
    """
    topics, members = document.get("topics"), document.get("members")
    if not isinstance(topics, dict) or not isinstance(members, list):
        return dict(document), []
    found: Document = {**document, **given.limits}
    notes = []
    for key, by_topic in given.by_topic.items():
        found[key] = {topic: listed for topic, listed in by_topic.items() if topic in topics}
        notes += [key_of_nobody(key, topic, topics) for topic in by_topic if topic not in topics]
    if given.capacities:
        ids = {one["id"]: None for one in members if isinstance(one, dict) and "id" in one}
        found["members"] = [_with_capacity(one, given.capacities) for one in members]
        unknown = [one for one in given.capacities if one not in ids]
        notes += [key_of_nobody("capacities", one, ids) for one in unknown]
    return found, [note for note in notes if note is not None]


def _with_capacity(member: object, capacities: Mapping[str, int]) -> object:
    """Return a member's object with its capacity, if the file has one for its id."""
    if not isinstance(member, dict) or not isinstance(member.get("id"), str):
        return member
    capacity = capacities.get(member["id"])
    return member if capacity is None else {**member, "capacity": capacity}


def capacity_of(member: Mapping[str, object], place: Place) -> int | None:
    """Return the capacity that a member's object gives; `DocumentError` for less than 1."""
    value = member.get("capacity")
    return None if value is None else _whole(value, (*place, "capacity"), least=1)


def _by_topic(
    fields: Mapping[str, object], key: str, topics: Mapping[str, Topic]
) -> dict[str, tuple[int, ...]]:
    given = fields.get(key)
    if given is None:
        return {}
    found = {}
    for name, listed in as_object(given, (key,)).items():
        place = (key, as_string(name, (key,)))
        topic = topics.get(name)
        if topic is None:
            raise DocumentError(ErrorCode.UNKNOWN, f"`topics` has no {name!r}", place)
        numbers = as_list(listed, place)
        if len(numbers) != topic.partition_count:
            words = f"{len(numbers)} numbers for {topic.partition_count} partitions"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
        found[name] = tuple(_whole(one, (*place, at)) for at, one in enumerate(numbers))
    return found


def _whole(value: object, place: Place, *, least: int = 0) -> int:
    number = as_integer(value, place, "a whole number")
    if not least <= number < LARGEST:
        words = f"{number} is not from {least} to 2**53 - 1"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
    return number


def _budget(value: object, costs: Mapping[str, tuple[int, ...]], place: Place) -> int | None:
    """Return a budget: `{"cost": 5}`, or `{"moves": 5}` where every move costs 1."""
    if value is None:
        return None
    fields = as_object(value, place)
    require_known(fields, BUDGET_KEYS, place)
    given = {key: fields[key] for key in BUDGET_KEYS if fields.get(key) is not None}
    if len(given) != 1:
        words = 'expected {"cost": N} or {"moves": N}'
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    (key, number), *_ = given.items()
    if key == "moves" and costs:
        words = "'moves' counts moves, and `move_costs` says that they differ: give 'cost'"
        raise DocumentError(ErrorCode.REPEATED, words, (*place, key))
    return _whole(number, (*place, key))


def _balance(fields: Mapping[str, object]) -> Balance:
    tolerance = _part(fields, "tolerance")
    trigger = _part(fields, "trigger")
    usual = Balance()
    low = usual.tolerance if tolerance is None else tolerance
    high = max(usual.trigger, low) if trigger is None else trigger
    if high < low:
        words = f"{float(high)} is below the tolerance, {float(low)}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("trigger",))
    return Balance(tolerance=low, trigger=high)


def _part(fields: Mapping[str, object], key: str) -> Fraction | None:
    """Return a part of the whole, as 0.05; `DocumentError` for what is none from 0 on."""
    value = fields.get(key)
    if value is None:
        return None
    if type(value) not in (int, float):
        words = f"expected a number, found {described(value)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, (key,))
    assert isinstance(value, int | float)
    if not 0 <= value < LARGEST:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, f"{value} is not from 0 on", (key,))
    return Fraction(str(value))
