"""What happens in a run, and when, and how a scenario writes it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from assignors.documents.values import Place, as_list, as_object, required
from assignors.names.sequences import as_names, take
from assignors.simulation.timed.scenario.protocols import GroupProtocol
from assignors.simulation.timed.scenario.reading import (
    Reader,
    as_natural,
    as_text,
    as_texts,
    one_of,
    read_fields,
)


class Verb(StrEnum):
    """What can happen to a member or a topic."""

    START = "start"
    """The member's process starts."""
    STOP = "stop"
    """It closes its consumer: a dynamic member leaves the group, a static one falls silent."""
    CRASH = "crash"
    """Its process ends; the coordinator finds out by the session timeout."""
    SUBSCRIBE = "subscribe"
    """It subscribes to other topics: `topics`."""
    DELETE = "delete"
    """A topic is deleted: nobody reads anything of it any more, and members learn of it as of a new
    one."""
    PAUSE = "pause"
    """It pauses the partitions of `topic` that it consumes."""
    RESUME = "resume"
    """It ends its pauses of `topic`."""
    CREATE = "create"
    """A topic is created, with so many `partitions`. Members that subscribe by a pattern learn of
    it when they refresh their metadata, or the coordinator does."""
    GROW = "grow"
    """A topic has so many `partitions` from now on. Members learn of it when they refresh their
    metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing that happens, at a time that the scenario sets."""

    at_ms: int
    """When."""
    do: Verb
    """What."""
    member: str | None = None
    """To whom; a topic is changed for everybody."""
    protocol: GroupProtocol | None = None
    """Of `start`: the member starts with this protocol, as after an upgrade of its client."""
    topics: tuple[str, ...] = ()
    """Of `subscribe`: the new subscription."""
    topic: str | None = None
    """Which topic, of what is done to one."""
    partitions: int = 0
    """Of `create` and `grow`: how many partitions it has then."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither."""
        take(self, topics=as_names(self.topics, "topics"))


READERS: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(Action)), as_natural),
    "do": one_of(Verb),
    "member": as_text,
    "protocol": one_of(GroupProtocol),
    "topics": as_texts,
    "topic": as_text,
}
"""Field -> what reads it; a field that is not named here is a natural number."""


def read_plan(value: object, place: Place) -> tuple[Action, ...]:
    """Return the plan of a scenario. Cost: O(actions)."""
    actions = []
    for number, each in enumerate(as_list(value, place)):
        given = as_object(each, (*place, number))
        for key in ("at_ms", "do"):
            required(given, key, (*place, number))
        actions.append(Action(**read_fields(given, READERS, (*place, number))))
    return tuple(actions)
