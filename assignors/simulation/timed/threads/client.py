"""The threads of one client: what waits for which of them, and when its application polls.

The application polls every `poll_ms`, from a moment of its own on; a callback and a long poll put
that off. While it consumes nothing it has no records to process, and so is always inside `poll`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from assignors.simulation.timed.processing import Processing
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Cancel,
    Command,
    Disturbance,
    Disturbed,
    Effect,
    Failed,
    Fired,
    MemberEvent,
    Schedule,
    Send,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka.classic_member import ClassicMember
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.offsets_client import OffsetsClient
from assignors.simulation.timed.random_streams import stream
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.sides import MixedMember, Sides
from assignors.simulation.timed.threads.duties import (
    BY_NAME,
    POLLS,
    Duty,
    Model,
    Thread,
    duty_of,
    order_in_poll,
    who_does,
)

TURN: TimerKey = ("turn",)
"""The timer of the next poll, where something waits for it."""
LIMIT: TimerKey = ("commit-limit",)
"""The timer after which a callback waits for its commit no longer."""
LIMIT_MS = 60_000
"""`default.api.timeout.ms`."""
HEARTBEAT: TimerKey = ("heartbeat",)
WAKES_US = 20 * MILLISECOND
"""How late a heartbeat thread notices by itself that one is due; a call of `poll` wakes it. So an
application that polls as often as heartbeats are due, or a multiple of that, falls in step: news
come just after a poll, and wait for the next one (seen with Java's client of 4.4.0)."""
POLL: TimerKey = ("poll",)
COMPUTED: TimerKey = ("computed",)
REVOKED: TimerKey = ("revoked",)
TAKE: TimerKey = ("take",)

AnyClient = ClassicMember | ConsumerClient
Step = Callable[[MemberEvent], list[Effect]]


@dataclass(slots=True, kw_only=True)
class ClientThreads:
    """The threads of one client."""

    model: Model
    member: ClassicMember | ConsumerClient | MixedMember
    offsets: Callable[[], OffsetsClient | None]
    """What it knows of offsets; `None` where there are no records."""
    poll_us: int
    """From one call of `poll` to the next."""
    seed: int | None = None
    """Of the run, from which the times of polls are drawn; `None`: they begin with the process."""
    now_us: int = 0
    """The time of the event that is handled, in microseconds since the run began."""
    polled_us: int = 0
    """When the application polled; further calls follow every `poll_us`."""
    is_in_poll: bool = False
    """What happens now happens in a call of `poll`."""
    is_stalled: bool = False
    """Its own thread stands still."""
    is_computing: bool = False
    """It leads, and computes."""
    for_poll: list[MemberEvent] = field(default_factory=list)
    """What waits for the application's thread, oldest first."""
    for_other: list[MemberEvent] = field(default_factory=list)
    """What waits for the client's own thread, oldest first."""
    unsent: list[Send] = field(default_factory=list)
    """Requests that wait for it."""
    is_waking: bool = False
    """A heartbeat is due, and its thread has not noticed yet."""
    ending: Fired | None = None
    """The end of a callback that waits for its commit."""

    @property
    def held(self) -> frozenset[int]:
        """Numbers of requests whose answer or whose sending waits for a thread."""
        events = (*self.for_poll, *self.for_other, *self.unsent)
        return frozenset(
            each.number for each in events if isinstance(each, Answered | Failed | Send)
        )

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Give requests other numbers, in what waits for a thread."""
        for events in (self.for_poll, self.for_other):
            events[:] = [
                each._replace(number=numbers[each.number])
                if isinstance(each, Answered | Failed)
                else each
                for each in events
            ]
        self.unsent = [each._replace(number=numbers[each.number]) for each in self.unsent]

    @property
    def has_work(self) -> bool:
        """Whether something waits for a thread, or a thread stands still."""
        waiting = self.for_poll or self.for_other or self.unsent or self.ending
        return self.is_stalled or bool(waiting)

    @property
    def client(self) -> AnyClient:
        """The client of the protocol that it speaks."""
        return self.member.client if isinstance(self.member, MixedMember) else self.member

    @property
    def reconciles_in_poll(self) -> bool:
        """Whether a rebalance goes on in polls alone."""
        return Duty.RECONCILE in self.model.polling

    @property
    def is_waiting(self) -> bool:
        """Whether the application waits for the answer to a commit."""
        offsets = self.offsets()
        if offsets is None:
            return False
        is_in_callback = self.client.application.is_in_callback and bool(offsets.in_callback)
        return offsets.blocked_on is not None or is_in_callback

    @property
    def is_answered(self) -> bool:
        """Whether a callback has waited for its commit, and can end."""
        return self.ending is not None and not self.must_wait_for_commit(self.ending)

    @property
    def is_busy(self) -> bool:
        """Whether the application's thread does something else than to poll.

        A leader computes in the thread that goes on with a rebalance.
        """
        computes = self.is_computing and self.reconciles_in_poll
        return self.client.application.is_busy or self.is_waiting or computes

    @property
    def is_other_free(self) -> bool:
        """Whether the client's own thread can do something.

        A leader computes in it, or under the lock that it needs.
        """
        return not (self.is_stalled or self.is_computing)

    @property
    def polls_all_the_time(self) -> bool:
        """Whether the application has no records that could keep it from `poll`, or takes none."""
        return self.poll_us == 0 or not self.client.owned

    def start(self) -> None:
        """Begin a new process, whose application polls at times of its own."""
        self.polled_us = self.now_us
        if self.seed is not None and self.poll_us:
            dice = stream(self.seed, self.client.config.name, f"polls {self.now_us}")
            self.polled_us -= dice.below(self.poll_us)
        self.is_in_poll = self.is_computing = self.is_waking = False
        self.forget()

    def forget(self) -> None:
        """Drop what waits, as its process is over."""
        self.for_poll, self.for_other, self.unsent, self.ending = [], [], [], None

    def until_poll_us(self) -> int:
        """Return how long it is until the next call of `poll`; 0 within one."""
        client = self.client
        if self.polls_all_the_time:
            return 0
        if self.reconciles_in_poll:
            if self.is_in_poll:
                return 0
        elif isinstance(client, ClassicMember) and _keeps_all(client):
            return 0  # the background thread joins again, no callback has to run before
        since = self.now_us - self.polled_us
        return max(-(-since // self.poll_us), 1) * self.poll_us - since

    def waits(self, event: MemberEvent) -> bool:
        """Let an event wait for its thread; return whether it has to."""
        duty = duty_of(event)
        if duty is None:
            return False
        thread = who_does(self.model, duty, is_other_free=self.is_other_free)
        if thread is Thread.POLLING:
            if self.is_waiting and duty in self.model.waiting:
                return False
            if not self.is_busy and (self.is_in_poll or self.polls_all_the_time):
                return False
            self.for_poll.append(event)
        elif self.is_other_free:
            return False
        else:
            self.for_other.append(event)
        return True

    def notices_late(self, event: MemberEvent) -> list[Effect]:
        """Return the timer by which a heartbeat thread notices that one is due, if it has not."""
        is_thread = Duty.HEARTBEAT in self.model.other and self.reconciles_in_poll
        is_new = _is(event, HEARTBEAT) and not self.is_waking
        if not is_thread or not is_new or self.polls_all_the_time or not self.is_other_free:
            self.is_waking = False
            return []
        self.is_waking = True
        wait = WAKES_US if self.is_busy else min(self.until_poll_us(), WAKES_US)
        return [Schedule(HEARTBEAT, wait)]

    def arranged(self, event: MemberEvent, effects: list[Effect]) -> list[Effect]:
        """Return the effects of a step as the threads bring them about; drop what they end."""
        out: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Cancel | Schedule):
                self._replaced(effect.key)
            if isinstance(effect, Send) and self.is_stalled and Duty.COMMIT in self.model.other:
                self.unsent.append(effect)
                continue
            if isinstance(effect, Schedule) and effect.key == COMPUTED:
                self.is_computing = effect.after_us > 0
            out.append(self._at_its_poll(event, effect))
        return out

    def _at_its_poll(self, event: MemberEvent, effect: Effect) -> Effect:
        """Return an effect, a callback of KIP-848 put to the poll in which it runs.

        Where a rebalance goes on in polls, one poll runs both callbacks. A background thread waits
        for a poll before it asks for that of revoked partitions (`maybeReconcile(canCommit)`): it
        runs in the next one, and that of assigned partitions in the one after.
        """
        if not isinstance(effect, Schedule) or not isinstance(self.client, ConsumerClient):
            return effect
        if effect.key == TAKE and _is(event, REVOKED):
            return effect._replace(after_us=0 if self.reconciles_in_poll else self.poll_us)
        if effect.key == POLL and not self.reconciles_in_poll:
            return effect._replace(after_us=effect.after_us + self.poll_us)
        return effect

    def must_wait_for_commit(self, event: MemberEvent) -> bool:
        """Return whether a callback cannot end yet: its commit has no answer."""
        offsets = self.offsets()
        return _is(event, REVOKED) and offsets is not None and bool(offsets.in_callback)

    def _replaced(self, key: TimerKey) -> None:
        """Drop what waits of a timer that is stopped or set anew."""
        self.is_waking &= key != HEARTBEAT
        for held in (self.for_poll, self.for_other):
            held[:] = [each for each in held if not _is(each, key)]
        if self.ending is not None and self.ending.key == key:
            self.ending = None


def _keeps_all(client: ClassicMember) -> bool:
    """Return whether a member can join again without giving up anything first."""
    return client.is_cooperative and all(topic in client.topics for topic in client.owned)


def _is(event: MemberEvent, key: TimerKey) -> bool:
    return isinstance(event, Fired) and event.key == key


def _limit_effects() -> list[Effect]:
    """Return the timer after which a callback waits for its commit no longer."""
    return [Schedule(LIMIT, LIMIT_MS * MILLISECOND)]


# The threads of a run, and their step


def threads_of(
    scenario: Scenario, sides: Sides, processing: Processing | None
) -> dict[int, ClientThreads]:
    """Return the threads of each member that has a `client_model`, by its number.

    Cost: O(members). When a heartbeat leaves depends on the threads, so none is computed then.
    """
    threads: dict[int, ClientThreads] = {}
    for number, config in enumerate(scenario.members):
        member = sides.members[number]
        if config.client_model is None:
            continue
        if not isinstance(member, ClassicMember | ConsumerClient | MixedMember):
            continue  # it is in no group, or in one of the push protocol
        threads[number] = found = ClientThreads(
            model=BY_NAME[config.client_model],
            member=member,
            offsets=partial(_offsets, processing, number),
            poll_us=config.by_its_clock(config.poll_ms),
            seed=scenario.seed,
        )
        for client in _clients(member):
            client.draw = partial(_drawn, found, client.draw)
    return threads


def _offsets(processing: Processing | None, number: int) -> OffsetsClient | None:
    return None if processing is None else processing.clients[number]


def _clients(member: ClassicMember | ConsumerClient | MixedMember) -> tuple[AnyClient, ...]:
    return (member.classic, member.consumer) if isinstance(member, MixedMember) else (member,)


def _drawn(own: ClientThreads, draw: Callable[[str, int], int], purpose: str, limit: int) -> int:
    """Return a member's times: polls come when its application polls, others are drawn."""
    return own.until_poll_us() if purpose == "poll" else draw(purpose, limit)


def step_threads(
    own: ClientThreads, step: Step, event: MemberEvent, *, now_us: int
) -> list[Effect]:
    """Handle an event in the threads of a client; `own` changes in place.

    `step` is the step of its member. Cost: that of the events that are handled.
    """
    own.now_us = now_us
    if event is Command.START and not own.client.is_up:
        own.start()
    was_busy, was_free = own.is_busy, own.is_other_free
    out: list[Effect] = []
    match event:
        case Disturbed(Disturbance.STALLED_THREAD, by_us):
            own.is_stalled = by_us > 0
        case Fired(key) if key == TURN:
            own.polled_us = own.now_us
            out += _polled(own, step)
        case Fired(key) if key == LIMIT:
            out += _callback_ended(own, step)
        case _ if late := own.notices_late(event):
            out += late
        case _ if not own.waits(event):
            out += _one(own, step, event)
    out += _callback_ended(own, step) if own.is_answered else []
    if own.is_other_free and not was_free:
        out += _resumed(own, step)
        out += _callback_ended(own, step) if own.is_answered else []
    if was_busy and not own.is_busy:
        own.polled_us = own.now_us
        out += _polled(own, step)
    if not own.client.is_up:
        own.forget()
    return out + _turns(own)


def _one(own: ClientThreads, step: Step, event: MemberEvent) -> list[Effect]:
    """Handle one event, unless it is the end of a callback that waits for its commit."""
    if own.must_wait_for_commit(event):
        assert isinstance(event, Fired)
        own.ending = event
        return _limit_effects()
    if isinstance(event, Fired) and event.key == COMPUTED:
        own.is_computing = False
    was_in_poll = own.is_in_poll
    own.is_in_poll |= isinstance(event, Fired) and event.key[0] in POLLS
    out = own.arranged(event, step(event))
    own.is_in_poll = was_in_poll
    return out


def _polled(own: ClientThreads, step: Step) -> list[Effect]:
    """Handle in a call of `poll` what waits for one, in the order of the model's duties."""
    out: list[Effect] = []
    own.is_in_poll = True
    waiting = sorted(own.for_poll, key=partial(order_in_poll, own.model))
    own.for_poll = waiting
    while own.for_poll and not own.is_busy:
        out += _one(own, step, own.for_poll.pop(0))
    own.is_in_poll = False
    return out


def _resumed(own: ClientThreads, step: Step) -> list[Effect]:
    """Let the client's own thread go on: it sends what waits, then it handles what has come."""
    out: list[Effect] = [*own.unsent]
    own.unsent = []
    while own.for_other and own.is_other_free:
        out += _one(own, step, own.for_other.pop(0))
    return out


def _callback_ended(own: ClientThreads, step: Step) -> list[Effect]:
    """End a callback: its commit is answered, or has waited for as long as it may."""
    event, own.ending = own.ending, None
    if event is None:
        return []
    own.is_in_poll = True
    out = own.arranged(event, step(event))
    own.is_in_poll = False
    return [Cancel(LIMIT), *out]


def _turns(own: ClientThreads) -> list[Effect]:
    """Return the timer of the next poll, where something waits for it."""
    if not own.for_poll or own.is_busy:
        return [Cancel(TURN)]
    return [Schedule(TURN, own.until_poll_us())]
