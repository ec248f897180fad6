"""Groups and assignments: the lines of `assign`, `check`, `explain`, and what they answer."""

from __future__ import annotations

from dataclasses import replace

from assignors.checks.explain import Clause, Verdict
from assignors.checks.violation import Rule
from assignors.documents.described.groups import AssumptionCode
from assignors.documents.group_keys import ANSWER_KEYS, CLAIM_KEYS, USED_BY
from assignors.formats.lines import answer_or_error
from assignors.formats.types import (
    ANY,
    BOOLEAN,
    COUNT,
    INT32,
    INTEGER,
    NULL,
    NUMBER,
    PARTITIONS_BY_TOPIC,
    STRING,
    Key,
    Schema,
    array,
    known_keys,
    mapping,
    nullable,
    one_of,
    pair,
    record,
)
from assignors.model import MemberNoteCode
from wire import NoteCode

# What is read

READ_HEX: Schema = {"type": "string", "pattern": "^([0-9A-Fa-f]{2})*$"}
READ_PARTITIONS: Schema = {
    "anyOf": [array(pair(STRING, array(INT32))), mapping(array(INT32))],
}
"""`[["t", [0, 1]], ...]` or `{"t": [0, 1]}`."""

TOPIC: Schema = {
    "anyOf": [
        COUNT,
        known_keys(
            record(
                Key("partitions", COUNT, "How many."),
                Key(
                    "racks",
                    nullable(array(array(nullable(STRING)))),
                    "Racks of the replicas of each partition.",
                    is_optional=True,
                ),
                Key(
                    "id",
                    nullable({"type": "string", "pattern": "^[A-Za-z0-9_-]{21}[AQgw]$"}),
                    "Topic id, 22 characters of base64url.",
                    is_optional=True,
                ),
            )
        ),
    ]
}

_ID = Key("id", STRING, "Member id; each occurs once.")
_INSTANCE = Key("instance", nullable(STRING), "`group.instance.id`.", is_optional=True)
BYTES_MEMBER = known_keys(
    record(
        _ID,
        _INSTANCE,
        Key("subscription", READ_HEX, "The Subscription bytes that the member sent."),
        *(Key(name, NULL, is_optional=True) for name in CLAIM_KEYS),
    )
)
_FIELDS_MEMBER = record(
    _ID,
    _INSTANCE,
    Key("topics", array(STRING), "Topics it subscribes to."),
    Key("owned", nullable(READ_PARTITIONS), "Partitions it says it owns.", is_optional=True),
    Key(
        "generation",
        nullable(INT32),
        "The generation in which it owned them; -1 or null for none.",
        is_optional=True,
    ),
    Key("rack", nullable(STRING), "`client.rack`.", is_optional=True),
    Key("user_data", nullable(READ_HEX), "UserData bytes.", is_optional=True),
    Key("subscription", {"type": "null"}, "Null.", is_optional=True),
)
FIELDS_MEMBER = known_keys(_FIELDS_MEMBER)
GROUP_KEYS = (
    Key("topics", mapping(TOPIC), "The cluster's topics: name -> partition count, or an object."),
    Key("members", array({"anyOf": [FIELDS_MEMBER, BYTES_MEMBER]}), "Members, by fields or bytes."),
    Key(
        "generation",
        nullable(INT32),
        "The last generation that the group completed.",
        is_optional=True,
    ),
    Key(
        "state",
        nullable(
            known_keys(
                record(
                    Key("max_generation", nullable(INT32), "As it was answered.", is_optional=True)
                )
            )
        ),
        "What `java/sticky` and `java/cooperative-sticky` keep between rounds.",
        is_optional=True,
    ),
)
GROUP_ID = Key(
    "id",
    ANY,
    "The `id` of the document; the name of a group that a tool described.",
    is_optional=True,
)


def read_group(*own: Key) -> Schema:
    """Return the schema of a group with the keys of one command.

    The keys of other commands, and those of an answer, may stand there too.
    """
    names = {key.name for key in own}
    others = [
        Key(name, ANY, f"For `{command}`, no effect here.", is_optional=True)
        for name, command in USED_BY.items()
        if name not in names
    ]
    answered = [
        Key(name, ANY, "Of an answer of `assign`, no effect.", is_optional=True)
        for name in sorted(ANSWER_KEYS)
    ]
    return known_keys(record(*GROUP_KEYS, GROUP_ID, *own, *others, *answered))


GROUP = read_group()
CHECK_REQUEST = read_group(
    Key("assignment", mapping(READ_PARTITIONS), "Member id -> partitions by topic."),
    Key(
        "withheld",
        nullable(READ_PARTITIONS),
        "Partitions that wait for the next round.",
        is_optional=True,
    ),
    Key(
        "protocol",
        nullable(one_of(("eager", "cooperative"))),
        "Which rules of the hand-over hold; eager where it is absent.",
        is_optional=True,
    ),
)
PARTITION_COUNTS = mapping(COUNT)

# What is written

FIGURES = mapping({"type": ["number", "boolean", "null"]})
STATS: Schema = {
    **record(
        Key("follow_up", BOOLEAN, "The leader must start another round itself."),
        Key("member_count", COUNT, "Members.", is_optional=True),
        Key("partition_count", COUNT, "Partitions of subscribed topics.", is_optional=True),
        Key("load_max", COUNT, "Partitions of the member with the most.", is_optional=True),
        Key("load_min", COUNT, "Partitions of the member with the fewest.", is_optional=True),
        Key(
            "load_square_sum",
            COUNT,
            "Sum of squared loads: smaller is more even.",
            is_optional=True,
        ),
        Key("moved", COUNT, "Partitions that leave the member that owned them.", is_optional=True),
        Key("kept", COUNT, "Partitions that stay.", is_optional=True),
        Key("withheld", COUNT, "Partitions that wait for the next round.", is_optional=True),
        Key("unassigned", COUNT, "Partitions that nobody gets now.", is_optional=True),
        Key(
            "topic_spread_max",
            COUNT,
            "The widest gap between two subscribers of one topic.",
            is_optional=True,
        ),
        Key(
            "rack_mismatches",
            COUNT,
            "Partitions without a replica in their member's rack.",
            is_optional=True,
        ),
        Key("limit_reached", BOOLEAN, "Whether `--limit` ended the search.", is_optional=True),
        Key(
            "balance_gap_max",
            NUMBER,
            "The most that the sum of squared loads can be above the best.",
            is_optional=True,
        ),
    ),
    "additionalProperties": {"type": ["number", "boolean", "string", "null"]},
}
GAPS = record(
    Key(
        "balance_gap",
        nullable(COUNT),
        "Sum of squared loads above the best possible; null while partitions wait.",
    ),
    Key("load_max", COUNT, "Partitions of the member with the most."),
    Key("load_max_optimum", COUNT, "The same under the best possible balance."),
    Key("load_min", COUNT, "Partitions of the member with the fewest."),
    Key("moved", COUNT, "Partitions that leave the member that owned them."),
    Key("moved_minimum", COUNT, "The fewest that a perfectly balanced assignment moves."),
    Key("unassigned", COUNT, "Partitions that somebody could get, and nobody does."),
    Key("topic_spread_max", COUNT, "The widest gap between two subscribers of one topic."),
    Key("rack_mismatches", COUNT, "Partitions without a replica in their member's rack."),
    Key("follow_up", BOOLEAN, "The leader must start another round itself.", is_optional=True),
)

MEMBER_NOTE = record(
    Key("member", nullable(STRING), "Of which member; null: of the group."),
    Key("code", one_of([*NoteCode, *MemberNoteCode, *AssumptionCode]), "What is odd, as a code."),
    Key("text", STRING, "The same, for people."),
    Key("offset", COUNT, "The byte where it is, of a note on bytes.", is_optional=True),
)

NOTES = Key("notes", array(MEMBER_NOTE), "What was odd in the group, or was assumed.")
ASSUMPTIONS = replace(
    NOTES, text="What was assumed about a described group, or has no effect.", is_optional=True
)
BESIDE = (GROUP_ID, ASSUMPTIONS)
"""Keys of the answer about a group that a tool described or that has an `id`, in any command."""

ASSIGNOR = (
    Key("assignor", STRING, "Full name of the assignor."),
    Key("protocol", one_of(("eager", "cooperative")), "Which rules of the hand-over it follows."),
)
WITH_GROUP = tuple(
    replace(key, text=f"`--with-group`: {key.text[0].lower()}{key.text[1:]}", is_optional=True)
    for key in GROUP_KEYS
    if key.name != "state"
)

ASSIGNED = answer_or_error(
    ("assignment", "withheld", "stats"),
    *ASSIGNOR,
    Key("assignment", mapping(PARTITIONS_BY_TOPIC), "Member id -> topic -> partition numbers."),
    Key("withheld", PARTITIONS_BY_TOPIC, "Partitions that wait for the next round."),
    NOTES,
    Key("stats", STATS, "Figures of the assignment; own assignors may add more."),
    Key(
        "lists",
        mapping(array(pair(STRING, INTEGER))),
        "`java/*`, `server/*`: each member's partitions in Java's order.",
        is_optional=True,
    ),
    Key(
        "order",
        array(STRING),
        "`java/*`, `server/*`: the members in the order of Java's map.",
        is_optional=True,
    ),
    Key(
        "state",
        record(Key("max_generation", INTEGER, "The highest generation it saw.")),
        "`java/sticky`, `java/cooperative-sticky`: give it back with the next group.",
        is_optional=True,
    ),
    GROUP_ID,
    *WITH_GROUP,
    beside=(*ASSIGNOR, NOTES, GROUP_ID),
    blank_optional=("lists", "order"),
)

COMPARED = answer_or_error(
    ("owned", "compared", "different", "partitions"),
    Key("owned", mapping(PARTITIONS_BY_TOPIC), "Member id -> what it says it owns."),
    Key(
        "compared",
        array(
            record(
                Key("name", STRING, "Full name of the assignor."),
                Key(
                    "assignment",
                    nullable(mapping(PARTITIONS_BY_TOPIC)),
                    "Member id -> topic -> partition numbers.",
                ),
                Key("withheld", nullable(PARTITIONS_BY_TOPIC), "Partitions that wait."),
                Key("stats", nullable(FIGURES), "Its figures, as in `assign`."),
                Key("gaps", nullable(FIGURES), "How far it is from the best, as in `check`."),
                Key("violations", nullable(COUNT), "Rules that its answer breaks."),
                Key("failure", nullable(STRING), "Why it has no answer; else null."),
            )
        ),
        "An entry for each assignor.",
    ),
    Key("different", COUNT, "Partitions that the assignors place differently."),
    Key(
        "partitions",
        array(
            record(
                Key("topic", STRING, "Of the partition."),
                Key("partition", INTEGER, "Its number."),
                Key(
                    "answers",
                    mapping(
                        record(
                            Key("member", nullable(STRING), "Who gets it; null: nobody."),
                            Key("verdict", one_of(Verdict), "What happens to it."),
                            Key("why", STRING, "Why, for people."),
                        )
                    ),
                    "Full name of an assignor -> what it does with the partition.",
                ),
            )
        ),
        "Some of them, each with the reasons.",
    ),
    *BESIDE,
    beside=BESIDE,
)

CHECKED = answer_or_error(
    ("violations", "gaps"),
    Key(
        "violations",
        array(
            record(
                Key("rule", one_of(Rule), "Which rule, as a code."),
                Key("topic", nullable(STRING), "Of the partition; null: it is about a member."),
                Key("partition", nullable(INTEGER), "Its number."),
                Key("members", array(STRING), "The members that show it."),
            )
        ),
        "Every rule that the assignment breaks, with its place.",
    ),
    Key("gaps", GAPS, "How far the assignment is from the best."),
    *BESIDE,
    beside=BESIDE,
)

EXPLAIN_KEYS = (
    Key("topic", STRING, "Of the partition."),
    Key("partition", INTEGER, "Its number."),
    Key("verdict", one_of(Verdict), "What happens to it, as a code."),
    Key("clause", one_of(Clause), "Which part of the hand-over rule decided, as a code."),
    Key("text", STRING, "The same in a sentence."),
    Key("favoured", nullable(STRING), "The member that stickiness favours."),
    Key("target", nullable(STRING), "Who gets it now, or in the next round."),
    Key("given", nullable(STRING), "Who gets it in this round."),
    Key("last_generation", INTEGER, "The last generation that the group completed; -1: none."),
    Key(
        "claims",
        array(
            record(
                Key("member", STRING, "Who claims the partition."),
                Key("generation", INTEGER, "With which generation; -1: none."),
                Key("believed", BOOLEAN, "Whether the claim counts."),
                Key("reason", STRING, "Why."),
            )
        ),
        "Every claim to the partition.",
    ),
)
EXPLAINED = answer_or_error(
    [key.name for key in EXPLAIN_KEYS], *EXPLAIN_KEYS, *BESIDE, beside=BESIDE
)

ASSIGNOR_KEYS = (
    Key("name", STRING, "Full name, FAMILY/NAME."),
    Key("short", nullable(STRING), "Name without a family; null where it has none."),
    Key("protocols", array(one_of(("eager", "cooperative"))), "Rebalance protocols it supports."),
    Key("user_data", STRING, "What it reads claims from: none, sticky, cooperative."),
)
