"""Figures of a run: how late records were, what moved, what was paused, how even the uses were.

A record is late by the time from when it was due until a member had processed it; one that nobody
had processed by the end is late by its age then, so that a queue counts while it grows. The lag of
a partition, in seconds, is the age of its oldest record that is not processed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from assignors.model import Cluster, Group, Member
from assignors.problem import problem_of
from assignors.weighted.figures import weight_figures
from tests.lab.weights.play import Run
from tests.lab.weights.world import LEAVER, Floats, Ints, World

NOBODY = -1
PERCENTILES = (50, 99, 100)
SAMPLE_S = 0.25
"""How often the lag of all partitions is looked at."""


class Owned(NamedTuple):
    """A partition from when a member had it until it gave it up."""

    place: int
    member: int
    begin_s: float
    end_s: float


def figures(run: Run) -> dict[str, Any]:
    """Return all figures of a run. Cost: O(records) and a bound for each second."""
    world = run.world
    late = lateness(run)
    spans = owned(run)
    ratios = use_ratios(world, spans)
    return {
        "contender": run.contender,
        "world": asdict(world),
        "records": len(late.values),
        "late_s": _percentiles(late.values),
        "lag_s": _percentiles(partition_lags(run)),
        "behind": _percentiles(records_behind(run)),
        "behind_end": int(late.is_open.sum()),
        "twice": sum(len(places) for places, _, _ in run.done) - int((~late.is_open).sum()),
        "moves": moves(spans),
        "rounds": run.rounds,
        "leaders": run.leaders,
        "paused_s": round(paused_s(world, spans), 2),
        "use_mean": round(float(np.mean(list(ratios.values()))), 3) if ratios else None,
        "errors": len(run.errors),
        "machine": run.machine,
    }


class Lateness(NamedTuple):
    """How late each record was, by partition and then by offset."""

    values: Floats
    due_s: Floats
    is_open: np.ndarray[Any, np.dtype[np.bool_]]
    """Whether nobody had processed it by the end."""


def lateness(run: Run) -> Lateness:
    """Return how late each record was."""
    world = run.world
    due = np.concatenate(world.due_s)
    done = _done_s(run)
    is_open = done > world.seconds
    values = np.where(is_open, world.seconds, done) - due
    return Lateness(values, due, is_open)


def partition_lags(run: Run) -> Floats:
    """Return the lag of each partition in seconds, float64[samples, P]; every `SAMPLE_S`.

    Cost: O(samples x P x log records).
    """
    world = run.world
    at_s = _samples(world)
    found = np.zeros((len(at_s), world.partition_count))
    done = np.split(_done_s(run), np.cumsum([len(one) for one in world.due_s])[:-1])
    for place, (due, own) in enumerate(zip(world.due_s, done, strict=True)):
        # Processed up to a record is what is processed and has nothing open before it.
        oldest = np.searchsorted(np.maximum.accumulate(own), at_s, side="right")
        since = np.append(due, np.inf)[oldest]
        found[:, place] = np.maximum(0.0, at_s - since)
    return found


def records_behind(run: Run) -> Floats:
    """Return how many records of all partitions are due and not processed, float64[samples]."""
    at_s = _samples(run.world)
    due = np.sort(np.concatenate(run.world.due_s))
    done = np.sort(_done_s(run))
    found: Floats = (
        np.searchsorted(due, at_s, side="right") - np.searchsorted(done, at_s, side="right")
    ).astype(np.float64)
    return found


def _samples(world: World) -> Floats:
    return np.arange(SAMPLE_S, world.seconds + SAMPLE_S / 2, SAMPLE_S)


def _done_s(run: Run) -> Floats:
    """Return when each record was processed first, by partition and offset; infinity: never."""
    counts = [len(one) for one in run.world.due_s]
    first = np.concatenate(([0], np.cumsum(counts)))
    done = np.full(sum(counts), np.inf)
    for places, offsets, at_ns in run.done:
        place = np.asarray(places, dtype=np.int64)
        at = first[place] + np.asarray(offsets, dtype=np.int64) - np.asarray(run.first)[place]
        np.minimum.at(done, at, (np.asarray(at_ns, dtype=np.int64) - run.begin_ns) / 1e9)
    return done


def owned(run: Run) -> list[Owned]:
    """Return who had each partition when, in order of time."""
    since: dict[tuple[int, int], float] = {}
    found = []
    for at_ns, member, event, places in sorted(run.changes, key=lambda change: change[0]):
        at_s = (at_ns - run.begin_ns) / 1e9
        for place in places:
            if event == "assigned":
                since.setdefault((place, member), at_s)
            elif (place, member) in since:
                found.append(Owned(place, member, since.pop((place, member)), at_s))
    end_s = run.world.seconds
    found += [Owned(place, member, begin, end_s) for (place, member), begin in since.items()]
    return sorted(
        (each._replace(end_s=min(each.end_s, end_s)) for each in found if each.begin_s < end_s),
        key=lambda each: each.begin_s,
    )


def moves(spans: Iterable[Owned]) -> int:
    """Return how often a partition went to another member after the first record was due."""
    last: dict[int, int] = {}
    count = 0
    for each in spans:
        is_move = last.get(each.place, each.member) != each.member
        count += is_move and each.begin_s > 0
        last[each.place] = each.member
    return count


def paused_s(world: World, spans: Iterable[Owned]) -> float:
    """Return for how long a partition had no member, in the mean of all partitions."""
    ends = [0.0] * world.partition_count
    total = 0.0
    for each in spans:
        total += max(0.0, each.begin_s - ends[each.place])
        ends[each.place] = max(ends[each.place], each.end_s)
    total += sum(world.seconds - min(end, world.seconds) for end in ends)
    return total / world.partition_count


def use_ratios(world: World, spans: Sequence[Owned]) -> dict[int, float]:
    """Return the largest use over its bound each second in which every partition has an owner.

    By what records really cost at that time; 1 is the best that any assignment could be.
    """
    found = {}
    for second in range(1, int(world.seconds) + 1):
        owner = np.full(world.partition_count, NOBODY)
        for each in spans:
            if each.begin_s < second <= each.end_s:
                owner[each.place] = each.member
        if (owner != NOBODY).all():
            found[second] = use_ratio(world, owner, at_s=second - 0.5)
    return found


def use_ratio(world: World, owner: Ints, *, at_s: float) -> float:
    """Return the largest use over its bound. `owner` is int[P], numbers of members."""
    present = [
        number
        for number in range(world.member_count + 1)
        if (number != LEAVER or at_s < world.leave_s)
        and (number < world.member_count or at_s >= world.join_s)
    ]
    holding = sorted({*present, *owner.tolist()})
    members = tuple(
        Member(member_id=world.member(number), topics=tuple(world.topics)) for number in holding
    )
    group = Group(cluster=Cluster.of(world.topics), members=members)
    target = np.searchsorted(holding, owner).astype(np.int32)
    found = weight_figures(problem_of(group), world.weighting(at_s), favoured=target, target=target)
    return float(found["use_max"]) / float(found["use_bound"])


def _percentiles(values: Floats) -> list[float]:
    """Return the median, the 99th percentile and the largest."""
    return [round(float(each), 3) for each in np.percentile(values, PERCENTILES)]
