"""What Kafka 4.4.0 does wrong when a group migrates, as small as it gets; and so do we.

The random histories of `test_coordinator_live` compare both. Here the answers themselves are held:
when a release of Kafka answers something else, these tests say which page to rewrite.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.foreign.judge import Judge
from wire import Subscription, decode_assignment, encode_assignment, encode_subscription

pytestmark = pytest.mark.foreign

BROKER = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignors": "uniform",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.migration.policy": "bidirectional",
    "offsets.retention.check.interval.ms": str(2**40),
}
SUBSCRIPTION = encode_subscription(Subscription(version=1, topics=("t",))).hex()
Operation = dict[str, Any]


def played(judge: Judge, *ops: Operation, policy: str = "bidirectional") -> list[dict[str, Any]]:
    """Kafka's steps; the group's topic has four partitions."""
    topics = {"op": "topics", "topics": {"t": 4}}
    broker = {**BROKER, "group.consumer.migration.policy": policy}
    answer = judge.ask({"algo": "coordinator", "broker": broker, "ops": [topics, *ops]})
    steps: list[dict[str, Any]] = answer["steps"]
    return steps[1:]


def heartbeat(member: str, epoch: int, instance: str | None, **said: object) -> Operation:
    """A heartbeat of a member of the consumer protocol."""
    one = {"op": "consumer", "member": member, "epoch": epoch, "instance": instance}
    return {**one, "rebalance": -1 if epoch else 60_000, **said}


def join(client: str, member: str, instance: str | None = None) -> Operation:
    """A JoinGroup of a member of the classic protocol."""
    return {
        "op": "join",
        "client": client,
        "member": member,
        "instance": instance,
        "session": 45_000,
        "rebalance": 60_000,
        "type": "consumer",
        "protocols": [["range", SUBSCRIPTION]],
    }


def sync(member: str, generation: int) -> Operation:
    """A SyncGroup of a follower."""
    one = {"op": "sync", "member": member, "instance": None, "generation": generation}
    return {**one, "protocol": "range", "type": "consumer", "assignments": []}


def test_a_group_without_a_chosen_assignor_answers_its_joins_and_cannot_be_converted(
    judge: Judge,
) -> None:
    _, step = played(judge, join("a", "", "i0"), heartbeat("b", 0, None, topics=["t"], owned={}))
    waiting, refused = step["responses"]
    assert (waiting["number"], waiting["error"]) == (1, 27)
    assert refused == {"number": 2, "error": -1}
    assert step["records"] == []


def test_a_join_with_an_unknown_id_removes_an_empty_consumer_group_without_a_record(
    judge: Judge,
) -> None:
    """The next coordinator finds it in the log: until then a heartbeat gets GROUP_ID_NOT_FOUND."""
    *_, refused, after = played(
        judge,
        heartbeat("a", 0, None, topics=["t"], owned={}),
        heartbeat("a", -1, None),
        join("b", "nobody"),
        heartbeat("a", 3, None),
    )
    assert [each["error"] for each in refused["responses"]] == [25]
    assert refused["records"] == []
    assert [each["error"] for each in after["responses"]] == [69]


def test_a_static_member_that_changes_its_protocol_lets_another_ones_partition_be_given_away(
    judge: Judge,
) -> None:
    """Nobody waits for what a member still owns once the group has become a classic one.

    `a` owns 2 and 3 and is to give 3 to `b`, but does not know yet. The last member of the consumer
    protocol, a static one, comes back with the classic one; the targets become assignments, without
    a rebalance, and the SyncGroup of `b` brings it 3. `a` hears with its next heartbeat that its
    generation is an old one, and consumes 3 until then.
    """
    a, b = "AAAAAAAAQACAAAAAAAAAAQ", "AAAAAAAAQACAAAAAAAAAAg"
    steps = played(
        judge,
        heartbeat("c", 0, "i0", topics=["t"], owned={}),
        join("a", ""),
        join("a", a),
        heartbeat("c", 2, "i0", owned={"t": [0, 1, 2, 3]}),
        heartbeat("c", 2, "i0", owned={"t": [0, 1]}),
        join("a", a),
        sync(a, 3),
        join("b", ""),
        join("b", b),
        heartbeat("c", -2, "i0"),
        join("c", "", "i0"),
        sync(b, 4),
        {"op": "heartbeat", "member": a, "instance": None, "generation": 3},
    )
    given = [
        read.partitions
        for step in steps
        for each in step["responses"]
        if each.get("assignment") and isinstance(each["assignment"], str)
        if (read := decode_assignment(bytes.fromhex(each["assignment"])).value)
    ]
    assert given == [{"t": (2, 3)}, {"t": (3,)}]
    assert [each["error"] for each in steps[-1]["responses"]] == [22]


def test_a_join_timer_outlives_the_group_it_was_started_for_and_empties_the_next_one(
    judge: Judge,
) -> None:
    """A rebalance is on when the group becomes a consumer group; its join timer goes on.

    The group becomes a classic one again, without a rebalance, as its last member of the consumer
    protocol comes back. A rebalance timeout after that first rebalance began, everybody is alive
    and sends heartbeats, and the timer removes all dynamic members.
    """
    a, b = (f"{name}-00000000-0000-4000-8000-00000000000{n}" for n, name in ((1, "a"), (2, "b")))
    c = "AAAAAAAAQACAAAAAAAAAAw"

    def beats() -> list[Operation]:
        static = {"op": "heartbeat", "member": c, "instance": "i0", "generation": 2}
        dynamic = [
            {"op": "heartbeat", "member": each, "instance": None, "generation": 2}
            for each in (a, b)
        ]
        return [*dynamic, static]

    def wait(ms: int) -> Operation:
        return {"op": "advance", "ms": ms}

    steps = played(
        judge,
        *(join("a", ""), join("a", a), wait(1), {**sync(a, 1), "assignments": [[a, ""]]}),
        *(join("b", ""), join("b", b), wait(1000)),
        heartbeat("c", 0, "i0", topics=["t"], owned={}),
        *(join("a", a), sync(a, 2), join("b", b), sync(b, 2)),
        *(heartbeat("c", -2, "i0"), join("c", "", "i0")),
        *(wait(30_000), *beats(), wait(28_900), *beats(), wait(200), *beats()),
    )
    codes = [each["error"] for step in steps for each in step["responses"]]
    assert codes[-9:] == [0, 0, 0, 0, 0, 0, 25, 25, 0]


def test_no_target_is_computed_while_only_heartbeats_of_the_classic_protocol_come(
    judge: Judge,
) -> None:
    """The last member of the consumer protocol leaves, and the policy keeps the group as it is.

    A classic member is asked to join again where there is a newer target than its own, and its
    heartbeats make none. So nobody gets the partitions of the one that left, until somebody joins.
    """
    a, c = "a-00000000-0000-4000-8000-000000000001", "AAAAAAAAQACAAAAAAAAAAQ"
    beat = {"op": "heartbeat", "member": a, "instance": None, "generation": 3}
    beats: list[Operation] = [{"op": "advance", "ms": 9000}, beat] * 20
    steps = played(
        judge,
        heartbeat(c, 0, None, topics=["t"], owned={}),
        *(join("a", ""), join("a", a), sync(a, 3)),
        *(
            heartbeat(c, 2, None, owned={"t": [0, 1, 2, 3]}),
            heartbeat(c, 2, None, owned={"t": [0, 1]}),
        ),
        *(join("a", a), sync(a, 3), heartbeat(c, -1, None)),
        *beats,
        policy="upgrade",
    )
    given = decode_assignment(bytes.fromhex(steps[7]["responses"][0]["assignment"])).value
    assert given is not None
    assert given.partitions == {"t": (2, 3)}
    after = steps[-len(beats) :]
    assert [each["error"] for step in after for each in step["responses"]] == [0] * 20
    assert [each for step in after for each in step["records"]] == []


def test_a_group_that_is_converted_amid_a_second_rebalance_forgets_who_owns_what(
    judge: Judge,
) -> None:
    """What a cooperative member goes on consuming is given away at once.

    `b` owns everything and keeps it while it joins again for `a`. Then `a` leaves before anybody
    has sent SyncGroup: a rebalance that begins anew deletes all assignments
    (`resetAndPropagateAssignmentWithError`). A member of the consumer protocol that joins before
    `b` finds a group in which nobody owns anything.
    """
    a, b = (f"{name}-00000000-0000-4000-8000-00000000000{n}" for n, name in ((2, "a"), (1, "b")))
    every = encode_assignment({"t": (0, 1, 2, 3)}).hex()
    steps = played(
        judge,
        *(join("b", ""), join("b", b), {"op": "advance", "ms": 1}),
        {**sync(b, 1), "assignments": [[b, every]]},
        *(join("a", ""), join("a", a), join("b", b)),
        {"op": "leave", "member": a, "instance": None},
        heartbeat("c", 0, None, topics=["t"], owned={}),
        {"op": "heartbeat", "member": b, "instance": None, "generation": 2},
    )
    (given,) = steps[-2]["responses"]
    assert given["error"] == 0
    assert given["assignment"] == {"t": [2, 3]}
    assert [each["error"] for each in steps[-1]["responses"]] == [27]  # it is still in the group


def test_a_join_with_an_unknown_id_is_taken_in_by_a_consumer_group_that_has_members(
    judge: Judge,
) -> None:
    """A member that was removed and does not know joins under its id and keeps what it owned.

    A classic group answers UNKNOWN_MEMBER_ID, by which the member loses everything.
    """
    *_, taken = played(
        judge, heartbeat("c", 0, None, topics=["t"], owned={}), join("a", "who-was-removed")
    )
    assert [each["error"] for each in taken["responses"]] == [0]


def test_a_static_member_that_changes_its_protocol_amid_a_rebalance_leaves_all_without_partitions(
    judge: Judge,
) -> None:
    """The group is converted as it stands: the first round is not over, and nobody has anything.

    That is its target then, in the group's epoch. The member takes the place of the one it was,
    which changes no subscription, so no other target is computed until something else changes.
    """
    a, c = "i0-00000000-0000-4000-8000-000000000001", "AAAAAAAAQACAAAAAAAAAAQ"
    rest: list[Operation] = [
        {"op": "advance", "ms": 9000},
        {"op": "heartbeat", "member": a, "instance": "i0", "generation": 1},
        heartbeat(c, 1, "i1"),
    ]
    steps = played(
        judge,
        *(join("a", "", "i0"), {"op": "advance", "ms": 1}, join("b", "", "i1")),
        heartbeat(c, 0, "i1", topics=["t"], owned={}),
        *(join("a", a, "i0"), {**sync(a, 1), "instance": "i0"}),
        *rest * 10,
    )
    waiting, taken = steps[3]["responses"]
    assert (waiting["error"], taken["error"], taken["epoch"]) == (27, 0, 1)
    assert taken["assignment"] == {}
    given = decode_assignment(bytes.fromhex(steps[5]["responses"][0]["assignment"])).value
    assert given is not None
    assert given.partitions == {}
    after = steps[-len(rest) * 10 :]
    assert [each["error"] for step in after for each in step["responses"]] == [0] * 20
    assert [each for step in after for each in step["records"]] == []
