"""Requests as operations of a history: as the judge reads them."""

from __future__ import annotations

from typing import Any

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
    SyncGroup,
)

Operation = dict[str, Any]


def operation_of(request: Request) -> Operation:
    """Return a request as the judge reads it."""
    match request:
        case ConsumerHeartbeat():
            return {
                "op": "consumer",
                "client": request.client_id,
                "member": request.member_id,
                "epoch": request.epoch,
                "instance": request.instance_id,
                "rack": request.rack_id,
                "rebalance": request.rebalance_timeout_ms,
                "topics": request.topics,
                "owned": request.owned,
                "pattern": request.pattern,
                "assignor": request.assignor,
            }
        case OffsetCommit() | OffsetFetch() | OffsetDelete() | EndTransaction():
            return _about_offsets(request)
        case JoinGroup() | SyncGroup() | Heartbeat() | LeaveGroup():
            return _classic(request)
    raise AssertionError(request)


def _classic(request: JoinGroup | SyncGroup | Heartbeat | LeaveGroup) -> Operation:
    sender = {"member": request.member_id, "instance": request.instance_id}
    match request:
        case JoinGroup():
            return {
                "op": "join",
                **sender,
                "client": request.client_id,
                "session": request.session_timeout_ms,
                "rebalance": request.rebalance_timeout_ms,
                "type": request.protocol_type,
                "protocols": [[each.name, each.metadata.hex()] for each in request.protocols],
                "version": request.version,
            }
        case SyncGroup():
            return {
                "op": "sync",
                **sender,
                "generation": request.generation,
                "protocol": request.protocol,
                "type": request.protocol_type,
                "assignments": [[each, blob.hex()] for each, blob in request.assignments],
            }
        case Heartbeat():
            return {"op": "heartbeat", **sender, "generation": request.generation}
        case LeaveGroup():
            return {"op": "leave", **sender}


def _about_offsets(
    request: OffsetCommit | OffsetFetch | OffsetDelete | EndTransaction,
) -> Operation:
    match request:
        case OffsetCommit():
            return {
                "op": "commit",
                "member": request.member_id,
                "instance": request.instance_id,
                "generation": request.generation,
                "offsets": request.offsets,
                "producer": request.producer_id,
                "version": request.version,
            }
        case OffsetFetch():
            return {
                "op": "fetch-offsets",
                "member": request.member_id,
                "epoch": request.epoch,
                "stable": request.requires_stable,
                "partitions": request.partitions,
            }
        case OffsetDelete():
            return {"op": "delete-offsets", "partitions": request.partitions}
        case EndTransaction():
            ends = {"producer": request.producer_id, "commit": request.is_commit}
            return {"op": "end-transaction", **ends}
