"""A group member that says anything: bytes as they are, over a socket, from a thread of the test.

It joins, syncs, beats its heart and leaves like any client, and everything between is the test's:
the Subscription bytes of each protocol, and the Assignment bytes that it hands out where it leads.
What it gets is kept as it came.

    odd = RawMember(group.broker.bootstrap, group.name, "odd", {"range": b""})
    odd.start()
    odd.wait_for_rounds(1)
    odd.rounds[-1].assignment      # the bytes that the leader had for it
    odd.leave()

A member that leads without a `plan` leaves at once: an empty answer would be bytes that nobody
asked it to send, and kill somebody who is innocent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from kio.schema.errors import ErrorCode
from kio.schema.heartbeat.v4.request import HeartbeatRequest
from kio.schema.heartbeat.v4.response import HeartbeatResponse
from kio.schema.join_group.v7.request import JoinGroupRequest, JoinGroupRequestProtocol
from kio.schema.join_group.v7.response import JoinGroupResponse
from kio.schema.leave_group.v4.request import LeaveGroupRequest, MemberIdentity
from kio.schema.leave_group.v4.response import LeaveGroupResponse
from kio.schema.sync_group.v5.request import SyncGroupRequest, SyncGroupRequestAssignment
from kio.schema.sync_group.v5.response import SyncGroupResponse
from kio.schema.types import GroupId
from kio.static.primitive import i32, i32Timedelta

from tests.interop.connection import Connection
from tests.interop.events import Event, Partition, now_ms
from wire import decode_assignment

PROTOCOL_TYPE = "consumer"
TIMEOUT_S = 60.0
BACKOFF_S = 0.1

JOIN_AGAIN = frozenset(
    {
        ErrorCode.rebalance_in_progress,
        ErrorCode.illegal_generation,
        ErrorCode.member_id_required,
        ErrorCode.coordinator_load_in_progress,
        ErrorCode.not_coordinator,
    }
)
FORGOTTEN = frozenset({ErrorCode.unknown_member_id})


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """One round, as this member saw it."""

    generation: int
    protocol: str
    is_leader: bool
    subscriptions: Mapping[str, bytes] = field(default_factory=dict)
    """Member id -> Subscription bytes, where it leads."""
    assignment: bytes = b""
    """What came for this member."""


Plan = Callable[[Round], Mapping[str, bytes]]
"""Member id -> Assignment bytes; the broker sends zero bytes to whoever is left out."""

Blobs = Mapping[str, bytes] | Callable[["RawMember"], Mapping[str, bytes]]
"""Protocol -> Subscription bytes, best first; or what makes them, asked before each join."""


class RawMember:
    """One raw member. Whoever starts one ends it with `leave`, `vanish` or `end`.

    One that `holds` keeps what it has while it joins again, and an `is_cooperative` one joins
    again after it has given something up; it takes `lets_go_s` to do that.
    """

    def __init__(
        self,
        bootstrap: str,
        group: str,
        name: str,
        blobs: Blobs,
        *,
        plan: Plan | None = None,
        topics: tuple[str, ...] = (),
        instance: str | None = None,
        holds: bool = False,
        is_cooperative: bool = False,
        lets_go_s: float = 0.0,
        session_timeout_ms: int = 6000,
        rebalance_timeout_ms: int = 30_000,
        heartbeat_ms: int = 150,
        events: list[Event] | None = None,
    ) -> None:
        self.name = name
        self.blobs = blobs
        """The next join takes what is here."""
        self.plan = plan
        self.topics = topics
        """What it should be counted as subscribing to; the bytes may say otherwise."""
        self.is_paused = False
        self.rounds: list[Round] = []
        self.refusal: ErrorCode | None = None
        """Why the broker would not have it."""
        self.member_id = ""
        self.generation = -1
        """The newest it joined, whether or not anything came of it."""
        self.owned: frozenset[Partition] = frozenset()
        self._holds = holds or is_cooperative
        self._is_cooperative, self._lets_go_s = is_cooperative, lets_go_s
        self._bootstrap, self._group, self._instance = bootstrap, GroupId(group), instance
        self._session_timeout_ms, self._heartbeat_s = session_timeout_ms, heartbeat_ms / 1000
        self._rebalance_timeout_ms = rebalance_timeout_ms
        self._events = [] if events is None else events
        self._stop, self._must_rejoin = threading.Event(), threading.Event()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._connection: Connection | None = None

    @property
    def is_alive(self) -> bool:
        """Whether it takes part."""
        return self._thread.is_alive() and not self._stop.is_set()

    def start(self) -> None:
        """Join the group, in the background."""
        self._thread.start()

    def rejoin(self) -> None:
        """Join again at the next heartbeat; where it leads, that makes a round."""
        self._must_rejoin.set()

    def wait_for_rounds(self, count: int, *, timeout_s: float = 15.0) -> bool:
        """Wait until that many rounds are over; false if that does not happen."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.rounds) >= count, timeout_s)

    def leave(self) -> None:
        """Say goodbye and end."""
        self._finish()
        self._say_goodbye()

    def vanish(self) -> None:
        """End without a word, as a crash does."""
        self._finish()

    def end(self) -> None:
        """Be gone, in whatever state it is."""
        self.leave()

    def _finish(self) -> None:
        was_running = not self._stop.is_set()
        self._stop.set()
        if self._connection is not None:
            self._connection.close()
        if self._thread.ident is not None:
            self._thread.join(TIMEOUT_S)
        if was_running:
            self._own(frozenset())
            self._events.append(Event(t_ms=now_ms(), member=self.name, kind="closed"))

    def _say_goodbye(self) -> None:
        if not self.member_id:
            return
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self._instance)
        request = LeaveGroupRequest(group_id=self._group, members=(identity,))
        with Connection(self._bootstrap, client_id=self.name) as connection:
            connection.ask(request, LeaveGroupResponse)

    def _run(self) -> None:
        try:
            with Connection(
                self._bootstrap, client_id=self.name, timeout_s=TIMEOUT_S
            ) as connection:
                self._connection = connection
                while not self._stop.is_set() and self.refusal is None:
                    if self._play_round(connection):
                        self._beat(connection)
        except (OSError, ValueError):
            # A closed socket is how the thread is told to end; anything else is a finding.
            if not self._stop.is_set():
                raise

    def _play_round(self, connection: Connection) -> bool:
        """Join and sync once; whether an assignment came."""
        self._must_rejoin.clear()
        if not self._holds:
            self._own(frozenset())
        joined = connection.ask(self._joining(), JoinGroupResponse)
        if joined.member_id:
            self.member_id = joined.member_id
        if joined.error_code is not ErrorCode.none:
            self._refused(joined.error_code)
            return False
        self.generation = joined.generation_id
        seen = Round(
            generation=joined.generation_id,
            protocol=joined.protocol_name or "",
            is_leader=joined.leader == joined.member_id,
            subscriptions={one.member_id: one.metadata for one in joined.members},
        )
        if seen.is_leader and self.plan is None:
            self._add(seen)
            self._stop.set()
            self._say_goodbye()
            return False
        answers = self.plan(seen) if seen.is_leader and self.plan is not None else {}
        synced = connection.ask(self._syncing(seen, answers), SyncGroupResponse)
        if synced.error_code is not ErrorCode.none:
            self._refused(synced.error_code)
            return False
        given = decode_assignment(synced.assignment).value
        partitions = given.partitions if given else {}
        owned = frozenset((topic, number) for topic in partitions for number in partitions[topic])
        if self.owned - owned:
            self._stop.wait(self._lets_go_s)
            if self._is_cooperative:
                self._must_rejoin.set()
        self._own(owned)
        self._add(
            Round(
                generation=seen.generation,
                protocol=seen.protocol,
                is_leader=seen.is_leader,
                subscriptions=seen.subscriptions,
                assignment=synced.assignment,
            )
        )
        return True

    def _beat(self, connection: Connection) -> None:
        """Show life until the next round."""
        generation = i32(self.rounds[-1].generation)
        while not self._must_rejoin.is_set() and not self._stop.wait(self._heartbeat_s):
            request = HeartbeatRequest(
                group_id=self._group,
                generation_id=generation,
                member_id=self.member_id,
                group_instance_id=self._instance,
            )
            code = connection.ask(request, HeartbeatResponse).error_code
            if code is not ErrorCode.none:
                self._refused(code)
                return

    def _refused(self, code: ErrorCode) -> None:
        """Take an error as a reason to join again, or to give up."""
        if code in FORGOTTEN:
            self.member_id = ""
            self._own(frozenset())
        elif code not in JOIN_AGAIN:
            self.refusal = code
        if code not in (ErrorCode.rebalance_in_progress, ErrorCode.member_id_required):
            time.sleep(BACKOFF_S)

    def _joining(self) -> JoinGroupRequest:
        blobs = self.blobs(self) if callable(self.blobs) else self.blobs
        return JoinGroupRequest(
            group_id=self._group,
            session_timeout=_milliseconds(self._session_timeout_ms),
            rebalance_timeout=_milliseconds(self._rebalance_timeout_ms),
            member_id=self.member_id,
            group_instance_id=self._instance,
            protocol_type=PROTOCOL_TYPE,
            protocols=tuple(
                JoinGroupRequestProtocol(name=name, metadata=blob) for name, blob in blobs.items()
            ),
        )

    def _syncing(self, seen: Round, answers: Mapping[str, bytes]) -> SyncGroupRequest:
        return SyncGroupRequest(
            group_id=self._group,
            generation_id=i32(seen.generation),
            member_id=self.member_id,
            group_instance_id=self._instance,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=seen.protocol,
            assignments=tuple(
                SyncGroupRequestAssignment(member_id=member_id, assignment=blob)
                for member_id, blob in answers.items()
            ),
        )

    def _own(self, partitions: frozenset[Partition]) -> None:
        """Say what changes hands, the losses first."""
        for kind, moved in (
            ("revoked", self.owned - partitions),
            ("assigned", partitions - self.owned),
        ):
            if moved:
                event = Event(t_ms=now_ms(), member=self.name, kind=kind, partitions=moved)
                self._events.append(event)
        self.owned = partitions

    def _add(self, seen: Round) -> None:
        with self._changed:
            self.rounds.append(seen)
            self._changed.notify_all()


def _milliseconds(count: int) -> i32Timedelta:
    return i32Timedelta.parse(timedelta(milliseconds=count))
