"""Read what partitions weigh and members can carry: keys of a group, or a file for any group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any

from assignors.documents import schemas
from assignors.documents.keys import Kind, listed, mapping, read, read_several, schema_of
from assignors.documents.notes import key_of_nobody
from assignors.documents.schemas import Schema
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_integer,
    as_object,
    described,
)
from assignors.model import Topic
from assignors.weighting import LARGEST, Balance, Weighting


def whole(least: int) -> Kind:
    """Return the kind of a whole number from `least` on, below 2**53."""

    def read_it(value: object, place: Place) -> int:
        number = as_integer(value, place, "a whole number")
        if not least <= number < LARGEST:
            words = f"{number} is not from {least} to 2**53 - 1"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
        return number

    return Kind(read_it, lambda: {"type": "integer", "minimum": least})


def _part(value: object, place: Place) -> Fraction:
    """Return a part of the whole, as 0.05; `DocumentError` for what is none from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        words = f"expected a number, found {described(value)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    if not 0 <= value < LARGEST:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, f"{value} is not from 0 on", place)
    return Fraction(str(value))


WEIGHT, CAPACITY = whole(0), whole(1)
BY_TOPIC = mapping(listed(WEIGHT))
PART = Kind(_part, lambda: {"type": "number", "minimum": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetKeys:
    """How much a round may move, in one of two units."""

    cost: Annotated[int | None, WEIGHT] = None
    """The sum of the `move_costs` of what moves."""
    moves: Annotated[int | None, WEIGHT] = None
    """The number of partitions that move: where there are no `move_costs`."""


def _budget(value: object, place: Place) -> BudgetKeys:
    given = read(BudgetKeys, value, place)
    if (given.cost is None) == (given.moves is None):
        raise DocumentError(ErrorCode.WRONG_TYPE, 'expected {"cost": N} or {"moves": N}', place)
    return given


def _budget_schema() -> Schema:
    given: Schema = {"not": schemas.NULL}
    units = [("cost", "moves"), ("moves", "cost")]
    return {
        **schema_of(BudgetKeys),
        "anyOf": [
            {"required": [one], "properties": {one: given, other: schemas.NULL}}
            for one, other in units
        ],
    }


BUDGET = Kind(_budget, _budget_schema, (("", BudgetKeys),))


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightKeys:
    """What partitions weigh, and how far moves may go."""

    weights: Annotated[dict[str, tuple[int, ...]], BY_TOPIC] = field(default_factory=dict)
    """Topic -> what each partition weighs: whole numbers of anything, as records a second."""
    move_costs: Annotated[dict[str, tuple[int, ...]], BY_TOPIC] = field(default_factory=dict)
    """Topic -> what moving each partition costs; 1 by default."""
    budget: Annotated[BudgetKeys | None, BUDGET] = None
    """`weighted/*`: how much a round may move."""
    tolerance: Annotated[Fraction | None, PART] = None
    """`weighted/*`: how far above its fair use a member may stay; 0.05 by default."""
    trigger: Annotated[Fraction | None, PART] = None
    """`weighted/*`: how far above it a member has to be before anything moves; 0.2 by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityKeys:
    """What members can carry, in a file of weights."""

    capacities: Annotated[dict[str, int], mapping(CAPACITY)] = field(default_factory=dict)
    """Member id -> what it can carry, compared with the others; 1 by default."""


WEIGHTS_FILE = (WeightKeys, CapacityKeys)
"""Keys of a file of weights."""


def weighting_of(
    given: WeightKeys,
    fields: Mapping[str, object],
    topics: Mapping[str, Topic],
    capacities: Mapping[str, int],
) -> Weighting | None:
    """Return the weighting of a group, `None` where nothing of it is given in `fields`.

    Raises `DocumentError` for weights of partitions that do not exist, and for sums that are too
    large.
    """
    if not capacities and given == WeightKeys():
        return None
    for key, by_topic in (("weights", given.weights), ("move_costs", given.move_costs)):
        for name, numbers in by_topic.items():
            if name not in topics:
                words = f"`topics` has no {name!r}"
                raise DocumentError(ErrorCode.UNKNOWN, words, (key, name))
            if len(numbers) != topics[name].partition_count:
                words = f"{len(numbers)} numbers for {topics[name].partition_count} partitions"
                raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (key, name))
    budget = None if given.budget is None else given.budget.cost
    if given.budget is not None and given.budget.moves is not None:
        if given.move_costs:
            words = "'moves' counts moves, and `move_costs` says that they differ: give 'cost'"
            raise DocumentError(ErrorCode.REPEATED, words, ("budget", "moves"))
        budget = given.budget.moves
    try:
        return Weighting(
            weights=given.weights,
            move_costs=given.move_costs,
            capacities=capacities,
            budget=budget,
            balance=_balance(given),
        )
    except DocumentError:
        raise
    except ValueError as error:  # sums that are too large: each value has been looked at
        key = "weights" if str(error).startswith("weights") else "capacities"
        place = (key if key in fields else "members",)
        raise DocumentError(ErrorCode.OUT_OF_RANGE, str(error), place) from None


def _balance(given: WeightKeys) -> Balance:
    usual = Balance()
    low = usual.tolerance if given.tolerance is None else given.tolerance
    high = max(usual.trigger, low) if given.trigger is None else given.trigger
    if high < low:
        words = f"{float(high)} is below the tolerance, {float(low)}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("trigger",))
    return Balance(tolerance=low, trigger=high)


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

    Raises `DocumentError` with the place of the first value that is wrong; how many partitions a
    topic has is for each group to say.

    >>> weights_from_document({"weights": {"t": [900, 20]}, "capacities": {"a": 2}}).capacities
    {'a': 2}
    """
    fields = as_object(document, ())
    given, carried = read_several(WEIGHTS_FILE, fields)
    topics: dict[str, Topic] = {}
    for by_topic in (given.weights, given.move_costs):
        for topic, numbers in by_topic.items():
            topics.setdefault(topic, Topic(partition_count=len(numbers)))
    weighting_of(given, fields, topics, carried.capacities)
    there = {key: value for key, value in fields.items() if value is not None}
    return GivenWeights(
        by_topic={
            key: as_object(there[key], (key,)) for key in ("weights", "move_costs") if key in there
        },
        capacities=carried.capacities,
        limits={key: there[key] for key in ("budget", "tolerance", "trigger") if key in there},
    )


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
