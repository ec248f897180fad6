"""Compare a program's answer with the reference's, in the way that the vector names.

`exact` requires Java's own answers where any lawful one would do, its failures where it fails, and
its bytes. `in_order` also requires the order of its lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from assignors.conformance.groups import pairs_of
from assignors.conformance.laws import Lists, broken_laws
from assignors.conformance.values import (
    Value,
    assignment_value,
    expected_value,
    member_value,
    sorted_pairs,
    subscription_value,
    value_of,
)
from assignors.conformance.vectors import CLIENT_ALGORITHMS, Judge, Operation, Vector
from assignors.documents.values import (
    Document,
    DocumentError,
    as_object,
    as_string,
    described,
    optional_bytes,
    required,
)
from wire import (
    Mode,
    WireError,
    decode_assignment,
    decode_sticky_user_data,
    decode_subscription,
)

SHOWN_PAIRS = 4
SHOWN_BYTES = 8
VERSIONS = ("v0", "v1", "v2", "v3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strictness:
    """How close to the reference an answer must be."""

    exact: bool = False
    in_order: bool = False


def mistakes(vector: Vector, answer: Document, strictness: Strictness) -> list[str]:
    """Return what is wrong with the `out` of an answer, as sentences; none if it is right.

    >>> from assignors.conformance.vectors import vector_from_document
    >>> vector = vector_from_document({"id": "roundrobin-1", "in": {"algo": "roundrobin",
    ...     "topics": {}, "members": []}, "out": {"assignment": {"a": [["t", 0]], "b": []}}})
    >>> mistakes(vector, {"assignment": {"a": [], "b": [["t", 0]]}}, Strictness())
    ['a: without t-0', 'b: t-0 too much']
    """
    try:
        if vector.judge is Judge.REFUSE:
            return ["decoded what must be refused"]
        if vector.judge is Judge.EITHER and not strictness.exact:
            return []
        if vector.judge is Judge.EITHER and vector.is_reference_failing:
            return ["decoded what the reference refuses"]
        return JUDGES[vector.operation](vector, answer, strictness)
    except DocumentError as error:
        return [f"not an answer: {error}"]


def mistakes_of_error(vector: Vector, error: Document, strictness: Strictness) -> list[str]:
    """Return what is wrong with an answer that is an error, as sentences; none if it is right."""
    if vector.judge is Judge.EITHER and not strictness.exact:
        return []
    if vector.judge is Judge.REFUSE or (
        vector.is_reference_failing and vector.judge is not Judge.ACCEPT
    ):
        name, expected = error.get("exception"), str(vector.expected.get("err", ""))
        if strictness.exact and isinstance(name, str) and name != expected.partition(":")[0]:
            return [f"failed with {name}, expected {expected}"]
        return []
    words = error.get("text")
    return [f"failed: {words if isinstance(words, str) else described(error)}"]


def lists_of(document: object) -> Lists:
    """Return the `assignment` of an answer, member id -> (topic, partition) pairs in their order.

    Raises `DocumentError` where it is malformed.
    """
    place = ("assignment",)
    return {
        as_string(member_id, place): pairs_of(pairs, (*place, member_id))
        for member_id, pairs in as_object(document, place).items()
    }


def _assigned(vector: Vector, answer: Document, strictness: Strictness) -> list[str]:
    """Judge an assignment."""
    lists = lists_of(required(answer, "assignment", ()))
    if vector.is_reference_failing and strictness.exact:
        return [f"answered, expected {vector.expected['err']}"]
    given = vector.expected.get("assignment")
    reference = None if given is None else lists_of(given)
    is_lawful_enough = vector.judge is Judge.LAWFUL and not strictness.exact
    if vector.algorithm in CLIENT_ALGORITHMS and (is_lawful_enough or reference is None):
        return broken_laws(vector.given, lists, reference)
    if reference is None:
        return []  # for a broker's assignor there is no right answer where the reference fails
    if strictness.in_order and vector.algorithm in CLIENT_ALGORITHMS:
        return _out_of_order(vector, answer, lists, reference)
    return _unequal(lists, reference)


def _unequal(lists: Lists, reference: Lists) -> list[str]:
    """Compare member by member, without the order of lists."""
    sentences = [f"{member_id}: no entry" for member_id in reference if member_id not in lists]
    for member_id, pairs in lists.items():
        # A broker's assignor may leave out members that get nothing.
        # Counted, because Java sometimes lists a partition twice for one member.
        wanted, given = Counter(reference.get(member_id, [])), Counter(pairs)
        if missing := sorted_pairs(list((wanted - given).elements())):
            sentences.append(f"{member_id}: without {_shown(missing)}")
        if extra := sorted_pairs(list((given - wanted).elements())):
            sentences.append(f"{member_id}: {_shown(extra)} too much")
    return sentences


def _out_of_order(vector: Vector, answer: Document, lists: Lists, reference: Lists) -> list[str]:
    """Compare list by list; the order of members and the state where the answer has them."""
    sentences = [
        f"{member_id}: expected {_shown(pairs)}, got {_shown(lists.get(member_id, []))}"
        for member_id, pairs in reference.items()
        if lists.get(member_id) != pairs
    ]
    sentences += [f"{member_id}: no member" for member_id in lists if member_id not in reference]
    sentences += [
        f"{key}: expected {described(vector.expected[key])}, got {described(answer[key])}"
        for key in ("order", "maxGen")
        if key in answer and key in vector.expected and answer[key] != vector.expected[key]
    ]
    return sentences


def _read(vector: Vector, answer: Document, strictness: Strictness) -> list[str]:
    """Judge the decoded value of bytes."""
    if vector.algorithm == "rec-dec":
        keys = ("type", "name", "key", "version", "value")
        return [
            f"{key}: expected {described(vector.expected[key])}, got {described(answer.get(key))}"
            for key in keys
            if key in vector.expected and answer.get(key) != vector.expected[key]
        ]
    del strictness  # decoded values are compared in one way
    return expected_value(vector).differences(value_of(vector.algorithm, answer))


def _written(vector: Vector, answer: Document, strictness: Strictness) -> list[str]:
    """Judge encoded bytes, of those versions that the program writes."""
    keys = [key for key in vector.expected if key not in VERSIONS or key in answer]
    if not any(key in answer for key in keys):
        return [f"none of {', '.join(vector.expected)} in the answer"]
    is_any_order = vector.judge is Judge.LAWFUL and not strictness.exact
    sentences = []
    for key in keys:
        wanted = optional_bytes(vector.expected, key)
        written = optional_bytes(answer, key)
        if written == wanted:
            continue
        if is_any_order and written is not None and wanted is not None:
            sentences += [f"{key}: {sentence}" for sentence in _read_back(vector, wanted, written)]
        else:
            sentences.append(f"{key}: {_first_difference(wanted, written)}")
    return sentences


def _read_back(vector: Vector, wanted: bytes, written: bytes) -> list[str]:
    """Compare bytes by the values that Kafka's decoder reads from them."""
    try:
        values = [READ_BACK[vector.algorithm](blob) for blob in (wanted, written)]
    except WireError as error:
        return [f"Kafka refuses it: {error}"]
    return values[0].differences(values[1])


def _subscription(blob: bytes) -> Value:
    read = decode_subscription(blob, mode=Mode.STRICT).require()
    value = value_of("codec-sub", subscription_value(read))
    return Value({"version": read.version, **value.fields})


def _assignment(blob: bytes) -> Value:
    read = decode_assignment(blob, mode=Mode.STRICT).require()
    value = value_of("codec-asg", assignment_value(read))
    return Value({"version": read.version, **value.fields})


def _sticky(blob: bytes) -> Value:
    read = decode_sticky_user_data(blob, mode=Mode.STRICT).require()
    return value_of("codec-mdsticky", member_value(read))


READ_BACK: dict[str, Callable[[bytes], Value]] = {
    "codec-mksub": _subscription,
    "codec-mkasg": _assignment,
    "codec-stickyud": _sticky,
}


def _first_difference(wanted: bytes | None, written: bytes | None) -> str:
    """Return the first difference of two byte strings."""
    if wanted is None or written is None:
        names = ["null" if blob is None else f"{len(blob)} bytes" for blob in (wanted, written)]
        return f"expected {names[0]}, got {names[1]}"
    pairs = enumerate(zip(wanted, written, strict=False))
    shared = min(len(wanted), len(written))
    shared = next((place for place, (one, other) in pairs if one != other), shared)
    ahead, behind = (blob[shared : shared + SHOWN_BYTES].hex() for blob in (wanted, written))
    return f"byte {shared}: expected {ahead or 'the end'}, got {behind or 'the end'}"


JUDGES: dict[Operation, Callable[[Vector, Document, Strictness], list[str]]] = {
    Operation.ASSIGN: _assigned,
    Operation.DECODE: _read,
    Operation.ENCODE: _written,
}


def _shown(pairs: list[tuple[str, int]] | tuple[tuple[str, int], ...]) -> str:
    shown = ", ".join(f"{topic}-{number}" for topic, number in pairs[:SHOWN_PAIRS])
    rest = len(pairs) - SHOWN_PAIRS
    return f"{shown} and {rest} more" if rest > 0 else shown or "nothing"
