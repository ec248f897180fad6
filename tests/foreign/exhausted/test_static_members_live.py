"""What static members of a cooperative group do in two moments that exhaustion found.

(`tests/simulation/timed/EXHAUSTED.md`.) Neither needs a lost message or a crash, and nobody reports
an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.foreign.exhausted.conftest import MakeGroup
from tests.foreign.exhausted.groups import PARTITIONS, PATIENCE_S, Place
from tests.interop.group import SETTLES_S, LiveGroup
from tests.interop.proxy import JOIN_GROUP, SYNC_GROUP, Late
from tests.waiting import wait

pytestmark = pytest.mark.interop

BOTH = ("t-0", "t-1")
SETTINGS: dict[str, Any] = {
    "group_protocol": "classic",
    "partition_assignment_strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    "heartbeat_interval_ms": 100,
}
WATCHED_BEATS = 10
"""Heartbeats of each member that are answered while nothing happens."""
HOLD_S = 0.3
COUNTS = {"s": PARTITIONS}
LATE_MS = 2000
"""The rebalance timeout of members one of which is late for a round."""


@pytest.mark.parametrize("ended_by", ["", "newcomer", "a2", "b"])
def test_a_member_that_restarts_before_its_answer_leaves_a_partition_with_nobody(
    make_group: MakeGroup, *, ended_by: str
) -> None:
    """Member `a` has both partitions; `b` comes, and the round takes one from `a`.

    The leader's plan is written, and the answer to `a` is on its way. A process that gets it gives
    the partition up and joins again, so that `b` gets it. One that starts instead has nothing to
    give up: it gets its share of the plan without a round, and joins no second time.

    It ends with a newcomer, or with `enforceRebalance()` of any member.
    """
    group = make_group(**SETTINGS)
    group.start("a", group_instance_id="i")
    group.wait(lambda: group.of("a", "assigned"))
    answer = group.late_answers("a", SYNC_GROUP)
    group.start("b", group_instance_id="j")
    assert answer.has_come.wait(PATIENCE_S)
    group.wait(lambda: group.said("b", "assigned"))
    if not ended_by:
        answer.may_go_on.set()
        group.wait(lambda: group.of("b", "assigned"))
        return
    group.do("a", "close", "0")
    group.wait(lambda: group.said("a", "closed"))
    group.start("a2", group_instance_id="i")
    group.wait(lambda: group.of("a2", "assigned"))
    group.wait_beats(WATCHED_BEATS, "a2", "b")
    ((kept,),) = (line.partitions for line in group.of("a2", "assigned"))
    assert not group.of("b", "assigned")
    described = group.described()
    assert described.state == "Stable"
    assert sorted(len(each.partitions) for each in described.members) == [0, 1]
    (alone,) = {*BOTH} - {kept}
    if ended_by == "newcomer":
        group.start("c")
    else:
        group.do(ended_by, "enforce-rebalance")
    group.wait(lambda: [each for each in "bc" if group.of(each, "record", alone)])


def test_a_member_that_is_late_for_a_round_consumes_what_another_one_gets(
    make_group: MakeGroup,
) -> None:
    """The JoinGroup of `a` comes after the rebalance timeout, and `a` reads on until then.

    A dynamic member would be removed. The leader plans for the static one by the Subscription that
    it wrote last, before it owned anything, so nothing has to be given up first.
    """
    group = make_group(max_poll_interval_ms=LATE_MS, **SETTINGS)
    group.start("a", group_instance_id="i")
    group.wait(lambda: group.of("a", "assigned"))
    join = group.late_requests("a", JOIN_GROUP)
    group.start("b", group_instance_id="j")
    assert join.has_come.wait(PATIENCE_S)
    group.wait(lambda: group.of("b", "assigned"))
    (since,) = group.of("b", "assigned")
    (given,) = since.partitions
    group.place.write(1)

    def reads_on(name: str) -> bool:
        return any(line.at_us > since.at_us for line in group.of(name, "record", given))

    group.wait(lambda: reads_on("a") and reads_on("b"))
    assert not group.said("a", "revoked")
    join.may_go_on.set()
    group.wait(lambda: group.of("a", "revoked", given))
    assert group.windows() == [(given, ("a", "b"))]
    assert not group.said("a", "lost")


@pytest.mark.parametrize(
    "kind", ["ck", *(pytest.param(each, marks=pytest.mark.deep) for each in ("kp", "kpp"))]
)
def test_other_clients_leave_it_with_nobody_too(kind: str, place: Place, tmp_path: Path) -> None:
    """A process is killed before its answer comes, and another one takes its place."""
    with LiveGroup(
        place.broker, folder=tmp_path, topics={"s": PARTITIONS}, heartbeat_ms=100
    ) as group:
        (first,) = group.start(kind, instance="i")
        group.settled(SETTLES_S, hold_s=HOLD_S)
        answer = Late(first.name, SYNC_GROUP)
        place.proxy.on_answer.append(answer)
        (other,) = group.start(kind, instance="j")
        assert answer.has_come.wait(PATIENCE_S)
        first.kill()
        answer.may_go_on.set()
        place.proxy.on_answer.remove(answer)
        (second,) = group.start(kind, instance="i")
        assert second.wait_for(lambda owned: len(owned) == 1, timeout_s=SETTLES_S)
        place.wait_beats(WATCHED_BEATS, second.name, other.name)
        assert (len(second.owned), len(other.owned)) == (1, 0)
        assert group.admin.describe(group.name).state == "Stable"
        # Whatever begins a round ends it. The broker goes on calling the second one by the first's
        # client id, so the members are asked.
        members = (second, other, *group.start(kind))
        wait(lambda: sum(len(each.owned) for each in members) == PARTITIONS)
