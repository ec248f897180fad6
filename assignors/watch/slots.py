"""Member slots: who comes and goes, whatever the member ids.

A process that starts again gets a new member id. What stays is its slot: its group instance id,
else its client id and host. A rolling deployment of n members makes 2n rebalances, and each slot
leaves and joins once: nothing is wrong. One process that crashes again and again makes as many,
and its slot joins again and again. So a rebalance counts for a storm only if no first change of a
slot explains it, nor a change of subscriptions, nor partitions that were withheld before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from assignors.ownership.changes import pairs
from assignors.replay.analysis.figures import intended, is_cooperative
from assignors.replay.findings.finding import amount, seconds
from assignors.replay.history.model import Generation, Kind, Participant
from assignors.watch.events import WatchKind
from assignors.watch.group_state import Slots, Stay
from assignors.watch.life_cycle import Condition
from assignors.watch.rules import Rules

STAYS = 32
"""Stays of a slot that are kept."""


def slot_of(member: Participant) -> str:
    """Return what stays of a member when its process starts again."""
    return member.instance_id or f"{member.client_id} at {member.host}"


def note_generation(slots: Slots, kind: Kind, generation: Generation, rules: Rules) -> None:
    """Add a generation that began: who came, who went, and whether anything explains it.

    Cost: linear in its members and in the slots of the window.
    """
    now_ms = generation.at_ms
    was, is_first = slots.members, slots.noted is None
    now: dict[str, list[str]] = {}
    for member in generation.members:
        now.setdefault(slot_of(member), []).append(member.member_id)
    _prune(slots, now_ms, rules)
    is_explained = is_first or not generation.members
    for slot in {**was, **now}:
        before, after = was.get(slot, []), now.get(slot, [])
        width = max(len(before), len(after))
        stays = slots.stays.setdefault(slot, [])
        # A process that is back within one generation has a new member id: it left and joined.
        gone = len({*before} - {*after})
        for stay in [one for one in stays if one.left_ms is None][:gone]:
            stay.left_ms = now_ms
            left = [one for one in stays if _is_since(one.left_ms, now_ms, rules.storm_rounds_ms)]
            is_explained |= len(left) <= width
        for _ in {*after} - {*before}:
            stays.append(Stay(now_ms))
            is_explained |= _joins(stays, now_ms, rules.storm_rounds_ms) <= width
        del stays[:-STAYS]
    topics = _topics(generation)
    is_explained |= slots.is_waiting or topics != slots.topics
    if not is_explained:
        slots.rounds.append((now_ms, generation.number))
    slots.members, slots.topics, slots.noted = now, topics, generation.number
    slots.is_waiting = is_cooperative(kind, generation) and _is_any_withheld(generation)


def conditions_of_slots(slots: Slots, life: int, now_ms: int, rules: Rules) -> Iterator[Condition]:
    """Yield the storm of a group, and its slots that flap. Cost: linear in the slots."""
    _prune(slots, now_ms, rules)
    flapping = {slot: stays for slot, stays in slots.stays.items() if _flaps(slots, slot, rules)}
    joins = {
        slot: _joins(stays, now_ms, rules.storm_rounds_ms) for slot, stays in slots.stays.items()
    }
    worst = max(joins, key=lambda slot: (joins[slot], slot), default=None)
    first = next(iter(slots.rounds), None)
    is_caused = worst is not None and joins[worst] > 2 * _width(slots, worst)
    if (
        first is not None
        and len(slots.rounds) >= rules.storm_rounds
        and (is_caused or not any(joins.values()))
    ):
        last = slots.rounds[-1]
        who = f"; {worst} joined {joins[worst]} times" if is_caused and worst else ""
        yield Condition(
            life=life,
            kind="rebalance-storm",
            subject="",
            since_ms=last[0],
            until_ms=last[0],
            evidence=(
                f"{amount(len(slots.rounds), 'rebalance')} in {seconds(last[0] - first[0])}, "
                f"generations {first[1]} to {last[1]}, that no deployment and no change of "
                f"subscriptions explains{who}"
            ),
            numbers={"count": len(slots.rounds)},
        )
    for slot, stays in flapping.items():
        lasted = _lasted(stays)
        yield Condition(
            life=life,
            kind=WatchKind.MEMBER_FLAPS.value,
            subject=slot,
            since_ms=stays[-1].joined_ms,
            until_ms=stays[-1].joined_ms,
            evidence=(
                f"{slot} joined {len(stays)} times in "
                f"{seconds(stays[-1].joined_ms - stays[0].joined_ms)} and stayed "
                f"{seconds(int(median(lasted)))} by the median"
            ),
            numbers={"count": len(stays), "stay_ms": int(median(lasted))},
        )


def _prune(slots: Slots, now_ms: int, rules: Rules) -> None:
    """Forget stays and rebalances that no window reaches."""
    window_ms = max(rules.flap_ms, rules.storm_rounds_ms)
    for slot, stays in [*slots.stays.items()]:
        stays[:] = [
            one for one in stays if one.left_ms is None or now_ms - one.left_ms <= window_ms
        ]
        if not stays:
            del slots.stays[slot]
    slots.rounds = [one for one in slots.rounds if now_ms - one[0] <= rules.storm_rounds_ms]


def _joins(stays: list[Stay], now_ms: int, window_ms: int) -> int:
    return sum(_is_since(one.joined_ms, now_ms, window_ms) for one in stays)


def _is_since(at_ms: int | None, now_ms: int, window_ms: int) -> bool:
    return at_ms is not None and now_ms - at_ms <= window_ms


def _width(slots: Slots, slot: str) -> int:
    """Return how many members have a slot at a time, as far as its stays show."""
    return max(sum(one.left_ms is None for one in slots.stays[slot]), 1)


def _flaps(slots: Slots, slot: str, rules: Rules) -> bool:
    stays = slots.stays[slot]
    lasted = _lasted(stays)
    is_often = len(stays) >= rules.flap_joins * _width(slots, slot)
    return is_often and bool(lasted) and median(lasted) < rules.flap_stay_ms


def _lasted(stays: list[Stay]) -> list[int]:
    return [one.left_ms - one.joined_ms for one in stays if one.left_ms is not None]


def _topics(generation: Generation) -> tuple[str, ...]:
    """Return the subscriptions, each topic with the highest partition that a member has."""
    highest: dict[str, int] = {}
    for member in generation.members:
        for topic in member.topics:
            highest.setdefault(topic, -1)
        for topic, number in (*pairs(intended(member)), *pairs(member.claimed)):
            highest[topic] = max(highest.get(topic, -1), number)
    return tuple(f"{topic} {number}" for topic, number in sorted(highest.items()))


def _is_any_withheld(generation: Generation) -> bool:
    """Return whether a member claims a partition that nobody was assigned."""
    assigned = {place for member in generation.members for place in pairs(intended(member))}
    return any(
        place not in assigned for member in generation.members for place in pairs(member.claimed)
    )
