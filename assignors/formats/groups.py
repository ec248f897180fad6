"""Groups, as `assign`, `check`, `explain` and `what-if` read them."""

from __future__ import annotations

from assignors.documents.group_keys import ANSWER_KEYS, CLAIM_KEYS, USED_BY, WEIGHTS_FILE_KEYS
from assignors.documents.schemas import (
    ANY,
    COUNT,
    INT32,
    NULL,
    STRING,
    Key,
    Schema,
    array,
    constant,
    known_keys,
    mapping,
    nullable,
    one_of,
    pair,
    record,
)

_BYTES: Schema = array({"type": "integer", "minimum": -128, "maximum": 255})
READ_BYTES: Schema = {
    "anyOf": [
        STRING,
        _BYTES,
        record(
            Key("type", constant("Buffer"), "As Node writes bytes in JSON."),
            Key("data", _BYTES, "The bytes."),
        ),
    ]
}
"""Bytes in a form that `decode` reads, a list of numbers, or Node's Buffer."""
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


def _limit(name: str, other: str) -> Schema:
    """Return the schema of a budget in one unit, and not in the other."""
    alone = Key(other, NULL, "Null.", is_optional=True)
    return known_keys(record(Key(name, COUNT, f"How much: {name}."), alone))


_CAPACITY = Key(
    "capacity",
    nullable({"type": "integer", "minimum": 1}),
    "What it can carry, beside the others; 1 where it is absent.",
    is_optional=True,
)
_ID = Key("id", STRING, "Member id; each occurs once.")
_INSTANCE = Key("instance", nullable(STRING), "`group.instance.id`.", is_optional=True)
IN_BYTES = "Null beside `subscription`, whose bytes have it."
BYTES_MEMBER = known_keys(
    record(
        _ID,
        _INSTANCE,
        _CAPACITY,
        Key(
            "subscription",
            READ_BYTES,
            "The Subscription bytes that it sent, in a form that decode reads.",
        ),
        *(Key(name, NULL, IN_BYTES, is_optional=True) for name in CLAIM_KEYS),
    )
)
_FIELDS_MEMBER = record(
    _ID,
    _INSTANCE,
    _CAPACITY,
    Key("topics", array(STRING), "Topics it subscribes to."),
    Key("owned", nullable(READ_PARTITIONS), "Partitions it says it owns.", is_optional=True),
    Key(
        "generation",
        nullable(INT32),
        "The generation in which it owned them; -1 or null for none.",
        is_optional=True,
    ),
    Key("rack_id", nullable(STRING), "`client.rack`.", is_optional=True),
    Key(
        "user_data",
        nullable(READ_BYTES),
        "UserData, in a form that decode reads.",
        is_optional=True,
    ),
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
    Key(
        "weights",
        nullable(mapping(array(COUNT))),
        "Topic -> what each partition weighs: whole numbers of anything, as records a second.",
        is_optional=True,
    ),
    Key(
        "move_costs",
        nullable(mapping(array(COUNT))),
        "Topic -> what moving each partition costs; 1 where it is absent.",
        is_optional=True,
    ),
    Key(
        "budget",
        nullable({"anyOf": [_limit("cost", "moves"), _limit("moves", "cost")]}),
        "`weighted/*`: how much a round may move: the sum of the `move_costs`, or the number of "
        "partitions.",
        is_optional=True,
    ),
    Key(
        "tolerance",
        nullable({"type": "number", "minimum": 0}),
        "`weighted/*`: how far above its right use a member may stay, 0.05 where it is absent.",
        is_optional=True,
    ),
    Key(
        "trigger",
        nullable({"type": "number", "minimum": 0}),
        "`weighted/*`: how far above it a member has to be before anything moves, 0.2 where it is "
        "absent.",
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
WEIGHTS = known_keys(
    record(
        *(key for key in GROUP_KEYS if key.name in WEIGHTS_FILE_KEYS),
        Key(
            "capacities",
            nullable(mapping({"type": "integer", "minimum": 1})),
            "Member id -> what it can carry, beside the others; 1 where it is absent.",
            is_optional=True,
        ),
    )
)
LOG_ENDS = known_keys(
    record(
        Key("at_ms", COUNT, "When, in epoch milliseconds."),
        Key(
            "log_ends",
            mapping(array(nullable(COUNT))),
            "Topic -> the end of each partition: the offset of its next record; null: not known.",
        ),
    )
)
PARTITION_COUNTS = mapping(COUNT)
