"""Hypothesis strategies for histories of groups: any events, in any order.

Each event is drawn for the group as the events before it left it, so only events that can happen
are drawn, and a failing history shrinks to the few events it needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from hypothesis import event
from hypothesis import strategies as st

from assignors.simulation.rounds.scenario import GroupEvent, GroupEventKind, MemberSpec, Scenario

ALL_KINDS = frozenset(GroupEventKind) - {GroupEventKind.START}
"""The kinds of event that can be drawn: the start happens by itself."""
ALL_VERSIONS = (None, 0, 1, 2, 3)
"""Versions of the Subscription; `None`: no bytes."""
TOPICS = ("orders", "\uff5e", "\U00010000")


@dataclass(slots=True)
class _Draft:
    """The group after the events drawn so far."""

    draw: st.DrawFn
    versions: Sequence[int | None]
    misremembering: bool
    counts: dict[str, int]
    present: dict[str, MemberSpec] = field(default_factory=dict)
    join_count: int = 0

    def pick(self, names: Collection[str]) -> str:
        return self.draw(st.sampled_from(sorted(names)))

    def topics(self) -> tuple[str, ...]:
        return tuple(self.draw(st.lists(st.sampled_from(TOPICS), unique=True)))

    def member(self) -> MemberSpec:
        """Draw a new member and add it."""
        self.join_count += 1
        name = f"m{self.join_count}"
        claims, generation = self.stale_claims()
        spec = MemberSpec(
            name=name,
            topics=self.topics(),
            version=self.draw(st.sampled_from(self.versions)),
            instance_id=f"i-{name}" if self.draw(st.booleans()) else None,
            remembers=self.misremembering and self.draw(st.integers(0, 3)) == 0,
            owned=claims,
            generation=generation,
        )
        self.present[name] = spec
        return spec

    def stale_claims(self) -> tuple[dict[str, tuple[int, ...]], int]:
        """Draw claims of a generation that is never the group's last, as after an expulsion."""
        if not self.misremembering or self.draw(st.integers(0, 3)):
            return {}, -1
        shares = {
            name: st.lists(st.integers(0, 5), unique=True, min_size=1).map(tuple) for name in TOPICS
        }
        claims = self.draw(st.fixed_dictionaries({}, optional=shares))
        return claims, self.draw(st.sampled_from((-1, 0, 1_000)))

    def possible(self, kinds: Collection[GroupEventKind]) -> list[GroupEventKind]:
        """Return those of the kinds that can happen now."""
        impossible: set[GroupEventKind] = {GroupEventKind.START}
        if not self.present:
            impossible |= {GroupEventKind.LEAVE, GroupEventKind.RETURN, GroupEventKind.SUBSCRIBE}
            impossible |= {GroupEventKind.CLAIM_FUTURE}
        if not self.statics():
            impossible.add(GroupEventKind.STATIC_RESTART)
        if not self.counts:
            impossible |= {GroupEventKind.GROW, GroupEventKind.DELETE}
        if not self.shrinkable():
            impossible.add(GroupEventKind.RECREATE)
        return [kind for kind in GroupEventKind if kind in kinds and kind not in impossible]

    def statics(self) -> list[str]:
        return [name for name, spec in self.present.items() if spec.instance_id is not None]

    def shrinkable(self) -> list[str]:
        return [topic for topic, count in self.counts.items() if count > 1]

    def event(self, kind: GroupEventKind) -> GroupEvent:
        """Draw what an event of this kind needs, and apply it to the draft."""
        if kind is GroupEventKind.JOIN:
            spec = self.member()
            return GroupEvent(kind=kind, name=spec.name, member=spec)
        if kind in (GroupEventKind.GROW, GroupEventKind.DELETE, GroupEventKind.RECREATE):
            return self.resize(kind)
        name = self.pick(self.statics() if kind is GroupEventKind.STATIC_RESTART else self.present)
        if kind is GroupEventKind.LEAVE:
            del self.present[name]
        return GroupEvent(
            kind=kind, name=name, topics=self.topics() if kind is GroupEventKind.SUBSCRIBE else ()
        )

    def resize(self, kind: GroupEventKind) -> GroupEvent:
        topic = self.pick(self.shrinkable() if kind is GroupEventKind.RECREATE else self.counts)
        count = self.counts.pop(topic)
        if kind is GroupEventKind.DELETE:
            return GroupEvent(kind=kind, topic=topic)
        if kind is GroupEventKind.GROW:
            count += self.draw(st.integers(1, 3))
        else:
            count = self.draw(st.integers(1, count - 1))
        self.counts[topic] = count
        return GroupEvent(kind=kind, topic=topic, partition_count=count)


@st.composite
def scenarios(
    draw: st.DrawFn,
    *,
    member_max: int = 4,
    event_max: int = 6,
    partition_max: int = 5,
    versions: Sequence[int | None] = ALL_VERSIONS,
    kinds: Collection[GroupEventKind] = ALL_KINDS,
    misremembering: bool = True,
) -> Scenario:
    """Draw a history of up to `event_max` events of these kinds, for `simulation.rounds`.

    Up to `member_max` members are there at the start, and topics have up to `partition_max`
    partitions then. `versions` are those of the Subscription bytes that members write (`None`:
    the leader gets a `Member`, without bytes). With `misremembering` some join with stale claims,
    and some go on claiming what they no longer consume. Which kinds of event occur is reported
    to Hypothesis as events.
    """
    counts = draw(
        st.dictionaries(st.sampled_from(TOPICS), st.integers(0, partition_max), max_size=3)
    )
    draft = _Draft(draw=draw, versions=versions, misremembering=misremembering, counts=dict(counts))
    first = tuple(draft.member() for _ in range(draw(st.integers(0, member_max))))
    events: list[GroupEvent] = []
    for _ in range(draw(st.integers(0, event_max))):
        possible = draft.possible(kinds)
        if possible:
            events.append(draft.event(draw(st.sampled_from(possible))))
    scenario = Scenario(topics=counts, members=first, events=tuple(events))
    for kind in event_kinds(scenario):
        event(f"event: {kind}")
    return scenario


def event_kinds(scenario: Scenario) -> Counter[GroupEventKind]:
    """Return how often each kind of event occurs, the start included."""
    return Counter((GroupEventKind.START, *(happened.kind for happened in scenario.events)))
