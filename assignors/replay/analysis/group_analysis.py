"""Everything that is computed from a group's history, before tables, findings and outcomes use it.

`analysed_group` does it once for each group: partition counts, the figures of every generation,
who owned what when, where two members owned one partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assignors.ownership.double import Overlap, overlaps
from assignors.ownership.intervals import Ownership
from assignors.replay.analysis.drops import Drop, drops_of
from assignors.replay.analysis.figures import Figures, figures
from assignors.replay.analysis.ownership import ownerships_of
from assignors.replay.analysis.rates import Observed, known_at, observed
from assignors.replay.analysis.uses import Uses, uses
from assignors.replay.history.log_ends import LogEnds
from assignors.replay.history.model import Generation, GroupHistory, Kind, Life
from assignors.replay.history.partition_counts import counts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationAnalysis:
    """One generation, with its figures."""

    generation: Generation
    before: Generation | None
    """The one before it in the same life, if there is any."""
    figures: Figures
    lag: int | None = None
    """Records that the group had not read when it began, `None` where no log ends are known."""
    rates: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Topic -> records in 1,000 seconds of each partition, measured up to the generation's end."""
    uses: Uses | None = None
    """The loads by these rates, `None` where they are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeAnalysis:
    """One life of a group, with everything that is computed from it."""

    life: Life
    generations: tuple[GenerationAnalysis, ...]
    ownerships: tuple[Ownership, ...]
    """In the order in which they began; times are epoch milliseconds."""
    overlaps: tuple[Overlap, ...]
    """Empty for share groups, where several members may own a partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAnalysis:
    """The history of a group, with everything that is computed from it."""

    history: GroupHistory
    partition_counts: Mapping[str, int]
    """Topic -> partition count."""
    inferred_topics: frozenset[str]
    """The topics among them whose count comes from the history itself."""
    lives: tuple[LifeAnalysis, ...]
    drops: tuple[Drop, ...] = ()
    """Commits that went back, and commits that were removed."""
    observed: Observed | None = None
    """The commits, to know the rate of each partition at any moment."""


def analysed_group(
    history: GroupHistory,
    partition_counts: Mapping[str, int] | None = None,
    log_ends: Sequence[LogEnds] = (),
) -> GroupAnalysis:
    """Return a history with everything that is computed from it.

    `partition_counts` has the topics whose count is known (topic -> count); counts of other topics
    are inferred from the history. `log_ends` are those of any topics. Cost: that of the optimal
    solver for each generation.
    """
    counts, inferred = counts_of(history, partition_counts)
    seen = observed(history.commits, counts, log_ends)
    return GroupAnalysis(
        history=history,
        partition_counts=counts,
        inferred_topics=inferred,
        lives=tuple(_life_analysis(life, counts, seen) for life in history.lives),
        drops=tuple(drops_of(history.commits)),
        observed=seen,
    )


def client_of(life: Life) -> dict[str, tuple[str, str]]:
    """Return member id -> (client id, host), the last that a record has for the member."""
    return {
        member.member_id: (member.client_id, member.host)
        for members in (life.replaced, *(each.members for each in life.generations))
        for member in members
    }


def downtime_ms(analysed: GenerationAnalysis) -> int | None:
    """Return how long partitions stood still for this generation's round, summed over partitions.

    In partition-milliseconds; `None` where the pause of the round is not recorded. An estimate:
    `tables.columns.ESTIMATED` has its model.
    """
    generation = analysed.generation
    if generation.pause_ms is None or generation.other_protocol is not None:
        return 0 if not generation.members else None
    return generation.pause_ms * analysed.figures.stopped


def unassigned_ms(analysed: GenerationAnalysis) -> int | None:
    """Return how long partitions were unassigned in this generation, summed over partitions.

    In partition-milliseconds; `None` where some are and the generation has no end.
    """
    generation, missing = analysed.generation, analysed.figures.unassigned
    if not any(missing.values()):
        return 0
    if generation.until_ms is None:
        return None
    return sum(
        len(set(numbers)) * (generation.until_ms - subscribed_ms(generation, topic))
        for topic, numbers in missing.items()
    )


def subscribed_ms(generation: Generation, topic: str) -> int:
    """Return from when on members subscribed to a topic in this generation."""
    return generation.late_topics.get(topic, generation.at_ms)


def sum_where_most_are_known(values: Iterable[int | None]) -> int | None:
    """Return the sum of the values that are not `None`; `None` where more are `None`, or none are.

    >>> sum_where_most_are_known([1, None]), sum_where_most_are_known([1, None, None])
    (1, None)
    """
    listed = list(values)
    known = [value for value in listed if value is not None]
    return sum(known) if known and 2 * len(known) >= len(listed) else None


def sum_of_known(values: Iterable[int | None]) -> int | None:
    """Return the sum of the values that are not `None`; `None` where all are.

    >>> sum_of_known([1, None, 2]), sum_of_known([None]), sum_of_known([])
    (3, None, None)
    """
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def generation_analysis(
    kind: Kind, generation: Generation, before: Generation | None, counts: Mapping[str, int]
) -> GenerationAnalysis:
    """Return a generation with its figures, without rates. Cost: that of the optimal solver."""
    return GenerationAnalysis(
        generation=generation,
        before=before,
        figures=figures(kind, generation, before, counts),
    )


def life_analysis(life: Life, generations: Iterable[GenerationAnalysis]) -> LifeAnalysis:
    """Return a life whose generations are analysed. Cost: linear in its changes."""
    found = ownerships_of(life)
    return LifeAnalysis(
        life=life,
        generations=tuple(generations),
        ownerships=found,
        overlaps=() if life.kind is Kind.SHARE else overlaps(found),
    )


def _life_analysis(life: Life, counts: Mapping[str, int], seen: Observed | None) -> LifeAnalysis:
    generations = []
    before: Generation | None = None
    for generation in life.generations:
        analysed = generation_analysis(life.kind, generation, before, counts)
        if seen is not None and life.kind in {Kind.CLASSIC, Kind.CONSUMER}:
            analysed = _with_uses(analysed, seen)
        generations.append(analysed)
        before = generation
    return life_analysis(life, generations)


def _with_uses(analysed: GenerationAnalysis, seen: Observed) -> GenerationAnalysis:
    """Return a generation with its loads by the rates that were known when it ended."""
    generation = analysed.generation
    # Without log ends no lag is known.
    begun = known_at(seen, generation.at_ms) if len(seen.ends_ms) else None
    ended = known_at(seen, generation.until_ms or max(seen.until_ms, generation.at_ms))
    rates = {} if ended is None or not generation.members else ended.rates
    return replace(
        analysed,
        lag=None if begun is None else begun.lag_sum,
        rates=rates,
        uses=uses(generation, rates),
    )
