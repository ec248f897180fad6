"""Requests as operations of a history, as the judge reads them, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from assignors.simulation.timed.protocols.effects import Request
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    EndTransaction,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    Protocol,
    SyncGroup,
)

Operation = dict[str, Any]


class Spelled(NamedTuple):
    """How a request is written: its operation, and the key of each field."""

    op: str
    make: Callable[..., Request]
    keys: Mapping[str, str]


SENDER = {"member_id": "member", "instance_id": "instance"}
REQUESTS: Mapping[type[Any], Spelled] = {
    each.make: each  # type: ignore[misc] # a class is what makes it
    for each in (
        Spelled(
            "join",
            JoinGroup,
            {
                **SENDER,
                "client_id": "client",
                "session_timeout_ms": "session",
                "rebalance_timeout_ms": "rebalance",
                "protocol_type": "type",
                "protocols": "protocols",
                "version": "version",
            },
        ),
        Spelled(
            "sync",
            SyncGroup,
            {
                **SENDER,
                "generation": "generation",
                "protocol": "protocol",
                "protocol_type": "type",
                "assignments": "assignments",
            },
        ),
        Spelled("heartbeat", Heartbeat, {**SENDER, "generation": "generation"}),
        Spelled("leave", LeaveGroup, SENDER),
        Spelled(
            "consumer",
            ConsumerHeartbeat,
            {
                **SENDER,
                "client_id": "client",
                "epoch": "epoch",
                "rack_id": "rack",
                "rebalance_timeout_ms": "rebalance",
                "topics": "topics",
                "owned": "owned",
                "pattern": "pattern",
                "assignor": "assignor",
            },
        ),
        Spelled(
            "commit",
            OffsetCommit,
            {
                **SENDER,
                "generation": "generation",
                "offsets": "offsets",
                "producer_id": "producer",
                "version": "version",
            },
        ),
        Spelled(
            "fetch-offsets",
            OffsetFetch,
            {
                "member_id": "member",
                "epoch": "epoch",
                "requires_stable": "stable",
                "partitions": "partitions",
            },
        ),
        Spelled("delete-offsets", OffsetDelete, {"partitions": "partitions"}),
        Spelled(
            "end-transaction", EndTransaction, {"producer_id": "producer", "is_commit": "commit"}
        ),
    )
}
BY_OP = {each.op: each for each in REQUESTS.values()}
PAIRS = ("protocols", "assignments")
"""Fields of names and bytes, which are hexadecimal digits in an operation."""


def operation_of(request: Request) -> Operation:
    """Return a request as the judge reads it."""
    spelled = REQUESTS[type(request)]
    found: Operation = {"op": spelled.op}
    for field, key in spelled.keys.items():
        value = getattr(request, field)
        found[key] = [[name, blob.hex()] for name, blob in value] if field in PAIRS else value
    return found


def request_of(op: Operation) -> Request | None:
    """Return the request of an operation; `None` for one that is none.

    >>> request_of({"op": "leave", "member": "a", "instance": None})
    LeaveGroup(member_id='a', instance_id=None)
    """
    spelled = BY_OP.get(op["op"])
    if spelled is None:
        return None
    return spelled.make(**{field: _read(field, op[key]) for field, key in spelled.keys.items()})


def _read(field: str, value: Any) -> Any:
    """Return a value as a request has it: lists are tuples."""
    if isinstance(value, dict):
        return {name: tuple(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    if field in PAIRS:
        make: Callable[[str, bytes], Any] = (
            Protocol if field == "protocols" else lambda name, blob: (name, blob)
        )
        return tuple(make(name, bytes.fromhex(digits)) for name, digits in value)
    return tuple(tuple(each) if isinstance(each, list) else each for each in value)
