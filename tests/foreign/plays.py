"""Plays of a history, ours and Kafka's, as they are compared: answers, records, differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assignors.simulation.timed.protocols.effects import NotCoordinator, Record, Reply, Request
from assignors.simulation.timed.protocols.kafka.consumer_group import MemberState
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeatResponse,
    ErrorCode,
    JoinGroupResponse,
    OffsetsRequest,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.records import (
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
    GroupTombstone,
    GroupTopicsTombstone,
    MemberRecord,
    OffsetRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
)
from tests.foreign import commits
from tests.foreign.commits import START_MS
from wire import Mode, decode_assignment

Step = dict[str, Any]
STATES = {MemberState.STABLE: 0, MemberState.UNREVOKED: 1, MemberState.UNRELEASED: 2}
UNKNOWN_SERVER_ERROR = -1


def answer_of(reply: Reply, request: Request) -> Step:
    """Return an answer as the judge writes it."""
    response = reply.response
    if isinstance(response, NotCoordinator):
        return {"number": reply.number, "error": int(response.error)}
    if isinstance(request, OffsetsRequest):
        return commits.answer(reply, request)
    answer: Step = {"number": reply.number, "error": int(response.error)}
    if response.error == UNKNOWN_SERVER_ERROR:
        return answer  # Kafka threw something: there is no message
    match response:
        case ConsumerHeartbeatResponse(ErrorCode.NONE, member_id, epoch, assignment):
            answer |= {"member": member_id, "epoch": epoch}
            if assignment is not None:
                answer["assignment"] = _plain(assignment)
        case JoinGroupResponse():
            answer |= {
                "member": response.member_id,
                "generation": response.generation,
                "protocol": response.protocol or "",
                "leader": response.leader,
                "skip": response.skip_assignment,
                "members": [
                    [m.member_id, m.instance_id, m.metadata.hex()] for m in response.members
                ],
            }
        case SyncGroupResponse():
            assignment_hex = response.assignment.hex()
            answer |= {"protocol": response.protocol or "", "assignment": assignment_hex}
    return answer


def record_of(record: Record, starts_ms: int = START_MS) -> Step:  # noqa: C901, PLR0911, PLR0912 - one for each type of record
    """Return a record as the judge writes it; the clock of ours began at `starts_ms`."""
    match record:
        case GroupRecord():
            return _classic(record, starts_ms)
        case OffsetRecord():
            return commits.record(record, starts_ms)
        case GroupTombstone():
            return {"type": 2}
        case GroupEpochRecord(None):
            return {"type": 3}
        case GroupEpochRecord(epoch):
            return {"type": 3, "epoch": epoch}
        case GroupTopicsTombstone():
            return {"type": 4}
        case MemberRecord(member_id, None):
            return {"type": 5, "member": member_id}
        case MemberRecord():
            return _member(record)
        case PatternRecord(pattern, None):
            return {"type": 16, "pattern": pattern}
        case PatternRecord(pattern, topics, version, at_ms):
            assert topics is not None
            found = {"topics": list(topics), "version": version, "at": at_ms - starts_ms}
            return {"type": 16, "pattern": pattern, **found}
        case TargetEpochRecord(None):
            return {"type": 6}
        case TargetEpochRecord(epoch, at_ms):
            return {"type": 6, "epoch": epoch, "at": at_ms and at_ms - starts_ms}
        case TargetRecord(member_id, None):
            return {"type": 7, "member": member_id}
        case TargetRecord(member_id, partitions):
            assert partitions is not None
            return {"type": 7, "member": member_id, "partitions": _plain(partitions)}
        case CurrentRecord(member_id, None):
            return {"type": 8, "member": member_id}
        case CurrentRecord():
            return {
                "type": 8,
                "member": record.member_id,
                "epoch": record.epoch,
                "previous": record.previous_epoch,
                "state": STATES[MemberState(record.state)],
                "assigned": _epochs(record.assigned),
                "revoking": _epochs(record.revoking),
            }
    raise AssertionError(record)


def differences(ours: list[Step], kafkas: list[Step]) -> Iterator[str]:
    """Yield where two plays differ.

    Answers of one step may leave in any order, and Assignments are compared by what they say.
    """
    for number, (mine_, theirs_) in enumerate(zip(ours, kafkas, strict=True)):
        one, other = _comparable(mine_, theirs_), _comparable(theirs_, theirs_)
        for key in ("responses", "records"):
            mine, theirs = ([*step[key]] for step in (one, other))
            if key == "responses":
                mine.sort(key=lambda answer: answer["number"])
                theirs.sort(key=lambda answer: answer["number"])
            else:
                mine, theirs = commits.in_one_order(mine), commits.in_one_order(theirs)
            if mine != theirs:
                yield f"operation {number}, {key}: ours {mine}, Kafka's {theirs}"


def conversions(steps: list[Step]) -> Iterator[str]:
    """Yield the direction of each conversion of a group that had members."""
    for step in steps:
        records = step["records"]
        if {"type": 2} in records and any("protocols" in each for each in records):
            yield "upgrades"
        if {"type": 3} in records and any(each.get("members") for each in records):
            yield "downgrades"


def _classic(record: GroupRecord, starts_ms: int) -> Step:
    return {
        "generation": record.generation,
        "protocol": record.protocol,
        "leader": record.leader,
        "type": record.protocol_type or "",
        "since": record.since_ms - starts_ms,
        "members": [
            [
                *each[:5],
                each.subscription.hex(),
                each.assignment.hex(),
            ]
            for each in record.members
        ],
    }


def _member(record: MemberRecord) -> Step:
    assert record.topics is not None
    asked = {
        "type": 5,
        "member": record.member_id,
        "instance": record.instance_id,
        "rebalance": record.rebalance_timeout_ms,
        "topics": list(record.topics),
        "client": record.client_id,
        "rack": record.rack_id,
        "pattern": record.pattern,
        "assignor": record.assignor,
    }
    if record.classic is not None:
        protocols = [[each.name, each.metadata.hex()] for each in record.classic.protocols]
        asked |= {"session": record.classic.session_timeout_ms, "protocols": protocols}
    return asked


def _epochs(held: Mapping[str, Mapping[int, int]]) -> dict[str, list[list[int]]]:
    return {topic: [list(pair) for pair in sorted(n.items())] for topic, n in held.items()}


def _plain(partitions: Mapping[str, tuple[int, ...]]) -> dict[str, list[int]]:
    return {topic: list(numbers) for topic, numbers in partitions.items()}


def _comparable(step: Step, theirs: Step) -> Step:
    """Return a step as it can be compared with Kafka's.

    Where Kafka throws there is no message, just an error.
    """
    thrown = {each["number"] for each in theirs["responses"] if each.keys() == {"number", "error"}}
    responses = []
    for each in step["responses"]:
        if each["number"] in thrown and each["error"]:
            responses.append({"number": each["number"], "error": each["error"]})
        else:
            responses.append(_said(each))
    records = []
    for each in step["records"]:
        if "members" in each:
            members = [[*m[:6], _partitions(m[6])] for m in each["members"]]
            records.append({**each, "members": members})
        else:
            records.append(each)
    return {"responses": responses, "records": records}


def _said(answer: Step) -> Step:
    if isinstance(answer.get("assignment"), str):
        return {**answer, "assignment": _partitions(answer["assignment"])}
    return answer


def _partitions(blob: str) -> object:
    read = decode_assignment(bytes.fromhex(blob), mode=Mode.STRICT).value
    if read is None or not blob:
        return blob
    return {topic: sorted(numbers) for topic, numbers in sorted(read.partitions.items())}
