"""Compare decoded messages, in the fields that vectors use.

A Subscription has `topics`, `ud` (UserData, in hex or null), `owned`, `gen` and `rack`; an
Assignment `owned` and `ud`; a member's data as a leader reads it `owned` and `gen`. The order of
topics and partitions does not count, nor how an absent value is written: a negative generation or
null, an empty rack or null.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from assignors.conformance.groups import pairs_of
from assignors.conformance.vectors import Vector
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    as_int32,
    as_object,
    as_string,
    as_strings,
    bytes_from_hex,
    described,
    optional_bytes,
    optional_string,
    required,
)
from assignors.model import NO_GENERATION
from wire import (
    MemberAssignment,
    Mode,
    StickyUserData,
    Subscription,
    TopicPartitions,
    decode_assignment,
    decode_subscription,
)
from wire.text import utf16_key

JAVA_PARTITION = re.compile(r"(.*?)-(-?\d+)", flags=re.DOTALL)

Pairs = tuple[tuple[str, int], ...]
Field = str | int | None | Pairs | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a message: field name -> what is compared."""

    fields: dict[str, Field]

    def differences(self, other: Value) -> list[str]:
        """Return a sentence for each field in which `other` differs from this one."""
        return [
            f"{name}: expected {described(_plain(expected))}, "
            f"got {described(_plain(other.fields[name]))}"
            for name, expected in self.fields.items()
            if name in other.fields and other.fields[name] != expected
        ]


def value_of(algorithm: str, document: object) -> Value:
    """Return the value in an answer to a decoding request; `DocumentError` if it is malformed.

    Fields in its `unseen` are left out: the program has no such field, so they are not compared.
    One at least must be seen.

    >>> value = value_of("codec-asg", {"owned": [["t", 1], ["t", 0]], "ud": None})
    >>> value.fields
    {'owned': (('t', 0), ('t', 1)), 'ud': None}
    """
    fields = as_object(document, ())
    unseen = as_strings(fields.get("unseen") or [], ("unseen",))
    seen = [name for name in FIELDS[algorithm] if name not in unseen]
    if len(seen) + len(unseen) != len(FIELDS[algorithm]) or not seen:
        words = f"some of {', '.join(FIELDS[algorithm])}, each once, and not all of them"
        raise DocumentError(ErrorCode.UNKNOWN, words, ("unseen",))
    return Value({name: READERS[name](dict(fields), name) for name in seen})


def expected_value(vector: Vector) -> Value:
    """Return the reference's value: the vector's `value`, or derived from its answer."""
    value = vector.value
    if value is None:
        value = reference_value(vector.algorithm, vector.expected)
    return value_of(vector.algorithm, value)


def reference_value(algorithm: str, out: Document) -> Document:
    """Return what Kafka's classes read, from their answer in a vector.

    Messages are given as their re-encoding in version 3, which has every field; a leader's view
    of a member as Java prints it: `[t-0, t-1]` and `Optional[3]`.

    >>> reference_value("codec-mdcoop", {"partitions": "[t-0, u-v-1]", "generation": "Optional[3]"})
    {'owned': [['t', 0], ['u-v', 1]], 'gen': 3}
    """
    if algorithm in {"codec-sub", "codec-asg"}:
        blob = bytes_from_hex(as_string(required(out, "v3", ()), ("v3",)).encode())
        if algorithm == "codec-sub":
            return subscription_value(decode_subscription(blob, mode=Mode.STRICT).require())
        return assignment_value(decode_assignment(blob, mode=Mode.STRICT).require())
    printed = as_string(required(out, "partitions", ()), ("partitions",))[1:-1]
    generation = as_string(required(out, "generation", ()), ("generation",)).removeprefix(
        "Optional"
    )
    return {
        "owned": [_java_partition(words) for words in printed.split(", ") if words],
        "gen": None if generation == ".empty" else int(generation[1:-1]),
    }


def subscription_value(read: Subscription) -> Document:
    """Return a Subscription in the fields of vectors."""
    return {
        "topics": list(read.topics),
        "ud": _hex(read.user_data),
        "owned": pairs_document(read.owned),
        "gen": read.generation,
        "rack": read.rack_id,
    }


def assignment_value(read: MemberAssignment) -> Document:
    """Return an Assignment in the fields of vectors."""
    return {"owned": pairs_document(read.partitions), "ud": _hex(read.user_data)}


def member_value(read: StickyUserData) -> Document:
    """Return what a leader knows of a member in the fields of vectors."""
    return {"owned": pairs_document(read.owned), "gen": read.generation}


def pairs_document(partitions: TopicPartitions) -> list[list[object]]:
    """Return [[topic, partition], ...].

    >>> pairs_document({"t": (0, 2)})
    [['t', 0], ['t', 2]]
    """
    return [[topic, number] for topic, numbers in partitions.items() for number in numbers]


def sorted_pairs(pairs: list[tuple[str, int]]) -> Pairs:
    """Return pairs in Java's order of topics, then by number."""
    return tuple(sorted(pairs, key=lambda pair: (utf16_key(pair[0]), pair[1])))


def _java_partition(words: str) -> list[object]:
    match = JAVA_PARTITION.fullmatch(words)
    assert match, f"{words!r} is no partition as Java prints it"
    return [match[1], int(match[2])]


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def _plain(value: object) -> object:
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value


def _topics(fields: Document, name: str) -> tuple[str, ...]:
    return tuple(sorted(as_strings(required(fields, name, ()), (name,)), key=utf16_key))


def _user_data(fields: Document, name: str) -> str | None:
    return _hex(optional_bytes(fields, name))


def _owned(fields: Document, name: str) -> Pairs:
    return sorted_pairs(pairs_of(fields.get(name) or [], (name,)))


def _generation(fields: Document, name: str) -> int:
    generation = fields.get(name)
    return (
        NO_GENERATION if generation is None else max(as_int32(generation, (name,)), NO_GENERATION)
    )


def _rack(fields: Document, name: str) -> str | None:
    return optional_string(fields, name) or None


READERS: dict[str, Callable[[Document, str], Field]] = {
    "topics": _topics,
    "ud": _user_data,
    "owned": _owned,
    "gen": _generation,
    "rack": _rack,
}
FIELDS: dict[str, tuple[str, ...]] = {
    "codec-sub": ("topics", "ud", "owned", "gen", "rack"),
    "codec-asg": ("owned", "ud"),
    "codec-mdsticky": ("owned", "gen"),
    "codec-mdcoop": ("owned", "gen"),
}
