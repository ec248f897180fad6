"""The loads of a generation by weight: how busy its members were, and the least that is possible.

A use is the records a second of all partitions that a member was assigned. Rates are measured up
to the end of the generation, so they are those that its members met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from assignors.problem import problem_of
from assignors.replay.analysis.figures import group_without_claims, intended
from assignors.replay.analysis.rates import MILLI
from assignors.replay.history.model import Generation
from assignors.weighted.bounds import bounds
from assignors.weighted.heavy import heavy
from assignors.weighted.inputs import loads_of
from assignors.weighting import Weighting
from wire import TopicPartitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """Records a second of the members of a generation."""

    most: float
    """Of the busiest member."""
    bound: float
    """No assignment of these partitions to these members has less for its busiest member."""
    total: float
    busiest: int
    """The place of the busiest member among those of the generation."""


def uses(generation: Generation, rates: Mapping[str, tuple[int, ...]]) -> Uses | None:
    """Return the uses of a generation; `None` where it has no members, or its topics no rates.

    `rates` has thousandths of a record a second, topic -> partitions. Cost: that of
    `weighted.bounds`; O(P log P) where all members have the same topics.
    """
    topics = {topic for member in generation.members for topic in member.topics if topic in rates}
    if not any(map(any, (rates[topic] for topic in topics))):
        return None
    load = [_load(intended(member), rates) for member in generation.members]
    most = max(load)
    return Uses(
        most=most / MILLI,
        bound=float(_bound(generation, {topic: rates[topic] for topic in sorted(topics)})) / MILLI,
        total=sum(load) / MILLI,
        busiest=load.index(most),
    )


def _load(share: TopicPartitions, rates: Mapping[str, tuple[int, ...]]) -> int:
    found = 0
    for topic, numbers in share.items():
        of_topic = rates.get(topic, ())
        found += sum(of_topic[number] for number in {*numbers} if 0 <= number < len(of_topic))
    return found


def _bound(generation: Generation, rates: Mapping[str, tuple[int, ...]]) -> Fraction:
    """Return the least use of the busiest member that any assignment has."""
    members = generation.members
    if all(rates.keys() <= {*member.topics} for member in members):
        weight = np.array([one for listed in rates.values() for one in listed], dtype=np.int64)
        level = Fraction(int(weight.sum()), len(members))
        return max(level, heavy(weight, np.ones(len(members), dtype=np.int64)))
    counts = {topic: len(listed) for topic, listed in rates.items()}
    problem = problem_of(group_without_claims(generation, counts))
    loads = loads_of(problem, Weighting(weights=rates))
    return bounds(
        weight=loads.weight,
        topic_of=problem.topic_of,
        takes=problem.takes,
        class_of=problem.class_of,
        capacity=loads.capacity,
    ).use
