"""Which callbacks of a rebalance listener run, in which order, thread and call: real clients.

Each scenario is a group of one or two members that do a few things, one after the other, each once
the group is at rest. What is kept of each member is its callbacks in order, the call of the
consumer in which each ran, its thread, and how the member ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from time import sleep
from typing import NamedTuple

from kio.schema.consumer_group_heartbeat.v1.request import ConsumerGroupHeartbeatRequest
from kio.schema.consumer_group_heartbeat.v1.response import ConsumerGroupHeartbeatResponse
from kio.schema.leave_group.v4.request import LeaveGroupRequest, MemberIdentity
from kio.schema.leave_group.v4.response import LeaveGroupResponse
from kio.schema.types import GroupId
from kio.static.primitive import i32, i32Timedelta

from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.interop.connection import Connection
from tests.lab.execution.programs import Clients, Line, clients
from tests.lab.execution.rebalances import Kind

TOPICS = {"first": 4, "second": 2}
HEARTBEAT_MS = 300
QUIET_S = 1.5
"""Five heartbeats without a report: the group is at rest."""
FIRST = {"start": ("assigned", "died"), "remove": ("lost",), "close": ("closed",)}
"""What must have been reported before a group can be at rest."""
PATIENCE_S = 30.0
CALLBACKS = ("revoked", "assigned", "lost")
SETTINGS = {
    "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.session.timeout.ms": "45000",
}


class Called(NamedTuple):
    """A callback."""

    callback: str
    """`revoked`, `assigned` or `lost`; `died` and `closed` are the member's end."""
    partitions: tuple[str, ...]
    thread: str
    """`application`, or the name of the client's own thread."""
    call: str
    """The call of the consumer inside which it ran."""
    text: str = ""
    """Of a member that died: its exception."""


class Do(NamedTuple):
    """A thing that is done: `start`, `remove`, or what `Clients.java` lets a member do."""

    verb: str
    member: str = "a"
    argument: str = ""
    at_once: bool = False
    """The next thing does not wait until the group is at rest, but a second."""


class Story(NamedTuple):
    """A scenario."""

    text: str
    steps: tuple[Do, ...]
    settings: dict[str, object]
    """Of every member, beside those of its protocol."""


START_A, START_B = Do("start"), Do("start", "b")
STORIES: dict[str, Story] = {
    "join": Story("A member joins an empty group.", (START_A,), {}),
    "second member": Story("A second member joins.", (START_A, START_B), {}),
    "leave": Story(
        "One of two members closes its consumer.",
        (START_A, START_B, Do("close", "b", "30000")),
        {},
    ),
    "long poll": Story(
        "The application does not call poll for longer than `max.poll.interval.ms`.",
        (START_A, Do("stall", argument="4000")),
        {"max_poll_interval_ms": 2000},
    ),
    "removed": Story(
        "Somebody else removes the member; its next heartbeat is refused.",
        (START_A, Do("remove")),
        {},
    ),
    "same instance id": Story(
        "A second member has the same `group.instance.id`.",
        (START_A, START_B),
        {"group_instance_id": "same"},
    ),
    "unsubscribe": Story(
        "One of two members unsubscribes.",
        (START_A, START_B, Do("unsubscribe")),
        {},
    ),
    "other topic": Story(
        "The member subscribes to another topic instead.",
        (START_A, Do("subscribe", argument="second")),
        {},
    ),
    "more topics": Story(
        "The member subscribes to one more topic.",
        (START_A, Do("subscribe", argument="first,second")),
        {},
    ),
    "close": Story("The member closes its consumer.", (START_A, Do("close", argument="30000")), {}),
    "close in a rebalance": Story(
        "The member closes its consumer when a rebalance has begun of which its application has"
        " not heard yet.",
        (
            START_A,
            Do("stall", argument="2500", at_once=True),
            Do("start", "b", at_once=True),
            Do("close", argument="30000"),
        ),
        {},
    ),
    "close between revoke and assign": Story(
        "The member closes its consumer after a poll in which it gave up partitions.",
        (
            START_A,
            Do("rest", at_once=True),
            Do("start", "b", at_once=True),
            Do("poll", at_once=True),
            Do("close", argument="30000"),
        ),
        {},
    ),
}

Traces = dict[str, dict[str, tuple[Called, ...]]]
"""Scenario -> member -> its callbacks, in order."""


def play(
    kinds: Sequence[Kind], stories: Mapping[str, Story] = STORIES, *, folder: Path
) -> dict[Kind, Traces]:
    """Play scenarios under some protocols; those of one protocol run side by side."""
    with Broker(SETTINGS) as broker:
        Admin(broker.bootstrap).create_topics(TOPICS)
        with clients(broker.bootstrap, folder / "traces.err") as process:
            return {kind: _play_kind(broker, process, kind, stories) for kind in kinds}


def _play_kind(
    broker: Broker, process: Clients, kind: Kind, stories: Mapping[str, Story]
) -> Traces:
    with ThreadPoolExecutor(len(stories)) as pool:
        played = {
            name: pool.submit(_play, broker, process, kind, name, story)
            for name, story in stories.items()
        }
        return {name: each.result() for name, each in played.items()}


def _play(
    broker: Broker, process: Clients, kind: Kind, name: str, story: Story
) -> dict[str, tuple[Called, ...]]:
    group = f"{kind}-{name.replace(' ', '-')}"
    names = {member: f"{group}.{member}" for member in ("a", "b")}
    for step in story.steps:
        member = names[step.member]
        if step.verb == "start":
            process.start(
                member,
                group_id=group,
                topics="first",
                poll__ms=100,
                **kind.settings,
                **_times(kind),
                **story.settings,
            )
        elif step.verb == "remove":
            remove(broker, group, kind)
        else:
            process.do(member, step.verb, step.argument)
        if step.at_once:
            sleep(1.0)
        else:
            _await(process, member, FIRST.get(step.verb, ()))
            process.rest(*names.values(), quiet_s=_quiet_s(step))
    trace = {
        each: tuple(called(process.of(names[each]))) for each in names if process.of(names[each])
    }
    for member, calls in trace.items():
        if not any(each.callback in ("died", "closed") for each in calls):
            process.do(names[member], "close", "0")
    return trace


def _await(process: Clients, member: str, events: Sequence[str]) -> None:
    """Wait until something that must happen has happened, however busy the machine is."""

    def is_there() -> bool:
        return any(line.event in events for line in process.of(member))

    if events and not process.wait(is_there, timeout_s=PATIENCE_S):
        raise TimeoutError(f"{member}: none of {', '.join(events)}")


def _quiet_s(step: Do) -> float:
    stalled_s = int(step.argument) / 1000 if step.verb == "stall" else 0.0
    return QUIET_S + stalled_s


def _times(kind: Kind) -> dict[str, object]:
    """Return the settings that the consumer protocol leaves to the broker."""
    if kind is Kind.CONSUMER:
        return {}
    return {"heartbeat_interval_ms": HEARTBEAT_MS, "session_timeout_ms": 45_000}


def called(lines: Sequence[Line]) -> list[Called]:
    """Return the callbacks among what a member has reported, and its end."""
    return [
        Called(line.event, line.partitions, line.thread.partition(" | ")[0], line.call, line.text)
        for line in lines
        if line.event in (*CALLBACKS, "died", "closed")
    ]


def remove(broker: Broker, group: str, kind: Kind) -> None:
    """Let every member leave a group, without asking it."""
    described = Admin(broker.bootstrap).describe(group)
    for member in described.members:
        with Connection(broker.bootstrap, client_id="other") as connection:
            if kind is Kind.CONSUMER:
                _leave_consumer(connection, group, member.member_id)
            else:
                identity = MemberIdentity(member_id=member.member_id, group_instance_id=None)
                request = LeaveGroupRequest(group_id=GroupId(group), members=(identity,))
                connection.ask(request, LeaveGroupResponse)


def _leave_consumer(connection: Connection, group: str, member_id: str) -> None:
    request = ConsumerGroupHeartbeatRequest(
        group_id=GroupId(group),
        member_id=member_id,
        member_epoch=i32(-1),
        instance_id=None,
        rack_id=None,
        rebalance_timeout=i32Timedelta.parse(timedelta(milliseconds=-1)),
        subscribed_topic_names=None,
        subscribed_topic_regex=None,
        server_assignor=None,
        topic_partitions=None,
    )
    connection.ask(request, ConsumerGroupHeartbeatResponse)
