"""How a client's bytes differ: how it writes them, and what it does with those of others.

And how long it waits for the answers to JoinGroup and SyncGroup, and what it does without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from assignors.assignor import UserData
from assignors.model import NO_GENERATION
from assignors.simulation.timed.dialects.hand_over import HandOver
from assignors.simulation.timed.dialects.timing import JAVA, Timing
from assignors.simulation.timed.dialects.unanswered import (
    FOR_A_REQUEST,
    JAVA_JOIN,
    Beats,
    Unanswered,
    Wait,
)
from assignors.simulation.timed.dialects.user_data import Knowledge, UserDataWriter, null
from wire import NoteCode, Subscription, TopicPartitions, encode_assignment, encode_subscription
from wire.text import utf16_sorted


class Reaction(StrEnum):
    """What a client does that cannot read what another one wrote."""

    LEAVES_OUT = "leaves out"
    """As a leader: that member gets nothing in its plan, and zero bytes from the coordinator."""
    STUCK = "stuck"
    """It joins again and again."""
    SILENT = "silent"
    """It neither sends SyncGroup nor a heartbeat, until its session is over; then it joins anew."""
    ENDS = "ends"
    """An exception leaves `poll()` and ends the application, which closes its consumer."""
    DIES = "dies"
    """The process dies without a word."""
    NOTHING = "nothing"
    """As a follower: it takes the assignment for an empty one."""
    KEEPS = "keeps"
    """As a follower: it goes on with what it had."""
    LAST_ENTRY = "last entry"
    """As a follower: of a topic that stands twice it takes the last entry alone."""


class Flaw(Enum):
    """What a leader may fail on in a Subscription that can be read."""

    VERSION_0 = "version 0"
    NO_TOPICS = "no topics"
    UNKNOWN_TOPIC = "a topic that does not exist"
    IMPOSSIBLE_CLAIM = "a claim of a partition that does not exist"
    USER_DATA_EMPTY = "UserData of zero bytes"
    USER_DATA_ODD = "UserData that is no sticky layout"


Reactions = Mapping[NoteCode | Flaw, Reaction]


class Racks(StrEnum):
    """How a member writes its rack."""

    AS_GIVEN = "as given"
    EMPTY_FOR_NONE = "empty for none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a client writes a Subscription under one kind of assignor."""

    version: int
    user_data: UserDataWriter = null
    has_generation: bool = True
    """Whether it fills the generation's field in, where its version has one."""
    keeps_order: bool = False
    """Whether topics stand in the order of the subscription, not sorted."""
    lacks_owned: bool = False
    """It stamps version 1 and leaves the owned partitions out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A client and version."""

    forms: Mapping[UserData, Form]
    """For each kind of assignor that the client has."""
    claims_assigned: bool = False
    """It claims its last assignment, even where it has lost it since."""
    racks: Racks = Racks.AS_GIVEN
    assignment_version: int = 0
    assignment_user_data: Callable[[Knowledge], bytes | None] = null
    """What a leader writes for a member, of what that member wrote."""
    appends_new: bool = False
    """As a leader it writes what a member has already first, then the rest: a topic may stand
    twice."""
    leads: Mapping[UserData, Reactions] = field(default_factory=dict)
    """What it fails on as a leader."""
    leads_any: Reactions = field(default_factory=dict)
    """The same under every assignor."""
    assignor_fails: Reaction = Reaction.ENDS
    """What it does as a leader whose assignor throws or returns an error."""
    follows: Reactions = field(default_factory=dict)
    """What it fails on in its assignment."""
    reads_user_data_first: bool = False
    """As a leader under a cooperative assignor it takes the first four bytes of UserData for the
    generation, whatever they are, and drops all claims but those of the highest one."""
    knows_own_topics_alone: bool = False
    """As a leader it gives out the topics that it subscribes to itself, to every member; as a
    follower it ignores those that it does not subscribe to (kafkajs)."""
    hand_over: HandOver = HandOver.ASSIGNOR
    """As a leader under a cooperative assignor it decides so what has to be revoked first."""
    checks_claims: bool = False
    """As a leader it refuses its own cooperative plan if a partition that is claimed goes to
    another member, however old the claim (KAFKA-13406)."""
    checks_other_assignors: bool = False
    """It does so under cooperative assignors that are not called `cooperative-sticky`."""
    join_waits: tuple[Wait, ...] = JAVA_JOIN
    """For the answer to a JoinGroup it waits the longest of these."""
    sync_waits: tuple[Wait, ...] = FOR_A_REQUEST
    """The same of a SyncGroup."""
    join_version: int = 5
    """The newest version of JoinGroup that it sends. A static leader before version 9 that comes
    back does not hear that it leads (KIP-814, KAFKA-13435)."""
    beats: Beats = Beats.MEANWHILE
    """When it sends heartbeats, once it has sent SyncGroup."""
    unanswered: Unanswered = Unanswered.JOINS
    """What it does when the answer to either has not come."""
    retry_ms: int = 100
    """So long after that it asks again."""
    timing: Timing = JAVA
    """When it does what is due."""


def subscription_bytes(dialect: Dialect, kind: UserData, known: Knowledge) -> bytes:
    """Return the Subscription that a client writes. Cost: O(bytes).

    Raises `KeyError` for a kind of assignor that the client does not have.
    """
    form = dialect.forms[kind]
    owned: TopicPartitions = {}
    if kind is UserData.COOPERATIVE:
        owned = known.assigned if dialect.claims_assigned else known.consumed
    rack_id = known.rack_id
    if rack_id is None and dialect.racks is Racks.EMPTY_FOR_NONE:
        rack_id = ""
    topics = known.topics if form.keeps_order else tuple(utf16_sorted(known.topics))
    blob = encode_subscription(
        Subscription(
            version=0 if form.lacks_owned else form.version,
            topics=topics,
            user_data=form.user_data(known),
            owned=owned if form.keeps_order else _sorted(owned),
            generation=known.generation if form.has_generation else NO_GENERATION,
            rack_id=rack_id,
        ),
        keep_order=True,
    )
    return form.version.to_bytes(2, "big") + blob[2:] if form.lacks_owned else blob


def written_assignment(dialect: Dialect, known: Knowledge, partitions: TopicPartitions) -> bytes:
    """Return the Assignment that a leader writes for a member of whom it knows `known`.

    Cost: O(partitions).
    """
    user_data = dialect.assignment_user_data(known)
    version = dialect.assignment_version
    if not dialect.appends_new:
        return encode_assignment(partitions, user_data=user_data, version=version)
    kept, new = {}, {}
    for topic, numbers in partitions.items():
        before = set(known.consumed.get(topic, ()))
        kept[topic] = tuple(number for number in numbers if number in before)
        new[topic] = tuple(number for number in numbers if number not in before)
    parts = [encode_assignment(each, version=version) for each in (kept, new)]
    counts = [int.from_bytes(part[2:6], "big") for part in parts]
    entries = parts[0][6:-4] + parts[1][6:-4]
    length = b"\xff" * 4 if user_data is None else len(user_data).to_bytes(4, "big")
    return parts[0][:2] + sum(counts).to_bytes(4, "big") + entries + length + (user_data or b"")


def _sorted(owned: TopicPartitions) -> TopicPartitions:
    return {topic: tuple(sorted(owned[topic])) for topic in utf16_sorted(owned)}
