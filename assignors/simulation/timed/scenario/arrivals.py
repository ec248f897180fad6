"""Members that come and go at random, at any rate, and how a scenario writes them.

    {"member": {"name": "job", "topics": ["orders"]}, "every_ms": 15000, "lifetime_ms": 10000,
     "from_ms": 60000, "until_ms": 600000}

Times between arrivals and lifetimes are exponential, each from its own stream of random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum

from assignors.documents.values import Place, as_list, as_object, required
from assignors.simulation.timed.random_streams import exponential, stream
from assignors.simulation.timed.scenario.members import MemberConfig, read_member
from assignors.simulation.timed.scenario.plan import Action, Verb
from assignors.simulation.timed.scenario.reading import Reader, as_natural, one_of, read_fields


class End(StrEnum):
    """How the life of a short-lived member ends."""

    STOP = "stop"
    CRASH = "crash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Short-lived members of one kind."""

    member: MemberConfig
    """What each of them is; they are named `job.0`, `job.1`, ... after its name."""
    every_ms: int
    """The mean time from one arrival to the next."""
    lifetime_ms: int
    """The mean time from the start of a process to its end."""
    from_ms: int = 0
    """When they begin to come."""
    until_ms: int
    """When no more of them come; who is there then lives on for its time."""
    ends: End = End.STOP
    """How each of them ends."""


READERS: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(Arrivals)), as_natural),
    "member": lambda value, place: read_member(as_object(value, place), place),
    "ends": one_of(End),
}
"""Field -> what reads it; a field that is not named here is a natural number."""


def read_arrivals(value: object, place: Place) -> tuple[Arrivals, ...]:
    """Return the arrivals of a scenario. Cost: O(its size)."""
    listed = []
    for number, each in enumerate(as_list(value, place)):
        given = as_object(each, (*place, number))
        for key in ("member", "every_ms", "lifetime_ms", "until_ms"):
            required(given, key, (*place, number))
        listed.append(Arrivals(**read_fields(given, READERS, (*place, number))))
    return tuple(listed)


def drawn(arrivals: Arrivals, seed: int) -> tuple[list[MemberConfig], list[Action]]:
    """Return the members that come, and what happens to them when. Cost: O(members)."""
    one = arrivals.member
    gaps, lives = stream(seed, one.name, "arrivals"), stream(seed, one.name, "lifetimes")
    members: list[MemberConfig] = []
    plan: list[Action] = []
    at_ms = arrivals.from_ms
    while (at_ms := at_ms + max(exponential(gaps, arrivals.every_ms), 1)) < arrivals.until_ms:
        name = f"{one.name}.{len(members)}"
        instance = None if one.instance_id is None else f"{one.instance_id}.{len(members)}"
        members.append(replace(one, name=name, instance_id=instance, starts_at_ms=None))
        over_ms = at_ms + max(exponential(lives, arrivals.lifetime_ms), 1)
        plan.append(Action(at_ms=at_ms, do=Verb.START, member=name))
        plan.append(Action(at_ms=over_ms, do=Verb(arrivals.ends.value), member=name))
    return members, plan
