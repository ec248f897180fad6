"""What the keeper of committed offsets needs of a group that may change its kind."""

from __future__ import annotations

from functools import partial

from assignors.simulation.timed.protocols.effects import Effect, Schedule
from assignors.simulation.timed.protocols.mixed.coordinator import MixedCoordinator, step
from assignors.simulation.timed.protocols.mixed.downgrade import OF_CLASSIC
from assignors.simulation.timed.protocols.offsets.access import (
    GroupAccess,
    Step,
    classic_access,
    consumer_access,
)
from assignors.simulation.timed.protocols.offsets.messages import OffsetCommit


def mixed_access(
    coordinator: MixedCoordinator,
    *,
    clock_starts_ms: int,
    play: Step | None = None,
    since_ms: int | None = None,
) -> GroupAccess:
    """Return the access to the group of the kind that it is of when it is asked.

    `play` is what plays its events, if it does not; `since_ms` as in `classic_access`.
    """
    play = play or partial(step, coordinator)
    classic = classic_access(
        coordinator.classic, clock_starts_ms=clock_starts_ms, step=play, since_ms=since_ms
    )
    consumer = consumer_access(coordinator.consumer, play)

    def group() -> GroupAccess:
        return consumer if coordinator.consumer.exists else classic

    def after_commit(request: OffsetCommit) -> list[Effect]:
        effects = group().after_commit(request)
        return [
            each._replace(key=(OF_CLASSIC, *each.key)) if isinstance(each, Schedule) else each
            for each in effects
        ]

    return GroupAccess(
        step=classic.step,
        exists=lambda: group().exists(),
        make=classic.make,
        commit_refusal=lambda request: group().commit_refusal(request),
        fetch_refusal=lambda request: group().fetch_refusal(request),
        delete_refusal=lambda: group().delete_refusal(),
        after_commit=after_commit,
        subscribes=lambda topic: group().subscribes(topic),
        retained_since=lambda committed_ms: group().retained_since(committed_ms),
        is_empty=lambda: group().is_empty(),
        remove=lambda: group().remove(),
        goes_back=True,
    )
