"""Binary columns decoded: Subscriptions, Assignments and UserData as structs, with their notes.

A blob that cannot be read is a struct with `error` set; its neighbours are not concerned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from assignors.arrow.schemas import DECODED_ASSIGNMENT, DECODED_SUBSCRIPTION, DECODED_USER_DATA
from wire import (
    Decoded,
    TopicPartitions,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
)


def decoded_subscriptions(blobs: pa.Array) -> pa.Array:
    """Return a binary column as `DECODED_SUBSCRIPTION` structs; null stays null.

    Never raises for what the bytes hold. Cost: linear in their size, as for the other codecs.
    """
    return _decoded(blobs, decode_subscription, DECODED_SUBSCRIPTION, {"rack": "rack_id"})


def decoded_assignments(blobs: pa.Array) -> pa.Array:
    """Return a binary column as `DECODED_ASSIGNMENT` structs; null stays null."""
    return _decoded(blobs, decode_assignment, DECODED_ASSIGNMENT, {})


def decoded_sticky_user_data(blobs: pa.Array) -> pa.Array:
    """Return UserData of the eager sticky assignor as `DECODED_USER_DATA` structs."""
    return _decoded(blobs, decode_sticky_user_data, DECODED_USER_DATA, {})


def decoded_cooperative_user_data(blobs: pa.Array) -> pa.Array:
    """Return UserData of the cooperative sticky assignor, a generation, in the same structs."""
    return _decoded(blobs, decode_cooperative_user_data, DECODED_USER_DATA, {})


def partition_structs(partitions: TopicPartitions) -> list[dict[str, Any]]:
    """Return partitions as `schemas.PARTITIONS` has them."""
    return [{"topic": topic, "partitions": list(n)} for topic, n in partitions.items()]


def _decoded(
    blobs: pa.Array,
    decode: Callable[..., Decoded[Any]],
    shape: pa.DataType,
    renamed: dict[str, str],
) -> pa.Array:
    """Return a struct for each blob, its fields those of the decoded value."""
    names = [field.name for field in shape if field.name not in ("notes", "error")]
    structs: list[dict[str, Any] | None] = []
    for blob in blobs.to_pylist():
        if blob is None:
            structs.append(None)
            continue
        decoded = decode(blob)
        struct: dict[str, Any] = {
            "notes": [
                {"code": note.code.value, "offset": note.offset, "text": note.text}
                for note in decoded.notes
            ],
            "error": None if decoded.error is None else str(decoded.error),
        }
        if decoded.value is not None:
            for name in names:
                value = getattr(decoded.value, renamed.get(name, name))
                struct[name] = partition_structs(value) if isinstance(value, dict) else value
        structs.append(struct)
    return pa.array(structs, type=shape)
