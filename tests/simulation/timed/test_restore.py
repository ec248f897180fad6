"""What records say of a group: the state that wrote them, whatever compaction has left of them.

The histories are those that Kafka's own coordinator plays in `tests/foreign/test_coordinator_live`.
Which records a log cleaner may leave is worked out from keys and batches alone (`compaction`), as
in Kafka's `GroupCoordinatorShardCompactionReplayTest`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.protocols.effects import Record
from assignors.simulation.timed.protocols.kafka.classic_group import (
    SESSION,
    ClassicGroup,
    GroupState,
)
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup
from assignors.simulation.timed.protocols.kafka.records import (
    GroupEpochRecord,
    GroupRecord,
    TargetEpochRecord,
    is_transactional,
)
from assignors.simulation.timed.protocols.kafka.restore import (
    Restored,
    apply,
    restored,
    summary,
    timers,
)
from tests.conftest import cases
from tests.foreign.histories import HISTORIES
from tests.foreign.player import Player
from tests.simulation.timed.compaction import compacted, some_cleanings

History = Callable[..., Any]
SEEDS = st.integers(0, 2**32)


def outside_transactions(records: Sequence[Record]) -> list[Record]:
    """The records without those that count once a marker comes, which is not among them."""
    return [each for each in records if not is_transactional(each)]


def log_of(history: History, seed: int) -> list[list[Record]]:
    """What a random history writes, step by step."""
    batches: list[list[Record]] = []
    history(seed, 100, lambda ours: batches.append(outside_transactions(ours.records)))
    return [batch for batch in batches if batch]


@pytest.mark.parametrize("kind", HISTORIES)
@cases(25)
@given(seed=SEEDS)
def test_what_compaction_leaves_says_the_same(kind: str, seed: int) -> None:
    batches = log_of(HISTORIES[kind], seed)
    whole = summary(restored(record for batch in batches for record in batch))
    for until, dropped in some_cleanings(Random(seed), 5, len(batches)):
        left = compacted(batches, clean_until=until, drop_tombstones_until=dropped)
        assert summary(restored(left)) == whole, (until, dropped)


@given(seed=SEEDS)
def test_records_so_far_say_the_state_of_a_consumer_group(seed: int) -> None:
    state, has_transactions = Restored(), False

    def see(ours: Player) -> None:
        nonlocal has_transactions
        for record in ours.records:
            apply(state, record)
        has_transactions |= bool(state.offsets.pending)
        is_live = ours.state.consumer is not None
        assert isinstance(state.group, ConsumerGroup) == is_live
        live = Restored(group=ours.state.group if is_live else state.group)
        assert summary(Restored(group=state.group)) == summary(live)
        if not has_transactions:
            offsets = {
                each: value[:2] for each, value in ours.state.offsets.table.committed.items()
            }
            assert summary(state)["offsets"] == offsets

    HISTORIES["consumer"](seed, 80, see)


@given(seed=SEEDS)
def test_records_so_far_say_the_state_of_a_classic_group_that_is_stable(seed: int) -> None:
    state = Restored()

    def see(ours: Player) -> None:
        for record in ours.records:
            apply(state, record)
        live = ours.state.group
        if live is None:
            assert not isinstance(state.group, ClassicGroup) or not state.group.protocol_type
        elif isinstance(live, ClassicGroup) and live.state is GroupState.STABLE:
            assert isinstance(state.group, ClassicGroup)
            assert facts(state.group) == facts(live)
            assert {each.key for each in timers(state.group, session_timeout_ms=1)} == {
                (SESSION, member_id) for member_id in live.members
            }

    HISTORIES["classic"](seed, 80, see)


def facts(group: ClassicGroup) -> Any:
    assert group.protocol is not None
    return (
        group.generation,
        group.protocol,
        group.protocol_type,
        group.leader,
        group.static_ids,
        {each.member_id: (each.client_id, each.assignment) for each in group.members.values()},
    )


def test_a_target_that_is_deleted_has_no_epoch() -> None:
    state = restored([GroupEpochRecord(3), TargetEpochRecord(3, 9), TargetEpochRecord(None)])
    assert summary(state)["epochs"] == (3, -1, 0)


def test_what_no_coordinator_writes_is_refused() -> None:
    group = GroupRecord(1, "consumer", None, None, ())
    with pytest.raises(ValueError, match="GroupEpochRecord of a classic group"):
        restored([group, GroupEpochRecord(2)])
