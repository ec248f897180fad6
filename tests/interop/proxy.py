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

CONSUMER_GROUP_HEARTBEAT = 68
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


class LosesAnAnswer(Proxy):
    """Cuts a connection once, when a certain answer to ConsumerGroupHeartbeat is due on it.

    That client's later ones wait until `is_over` is set.
    """

    def __init__(self, is_it: Callable[[str, Any], bool]) -> None:
        """Take what says by a client's id and the answer, as kio reads it, whether to lose it."""
        super().__init__()
        self.has_lost, self.is_over = threading.Event(), threading.Event()
        self._is_it = is_it
        self._whose = ""
        self._asked: dict[tuple[Link, int], tuple[str, int]] = {}

    def request(self, link: Link, body: bytes) -> None:
        key, version, correlation = (
            int.from_bytes(body[start:end], "big") for start, end in ((0, 2), (2, 4), (4, 8))
        )
        if key == CONSUMER_GROUP_HEARTBEAT:
            size = int.from_bytes(body[8:10], "big")
            self._asked[link, correlation] = (body[10 : 10 + size].decode(), version)
        super().request(link, body)

    def answer(self, link: Link, body: bytes) -> None:
        client_id, version = self._asked.pop((link, int.from_bytes(body[:4], "big")), ("", 0))
        if client_id and not self.has_lost.is_set() and self._is_it(client_id, read(body, version)):
            self._whose = client_id
            self.has_lost.set()
            link.cut()
            return
        if client_id and client_id == self._whose:
            self.is_over.wait(PATIENCE_S)
        super().answer(link, body)


def read(answer: bytes, version: int) -> Any:
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
