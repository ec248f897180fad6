"""What Java's members of a KIP-848 group do about answers that are lost, late or taken back.

Two members own one partition after one lost answer. Exhausting small groups found it
(`tests/simulation/timed/EXHAUSTED.md`); here Java's clients and a broker play it. Member `a` gets
both partitions, and its callback for them runs; member `b` joins; the coordinator asks `a` to give
up partition 1, and that answer is lost with its connection. The client repeats everything, and as
the callback is not over it reports that it owns nothing. For the coordinator partition 1 is given
up: `b` gets it, while `a` has never been asked. Without more trouble `a` gives it up as soon as its
callback is over; while the next answer is late it reads it.

The same without a lost answer takes a newcomer that does not poll for a heartbeat interval.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.foreign.exhausted.conftest import MakeGroup
from tests.foreign.exhausted.groups import PATIENCE_S, Group
from tests.interop.proxy import CONSUMER_GROUP_HEARTBEAT, LostAnswer

pytestmark = pytest.mark.interop

BOTH = ("t-0", "t-1")
CONSUMER: dict[str, Any] = {"group_protocol": "consumer"}
SLOW_MS = 2000
"""A heartbeat interval in which a member can start, even on a busy machine."""


def with_both(make_group: MakeGroup, **settings: object) -> Group:
    """Start a group whose only member, `a`, has both partitions."""
    group = make_group(**CONSUMER)
    group.start("a", **settings)
    group.wait(lambda: group.of("a", "assigned"))
    assert group.of("a", "assigned")[0].partitions == BOTH
    return group


def test_a_lost_answer_lets_two_members_read_one_partition(make_group: MakeGroup) -> None:
    """Both read it until the next answer brings `a` its target; only then does it give it up."""
    group = with_both(make_group, assign__waits="yes")

    def asks_to_revoke(client_id: str, answer: Any) -> bool:
        given = () if answer.assignment is None else answer.assignment.topic_partitions
        return client_id == group.full("a") and sum(len(each.partitions) for each in given) == 1

    lost = LostAnswer(asks_to_revoke)
    group.follow(group.place.proxy.on_answer, lost)
    group.start("b")
    assert lost.has_lost.wait(PATIENCE_S)
    group.wait(lambda: group.of("b", "record", "t-1"))
    group.do("a", "resume")
    group.wait(lambda: group.of("a", "record", "t-1"))
    assert not group.of("a", "revoked")
    lost.is_over.set()
    group.wait(lambda: group.of("a", "revoked"))
    (given,), (taken,) = group.of("b", "assigned", "t-1"), group.of("a", "revoked")
    assert given.at_us < group.of("a", "record", "t-1")[0].at_us < taken.at_us
    assert not group.of("b", "revoked") + group.of("b", "lost")
    assert group.windows() == [("t-1", ("a", "b"))]


def test_without_a_loss_the_partition_is_given_up_first(make_group: MakeGroup) -> None:
    group = with_both(make_group, assign__waits="yes")
    group.start("b")
    group.wait_given("a", 1)
    group.do("a", "resume")
    group.wait(lambda: group.of("b", "assigned", "t-1"))
    (revoked,) = group.of("a", "revoked", "t-1")
    assert revoked.at_us < group.of("b", "assigned", "t-1")[0].at_us
    assert group.windows() == []


def test_a_newcomer_is_called_back_for_nothing_before_it_gets_anything(
    make_group: MakeGroup,
) -> None:
    """So it has to poll before it gets anything, and its next heartbeat counts from then on."""
    group = with_both(make_group)
    group.start("b")
    group.wait(lambda: group.of("b", "assigned", "t-1"))
    assert [line.partitions for line in group.said("b", "assigned")] == [(), ("t-1",)]


def with_a_newcomer_that_does_not_poll(make_group: MakeGroup, **settings: object) -> Group:
    """Start a group whose member `b` joins and polls once; `a` leaves, and comes back as `c`.

    `b` is assigned nothing, then both partitions, and then one of them is for `c`.
    """
    group = make_group(heartbeat_ms=SLOW_MS, **CONSUMER)
    group.start("a")
    group.wait(lambda: group.of("a", "assigned"))
    group.start("b", polls=1, poll__ms=0, assign__waits="yes", **settings)
    group.wait_given("b", 0)
    group.do("a", "close", "5000")
    group.wait_given("b", 2)
    group.start("c")
    group.wait_given("c", 0)
    return group


@pytest.mark.parametrize("is_late", [True, pytest.param(False, marks=pytest.mark.deep)])
def test_a_newcomer_that_does_not_poll_gives_away_what_it_is_about_to_take(
    make_group: MakeGroup, *, is_late: bool
) -> None:
    """It acknowledges that it has nothing: for the coordinator it has given up what it takes next.

    No process crashes, and no message is lost. `b` gives the partition up when it learns that it
    has to: while that answer is late, both read it.
    """
    group = with_a_newcomer_that_does_not_poll(make_group)
    answers = group.late_answers("b", CONSUMER_GROUP_HEARTBEAT)
    if not is_late:
        answers.may_go_on.set()
    group.do("b", "resume")
    group.wait(lambda: group.of("c", "record"))
    ((given,),) = (line.partitions for line in group.of("c", "assigned"))
    assert [line.partitions for line in group.of("b", "assigned")] == [BOTH]
    group.do("b", "resume")
    if is_late:
        group.wait(lambda: group.of("b", "record", given))
        assert not group.of("b", "revoked")
        answers.may_go_on.set()
    group.wait(lambda: group.of("b", "revoked", given))
    assert group.windows() == [(given, ("b", "c"))]


@pytest.mark.deep
def test_one_that_commits_automatically_has_nothing_to_acknowledge_before_it_takes_both(
    make_group: MakeGroup,
) -> None:
    """Its client sets out for an assignment when the application polls: for the last one alone."""
    group = with_a_newcomer_that_does_not_poll(make_group, enable_auto_commit="true")
    group.do("b", "resume")
    group.wait(lambda: group.of("b", "assigned"))
    group.do("b", "resume")
    group.wait(lambda: group.of("c", "assigned"))
    assert group.of("b", "revoked")
    assert group.windows() == []


@pytest.mark.deep
def test_three_changes_of_the_target_within_a_heartbeat_let_two_read_one_partition(
    make_group: MakeGroup,
) -> None:
    """`b` is to have partition 0, then both, then 0 again, while its callback for 0 runs.

    It acknowledges 0 before it takes both, so that 1 goes to `c` although `b` takes it.
    """
    group = make_group(heartbeat_ms=SLOW_MS, **CONSUMER)
    group.start("a")
    group.wait(lambda: group.of("a", "assigned"))
    group.start("x")
    group.wait(lambda: group.of("x", "assigned", "t-1"))
    group.start("b", assign__waits="yes")
    group.wait(lambda: group.said("b", "assigned"))
    group.do("a", "close", "5000")
    group.wait(lambda: group.of("b", "assigned", "t-0"))
    group.do("x", "close", "5000")
    group.wait_given("b", 2)
    group.start("c")
    group.wait_given("c", 0)
    answers = group.late_answers("b", CONSUMER_GROUP_HEARTBEAT)
    group.do("b", "resume")
    group.wait(lambda: group.of("c", "record", "t-1") and group.of("b", "record", "t-1"))
    assert not group.of("b", "revoked")
    answers.may_go_on.set()
    group.wait(lambda: group.of("b", "revoked", "t-1"))
    (window,) = group.windows()
    assert (window[0], {*window[1]}) == ("t-1", {"b", "c"})


@pytest.mark.parametrize("commits", [True, False])
def test_a_change_that_is_taken_back_delays_nobody_but_by_callbacks(
    make_group: MakeGroup, *, commits: bool
) -> None:
    """The application of `a` does not poll while it gets partition 1 and loses it again.

    With automatic commits its client sets out for an assignment when the application polls: it has
    what it is assigned again, and says so at once. Else it has set out, and its callbacks come
    first.
    """
    group = with_both(make_group, enable_auto_commit=str(commits).lower())
    group.start("b")
    group.wait(lambda: group.of("b", "assigned", "t-1"))
    group.do("a", "rest")
    group.wait(lambda: group.said("a", "does-rest"))
    group.do("b", "close", "5000")
    group.wait_given("a", 2)
    group.start("c")
    group.wait_given("a", 1)
    if not commits:
        group.do("a", "resume")
    group.wait(lambda: group.of("c", "assigned", "t-1"))
    (given,) = group.of("c", "assigned", "t-1")
    again = group.of("a", "revoked", "t-1")[1:]
    assert [line.at_us < given.at_us for line in again] == ([] if commits else [True])
