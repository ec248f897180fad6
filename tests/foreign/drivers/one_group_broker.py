"""A broker with one group, for one client: it says whatever a test wants the client to be told.

The client joins; the answer makes it the leader of the members of a case, or a follower that is
assigned the bytes of a case. What it asks for and hands out is kept in `events`. Nothing else is
answered than what a consumer needs up to there, in versions without tagged fields.
"""

from __future__ import annotations

import queue
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from wire.frames import group_frames

PRODUCE, FETCH, LIST_OFFSETS = 0, 1, 2
METADATA, OFFSET_COMMIT, OFFSET_FETCH, COORDINATOR = 3, 8, 9, 10
JOIN, HEARTBEAT, LEAVE, SYNC, API_VERSIONS = 11, 12, 13, 14, 18
NEWEST = {
    PRODUCE: 7,
    FETCH: 11,
    LIST_OFFSETS: 5,
    METADATA: 4,
    OFFSET_COMMIT: 7,
    OFFSET_FETCH: 5,
    COORDINATOR: 2,
    JOIN: 5,
    HEARTBEAT: 3,
    LEAVE: 3,
    SYNC: 3,
    API_VERSIONS: 0,
}
"""Number of a request -> its newest version here; the oldest is 0."""

UNSUPPORTED_VERSION, UNKNOWN_TOPIC = 35, 3
GENERATION = 7
CLUSTER_ID = "cluster" * 100
"""Long: librdkafka takes memory by the size of the answer, and too little for very small ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What the client is to be told."""

    topics: dict[str, list[list[str | None]]]
    """Topic -> the racks of each partition's replicas."""
    member_id: str
    """The client's own id; it leads if it is that of the first member."""
    members: list[tuple[str, str | None, bytes]] = field(default_factory=list)
    """Id, instance and Subscription of each member; empty for a follower."""
    assignment: bytes = b""
    """What a follower is assigned."""


class OneGroupBroker:
    """Listens on a port of its own until `close`; `case` is what is said next."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.case = Case(topics={}, member_id="m")
        self.events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Listen no more."""
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            while len(head := stream.read(4)) == 4:
                request = stream.read(int.from_bytes(head))
                key, version, correlation = struct.unpack(">hhi", request[:8])
                answer = self._answer(key, version, request)
                if answer is None:
                    continue  # silence: a heartbeat or fetch too many hurts nobody
                body = struct.pack(">i", correlation) + answer
                try:
                    connection.sendall(struct.pack(">i", len(body)) + body)
                except OSError:
                    return

    def _answer(self, key: int, version: int, request: bytes) -> bytes | None:
        if key == API_VERSIONS:
            rows = [struct.pack(">hhh", each, 0, newest) for each, newest in NEWEST.items()]
            code = UNSUPPORTED_VERSION if version else 0
            return struct.pack(">h", code) + _array(rows)
        members = _array([]) if key == LEAVE and version > 2 else b""
        answers: dict[int, Callable[[bytes], bytes]] = {
            METADATA: self._metadata,
            COORDINATOR: lambda _: bytes(2) + _text(None) + self._broker(0),
            JOIN: self._joined,
            SYNC: self._synced,
            HEARTBEAT: lambda _: bytes(2),
            LEAVE: lambda _: bytes(2) + members,
        }
        answer = answers.get(key)
        # Of these versions each begins with the time that the client is to wait.
        return None if answer is None else bytes(4) + answer(request)

    def _metadata(self, request: bytes) -> bytes:
        """Brokers of every rack, and the topics that are asked for, all of them for null."""
        asked = _topics_asked(request)
        self.events.put(("metadata", asked))
        topics = self.case.topics
        racks = {rack for one in topics.values() for replicas in one for rack in replicas if rack}
        nodes = {rack: number for number, rack in enumerate(sorted(racks), 1)}
        brokers = [self._broker(0) + _text(None)]
        brokers += [self._broker(number) + _text(rack) for rack, number in nodes.items()]
        named = [
            _topic(
                name, [[nodes.get(rack or "", 0) for rack in one or [None]] for one in topics[name]]
            )
            if name in topics
            else struct.pack(">h", UNKNOWN_TOPIC) + _text(name) + b"\0" + _array([])
            for name in (topics if asked is None else asked)
        ]
        return _array(brokers) + _text(CLUSTER_ID) + struct.pack(">i", 0) + _array(named)

    def _broker(self, number: int) -> bytes:
        return struct.pack(">i", number) + _text("127.0.0.1") + struct.pack(">i", self.port)

    def _joined(self, request: bytes) -> bytes:
        (frame,) = group_frames(request)
        self.events.put(("join", {p.owner: request[p.start : p.end] for p in frame.parts}))
        case = self.case
        leader = case.members[0][0] if case.members else "another"
        members = [
            _text(member_id) + _text(instance) + _blob(blob)
            for member_id, instance, blob in case.members
        ]
        protocol = _text(frame.parts[0].owner)
        head = struct.pack(">i", GENERATION) + protocol
        return bytes(2) + head + _text(leader) + _text(case.member_id) + _array(members)

    def _synced(self, request: bytes) -> bytes:
        (frame,) = group_frames(request)
        self.events.put(("sync", {p.owner: request[p.start : p.end] for p in frame.parts}))
        return bytes(2) + _blob(self.case.assignment)


def _topics_asked(request: bytes) -> list[str] | None:
    """Names in a Metadata request; `None`: all."""
    client = struct.unpack(">h", request[8:10])[0]
    offset = 10 + max(client, 0)
    (count,) = struct.unpack(">i", request[offset : offset + 4])
    offset += 4
    names = []
    for _ in range(count):
        (size,) = struct.unpack(">h", request[offset : offset + 2])
        names.append(request[offset + 2 : offset + 2 + size].decode(errors="replace"))
        offset += 2 + size
    return names if count >= 0 else None


def _topic(name: str, replicas: list[list[int]]) -> bytes:
    partitions = [
        struct.pack(">hii", 0, number, 0) + 2 * _array(struct.pack(">i", node) for node in nodes)
        for number, nodes in enumerate(replicas)
    ]
    return bytes(2) + _text(name) + b"\0" + _array(partitions)


def _text(text: str | None) -> bytes:
    encoded = (text or "").encode("utf-8", "surrogatepass")
    return struct.pack(">h", -1 if text is None else len(encoded)) + encoded


def _blob(blob: bytes) -> bytes:
    return struct.pack(">i", len(blob)) + blob


def _array(entries: Iterable[bytes]) -> bytes:
    listed = list(entries)
    return struct.pack(">i", len(listed)) + b"".join(listed)
