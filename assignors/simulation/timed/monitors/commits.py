"""What must hold of a commit that the coordinator accepts: who sent it may commit.

An opinion of its own: it knows nothing of the rules by which coordinators refuse commits, only who
is a member and in which generation or epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assignors.simulation.timed.monitors.coordinators import CoordinatorView
from assignors.simulation.timed.protocols.effects import Append, Arrived, Effect
from assignors.simulation.timed.protocols.kafka.messages import OffsetCommit


def commit_found(
    before: CoordinatorView, event: object, effects: Iterable[Effect]
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a commit that was accepted, if the event is one. Cost: O(1)."""
    if not isinstance(event, Arrived) or not isinstance(event.request, OffsetCommit):
        return
    request = event.request
    if request.is_transactional or not any(isinstance(each, Append) for each in effects):
        return
    epoch = before.known.get(request.member_id)
    if request.generation < 0:
        if before.known:
            yield "commit-of-a-stranger", "a consumer outside the group committed in a live one"
    elif epoch is None:
        yield "commit-of-a-stranger", f"{request.member_id} committed and is no member"
    elif request.generation > epoch or (before.is_exact and request.generation != epoch):
        text = f"{request.member_id} committed in {request.generation} and is in {epoch}"
        yield "commit-of-a-stranger", text
