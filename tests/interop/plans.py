"""What happens to a group in a chaos run, drawn from a seed and written down before it happens.

A plan names everything: who starts, with which topics and instance id, who is killed, frozen or
told to subscribe to something else, which topic grows. So it plays again as it is, from the seed
or from its JSON. What several actions of one step do to each other is left to the clock.

The leader is left alone in the first half, so that its kind leads, and to the end where another
member could not lead the rest (`neighbours`). A kafka-python member of ours is never disturbed, so
that every topic always has somebody.

    {"seed": 3, "protocol": "sticky", "leader": "kpp", "topics": {"a": 5}, "members": [...],
     "steps": [{"actions": [{"do": "kill", "member": "java44-1"}], "freeze_ms": 0}]}
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.interop.neighbours import DEALS_TWICE, OURS, can_all_lead, followers

TOPICS = {"a": 5, "b": 3, "c": 1}

SHORT_MS, LONG_MS = 1500, 7000
"""Freezes that a session of four seconds survives, and does not."""

MEMBERS_MIN, MEMBERS_MAX = 3, 8
PARTITIONS_MAX = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """A member as it is started."""

    kind: str
    topics: tuple[str, ...] = tuple(TOPICS)
    instance: str = ""
    """Of a static member; empty for the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """One thing done: `start`, `stop`, `kill`, `back`, `restart`, `freeze`, `subscribe`, `grow`."""

    do: str
    member: str = ""
    start: Start | None = None
    topics: tuple[str, ...] = ()
    """Of `restart` and `subscribe`: the new subscription; of `grow`: the topic."""
    count: int = 0
    """Of `grow`: the new number of partitions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """Actions in one go; the group settles after the last of them."""

    actions: tuple[Action, ...]
    freeze_ms: int = 0
    """When those that were frozen go on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A group's whole history."""

    seed: int
    protocol: str
    leader: str
    members: tuple[Start, ...]
    """The first ones; the leader is first of all."""
    steps: tuple[Step, ...]
    topics: dict[str, int] = field(default_factory=lambda: dict(TOPICS))


@dataclass(slots=True)
class _Planned:
    """A member as the plan knows it."""

    start: Start
    topics: tuple[str, ...]
    is_alive: bool = True
    is_kept: bool = False
    """Whether it keeps its topics and is left alone, the leader in the first half."""


class _Planner:
    """Draws a plan; keeps who is there."""

    def __init__(self, seed: int, protocol: str, leader: str) -> None:
        self.dice = random.Random(f"{seed} {protocol} {leader}")
        self.kinds = self._kinds(protocol, leader)
        self.members: dict[str, _Planned] = {}
        self.topics = dict(TOPICS)
        self.may_lose_leader = can_all_lead(protocol, self.kinds) and not any(
            (protocol, kind) in DEALS_TWICE for kind in self.kinds
        )
        self.leader = self.add(Start(kind=leader))
        self.members[self.leader].is_kept = True
        steady = self.add(Start(kind="kpp"))
        self.members[steady].is_kept = True

    def _kinds(self, protocol: str, leader: str) -> list[str]:
        """The kinds of this plan: ours and some of the others that can follow."""
        others = [kind for kind in followers(protocol, leader) if kind not in {leader, *OURS}]
        drawn = self.dice.sample(others, min(len(others), 4))
        return sorted({leader, *OURS, *drawn})

    def add(self, start: Start) -> str:
        number = 1 + sum(one.start.kind == start.kind for one in self.members.values())
        name = f"{start.kind}-{number}"
        self.members[name] = _Planned(start=start, topics=start.topics)
        return name

    def newcomer(self) -> Start:
        kind = self.dice.choice(self.kinds)
        is_static = self.dice.random() < 0.2 and kind != "kjs"
        instance = f"static-{len(self.members)}" if is_static else ""
        return Start(kind=kind, topics=self.some_topics(), instance=instance)

    def some_topics(self) -> tuple[str, ...]:
        if self.dice.random() < 0.6:
            return tuple(TOPICS)
        return tuple(sorted(self.dice.sample(list(TOPICS), self.dice.randint(1, 2))))

    def alive(self) -> list[str]:
        return [name for name, one in self.members.items() if one.is_alive]

    def step(self, *, is_late: bool) -> Step:
        """One to three actions, no member twice."""
        actions: list[Action] = []
        touched: set[str] = set()
        for _ in range(self.dice.choice((1, 1, 2, 3))):
            action = self.action(touched, is_late=is_late)
            touched.add(action.member)
            actions.append(action)
        has_frozen = any(action.do == "freeze" for action in actions)
        freeze_ms = self.dice.choice((SHORT_MS, LONG_MS)) if has_frozen else 0
        return Step(actions=tuple(actions), freeze_ms=freeze_ms)

    def action(self, touched: Iterable[str], *, is_late: bool) -> Action:
        free = [name for name in self.alive() if name not in touched]
        victims = [name for name in free if self._may_disturb(name, is_late=is_late)]
        gone = [
            name for name, one in self.members.items() if not one.is_alive and name not in touched
        ]
        choices = ["grow"] * (max(self.topics.values()) < PARTITIONS_MAX)
        if len(self.alive()) < MEMBERS_MAX:
            choices += ["start"] * 3 + ["back"] * 2 * bool(gone)
        if victims:
            choices += ["restart"] * 2 + ["freeze"] * 2 + ["subscribe"]
            choices += ["stop", "kill", "kill"] * (len(self.alive()) > MEMBERS_MIN)
        do = self.dice.choice(choices or ["start"])
        if do == "start":
            start = self.newcomer()
            return Action(do=do, member=self.add(start), start=start)
        if do == "back":
            name = self.dice.choice(gone)
            self.members[name].is_alive = True
            return Action(do=do, member=name)
        if do == "grow":
            topic = self.dice.choice(sorted(self.topics))
            self.topics[topic] += self.dice.randint(1, 2)
            return Action(do=do, topics=(topic,), count=self.topics[topic])
        return self._disturb(do, self.dice.choice(victims))

    def _disturb(self, do: str, name: str) -> Action:
        member = self.members[name]
        if do in {"stop", "kill"}:
            member.is_alive = False
            return Action(do=do, member=name)
        if do in {"restart", "subscribe"} and self._may_change_topics(member):
            member.topics = self.some_topics()
            return Action(do=do, member=name, topics=member.topics)
        return Action(do="freeze" if do == "freeze" else "restart", member=name)

    def _may_disturb(self, name: str, *, is_late: bool) -> bool:
        if name == self.leader:
            return is_late and self.may_lose_leader
        return not self.members[name].is_kept

    def _may_change_topics(self, member: _Planned) -> bool:
        # A static member is answered from the group's memory: every client but ours asks for
        # ever when that names a topic it no longer subscribes to.
        return not member.is_kept and (not member.start.instance or member.start.kind == "kpp")


def plan(seed: int, protocol: str, leader: str, *, step_count: int) -> Plan:
    """Draw a plan: same arguments, same plan.

    >>> first = plan(1, "sticky", "kpp", step_count=4)
    >>> first == plan(1, "sticky", "kpp", step_count=4)
    True
    """
    planner = _Planner(seed, protocol, leader)
    planner.add(Start(kind="aiop"))
    for _ in range(3):
        planner.add(planner.newcomer())
    members = tuple(one.start for one in planner.members.values())
    steps = tuple(planner.step(is_late=2 * at >= step_count) for at in range(step_count))
    return Plan(seed=seed, protocol=protocol, leader=leader, members=members, steps=steps)
