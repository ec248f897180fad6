"""The steps of the push protocol by themselves: what arrives late or twice changes nothing."""

from __future__ import annotations

import pytest

from assignors.model import Cluster
from assignors.registry import assignor_named
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Append,
    Arrived,
    Command,
    Consume,
    Fired,
    Reply,
    Send,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    OffsetCommit,
    OffsetCommitResponse,
)
from assignors.simulation.timed.protocols.push import coordinator, member
from assignors.simulation.timed.protocols.push import rights as commits
from assignors.simulation.timed.protocols.push.coordinator import (
    NEXT,
    PartitionEvent,
    PartitionState,
    PushCoordinator,
)
from assignors.simulation.timed.protocols.push.member import PushClient
from assignors.simulation.timed.protocols.push.messages import (
    FetchResponse,
    Grants,
    HeartbeatResponse,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroup,
    Partition,
    PartitionCommittedNotification,
    PushError,
    Request,
)
from assignors.simulation.timed.scenario import MemberConfig, PushConfig

P: Partition = ("t", 0)


class Group:
    """A coordinator without brokers to wait for, and requests to it by hand."""

    def __init__(self, partitions: int) -> None:
        self.state = PushCoordinator(
            assignor=assignor_named("server/uniform"),
            cluster=Cluster.of({"t": partitions}),
            config=PushConfig(fences_fetches=False),
            new_id=lambda name: name,
            draw=lambda *_: 0,
        )
        self.count = 0

    def send(self, request: Request) -> None:
        self.count += 1
        coordinator.step(self.state, 0, Arrived(self.count, request))

    def join(self, name: str) -> None:
        self.send(JoinGroup(name, "", ("t",), None, 45_000, 300_000))

    def commit(self, name: str, grants: Grants) -> None:
        self.send(PartitionCommittedNotification(name, grants))

    def asked(self, name: str) -> Grants:
        return dict(self.state.members[name].removing)


def test_the_table_has_no_state_without_a_way_in_and_out() -> None:
    assert {state for state, _ in NEXT} == set(NEXT.values()) == set(PartitionState)
    assert {event for _, event in NEXT} == set(PartitionEvent)
    assert all(NEXT[state, PartitionEvent.MOVED] for state in PartitionState)


def test_a_notification_that_comes_twice_does_not_release_the_next_owner() -> None:
    group = Group(partitions=3)
    group.join("a")
    group.join("b")
    (given,) = [group.asked("a")]
    (partition,) = given
    group.commit("a", given)
    assert group.state.places[partition].holder == "b"
    # b is removed from the plan again, and has not answered; a's notification comes once more.
    group.state.members["b"].topics = ()
    group.join("c")
    place = group.state.places[partition]
    assert (place.state, place.holder) == (PartitionState.REMOVING, "b")
    group.commit("a", given)
    assert (place.state, place.holder) == (PartitionState.REMOVING, "b")
    group.commit("b", group.asked("b"))
    assert place.state is PartitionState.OWNED


def test_a_notification_of_an_earlier_grant_does_not_release_a_later_one() -> None:
    group = Group(partitions=1)
    group.join("a")
    first = dict(group.state.members["a"].assigned)
    group.state.members["a"].topics = ()
    group.join("b")
    group.commit("a", first)
    assert group.state.places[P].holder == "b"
    # b leaves, a takes over again, and has to give up once more.
    group.state.members["a"].topics = ("t",)
    group.send(LeaveGroup("b"))
    assert group.state.places[P].holder == "a"
    group.state.members["a"].topics = ()
    group.join("c")
    group.commit("a", first)
    assert group.state.places[P].holder == "a"
    group.commit("a", group.asked("a"))
    assert group.state.places[P].holder == "c"


def test_a_member_commits_what_it_was_granted_until_its_notification() -> None:
    group = Group(partitions=2)
    group.join("a")
    group.join("b")
    (given,) = group.asked("a")

    def refusal(name: str, *numbers: int) -> ErrorCode:
        offsets = tuple(("t", number, 7) for number in numbers)
        answer, *_ = commits.step(group.state, 0, Arrived(1, OffsetCommit(name, 1, offsets)))
        if isinstance(answer, Append):
            return ErrorCode.NONE
        assert isinstance(answer, Reply)
        assert isinstance(answer.response, OffsetCommitResponse)
        return answer.response.error

    assert refusal("a", 0, 1) is ErrorCode.NONE
    assert refusal("b", given[1]) is ErrorCode.ILLEGAL_GENERATION
    group.commit("a", group.asked("a"))
    assert refusal("a", 0, 1) is ErrorCode.ILLEGAL_GENERATION
    assert refusal("a", 1 - given[1]) is refusal("b", given[1]) is ErrorCode.NONE
    group.state.expired.add("b")
    assert refusal("b", given[1]) is ErrorCode.ILLEGAL_GENERATION
    assert refusal("c", 0) is ErrorCode.UNKNOWN_MEMBER_ID


def client() -> PushClient:
    """Return a member that has joined, and that consumes `P` under grant 3."""
    config = MemberConfig(name="a", topics=("t",))
    state = PushClient(config=config, push=PushConfig(), draw=lambda *_: 0)
    member.step(state, Command.START)
    member.step(state, Answered(1, JoinGroupResponse(PushError.NONE, "a-1")))
    news(state, version=2, assigned={P: 3})
    return state


def news(state: PushClient, version: int, assigned: Grants) -> None:
    answer = HeartbeatResponse(PushError.NONE, version, 1, assigned)
    member.step(state, Answered(state.number, answer))
    if state.application.is_in_callback:
        member.step(state, Fired(("assigned",), 0))


@pytest.mark.parametrize(("grant", "taken"), [(3, {}), (4, {P: 4})])
def test_what_a_member_gave_up_it_takes_under_a_later_grant_only(grant: int, taken: Grants) -> None:
    state = client()
    member.step(state, Answered(state.number, FetchResponse({P: 3})))
    effects = member.step(state, Fired(("poll",), 0))
    assert Consume({}, "revoked") in effects
    (sent,) = [e for e in member.step(state, Fired(("revoked",), 0)) if isinstance(e, Send)]
    assert sent.request == PartitionCommittedNotification("a-1", {P: 3})
    # An answer that the coordinator sent before it had the notification, or after a new grant.
    news(state, version=3, assigned={P: grant})
    assert state.held == taken


def test_a_refused_fetch_of_an_earlier_grant_is_no_news() -> None:
    state = client()
    news(state, version=3, assigned={P: 5})
    member.step(state, Answered(state.number, FetchResponse({P: 3})))
    assert (state.fetches_refused, state.awaits_poll) == (0, False)
