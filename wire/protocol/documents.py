"""The JSON form of decoded values, notes and errors: a format that other programs read."""

from __future__ import annotations

from wire.cursor import TopicPartitions
from wire.decoded import Note
from wire.errors import WireError
from wire.protocol.assignment import MemberAssignment
from wire.protocol.subscription import Subscription
from wire.protocol.user_data import CooperativeUserData, StickyUserData

Document = dict[str, object]


def partitions_document(partitions: TopicPartitions) -> list[list[object]]:
    """Return `[["t", [0, 1]], ...]`, order kept."""
    return [[topic, list(numbers)] for topic, numbers in partitions.items()]


def subscription_document(value: Subscription) -> Document:
    """Return a Subscription; UserData as hex, generation -1 and rack_id null where absent."""
    return {
        "version": value.version,
        "topics": list(value.topics),
        "user_data": _hex(value.user_data),
        "owned": partitions_document(value.owned),
        "generation": value.generation,
        "rack_id": value.rack_id,
    }


def assignment_document(value: MemberAssignment) -> Document:
    """Return an Assignment."""
    return {
        "version": value.version,
        "partitions": partitions_document(value.partitions),
        "user_data": _hex(value.user_data),
    }


def sticky_user_data_document(value: StickyUserData) -> Document:
    """Return sticky UserData; generation null where the bytes have none."""
    return {
        "owned": partitions_document(value.owned),
        "generation": value.generation,
        **_capacity(value.capacity),
    }


def cooperative_user_data_document(value: CooperativeUserData) -> Document:
    """Return cooperative UserData; `owned` only where the bytes carry the sticky layout."""
    document: Document = {"generation": value.generation}
    if value.owned is not None:
        document["owned"] = partitions_document(value.owned)
    return {**document, **_capacity(value.capacity)}


def _capacity(capacity: int | None) -> Document:
    """Return the key of a capacity, where there is one."""
    return {} if capacity is None else {"capacity": capacity}


def note_document(note: Note) -> Document:
    """Return a note."""
    return {"code": note.code.value, "offset": note.offset, "text": note.text}


def error_document(error: WireError) -> Document:
    """Return an error: its sentence, its code and its place."""
    where = {"offset": error.offset}
    return {"error": str(error), "error_kind": error.kind.value, "error_at": where}


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()
