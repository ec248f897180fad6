"""A member of franz-go that gets no answer, step by step: what it sends again, when, and with what.

Runs have it beside the other clients (`test_lost_messages.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.model import Cluster
from assignors.registry import assignor_named
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Command,
    Consume,
    Effect,
    Failed,
    Failure,
    Fired,
    MemberEvent,
    Request,
    Response,
    Send,
)
from assignors.simulation.timed.protocols.kafka.classic_member import ClassicMember, step
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    JoinedMember,
    JoinGroup,
    JoinGroupResponse,
    SyncGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.scenario import MemberConfig
from wire import decode_sticky_user_data, decode_subscription, encode_assignment

COOPERATIVE = "java/cooperative-sticky"
SESSION_MS, REBALANCE_MS, PAUSE_MS = 45_000, 20_000, 250
"""It may wait twice for a SyncGroup, 20 seconds each time, and once for a JoinGroup, 30 seconds."""


def franz_go() -> ClassicMember:
    config = MemberConfig(
        name="a",
        topics=("t",),
        assignors=(COOPERATIVE,),
        client="franz-go-1.22.2",
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=REBALANCE_MS,
    )
    return ClassicMember(
        config=config,
        assignors=(assignor_named(COOPERATIVE),),
        draw=lambda _, limit: limit // 2,
        cluster=Cluster.of({"t": 2}),
    )


@dataclass(slots=True)
class Played:
    """A member, and what it has asked for in its last step."""

    member: ClassicMember = field(default_factory=franz_go)
    effects: list[Effect] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start it, and let it hear its id."""
        self.do(Command.START)
        self.answer(JoinGroupResponse(ErrorCode.MEMBER_ID_REQUIRED, "a-1"))

    def do(self, event: MemberEvent) -> None:
        self.effects = step(self.member, event)

    def answer(self, response: Response) -> None:
        self.do(Answered(self.member.awaited, response))

    def fail(self, failure: Failure) -> None:
        self.do(Failed(self.member.awaited, failure))

    def lead(self, generation: int) -> None:
        """Let it lead a group of itself alone, until it has sent the plan."""
        blob = self.joins.protocols[0].metadata
        alone = (JoinedMember("a-1", None, blob),)
        name = self.member.assignors[0].name
        self.answer(JoinGroupResponse(ErrorCode.NONE, "a-1", generation, name, "a-1", alone))
        self.do(Fired(("computed",), 0))

    def take(self, *numbers: int) -> None:
        """Let it take an assignment."""
        self.answer(SyncGroupResponse(ErrorCode.NONE, encode_assignment({"t": numbers})))
        self.do(Fired(("assigned",), 0))

    def rejoin(self) -> None:
        """Let it take part in another round."""
        self.do(Command.REJOIN)
        self.do(Fired(("poll",), 0))

    @property
    def sent(self) -> tuple[Request, int]:
        """What it has sent, and after how many milliseconds."""
        (found,) = (each for each in self.effects if isinstance(each, Send))
        return found.request, found.after_us // 1000

    @property
    def joins(self) -> JoinGroup:
        request, _ = self.sent
        assert isinstance(request, JoinGroup)
        return request

    @property
    def consumes(self) -> list[Consume]:
        return [each for each in self.effects if isinstance(each, Consume)]


def test_the_same_syncgroup_is_sent_again_while_a_session_lasts() -> None:
    """With the plan, and after pauses that double; a third time would be after the session."""
    played = Played()
    played.lead(1)
    plan, _ = played.sent
    assert isinstance(plan, SyncGroup)
    assert plan.assignments
    for pause_ms in (PAUSE_MS, 2 * PAUSE_MS):
        played.fail(Failure.LATE)
        assert played.sent == (plan, pause_ms)
    played.fail(Failure.LATE)
    assert played.sent == (played.joins, PAUSE_MS)
    assert played.joins.member_id == "a-1"


def test_one_whose_connection_is_closed_has_not_waited_for_it() -> None:
    played = Played()
    played.lead(1)
    plan, _ = played.sent
    for _ in range(9):
        played.fail(Failure.CLOSED)
        assert played.sent == (plan, PAUSE_MS)


def test_a_joingroup_is_sent_again_once_and_then_everything_is_lost() -> None:
    """The new one claims nothing, neither in the Subscription nor in UserData."""
    played = Played()
    played.lead(1)
    played.take(0, 1)
    played.rejoin()
    first = played.joins
    played.fail(Failure.LATE)
    assert (played.sent, played.consumes) == ((first, PAUSE_MS), [])
    played.fail(Failure.LATE)
    assert played.consumes == [Consume({}, "lost")]
    read = decode_subscription(played.joins.protocols[0].metadata).require()
    assert read.owned == decode_sticky_user_data(read.user_data).require().owned == {}
    assert (read.generation, played.joins.member_id) == (1, "a-1")


def test_an_answer_ends_the_count_and_the_plan() -> None:
    played = Played()
    played.lead(1)
    played.fail(Failure.LATE)
    played.take(0, 1)
    played.rejoin()
    played.fail(Failure.LATE)
    assert (played.sent, played.consumes) == ((played.joins, PAUSE_MS), [])
    name = played.member.assignors[0].name
    played.answer(JoinGroupResponse(ErrorCode.NONE, "a-1", 2, name, "b-1"))
    follows, _ = played.sent
    assert isinstance(follows, SyncGroup)
    assert follows.assignments == ()
    played.fail(Failure.LATE)
    assert played.sent == (follows, PAUSE_MS)
