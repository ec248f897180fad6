"""Binary columns decoded: Subscriptions, Assignments and UserData as structs, with their notes.

A blob that cannot be read is a struct with `error` and `error_kind` set; its neighbours are not
concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from itertools import accumulate, chain
from typing import Any

from assignors.arrow.schemas import (
    DECODED_ASSIGNMENT,
    DECODED_SUBSCRIPTION,
    DECODED_USER_DATA,
    NOTES,
    PARTITIONS,
)
from assignors.extras import imported_from
from wire import (
    Decoded,
    Note,
    TopicPartitions,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
)

with imported_from("replay"):
    import pyarrow as pa


def decoded_subscriptions(blobs: pa.Array) -> pa.Array:
    """Return a binary column as `DECODED_SUBSCRIPTION` structs; null stays null.

    Never raises for what the bytes hold. Cost: linear in their size, as for the other codecs.
    """
    return _decoded(blobs, decode_subscription, DECODED_SUBSCRIPTION)


def decoded_assignments(blobs: pa.Array) -> pa.Array:
    """Return a binary column as `DECODED_ASSIGNMENT` structs; null stays null."""
    return _decoded(blobs, decode_assignment, DECODED_ASSIGNMENT)


def decoded_sticky_user_data(blobs: pa.Array) -> pa.Array:
    """Return UserData of the eager sticky assignor as `DECODED_USER_DATA` structs."""
    return _decoded(blobs, decode_sticky_user_data, DECODED_USER_DATA)


def decoded_cooperative_user_data(blobs: pa.Array) -> pa.Array:
    """Return UserData of the cooperative sticky assignor, a generation, in the same structs."""
    return _decoded(blobs, decode_cooperative_user_data, DECODED_USER_DATA)


def partition_structs(partitions: TopicPartitions) -> list[dict[str, Any]]:
    """Return partitions as `schemas.PARTITIONS` has them."""
    return [{"topic": topic, "partitions": list(n)} for topic, n in partitions.items()]


def _decoded(
    blobs: pa.Array,
    decode: Callable[..., Decoded[Any]],
    shape: pa.DataType,
) -> pa.Array:
    """Return a struct for each blob, its fields those of the decoded value.

    Each field of all blobs becomes an array in one step: structs made of dicts take five times
    as long.
    """
    read = [None if blob is None else decode(blob) for blob in blobs.to_pylist()]
    values = [None if decoded is None else decoded.value for decoded in read]
    columns = {
        "notes": _notes([() if decoded is None else decoded.notes for decoded in read]),
    }
    errors = [None if decoded is None else decoded.error for decoded in read]
    columns["error"] = pa.array([error and str(error) for error in errors], pa.string())
    columns["error_kind"] = pa.array([error and error.kind.value for error in errors], pa.string())
    for field in shape:
        if field.name not in columns:
            found = [None if value is None else getattr(value, field.name) for value in values]
            is_partitions = field.type == PARTITIONS
            columns[field.name] = (
                _partitions(found) if is_partitions else pa.array(found, field.type)
            )
    return pa.StructArray.from_arrays(
        [columns[field.name] for field in shape], fields=list(shape), mask=blobs.is_null()
    )


def _partitions(given: Sequence[TopicPartitions | None]) -> pa.ListArray:
    """Return `PARTITIONS` of each; null stays null."""
    pairs = [{} if partitions is None else partitions for partitions in given]
    numbers = [listed for partitions in pairs for listed in partitions.values()]
    structs = pa.StructArray.from_arrays(
        [
            pa.array([topic for partitions in pairs for topic in partitions], pa.string()),
            pa.ListArray.from_arrays(
                _offsets(numbers), pa.array(list(chain.from_iterable(numbers)), pa.int32())
            ),
        ],
        fields=list(PARTITIONS.value_type),
    )
    is_null = pa.array([partitions is None for partitions in given], pa.bool_())
    return pa.ListArray.from_arrays(_offsets(pairs), structs, mask=is_null)


def _notes(given: Sequence[tuple[Note, ...]]) -> pa.ListArray:
    """Return `NOTES` of each, an empty list where nothing was odd."""
    documents = [
        {"code": note.code.value, "offset": note.offset, "text": note.text}
        for notes in given
        for note in notes
    ]
    return pa.ListArray.from_arrays(_offsets(given), pa.array(documents, NOTES.value_type))


def _offsets(listed: Sequence[Sized]) -> pa.Array:
    """Return where each list begins in a column of all their elements, and the last ends."""
    return pa.array(accumulate(map(len, listed), initial=0), pa.int32())
