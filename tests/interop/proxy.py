"""A proxy between clients and a broker that tests let meddle with single messages.

The broker says that it is where the proxy listens (`advertised.listeners`), so that every
connection comes through it.
"""

from __future__ import annotations

import importlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Self

from kio.serial import entity_reader

from tests.interop.broker import Broker

JOIN_GROUP, HEARTBEAT, SYNC_GROUP, CONSUMER_GROUP_HEARTBEAT = 11, 12, 14, 68
PATIENCE_S = 60.0
"""The longest that an answer waits, in a test that has failed."""


class Link(NamedTuple):
    """One client's connection, and the proxy's own to the broker."""

    client: socket.socket
    broker: socket.socket

    def cut(self) -> None:
        """Hang up on both sides."""
        for side in self:
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


class Proxy:
    """Sends every message on; who wants something else overrides `request` or `answer`."""

    def __init__(self) -> None:
        self._upstream = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        """Where clients start from."""

    @contextmanager
    def broker(self, settings: dict[str, str] | None = None) -> Iterator[Broker]:
        """Start a broker whose clients come through the proxy."""
        own = {**(settings or {}), "advertised.listeners": f"PLAINTEXT://{self.address}"}
        threading.Thread(target=self._accept, daemon=True).start()
        with self, Broker(own) as started:
            self._upstream = int(started.bootstrap.rpartition(":")[2])
            yield started

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()

    def request(self, link: Link, body: bytes) -> None:
        """Take what a client sends."""
        forward(link.broker, body)

    def answer(self, link: Link, body: bytes) -> None:
        """Take what the broker answers."""
        forward(link.client, body)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                broker = socket.create_connection(("127.0.0.1", self._upstream))
            except OSError:
                client.close()
                continue
            link = Link(client, broker)
            for source, take in ((client, self.request), (broker, self.answer)):
                threading.Thread(target=pass_on, args=(source, take, link), daemon=True).start()


class Request(NamedTuple):
    """The header of a request."""

    key: int
    version: int
    client_id: str


Rule = Callable[[Link, Request, bytes], bool]
"""Takes a message, whole, and the request that it is or answers. It may wait, which holds up what
comes behind it on that connection; it returns whether to send the message on."""


class RuledProxy(Proxy):
    """Asks rules about each message before it sends it on."""

    def __init__(self) -> None:
        super().__init__()
        self.on_request: list[Rule] = []
        self.on_answer: list[Rule] = []
        self._asked: dict[tuple[Link, int], Request] = {}

    def request(self, link: Link, body: bytes) -> None:
        key, version, correlation, size = (
            int.from_bytes(body[start:end], "big", signed=True)
            for start, end in ((0, 2), (2, 4), (4, 8), (8, 10))
        )
        asked = Request(key, version, body[10 : 10 + max(size, 0)].decode())
        self._asked[link, correlation] = asked
        if all(rule(link, asked, body) for rule in tuple(self.on_request)):
            super().request(link, body)

    def answer(self, link: Link, body: bytes) -> None:
        asked = self._asked.pop((link, int.from_bytes(body[:4], "big", signed=True)), None)
        if asked is None or all(rule(link, asked, body) for rule in tuple(self.on_answer)):
            super().answer(link, body)


class Late:
    """A rule by which messages of one kind of one client wait until `may_go_on` is set."""

    def __init__(self, client_id: str, key: int) -> None:
        self.has_come, self.may_go_on = threading.Event(), threading.Event()
        self._whose = (client_id, key)

    def __call__(self, _: Link, request: Request, __: bytes) -> bool:
        """Let the message wait, if it is one of them."""
        if (request.client_id, request.key) == self._whose:
            self.has_come.set()
            self.may_go_on.wait(PATIENCE_S)
        return True


class LostAnswer:
    """A rule that cuts a connection once, when a certain answer to a heartbeat is due on it.

    The heartbeats are those of KIP-848. Later ones of that client are `Late` until `is_over` is
    set.
    """

    def __init__(self, is_it: Callable[[str, Any], bool]) -> None:
        """Take what says by a client's id and the answer, as kio reads it, whether to lose it."""
        self.has_lost, self.is_over = threading.Event(), threading.Event()
        self._is_it = is_it
        self._whose = ""

    def __call__(self, link: Link, request: Request, body: bytes) -> bool:
        """Lose it, if it is the one."""
        if request.key != CONSUMER_GROUP_HEARTBEAT:
            return True
        answer = heartbeat_answer(body, request.version)
        if not self.has_lost.is_set() and self._is_it(request.client_id, answer):
            self._whose = request.client_id
            self.has_lost.set()
            link.cut()
            return False
        if request.client_id == self._whose:
            self.is_over.wait(PATIENCE_S)
        return True


def heartbeat_answer(answer: bytes, version: int) -> Any:
    """Read an answer to ConsumerGroupHeartbeat."""
    module: Any = importlib.import_module(
        f"kio.schema.consumer_group_heartbeat.v{version}.response"
    )
    kind = module.ConsumerGroupHeartbeatResponse
    _, at = entity_reader(kind.__header_schema__)(answer, 0)
    return entity_reader(kind)(answer, at)[0]


def pass_on(source: socket.socket, take: Callable[[Link, bytes], None], link: Link) -> None:
    """Give one side's messages away until either side is gone, then end the other one too."""
    for body in frames(source):
        take(link, body)
    link.cut()


def frames(source: socket.socket) -> Iterator[bytes]:
    """The messages that come, until either side is there no more."""
    with suppress(OSError), source, source.makefile("rb") as stream:
        while size := stream.read(4):
            yield stream.read(int.from_bytes(size, "big"))


def forward(target: socket.socket, body: bytes) -> None:
    """Send a message on; whoever is gone is missed by the other side soon enough."""
    with suppress(OSError):
        target.sendall(len(body).to_bytes(4, "big") + body)
