"""What no record says: rounds, members and commits that are waited for in vain.

A classic rebalance that does not complete writes no record, and a member that does not revoke its
partitions writes none either. So these conditions come from the clock. Each function also returns
when to look again.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.ownership.changes import TopicPartition
from assignors.replay.findings.finding import amount, numbers_shown, seconds
from assignors.replay.history.epochs import EpochLife
from assignors.watch.events import WatchKind
from assignors.watch.group_state import Cluster, GroupWatch, Place
from assignors.watch.life_cycle import Condition
from assignors.watch.rules import Rules

REBALANCE_TIMEOUT_MS = 300_000
"""Of a member whose record has none: the default of `max.poll.interval.ms`."""

Waited = tuple[list[Condition], int | None]
"""Conditions, and when to look again; `None`: not before the next record."""


def reconciling(life: EpochLife, told_ms: Mapping[str, int], now_ms: int, rules: Rules) -> Waited:
    """Return that a KIP-848 group does not reach its epoch: no target, or members below it.

    `told_ms` has the time of each member's last record: what it writes is progress. A static member
    that is away has an epoch below 0, and its session runs out if it does not return.
    Cost: linear in the members.
    """
    epoch = life.epoch
    if epoch is None or not epoch.members:
        return [], None
    limits: dict[str, int] = {}
    if not epoch.has_target:
        limits[""] = epoch.at_ms + rules.assigning_ms
    else:
        for member_id, member in epoch.members.items():
            is_there = member_id in life.members and (member.member_epoch or 0) >= 0
            is_below = (member.member_epoch or 0) < epoch.number
            if is_there and (is_below or member.member_state == "unrevoked-partitions"):
                timeout_ms = member.rebalance_timeout_ms or REBALANCE_TIMEOUT_MS
                since_ms = max(epoch.at_ms, told_ms.get(member_id, 0))
                limits[member_id] = since_ms + timeout_ms + rules.heartbeats_ms
    late = [member_id for member_id, limit in limits.items() if limit <= now_ms]
    due_ms = min((limit for limit in limits.values() if limit > now_ms), default=None)
    if not late:
        return [], due_ms
    members = tuple(filter(None, late))
    waited = seconds(now_ms - epoch.at_ms)
    words = (
        f"{amount(len(members), 'member')} ({numbers_shown(members, limit=3)}) did not reach "
        f"epoch {epoch.number} within {waited}"
        if members
        else f"the broker computed no assignment for epoch {epoch.number} within {waited}"
    )
    return [
        Condition(
            life=life.number,
            kind=WatchKind.STUCK.value,
            subject="epoch",
            since_ms=epoch.at_ms,
            until_ms=None,
            evidence=words,
            numbers={"count": len(late), "waited_ms": now_ms - epoch.at_ms},
            members=members,
        )
    ], due_ms


def commits_due(
    watch: GroupWatch, now_ms: int, rules: Rules
) -> tuple[dict[TopicPartition, Place], int | None]:
    """Return the partitions with records to read whose commits stopped, and when to look again.

    Cost: linear in the partitions.
    """
    if watch.patience_ms is None:
        return {}, None
    due_ms = None
    silent = {}
    for key, place in watch.places.items():
        is_awaited = place.behind_ms is not None and place.owner_id is not None
        if not is_awaited or place.count < rules.silence_commits:
            continue
        usual_ms = max(rules.silence_ms, int(rules.silence_gaps * place.gap_ms))
        limit_ms = _since_ms(place) + usual_ms
        if limit_ms <= now_ms:
            silent[key] = place
        else:
            due_ms = limit_ms if due_ms is None else min(due_ms, limit_ms)
    if silent and _is_all(watch, silent, now_ms):
        # The whole group is silent: a rebalance may take as long as the slowest member may.
        patient_ms = max(map(_since_ms, silent.values())) + watch.patience_ms
        if patient_ms > now_ms:
            return {}, patient_ms
    return silent, due_ms


def _since_ms(place: Place) -> int:
    """Return since when the owner of a partition could have committed and did not."""
    return max(place.at_ms, place.owner_ms, place.behind_ms or 0)


def _is_all(watch: GroupWatch, silent: Mapping[TopicPartition, Place], now_ms: int) -> bool:
    """Return whether no other partition was committed in the later half of the silence."""
    half_ms = (max(map(_since_ms, silent.values())) + now_ms) // 2
    others = (place for key, place in watch.places.items() if key not in silent)
    return not any(place.at_ms > half_ms for place in others)


def silent_commits(
    watch: GroupWatch, silent: Mapping[TopicPartition, Place], now_ms: int
) -> list[Condition]:
    """Return that the commits of these partitions stopped."""
    if not silent:
        return []
    by_topic: dict[str, list[int]] = {}
    for topic, number in sorted(silent):
        by_topic.setdefault(topic, []).append(number)
    named = [f"{topic}[{numbers_shown(listed)}]" for topic, listed in by_topic.items()]
    since_ms = min(map(_since_ms, silent.values()))
    usual_ms = max(int(place.gap_ms) for place in silent.values())
    is_all = _is_all(watch, silent, now_ms)
    owners = dict.fromkeys(place.owner_id for place in silent.values() if place.owner_id)
    words = (
        "; every partition with records to read is silent: a rebalance that does not complete, or "
        "members that hang"
        if is_all
        else ""
    )
    return [
        Condition(
            life=watch.life,
            kind=WatchKind.STUCK.value,
            subject="commits",
            since_ms=since_ms,
            until_ms=None,
            evidence=(
                f"{numbers_shown(named, limit=4)} have records to read and no commit for "
                f"{seconds(now_ms - since_ms)}, usually one every {seconds(usual_ms)}{words}"
            ),
            numbers={"count": len(silent), "waited_ms": now_ms - since_ms, "usual_ms": usual_ms},
            partitions={topic: tuple(listed) for topic, listed in by_topic.items()},
            members=tuple(owners),
        )
    ]


def note_ends(watch: GroupWatch, cluster: Cluster) -> None:
    """Note since when records are left to read. Cost: linear in the partitions."""
    for (topic, number), place in watch.places.items():
        ends = cluster.ends.get(topic, ())
        end = ends[number] if number < len(ends) else None
        if end is None or end <= place.offset:
            place.behind_ms = None
        elif place.behind_ms is None:
            place.behind_ms = max(cluster.at_ms, place.at_ms)
