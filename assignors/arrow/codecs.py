"""Binary columns decoded: Subscriptions, Assignments and UserData as structs, with their notes.

A blob that cannot be read is a struct with `error` set; its neighbours are not concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from itertools import accumulate, chain
from typing import Any

import numpy as np

from assignors.arrays import Int64, OwnedArrays, chosen_rows
from assignors.arrow.schemas import (
    DECODED_ASSIGNMENT,
    DECODED_SUBSCRIPTION,
    DECODED_USER_DATA,
    NOTES,
    PARTITIONS,
)
from assignors.extras import imported_from
from assignors.group_bytes.assignment_arrays import read_assignments
from assignors.group_bytes.entries import are_read_together
from assignors.group_bytes.fields import UserDataPlaces, has_notes
from assignors.group_bytes.subscriptions import read_together
from assignors.group_bytes.topic_lists import TopicLists
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
    Plain Subscriptions of a column are read together (`group_bytes`), the others one by one.
    """
    listed = _bytes_of(blobs)
    if not are_read_together(len(listed)):
        return _one_by_one_subscriptions(blobs)
    lists, fields, owned = read_together(listed)
    rows = np.flatnonzero(fields.is_plain & ~has_notes(fields.user_data, fields.empty_rack_at))
    columns = {
        "version": pa.array(lists.version[rows], pa.int32()),
        "topics": _topic_lists(lists, rows),
        "user_data": _user_data(fields.user_data, listed, rows),
        "owned": _partitions_of(owned, rows),
        "generation": pa.array(fields.generation[rows], pa.int32()),
        "rack_id": pa.array(fields.rack_ids.chosen(rows).listed(), pa.string()),
    }
    return _together(blobs, DECODED_SUBSCRIPTION, rows, columns, _one_by_one_subscriptions)


def decoded_assignments(blobs: pa.Array) -> pa.Array:
    """Return a binary column as `DECODED_ASSIGNMENT` structs; null stays null."""
    listed = _bytes_of(blobs)
    if not are_read_together(len(listed)):
        return _one_by_one_assignments(blobs)
    read = read_assignments(listed)
    rows = np.flatnonzero(read.is_plain)
    columns = {
        "version": pa.array(read.version[rows], pa.int32()),
        "partitions": _partitions_of(read.partitions, rows),
        "user_data": _user_data(read.user_data, listed, rows),
    }
    return _together(blobs, DECODED_ASSIGNMENT, rows, columns, _one_by_one_assignments)


def decoded_sticky_user_data(blobs: pa.Array) -> pa.Array:
    """Return UserData of the eager sticky assignor as `DECODED_USER_DATA` structs."""
    return _decoded(blobs, decode_sticky_user_data, DECODED_USER_DATA)


def decoded_cooperative_user_data(blobs: pa.Array) -> pa.Array:
    """Return UserData of the cooperative sticky assignor, a generation, in the same structs."""
    return _decoded(blobs, decode_cooperative_user_data, DECODED_USER_DATA)


def partition_structs(partitions: TopicPartitions) -> list[dict[str, Any]]:
    """Return partitions as `schemas.PARTITIONS` has them."""
    return [{"topic": topic, "partitions": list(n)} for topic, n in partitions.items()]


def _one_by_one_subscriptions(blobs: pa.Array) -> pa.StructArray:
    return _decoded(blobs, decode_subscription, DECODED_SUBSCRIPTION)


def _one_by_one_assignments(blobs: pa.Array) -> pa.StructArray:
    return _decoded(blobs, decode_assignment, DECODED_ASSIGNMENT)


def _bytes_of(blobs: pa.Array) -> list[bytes]:
    """Return the blobs; null is no bytes, which are not plain."""
    return [blob or b"" for blob in blobs.to_pylist()]


def _together(
    blobs: pa.Array,
    shape: pa.DataType,
    rows: Int64,
    columns: dict[str, pa.Array],
    one_by_one: Callable[[pa.Array], pa.StructArray],
) -> pa.StructArray:
    """Return structs of all blobs: `columns` are those of `rows`, which have no notes."""
    no_notes = pa.array(np.zeros(len(rows) + 1, dtype=np.int32))
    notes = pa.ListArray.from_arrays(no_notes, pa.array([], NOTES.value_type))
    columns |= {"notes": notes, "error": pa.nulls(len(rows), pa.string())}
    plain = pa.StructArray.from_arrays([columns[field.name] for field in shape], fields=list(shape))
    if len(rows) == len(blobs):
        return plain
    others = np.setdiff1d(np.arange(len(blobs)), rows, assume_unique=True)
    order = np.argsort(np.concatenate([rows, others]), kind="stable")
    odd = one_by_one(blobs.take(pa.array(others)))
    return pa.concat_arrays([plain, odd]).take(pa.array(order))


def _topic_lists(lists: TopicLists, rows: Int64) -> pa.ListArray:
    """Return the topic lists of some rows."""
    names = pa.array([name.decode() for name in lists.known.numbers], pa.string())
    each = pa.ListArray.from_arrays(
        pa.array(lists.list_ptr, pa.int32()), names.take(pa.array(lists.name))
    )
    return each.take(pa.array(lists.list_of[rows])).cast(DECODED_SUBSCRIPTION.field("topics").type)


def _partitions_of(arrays: OwnedArrays, rows: Int64) -> pa.ListArray:
    """Return `PARTITIONS` of some rows, which are in ascending order."""
    chosen = chosen_rows(arrays, rows)
    names = pa.array(arrays.names, pa.string()).take(pa.array(chosen.topic))
    numbers = pa.ListArray.from_arrays(
        pa.array(chosen.number_ptr, pa.int32()), pa.array(chosen.number, pa.int32())
    )
    structs = pa.StructArray.from_arrays([names, numbers], fields=list(PARTITIONS.value_type))
    return pa.ListArray.from_arrays(pa.array(chosen.entry_ptr, pa.int32()), structs)


def _user_data(places: UserDataPlaces, listed: Sequence[bytes], rows: Int64) -> pa.Array:
    """Return the UserData of the rows, null where there is none."""
    if not (places.length[rows] >= 0).any():
        return pa.nulls(len(rows), pa.binary())
    return pa.array([places.of_row(row, listed[row]) for row in rows.tolist()], pa.binary())


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
        "error": pa.array([_error(decoded) for decoded in read], pa.string()),
    }
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


def _error(decoded: Decoded[Any] | None) -> str | None:
    return None if decoded is None or decoded.error is None else str(decoded.error)


def _offsets(listed: Sequence[Sized]) -> pa.Array:
    """Return where each list begins in a column of all their elements, and the last ends."""
    return pa.array(accumulate(map(len, listed), initial=0), pa.int32())
